/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The sparse kernels of bf16 and of signed bytes, on the plain interpreter, against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/fake_dare.h"
#include "tests/lib/sparse_case.h"

#define MATRICES SPARSE_CASES(25)

static const unsigned int blocks_of[] = { 1, 2, 4, 8, 16 };

/* One matrix of each operand, as bytes, and as bf16 of the same numbers times 2^-4. */
struct operands {
	size_t columns;
	int8_t *s8, *a8, *b8;
	uint16_t *s16, *a16, *b16;
	int32_t *value;
	float *value_real;
	void *c;
	void *p;
};

static void *array(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	assert_non_null(memory);
	return memory;
}

/* Bytes have at most 8 bits of significand, as bf16 has, so this is exact. */
static uint16_t bf16_of(int8_t number)
{
	float value = (float)number * 0x1p-4f;
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	assert_int_equal(bits & 0xffff, 0);
	return (uint16_t)(bits >> 16);
}

static void fill(int8_t *bytes, uint16_t *halves, size_t count, struct random *random)
{
	for (size_t i = 0; i < count; i++) {
		bytes[i] = (int8_t)(random_below(random, 256) - 128);
		halves[i] = bf16_of(bytes[i]);
	}
}

static void operands_make(struct operands *o, const struct sparse_case *s, struct random *random)
{
	o->columns = 1 + random_below(random, 150);
	o->s8 = array(s->nonzeros, 1);
	o->a8 = array(s->rows * o->columns, 1);
	o->b8 = array(s->columns * o->columns, 1);
	o->s16 = array(s->nonzeros, 2);
	o->a16 = array(s->rows * o->columns, 2);
	o->b16 = array(s->columns * o->columns, 2);
	o->value = array(s->nonzeros, 4);
	o->value_real = array(s->nonzeros, 4);
	o->c = array(s->rows * o->columns, 4);
	o->p = array(s->nonzeros, 4);
	fill(o->s8, o->s16, s->nonzeros, random);
	fill(o->a8, o->a16, s->rows * o->columns, random);
	fill(o->b8, o->b16, s->columns * o->columns, random);
	for (uint64_t i = 0; i < s->nonzeros; i++) {
		o->value[i] = (int32_t)random_next(random);
		o->value_real[i] = (float)o->s8[i] * 0.5f;
	}
}

static void operands_free(struct operands *o)
{
	void *const all[] = { o->s8, o->a8, o->b8, o->s16, o->a16, o->b16, o->value, o->value_real, o->c, o->p };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}

static struct dare *open_interpreter(struct fake_dare *fake, const struct sparse_case *s, const struct operands *o)
{
	struct dare *dare = fake_dare_open(fake);

	assert_non_null(dare);
	fake_dare_allow(fake, o->a8, s->rows * o->columns);
	fake_dare_allow(fake, o->b8, s->columns * o->columns);
	fake_dare_allow(fake, o->a16, s->rows * o->columns * 2);
	fake_dare_allow(fake, o->b16, s->columns * o->columns * 2);
	fake_dare_allow(fake, o->c, s->rows * o->columns * 4);
	return dare;
}

typedef void check_fn(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		      const struct sparse_case *s, struct operands *o);

static void on_matrices(uint64_t seed, check_fn *check)
{
	struct random random = { .state = seed };

	for (unsigned int i = 0; i < MATRICES; i++) {
		struct dare_sparse matrix;
		struct fake_dare fake;
		struct sparse_case s;
		struct operands o;
		struct dare *dare;

		sparse_case_random(&s, &random);
		operands_make(&o, &s, &random);
		dare = open_interpreter(&fake, &s, &o);
		matrix = sparse_case_matrix(&s, DARE_CSR);
		for (unsigned int b = 0; b < 5; b++) {
			struct dare_blocks *blocks;

			assert_int_equal(dare_blockify(&blocks, &matrix, blocks_of[b]), 0);
			check(dare, DARE_BASELINE, blocks, &s, &o);
			check(dare, DARE_GSA, blocks, &s, &o);
			dare_blocks_free(blocks);
		}
		assert_int_equal(fake.oracle.counters.errors, 0);
		dare_close(dare);
		operands_free(&o);
		sparse_case_free(&s);
	}
}

/* Products of these numbers are integers times 2^-8, and their sums stay below 2^24 of them: exact in any order. */
static void spmm_bf16(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		      const struct sparse_case *s, struct operands *o)
{
	const float *c = o->c;

	assert_int_equal(dare_spmm_bf16(dare, form, blocks, o->s16, o->columns, o->b16, o->columns, o->c,
					o->columns), 0);
	for (size_t row = 0; row < s->rows; row++) {
		for (size_t n = 0; n < o->columns; n++) {
			int64_t sum = 0;

			for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++)
				sum += o->s8[i] * o->b8[s->column[i] * o->columns + n];
			assert_true(c[row * o->columns + n] == (float)sum * 0x1p-8f);
		}
	}
}

static void spmm_i8(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		    const struct sparse_case *s, struct operands *o)
{
	const int32_t *c = o->c;

	assert_int_equal(dare_spmm_i8(dare, form, blocks, o->s8, o->columns, o->b8, o->columns, o->c, o->columns), 0);
	for (size_t row = 0; row < s->rows; row++) {
		for (size_t n = 0; n < o->columns; n++) {
			int32_t sum = 0;

			for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++)
				sum += o->s8[i] * o->b8[s->column[i] * o->columns + n];
			assert_int_equal(c[row * o->columns + n], sum);
		}
	}
}

