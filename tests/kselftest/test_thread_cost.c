/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The time of an access does not grow with the number of the program's threads. */
#include "kselftest_harness.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/time_scale.h"

/* The bus answers for it: an access waits for no daemon. */
#define VOID_PAGE 4
#define THREADS 4000
#define ACCESSES 1000
/* A busy machine may take so many times as long; a walk over all threads takes a hundred times. */
#define FACTOR 4

FIXTURE(cost) {
	struct holder holder;
	pthread_t threads[THREADS];
	unsigned int started;
};

FIXTURE_SETUP(cost)
{
	struct fake_options options = { .channel = FAKE_SLOTS, .void_pages = 1u << VOID_PAGE };

	self->started = 0;
	ASSERT_EQ(0, holder_start(&self->holder, &options));
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned int arrived;
static volatile uint64_t *void_register;

static void *access_and_wait(void *unused)
{
	(void)unused;
	(void)*void_register;
	arrived++;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return NULL;
}

/* Threads that have accessed the device and are there until end_threads(). */
static bool start_threads(FIXTURE_DATA(cost) *self)
{
	pthread_attr_t attributes;

	arrived = 0;
	pthread_mutex_lock(&gate);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (; self->started < THREADS; self->started++) {
		if (pthread_create(&self->threads[self->started], &attributes, access_and_wait, NULL))
			return false;
	}
	return fake_wait(&arrived, THREADS);
}

static void end_threads(FIXTURE_DATA(cost) *self)
{
	if (!self->started)
		return;
	pthread_mutex_unlock(&gate);
	while (self->started)
		pthread_join(self->threads[--self->started], NULL);
}

FIXTURE_TEARDOWN(cost)
{
	end_threads(self);
	holder_stop(&self->holder);
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median_of(double *seconds, size_t count)
{
	qsort(seconds, count, sizeof(*seconds), compare_doubles);
	return seconds[count / 2];
}

static double access_seconds(void)
{
	static double seconds[ACCESSES];
	int i;

	for (i = 0; i < ACCESSES; i++) {
		double start = now_seconds();

		(void)*void_register;
		seconds[i] = now_seconds() - start;
	}
	return median_of(seconds, ACCESSES);
}

TEST_F_TIMEOUT(cost, an_access_takes_no_longer_beside_thousands_of_threads, 120)
{
	double alone, beside;

	void_register = holder_register(&self->holder, VOID_PAGE, 0);
	alone = access_seconds();
	ASSERT_TRUE(start_threads(self));
	beside = access_seconds();
	printf("# an access: %.1f us alone, %.1f us beside %u threads\n", alone * 1e6, beside * 1e6, THREADS);
	EXPECT_GT(FACTOR * alone, beside);
}

/* --- threads that end ------------------------------------------------------------------- */

#define ENDERS 2
#define ROUNDS 1500
#define ACCESSES_OF_ONE 4

struct ender {
	int processor;
	unsigned int ended;
};

static void *access_and_end(void *unused)
{
	int i;

	for (i = 0; i < ACCESSES_OF_ONE; i++)
		(void)*void_register;
	return unused;
}

/* Threads inherit the processor that they are started on. */
static void *end_threads_on_a_processor(void *argument)
{
	struct ender *ender = argument;
	cpu_set_t processor;
	pthread_t thread;

	CPU_ZERO(&processor);
	CPU_SET(ender->processor, &processor);
	sched_setaffinity(0, sizeof(processor), &processor);
	while (ender->ended < ROUNDS) {
		if (pthread_create(&thread, NULL, access_and_end, NULL))
			break;
		pthread_join(thread, NULL);
		ender->ended++;
	}
	return NULL;
}

/*
 * Our tracepoint at the exit of a task runs with preemption off. A lock that sleeps there
 * (with PREEMPT_RT every lock that is not raw) is seen when two processors want it at once:
 * then the kernel reports that it schedules while atomic, and this program has failed.
 */
TEST_F_TIMEOUT(cost, threads_that_have_the_device_end_on_two_processors_at_once, 120)
{
	struct ender enders[ENDERS] = { { .processor = 0 }, { .processor = 1 } };
	pthread_t threads[ENDERS];
	int i;

	void_register = holder_register(&self->holder, VOID_PAGE, 0);
	for (i = 0; i < ENDERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, end_threads_on_a_processor, &enders[i]));
	for (i = 0; i < ENDERS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(ROUNDS, enders[i].ended);
	}
}

/* --- accesses that wait for a slot ------------------------------------------------- */

#define CALLS 200

static volatile uint64_t *held_register;

static void *access_held(void *unused)
{
	(void)unused;
	arrived++;
	(void)*held_register;
	return NULL;
}

/* Each waits for the daemon until it gives up the answers, which are the registers' own. */
static bool start_waiters(FIXTURE_DATA(cost) *self)
{
	pthread_attr_t attributes;

	arrived = 0;
	held_register = holder_held_register(&self->holder);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (; self->started < THREADS; self->started++) {
		if (pthread_create(&self->threads[self->started], &attributes, access_held, NULL))
			return false;
	}
	return fake_wait(&arrived, THREADS) &&
	       fake_wait(&self->holder.control->held, MIMIC_BUS_DEVICE_SLOTS);
}

/* A call that the daemon answers in another slot: each answer looks for one that waits. */
static double call_seconds(int fd)
{
	static double seconds[CALLS];
	int i;

	for (i = 0; i < CALLS; i++) {
		struct maple_connect connect = { .size = sizeof(connect) };
		double start = now_seconds();

		ioctl(fd, MAPLE_IOCTL_CONNECT, &connect);
		seconds[i] = now_seconds() - start;
	}
	return median_of(seconds, CALLS);
}

TEST_F_TIMEOUT(cost, a_call_takes_no_longer_beside_thousands_that_wait_for_a_slot, 120)
{
	double alone, beside;

	self->holder.control->connect_status = -EPERM;
	alone = call_seconds(self->holder.fd);
	ASSERT_TRUE(start_waiters(self));
	/* Until all of them wait. */
	sleep_ms(500 * time_scale());
	beside = call_seconds(self->holder.fd);
	printf("# a call: %.1f us alone, %.1f us beside %u that wait\n", alone * 1e6, beside * 1e6, THREADS);
	EXPECT_GT(FACTOR * alone, beside);
	fake_daemon_no_specials(self->holder.daemon);
	fake_daemon_release(self->holder.daemon);
	while (self->started)
		pthread_join(self->threads[--self->started], NULL);
}

TEST_HARNESS_MAIN
