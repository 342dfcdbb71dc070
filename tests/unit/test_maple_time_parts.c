/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A timed MAPLE around its pipes: walks, memory, sizes of queues, statistics.
 * Cycles that are expected are added up by hand from those of test_maple_time.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/timed_maple.h"

#define WORDS_8 0
#define WORDS_32 2
#define ACKNOWLEDGE 4
#define TO_CONSUMER 7		/* and memory's own time */
#define WALK (3 * 30)		/* three levels of 30 cycles: the parameter maple.walk, set to 30 */
#define MEMORY_WALK 50		/* the host's time of a walk that goes to memory */
#define PAGE_WORDS 1024
#define PAGES 20
#define START 1000

static uint32_t memory[PAGES * PAGE_WORDS] __attribute__((aligned(4096)));

static struct timed_maple *device_with(const struct sim_parameters *parameters)
{
	struct timed_maple *timed = timed_new(parameters, NULL);

	assert_non_null(timed);
	for (unsigned int i = 0; i < PAGES * PAGE_WORDS; i++)
		memory[i] = i;
	return timed;
}

static struct timed_maple *open_device(unsigned int size_code, bool walks)
{
	struct sim_parameters parameters = timed_parameters();
	struct timed_maple *timed;

	parameters.maple_translation = walks;
	parameters.maple_walk = 30;
	timed = device_with(&parameters);
	timed_open(timed, size_code, 0);
	timed_store(timed, 1, MAPLE_STORE_SET_BASE32, 0, 8, (uintptr_t)memory, 10);
	return timed;
}

/* A second queue, of owner 3. */
static void open_queue_1(struct timed_maple *timed)
{
	timed_take_role(timed, 3, true, 1);
	timed_store(timed, 3, MAPLE_STORE_SET_BASE32, 1, 8, (uintptr_t)memory, 12);
}

/* --- queues of a null model ----------------------------------------------------- */

static struct timed_maple *open_device_of_one_value(void)
{
	struct sim_parameters parameters = timed_parameters();
	struct timed_maple *timed;

	parameters.maple_queue_values = 1;
	timed = device_with(&parameters);
	timed_open(timed, WORDS_32, 0);
	timed_store(timed, 1, MAPLE_STORE_SET_BASE32, 0, 8, (uintptr_t)memory, 10);
	return timed;
}

static void a_queue_of_one_value_takes_the_next_when_that_is_consumed(void **state)
{
	struct timed_maple *timed = open_device_of_one_value();

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	assert_int_equal(timed->owner[1].time, START + ACKNOWLEDGE);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 6, START + 10);
	assert_false(timed->owner[1].is_over);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 1000);
	assert_int_equal(timed->owner[2].data, 5);
	assert_true(timed->owner[1].is_over);
	assert_int_equal(timed->owner[1].time, START + 1000 + ACKNOWLEDGE);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 1010);
	timed_run(timed);
	assert_int_equal(timed->owner[2].data, 6);
	assert_int_equal(timed->owner[2].time, START + 1000 + TO_CONSUMER + timed->dram);
	timed_free(timed);
}

static void queues_of_one_value_do_not_wait_for_each_other(void **state)
{
	struct timed_maple *timed = open_device_of_one_value();

	(void)state;
	open_queue_1(timed);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	timed_store(timed, 3, MAPLE_STORE_POINTER32, 1, 8, 6, START + 10);
	assert_int_equal(timed->owner[3].time, START + 10 + ACKNOWLEDGE);
	timed_free(timed);
}

static void two_values_of_a_store_enter_an_empty_queue_of_one(void **state)
{
	struct timed_maple *timed = open_device_of_one_value();

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5 | 6ull << 32, START);
	timed_run(timed);
	assert_true(timed->owner[1].is_over);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 8, START + 1000);
	/* The upper half goes first. */
	assert_int_equal(timed->owner[2].data, 6 | 5ull << 32);
	timed_free(timed);
}

/* --- walks ------------------------------------------------------------------- */

