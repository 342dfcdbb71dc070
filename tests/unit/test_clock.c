/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A time that may be a moment old, and threads that may not read the clock. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include <cmocka.h>

#include "libmimic/base/clock.h"

#define READINGS 200000
#define MOST_NS 1000u

static uint64_t of_the_kernel(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void a_recent_time_is_less_than_a_microsecond_old(void **state)
{
	struct mimic_recent recent = { 0 };

	(void)state;
	for (int i = 0; i < READINGS; i++) {
		uint64_t before = of_the_kernel(), now = mimic_now_recent(&recent);

		assert_true(now + MOST_NS > before);
		assert_true(now <= of_the_kernel());
	}
}

static void a_recent_time_goes_on_after_a_pause(void **state)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct mimic_recent recent = { 0 };
	uint64_t first = mimic_now_recent(&recent);

	(void)state;
	nanosleep(&pause, NULL);
	assert_true(mimic_now_recent(&recent) >= first + 2000000);
}

static void a_recent_time_never_goes_back(void **state)
{
	uint64_t later = of_the_kernel() + 1000000000u;
	struct mimic_recent recent = { .now = later };

	(void)state;
	assert_int_equal(mimic_now_recent(&recent), later);
}

#if defined(__x86_64__)
/* The kernel ends it if it reads the counter. */
static void *read_recent(void *unused)
{
	struct mimic_recent recent = { 0 };

	mimic_clock_is_forbidden(true);
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	for (int i = 0; i < 10; i++)
		mimic_now_recent(&recent);
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	mimic_clock_is_forbidden(false);
	return unused;
}

static void a_thread_that_may_not_read_the_counter_does_not(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_recent, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recent_time_is_less_than_a_microsecond_old),
		cmocka_unit_test(a_recent_time_goes_on_after_a_pause),
		cmocka_unit_test(a_recent_time_never_goes_back),
#if defined(__x86_64__)
		cmocka_unit_test(a_thread_that_may_not_read_the_counter_does_not),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
