/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * For the rows of sim: the plain stream of SpMM with blocks of one element (docs/examples.md, "The streams"), of a
 * matrix with ten elements in a column, again and again: DARE's figures spend most instructions on it.
 *
 *   stream PASSES
 */
#include <stdio.h>
#include <stdlib.h>

#include <dare.h>

#define SIDE 512u
#define COLUMNS 64u	/* of the dense operands */
#define CHUNK 16u	/* elements of a register's row */
#define EACH 10u	/* elements in a column */

static float c[SIDE][COLUMNS] __attribute__((aligned(64))), d[SIDE][COLUMNS] __attribute__((aligned(64)));
static float s[SIDE * EACH] __attribute__((aligned(64)));
static unsigned int rows[SIDE * EACH];

static int shape(struct dare *dare, unsigned int m, unsigned int k)
{
	int error = dare_mcfg(dare, DARE_CSR_MATRIX_M, m);

	return error ? error : dare_mcfg(dare, DARE_CSR_MATRIX_K, k);
}

/* Of an element and 16 columns; sets of registers take turns; the sums of `last` are stored in between. */
static int tile(struct dare *dare, unsigned int element, unsigned int column, unsigned int chunk, unsigned int set,
		float **last)
{
	float *sums = &c[rows[element]][chunk * CHUNK];
	unsigned int md = 3 * set, other = 3 * (set ^ 1);
	int error = shape(dare, 1, 64);

	error = error ? error : dare_mld(dare, md, sums, 64);
	error = error ? error : shape(dare, 1, 4);
	error = error ? error : dare_mld(dare, md + 1, &s[element], 4);
	error = error ? error : shape(dare, 16, 4);
	error = error ? error : dare_mld(dare, md + 2, &d[column][chunk * CHUNK], 4);
	error = error ? error : shape(dare, 1, 64);
	if (*last)
		error = error ? error : dare_mst(dare, other, *last, 64);
	error = error ? error : shape(dare, 1, 4);
	*last = sums;
	return error ? error : dare_mma(dare, md, md + 1, md + 2);
}

static int pass(struct dare *dare)
{
	float *last = NULL;
	unsigned int set = 0;

	for (unsigned int column = 0; column < SIDE; column++)
		for (unsigned int chunk = 0; chunk < COLUMNS / CHUNK; chunk++)
			for (unsigned int i = 0; i < EACH; i++, set ^= 1) {
				int error = tile(dare, column * EACH + i, column, chunk, set, &last);

				if (error)
					return error;
			}
	return dare_fence(dare);
}

int main(int argc, char **argv)
{
	int passes = argc > 1 ? atoi(argv[1]) : 1, error;
	uint32_t state = 1;
	struct dare *dare;

	for (unsigned int i = 0; i < SIDE * EACH; i++) {
		state = state * 1664525 + 1013904223;
		rows[i] = (i % EACH) * (SIDE / EACH) + (state >> 16) % (SIDE / EACH);
		s[i] = 1;
	}
	error = dare_open(&dare, NULL);
	while (!error && passes-- > 0)
		error = pass(dare);
	if (error)
		fprintf(stderr, "%s\n", dare_error_text());
	return error != 0;
}
