/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads that wait for an embedded device for long say once what they wait for. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/embedded_fixture.h"
#include "tests/lib/told.h"
#include "mimic/virgo_registers.h"

#define PATIENCE_MS 100

static int setup(void **state)
{
	alarm(120);
	told_begin(PATIENCE_MS);
	return device_open(state);
}

static int teardown(void **state)
{
	told_end();
	return device_close(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* --- loads -------------------------------------------------------------------------------- */

static void consume_one(void)
{
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 3);
	device_consume32(3);
}

static void a_load_of_an_empty_queue_is_told_once(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, consume_one);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"),
			    "a load of MAPLE CONSUME [3]: queue 3 is empty, and nobody produces");
	usleep(3 * PATIENCE_MS * 1000);
	assert_int_equal(told_count(), 1);
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 3);
	device_post_one(MAPLE_STORE_PRODUCE, 3, 4, 1);
	told_join(&thread);
}

static void the_time_is_what_it_has_waited(void **state)
{
	struct told_thread thread;
	double seconds;

	(void)state;
	told_begin(700);
	told_start(&thread, consume_one);
	assert_true(told_wait(1));
	seconds = strtod(strstr(told_line(), "has waited ") + strlen("has waited "), NULL);
	assert_true(seconds >= 0.7 && seconds < 20);
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
}

static void the_next_wait_of_the_thread_is_told_too(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, consume_one);
	assert_true(told_wait(1));
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
	device_load(MAPLE_LOAD_INIT, SIZE_CODE);
	told_start(&thread, consume_one);
	assert_true(told_wait(2));
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
}

static void wait_for_itself(void)
{
	device_open_both(0);
	device_consume32(0);
}

static void a_thread_that_waits_for_itself_is_told_so(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, wait_for_itself);
	assert_true(told_wait(1));
	assert_string_equal(
		told_wait_of("maple0"),
		"a load of MAPLE CONSUME [0]: queue 0 is empty, and its producer is this same thread");
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
}

static void load_of_two_words(void)
{
	uint64_t value;

	device_open_both(0);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 1);
	device_try_load(MAPLE_LOAD_CONSUME, 0, 8, &value);
}

static void half_of_a_value_is_no_value(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, load_of_two_words);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"),
			    "a load of MAPLE CONSUME [0]: queue 0 has 1 word of the 2, "
			    "and its producer is this same thread");
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
}

/* --- stores --------------------------------------------------------------------------------- */

static const uint64_t values[40];

static void store_one_by_one(void)
{
	struct mimic_access access = device_pattern(MAPLE_STORE_PRODUCE, 0, 4);

	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	access.is_write = 1;
	for (size_t i = 0; i < WORDS + 1; i++)
		mimic_device_access(device, &access);
}

static void a_store_to_a_full_queue_is_told(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, store_one_by_one);
	assert_true(told_wait(1));
	assert_string_equal(
		told_wait_of("maple0"),
		"a store of MAPLE PRODUCE [0]: queue 0 is full (32 of 32 words), and nobody consumes");
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
}

/* As README's 16 values do with 40 in their place: the post returns, and the load waits behind it. */
static void post_more_than_fits(void)
{
	device_open_both(0);
	device_post(MAPLE_STORE_PRODUCE, 0, 4, values, 40);
	device_consume32(0);
}

static void an_earlier_post_that_does_not_fit_is_told(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, post_more_than_fits);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"),
			    "its earlier store of MAPLE PRODUCE [0]: "
			    "queue 0 is full (32 of 32 words), and its consumer is this same thread");
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
}

static void post_more_than_the_ring_holds(void)
{
	static const uint64_t many[20000];

	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	device_post(MAPLE_STORE_PRODUCE, 0, 4, many, 20000);
}

static void a_post_whose_ring_is_full_is_told(void **state)
{
	struct told_thread thread;

	(void)state;
	told_start(&thread, post_more_than_the_ring_holds);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"), "its earlier store of MAPLE PRODUCE [0]: "
						    "queue 0 is full (32 of 32 words), and nobody consumes");
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
}

/* --- others -------------------------------------------------------------------------------------- */

static atomic_bool is_over;

static void work_on_queue_1(void)
{
	device_open_both(1);
	while (!atomic_load(&is_over)) {
		device_post_one(MAPLE_STORE_PRODUCE, 1, 4, 1);
		device_consume32(1);
	}
}

static void others_that_are_at_work_do_not_hide_a_wait(void **state)
{
	struct told_thread waiting, working;

	(void)state;
	atomic_store(&is_over, false);
	told_start(&working, work_on_queue_1);
	told_start(&waiting, consume_one);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"),
			    "a load of MAPLE CONSUME [3]: queue 3 is empty, and nobody produces");
	atomic_store(&is_over, true);
	told_join(&working);
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&waiting);
}

static void without_patience_nothing_is_told(void **state)
{
	struct told_thread thread;

	(void)state;
	told_end();
	told_start(&thread, consume_one);
	usleep(5 * PATIENCE_MS * 1000);
	assert_int_equal(told_count(), 0);
	device_load(MAPLE_LOAD_RESET, 0);
	told_join(&thread);
}

static struct mimic_device *cluster;

static void arrive(void)
{
	struct mimic_access access = { .page = VIRGO_PAGE_CONTROL,
				       .offset = VIRGO_BARRIER_WAIT(5),
				       .size = 8 };

	mimic_device_access(cluster, &access);
}

static void a_barrier_says_how_many_have_arrived(void **state)
{
	const struct mimic_options options = { .transport = MIMIC_TRANSPORT_EMBEDDED,
					       .devices = "maple:2,virgo:1" };
	struct mimic_access participants = {
		.page = VIRGO_PAGE_CONTROL,
		.offset = VIRGO_BARRIER_PARTICIPANTS(5),
		.size = 8,
		.is_write = 1,
		.data = 3,
	};
	struct told_thread threads[2];

	(void)state;
	assert_int_equal(mimic_device_open(&cluster, "virgo0", &options), 0);
	assert_int_equal(mimic_device_access(cluster, &participants), 0);
	told_start(&threads[0], arrive);
	told_start(&threads[1], arrive);
	assert_true(told_wait(2));
	assert_string_equal(told_wait_of("virgo0"),
			    "a load of cluster BARRIER_WAIT [5]: 2 of 3 threads have arrived at barrier 5");
	arrive();
	told_join(&threads[0]);
	told_join(&threads[1]);
	mimic_device_close(cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_load_of_an_empty_queue_is_told_once),
		TEST(the_time_is_what_it_has_waited),
		TEST(the_next_wait_of_the_thread_is_told_too),
		TEST(a_thread_that_waits_for_itself_is_told_so),
		TEST(half_of_a_value_is_no_value),
		TEST(a_store_to_a_full_queue_is_told),
		TEST(an_earlier_post_that_does_not_fit_is_told),
		TEST(a_post_whose_ring_is_full_is_told),
		TEST(others_that_are_at_work_do_not_hide_a_wait),
		TEST(without_patience_nothing_is_told),
		TEST(a_barrier_says_how_many_have_arrived),
	};

	return device_run_tests("patience", tests, sizeof(tests) / sizeof(tests[0]));
}
