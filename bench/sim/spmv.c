/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * SpMV again and again, for bench/sim.c: instrumented, and linked once with libmimic-sim
 * and once with hooks that do nothing. The matrix is the one of docs/timing.md: 2048 rows,
 * 65536 columns, 16 non-zeros in a row.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2048u
#define COLUMNS 65536u
#define EACH 16u

static uint32_t row_start[ROWS + 1];
static uint32_t column[ROWS * EACH];
static uint64_t value[ROWS * EACH], x[COLUMNS], y[ROWS];

static void fill(void)
{
	uint64_t state = 1;

	for (uint32_t i = 0; i < ROWS * EACH; i++) {
		/* Knuth's generator (MMIX): its high bits are random enough. */
		state = state * 6364136223846793005u + 1442695040888963407u;
		column[i] = (uint32_t)(state >> 40) % COLUMNS;
		value[i] = i % 7;
		row_start[i / EACH + 1] = i + 1;
	}
	for (uint32_t i = 0; i < COLUMNS; i++)
		x[i] = i % 11;
}

__attribute__((noinline)) static void multiply(void)
{
	for (uint32_t row = 0; row < ROWS; row++) {
		uint64_t sum = 0;

		for (uint32_t j = row_start[row]; j < row_start[row + 1]; j++)
			sum += value[j] * x[column[j]];
		y[row] = sum;
	}
}

int main(int argc, char **argv)
{
	uint64_t check = 0;

	if (argc != 2)
		return 2;
	fill();
	for (long pass = strtol(argv[1], NULL, 10); pass > 0; pass--)
		multiply();
	for (uint32_t row = 0; row < ROWS; row++)
		check = check * 31 + y[row];
	printf("%016llx\n", (unsigned long long)check);
	return 0;
}