static int32_t inner_product(const struct operands *o, size_t row, size_t column)
{
	int32_t sum = 0;

	for (size_t k = 0; k < o->columns; k++)
		sum += o->a8[row * o->columns + k] * o->b8[column * o->columns + k];
	return sum;
}

static void sddmm_bf16(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		       const struct sparse_case *s, struct operands *o)
{
	const float *p = o->p;

	assert_int_equal(dare_sddmm_bf16(dare, form, blocks, o->value_real, o->columns, o->a16, o->columns, o->b16,
					 o->columns, o->p), 0);
	for (size_t row = 0; row < s->rows; row++) {
		for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++)
			assert_true(p[i] == o->value_real[i] *
				    ((float)inner_product(o, row, s->column[i]) * 0x1p-8f));
	}
}

static void sddmm_i8(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		     const struct sparse_case *s, struct operands *o)
{
	const int32_t *p = o->p;

	assert_int_equal(dare_sddmm_i8(dare, form, blocks, o->value, o->columns, o->a8, o->columns, o->b8, o->columns,
				       o->p), 0);
	for (size_t row = 0; row < s->rows; row++) {
		for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++)
			assert_int_equal((uint32_t)p[i],
					 (uint32_t)o->value[i] * (uint32_t)inner_product(o, row, s->column[i]));
	}
}

static void spmm_of_bf16_is_the_plain_loop(void **unused)
{
	(void)unused;
	on_matrices(31, spmm_bf16);
}

static void spmm_of_bytes_is_the_plain_loop(void **unused)
{
	(void)unused;
	on_matrices(32, spmm_i8);
}

static void sddmm_of_bf16_is_the_plain_loop(void **unused)
{
	(void)unused;
	on_matrices(33, sddmm_bf16);
}

static void sddmm_of_bytes_is_the_plain_loop_and_wraps(void **unused)
{
	(void)unused;
	on_matrices(34, sddmm_i8);
}

/* A column of ones times D is the sum of rows of D. */
static void no_values_are_ones(void **unused)
{
	static const uint64_t start[] = { 0, 2, 4 };
	static const uint32_t index[] = { 0, 1, 0, 1 };
	const struct dare_sparse matrix = { DARE_CSR, 2, 2, start, index };
	float real[] = { 1.5f, 2.5f }, real_c[2], real_p[4];
	uint16_t half[] = { 0x3f80, 0x4000 };
	int8_t byte[] = { 3, -5 };
	int32_t integer_c[2], integer_p[4];
	struct dare_blocks *blocks;
	struct fake_dare fake;
	struct dare *dare = fake_dare_open(&fake);

	(void)unused;
	fake_dare_allow(&fake, real, sizeof(real));
	fake_dare_allow(&fake, half, sizeof(half));
	fake_dare_allow(&fake, byte, sizeof(byte));
	fake_dare_allow(&fake, real_c, sizeof(real_c));
	fake_dare_allow(&fake, integer_c, sizeof(integer_c));
	assert_int_equal(dare_blockify(&blocks, &matrix, 2), 0);
	assert_int_equal(dare_spmm(dare, DARE_AUTO, blocks, NULL, 1, real, 1, real_c, 1), 0);
	assert_true(real_c[0] == 4.0f && real_c[1] == 4.0f);
	assert_int_equal(dare_spmm_bf16(dare, DARE_AUTO, blocks, NULL, 1, half, 1, real_c, 1), 0);
	assert_true(real_c[0] == 3.0f && real_c[1] == 3.0f);
	assert_int_equal(dare_spmm_i8(dare, DARE_AUTO, blocks, NULL, 1, byte, 1, integer_c, 1), 0);
	assert_true(integer_c[0] == -2 && integer_c[1] == -2);
	assert_int_equal(dare_sddmm(dare, DARE_AUTO, blocks, NULL, 1, real, 1, real, 1, real_p), 0);
	assert_true(real_p[0] == 2.25f && real_p[1] == 3.75f && real_p[2] == 3.75f && real_p[3] == 6.25f);
	assert_int_equal(dare_sddmm_bf16(dare, DARE_AUTO, blocks, NULL, 1, half, 1, half, 1, real_p), 0);
	assert_true(real_p[0] == 1.0f && real_p[1] == 2.0f && real_p[2] == 2.0f && real_p[3] == 4.0f);
	assert_int_equal(dare_sddmm_i8(dare, DARE_AUTO, blocks, NULL, 1, byte, 1, byte, 1, integer_p), 0);
	assert_true(integer_p[0] == 9 && integer_p[1] == -15 && integer_p[2] == -15 && integer_p[3] == 25);
	dare_blocks_free(blocks);
	dare_close(dare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spmm_of_bf16_is_the_plain_loop),
		cmocka_unit_test(spmm_of_bytes_is_the_plain_loop),
		cmocka_unit_test(sddmm_of_bf16_is_the_plain_loop),
		cmocka_unit_test(sddmm_of_bytes_is_the_plain_loop_and_wraps),
		cmocka_unit_test(no_values_are_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
