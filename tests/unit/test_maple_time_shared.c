/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Parts that the queues of a timed MAPLE share, pipes and the way to memory, and the state after an access
 * that does not complete. Expected cycles are added up by hand from those of test_maple_time.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/lib/timed_maple.h"

#define WORDS_32 2
#define ACKNOWLEDGE 4
#define CONSUME 3
#define WALK (3 * 30)		/* three levels of 30 cycles */
#define PAGE_WORDS 1024
#define PAGES 4
#define START 1000

static uint32_t memory[PAGES * PAGE_WORDS] __attribute__((aligned(4096)));

/* Owner 1 produces into queue 0, owner 2 consumes; 3 and 4 have queue 1. */
static struct timed_maple *open_device(const struct sim_parameters *parameters)
{
	struct timed_maple *timed = timed_new(parameters, NULL);

	assert_non_null(timed);
	for (unsigned int i = 0; i < PAGES * PAGE_WORDS; i++)
		memory[i] = i;
	timed_open(timed, WORDS_32, 0);
	timed_take_role(timed, 3, true, 1);
	timed_take_role(timed, 4, false, 1);
	timed_store(timed, 1, MAPLE_STORE_SET_BASE32, 0, 8, (uintptr_t)memory, 20);
	timed_store(timed, 3, MAPLE_STORE_SET_BASE32, 1, 8, (uintptr_t)memory, 30);
	return timed;
}

static struct timed_maple *open_plain(void)
{
	struct sim_parameters parameters = timed_parameters();

	return open_device(&parameters);
}

static struct timed_maple *open_with_walks(void)
{
	struct sim_parameters parameters = timed_parameters();

	parameters.maple_translation = 1;
	parameters.maple_walk = 30;
	return open_device(&parameters);
}

static struct maple_time_statistics statistics_of(const struct timed_maple *timed, uint64_t now)
{
	struct maple_time_statistics statistics;

	maple_time_statistics(timed->device, now, &statistics);
	return statistics;
}

/* --- pipes ---------------------------------------------------------------------------- */

static void two_stores_at_once_enter_the_pipe_one_after_the_other(void **state)
{
	struct timed_maple *timed = open_plain();
	uint64_t before = statistics_of(timed, START).pipe;

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 5, START);
	timed_store(timed, 3, MAPLE_STORE_PRODUCE, 1, 4, 6, START);
	timed_run(timed);
	assert_int_equal(timed->owner[1].time, START + ACKNOWLEDGE);
	assert_int_equal(timed->owner[3].time, START + 1 + ACKNOWLEDGE);
	assert_int_equal(statistics_of(timed, START + 100).pipe - before, 1);
	timed_free(timed);
}

static void two_loads_at_once_enter_the_pipe_one_after_the_other(void **state)
{
	struct timed_maple *timed = open_plain();

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 5, START);
	timed_store(timed, 3, MAPLE_STORE_PRODUCE, 1, 4, 6, START + 10);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 100);
	timed_load(timed, 4, MAPLE_LOAD_CONSUME, 1, 4, START + 100);
	timed_run(timed);
	assert_int_equal(timed->owner[2].time, START + 100 + CONSUME);
	assert_int_equal(timed->owner[4].time, START + 101 + CONSUME);
	timed_free(timed);
}

/* --- the way to memory ------------------------------------------------------------------ */

static void a_pointer_in_two_requests_takes_two_turns_of_the_way_to_memory(void **state)
{
	struct timed_maple *timed = open_plain();
	uint64_t before = statistics_of(timed, START).issue;

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_SET_BASE64, 0, 8, (uintptr_t)memory + 4, 40);
	timed_store(timed, 1, MAPLE_STORE_POINTER64, 0, 8, 0, START);
	timed_store(timed, 3, MAPLE_STORE_POINTER32, 1, 8, 100, START + 1);
	timed_run(timed);
	assert_int_equal(timed->requests, 3);
	assert_int_equal(timed->request[0].time, START + ACKNOWLEDGE);
	assert_int_equal(timed->request[1].time, START + ACKNOWLEDGE + 1);
	/* One in two cycles, from the second request on. */
	assert_int_equal(timed->request[2].time, START + ACKNOWLEDGE + 3);
	/* The request could have left at START + 1 + ACKNOWLEDGE. */
	assert_int_equal(statistics_of(timed, START + 1000).issue - before, 2);
	timed_free(timed);
}

