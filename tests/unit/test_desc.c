/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* DeSC in MAPLE's paper (section 5.2, Table 3): depth 64, with assumptions of devices/maple/time/desc.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/lib/timed_maple.h"

#define WORDS_32 2
#define DEPTH 64		/* Table 3 */
#define TERMINAL_LOADS 32	/* the parameter desc.terminal_loads */
#define START 1000

static uint64_t memory[4096] __attribute__((aligned(4096)));

static int make(void **state)
{
	struct sim_parameters parameters = timed_parameters();
	struct timed_maple *timed;

	parameters.desc_enabled = 1;
	timed = timed_new(&parameters, NULL);
	if (!timed)
		return -1;
	for (unsigned int i = 0; i < 4096; i++)
		memory[i] = i | (uint64_t)i << 32;
	timed_open(timed, WORDS_32, 0);
	timed_store(timed, 1, MAPLE_STORE_SET_BASE64, 0, 8, (uintptr_t)memory, 10);
	*state = timed;
	return 0;
}

static int throw_away(void **state)
{
	timed_free(*state);
	return 0;
}

static void a_queue_adds_no_cycles_of_its_own(void **state)
{
	struct timed_maple *timed = *state;

	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 8, 7, START);
	assert_int_equal(timed->owner[1].time, START);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 8, START + 10);
	assert_int_equal(timed->owner[2].time, START + 10);
	assert_int_equal(timed->owner[2].data, 7);
}

static unsigned int depth_of(struct timed_maple *timed, unsigned int size)
{
	unsigned int depth = 0;

	for (;;) {
		timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, size, depth, START + 10 * depth);
		if (!timed->owner[1].is_over)
			return depth;
		depth++;
	}
}

static void a_queue_holds_64_values_of_8_bytes(void **state)
{
	assert_int_equal(depth_of(*state, 8), DEPTH);
}

static void a_queue_holds_64_values_of_4_bytes(void **state)
{
	assert_int_equal(depth_of(*state, 4), DEPTH);
}

static void a_value_has_room_when_one_is_consumed(void **state)
{
	struct timed_maple *timed = *state;

	assert_int_equal(depth_of(timed, 4), DEPTH);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 5000);
	assert_true(timed->owner[1].is_over);
	assert_int_equal(timed->owner[1].time, START + 5000);
	for (unsigned int i = 1; i <= DEPTH; i++) {
		timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 4, START + 5000 + 10 * i);
		assert_int_equal(timed->owner[2].data, i);
	}
}

static void a_terminal_load_goes_through_the_l2(void **state)
{
	struct timed_maple *timed = *state;

	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 8, START);
	timed_store(timed, 1, MAPLE_STORE_POINTER64, 0, 8, 9, START + 10);
	timed_run(timed);
	assert_true(timed->request[0].through_l2);
	assert_int_equal(timed->owner[2].time, START + 10 + timed->llc);
	assert_int_equal(timed->owner[2].data, memory[9]);
}

static void a_terminal_load_waits_while_32_are_on_their_way(void **state)
{
	struct timed_maple *timed = *state;

	timed->llc = 500;
	for (unsigned int i = 0; i < TERMINAL_LOADS; i++)
		timed_store(timed, 1, MAPLE_STORE_POINTER64, 0, 8, i, START + i);
	assert_true(timed->owner[1].is_over);
	timed_store(timed, 1, MAPLE_STORE_POINTER64, 0, 8, TERMINAL_LOADS, START + 100);
	assert_false(timed->owner[1].is_over);
	timed_run(timed);
	/* The first one's data ends the wait. */
	assert_int_equal(timed->owner[1].time, START + 500);
}

static void data_has_room_while_32_loads_are_on_their_way(void **state)
{
	struct timed_maple *timed = *state;

	timed->llc = 500;
	for (unsigned int i = 0; i < TERMINAL_LOADS; i++)
		timed_store(timed, 1, MAPLE_STORE_POINTER64, 0, 8, i, START + i);
	timed_store(timed, 1, MAPLE_STORE_PRODUCE, 0, 8, 5, START + 100);
	assert_true(timed->owner[1].is_over);
}

static void a_cancelled_store_gets_no_room(void **state)
{
	struct timed_maple *timed = *state;

	assert_int_equal(depth_of(timed, 8), DEPTH);
	maple_time_cancel(timed->device, 1, START + 4000);
	for (unsigned int i = 0; i < DEPTH; i++)
		timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 8, START + 5000 + i);
	assert_false(timed->owner[1].is_over);
	timed_load(timed, 2, MAPLE_LOAD_CONSUME, 0, 8, START + 6000);
	assert_false(timed->owner[2].is_over);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, throw_away)
	const struct CMUnitTest tests[] = {
		TEST(a_queue_adds_no_cycles_of_its_own),
		TEST(a_queue_holds_64_values_of_8_bytes),
		TEST(a_queue_holds_64_values_of_4_bytes),
		TEST(a_value_has_room_when_one_is_consumed),
		TEST(a_terminal_load_goes_through_the_l2),
		TEST(a_terminal_load_waits_while_32_are_on_their_way),
		TEST(data_has_room_while_32_loads_are_on_their_way),
		TEST(a_cancelled_store_gets_no_room),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
