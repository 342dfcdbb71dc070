/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The micro-benchmarks by which one measures a real machine, on the modelled one. Each result
 * follows from the parameters alone, and is derived above the test: a load takes 2 cycles from
 * the L1, 2 + 30 from the L2, 2 + 30 + 300 from memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/lib/soc_fixture.h"

#define L1 2
#define L2 32
#define MEMORY 332
#define LINE 64u
#define CORES_MOST 64u

static void assert_near(double value, double expected, double tolerance)
{
	if (value < expected * (1 - tolerance) || value > expected * (1 + tolerance))
		fail_msg("%.3f cycles, expected are %.3f", value, expected);
}

/* Of the cores that have less than `most` done, the one that goes on: calls are made in the order of time. */
static unsigned int earliest(const struct soc *soc, unsigned int cores, const unsigned int *done, unsigned int most)
{
	unsigned int first = cores;

	for (unsigned int core = 0; core < cores; core++)
		if (done[core] < most && (first == cores || soc_now(soc, core) < soc_now(soc, first)))
			first = core;
	return first;
}

/* --- pointer chases: each load needs the one before ---------------------------------------- */

/* Each line of `lines`, in an order without a stride: odd multipliers permute a power of two. */
static void chase(struct soc *soc, unsigned int lines)
{
	for (unsigned int i = 0; i < lines; i++)
		soc_load(soc, 0, (uint64_t)(i * 2654435761u % lines) * LINE, 8);
}

static double cycles_of_a_chase(unsigned int lines)
{
	struct soc *soc = soc_of_preset("maple-sim");
	uint64_t before, after;

	chase(soc, lines);
	before = soc_now(soc, 0);
	chase(soc, lines);
	chase(soc, lines);
	after = soc_now(soc, 0);
	soc_destroy(soc);
	return (double)(after - before) / (2.0 * lines);
}

static void test_a_chase_in_the_l1_takes_its_latency(void **state)
{
	(void)state;
	/* 4 KiB of 8 */
	assert_near(cycles_of_a_chase(64), L1, 0);
}

/* A cycle over four times the lines of the L1: the line that is next was always replaced. */
static void test_a_chase_in_the_l2_takes_the_latency_of_both(void **state)
{
	(void)state;
	assert_near(cycles_of_a_chase(512), L2, 0);
}

static void test_a_chase_in_memory_takes_the_latency_of_all(void **state)
{
	(void)state;
	/* 1 MiB; the L2 has 64 KiB */
	assert_near(cycles_of_a_chase(16384), MEMORY, 0);
}

/* --- a sequential read of 8 bytes each ------------------------------------------------------ */

static double cycles_of_a_sequential_read(const char *preset)
{
	const unsigned int loads = 1 << 17;
	struct soc *soc = soc_of_preset(preset);
	double cycles;

	for (unsigned int i = 0; i < loads; i++)
		soc_load(soc, 0, (uint64_t)i * 8, 8);
	cycles = (double)soc_now(soc, 0) / loads;
	soc_destroy(soc);
	return cycles;
}

/* Lines of 16 in the L1 and 64 in the L2: in 8 loads one of memory, three of the L2, four of the L1. */
static void test_a_sequential_read_of_the_prototype(void **state)
{
	(void)state;
	assert_near(cycles_of_a_sequential_read("maple-fpga"), (MEMORY + 3 * L2 + 4 * L1) / 8.0, 1e-4);
}

/* Lines of 64 in both: in 8 loads one of memory, seven of the L1. */
static void test_a_sequential_read_of_the_simulated_system(void **state)
{
	(void)state;
	assert_near(cycles_of_a_sequential_read("maple-sim"), (MEMORY + 7 * L1) / 8.0, 1e-4);
}

/* --- many cores, each with loads that miss --------------------------------------------------- */