static void no_word_of_lima_goes_on_while_a_walk_is_on_its_way(void **state)
{
	struct timed_maple *timed = open_with_walks();

	(void)state;
	/* The first page comes into the TLB. */
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, 60);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, 700);
	timed_store(timed, 1, MAPLE_STORE_LIMA_PRODUCE, 1, 8, 0, 800);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, 900);
	timed_store(timed, 1, MAPLE_STORE_LOOP, 0, 8, 4, START);
	/* The chunk's first word could go on 10 cycles after it is there. The other queue's pointer walks then. */
	timed_store(timed, 3, MAPLE_STORE_POINTER32, 1, 8, 3 * PAGE_WORDS, START + timed->llc);
	timed_run(timed);
	assert_int_equal(timed->owner[2].time, START + timed->llc + ACKNOWLEDGE + WALK + CONSUME);
	timed_free(timed);
}

static void a_prefetch_walks_once(void **state)
{
	struct timed_maple *timed = open_with_walks();
	uint64_t before = statistics_of(timed, START).walks;

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PREFETCH, 0, 8, 2 * PAGE_WORDS, START);
	timed_run(timed);
	assert_int_equal(timed->prefetched[0].time, START + ACKNOWLEDGE + WALK);
	assert_int_equal(statistics_of(timed, START + 1000).walks - before, WALK);
	timed_free(timed);
}

/* --- accesses that do not come to their end ----------------------------------------------- */

static struct timed_maple *open_with_queues_of_one_value(void)
{
	struct sim_parameters parameters = timed_parameters();

	parameters.maple_queue_values = 1;
	return open_device(&parameters);
}

static void a_store_that_waits_for_a_value_s_room_counts_as_full(void **state)
{
	struct timed_maple *timed = open_with_queues_of_one_value();

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 5, START);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 6, START + 10);
	assert_false(timed->owner[1].is_over);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 500);
	timed_run(timed);
	assert_true(timed->owner[1].is_over);
	assert_int_equal(statistics_of(timed, START + 600).full[0], 490);
	timed_free(timed);
}

static void power_on_answers_a_store_that_waits_for_a_value_s_room(void **state)
{
	struct timed_maple *timed = open_with_queues_of_one_value();

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 5, START);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 6, START + 10);
	assert_false(timed->owner[1].is_over);
	maple_time_power_on(timed->device, START + 20);
	assert_true(timed->owner[1].is_over);
	timed_free(timed);
}

static void a_walk_ends_with_power_on(void **state)
{
	struct timed_maple *timed = open_with_walks();

	(void)state;
	timed_store(timed, 1, MAPLE_STORE_POINTER32, 0, 8, 5, START);
	maple_time_power_on(timed->device, START + 10);
	timed_load(timed, 1, MAPLE_LOAD_INIT, WORDS_32, 8, START + 11);
	timed_take_role(timed, 1, true, 0);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 4, 9, START + 30);
	timed_run(timed);
	assert_int_equal(timed->owner[1].time, START + 30 + ACKNOWLEDGE);
	timed_free(timed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_stores_at_once_enter_the_pipe_one_after_the_other),
		cmocka_unit_test(two_loads_at_once_enter_the_pipe_one_after_the_other),
		cmocka_unit_test(a_pointer_in_two_requests_takes_two_turns_of_the_way_to_memory),
		cmocka_unit_test(no_word_of_lima_goes_on_while_a_walk_is_on_its_way),
		cmocka_unit_test(a_prefetch_walks_once),
		cmocka_unit_test(a_store_that_waits_for_a_value_s_room_counts_as_full),
		cmocka_unit_test(power_on_answers_a_store_that_waits_for_a_value_s_room),
		cmocka_unit_test(a_walk_ends_with_power_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
