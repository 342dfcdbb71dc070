/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A core in cycles, counted by hand. The numbers are those of the presets: an access of
 * the L1 takes 2 cycles, one that finds its line in the L2 2 + 30, one that does not
 * 2 + 30 + 300.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/core_inline.h"
#include "tests/lib/soc_fixture.h"

#define HIT 2
#define MISS_L1 32
#define MISS_L2 332
#define FAR 0x10000	/* in another line of everything */

/* As maple-fpga, but loads block. */
static struct soc *blocking(void)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");

	parameters.core_stall_on_use = 0;
	return soc_make(&parameters);
}

static void test_an_instruction_takes_a_cycle(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_execute(soc, 0, 17);
	assert_int_equal(soc_now(soc, 0), 17);
	assert_int_equal(soc_now(soc, 1), 0);
	assert_int_equal(soc_counters_of_core(soc, 0).instructions, 17);
	soc_destroy(soc);
}

static void test_an_instruction_of_a_null_model_takes_none(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_instruction = 0;
	soc = soc_make(&parameters);
	soc_execute(soc, 0, 17);
	assert_int_equal(soc_now(soc, 0), 0);
	assert_int_equal(soc_counters_of_core(soc, 0).instructions, 0);
	soc_load(soc, 0, 64, 8);
	soc_execute(soc, 0, 400);
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	assert_int_equal(soc_counters_of_core(soc, 0).instructions, 1);
	soc_destroy(soc);
}

static void test_a_blocking_load_that_misses_holds_the_core(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_execute(soc, 0, 10);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 10);
	assert_int_equal(soc_counters_of_core(soc, 0).load_stalls, MISS_L2 - 1);
	soc_destroy(soc);
}

static void test_a_blocking_load_that_hits_takes_the_latency_of_the_l1(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_load(soc, 0, 72, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + HIT);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_hits, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_misses, 1);
	soc_destroy(soc);
}

static void test_a_load_from_the_l2_takes_its_latency_behind_that_of_the_l1(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	soc_load(soc, 0, 64, 8);
	/* Another line of the L1, the same of the L2. */
	soc_load(soc, 0, 64 + 16, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + MISS_L1);
	soc_destroy(soc);
}

static void test_instructions_go_on_behind_a_load_with_stall_on_use(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_execute(soc, 0, 100);
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + HIT);
	/* The load was one cycle, the instructions 100. */
	assert_int_equal(soc_counters_of_core(soc, 0).load_stalls, MISS_L2 - 101);
	soc_destroy(soc);
}

static void test_more_instructions_than_the_latency_hide_it(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_execute(soc, 0, 1000);
	assert_int_equal(soc_now(soc, 0), 1001);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_counters_of_core(soc, 0).load_stalls, 0);
	soc_destroy(soc);
}

/* The run-time's way for a load that hits the latest used line. */
static void test_a_quick_load_is_none_of_a_line_that_is_on_its_way(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-sim");
	struct soc *soc = soc_make(&parameters);
	struct soc_core *core = &soc->core[0];

	(void)state;
	soc_prefetch(soc, 0, 64);
	assert_true(core_load_begins_quickly(soc, core, 64, 8));
	assert_false(core_load_ends_quickly(soc, core, 64));
	/* The line is there at 332 or one cycle later, when the prefetch was an instruction. */
	soc_sleep_until(soc, 0, MISS_L2 - HIT - 1);
	assert_false(core_load_ends_quickly(soc, core, 64));
	soc_sleep_until(soc, 0, MISS_L2 + 1);
	assert_true(core_load_begins_quickly(soc, core, 64, 8));
	assert_true(core_load_ends_quickly(soc, core, 64));
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1 + HIT);
	soc_destroy(soc);
}

static void test_a_store_waits_for_the_load_before_it(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_store(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1);
	soc_destroy(soc);
}

static void test_load_latency_counts_from_issue_to_data(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_load(soc, 0, 64, 8);
	soc_load(soc, 0, 80, 8);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 3);
	assert_int_equal(soc_counters_of_core(soc, 0).load_cycles, MISS_L2 + HIT + MISS_L1);
	soc_destroy(soc);
}

static void test_a_load_across_lines_needs_both(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_load(soc, 0, 64 + 12, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + MISS_L1);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 2);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_hits, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_misses, 2);
	soc_destroy(soc);
}

static void test_the_slower_line_of_a_load_counts(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_load(soc, 0, 60, 8);
	/* The first of the two lines is in no cache. */
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2);
	soc_destroy(soc);
}

static void test_a_store_that_misses_does_not_hold_the_core(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_store(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), 1);
	assert_int_equal(soc_counters_of_core(soc, 0).stores, 1);
	soc_destroy(soc);
}

