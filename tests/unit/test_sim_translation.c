/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A core's TLB in cycles, counted by hand. A read of a page table takes as long as a load:
 * 2 cycles in the L1, 2 + 30 in the L2, 2 + 30 + 300 in memory. The three tables of low
 * addresses lie in pages of their own, so that the first walk is three misses. An entry has
 * 8 bytes: a line of maple-fpga's L1 has those of 2 pages, one of the L2 those of 8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/soc_fixture.h"

#define HIT 2
#define MISS_L1 32
#define FORWARD 30	/* a line that another core was given alone */
#define MISS_L2 332
#define COLD_WALK (3 * MISS_L2)
#define PAGE 4096ull

static struct sim_parameters translated(void)
{
	struct sim_parameters parameters = soc_preset("maple-fpga");

	parameters.core_translation = 1;
	return parameters;
}

/* Loads block, so that soc_now() is when the data is there. */
static struct soc *blocking(void)
{
	struct sim_parameters parameters = translated();

	parameters.core_stall_on_use = 0;
	return soc_make(&parameters);
}

/* One core alone: nobody has to go on between the reads of a walk. */
static void load(struct soc *soc, uint64_t address)
{
	while (!soc_load(soc, 0, address, 8))
		;
}

static void store(struct soc *soc, uint64_t address)
{
	while (!soc_store(soc, 0, address, 8))
		;
}

/* The cycles of one load. */
static uint64_t cycles_of_load(struct soc *soc, uint64_t address)
{
	uint64_t before = soc_now(soc, 0);

	load(soc, address);
	return soc_now(soc, 0) - before;
}

static void test_the_first_walk_reads_memory_three_times(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	assert_int_equal(cycles_of_load(soc, 0), COLD_WALK + MISS_L2);
	assert_int_equal(soc_counters_of_core(soc, 0).tlb_misses, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).walks, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).walk_cycles, COLD_WALK);
	assert_int_equal(soc_counters_of_core(soc, 0).walk_misses, 3);
	soc_destroy(soc);
}

static void test_later_walks_find_the_upper_tables_in_the_l1(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	load(soc, 0);
	assert_int_equal(cycles_of_load(soc, PAGE + 64), 3 * HIT + MISS_L2);
	/* The entry is in the next line of the L1 and in the same of the L2. */
	assert_int_equal(cycles_of_load(soc, 2 * PAGE + 128), 2 * HIT + MISS_L1 + MISS_L2);
	assert_int_equal(cycles_of_load(soc, 8 * PAGE + 192), 2 * HIT + MISS_L2 + MISS_L2);
	soc_destroy(soc);
}

static void test_a_page_in_the_tlb_is_not_walked_again(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	load(soc, 0);
	assert_int_equal(cycles_of_load(soc, 0), HIT);
	assert_int_equal(cycles_of_load(soc, 64), MISS_L2);
	assert_int_equal(soc_counters_of_core(soc, 0).tlb_misses, 1);
	soc_destroy(soc);
}

/* One line of each page, in other sets of the L1 than the others' and than most entries'. */
static uint64_t chase(struct soc *soc, unsigned int pages)
{
	uint64_t before = soc_now(soc, 0);

	for (unsigned int i = 0; i < pages; i++)
		load(soc, i * (PAGE + 64) + 1024);
	return soc_now(soc, 0) - before;
}

static void test_a_chase_over_sixteen_pages_fits_into_the_tlb(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	chase(soc, 16);
	assert_int_equal(chase(soc, 16), 16 * HIT);
	assert_int_equal(soc_counters_of_core(soc, 0).tlb_misses, 16);
	soc_destroy(soc);
}

/* Of 16 entries the victims take turns as long as there are but misses: the 17th page always comes too late. */
static void test_a_chase_over_seventeen_pages_walks_for_each(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	chase(soc, 17);
	assert_int_equal(chase(soc, 17), 17 * (3 * HIT + HIT));
	assert_int_equal(soc_counters_of_core(soc, 0).tlb_misses, 2 * 17);
	soc_destroy(soc);
}

static void test_two_entries_hold_two_pages(void **state)
{
	struct sim_parameters parameters = translated();
	struct soc *soc;

	(void)state;
	parameters.core_stall_on_use = 0;
	parameters.core_tlb_entries = 2;
	soc = soc_make(&parameters);
	chase(soc, 3);
	assert_int_equal(chase(soc, 3), 3 * (3 * HIT + HIT));
	chase(soc, 2);
	assert_int_equal(chase(soc, 2), 2 * HIT);
	soc_destroy(soc);
}

