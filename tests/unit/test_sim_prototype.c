/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Parts of the prototype's cores that those of the simulated system lack, in cycles counted by hand: an L1
 * that is written through (2 cycles) in front of an L1.5 (2 more), a store buffer that merges, loads that hit
 * in a pipeline. The L2 takes 30 behind the L1, to ask another core 30 more, memory 300.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/lib/soc_fixture.h"

#define HIT 2
#define HIT_L15 4
#define MISS_L1 32
#define MISS_L2 332
#define FORWARD 30
#define FAR 0x10000	/* in another line of everything */

/* The preset as it is, but for TLBs. */
static struct sim_parameters prototype(void)
{
	struct sim_parameters parameters;
	char why[200];

	assert_int_equal(sim_parameters_load(&parameters, "maple-fpga", why, sizeof(why)), 0);
	parameters.core_translation = 0;
	return parameters;
}

static struct soc *make(void)
{
	struct sim_parameters parameters = prototype();

	return soc_make(&parameters);
}

static struct soc_counters counters_of(const struct soc *soc)
{
	struct soc_counters counters;

	soc_counters(soc, &counters);
	return counters;
}

/* --- loads ------------------------------------------------------------------------------- */

static void test_loads_that_hit_begin_one_a_cycle(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_load(soc, 0, 64, 8);
	for (unsigned int i = 0; i < 100; i++)
		soc_load(soc, 0, 64 + 8 * (i % 2), 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 100);
	/* Their data is there in the second cycle all the same. */
	assert_int_equal(soc_counters_of_core(soc, 0).load_cycles, MISS_L2 + 100 * HIT);
	soc_destroy(soc);
}

static void test_a_load_waits_for_one_that_misses(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_load(soc, 0, 80, 8);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + MISS_L1 + 1);
	soc_destroy(soc);
}

/* Lines of 16 in the L1, of 64 in the L2: of 8 loads one is of memory, three of the L2, four hit. */
static void test_a_sequential_read(void **state)
{
	const unsigned int lines = 1 << 10;
	struct soc *soc = make();

	(void)state;
	for (unsigned int i = 0; i < 8 * lines; i++)
		soc_load(soc, 0, (uint64_t)i * 8, 8);
	assert_int_equal(soc_now(soc, 0), lines * (MISS_L2 + 3 * MISS_L1 + 4));
	soc_destroy(soc);
}

/* Of five lines of one set the L1 keeps four, and a store has put none there: the L1.5 has it. */
static void test_a_load_that_misses_in_the_l1_finds_its_line_in_the_l15(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_store(soc, 0, 64, 8);
	soc_sleep_until(soc, 0, 1000);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), 1000 + HIT_L15);
	assert_int_equal(soc_counters_of_core(soc, 0).l15_hits, 1);
	soc_load(soc, 0, 72, 8);
	assert_int_equal(soc_now(soc, 0), 1000 + HIT_L15 + 1);
	soc_destroy(soc);
}

/* Half of the L1.5, with lines that only its larger half holds. */
static void test_an_l15_that_is_larger_holds_what_the_l1_has_replaced(void **state)
{
	struct sim_parameters parameters = prototype();
	uint64_t before;
	struct soc *soc;

	(void)state;
	parameters.l15_size = 2 * parameters.l1_size;
	soc = soc_make(&parameters);
	for (unsigned int i = 0; i <= 4; i++)
		soc_load(soc, 0, i * 2048ull, 8);
	before = soc_now(soc, 0);
	soc_load(soc, 0, 0, 8);
	assert_int_equal(soc_now(soc, 0), before + HIT_L15);
	soc_destroy(soc);
}

static void test_a_line_that_leaves_the_l15_leaves_the_l1(void **state)
{
	struct sim_parameters parameters = prototype();
	uint64_t before;
	struct soc *soc;

	(void)state;
	/* One set of the L1.5 is two of the L1: 0 and 2048 are in different ones. */
	parameters.l1_ways = 2;
	parameters.l15_ways = 1;
	soc = soc_make(&parameters);
	soc_load(soc, 0, 0, 8);
	soc_load(soc, 0, 8192, 8);
	before = soc_now(soc, 0);
	/* The L1 has two ways for both, the L1.5 has one. */
	soc_load(soc, 0, 0, 8);
	assert_int_equal(soc_now(soc, 0), before + MISS_L1);
	soc_destroy(soc);
}