static void test_a_full_store_buffer_holds_the_core_until_the_first_store_is_done(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		soc_store(soc, 0, (i + 1ull) * FAR, 8);
	assert_int_equal(soc_now(soc, 0), 8);
	/* One miss at a time: the first is done at 332, the second at 664. */
	soc_store(soc, 0, 9ull * FAR, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1);
	soc_store(soc, 0, 10ull * FAR, 8);
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2 + 1);
	assert_int_equal(soc_counters_of_core(soc, 0).store_stalls, MISS_L2 - 8 + MISS_L2 - 1);
	soc_destroy(soc);
}

static void test_two_store_misses_at_once_overlap(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_store_buffer = 2;
	parameters.core_store_misses = 2;
	soc = soc_make(&parameters);
	soc_store(soc, 0, 1ull * FAR, 8);
	soc_store(soc, 0, 2ull * FAR, 8);
	/* Begins at 1, but memory takes a line every 4 cycles: 332 and 336. */
	soc_store(soc, 0, 3ull * FAR, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1);
	soc_store(soc, 0, 4ull * FAR, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 4 + 1);
	soc_destroy(soc);
}

static void test_stores_that_hit_take_a_cycle_each(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	for (int i = 0; i < 100; i++)
		soc_store(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 100);
	assert_int_equal(soc_counters_of_core(soc, 0).store_stalls, 0);
	soc_destroy(soc);
}

static void test_a_store_that_hits_keeps_its_place_behind_one_that_misses(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_store(soc, 0, FAR, 8);
	for (int i = 0; i < 7; i++)
		soc_store(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 8);
	soc_store(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2 + 1);
	soc_destroy(soc);
}

static void test_stores_to_a_line_on_its_way_retire_with_it(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	/* The first misses, the others find the line ordered: all eight places are free at 332. */
	for (int i = 0; i < 8; i++)
		soc_store(soc, 0, 64, 8);
	soc_store(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1);
	soc_store(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 2);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_misses, 1);
	soc_destroy(soc);
}

static void test_a_load_gets_what_the_store_buffer_holds(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_store(soc, 0, 64, 8);
	soc_load(soc, 0, 68, 4);
	assert_int_equal(soc_now(soc, 0), 1 + HIT);
	soc_destroy(soc);
}

static void test_a_load_of_a_part_that_is_stored_waits_for_the_line(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_store(soc, 0, 64, 4);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	soc_destroy(soc);
}

static void test_a_store_that_is_done_gives_no_more_data(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	/* The L2 has the line, and four more of its set of the L1. */
	for (unsigned int i = 0; i <= 4; i++)
		soc_load(soc, 0, 64 + 16 + i * 2048ull, 8);
	soc_sleep_until(soc, 0, 5000);
	/* Done at 5032; the next one, until 5364, keeps the buffer from being empty. */
	soc_store(soc, 0, 64, 8);
	soc_store(soc, 0, FAR, 8);
	for (unsigned int i = 1; i <= 4; i++)
		soc_load(soc, 0, 64 + i * 2048ull, 8);
	assert_int_equal(soc_now(soc, 0), 5002 + 4 * MISS_L1);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), 5002 + 5 * MISS_L1);
	soc_destroy(soc);
}

static void test_a_load_passes_a_store_to_another_line(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_store(soc, 0, FAR, 8);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1 + HIT);
	soc_destroy(soc);
}

static void test_an_atomic_waits_for_the_stores_before_it(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_store(soc, 0, FAR, 8);
	/* The store begins at 332. */
	soc_atomic(soc, 0, 64, 4);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + MISS_L2 + HIT);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 2);
	assert_int_equal(soc_counters_of_core(soc, 0).stores, 2);
	soc_destroy(soc);
}

static void test_an_atomic_waits_for_a_store_that_hit_behind_one_that_missed(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_store(soc, 0, FAR, 8);
	soc_store(soc, 0, 64, 8);
	soc_atomic(soc, 0, 64, 4);
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2 + HIT);
	soc_destroy(soc);
}

static void test_the_parts_of_a_store_begin_one_after_the_other(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_store_misses = 2;
	soc = soc_make(&parameters);
	soc_load(soc, 0, 64, 8);
	soc_load(soc, 0, FAR, 8);
	soc_sleep_until(soc, 0, 1000);
	/* Both lines are in the L2: written at 1032 and 1033. */
	soc_store(soc, 0, 64 + 28, 8);
	soc_atomic(soc, 0, FAR, 4);
	assert_int_equal(soc_now(soc, 0), 1033 + HIT);
	soc_destroy(soc);
}

static void test_a_prefetch_without_a_place_is_a_load(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_prefetch(soc, 0, 64);
	soc_load(soc, 0, FAR, 8);
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 2);
	assert_int_equal(soc_counters_of_core(soc, 0).prefetches, 1);
	soc_destroy(soc);
}