static void test_a_store_waits_for_its_walk_and_not_for_its_line(void **state)
{
	struct sim_parameters parameters = translated();
	struct soc *soc = soc_make(&parameters);

	(void)state;
	store(soc, 0);
	assert_int_equal(soc_now(soc, 0), COLD_WALK + 1);
	store(soc, 64);
	assert_int_equal(soc_now(soc, 0), COLD_WALK + 2);
	assert_int_equal(soc_counters_of_core(soc, 0).walk_cycles, COLD_WALK);
	assert_int_equal(soc_counters_of_core(soc, 0).stores, 2);
	soc_destroy(soc);
}

static void test_an_atomic_waits_for_its_walk(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	while (!soc_atomic(soc, 0, 0, 8))
		;
	assert_int_equal(soc_now(soc, 0), COLD_WALK + MISS_L2);
	soc_destroy(soc);
}

static void test_a_software_prefetch_walks_and_then_holds_nobody(void **state)
{
	struct sim_parameters parameters = translated();
	struct soc *soc;

	(void)state;
	parameters.core_prefetches = 1;
	soc = soc_make(&parameters);
	while (!soc_prefetch(soc, 0, 0))
		;
	assert_int_equal(soc_now(soc, 0), COLD_WALK + 1);
	soc_destroy(soc);
}

static void test_an_access_across_pages_walks_for_both(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	load(soc, PAGE - 4);
	/* The second entry is in the line of the first. Memory takes a line every 4 cycles. */
	assert_int_equal(soc_now(soc, 0), COLD_WALK + 3 * HIT + MISS_L2 + 4);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).tlb_misses, 2);
	soc_destroy(soc);
}

static void test_a_walk_begins_when_the_load_before_it_has_its_data(void **state)
{
	struct sim_parameters parameters = translated();
	struct soc *soc = soc_make(&parameters);

	(void)state;
	load(soc, 0);
	soc_execute(soc, 0, 100);
	load(soc, PAGE + 64);
	assert_int_equal(soc_now(soc, 0), COLD_WALK + MISS_L2 + 3 * HIT + MISS_L2);
	/* Of the load's latency the load itself was one cycle, and instructions 100. */
	soc_execute(soc, 0, 1000);
	assert_int_equal(soc_counters_of_core(soc, 0).load_stalls, MISS_L2 - 101);
	soc_destroy(soc);
}

static void test_the_latency_of_a_load_holds_its_walk(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	load(soc, 0);
	store(soc, PAGE);
	assert_int_equal(soc_counters_of_core(soc, 0).load_cycles, COLD_WALK + MISS_L2);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 1);
	soc_destroy(soc);
}

static void test_others_go_on_between_the_reads_of_a_walk(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	assert_false(soc_load(soc, 0, 0, 8));
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	assert_false(soc_load(soc, 0, 0, 8));
	assert_int_equal(soc_now(soc, 0), 2 * MISS_L2);
	/* The other core's walk: the first core has the root's entry alone, and gets the middle one's at 664. */
	soc_execute(soc, 1, MISS_L2);
	assert_false(soc_load(soc, 1, 0, 8));
	assert_int_equal(soc_now(soc, 1), MISS_L2 + MISS_L1 + FORWARD);
	assert_false(soc_load(soc, 1, 0, 8));
	assert_int_equal(soc_now(soc, 1), 2 * MISS_L2 + FORWARD);
	assert_false(soc_load(soc, 0, 0, 8));
	assert_true(soc_load(soc, 0, 0, 8));
	assert_int_equal(soc_now(soc, 0), 4 * MISS_L2);
	soc_destroy(soc);
}

static void test_a_walk_for_another_page_begins_anew(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	/* The first page's walk has read the root's entry when the core asks for the second page in its
	 * place. */
	assert_false(soc_load(soc, 0, 0, 8));
	load(soc, PAGE);
	/* Its own walk hits that entry, and reads the two others in memory; so does its load. */
	assert_int_equal(soc_now(soc, 0), MISS_L2 + HIT + 3 * MISS_L2);
	/* The first page was not walked to the end: its walk finds all three entries. */
	load(soc, 0);
	assert_int_equal(soc_now(soc, 0), MISS_L2 + HIT + 3 * MISS_L2 + 3 * HIT + MISS_L2);
	assert_int_equal(soc_counters_of_core(soc, 0).tlb_misses, 3);
	assert_int_equal(soc_counters_of_core(soc, 0).walks, 2);
	soc_destroy(soc);
}

static void test_cores_have_tlbs_of_their_own_and_one_page_table(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	load(soc, 0);
	soc_execute(soc, 1, 10000);
	while (!soc_load(soc, 1, 0, 8))
		;
	assert_int_equal(soc_now(soc, 1), 10000 + 4 * (MISS_L1 + FORWARD));
	assert_int_equal(soc_counters_of_core(soc, 1).tlb_misses, 1);
	soc_destroy(soc);
}

