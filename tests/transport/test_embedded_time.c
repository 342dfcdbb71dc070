/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The embedded transport reads no clock for most accesses: the times that a device counts are right all the same. */
#include "tests/lib/embedded_fixture.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MICROSECONDS 20000u
#define PAUSE_NS (PAUSE_MICROSECONDS * 1000ull)

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The consumer's half of value `index` of the statistics: 1: idle, 2: waiting. */
static uint32_t consumer_statistics(unsigned int index)
{
	uint64_t answer = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t value = device_load(MAPLE_LOAD_STATISTICS, 0);

		answer = i == index ? value : answer;
	}
	return (uint32_t)answer;
}

/* After a pause without an access, so that no earlier reading of the clock would do. */
static void *post_after_a_pause(void *unused)
{
	(void)unused;
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	usleep(PAUSE_MICROSECONDS);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 42);
	return NULL;
}

static void a_wait_is_counted_as_long_as_it_was(void **state)
{
	uint64_t start = clock_now();
	pthread_t thread;
	uint32_t waited;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	usleep(PAUSE_MICROSECONDS);
	assert_int_equal(pthread_create(&thread, NULL, post_after_a_pause, NULL), 0);
	assert_int_equal(device_consume32(0), 42);
	pthread_join(thread, NULL);
	usleep(PAUSE_MICROSECONDS);
	waited = consumer_statistics(2);
	/* The thread may begin its pause before the load, but not by much. */
	assert_in_range(waited, PAUSE_NS / 2, clock_now() - start - 2 * PAUSE_NS);
}

static void an_idle_consumer_is_idle_until_now(void **state)
{
	uint64_t start = clock_now();
	uint32_t idle;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 42);
	assert_int_equal(device_consume32(0), 42);
	usleep(PAUSE_MICROSECONDS);
	idle = consumer_statistics(1);
	assert_in_range(idle, PAUSE_NS, clock_now() - start);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(a_wait_is_counted_as_long_as_it_was),
		DEVICE_TEST(an_idle_consumer_is_idle_until_now),
	};

	return device_run_tests("embedded time", tests, sizeof(tests) / sizeof(tests[0]));
}
