/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sparse and dense matrices of fp32 for the DARE programs, and plain loops to check results by. */
#ifndef EXAMPLES_DARE_MATRIX_H
#define EXAMPLES_DARE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dare.h"
#include "examples/common/csr.h"
#include "examples/common/message.h"

/* By rows or by columns; indices of a line ascend, none twice. */
struct sparse_matrix {
	struct dare_sparse place;
	uint64_t nonzeros;
	uint64_t *start;
	uint32_t *index;
	float *value;
};

/*
 * Elements that are given twice are added. -ENOMEM, or -ERANGE where one is no fp32,
 * with a message.
 */
int sparse_matrix_make(struct sparse_matrix *sparse, const struct csr *csr, enum dare_layout layout,
		       struct message *message);
void sparse_matrix_free(struct sparse_matrix *sparse);

/* In [-1, 1), the same for the same seed. */
void dense_fill(float *values, size_t count, uint64_t seed);

/* C = S x D in fp32, an element's products added by ascending columns of S. */
void plain_spmm(const struct sparse_matrix *s, size_t columns, const float *d, float *c);
/* p = value of S x inner product of rows of A and B, in fp32 */
void plain_sddmm(const struct sparse_matrix *s, size_t inner, const float *a, const float *b, float *p);

/* Are they equal, each element? If not, the message names the first that is not: "C 12". */
bool verify_equal(const char *what, const float *got, const float *right, size_t count, struct message *message);

#endif
