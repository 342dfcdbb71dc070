/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Errands of mimicd, and the helpers that run them: spinning, asleep, ended, and on the sender's CPU. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/engine/errands.h"
#include "libmimic/base/clock.h"

#define WAIT_NS 1000000000ull
#define SPIN 100u
#define ALARM_SECONDS 20	/* a helper that is never called would wait for ever */
#define MANY 2000

static struct mimicd_loop loop;
static struct mimicd_errands errands;
static struct mimicd_errand errand;
static _Atomic unsigned int runs;
static cpu_set_t cpus;

static void run(struct mimicd_errand *unused)
{
	(void)unused;
	runs++;
}

static void wait_ms(long ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static unsigned int helpers(void)
{
	unsigned int count;

	pthread_mutex_lock(&errands.lock);
	count = errands.helpers;
	pthread_mutex_unlock(&errands.lock);
	return count;
}

static int set_up(void **state)
{
	(void)state;
	alarm(ALARM_SECONDS);
	runs = 0;
	errand = (struct mimicd_errand){ .run = run };
	if (sched_getaffinity(0, sizeof(cpus), &cpus) || mimicd_loop_create(&loop))
		return -1;
	errands = (struct mimicd_errands){ .helpers = 0 };
	return mimicd_errands_create(&errands, &loop, SPIN);
}

static int tear_down(void **state)
{
	(void)state;
	if (!mimicd_errands_destroy(&errands))
		return -1;
	mimicd_loop_destroy(&loop);
	alarm(0);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void send(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		assert_int_equal(mimicd_errands_send(&errands, &errand, WAIT_NS), 0);
}

static void one_helper_runs_errands_that_follow_each_other(void **state)
{
	(void)state;
	send(MANY);
	assert_int_equal(runs, MANY);
	assert_int_equal(helpers(), 1);
}

static void sender_and_helper_may_share_a_cpu(void **state)
{
	cpu_set_t one;

	(void)state;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	/* Helpers inherit it. */
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	send(MANY);
	assert_int_equal(runs, MANY);
	assert_int_equal(helpers(), 1);
}

static void a_helper_that_sleeps_is_woken(void **state)
{
	uint64_t begun;

	(void)state;
	send(1);
	wait_ms(50);
	begun = mimic_now();
	send(1);
	/* It wakes by itself after two seconds. */
	assert_true(mimic_now() - begun < WAIT_NS);
	assert_int_equal(runs, 2);
	assert_int_equal(helpers(), 1);
}

static void a_helper_without_errands_ends_and_the_next_errand_gets_another(void **state)
{
	(void)state;
	send(1);
	for (unsigned int i = 0; i < 100 && helpers(); i++)
		wait_ms(100);
	assert_int_equal(helpers(), 0);
	send(1);
	assert_int_equal(runs, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_helper_runs_errands_that_follow_each_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sender_and_helper_may_share_a_cpu, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_helper_that_sleeps_is_woken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_helper_without_errands_ends_and_the_next_errand_gets_another, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("errands of mimicd", tests, NULL, NULL);
}