static void test_walks_are_no_loads_and_no_instructions(void **state)
{
	struct soc *soc = blocking();

	(void)state;
	load(soc, 0);
	assert_int_equal(soc_counters_of_core(soc, 0).loads, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).instructions, 1);
	assert_int_equal(soc_counters_of_core(soc, 0).l1_hits + soc_counters_of_core(soc, 0).l1_misses, 1);
	soc_destroy(soc);
}

/* Section 3.5: "MAPLE's TLB is fully associative and has 16 entries, the same as the cores' TLB". */
static void test_both_presets_have_tlbs_of_sixteen_entries(void **state)
{
	static const char *const presets[] = { "maple-fpga", "maple-sim" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sim_parameters parameters;
		char why[200];

		assert_int_equal(sim_parameters_load(&parameters, presets[i], why, sizeof(why)), 0);
		assert_int_equal(parameters.core_translation, 1);
		assert_int_equal(parameters.core_tlb_entries, 16);
		assert_int_equal(parameters.maple_translation, 1);
		assert_int_equal(parameters.maple_tlb_entries, 16);
	}
}

static void test_without_translation_nothing_walks(void **state)
{
	struct sim_parameters parameters = translated();
	struct soc *soc;

	(void)state;
	parameters.core_translation = 0;
	parameters.core_stall_on_use = 0;
	soc = soc_make(&parameters);
	assert_true(soc_load(soc, 0, 0, 8));
	assert_int_equal(soc_now(soc, 0), MISS_L2);
	assert_int_equal(soc_counters_of_core(soc, 0).tlb_misses, 0);
	soc_destroy(soc);
}

/* --- a device's walker: a hit in its cache takes 2 cycles; without it a read is one of the L2 --- */

static struct soc *with_walk_cache(unsigned int latency)
{
	struct sim_parameters parameters = translated();

	parameters.maple_walk_cache = latency;
	return soc_make(&parameters);
}

static void test_a_device_s_first_walk_reads_memory_three_times(void **state)
{
	struct soc *soc = with_walk_cache(HIT);

	(void)state;
	assert_int_equal(soc_device_walk(soc, 0, 0, 1000), 1000 + COLD_WALK);
	soc_destroy(soc);
}

static void test_a_device_s_later_walks_find_entries_in_its_cache(void **state)
{
	struct soc *soc = with_walk_cache(HIT);

	(void)state;
	soc_device_walk(soc, 0, 0, 1000);
	assert_int_equal(soc_device_walk(soc, 0, PAGE, 5000), 5000 + 3 * HIT);
	assert_int_equal(soc_device_walk(soc, 0, 2 * PAGE, 6000), 6000 + 2 * HIT + MISS_L1);
	assert_int_equal(soc_device_walk(soc, 0, 8 * PAGE, 7000), 7000 + 2 * HIT + MISS_L2);
	soc_destroy(soc);
}

static void test_a_device_does_not_find_entries_in_the_cache_of_another_one(void **state)
{
	struct sim_parameters parameters = translated();
	struct soc *soc;

	(void)state;
	parameters.maple_walk_cache = HIT;
	parameters.maple_count = 2;
	soc = soc_make(&parameters);
	soc_device_walk(soc, 0, 0, 1000);
	/* They are in the L2. */
	assert_int_equal(soc_device_walk(soc, 1, 0, 5000), 5000 + 3 * MISS_L1);
	assert_int_equal(soc_device_walk(soc, 1, 0, 6000), 6000 + 3 * HIT);
	soc_destroy(soc);
}

static void test_the_latency_of_a_device_s_walk_cache_is_a_parameter(void **state)
{
	struct soc *soc = with_walk_cache(8);

	(void)state;
	assert_int_equal(soc_device_walk(soc, 0, 0, 1000), 1000 + 3 * (8 + 330));
	assert_int_equal(soc_device_walk(soc, 0, 0, 5000), 5000 + 3 * 8);
	soc_destroy(soc);
}

static void test_without_its_cache_a_device_reads_entries_in_the_l2(void **state)
{
	struct soc *soc = with_walk_cache(0);

	(void)state;
	assert_int_equal(soc_device_walk(soc, 0, 0, 1000), 1000 + 3 * 330);
	assert_int_equal(soc_device_walk(soc, 0, PAGE, 5000), 5000 + 3 * 30);
	assert_int_equal(soc_device_walk(soc, 0, 8 * PAGE, 6000), 6000 + 2 * 30 + 330);
	soc_destroy(soc);
}

static void test_a_device_finds_in_the_l2_what_a_core_has_walked(void **state)
{
	struct soc *soc = with_walk_cache(HIT);

	(void)state;
	load(soc, 0);
	assert_int_equal(soc_device_walk(soc, 0, 0, 5000), 5000 + 3 * (MISS_L1 + FORWARD));
	soc_destroy(soc);
}

/* --- cores at random -------------------------------------------------------------- */