/* --- branches, multiplications ----------------------------------------------------------- */

static void test_branches_and_multiplications_take_longer(void **state)
{
	struct sim_parameters parameters = prototype(), other = soc_preset("maple-sim");

	(void)state;
	assert_int_equal(sim_parameters_pipeline(&parameters, 1, 0, 0), 1);
	assert_int_equal(sim_parameters_pipeline(&parameters, 0, 1, 0), 5);
	assert_int_equal(sim_parameters_pipeline(&parameters, 0, 0, 1), 1);
	assert_int_equal(sim_parameters_pipeline(&parameters, 3, 2, 4), 3 + 10 + 4);
	assert_int_equal(sim_parameters_pipeline(&other, 3, 2, 4), 0);
}

static void test_a_load_on_its_way_hides_a_branch(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_execute(soc, 0, 10);
	soc_execute_longer(soc, 0, 5);
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	soc_load(soc, 0, 64, 8);
	soc_execute(soc, 0, 10);
	soc_execute_longer(soc, 0, 5);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1 + 10 + 5);
	assert_int_equal(soc_counters_of_core(soc, 0).pipeline_stalls, 10);
	assert_int_equal(soc_counters_of_core(soc, 0).instructions, 22);
	/* Behind the load one cycle, ten instructions, and five more passed. */
	assert_int_equal(soc_counters_of_core(soc, 0).load_stalls, MISS_L2 - 16);
	soc_destroy(soc);
}

/* --- stores ------------------------------------------------------------------------------ */

static void test_a_store_takes_no_line_into_the_l1_and_one_into_the_l15(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_store(soc, 0, 64, 8);
	soc_sleep_until(soc, 0, 1000);
	/* Its line is there to be written: no miss. */
	soc_store(soc, 0, 72, 8);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_misses, 1);
	assert_int_equal(soc_now(soc, 0), 1001);
	assert_int_equal(soc_dirty_lines(soc), 1);
	assert_int_equal(counters_of(soc).write_backs, 0);
	soc_destroy(soc);
}

/* Written through: the L1's copy stays, and the next load hits it. */
static void test_a_line_in_the_l1_stays_there_when_it_is_written(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_store(soc, 0, 64, 8);
	soc_sleep_until(soc, 0, 1000);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), 1001);
	assert_int_equal(soc_counters_of_core(soc, 0).l15_hits, 0);
	soc_destroy(soc);
}

/* A store to a line that both hold takes it from the other core's two caches, by way of the L2. */
static void test_a_store_to_a_line_that_both_hold(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_load(soc, 0, 0, 8);
	soc_sleep_until(soc, 1, 500);
	soc_load(soc, 1, 0, 8);
	/* Core 0 had it alone. */
	assert_int_equal(soc_now(soc, 1), 500 + MISS_L1 + FORWARD);
	soc_sleep_until(soc, 0, 1000);
	soc_store(soc, 0, 0, 8);
	assert_int_equal(soc_now(soc, 0), 1001);
	/* An atomic behind it waits until the L2 has answered: that shows when it is done. */
	soc_atomic(soc, 0, 0, 8);
	assert_int_equal(soc_now(soc, 0), 1000 + MISS_L1 + HIT_L15);
	assert_int_equal(counters_of(soc).invalidations, 1);
	soc_sleep_until(soc, 1, 2000);
	soc_load(soc, 1, 0, 8);
	/* In neither the L1 nor the L1.5 of core 1; core 0 has written it. */
	assert_int_equal(soc_now(soc, 1), 2000 + MISS_L1 + FORWARD);
	assert_int_equal(soc_counters_of_core(soc, 1).l15_hits, 0);
	soc_destroy(soc);
}

static void test_a_stream_of_stores_to_a_line_takes_a_cycle_each(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_load(soc, 0, 64, 8);
	for (unsigned int i = 0; i < 100; i++)
		soc_store(soc, 0, 64 + 8 * (i % 2), 8);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 100);
	assert_int_equal(soc_counters_of_core(soc, 0).store_stalls, 0);
	soc_destroy(soc);
}

