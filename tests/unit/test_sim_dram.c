/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The channel and the slots against a list of all cycles, each with the number taken in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "devices/soc/dram.h"
#include "devices/soc/slots.h"

#define CYCLES 40000

static unsigned char taken[CYCLES];
static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static bool has_room(uint64_t when, uint64_t gap)
{
	for (uint64_t i = when; i < when + gap; i++)
		if (taken[i])
			return false;
	return true;
}

static uint64_t plain_transfer(uint64_t when, uint64_t gap)
{
	while (!has_room(when, gap))
		when++;
	memset(&taken[when], 1, gap);
	return when;
}

static void compare_channel(uint64_t gap, unsigned int every)
{
	struct mimic_dram dram;
	uint64_t now = 0;

	memset(taken, 0, sizeof(taken));
	mimic_dram_init(&dram, 300, gap);
	for (int i = 0; i < 2000; i++) {
		/* Some are asked for ahead of their time. */
		uint64_t when = now + (next_random() % 2 ? 0 : next_random() % 40);

		assert_int_equal(mimic_dram_transfer(&dram, when), plain_transfer(when, gap) + 300);
		now += next_random() % every;
		if (next_random() % 4 == 0)
			mimic_dram_forget(&dram, now);
	}
}

static void test_transfers_begin_in_the_first_gap_that_is_long_enough(void **state)
{
	(void)state;
	compare_channel(1, 3);
	compare_channel(4, 8);
	compare_channel(4, 12);
	compare_channel(7, 16);
}

static void test_an_idle_channel_answers_after_its_latency(void **state)
{
	struct mimic_dram dram;

	(void)state;
	mimic_dram_init(&dram, 300, 4);
	assert_int_equal(mimic_dram_transfer(&dram, 1000), 1300);
	assert_int_equal(mimic_dram_transfer(&dram, 2000), 2300);
}

static void test_two_at_once_are_a_gap_apart(void **state)
{
	struct mimic_dram dram;

	(void)state;
	mimic_dram_init(&dram, 300, 4);
	assert_int_equal(mimic_dram_transfer(&dram, 10), 310);
	assert_int_equal(mimic_dram_transfer(&dram, 10), 314);
	assert_int_equal(mimic_dram_transfer(&dram, 11), 318);
}

static void test_a_late_request_for_an_early_time_takes_what_is_free(void **state)
{
	struct mimic_dram dram;

	(void)state;
	mimic_dram_init(&dram, 300, 4);
	assert_int_equal(mimic_dram_transfer(&dram, 32), 332);
	assert_int_equal(mimic_dram_transfer(&dram, 10), 310);
	assert_int_equal(mimic_dram_transfer(&dram, 29), 336);
}

/* More holes than are remembered: nothing breaks, and no transfer waits for nothing. */
static void test_many_transfers_far_apart_all_begin_at_once(void **state)
{
	struct mimic_dram dram;

	(void)state;
	mimic_dram_init(&dram, 300, 4);
	for (uint64_t i = 0; i < 3000; i++)
		assert_int_equal(mimic_dram_transfer(&dram, i * 10), i * 10 + 300);
}

static uint64_t plain_free_at(uint64_t when, unsigned int count)
{
	while (taken[when] >= count)
		when++;
	return when;
}

static void test_slots_are_free_where_fewer_than_all_are_taken(void **state)
{
	struct mimic_slots slots;
	uint64_t now = 0;

	(void)state;
	memset(taken, 0, sizeof(taken));
	assert_int_equal(mimic_slots_init(&slots, 5), 0);
	for (int i = 0; i < 2000; i++) {
		uint64_t when = now + next_random() % 30, begin = mimic_slots_free_at(&slots, when);
		uint64_t end = begin + 1 + next_random() % 60;

		assert_int_equal(begin, plain_free_at(when, 5));
		mimic_slots_take(&slots, begin, end);
		for (uint64_t at = begin; at < end; at++)
			taken[at]++;
		now += next_random() % 16;
		if (next_random() % 4 == 0)
			mimic_slots_forget(&slots, now);
	}
	mimic_slots_free(&slots);
}

/* More than are remembered. */
static void test_many_slots_far_apart_are_all_free_at_once(void **state)
{
	struct mimic_slots slots;

	(void)state;
	assert_int_equal(mimic_slots_init(&slots, 1), 0);
	for (uint64_t i = 0; i < 9000; i++) {
		assert_int_equal(mimic_slots_free_at(&slots, i * 10), i * 10);
		mimic_slots_take(&slots, i * 10, i * 10 + 5);
		assert_int_equal(mimic_slots_free_at(&slots, i * 10 + 4), i * 10 + 5);
	}
	mimic_slots_free(&slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transfers_begin_in_the_first_gap_that_is_long_enough),
		cmocka_unit_test(test_an_idle_channel_answers_after_its_latency),
		cmocka_unit_test(test_two_at_once_are_a_gap_apart),
		cmocka_unit_test(test_a_late_request_for_an_early_time_takes_what_is_free),
		cmocka_unit_test(test_many_transfers_far_apart_all_begin_at_once),
		cmocka_unit_test(test_slots_are_free_where_fewer_than_all_are_taken),
		cmocka_unit_test(test_many_slots_far_apart_are_all_free_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