/* Cycles of a load of each of `cores`, all of lines that are nowhere yet. */
static double cycles_of_misses(unsigned int cores, unsigned int mshrs, unsigned int gap)
{
	const unsigned int rounds = 400;
	struct sim_parameters parameters = soc_preset("maple-sim");
	unsigned int done[CORES_MOST] = { 0 }, first;
	struct soc *soc;
	double cycles;

	parameters.core_count = cores;
	parameters.l2_mshrs = mshrs;
	parameters.dram_gap = gap;
	soc = soc_make(&parameters);
	for (unsigned int i = 0; i < rounds * cores; i++) {
		first = earliest(soc, cores, done, rounds);
		soc_load(soc, first, ((uint64_t)first << 24) + (uint64_t)done[first]++ * LINE, 8);
	}
	cycles = (double)soc_now(soc, 0) / done[0];
	soc_destroy(soc);
	return cycles;
}

/* An MSHR is taken for the 300 cycles of memory: 8 misses on 2 of them are 4 rounds. */
static void test_eight_cores_wait_for_two_mshrs(void **state)
{
	(void)state;
	assert_near(cycles_of_misses(8, 2, 1), 8 / 2 * 300, 0.01);
}

static void test_eight_cores_wait_for_one_mshr(void **state)
{
	(void)state;
	assert_near(cycles_of_misses(8, 1, 1), 8 * 300, 0.01);
}

/* The channel of memory gives a line each `gap` cycles: each core gets every eighth. */
static void test_eight_cores_share_the_channel_of_memory(void **state)
{
	(void)state;
	assert_near(cycles_of_misses(8, 8, 100), 8 * 100, 0.01);
	assert_near(cycles_of_misses(8, 8, 50), 8 * 50, 0.01);
}

static void test_64_cores_wait_for_eight_and_for_two_mshrs(void **state)
{
	(void)state;
	assert_near(cycles_of_misses(64, 8, 1), 64 / 8 * 300, 0.01);
	assert_near(cycles_of_misses(64, 2, 1), 64 / 2 * 300, 0.01);
}

static void test_64_cores_share_the_channel_of_memory(void **state)
{
	(void)state;
	assert_near(cycles_of_misses(64, 64, 10), 64 * 10, 0.01);
}

/* 64 lines in 332 cycles need neither all of the channel nor more MSHRs than there are. */
static void test_64_cores_with_an_mshr_each_miss_as_one_does(void **state)
{
	(void)state;
	assert_near(cycles_of_misses(64, 64, 1), MEMORY, 0.01);
}

static void test_two_cores_share_a_slow_channel(void **state)
{
	(void)state;
	assert_near(cycles_of_misses(2, 8, MEMORY), 2 * MEMORY, 0.01);
}

/* --- stores --------------------------------------------------------------------------------- */

/* Eight misses are on their way at once, each for as long as a load's. */
static void test_stores_that_miss_overlap_as_many_as_may(void **state)
{
	const unsigned int stores = 4096;
	struct sim_parameters parameters = soc_preset("maple-sim");
	struct soc *soc;

	(void)state;
	parameters.core_store_misses = 8;
	soc = soc_make(&parameters);
	for (unsigned int i = 0; i < stores; i++)
		soc_store(soc, 0, (uint64_t)i * LINE, 8);
	assert_near((double)soc_now(soc, 0) / stores, MEMORY / 8.0, 0.01);
	soc_destroy(soc);
}

/* The line is in the other core's L1 each time: 2 + 30 to the L2, and 30 to fetch it from there. */
static void test_an_atomic_that_two_cores_take_from_each_other(void **state)
{
	const unsigned int turns = 100;
	struct soc *soc = soc_of_preset("maple-sim");
	uint64_t start;

	(void)state;
	soc_atomic(soc, 0, 0, 8);
	start = soc_now(soc, 0);
	for (unsigned int i = 0; i < turns; i++) {
		soc_sleep_until(soc, 1, soc_now(soc, 0));
		soc_atomic(soc, 1, 0, 8);
		soc_sleep_until(soc, 0, soc_now(soc, 1));
		soc_atomic(soc, 0, 0, 8);
	}
	assert_near((double)(soc_now(soc, 0) - start) / (2 * turns), L2 + 30, 0);
	soc_destroy(soc);
}