static void a_walk_comes_before_the_load(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, true);

	(void)state;
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	timed_run(timed);
	assert_int_equal(timed->owner[1].time, START + ACKNOWLEDGE + WALK);
	assert_int_equal(timed->owner[2].time, START + TO_CONSUMER + WALK + timed->dram);
	timed_free(timed);
}

static void a_page_that_the_tlb_has_is_not_walked_again(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, true);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 6, START + 500);
	assert_int_equal(timed->owner[1].time, START + 500 + ACKNOWLEDGE);
	timed_free(timed);
}

static void a_walk_holds_up_the_stores_of_other_queues(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, true);

	(void)state;
	open_queue_1(timed);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	timed_store(timed, 3, MAPLE_STORE_PRODUCE, 1, 4, 9, START + 10);
	timed_run(timed);
	/* The pipe's first stage is free when the walk has ended. */
	assert_int_equal(timed->owner[3].time, START + ACKNOWLEDGE + WALK + ACKNOWLEDGE);
	timed_free(timed);
}

static void a_walk_does_not_hold_up_consumers(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, true);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 9, START);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START + 10);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 20);
	assert_true(timed->owner[2].is_over);
	assert_int_equal(timed->owner[2].time, START + 20 + 3);
	timed_free(timed);
}

static void without_translation_no_load_waits_for_a_walk(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);
	struct maple_time_statistics statistics;

	(void)state;
	for (unsigned int page = 0; page < PAGES; page++) {
		timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, page * PAGE_WORDS, START + 10 * page);
		assert_int_equal(timed->owner[1].time, START + 10 * page + ACKNOWLEDGE);
	}
	maple_time_statistics(timed->device, START + 1000, &statistics);
	assert_int_equal(statistics.walks, 0);
	timed_free(timed);
}

static void each_new_page_costs_a_walk(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, true);
	struct maple_time_statistics statistics;

	(void)state;
	for (unsigned int page = 0; page < PAGES; page++)
		timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, page * PAGE_WORDS, START + 1000 * page);
	maple_time_statistics(timed->device, START + 100000, &statistics);
	assert_int_equal(statistics.walks, PAGES * WALK);
	timed_free(timed);
}

static void a_chunk_of_lima_waits_for_its_walk(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, true);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_LIMA_PRODUCE, 1, 8, 0, 20);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	timed_store(timed, 1, MAPLE_STORE_LOOP, 0, 8, 4, START);
	timed_run(timed);
	assert_int_equal(timed->owner[2].time, START + 13 + WALK + timed->llc);
	timed_free(timed);
}

/* With maple.walk 0. */
static struct timed_maple *open_device_that_walks_in_memory(void)
{
	struct sim_parameters parameters = timed_parameters();
	struct timed_maple *timed;

	parameters.maple_translation = 1;
	parameters.maple_walk = 0;
	timed = device_with(&parameters);
	timed_open(timed, WORDS_32, 0);
	timed_store(timed, 1, MAPLE_STORE_SET_BASE32, 0, 8, (uintptr_t)memory, 10);
	return timed;
}

static void a_walk_in_memory_takes_what_memory_says(void **state)
{
	struct timed_maple *timed = open_device_that_walks_in_memory();
	struct maple_time_statistics statistics;

	(void)state;
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, PAGE_WORDS + 5, START);
	timed_run(timed);
	assert_int_equal(timed->walks, 1);
	assert_int_equal(timed->walked[0].address, (uintptr_t)&memory[PAGE_WORDS]);
	assert_int_equal(timed->walked[0].time, START + ACKNOWLEDGE);
	assert_int_equal(timed->owner[1].time, START + ACKNOWLEDGE + MEMORY_WALK);
	assert_int_equal(timed->owner[2].time, START + TO_CONSUMER + MEMORY_WALK + timed->dram);
	maple_time_statistics(timed->device, START + 1000, &statistics);
	assert_int_equal(statistics.walks, MEMORY_WALK);
	timed_free(timed);
}

