/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* y = A x, decoupled: for each pair of OpenMP threads one fetches x[column[i]] through a queue of its tile. */
#include "contract.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define PAIRS 2
#define ROWS 150u
#define ROW_ENTRIES 8u
#define ENTRIES (ROWS * ROW_ENTRIES)
#define ROUNDS 3

static uint32_t column[ENTRIES];
static uint32_t value[ENTRIES];
static uint32_t x[ROWS];
static uint32_t y[ROWS];
static uint32_t expected[ROWS];
static void *maple[PAIRS];
static void *mmu[PAIRS];
static atomic_uint arrived;

/* As the artifact's programs wait for each other. */
static void spin_barrier(unsigned int target)
{
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < target)
		sched_yield();
}

static void access_rows(unsigned int pair, int by_lima)
{
	uint32_t first = pair * (ROWS / PAIRS) * ROW_ENTRIES;
	uint32_t end = first + ROWS / PAIRS * ROW_ENTRIES;
	uint32_t i;

	/* One loop for all rows: the hardware drops loops that find its FIFO full. */
	if (by_lima) {
		store64(maple[pair], LOOP, 0, (uint64_t)first << 32 | end);
		return;
	}
	for (i = first; i < end; i++)
		store64(maple[pair], POINTER32, 0, column[i]);
}

static void execute_rows(unsigned int pair)
{
	uint32_t first = pair * (ROWS / PAIRS);
	uint32_t row;
	uint32_t i;

	for (row = first; row < first + ROWS / PAIRS; row++) {
		uint32_t sum = 0;

		for (i = row * ROW_ENTRIES; i < (row + 1) * ROW_ENTRIES; i++)
			sum += value[i] * load32(maple[pair], CONSUME, 0);
		y[row] = sum;
	}
}

static void set_bases(unsigned int pair, int by_lima)
{
	if (!by_lima) {
		store64(maple[pair], SET_BASE32, 0, address_of(x));
		return;
	}
	store64(maple[pair], LIMA_POINTER32, 1, address_of(x));	/* 1: B through the LLC */
	store64(maple[pair], SET_BASE32, 0, address_of(column));
}

static void work(unsigned int thread, int by_lima)
{
	unsigned int pair = thread / 2;

	if (thread % 2 == 0) {
		while (load64(maple[pair], OPEN_PRODUCER, 0) == 0)
			;
		set_bases(pair, by_lima);
	} else {
		while (load64(maple[pair], OPEN_CONSUMER, 0) == 0)
			;
	}
	spin_barrier(2 * PAIRS);
	if (thread % 2 == 0)
		access_rows(pair, by_lima);
	else
		execute_rows(pair);
}

static void run(int by_lima)
{
	memset(y, 0xff, sizeof(y));
	atomic_store(&arrived, 0);
	map_tiles(PAIRS, maple, mmu);	/* again in each round, as the programs do */
#pragma omp parallel num_threads(2 * PAIRS)
	work((unsigned int)omp_get_thread_num(), by_lima);
	CHECK(memcmp(y, expected, sizeof(y)) == 0);
}

int main(void)
{
	uint64_t state = 88172645463325252ull;
	uint32_t i;
	int round;

	omp_set_dynamic(0);
	for (i = 0; i < ROWS; i++)
		x[i] = (uint32_t)next_random(&state);
	for (i = 0; i < ENTRIES; i++) {
		column[i] = next_random(&state) % ROWS;
		value[i] = next_random(&state) % 1000;
		expected[i / ROW_ENTRIES] += value[i] * x[column[i]];
	}
	for (round = 0; round < ROUNDS; round++) {
		run(0);
		run(1);
	}
	return 0;
}
