/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Edge cases of a core, in cycles counted by hand: accesses across lines and pages, lines that are on
 * their way, places that are taken. A load takes 2 cycles in the L1, 2 + 30 in the L2, 2 + 30 + 300 in
 * memory; DRAM's channel is taken for 4 cycles by each line. Lines of the L1 have 16 bytes, those of the
 * L2 64.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/core_inline.h"
#include "tests/lib/soc_fixture.h"

#define HIT 2
#define MISS_L1 32
#define MISS_L2 332
#define FAR 0x10000
#define PAGE 4096ull

static struct soc *with_prefetches(uint64_t places)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");

	parameters.core_prefetches = places;
	return soc_make(&parameters);
}

/* --- across lines and pages ----------------------------------------------------------- */

static void test_a_load_in_two_pages_is_over_when_both_parts_are_there(void **state)
{
	const struct soc_parts first_is_late = {
		.first = FAR + PAGE - 4, .first_size = 4, .second = 0, .second_size = 4
	};
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 0, 8);
	soc_sleep_until(soc, 0, 1000);
	/* The second part hits, the first one is in memory. */
	assert_true(soc_load_across(soc, 0, &first_is_late));
	soc_sleep_until(soc, 0, 0);
	assert_int_equal(soc_now(soc, 0), 1000 + MISS_L2);
	soc_destroy(soc);
}

static void test_a_store_across_lines_takes_both(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	/* The core may write the first line at once, and has not the second one. */
	soc_load(soc, 0, 0, 8);
	soc_sleep_until(soc, 0, 1000);
	soc_store(soc, 0, 12, 8);
	/* The store to the second line begins at 1001 and has it from the L2 at 1033; an atomic comes behind
	 * it. */
	soc_atomic(soc, 0, 0, 4);
	assert_int_equal(soc_now(soc, 0), 1001 + MISS_L1 + HIT);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_misses, 2);
	soc_destroy(soc);
}

static void test_a_word_out_of_its_bounds_is_not_loaded_quickly(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_load(soc, 0, 0, 8);
	soc_sleep_until(soc, 0, 1000);
	assert_true(core_load_begins_quickly(soc, &soc->core[0], 8, 8));
	assert_false(core_load_begins_quickly(soc, &soc->core[0], 12, 8));
	soc_destroy(soc);
}

static void test_a_device_has_read_when_the_last_of_its_lines_is_there(void **state)
{
	struct soc *soc = soc_of_preset("maple-fpga");

	(void)state;
	soc_device_read_l2(soc, FAR + 64, 8, 0);
	/* Of two lines of the L2 the first one is in memory, and the second one is there. */
	assert_int_equal(soc_device_read_l2(soc, FAR + 60, 8, 1000), 1000 + MISS_L2 - HIT);
	soc_destroy(soc);
}

/* --- lines on their way, places that are taken ------------------------------------------ */

static void test_an_atomic_waits_for_a_line_that_is_prefetched(void **state)
{
	struct soc *soc = with_prefetches(1);

	(void)state;
	soc_prefetch(soc, 0, 64);
	soc_atomic(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	soc_destroy(soc);
}

static void test_a_load_waits_for_a_line_that_is_prefetched_into_the_prototype_s_l1(void **state)
{
	struct sim_parameters parameters;
	struct soc *soc;
	char why[200];

	(void)state;
	assert_int_equal(sim_parameters_load(&parameters, "maple-fpga", why, sizeof(why)), 0);
	assert_true(parameters.l15_size);
	parameters.core_translation = 0;
	parameters.core_prefetches = 1;
	soc = soc_make(&parameters);
	soc_prefetch(soc, 0, 64);
	soc_load(soc, 0, 64, 8);
	soc_sleep_until(soc, 0, 0);
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	soc_destroy(soc);
}

static void test_a_prefetch_of_what_is_there_needs_no_place(void **state)
{
	struct soc *soc = with_prefetches(1);

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_sleep_until(soc, 0, 1000);
	soc_prefetch(soc, 0, FAR);
	soc_prefetch(soc, 0, 64);
	assert_int_equal(soc_now(soc, 0), 1002);
	soc_destroy(soc);
}

static void test_as_many_prefetches_as_there_are_places_are_on_their_way(void **state)
{
	struct soc *soc = with_prefetches(2);

	(void)state;
	soc_prefetch(soc, 0, FAR);
	soc_prefetch(soc, 0, 2 * FAR);
	assert_int_equal(soc_now(soc, 0), 2);
	/* The first place is free at 332. */
	soc_prefetch(soc, 0, 3 * FAR);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1);
	/* The second line was asked for at 1, and its transfer could begin 4 cycles behind the first one: at
	 * 336. */
	soc_prefetch(soc, 0, 4 * FAR);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 4 + 1);
	soc_destroy(soc);
}