/* Behind a store that misses eight bytes are one place, however many stores write them. */
static void test_stores_to_a_word_that_waits_join_it(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_store(soc, 0, FAR, 8);
	for (unsigned int i = 0; i < 40; i++)
		soc_store(soc, 0, 64 + i % 8, 1);
	assert_int_equal(soc_now(soc, 0), 41);
	assert_int_equal(soc_counters_of_core(soc, 0).store_merges, 39);
	assert_int_equal(soc_counters_of_core(soc, 0).store_stalls, 0);
	soc_destroy(soc);
}

/* Seven more words and the buffer of eight is full, until the first store is done. */
static void test_stores_to_other_words_need_places(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_store(soc, 0, FAR, 8);
	for (unsigned int i = 0; i < 14; i++)
		soc_store(soc, 0, 2 * FAR + 4 * i, 4);
	assert_int_equal(soc_now(soc, 0), 15);
	soc_store(soc, 0, 3 * FAR, 4);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 1);
	assert_int_equal(soc_counters_of_core(soc, 0).store_merges, 7);
	soc_destroy(soc);
}

/* The first one has begun at once, and is on its way. */
static void test_a_store_joins_none_that_has_begun(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_store(soc, 0, 64, 4);
	soc_store(soc, 0, 68, 4);
	assert_int_equal(soc_counters_of_core(soc, 0).store_merges, 0);
	soc_destroy(soc);
}

static void test_a_load_gets_its_data_from_stores_that_have_joined(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_store(soc, 0, FAR, 8);
	soc_store(soc, 0, 64, 4);
	soc_store(soc, 0, 68, 4);
	soc_load(soc, 0, 64, 8);
	assert_int_equal(soc_now(soc, 0), 4);
	assert_int_equal(soc_counters_of_core(soc, 0).load_cycles, HIT);
	soc_destroy(soc);
}

/* Two bytes of the four are in the buffer: the load waits for the line, behind both misses. */
static void test_a_load_of_more_than_has_joined_waits_for_the_line(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_store(soc, 0, FAR, 8);
	soc_store(soc, 0, 64, 1);
	soc_store(soc, 0, 66, 1);
	soc_load(soc, 0, 64, 4);
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2);
	soc_destroy(soc);
}

/* A byte between those that are stored is not in the buffer. */
static void test_a_load_of_a_byte_that_has_not_joined_passes(void **state)
{
	struct soc *soc = make();

	(void)state;
	soc_load(soc, 0, 64, 8);
	soc_store(soc, 0, FAR, 8);
	soc_store(soc, 0, 64, 1);
	soc_store(soc, 0, 66, 1);
	soc_load(soc, 0, 65, 1);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + 4);
	soc_destroy(soc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_that_hit_begin_one_a_cycle),
		cmocka_unit_test(test_a_load_waits_for_one_that_misses),
		cmocka_unit_test(test_a_sequential_read),
		cmocka_unit_test(test_a_load_that_misses_in_the_l1_finds_its_line_in_the_l15),
		cmocka_unit_test(test_an_l15_that_is_larger_holds_what_the_l1_has_replaced),
		cmocka_unit_test(test_a_line_that_leaves_the_l15_leaves_the_l1),
		cmocka_unit_test(test_branches_and_multiplications_take_longer),
		cmocka_unit_test(test_a_load_on_its_way_hides_a_branch),
		cmocka_unit_test(test_a_store_takes_no_line_into_the_l1_and_one_into_the_l15),
		cmocka_unit_test(test_a_line_in_the_l1_stays_there_when_it_is_written),
		cmocka_unit_test(test_a_store_to_a_line_that_both_hold),
		cmocka_unit_test(test_a_stream_of_stores_to_a_line_takes_a_cycle_each),
		cmocka_unit_test(test_stores_to_a_word_that_waits_join_it),
		cmocka_unit_test(test_stores_to_other_words_need_places),
		cmocka_unit_test(test_a_store_joins_none_that_has_begun),
		cmocka_unit_test(test_a_load_gets_its_data_from_stores_that_have_joined),
		cmocka_unit_test(test_a_load_of_more_than_has_joined_waits_for_the_line),
		cmocka_unit_test(test_a_load_of_a_byte_that_has_not_joined_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
