/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libdare's SpMM and SDDMM on random matrices: against CHOLMOD and OpenBLAS within
 * a bound, against the plain loop bit for bit, and their counters against a plain
 * count of runs and groups. On the embedded transport, and on the plain interpreter.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/fake_dare.h"
#include "tests/lib/sparse_case.h"
#include "tests/lib/sparse_libraries.h"

#define MATRICES SPARSE_CASES(1000)
#define INTERPRETED_MATRICES SPARSE_CASES(40)
#define POISON 12345.0f

static const unsigned int blocks_of[] = { 1, 2, 4, 8, 16 };
static const enum dare_form forms[] = { DARE_BASELINE, DARE_GSA };

/* Dense operands of one matrix; rows are longer than they need to be. */
struct operands {
	size_t columns;		/* of D and C, and inner of A and B */
	size_t ld;
	float *a;		/* rows x ld, also of the size of C */
	float *b;		/* columns x ld; D, too */
	float *c;
	float *right_c;		/* rows x columns */
	float *p;
	float *right_p;
};

static float *floats(size_t count)
{
	float *memory = calloc(count + 1, sizeof(*memory));

	assert_non_null(memory);
	return memory;
}

static size_t random_columns(struct random *random)
{
	static const size_t sizes[] = { 1, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80 };

	return random_below(random, 2) ? sizes[random_below(random, 12)] : 1 + random_below(random, 90);
}

static void operands_make(struct operands *o, const struct sparse_case *s, struct random *random, size_t columns)
{
	o->columns = columns;
	o->ld = o->columns + random_below(random, 3);
	o->a = floats(s->rows * o->ld);
	o->b = floats(s->columns * o->ld);
	o->c = floats(s->rows * o->ld);
	o->right_c = floats(s->rows * o->columns);
	o->p = floats(s->nonzeros);
	o->right_p = floats(s->nonzeros);
	sparse_case_fill(o->a, s->rows * o->ld, random);
	sparse_case_fill(o->b, s->columns * o->ld, random);
	sparse_case_spmm(s, o->columns, o->b, o->ld, o->right_c);
	sparse_case_sddmm(s, o->columns, o->a, o->ld, o->b, o->ld, o->right_p);
}

static void operands_free(struct operands *o)
{
	free(o->a);
	free(o->b);
	free(o->c);
	free(o->right_c);
	free(o->p);
	free(o->right_p);
}

static struct dare_blocks *blockify(const struct sparse_case *s, enum dare_layout layout, unsigned int block)
{
	struct dare_sparse matrix = sparse_case_matrix(s, layout);
	struct dare_blocks *blocks;

	assert_int_equal(dare_blockify(&blocks, &matrix, block), 0);
	return blocks;
}

static void check_c(const struct sparse_case *s, const struct operands *o)
{
	for (size_t row = 0; row < s->rows; row++) {
		for (size_t n = 0; n < o->ld; n++) {
			float right = n < o->columns ? o->right_c[row * o->columns + n] : POISON;

			if (o->c[row * o->ld + n] != right)
				fail_msg("C[%zu][%zu] is %a and not %a", row, n, (double)o->c[row * o->ld + n],
					 (double)right);
		}
	}
}

static void check_p(const struct sparse_case *s, const struct operands *o, enum dare_layout layout)
{
	for (uint64_t i = 0; i < s->nonzeros; i++) {
		float right = o->right_p[layout == DARE_CSR ? i : s->csr_of[i]];

		if (o->p[i] != right)
			fail_msg("p[%llu] is %a and not %a", (unsigned long long)i, (double)o->p[i], (double)right);
	}
}

static void run_spmm(struct dare *dare, const struct sparse_case *s, struct operands *o, enum dare_layout layout,
		     unsigned int block, enum dare_form form)
{
	struct dare_blocks *blocks = blockify(s, layout, block);

	for (size_t i = 0; i < s->rows * o->ld; i++)
		o->c[i] = POISON;
	assert_int_equal(dare_spmm(dare, form, blocks, sparse_case_value(s, layout), o->columns, o->b, o->ld, o->c,
				   o->ld), 0);
	dare_blocks_free(blocks);
}

static void run_sddmm(struct dare *dare, const struct sparse_case *s, struct operands *o, enum dare_layout layout,
		      unsigned int block, enum dare_form form)
{
	struct dare_blocks *blocks = blockify(s, layout, block);

	assert_int_equal(dare_sddmm(dare, form, blocks, sparse_case_value(s, layout), o->columns, o->a, o->ld, o->b,
				    o->ld, o->p), 0);
	dare_blocks_free(blocks);
}

/* Both layouts at B = 1; beyond that they take turns, as only blockify() can tell them apart. */
static void check_matrix(struct dare *dare, const struct sparse_case *s, struct operands *o, unsigned int turn)
{
	for (unsigned int i = 0; i < 5; i++) {
		for (unsigned int f = 0; f < 2; f++) {
			enum dare_layout layout = (turn + i + f) % 2 ? DARE_CSR : DARE_CSC;

			for (unsigned int twice = 0; twice < (i == 0 ? 2 : 1); twice++) {
				run_spmm(dare, s, o, layout, blocks_of[i], forms[f]);
				check_c(s, o);
				run_sddmm(dare, s, o, layout, blocks_of[i], forms[f]);
				check_p(s, o, layout);
				layout = layout == DARE_CSR ? DARE_CSC : DARE_CSR;
			}
		}
	}
}

static struct dare *open_embedded(void)
{
	const struct dare_options options = { .transport = "embedded" };
	struct dare *dare;

