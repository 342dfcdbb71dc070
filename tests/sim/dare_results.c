/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * SpMM, SDDMM and GEMM of random matrices by libdare: for each a line with a hash of the bytes of the
 * result. So a run in virtual time can be held against one without.
 *
 *   dare_results COUNT
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <dare.h>
#include <dare_sparse.h>

#define SIDE 48u	/* the most rows or columns */

static uint64_t state = 1;
static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE], values[SIDE * SIDE];
static uint64_t start[SIDE + 1];
static uint32_t column[SIDE * SIDE];

/* xorshift64: the same numbers everywhere. */
static unsigned int below(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 33) % limit;
}

/* Not whole, so that an order of additions that differs shows. */
static void fill(float *matrix)
{
	for (unsigned int i = 0; i < SIDE * SIDE; i++)
		matrix[i] = ((float)below(20001) - 10000) / 7000;
}

static struct dare_sparse any_sparse(unsigned int rows, unsigned int columns)
{
	unsigned int density = 1 + below(60), count = 0;

	for (unsigned int row = 0; row < rows; row++) {
		for (unsigned int i = 0; i < columns; i++)
			if (below(100) < density)
				column[count++] = i;
		start[row + 1] = count;
	}
	return (struct dare_sparse){ .layout = DARE_CSR, .rows = rows, .columns = columns, .start = start, .index = column };
}

static uint64_t hash(const void *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;	/* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
	return hash;
}

static int gemm(struct dare *dare)
{
	unsigned int m = 1 + below(SIDE), n = 1 + below(SIDE), k = 1 + below(SIDE);

	return dare_gemm(dare, below(2) ? DARE_TRANSPOSE_B : 0, m, n, k, a, SIDE, b, SIDE, c, SIDE);
}

static int sparse(struct dare *dare, bool is_spmm)
{
	struct dare_sparse matrix = any_sparse(1 + below(SIDE), 1 + below(SIDE));
	enum dare_form form = below(2) ? DARE_GSA : DARE_BASELINE;
	unsigned int columns = 1 + below(SIDE);
	struct dare_blocks *blocks;
	int error = dare_blockify(&blocks, &matrix, 1u << below(5));

	if (error)
		return error;
	error = is_spmm ? dare_spmm(dare, form, blocks, values, columns, a, SIDE, c, SIDE) :
			  dare_sddmm(dare, form, blocks, values, columns, a, SIDE, b, SIDE, c);
	dare_blocks_free(blocks);
	return error;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	struct dare *dare;

	if (dare_open(&dare, NULL)) {
		fprintf(stderr, "%s\n", dare_error_text());
		return 1;
	}
	for (int i = 0; i < count; i++) {
		int error;

		fill(a);
		fill(b);
		fill(c);
		fill(values);
		error = i % 3 == 0 ? gemm(dare) : sparse(dare, i % 3 == 1);
		if (error) {
			fprintf(stderr, "%d: %s\n", i, dare_error_text());
			return 1;
		}
		printf("%d %016" PRIx64 "\n", i, hash(c, sizeof(c)));
	}
	dare_close(dare);
	return 0;
}