static void test_stalls_behind_a_quick_load_are_those_of_loads(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc_core *core;
	struct soc *soc;

	(void)state;
	/* The access behind a hit waits for its second cycle. */
	parameters.core_pipelined_hits = 0;
	soc = soc_make(&parameters);
	core = &soc->core[0];
	soc_load(soc, 0, 0, 8);
	soc_sleep_until(soc, 0, 1000);
	core->ready_is_mmio = true; /* as behind a load of a device */
	assert_true(core_load_begins_quickly(soc, core, 0, 8));
	assert_true(core_load_ends_quickly(soc, core, 0));
	soc_sleep_until(soc, 0, 0);
	assert_int_equal(soc_counters_of_core(soc, 0).mmio_stalls, 0);
	soc_destroy(soc);
}

/* --- stores --------------------------------------------------------------------------------- */

static void test_a_second_miss_begins_when_the_first_one_has_its_line(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_store_misses = 1;
	soc = soc_make(&parameters);
	soc_store(soc, 0, FAR, 8);
	soc_sleep_until(soc, 0, MISS_L2 - 1);
	soc_store(soc, 0, 2 * FAR, 8);
	soc_atomic(soc, 0, 2 * FAR, 8);
	/* At 0 and at 332, although the second one has been there since 331; then the atomic hits. */
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2 + HIT);
	soc_destroy(soc);
}

static void test_a_store_of_two_words_is_joined_by_none(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	struct soc *soc;

	(void)state;
	parameters.core_store_merging = 1;
	parameters.core_store_misses = 1;
	soc = soc_make(&parameters);
	/* The first one is at work, so that the others wait. */
	soc_store(soc, 0, FAR, 8);
	soc_store(soc, 0, 2 * FAR + 4, 8);
	soc_store(soc, 0, 2 * FAR, 4);
	assert_int_equal(soc_counters_of_core(soc, 0).store_merges, 0);
	/* This one finds a place of its own word. */
	soc_store(soc, 0, 2 * FAR + 4, 4);
	assert_int_equal(soc_counters_of_core(soc, 0).store_merges, 1);
	soc_destroy(soc);
}

/* --- a device's walker ------------------------------------------------------------------------ */

static void test_a_device_waits_for_entries_that_are_on_their_way(void **state)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");
	uint64_t end;
	struct soc *soc;

	(void)state;
	parameters.maple_translation = 1;
	parameters.maple_walk_cache = HIT;
	soc = soc_make(&parameters);
	end = soc_device_walk(soc, 0, 0, 0);
	assert_int_equal(end, 3 * MISS_L2);
	/* The same three entries, each of which is there when the first walk has read it. */
	assert_int_equal(soc_device_walk(soc, 0, 0, 10), end);
	soc_destroy(soc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_load_in_two_pages_is_over_when_both_parts_are_there),
		cmocka_unit_test(test_a_store_across_lines_takes_both),
		cmocka_unit_test(test_a_word_out_of_its_bounds_is_not_loaded_quickly),
		cmocka_unit_test(test_a_device_has_read_when_the_last_of_its_lines_is_there),
		cmocka_unit_test(test_an_atomic_waits_for_a_line_that_is_prefetched),
		cmocka_unit_test(test_a_load_waits_for_a_line_that_is_prefetched_into_the_prototype_s_l1),
		cmocka_unit_test(test_a_prefetch_of_what_is_there_needs_no_place),
		cmocka_unit_test(test_as_many_prefetches_as_there_are_places_are_on_their_way),
		cmocka_unit_test(test_stalls_behind_a_quick_load_are_those_of_loads),
		cmocka_unit_test(test_a_second_miss_begins_when_the_first_one_has_its_line),
		cmocka_unit_test(test_a_store_of_two_words_is_joined_by_none),
		cmocka_unit_test(test_a_device_waits_for_entries_that_are_on_their_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
