/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A MAPLE whose host has a clock: the times of accesses may be old, and it asks where it needs the time. */
#include "tests/lib/model_fixture.h"

#define LATER 5000u

static uint64_t statistics(unsigned int index)
{
	uint64_t answer = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t value = fake_load(host, 3, STATISTICS, 0, 8);

		answer = i == index ? value : answer;
	}
	return answer;
}

static void open_at(uint64_t time)
{
	start("paper", FAKE_IDENTITY | FAKE_CLOCK);
	host->clock = time;
	fake_open(host, WORDS_8, 1);
}

static void accesses_that_do_not_wait_do_not_ask_for_the_time(void **state)
{
	unsigned int before;

	(void)state;
	open_at(1000000);
	before = host->clock_readings;
	for (unsigned int i = 0; i < 20; i++) {
		assert_true(produce(0, i));
		assert_true(pointer32(0, i));
		consume(0);
		assert_int_equal(consume(0), 0xf0000000 + i);
	}
	assert_int_equal(host->clock_readings, before);
	stop();
}

static void a_wait_takes_as_long_as_the_host_s_clock_says(void **state)
{
	(void)state;
	open_at(1000000);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->clock += LATER;
	assert_true(produce(0, 1));
	host->clock += LATER;
	assert_int_equal((uint32_t)statistics(2), LATER);
	stop();
}

static void an_idle_side_is_idle_until_the_host_s_clock_is_read(void **state)
{
	(void)state;
	open_at(1000000);
	host->clock += LATER;
	assert_int_equal((uint32_t)statistics(1), LATER);
	assert_int_equal(statistics(1) >> 32, LATER);
	stop();
}

static void a_clock_that_goes_back_takes_no_time(void **state)
{
	(void)state;
	open_at(1000000);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->clock -= LATER;
	assert_true(produce(0, 1));
	assert_int_equal(statistics(2), 0);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accesses_that_do_not_wait_do_not_ask_for_the_time),
		cmocka_unit_test(a_wait_takes_as_long_as_the_host_s_clock_says),
		cmocka_unit_test(an_idle_side_is_idle_until_the_host_s_clock_is_read),
		cmocka_unit_test(a_clock_that_goes_back_takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