static void a_load_in_two_pages_walks_for_both_one_after_the_other(void **state)
{
	struct timed_maple *timed = open_device_that_walks_in_memory();

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_SET_BASE64, 0, 8, (uintptr_t)memory + 4, 20);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 8, START - 100);
	timed_store(timed, 1, MAPLE_STORE_POINTER64, 0, 8, PAGE_WORDS / 2 - 1, START);
	timed_run(timed);
	assert_int_equal(timed->walks, 2);
	assert_int_equal(timed->walked[0].address, (uintptr_t)&memory[0]);
	assert_int_equal(timed->walked[1].address, (uintptr_t)&memory[PAGE_WORDS]);
	assert_true(timed->walked[1].time >= timed->walked[0].time + MEMORY_WALK);
	assert_int_equal(timed->owner[2].data, (uint64_t)PAGE_WORDS << 32 | (PAGE_WORDS - 1));
	timed_free(timed);
}

/* --- memory -------------------------------------------------------------------- */

static void a_word_is_the_one_that_memory_held_when_its_fetch_was_done(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	maple_time_advance(timed->device, START + ACKNOWLEDGE + timed->dram - 1);
	memory[5] = 111;
	maple_time_advance(timed->device, START + ACKNOWLEDGE + timed->dram);
	memory[5] = 222;
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 1000);
	assert_int_equal(timed->owner[2].data, 111);
	timed_free(timed);
}

static void words_leave_in_the_order_of_their_pointers(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	timed_store(timed, 1, MAPLE_STORE_LLC_POINTER32, 0, 8, 6, START + 10);
	maple_time_advance(timed->device, START + 200);
	assert_false(timed->owner[2].is_over);
	timed_run(timed);
	assert_int_equal(timed->owner[2].data, 5);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 1000);
	assert_int_equal(timed->owner[2].data, 6);
	timed_free(timed);
}

static void an_address_that_cannot_be_read_gives_0_and_no_request(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_FULL_POINTER32, 0, 8, 4096, START);
	assert_int_equal(timed->owner[1].time, START + ACKNOWLEDGE);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 100);
	assert_int_equal(timed->owner[2].time, START + 103);
	assert_int_equal(timed->owner[2].data, 0);
	assert_int_equal(timed->requests, 0);
	timed_free(timed);
}

static void an_atomic_gives_its_word_when_the_llc_has_it(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START - 100);
	timed_store(timed, 1, MAPLE_STORE_ATOMIC_ADD, 0, 8, 7ull << 32 | 100, START);
	timed_run(timed);
	assert_int_equal(timed->owner[2].time, START + TO_CONSUMER + timed->llc);
	assert_int_equal(timed->owner[2].data, 7);
	assert_int_equal(memory[7], 107);
	timed_free(timed);
}

static void a_prefetch_is_sent_and_not_waited_for(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PREFETCH, 0, 8, 9, START);
	assert_int_equal(timed->owner[1].time, START + ACKNOWLEDGE);
	assert_int_equal(timed->prefetches, 1);
	assert_int_equal(timed->prefetched[0].time, START + ACKNOWLEDGE);
	assert_int_equal(timed->prefetched[0].address, (uintptr_t)&memory[9]);
	assert_int_equal(timed_run(timed), 0);
	timed_free(timed);
}

static void lima_prefetches_one_word_in_3_cycles(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_LIMA_PREFETCH, 1, 8, (uintptr_t)memory, 20);
	timed_store(timed, 1, MAPLE_STORE_LOOP, 0, 8, 12, START);
	timed_run(timed);
	assert_int_equal(timed->prefetches, 12);
	for (unsigned int i = 1; i < 12; i++)
		assert_int_equal(timed->prefetched[i].time - timed->prefetched[i - 1].time, 3);
	timed_free(timed);
}

