/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Cores and devices at random, in the order of their times, on a SoC so small that everything
 * happens often: the rules that hold in every order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/soc_internal.h"

#define CORES_MOST 64
#define BYTES 16384
#define OPERATIONS 60000

static char why[200];
static uint64_t random_state;
static unsigned int cores;
static uint64_t read_past_caches;	/* lines */

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t translate(void *context, uint64_t address)
{
	(void)context;
	return address;
}

static uint32_t read_index(void *context, uint64_t address)
{
	(void)context;
	return (uint32_t)(address * 2654435761u) % 1024;
}

static struct soc *make(const char *preset, unsigned int count)
{
	static const struct soc_program program = { .translate = translate, .read_index = read_index };
	static const struct soc_indirect indirect = { 4096, 512, 8192, 8 };
	struct sim_parameters parameters;
	struct soc *soc;

	assert_int_equal(sim_parameters_load(&parameters, preset, why, sizeof(why)), 0);
	/* An access is made when it is asked for; with walks: test_sim_translation.c. */
	parameters.core_translation = 0;
	parameters.core_count = cores = count;
	parameters.core_store_misses = 3;
	parameters.core_prefetches = 2;
	parameters.l1_size = 1024;
	parameters.l1_ways = 2;
	/* The prototype has an L1.5; the simulated system has none. */
	if (parameters.l15_size)
		parameters.l15_size = 2048;
	parameters.l2_size = 4096;
	parameters.l2_ways = 4;
	parameters.l2_mshrs = 3;
	parameters.droplet_enabled = 1;
	soc = soc_create(&parameters);
	assert_non_null(soc);
	assert_int_equal(soc_droplet_watch(soc, &program, &indirect), 0);
	return soc;
}

static unsigned int earliest(const struct soc *soc)
{
	unsigned int first = 0;

	for (unsigned int i = 1; i < cores; i++)
		if (soc_now(soc, i) < soc_now(soc, first))
			first = i;
	return first;
}

/* A device's access is not done sooner than its latency allows. */
static void use_device(struct soc *soc, uint64_t address, uint64_t now)
{
	switch (next_random() % 4) {
	case 0:
		read_past_caches += address / 64 == (address + 7) / 64 ? 1 : 2;
		assert_true(soc_device_read_memory(soc, address, 8, now) >= now + 300);
		break;
	case 1:
		assert_true(soc_device_read_l2(soc, address, 64, now) >= now + 30);
		break;
	case 2:
		assert_true(soc_device_write(soc, address, 4, now) >= now + 30);
		break;
	case 3:
		soc_device_prefetch(soc, address, now);
		break;
	}
}

static void use_core(struct soc *soc, unsigned int core, uint64_t address)
{
	unsigned int size = 1u << next_random() % 5;
	uint64_t before = soc_now(soc, core);

	switch (next_random() % 8) {
	case 0:
		soc_atomic(soc, core, address & ~7ull, 8);
		assert_true(soc_now(soc, core) >= before + 2);
		break;
	case 1:
		soc_prefetch(soc, core, address);
		break;
	case 2:
	case 3:
	case 4:
		soc_store(soc, core, address, size);
		assert_true(soc_now(soc, core) >= before + 1);
		break;
	default:
		soc_load(soc, core, address, size);
		assert_true(soc_now(soc, core) >= before + 1);
		break;
	}
}

static void run(struct soc *soc, unsigned int operations)
{
	while (operations--) {
		unsigned int core = earliest(soc);
		uint64_t address = next_random() % BYTES;

		soc_execute(soc, core, next_random() % 4);
		core = earliest(soc);
		if (next_random() % 16)
			use_core(soc, core, address);
		else
			use_device(soc, address, soc_now(soc, core));
	}
}

static struct mimic_cache_line *line_of(struct soc *soc, unsigned int core, uint64_t address)
{
	return mimic_cache_peek(soc->core[core].coherent, address);
}

/* One writer or many readers; the L2 has each line of an L1 and knows of it. */
static void check_line(struct soc *soc, uint64_t address)
{
	struct mimic_cache_line *behind = mimic_cache_peek(&soc->l2, address);
	unsigned int owners = 0, all = 0;

	for (unsigned int i = 0; i < cores; i++) {
		struct mimic_cache_line *line = line_of(soc, i, address);

		/* The L1.5 has each line of its L1. */
		assert_true(line || !mimic_cache_peek(&soc->core[i].l1, address));
		if (!line)
			continue;
		all++;
		owners += line->state >= MIMIC_CACHE_EXCLUSIVE;
		assert_non_null(behind);
		assert_true(soc_directory_of(soc, behind)->holders >> i & 1);
	}
	assert_true(!owners || all == 1);
}

static void check_lines(unsigned int count)
{
	struct soc *soc = make("maple-fpga", count);

	random_state = 88172645463325252ull;
	for (int round = 0; round < 300; round++) {
		run(soc, OPERATIONS / 300);
		for (uint64_t address = 0; address < BYTES; address += 16)
			check_line(soc, address);
	}
	soc_destroy(soc);
}

static void test_a_line_has_one_writer_or_readers_and_is_in_the_l2(void **state)
{
	(void)state;
	check_lines(8);
}

static void test_so_it_is_with_64_cores(void **state)
{
	(void)state;
	check_lines(CORES_MOST);
}

static void test_cycles_are_instructions_and_stalls(void **state)
{
	struct soc *soc = make("maple-fpga", 8);

	(void)state;
	random_state = 362436069;
	run(soc, OPERATIONS);
	for (unsigned int i = 0; i < cores; i++) {
		struct soc_core_counters counters;

		soc_sleep_until(soc, i, 0);
		soc_core_counters(soc, i, &counters);
		assert_int_equal(soc_now(soc, i), counters.instructions + counters.load_stalls + counters.store_stalls);
	}
	soc_destroy(soc);
}

static void test_two_runs_are_the_same(void **state)
{
	struct soc_counters counters[2];
	uint64_t now[2][CORES_MOST];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct soc *soc = make("maple-sim", CORES_MOST);

		random_state = 521288629;
		run(soc, OPERATIONS);
		soc_counters(soc, &counters[i]);
		for (unsigned int core = 0; core < cores; core++)
			now[i][core] = soc_now(soc, core);
		soc_destroy(soc);
	}
	assert_memory_equal(&counters[0], &counters[1], sizeof(counters[0]));
	assert_memory_equal(now[0], now[1], sizeof(now[0]));
}

static void test_memory_is_read_for_misses_prefetches_and_devices_alone(void **state)
{
	struct soc *soc = make("maple-fpga", 8);
	struct soc_counters counters;

	(void)state;
	random_state = 88675123;
	read_past_caches = 0;
	run(soc, OPERATIONS);
	soc_counters(soc, &counters);
	assert_int_equal(counters.dram_lines, counters.l2_misses + counters.prefetched + read_past_caches);
	assert_true(counters.write_backs <= counters.l2_misses + counters.prefetched);
	soc_destroy(soc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_has_one_writer_or_readers_and_is_in_the_l2),
		cmocka_unit_test(test_so_it_is_with_64_cores),
		cmocka_unit_test(test_cycles_are_instructions_and_stalls),
		cmocka_unit_test(test_two_runs_are_the_same),
		cmocka_unit_test(test_memory_is_read_for_misses_prefetches_and_devices_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
