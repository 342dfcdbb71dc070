/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A Virgo unit and the plain reference side by side: check() sends a command to
 * both; the shared memory, the accumulator and the program's memory must then be
 * the same bytes. Tests run for each of kinds[].
 */
#ifndef TESTS_VIRGO_BOTH_H
#define TESTS_VIRGO_BOTH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the first two */
#include <cmocka.h>

#include "tests/lib/virgo_fixture.h"
#include "tests/lib/virgo_reference.h"

#define ACC VIRGO_LOCAL_ACCUMULATOR
#define ADD VIRGO_LOCAL_ACCUMULATE
#define HALF (ARENA_BYTES / 2)	/* the first is read, the second written */

/* Model and reference side by side. */
static struct {
	struct virgo_fixture *f;
	struct virgo_reference *r;
	unsigned char *expected;	/* expected bytes of the second half of the arena */
	unsigned int type, dim, size;
	uint64_t seed;
} both;

static inline uint32_t draw(void)
{
	both.seed = both.seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(both.seed >> 33);
}

static inline unsigned int below(unsigned int limit)
{
	return draw() % limit;
}

static inline float random_float(void)
{
	return ((float)below(2001) - 1000) / 250;
}

static inline void put_float(void *to, float value)
{
	memcpy(to, &value, 4);
}

/* Elements of the unit's type. */
static inline void fill(void *to, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		_Float16 half = (_Float16)random_float();

		if (both.type == VIRGO_INT8)
			((uint8_t *)to)[i] = (uint8_t)draw();
		else if (both.type == VIRGO_FP16)
			memcpy((char *)to + 2 * i, &half, 2);
		else
			put_float((char *)to + 4 * i, random_float());
	}
}

/* Values of the accumulator's type. */
static inline void fill_wide(void *to, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int32_t number = (int32_t)below(200001) - 100000;

		if (both.type == VIRGO_INT8)
			memcpy((char *)to + 4 * i, &number, 4);
		else
			put_float((char *)to + 4 * i, random_float());
	}
}

static inline void start_configured(const struct virgo_config *config, unsigned int options)
{
	static const unsigned int sizes[] = { 1, 2, 4 };
	unsigned int type = config->unit[0].type, dim = config->unit[0].dim;

	both.f = virgo_fixture_create(config, options);
	both.r = virgo_reference_create(type, dim, config->shared_kb << 10,
					config->unit[0].accumulator_kb << 10);
	both.expected = malloc(HALF);
	assert_non_null(both.r);
	assert_non_null(both.expected);
	both.type = type;
	both.dim = dim;
	both.size = sizes[type];
	both.seed = 12345 + type * 31 + dim;
	fill(both.f->arena, HALF / both.size);
}

static inline void start_with(unsigned int type, unsigned int dim, unsigned int options,
		       unsigned int shared_kb)
{
	struct virgo_config config = virgo_fixture_config(type, dim);

	config.shared_kb = shared_kb;
	if (dim == 32)
		config.unit[0].accumulator_kb = 64;
	start_configured(&config, options);
}

static inline void start_as(unsigned int type, unsigned int dim, unsigned int options)
{
	/* Not fewer rows than one of 16 x 16 has */
	start_with(type, dim, options, dim == 32 ? 256 : 64);
}

static inline void stop(void)
{
	virgo_fixture_destroy(both.f);
	virgo_reference_destroy(both.r);
	free(both.expected);
}

/* Each case runs for each type, and for the arrays of other sizes. */
static const struct {
	unsigned int type, dim;
} kinds[] __attribute__((unused)) = {
	{ VIRGO_INT8, 16 }, { VIRGO_FP16, 16 }, { VIRGO_FP32, 8 }, { VIRGO_FP32, 4 },
	{ VIRGO_INT8, 8 }, { VIRGO_FP32, 16 }, { VIRGO_FP16, 4 },
	{ VIRGO_INT8, 32 }, { VIRGO_FP32, 32 }, { VIRGO_FP16, 32 },
};

#define EACH_KIND(k) (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)

/* The reference writes where the model does, so its output is kept aside. */
static inline void send_only(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	unsigned char *out = both.f->arena + HALF;

	virgo_send(both.f, 0, funct, rs1, rs2);
	virgo_run(both.f);
	memcpy(both.expected, out, HALF);
}

/* cmocka compares byte by byte, which takes long where much is compared. */
static inline void expect_same_bytes(const void *actual, const void *expected, size_t size)
{
	if (memcmp(actual, expected, size))
		assert_memory_equal(actual, expected, size);
}