/* 16 chunks for 8 queues of 32 words: 2 of one queue are on their way together. */
static void lima_reads_ahead_as_many_chunks_as_its_queue_has(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_LIMA_PRODUCE, 1, 8, 0, 20);
	timed_store(timed, 1, MAPLE_STORE_LOOP, 0, 8, 64, START);
	assert_int_equal(timed->requests, 2);
	assert_int_equal(timed->request[0].time, START + 4);
	assert_int_equal(timed->request[1].time, START + 5);
	assert_int_equal(timed->request[0].size, 64);
	assert_true(timed->request[0].through_l2);
	timed_free(timed);
}

/* --- sizes --------------------------------------------------------------------- */

static unsigned int depth_of(struct timed_maple *timed)
{
	unsigned int depth = 0;

	for (;;) {
		timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, depth, START + 100 * depth);
		maple_time_advance(timed->device, START + 100 * depth + 50);
		if (!timed->owner[1].is_over)
			return depth;
		depth++;
	}
}

static void a_program_that_asks_for_the_usual_32_words_gets_queue_entries(void **state)
{
	static const unsigned int entries[] = { 8, 16, 32, 64, 128 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		struct sim_parameters parameters = timed_parameters();
		struct timed_maple *timed;

		parameters.maple_queue_entries = entries[i];
		timed = device_with(&parameters);
		timed_open(timed, WORDS_32, 0);
		assert_int_equal(depth_of(timed), entries[i]);
		timed_free(timed);
	}
}

static void a_program_that_asks_for_another_size_gets_it(void **state)
{
	struct timed_maple *timed = open_device(WORDS_8, false);

	(void)state;
	assert_int_equal(depth_of(timed), 8);
	timed_free(timed);
}

static void a_size_that_no_code_says_is_refused(void **state)
{
	struct sim_parameters parameters = timed_parameters();

	(void)state;
	parameters.maple_queue_entries = 20;
	errno = 0;
	assert_null(timed_new(&parameters, NULL));
	assert_int_equal(errno, EINVAL);
}

/* --- statistics ------------------------------------------------------------------ */

static struct maple_time_statistics statistics_at(struct timed_maple *timed, uint64_t now)
{
	struct maple_time_statistics statistics;

	maple_time_statistics(timed->device, now, &statistics);
	return statistics;
}

static void occupancy_is_words_times_cycles(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 1, START);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 8, 2, START + 100);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 200);
	assert_int_equal(statistics_at(timed, START + 300).occupancy[0], 100 + 3 * 100 + 2 * 100);
	assert_int_equal(statistics_at(timed, START + 300).cycles, START + 300);
	timed_free(timed);
}

static void a_store_that_waits_for_room_counts_as_full(void **state)
{
	struct timed_maple *timed = open_device(WORDS_8, false);

	(void)state;
	for (unsigned int i = 0; i < 9; i++)
		timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, i, START + 10 * i);
	assert_int_equal(statistics_at(timed, START + 100).full[0], 20);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 200);
	assert_int_equal(statistics_at(timed, START + 500).full[0], 120);
	timed_free(timed);
}

static void a_load_that_waits_for_data_counts_as_empty(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START);
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START + 50);
	timed_run(timed);
	assert_int_equal(statistics_at(timed, START + 1000).empty[0], 50 + ACKNOWLEDGE + timed->dram);
	timed_free(timed);
}

static void loads_on_their_way_are_counted(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, i, START + 10 * i);
	timed_run(timed);
	assert_int_equal(statistics_at(timed, START + 1000).outstanding_most, 3);
	assert_int_equal(statistics_at(timed, START + 1000).outstanding, 3 * (ACKNOWLEDGE + timed->dram));
	timed_free(timed);
}

static void cleared_statistics_begin_at_0(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 1, START);
	timed_load(timed, 3, MAPLE_LOAD_DEBUG, 0, 8, START + 10);
	maple_time_clear_statistics(timed->device, START + 100);
	assert_int_equal(statistics_at(timed, START + 150).occupancy[0], 50);
	assert_int_equal(statistics_at(timed, START + 150).cycles, 50);
	timed_free(timed);
}

/* --- ends of a wait ---------------------------------------------------------------- */

