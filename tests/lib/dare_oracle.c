/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A plain interpreter of DARE's instructions. Slow and obvious on purpose. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/lib/dare_oracle.h"

enum kind { ILLEGAL, MCFG, MLD, MST, MMA_FP32, MMA_BF16, MMA_INT8, MGATHER, MSCATTER };

struct decoded {
	enum kind kind;
	unsigned int element;		/* bytes */
	unsigned int md, ms1, ms2;	/* ms2: also the source of a store */
};

static unsigned int bits(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

/* Bits [11:10] of loads and stores. */
static unsigned int element_of(uint32_t word)
{
	static const unsigned int sizes[4] = { 1, 2, 4, 0 };

	return sizes[bits(word, 11, 10)];
}

static struct decoded decode_strided(uint32_t word, enum kind kind)
{
	struct decoded d = { kind, element_of(word), bits(word, 9, 7), 0, bits(word, 9, 7) };

	if (!d.element || bits(word, 14, 12))
		d.kind = ILLEGAL;
	return d;
}

static struct decoded decode_gather(uint32_t word)
{
	struct decoded d = { MGATHER, element_of(word), bits(word, 9, 7), bits(word, 20, 18), 0 };

	if (!d.element || bits(word, 24, 21) || bits(word, 17, 12))
		d.kind = ILLEGAL;
	return d;
}

static struct decoded decode_scatter(uint32_t word)
{
	struct decoded d = { MSCATTER, element_of(word), 0, bits(word, 20, 18), bits(word, 23, 21) };

	if (!d.element || bits(word, 24, 24) || bits(word, 17, 12) || bits(word, 9, 7))
		d.kind = ILLEGAL;
	return d;
}

static struct decoded decode_multiply(uint32_t word)
{
	struct decoded d = { ILLEGAL, 0, bits(word, 17, 15), bits(word, 20, 18), bits(word, 23, 21) };
	unsigned int function = bits(word, 31, 25), size = bits(word, 11, 7);

	if (bits(word, 24, 24) || bits(word, 14, 12))
		return d;
	if (function == 0x04 && size == 0x10) {
		d.kind = MMA_FP32;
		d.element = 4;
	} else if (function == 0x04 && size == 0x09) {
		d.kind = MMA_BF16;
		d.element = 2;
	} else if (function == 0x08 && size == 0x00) {
		d.kind = MMA_INT8;
		d.element = 1;
	}
	return d;
}

static struct decoded decode(uint32_t word)
{
	struct decoded illegal = { ILLEGAL, 0, 0, 0, 0 };
	struct decoded configure = { MCFG, 0, 0, 0, 0 };

	if (bits(word, 6, 0) != 0x2b)
		return illegal;
	switch (bits(word, 31, 25)) {
	case 0x02:
		return decode_strided(word, MLD);
	case 0x06:
		return decode_strided(word, MST);
	case 0x04:
	case 0x08:
		return decode_multiply(word);
	case 0x1a:
		return decode_gather(word);
	case 0x1e:
		return decode_scatter(word);
	case 0x7f:
		return bits(word, 14, 7) ? illegal : configure;
	default:
		return illegal;
	}
}

/* --- errors ---------------------------------------------------------------------- */

static void fail(struct dare_oracle *oracle, enum dare_oracle_error error, uint64_t address, unsigned int row)
{
	oracle->error = error;
	oracle->error_address = address;
	oracle->error_row = row;
}

/* --- memory instructions ------------------------------------------------------------ */

static uint64_t row_address(const struct dare_oracle *oracle, const struct decoded *d, unsigned int row,
			    uint64_t rs1, uint64_t rs2)
{
	uint64_t address = 0;

	if (d->kind == MLD || d->kind == MST)
		return rs1 + row * rs2;
	for (int i = 7; i >= 0; i--)
		address = address << 8 | oracle->m[d->ms1][row][i];
	return address;
}

static bool is_aligned(struct dare_oracle *oracle, const struct decoded *d, uint64_t address, unsigned int row)
{
	if (address % d->element == 0)
		return true;
	fail(oracle, ORACLE_MISALIGNED, address, row);
	return false;
}

static int load(struct dare_oracle *oracle, const struct decoded *d, uint64_t rs1, uint64_t rs2)
{
	uint8_t tile[16][64] = { { 0 } };

	for (unsigned int row = 0; row < oracle->matrix_m; row++) {
		uint64_t address = row_address(oracle, d, row, rs1, rs2);

		if (!is_aligned(oracle, d, address, row))
			return 0;
		for (unsigned int i = 0; i < oracle->matrix_k; i++) {
			int error = oracle->memory->read(oracle->memory->context, address + i, &tile[row][i]);

			if (error == -EAGAIN)
				return error;
			if (error) {
				fail(oracle, ORACLE_LOAD, address + i, row);
				return 0;
			}
		}
	}
	memcpy(oracle->m[d->md], tile, sizeof(tile));
	oracle->counters.rows_loaded += oracle->matrix_m;
	oracle->counters.bytes_loaded += oracle->matrix_m * oracle->matrix_k;
	return 0;
}

static int store(struct dare_oracle *oracle, const struct decoded *d, uint64_t rs1, uint64_t rs2)
{
	for (unsigned int row = 0; row < oracle->matrix_m; row++) {
		uint64_t address = row_address(oracle, d, row, rs1, rs2);

		if (!is_aligned(oracle, d, address, row))
			return 0;
		for (unsigned int i = 0; i < oracle->matrix_k; i++) {
			int error = oracle->memory->write(oracle->memory->context, address + i,
							  oracle->m[d->ms2][row][i]);

			if (error == -EAGAIN)
				return error;
			if (error) {
				fail(oracle, ORACLE_STORE, address + i, row);
				return 0;
			}
		}
	}
	oracle->counters.rows_stored += oracle->matrix_m;
	oracle->counters.bytes_stored += oracle->matrix_m * oracle->matrix_k;
	return 0;
}

static int transfer(struct dare_oracle *oracle, const struct decoded *d, uint64_t rs1, uint64_t rs2)
{
	if (!oracle->memory) {
		fail(oracle, ORACLE_DETACHED, 0, 0);
		return 0;
	}
	/* Base and stride are looked at first, the stride of a single row as well. */
	if (d->kind == MLD || d->kind == MST) {
		if (!is_aligned(oracle, d, rs1, 0) || !is_aligned(oracle, d, rs2, 0))
			return 0;
	}
	if (d->kind == MLD || d->kind == MGATHER)
		return load(oracle, d, rs1, rs2);
	return store(oracle, d, rs1, rs2);
}

/* --- mma ------------------------------------------------------------------------------ */

static float float_of(uint32_t pattern)
{
	float value;

	memcpy(&value, &pattern, 4);
	return value;
}

static uint32_t word_at(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static float float_at(const uint8_t *row, unsigned int index, unsigned int element)
{
	if (element == 4)
		return float_of(word_at(row + 4 * index));
	return float_of((row[2 * index] | (uint32_t)row[2 * index + 1] << 8) << 16);
}

static uint32_t sum_of_floats(uint32_t start, const uint8_t *a, const uint8_t *b, unsigned int count,
			      unsigned int element)
{
	/* volatile: both roundings happen, as the compiler cannot fuse the two. */
	volatile float sum = float_of(start), product;
	uint32_t pattern;
	float result;

	for (unsigned int k = 0; k < count; k++) {
		product = float_at(a, k, element) * float_at(b, k, element);
		sum = sum + product;
	}
	result = sum;
	memcpy(&pattern, &result, 4);
	return pattern;
}

static uint32_t sum_of_integers(uint32_t start, const uint8_t *a, const uint8_t *b, unsigned int count)
{
	uint32_t sum = start;

	for (unsigned int k = 0; k < count; k++)
		sum += (uint32_t)((int8_t)a[k] * (int8_t)b[k]);
	return sum;
}

static void multiply(struct dare_oracle *oracle, const struct decoded *d)
{
	unsigned int count = (unsigned int)oracle->matrix_k / d->element;
	uint8_t result[16][64] = { { 0 } };

	if (oracle->matrix_k % d->element) {
		fail(oracle, ORACLE_SHAPE, oracle->matrix_k, 0);
		return;
	}
	for (unsigned int i = 0; i < oracle->matrix_m; i++) {
		for (unsigned int j = 0; j < oracle->matrix_n; j++) {
			const uint8_t *a = oracle->m[d->ms1][i], *b = oracle->m[d->ms2][j];
			uint32_t sum = word_at(&oracle->m[d->md][i][4 * j]);

			if (d->kind == MMA_INT8) {
				sum = sum_of_integers(sum, a, b, count);
			} else {
				sum = sum_of_floats(sum, a, b, count, d->element);
				oracle->nan_count += isnan(float_of(sum));
			}
			for (unsigned int byte = 0; byte < 4; byte++)
				result[i][4 * j + byte] = (uint8_t)(sum >> 8 * byte);
		}
	}
	memcpy(oracle->m[d->md], result, sizeof(result));
	oracle->counters.macs_used += oracle->matrix_m * oracle->matrix_n * count;
	oracle->counters.macs_offered += 16 * 16 * (64 / d->element);
}

/* --- the others --------------------------------------------------------------------------- */

static void configure(struct dare_oracle *oracle, uint64_t number, uint64_t value)
{
	uint64_t *csrs[3] = { &oracle->matrix_m, &oracle->matrix_k, &oracle->matrix_n };
	static const uint64_t largest[3] = { 16, 64, 16 };

	if (number > 2)
		fail(oracle, ORACLE_CSR, number, 0);
	else if (value < 1 || value > largest[number])
		fail(oracle, ORACLE_SHAPE, value, 0);
	else
		*csrs[number] = value;
}

static uint64_t *counter_of(struct dare_oracle_counters *counters, enum kind kind)
{
	switch (kind) {
	case MCFG:
		return &counters->mcfg;
	case MLD:
		return &counters->mld;
	case MST:
		return &counters->mst;
	case MGATHER:
		return &counters->mgather;
	case MSCATTER:
		return &counters->mscatter;
	default:
		return &counters->mma;
	}
}

int dare_oracle_instruction(struct dare_oracle *oracle, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	struct decoded d = decode(word);
	int error = 0;

	if (oracle->error) {
		oracle->counters.dropped++;
		return 0;
	}
	oracle->nan_count = 0;
	if (d.kind == ILLEGAL)
		fail(oracle, ORACLE_ILLEGAL, word, 0);
	else if (d.kind == MCFG)
		configure(oracle, rs1, rs2);
	else if (d.kind == MMA_FP32 || d.kind == MMA_BF16 || d.kind == MMA_INT8)
		multiply(oracle, &d);
	else
		error = transfer(oracle, &d, rs1, rs2);
	if (error)
		return error;
	oracle->dispatched++;
	if (oracle->error) {
		oracle->error_instruction = word;
		oracle->error_position = oracle->dispatched - 1;
		oracle->counters.errors++;
		return 0;
	}
	oracle->completed++;
	oracle->counters.instructions++;
	(*counter_of(&oracle->counters, d.kind))++;
	return 0;
}

unsigned int dare_oracle_value_count(uint32_t word)
{
	enum kind kind = decode(word).kind;

	return kind == MCFG || kind == MLD || kind == MST ? 2 : 0;
}

unsigned int dare_oracle_stream_missing(const struct dare_oracle *oracle)
{
	if (!oracle->stream_count)
		return 0;
	return 1 + dare_oracle_value_count((uint32_t)oracle->stream[0]) - oracle->stream_count;
}

bool dare_oracle_collect(struct dare_oracle *oracle, uint64_t value)
{
	oracle->stream[oracle->stream_count++] = value;
	if (dare_oracle_stream_missing(oracle))
		return false;
	/* Values of a former instruction are no values of this one. */
	for (unsigned int i = oracle->stream_count; i < 3; i++)
		oracle->stream[i] = 0;
	oracle->stream_count = 0;
	return true;
}

int dare_oracle_stream(struct dare_oracle *oracle, uint64_t value)
{
	if (!dare_oracle_collect(oracle, value))
		return 0;
	return dare_oracle_instruction(oracle, (uint32_t)oracle->stream[0], oracle->stream[1], oracle->stream[2]);
}

/* --- power on, reset, errors -------------------------------------------------------------- */

void dare_oracle_clear_error(struct dare_oracle *oracle)
{
	oracle->error = ORACLE_NO_ERROR;
	oracle->error_instruction = 0;
	oracle->error_position = 0;
	oracle->error_address = 0;
	oracle->error_row = 0;
}

void dare_oracle_reset(struct dare_oracle *oracle)
{
	memset(oracle->m, 0, sizeof(oracle->m));
	oracle->matrix_m = 16;
	oracle->matrix_k = 64;
	oracle->matrix_n = 16;
	oracle->dispatched = 0;
	oracle->completed = 0;
	oracle->stream_count = 0;
	dare_oracle_clear_error(oracle);
}

void dare_oracle_power_on(struct dare_oracle *oracle, const struct dare_oracle_memory *memory)
{
	memset(oracle, 0, sizeof(*oracle));
	oracle->memory = memory;
	dare_oracle_reset(oracle);
}