static void test_a_prefetch_with_a_place_lets_the_core_go_on(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_prefetches = 1;
	soc = soc_make(&parameters);
	soc_prefetch(soc, 0, 64);
	soc_execute(soc, 0, 99);
	assert_int_equal(soc_now(soc, 0), 100);
	/* The line is on its way. */
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	assert_int_equal(soc_counters_of_core(soc, 0).load_cycles, MISS_L2 + MISS_L2 - 100);
	soc_destroy(soc);
}

static void test_a_prefetch_that_finds_no_place_waits(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_prefetches = 1;
	soc = soc_make(&parameters);
	soc_prefetch(soc, 0, 64);
	soc_prefetch(soc, 0, FAR);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1);
	soc_destroy(soc);
}

static void test_a_store_waits_for_a_line_that_is_prefetched(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_prefetches = 1;
	soc = soc_make(&parameters);
	soc_load(soc, 0, 64, 8);
	soc_prefetch(soc, 0, FAR);
	soc_store(soc, 0, FAR, 8);
	soc_atomic(soc, 0, 64, 4);
	/* The prefetch begins at 332. */
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2 + HIT);
	soc_destroy(soc);
}

static void test_cycles_are_instructions_and_stalls_and_sleeps(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");
	struct soc_core_counters counters;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		soc_execute(soc, 0, i % 5);
		if (i % 3)
			soc_load(soc, 0, i * 40ull % 30000, 4);
		else
			soc_store(soc, 0, i * 72ull % 90000, 4);
		if (i % 100 == 0)
			soc_sleep_until(soc, 0, soc_now(soc, 0) + 50);
	}
	soc_sleep_until(soc, 0, soc_now(soc, 0));
	counters = soc_counters_of_core(soc, 0);
	assert_int_equal(counters.sleeps, 500);
	assert_int_equal(soc_now(soc, 0), counters.instructions + counters.load_stalls + counters.store_stalls +
			 counters.sleeps);
	soc_destroy(soc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_instruction_takes_a_cycle),
		cmocka_unit_test(test_an_instruction_of_a_null_model_takes_none),
		cmocka_unit_test(test_a_blocking_load_that_misses_holds_the_core),
		cmocka_unit_test(test_a_blocking_load_that_hits_takes_the_latency_of_the_l1),
		cmocka_unit_test(test_a_load_from_the_l2_takes_its_latency_behind_that_of_the_l1),
		cmocka_unit_test(test_instructions_go_on_behind_a_load_with_stall_on_use),
		cmocka_unit_test(test_more_instructions_than_the_latency_hide_it),
		cmocka_unit_test(test_a_quick_load_is_none_of_a_line_that_is_on_its_way),
		cmocka_unit_test(test_a_store_waits_for_the_load_before_it),
		cmocka_unit_test(test_load_latency_counts_from_issue_to_data),
		cmocka_unit_test(test_a_load_across_lines_needs_both),
		cmocka_unit_test(test_the_slower_line_of_a_load_counts),
		cmocka_unit_test(test_a_store_that_misses_does_not_hold_the_core),
		cmocka_unit_test(test_a_full_store_buffer_holds_the_core_until_the_first_store_is_done),
		cmocka_unit_test(test_two_store_misses_at_once_overlap),
		cmocka_unit_test(test_stores_that_hit_take_a_cycle_each),
		cmocka_unit_test(test_a_store_that_hits_keeps_its_place_behind_one_that_misses),
		cmocka_unit_test(test_stores_to_a_line_on_its_way_retire_with_it),
		cmocka_unit_test(test_a_load_gets_what_the_store_buffer_holds),
		cmocka_unit_test(test_a_load_of_a_part_that_is_stored_waits_for_the_line),
		cmocka_unit_test(test_a_store_that_is_done_gives_no_more_data),
		cmocka_unit_test(test_a_load_passes_a_store_to_another_line),
		cmocka_unit_test(test_an_atomic_waits_for_the_stores_before_it),
		cmocka_unit_test(test_an_atomic_waits_for_a_store_that_hit_behind_one_that_missed),
		cmocka_unit_test(test_the_parts_of_a_store_begin_one_after_the_other),
		cmocka_unit_test(test_a_prefetch_without_a_place_is_a_load),
		cmocka_unit_test(test_a_prefetch_with_a_place_lets_the_core_go_on),
		cmocka_unit_test(test_a_prefetch_that_finds_no_place_waits),
		cmocka_unit_test(test_a_store_waits_for_a_line_that_is_prefetched),
		cmocka_unit_test(test_cycles_are_instructions_and_stalls_and_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