static void a_cancelled_access_is_never_answered(void **state)
{
	struct timed_maple *timed = open_device(WORDS_32, false);

	(void)state;
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START);
	maple_time_cancel(timed->device, 2, START + 10);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 1, START + 20);
	timed_run(timed);
	assert_false(timed->owner[2].is_over);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 100);
	assert_int_equal(timed->owner[2].data, 1);
	timed_free(timed);
}

static void reset_answers_waiters_and_forgets_loops(void **state)
{
	struct timed_maple *timed = open_device(WORDS_8, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_LIMA_PRODUCE, 1, 8, 0, 20);
	timed_store(timed, 1, MAPLE_STORE_LOOP, 0, 8, 1000, START);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 10);
	timed_load(timed, 3, MAPLE_LOAD_RESET, 0, 4, START + 20);
	assert_true(timed->owner[2].is_over);
	timed_run(timed);
	assert_int_equal(maple_time_next(timed->device), UINT64_MAX);
	timed_open(timed, WORDS_8, 0);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 77, START + 10000);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 10100);
	assert_int_equal(timed->owner[2].data, 77);
	timed_free(timed);
}

static void power_on_answers_waiters_and_drops_loads_on_their_way(void **state)
{
	struct timed_maple *timed = open_device(WORDS_8, false);

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 10);
	maple_time_power_on(timed->device, START + 20);
	assert_true(timed->owner[2].is_over);
	assert_int_equal(timed->owner[2].data, 0);
	assert_int_equal(maple_time_next(timed->device), UINT64_MAX);
	timed_free(timed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_of_one_value_takes_the_next_when_that_is_consumed),
		cmocka_unit_test(queues_of_one_value_do_not_wait_for_each_other),
		cmocka_unit_test(two_values_of_a_store_enter_an_empty_queue_of_one),
		cmocka_unit_test(a_walk_comes_before_the_load),
		cmocka_unit_test(a_page_that_the_tlb_has_is_not_walked_again),
		cmocka_unit_test(a_walk_holds_up_the_stores_of_other_queues),
		cmocka_unit_test(a_walk_does_not_hold_up_consumers),
		cmocka_unit_test(without_translation_no_load_waits_for_a_walk),
		cmocka_unit_test(each_new_page_costs_a_walk),
		cmocka_unit_test(a_chunk_of_lima_waits_for_its_walk),
		cmocka_unit_test(a_walk_in_memory_takes_what_memory_says),
		cmocka_unit_test(a_load_in_two_pages_walks_for_both_one_after_the_other),
		cmocka_unit_test(a_word_is_the_one_that_memory_held_when_its_fetch_was_done),
		cmocka_unit_test(words_leave_in_the_order_of_their_pointers),
		cmocka_unit_test(an_address_that_cannot_be_read_gives_0_and_no_request),
		cmocka_unit_test(an_atomic_gives_its_word_when_the_llc_has_it),
		cmocka_unit_test(a_prefetch_is_sent_and_not_waited_for),
		cmocka_unit_test(lima_prefetches_one_word_in_3_cycles),
		cmocka_unit_test(lima_reads_ahead_as_many_chunks_as_its_queue_has),
		cmocka_unit_test(a_program_that_asks_for_the_usual_32_words_gets_queue_entries),
		cmocka_unit_test(a_program_that_asks_for_another_size_gets_it),
		cmocka_unit_test(a_size_that_no_code_says_is_refused),
		cmocka_unit_test(occupancy_is_words_times_cycles),
		cmocka_unit_test(a_store_that_waits_for_room_counts_as_full),
		cmocka_unit_test(a_load_that_waits_for_data_counts_as_empty),
		cmocka_unit_test(loads_on_their_way_are_counted),
		cmocka_unit_test(cleared_statistics_begin_at_0),
		cmocka_unit_test(a_cancelled_access_is_never_answered),
		cmocka_unit_test(reset_answers_waiters_and_forgets_loops),
		cmocka_unit_test(power_on_answers_waiters_and_drops_loads_on_their_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
