/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * spmv PASSES [THREADS]: SpMV again and again, for bench/sim.c: instrumented, and linked once with libmimic-sim
 * and once with hooks that do nothing. Each thread multiplies its part of the rows. The matrix is the one of docs/timing.md: 2048 rows,
 * 65536 columns, 16 non-zeros in a row.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2048u
#define COLUMNS 65536u
#define EACH 16u
#define THREADS_MAX 64u

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

__attribute__((noinline)) static void multiply(uint32_t first, uint32_t end)
{
	for (uint32_t row = first; row < end; row++) {
		uint64_t sum = 0;

		for (uint32_t j = row_start[row]; j < row_start[row + 1]; j++)
			sum += value[j] * x[column[j]];
		y[row] = sum;
	}
}

static unsigned long passes, threads = 1;

static void *work(void *argument)
{
	uint32_t number = (uint32_t)(uintptr_t)argument, part = ROWS / (uint32_t)threads;

	for (unsigned long pass = 0; pass < passes; pass++)
		multiply(number * part, number + 1 == threads ? ROWS : (number + 1) * part);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t others[THREADS_MAX];
	uint64_t check = 0;

	if (argc != 2 && argc != 3)
		return 2;
	passes = strtoul(argv[1], NULL, 10);
	if (argc == 3)
		threads = strtoul(argv[2], NULL, 10);
	if (!threads || threads > THREADS_MAX)
		return 2;
	fill();
	for (uintptr_t i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, work, (void *)i))
			return 1;
	work(NULL);
	for (uintptr_t i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	for (uint32_t row = 0; row < ROWS; row++)
		check = check * 31 + y[row];
	printf("%016llx\n", (unsigned long long)check);
	return 0;
}
