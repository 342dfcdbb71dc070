/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/gemm_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dare.h"

#define PAGE 4096

uint64_t gemm_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

void gemm_matrix_make(struct gemm_matrix *matrix, size_t rows, size_t columns, size_t leading,
		      size_t element, bool at_the_end)
{
	size_t size = rows && columns ? ((rows - 1) * leading + columns) * element : 0;
	size_t pages = (size + PAGE - 1) / PAGE;
	char *mapping = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapping == MAP_FAILED ||
	    (pages && mprotect(mapping + PAGE, pages * PAGE, PROT_READ | PROT_WRITE)))
		abort();
	*matrix = (struct gemm_matrix){
		.elements = mapping + PAGE + (at_the_end ? pages * PAGE - size : 0),
		.rows = rows,
		.columns = columns,
		.leading = leading,
		.element = element,
		.mapping = mapping,
		.mapping_size = (pages + 2) * PAGE,
	};
	memset(matrix->elements, GEMM_PADDING, size);
}

void gemm_matrix_free(struct gemm_matrix *matrix)
{
	munmap(matrix->mapping, matrix->mapping_size);
}

static float random_float(uint64_t *random, bool specials)
{
	static const float values[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f,
					-0x1.8p-130f, 0x1.fffffep127f };

	if (specials && gemm_random(random) % 8 == 0)
		return values[gemm_random(random) % (sizeof(values) / sizeof(values[0]))];
	return (float)((double)(gemm_random(random) >> 11) * 0x1p-52 - 1);
}

void gemm_matrix_fill(struct gemm_matrix *matrix, enum gemm_type type, bool specials,
		      uint64_t *random)
{
	for (size_t row = 0; row < matrix->rows; row++) {
		for (size_t column = 0; column < matrix->columns; column++) {
			size_t at = row * matrix->leading + column;

			if (type == GEMM_FP32)
				((float *)matrix->elements)[at] = random_float(random, specials);
			else if (type == GEMM_BF16)
				((uint16_t *)matrix->elements)[at] =
					dare_bf16(random_float(random, specials));
			else if (matrix->element == 4)
				((int32_t *)matrix->elements)[at] = (int32_t)gemm_random(random);
			else
				((int8_t *)matrix->elements)[at] = (int8_t)gemm_random(random);
		}
	}
}

static float bf16_to_float(uint16_t bits)
{
	union {
		uint32_t bits;
		float value;
	} wide = { (uint32_t)bits << 16 };

	return wide.value;
}

/* Element (row, k) of A, or (k, column) of B, wherever it is stored. */
static size_t a_index(const struct gemm_case *c, size_t row, size_t k)
{
	return c->flags & DARE_TRANSPOSE_A ? k * c->lda + row : row * c->lda + k;
}

static size_t b_index(const struct gemm_case *c, size_t k, size_t column)
{
	return c->flags & DARE_TRANSPOSE_B ? column * c->ldb + k : k * c->ldb + column;
}

static float float_sum(const struct gemm_case *c, const void *a, const void *b, float sum,
		       size_t row, size_t column)
{
	for (size_t k = 0; k < c->k; k++) {
		size_t i = a_index(c, row, k), j = b_index(c, k, column);
		float x = c->type == GEMM_FP32 ? ((const float *)a)[i]
					       : bf16_to_float(((const uint16_t *)a)[i]);
		float y = c->type == GEMM_FP32 ? ((const float *)b)[j]
					       : bf16_to_float(((const uint16_t *)b)[j]);
		/* volatile: some compilers would fuse the two operations on some machines */
		volatile float product = x * y;

		sum = sum + product;
	}
	return sum;
}

static int32_t int_sum(const struct gemm_case *c, const int8_t *a, const int8_t *b, int32_t start,
		       size_t row, size_t column)
{
	uint32_t sum = (uint32_t)start;

	for (size_t k = 0; k < c->k; k++)
		sum += (uint32_t)(a[a_index(c, row, k)] * b[b_index(c, k, column)]);
	return (int32_t)sum;
}

void gemm_reference(const struct gemm_case *c, const void *a, const void *b, void *sums)
{
	bool adds = c->flags & DARE_ADD;

	for (size_t row = 0; row < c->m; row++) {
		for (size_t column = 0; column < c->n; column++) {
			size_t at = row * c->ldc + column;

			if (c->type == GEMM_INT8) {
				int32_t *sum = (int32_t *)sums + at;

				*sum = int_sum(c, a, b, adds ? *sum : 0, row, column);
			} else {
				float *sum = (float *)sums + at;

				*sum = float_sum(c, a, b, adds ? *sum : 0, row, column);
			}
		}
	}
}

static bool same_element(enum gemm_type type, const char *got, const char *expected)
{
	float x, y;

	if (memcmp(got, expected, 4) == 0)
		return true;
	memcpy(&x, got, 4);
	memcpy(&y, expected, 4);
	return type != GEMM_INT8 && isnan(x) && isnan(y);
}

bool gemm_same(const struct gemm_case *c, const void *got, const void *expected, size_t *row,
	       size_t *column)
{
	for (*row = 0; *row < c->m; ++*row) {
		for (*column = 0; *column < c->n; ++*column) {
			size_t at = (*row * c->ldc + *column) * 4;

			if (!same_element(c->type, (const char *)got + at, (const char *)expected + at))
				return false;
		}
	}
	return true;
}
