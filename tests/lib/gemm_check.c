/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/gemm_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = { "fp32", "bf16", "int8" };
static const size_t element_sizes[] = { 4, 2, 1 };

static int multiply(struct dare *dare, const struct gemm_case *c, const void *a, const void *b,
		    void *sums)
{
	switch (c->type) {
	case GEMM_FP32:
		return dare_gemm(dare, c->flags, c->m, c->n, c->k, a, c->lda, b, c->ldb, sums,
				 c->ldc);
	case GEMM_BF16:
		return dare_gemm_bf16(dare, c->flags, c->m, c->n, c->k, a, c->lda, b, c->ldb, sums,
				      c->ldc);
	default:
		return dare_gemm_i8(dare, c->flags, c->m, c->n, c->k, a, c->lda, b, c->ldb, sums,
				    c->ldc);
	}
}

static size_t size_of(const struct gemm_matrix *matrix)
{
	if (!matrix->rows || !matrix->columns)
		return 0;
	return ((matrix->rows - 1) * matrix->leading + matrix->columns) * matrix->element;
}

static void *copy_of(const struct gemm_matrix *matrix)
{
	void *copy = malloc(size_of(matrix) + 1);

	if (!copy)
		abort();
	return memcpy(copy, matrix->elements, size_of(matrix));
}

static void check_padding(const struct gemm_case *c, const struct gemm_matrix *sums)
{
	for (size_t row = 0; row + 1 < c->m && c->n; row++) {
		for (size_t at = (row * c->ldc + c->n) * 4; at < (row + 1) * c->ldc * 4; at++)
			assert_int_equal(((uint8_t *)sums->elements)[at], GEMM_PADDING);
	}
}

static void make_matrices(const struct gemm_case *c, struct gemm_matrix matrices[3],
			  uint64_t *random)
{
	bool a_turned = c->flags & DARE_TRANSPOSE_A, b_turned = c->flags & DARE_TRANSPOSE_B;
	size_t element = element_sizes[c->type];

	gemm_matrix_make(&matrices[0], a_turned ? c->k : c->m, a_turned ? c->m : c->k, c->lda,
			 element, gemm_random(random) & 1);
	gemm_matrix_make(&matrices[1], b_turned ? c->n : c->k, b_turned ? c->k : c->n, c->ldb,
			 element, gemm_random(random) & 1);
	gemm_matrix_make(&matrices[2], c->m, c->n, c->ldc, 4, gemm_random(random) & 1);
}

void gemm_check(struct dare *dare, const struct gemm_case *c, bool specials, uint64_t *random)
{
	struct gemm_matrix matrices[3], *a = &matrices[0], *b = &matrices[1], *sums = &matrices[2];
	void *expected, *a_before, *b_before;
	size_t row, column;

	make_matrices(c, matrices, random);
	gemm_matrix_fill(a, c->type, specials, random);
	gemm_matrix_fill(b, c->type, specials, random);
	gemm_matrix_fill(sums, c->type == GEMM_INT8 ? GEMM_INT8 : GEMM_FP32, specials, random);
	expected = copy_of(sums);
	a_before = copy_of(a);
	b_before = copy_of(b);
	gemm_reference(c, a->elements, b->elements, expected);
	if (multiply(dare, c, a->elements, b->elements, sums->elements))
		fail_msg("%s %zux%zux%zu: %s", type_names[c->type], c->m, c->n, c->k,
			 dare_error_text());
	if (!gemm_same(c, sums->elements, expected, &row, &column))
		fail_msg("%s, flags %u, %zux%zux%zu, lda %zu, ldb %zu, ldc %zu: row %zu, column %zu",
			 type_names[c->type], c->flags, c->m, c->n, c->k, c->lda, c->ldb, c->ldc,
			 row, column);
	check_padding(c, sums);
	assert_memory_equal(a->elements, a_before, size_of(a));
	assert_memory_equal(b->elements, b_before, size_of(b));
	free(expected);
	free(a_before);
	free(b_before);
	for (int i = 0; i < 3; i++)
		gemm_matrix_free(&matrices[i]);
}

struct gemm_case gemm_random_case(size_t largest, uint64_t *random)
{
	struct gemm_case c = {
		.type = (enum gemm_type)(gemm_random(random) % 3),
		.flags = (unsigned int)(gemm_random(random) % 8),
		.m = gemm_random(random) % (largest + 1),
		.n = gemm_random(random) % (largest + 1),
		.k = gemm_random(random) % (largest + 1),
	};

	c.lda = (c.flags & DARE_TRANSPOSE_A ? c.m : c.k) + gemm_random(random) % 9;
	c.ldb = (c.flags & DARE_TRANSPOSE_B ? c.k : c.n) + gemm_random(random) % 9;
	c.ldc = c.n + gemm_random(random) % 9;
	return c;
}