#define CORES 4
#define OPERATIONS 40000

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct operation {
	unsigned int kind, size;	/* size 0: the core has none */
	uint64_t address;
};

static bool make_access(struct soc *soc, unsigned int core, const struct operation *operation)
{
	switch (operation->kind) {
	case 0:
		return soc_atomic(soc, core, operation->address & ~7ull, 8);
	case 1:
		return soc_prefetch(soc, core, operation->address);
	case 2:
		return soc_store(soc, core, operation->address, operation->size);
	default:
		return soc_load(soc, core, operation->address, operation->size);
	}
}

/* In the order of their times, as a scheduler has it. Over 64 pages. */
static void run_at_random(struct soc *soc)
{
	struct operation operations[CORES] = { 0 };

	for (unsigned int i = 0; i < OPERATIONS; i++) {
		unsigned int first = 0;

		for (unsigned int core = 1; core < CORES; core++)
			if (soc_now(soc, core) < soc_now(soc, first))
				first = core;
		if (!operations[first].size)
			operations[first] = (struct operation){ next_random() % 6, 1u << next_random() % 4,
								next_random() % (64 * PAGE) };
		if (make_access(soc, first, &operations[first]))
			operations[first].size = 0;
	}
}

static void test_cycles_are_instructions_stalls_and_walks(void **state)
{
	struct sim_parameters parameters = translated();
	struct soc *soc;

	(void)state;
	parameters.core_count = CORES;
	parameters.core_prefetches = 2;
	soc = soc_make(&parameters);
	random_state = 88172645463325252ull;
	run_at_random(soc);
	for (unsigned int i = 0; i < CORES; i++) {
		struct soc_core_counters counters;

		soc_sleep_until(soc, i, 0);
		counters = soc_counters_of_core(soc, i);
		assert_true(counters.walks > 100);
		assert_true(counters.walk_cycles >= 3 * HIT * counters.walks);
		assert_int_equal(soc_now(soc, i), counters.instructions + counters.load_stalls +
				 counters.store_stalls + counters.walk_cycles);
	}
	soc_destroy(soc);
}

static void test_two_runs_with_walks_are_the_same(void **state)
{
	struct soc_core_counters counters[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sim_parameters parameters = translated();
		struct soc *soc;

		parameters.core_count = CORES;
		soc = soc_make(&parameters);
		random_state = 362436069;
		run_at_random(soc);
		counters[i] = soc_counters_of_core(soc, 1);
		soc_destroy(soc);
	}
	assert_memory_equal(&counters[0], &counters[1], sizeof(counters[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_walk_reads_memory_three_times),
		cmocka_unit_test(test_later_walks_find_the_upper_tables_in_the_l1),
		cmocka_unit_test(test_a_page_in_the_tlb_is_not_walked_again),
		cmocka_unit_test(test_a_chase_over_sixteen_pages_fits_into_the_tlb),
		cmocka_unit_test(test_a_chase_over_seventeen_pages_walks_for_each),
		cmocka_unit_test(test_two_entries_hold_two_pages),
		cmocka_unit_test(test_a_store_waits_for_its_walk_and_not_for_its_line),
		cmocka_unit_test(test_an_atomic_waits_for_its_walk),
		cmocka_unit_test(test_a_software_prefetch_walks_and_then_holds_nobody),
		cmocka_unit_test(test_an_access_across_pages_walks_for_both),
		cmocka_unit_test(test_a_walk_begins_when_the_load_before_it_has_its_data),
		cmocka_unit_test(test_the_latency_of_a_load_holds_its_walk),
		cmocka_unit_test(test_others_go_on_between_the_reads_of_a_walk),
		cmocka_unit_test(test_a_walk_for_another_page_begins_anew),
		cmocka_unit_test(test_cores_have_tlbs_of_their_own_and_one_page_table),
		cmocka_unit_test(test_walks_are_no_loads_and_no_instructions),
		cmocka_unit_test(test_both_presets_have_tlbs_of_sixteen_entries),
		cmocka_unit_test(test_without_translation_nothing_walks),
		cmocka_unit_test(test_a_device_s_first_walk_reads_memory_three_times),
		cmocka_unit_test(test_a_device_s_later_walks_find_entries_in_its_cache),
		cmocka_unit_test(test_a_device_does_not_find_entries_in_the_cache_of_another_one),
		cmocka_unit_test(test_the_latency_of_a_device_s_walk_cache_is_a_parameter),
		cmocka_unit_test(test_without_its_cache_a_device_reads_entries_in_the_l2),
		cmocka_unit_test(test_a_device_finds_in_the_l2_what_a_core_has_walked),
		cmocka_unit_test(test_cycles_are_instructions_stalls_and_walks),
		cmocka_unit_test(test_two_runs_with_walks_are_the_same),
	};

	return cmocka_run_group_tests_name("sim_translation", tests, NULL, NULL);
}
