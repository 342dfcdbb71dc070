/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Commands with names, the memory that they use, and numbers to put there. */
#include <math.h>
#include <string.h>

#include "tests/contract/virgo/contract.h"
#include "tests/lib/half.h"

/* --- commands ---------------------------------------------------------------------- */

uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

float bits_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint64_t high(float value)
{
	return (uint64_t)float_bits(value) << 32;
}

void config_ex(unsigned int dataflow, unsigned int activation, unsigned int shift, bool a_t, bool b_t)
{
	rocc(CONFIG, high(1) | 1u << 16 | (unsigned int)b_t << 9 | (unsigned int)a_t << 8 |
	     activation << 3 | dataflow << 2 | 0, 1ull << 48 | shift);
}

void config_ex_strides(unsigned int dataflow, unsigned int a_stride, unsigned int c_stride, float scale)
{
	rocc(CONFIG, high(scale) | (uint64_t)a_stride << 16 | dataflow << 2 | 0, (uint64_t)c_stride << 48);
}

void config_ld(unsigned int id, uint64_t stride, float scale, bool shrunk)
{
	rocc(CONFIG, high(scale) | (uint64_t)unit.dim << 16 | 1u << 8 | id << 3 |
	     (unsigned int)shrunk << 2 | 1, stride);
}

void config_ld_blocks(unsigned int id, uint64_t stride, float scale, unsigned int block_stride,
		      unsigned int pixels)
{
	rocc(CONFIG, high(scale) | (uint64_t)block_stride << 16 | pixels << 8 | id << 3 | 1, stride);
}

void config_st(uint64_t stride, unsigned int activation, float scale)
{
	rocc(CONFIG, (activation & 3) << 2 | 2, high(scale) | stride);
}

void config_st_pool(const struct pooling *p, uint64_t stride, unsigned int activation, float scale)
{
	rocc(CONFIG, (uint64_t)p->in_columns << 56 | (uint64_t)p->in_rows << 48 |
	     (uint64_t)p->columns << 40 | (uint64_t)p->rows << 32 | p->out_columns << 24 |
	     p->left << 10 | p->top << 8 | p->size << 6 | p->stride << 4 | (activation & 3) << 2 | 2,
	     high(scale) | stride);
}

void config_norm(uint32_t ln2, uint32_t inverse, uint32_t qb, uint32_t qc, bool high_bit, unsigned int statistic)
{
	uint64_t low = (uint64_t)high_bit << 16 | statistic << 8 | 3;

	rocc(CONFIG, (uint64_t)ln2 << 32 | low, (uint64_t)qc << 32 | qb);
	rocc(CONFIG, (uint64_t)inverse << 32 | 1u << 18 | low, (uint64_t)qc << 32 | qb);
}

void mvin(const void *from, uint32_t local, unsigned int rows, unsigned int columns)
{
	rocc(MVIN, address_of(from), pack(rows, columns, local));
}

void mvin2(const void *from, uint32_t local, unsigned int rows, unsigned int columns)
{
	rocc(MVIN2, address_of(from), pack(rows, columns, local));
}

void mvin3(const void *from, uint32_t local, unsigned int rows, unsigned int columns)
{
	rocc(MVIN3, address_of(from), pack(rows, columns, local));
}

void mvout(void *to, uint32_t local, unsigned int rows, unsigned int columns)
{
	rocc(MVOUT, address_of(to), pack(rows, columns, local));
}

/* --- memory ------------------------------------------------------------------------------ */

static uint8_t input[INPUT_BYTES] __attribute__((aligned(4096)));
static uint8_t output[OUTPUT_BYTES] __attribute__((aligned(4096)));

void *input_at(size_t offset)
{
	return input + offset;
}

void *output_at(size_t offset)
{
	return output + offset;
}

uint8_t *shared_memory(void)
{
	return device_memory(SHARED_BYTES);
}

uint8_t *shared_row(unsigned int row)
{
	return shared_memory() + (size_t)row * unit.dim * unit.size;
}

/* --- numbers ------------------------------------------------------------------------------- */

static uint64_t seed = 20250330;

/* Knuth's linear congruence. */
uint32_t draw(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33);
}

unsigned int draw_below(unsigned int limit)
{
	return draw() % limit;
}

float draw_float(void)
{
	return ((float)draw_below(2001) - 1000) / 250;
}

double element_of(const void *from, size_t n)
{
	uint16_t half;
	float real;

	switch (unit.type) {
	case INT8:
		return ((const int8_t *)from)[n];
	case FP16:
		memcpy(&half, (const char *)from + 2 * n, 2);
		return half_value(half);
	default:
		memcpy(&real, (const char *)from + 4 * n, 4);
		return real;
	}
}

void put_element(void *to, size_t n, double value)
{
	uint16_t half = half_of((float)value);
	float real = (float)value;

	if (unit.type == INT8)
		((int8_t *)to)[n] = (int8_t)value;
	else if (unit.type == FP16)
		memcpy((char *)to + 2 * n, &half, 2);
	else
		memcpy((char *)to + 4 * n, &real, 4);
}

double value_of(const void *from, size_t n)
{
	int32_t number;
	float real;

	memcpy(&number, (const char *)from + 4 * n, 4);
	memcpy(&real, (const char *)from + 4 * n, 4);
	return unit.type == INT8 ? number : (double)real;
}

void put_value(void *to, size_t n, double value)
{
	int32_t number = unit.type == INT8 ? (int32_t)value : 0;
	float real = (float)value;

	memcpy((char *)to + 4 * n, unit.type == INT8 ? (void *)&number : (void *)&real, 4);
}

double as_element(double value)
{
	double rounded = nearbyint(value);

	if (unit.type == INT8)
		return rounded > 127 ? 127 : rounded < -128 ? -128 : rounded;
	return unit.type == FP16 ? half_value(half_of((float)value)) : (double)(float)value;
}

void fill_elements(void *to, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_element(to, i, unit.type == INT8 ? (double)(int8_t)draw() : (double)draw_float());
}

void fill_values(void *to, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_value(to, i, unit.type == INT8 ? (double)draw_below(200001) - 100000
						   : (double)draw_float());
}

void fill_small(void *to, size_t count, int limit)
{
	for (size_t i = 0; i < count; i++)
		put_element(to, i, (int)draw_below(2 * (unsigned int)limit + 1) - limit);
}