/* --- all at once ----------------------------------------------------------------------------- */

/*
 * a[i] = b[i] + s * c[i] by eight cores that saturate the channel. A line of `a` costs four
 * transfers: b and c are read, a is read as it is stored to, and written back when the L2
 * needs its place. Those that are still in the caches at the end are not, and are counted.
 * The 24 streams begin at different sets of the L2, or they would replace each other.
 *
 * The channel gives or takes a line each `gap` cycles, and is never idle. Of the 1024 lines of the L2 a third
 * is of `a`, as of b and of c: so (4 x lines - 1024 / 3) x gap cycles. The first line's latency and the
 * stores in eight store buffers are some lines more or less.
 */
static void triad(struct soc *soc, unsigned int core, unsigned int access, unsigned int elements)
{
	uint64_t at = ((uint64_t)core * elements + access / 3) * 8 + (uint64_t)core * 15 * LINE;

	switch (access % 3) {
	case 0: soc_load(soc, core, 0x10000000 + at, 8); break;
	case 1: soc_load(soc, core, 0x20000000 + 5 * LINE + at, 8); break;
	default: soc_store(soc, core, 0x30000000 + 10 * LINE + at, 8);
	}
}

static void test_a_triad_takes_the_channel_for_four_lines_of_each_of_its_result(void **state)
{
	const unsigned int cores = 8, gap = 100, lines = 4096, parts = LINE / 8;
	struct sim_parameters parameters = soc_preset("maple-sim");
	unsigned int done[CORES_MOST] = { 0 }, first;
	struct soc_counters counters;
	uint64_t end = 0;
	struct soc *soc;

	(void)state;
	parameters.core_count = cores;
	parameters.dram_gap = gap;
	soc = soc_make(&parameters);
	for (unsigned int i = 0; i < cores * lines * parts * 3; i++) {
		first = earliest(soc, cores, done, lines * parts * 3);
		triad(soc, first, done[first]++, lines * parts);
	}
	for (unsigned int core = 0; core < cores; core++)
		end = soc_now(soc, core) > end ? soc_now(soc, core) : end;
	soc_counters(soc, &counters);
	assert_near((double)end, (4.0 * cores * lines - (64 << 10) / LINE / 3.0) * gap, 2e-4);
	assert_int_equal(counters.dram_lines, 3 * cores * lines);
	/* Each line that was written to is written back, or dirty, or waits in a store buffer. */
	assert_true(counters.write_backs + soc_dirty_lines(soc) <= cores * lines);
	assert_true(counters.write_backs + soc_dirty_lines(soc) + cores >= cores * lines);
	soc_destroy(soc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_chase_in_the_l1_takes_its_latency),
		cmocka_unit_test(test_a_chase_in_the_l2_takes_the_latency_of_both),
		cmocka_unit_test(test_a_chase_in_memory_takes_the_latency_of_all),
		cmocka_unit_test(test_a_sequential_read_of_the_prototype),
		cmocka_unit_test(test_a_sequential_read_of_the_simulated_system),
		cmocka_unit_test(test_eight_cores_wait_for_two_mshrs),
		cmocka_unit_test(test_eight_cores_wait_for_one_mshr),
		cmocka_unit_test(test_eight_cores_share_the_channel_of_memory),
		cmocka_unit_test(test_64_cores_wait_for_eight_and_for_two_mshrs),
		cmocka_unit_test(test_64_cores_share_the_channel_of_memory),
		cmocka_unit_test(test_64_cores_with_an_mshr_each_miss_as_one_does),
		cmocka_unit_test(test_two_cores_share_a_slow_channel),
		cmocka_unit_test(test_stores_that_miss_overlap_as_many_as_may),
		cmocka_unit_test(test_an_atomic_that_two_cores_take_from_each_other),
		cmocka_unit_test(test_a_triad_takes_the_channel_for_four_lines_of_each_of_its_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
