/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Matrix products by the plain loop, in the order of sums that dare.h documents,
 * and matrices for them that end, or begin, where memory does.
 */
#ifndef TESTS_GEMM_REFERENCE_H
#define TESTS_GEMM_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gemm_type { GEMM_FP32, GEMM_BF16, GEMM_INT8 };

struct gemm_case {
	enum gemm_type type;
	unsigned int flags;	/* enum dare_gemm_flags */
	size_t m, n, k;
	size_t lda, ldb, ldc;
};

/* One matrix: `rows` rows of `columns` elements, and nothing behind the last one. */
struct gemm_matrix {
	void *elements;
	size_t rows, columns, leading, element;
	void *mapping;
	size_t mapping_size;
};

/* Between the pages before and behind it, which cannot be read: at the end, or at the beginning. */
void gemm_matrix_make(struct gemm_matrix *matrix, size_t rows, size_t columns, size_t leading,
		      size_t element, bool at_the_end);
void gemm_matrix_free(struct gemm_matrix *matrix);

/* Random elements; `specials` mixes in zeros of both signs, subnormals, infinities and NaN. */
void gemm_matrix_fill(struct gemm_matrix *matrix, enum gemm_type type, bool specials,
		      uint64_t *random);

/* The value of elements of C between the columns and the leading dimension. */
#define GEMM_PADDING 0x5a

void gemm_reference(const struct gemm_case *c, const void *a, const void *b, void *sums);

/* The same bits, or NaN where the other is NaN; false: *row and *column are of the first that differs. */
bool gemm_same(const struct gemm_case *c, const void *got, const void *expected, size_t *row,
	       size_t *column);

uint64_t gemm_random(uint64_t *random);

#endif
