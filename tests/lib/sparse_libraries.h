/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Checks results of the sparse kernels against CHOLMOD and OpenBLAS, which compute in
 * fp64. Only tests that link them may include this.
 *
 * Tolerance: a chain of n products and sums in fp32 is off by at most n * u / (1 - n * u)
 * times the sum of magnitudes, u = 2^-24 (the usual bound of a recursive sum). The
 * magnitudes are computed by the same libraries. The error of the libraries themselves is
 * 2^-29 of that.
 */
#ifndef TESTS_SPARSE_LIBRARIES_H
#define TESTS_SPARSE_LIBRARIES_H

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <suitesparse/cholmod.h>

#include "tests/lib/sparse_case.h"

static inline double sparse_bound(uint64_t operations, double magnitude)
{
	double n = ((double)operations + 1) * 0x1p-24;

	return n / (1 - n) * magnitude * (1 + 0x1p-20);
}

static inline void sparse_check(const char *what, uint64_t index, float got, double right, double bound)
{
	if (!(fabs((double)got - right) <= bound))
		fail_msg("%s %llu is %.9g, but must be %.9g within %.3g", what, (unsigned long long)index, (double)got,
			 right, bound);
}

/* S x D, or |S| x |D|; by columns, rows apart. The caller frees it. */
static inline cholmod_dense *sparse_cholmod_product(const struct sparse_case *s, size_t columns, const float *d,
						    size_t ldd, bool magnitudes, cholmod_common *common)
{
	cholmod_sparse *matrix = cholmod_allocate_sparse(s->rows, s->columns, s->nonzeros, 1, 1, 0, CHOLMOD_REAL,
							 common);
	cholmod_dense *dense = cholmod_allocate_dense(s->columns, columns, s->columns, CHOLMOD_REAL, common);
	cholmod_dense *product = cholmod_zeros(s->rows, columns, CHOLMOD_REAL, common);
	double one[2] = { 1, 0 }, zero[2] = { 0, 0 };

	assert_true(matrix && dense && product);
	for (size_t column = 0; column <= s->columns; column++)
		((int *)matrix->p)[column] = (int)s->column_start[column];
	for (uint64_t i = 0; i < s->nonzeros; i++) {
		double value = (double)s->value_by_column[i];

		((int *)matrix->i)[i] = (int)s->row[i];
		((double *)matrix->x)[i] = magnitudes ? fabs(value) : value;
	}
	for (size_t k = 0; k < s->columns; k++) {
		for (size_t n = 0; n < columns; n++) {
			double value = (double)d[k * ldd + n];

			((double *)dense->x)[n * s->columns + k] = magnitudes ? fabs(value) : value;
		}
	}
	assert_true(cholmod_check_sparse(matrix, common));
	assert_true(cholmod_sdmult(matrix, 0, one, zero, dense, product, common));
	cholmod_free_sparse(&matrix, common);
	cholmod_free_dense(&dense, common);
	return product;
}

static inline void sparse_check_spmm(const struct sparse_case *s, size_t columns, const float *d, size_t ldd,
				     const float *c, size_t ldc)
{
	cholmod_common common;
	cholmod_dense *product, *magnitude;

	cholmod_start(&common);
	product = sparse_cholmod_product(s, columns, d, ldd, false, &common);
	magnitude = sparse_cholmod_product(s, columns, d, ldd, true, &common);
	for (size_t row = 0; row < s->rows; row++) {
		uint64_t operations = 2 * (s->row_start[row + 1] - s->row_start[row]);

		for (size_t n = 0; n < columns; n++) {
			size_t at = n * s->rows + row;

			sparse_check("an element of row", row, c[row * ldc + n], ((double *)product->x)[at],
				     sparse_bound(operations, ((double *)magnitude->x)[at]));
		}
	}
	cholmod_free_dense(&product, &common);
	cholmod_free_dense(&magnitude, &common);
	cholmod_finish(&common);
}

/* The dense product of `rows` rows of A and all of B, and of their magnitudes. */
static inline void sparse_blas_product(size_t rows, size_t columns, size_t inner, const float *a, size_t lda,
				       const float *b, size_t ldb, bool magnitudes, double *product)
{
	double *wide_a = calloc(rows * inner + 1, sizeof(*wide_a));
	double *wide_b = calloc(columns * inner + 1, sizeof(*wide_b));

	assert_true(wide_a && wide_b);
	for (size_t i = 0; i < rows * inner; i++) {
		wide_a[i] = (double)a[i / inner * lda + i % inner];
		wide_a[i] = magnitudes ? fabs(wide_a[i]) : wide_a[i];
	}
	for (size_t i = 0; i < columns * inner; i++) {
		wide_b[i] = (double)b[i / inner * ldb + i % inner];
		wide_b[i] = magnitudes ? fabs(wide_b[i]) : wide_b[i];
	}
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)columns, (int)inner, 1, wide_a, (int)inner,
		    wide_b, (int)inner, 0, product, (int)columns);
	free(wide_a);
	free(wide_b);
}

/* p[] in the order by rows. Some rows of A at a time: all of the dense product may not fit into memory. */
static inline void sparse_check_sddmm(const struct sparse_case *s, size_t inner, const float *a, size_t lda,
				      const float *b, size_t ldb, const float *p)
{
	size_t step = s->columns > 4096 ? 64 : 1024;
	double *product = calloc(step * s->columns + 1, sizeof(*product));
	double *magnitude = calloc(step * s->columns + 1, sizeof(*magnitude));

	assert_true(product && magnitude);
	for (size_t first = 0; first < s->rows; first += step) {
		size_t rows = s->rows - first < step ? s->rows - first : step;

		sparse_blas_product(rows, s->columns, inner, a + first * lda, lda, b, ldb, false, product);
		sparse_blas_product(rows, s->columns, inner, a + first * lda, lda, b, ldb, true, magnitude);
		for (size_t row = first; row < first + rows; row++) {
			for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
				size_t at = (row - first) * s->columns + s->column[i];
				double value = (double)s->value[i];

				sparse_check("element", i, p[i], value * product[at],
					     sparse_bound(2 * inner + 1, fabs(value) * magnitude[at]));
			}
		}
	}
	free(product);
	free(magnitude);
}

#endif