static inline void check(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	unsigned char *out = both.f->arena + HALF, *before = malloc(HALF);
	struct virgo_unit_view view;

	assert_non_null(before);
	memcpy(before, out, HALF);
	send_only(funct, rs1, rs2);
	assert_int_equal(virgo_unit_load(both.f, 0, VIRGO_ERROR), VIRGO_ERROR_NONE);
	memcpy(out, before, HALF);
	free(before);
	virgo_reference_command(both.r, funct, rs1, rs2);
	expect_same_bytes(both.expected, out, HALF);
	expect_same_bytes(both.f->shared, both.r->spad, both.f->config.shared_kb << 10);
	assert_int_equal(virgo_model_unit(both.f->model, 0, &view), 0);
	expect_same_bytes(view.accumulator, both.r->accumulator,
			  (size_t)both.r->accumulator_rows * both.dim * 4);
}

static inline void quick(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	virgo_send(both.f, 0, funct, rs1, rs2);
	virgo_run(both.f);
	virgo_reference_command(both.r, funct, rs1, rs2);
}

/* --- commands with plain arguments ---------------------------------------------------------- */

static inline uint64_t scale_bits(float scale)
{
	uint32_t pattern;

	memcpy(&pattern, &scale, 4);
	return pattern;
}

static inline void config_ld(unsigned int id, uint64_t stride, float scale, bool shrunk,
		      unsigned int block_stride, unsigned int pixels)
{
	quick(VIRGO_FUNCT_CONFIG, scale_bits(scale) << 32 | (uint64_t)block_stride << 16 | pixels << 8 |
	      id << 3 | (unsigned int)shrunk << 2 | VIRGO_CONFIG_LD, stride);
}

static inline void config_st(uint64_t stride, unsigned int activation, float scale)
{
	quick(VIRGO_FUNCT_CONFIG, (activation & 3) << 2 | VIRGO_CONFIG_ST, scale_bits(scale) << 32 | stride);
}

static inline void config_ex(unsigned int dataflow, unsigned int activation, unsigned int shift,
		      unsigned int a_stride, unsigned int c_stride, bool a_t, bool b_t)
{
	quick(VIRGO_FUNCT_CONFIG, scale_bits(0.75f) << 32 | (uint64_t)a_stride << 16 |
	      (unsigned int)b_t << 9 | (unsigned int)a_t << 8 | activation << 3 | dataflow << 2,
	      (uint64_t)c_stride << 48 | shift);
}

/* An int32 or an fp32 constant as a field of 32 bits. */
static inline uint32_t constant(int32_t number, float real)
{
	return both.type == VIRGO_INT8 ? (uint32_t)number : (uint32_t)scale_bits(real);
}

/* Constants as Gemmini's library computes them for a scale of 0.05. */
static inline void config_norm(bool high)
{
	uint64_t qb = constant(27, 1.353f), qc = constant(384, 0.344f / 0.3585f);

	quick(VIRGO_FUNCT_CONFIG, (uint64_t)constant(13, 0.693147f) << 32 | (uint64_t)high << 16 |
	      VIRGO_CONFIG_NORM, qc << 32 | qb);
	quick(VIRGO_FUNCT_CONFIG, (uint64_t)constant(5041, 1.442695f) << 32 | 1u << 18 |
	      (uint64_t)high << 16 | VIRGO_CONFIG_NORM, qc << 32 | qb);
}

static inline uint64_t in_memory(size_t offset)
{
	return virgo_address(both.f->arena + offset);
}

static inline uint64_t out_memory(size_t offset)
{
	return virgo_address(both.f->arena + HALF + offset);
}

/* Scratchpad and accumulator full of values. */
static inline void fill_unit(void)
{
	unsigned int rows = both.r->accumulator_rows;

	config_ld(0, both.dim * both.size, 1, false, both.dim, 1);
	for (unsigned int row = 0; row < both.r->rows; row += 1024)
		quick(VIRGO_FUNCT_MVIN, in_memory(row), virgo_pack(both.r->rows - row < 1024 ?
			both.r->rows - row : 1024, both.dim, row));
	fill_wide(both.f->arena, (size_t)rows * both.dim);
	config_ld(2, both.dim * 4, 1, false, both.dim, 1);
	quick(VIRGO_FUNCT_MVIN3, in_memory(0), virgo_pack(rows, both.dim, ACC));
	fill(both.f->arena, HALF / both.size);
}

#endif