	if (dare_open(&dare, &options))
		fail_msg("%s", dare_error_text());
	return dare;
}

static void results_are_the_plain_loops_bit_for_bit_on_1000_matrices(void **unused)
{
	struct random random = { .state = 1 };
	struct dare *dare = open_embedded();

	(void)unused;
	for (unsigned int i = 0; i < MATRICES; i++) {
		struct sparse_case s;
		struct operands o;

		sparse_case_random(&s, &random);
		operands_make(&o, &s, &random, random_columns(&random));
		check_matrix(dare, &s, &o, i);
		operands_free(&o);
		sparse_case_free(&s);
	}
	dare_close(dare);
}

/* The interpreter reaches the operands and nothing beside; not even the padding of the last row. */
static struct dare *open_interpreter(struct fake_dare *fake, const struct sparse_case *s, const struct operands *o)
{
	struct dare *dare = fake_dare_open(fake);

	assert_non_null(dare);
	fake_dare_allow(fake, o->a, s->rows * o->ld * sizeof(*o->a) - (o->ld - o->columns) * sizeof(*o->a));
	fake_dare_allow(fake, o->b, s->columns * o->ld * sizeof(*o->b) - (o->ld - o->columns) * sizeof(*o->b));
	fake_dare_allow(fake, o->c, s->rows * o->ld * sizeof(*o->c) - (o->ld - o->columns) * sizeof(*o->c));
	return dare;
}

static void results_are_the_same_on_the_plain_interpreter(void **unused)
{
	struct random random = { .state = 2 };

	(void)unused;
	for (unsigned int i = 0; i < INTERPRETED_MATRICES; i++) {
		struct fake_dare fake;
		struct sparse_case s;
		struct operands o;
		struct dare *dare;

		sparse_case_random(&s, &random);
		operands_make(&o, &s, &random, random_columns(&random));
		dare = open_interpreter(&fake, &s, &o);
		check_matrix(dare, &s, &o, i);
		assert_int_equal(fake.oracle.counters.errors, 0);
		assert_int_equal(fake.oracle.matrix_m, 16);
		assert_int_equal(fake.oracle.matrix_k, 64);
		assert_int_equal(fake.oracle.matrix_n, 16);
		dare_close(dare);
		operands_free(&o);
		sparse_case_free(&s);
	}
}

static void spmm_is_within_the_rounding_bound_of_cholmod_on_1000_matrices(void **unused)
{
	struct random random = { .state = 3 };
	struct dare *dare = open_embedded();

	(void)unused;
	for (unsigned int i = 0; i < MATRICES; i++) {
		enum dare_layout layout = i % 2 ? DARE_CSR : DARE_CSC;
		struct sparse_case s;
		struct operands o;

		sparse_case_random(&s, &random);
		operands_make(&o, &s, &random, random_columns(&random));
		run_spmm(dare, &s, &o, layout, blocks_of[i % 5], forms[i / 5 % 2]);
		sparse_check_spmm(&s, o.columns, o.b, o.ld, o.c, o.ld);
		operands_free(&o);
		sparse_case_free(&s);
	}
	dare_close(dare);
}

static void sddmm_is_within_the_rounding_bound_of_openblas_on_1000_matrices(void **unused)
{
	struct random random = { .state = 4 };
	struct dare *dare = open_embedded();

	(void)unused;
	for (unsigned int i = 0; i < MATRICES; i++) {
		struct sparse_case s;
		struct operands o;

		sparse_case_random(&s, &random);
		operands_make(&o, &s, &random, random_columns(&random));
		run_sddmm(dare, &s, &o, DARE_CSR, blocks_of[i % 5], forms[i / 5 % 2]);
		sparse_check_sddmm(&s, o.columns, o.a, o.ld, o.b, o.ld, o.p);
		operands_free(&o);
		sparse_case_free(&s);
	}
	dare_close(dare);
}

/* 12000 address tiles, and the ring holds 2048. */
static void check_long_ring(struct dare *dare)
{
	struct random random = { .state = 5 };
	struct sparse_case s;
	struct operands o;

	sparse_case_uniform(&s, &random, 300, 300, 0.5);
	operands_make(&o, &s, &random, 64);
	for (unsigned int i = 0; i < 5; i++) {
		run_spmm(dare, &s, &o, DARE_CSC, 1, DARE_GSA);
		check_c(&s, &o);
		run_sddmm(dare, &s, &o, DARE_CSC, 1, DARE_GSA);
		check_p(&s, &o, DARE_CSC);
	}
	operands_free(&o);
	sparse_case_free(&s);
}

static void the_ring_of_addresses_turns_many_times(void **unused)
{
	struct dare *dare = open_embedded();

	(void)unused;
	check_long_ring(dare);
	dare_close(dare);
}

static void both_threads_get_on_with_one_processor(void **unused)
{
	cpu_set_t before, one;
	struct dare *dare = open_embedded();

	(void)unused;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	check_long_ring(dare);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	dare_close(dare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_the_same_on_the_plain_interpreter),
		cmocka_unit_test(results_are_the_plain_loops_bit_for_bit_on_1000_matrices),
		cmocka_unit_test(the_ring_of_addresses_turns_many_times),
		cmocka_unit_test(both_threads_get_on_with_one_processor),
		cmocka_unit_test(spmm_is_within_the_rounding_bound_of_cholmod_on_1000_matrices),
		cmocka_unit_test(sddmm_is_within_the_rounding_bound_of_openblas_on_1000_matrices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
