/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sparse matrices for the tests of libdare's kernels, in both layouts, and the
 * right results and counters of the kernels: by plain loops, and by plain counting.
 * Nothing of libdare is used to make them.
 */
#ifndef TESTS_SPARSE_CASE_H
#define TESTS_SPARSE_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "examples/common/csr.h"
#include "examples/common/random.h"
#include "libdare/dare.h"
#include "tests/lib/sanitized.h"

/* Sanitizers make these tests slower still. */
#define SPARSE_CASES(count) (IS_SANITIZED ? (count) / 10 : (count))

struct sparse_case {
	size_t rows;
	size_t columns;
	uint64_t nonzeros;
	/* by rows; columns of a row may be in any order */
	uint64_t *row_start;
	uint32_t *column;
	float *value;
	/* the same elements by columns; rows ascend. csr_of[i]: number of element i by rows */
	uint64_t *column_start;
	uint32_t *row;
	float *value_by_column;
	uint64_t *csr_of;
};

/* At most 60 by 60, of one of several kinds: empty, sparse to full, bands, rows in steps, empty rows. */
void sparse_case_random(struct sparse_case *s, struct random *random);
/* rows by columns; each element is there with the probability `density`. */
void sparse_case_uniform(struct sparse_case *s, struct random *random, size_t rows, size_t columns, double density);
/* Of a matrix that a program read; integers become floats. */
void sparse_case_from_csr(struct sparse_case *s, const struct csr *csr);
void sparse_case_free(struct sparse_case *s);

struct dare_sparse sparse_case_matrix(const struct sparse_case *s, enum dare_layout layout);
const float *sparse_case_value(const struct sparse_case *s, enum dare_layout layout);
static inline size_t sparse_case_lines(const struct sparse_case *s, enum dare_layout layout)
{
	return layout == DARE_CSR ? s->rows : s->columns;
}

/* In [-1, 1), each a multiple of 2^-20 */
void sparse_case_fill(float *values, size_t count, struct random *random);

/* c[rows x columns] = S x d, in fp32, added by ascending columns of S. */
void sparse_case_spmm(const struct sparse_case *s, size_t columns, const float *d, size_t ldd, float *c);
/* p[], in the order by rows: value x (inner product, in fp32, added in ascending order) */
void sparse_case_sddmm(const struct sparse_case *s, size_t inner, const float *a, size_t lda, const float *b,
		       size_t ldb, float *p);

/* The operations that one form must do for one matrix and block size. */
struct sparse_count {
	uint64_t mma, mld, mst, mgather, mscatter;
	uint64_t macs_used, macs_offered;
	uint64_t rows_loaded, rows_stored;
	uint64_t bytes_loaded, bytes_stored;
};
void sparse_case_count_spmm(const struct sparse_case *s, unsigned int block, bool is_gsa, size_t columns,
			    struct sparse_count *count);
void sparse_case_count_sddmm(const struct sparse_case *s, unsigned int block, bool is_gsa, size_t inner,
			     struct sparse_count *count);

/* Blocks, and tiles by both rules, counted from a bitmap of the blocks. */
struct sparse_tiles {
	uint64_t blocks, runs, groups;
	uint64_t filled[257];		/* [n]: blocks with n elements */
};
void sparse_case_tiles(const struct sparse_case *s, unsigned int block, struct sparse_tiles *tiles);

#endif
