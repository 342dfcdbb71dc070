/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The embedded transport: the ends of threads, devices and processes, and signals. */
#include "tests/lib/embedded_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the ends of threads, devices, processes ------------------------------ */

static void *take_producer_role(void *unused)
{
	(void)unused;
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	return NULL;
}

static void a_thread_s_roles_are_free_when_it_ends(void **state)
{
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, take_producer_role, NULL);
		pthread_join(thread, NULL);
	}
	assert_int_equal(device_load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 3, 2);
}

static void *post_much_and_end(void *unused)
{
	uint64_t values[500];

	(void)unused;
	for (uint64_t i = 0; i < 500; i++)
		values[i] = i;
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	device_post(MAPLE_STORE_PRODUCE, 0, 4, values, 500);
	return NULL;
}

static void posts_of_a_thread_outlive_it(void **state)
{
	pthread_t thread;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	pthread_create(&thread, NULL, post_much_and_end, NULL);
	/* It need not wait for us to end. */
	pthread_join(thread, NULL);
	/* Its role is not free before its words are in the queue. */
	assert_int_equal(device_load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 2, 0);
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(device_consume32(0), i);
	assert_int_equal(device_load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 3, 3);
}

static void *consume_one(void *answer)
{
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	*(uint32_t *)answer = device_consume32(0);
	return NULL;
}

static void the_last_close_answers_waiters_and_resets_the_device(void **state)
{
	uint32_t answer = 99;
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, consume_one, &answer);
	usleep(20000);
	mimic_device_close(device);
	pthread_join(thread, NULL);
	assert_int_equal(answer, 0);
	assert_int_equal(mimic_device_open(&device, "maple0", &embedded_options), 0);
	/* No queue is left: INIT succeeds, and the counters begin again. */
	assert_int_equal(device_counter(MAPLE_COUNTER_load_waits), 0);
	assert_int_equal(device_load(MAPLE_LOAD_INIT, SIZE_CODE) & 2, 2);
	assert_int_equal(device_load(MAPLE_LOAD_OPEN_CONSUMER, 0) & 3, 1);
}

static int in_child(void)
{
	struct mimic_access access = device_pattern(MAPLE_LOAD_STATISTICS, 0, 8);
	struct mimic_device *parents = device, *fresh;
	uint64_t value = 1;

	if (mimic_device_access(parents, &access) != -ENODEV ||
	    mimic_device_post(parents, &access, &value, 1) != -ENODEV ||
	    mimic_device_load(parents, &access, &value, 1) != -ENODEV ||
	    mimic_device_counters(parents, &value, 1) != -ENODEV)
		return 1;
	mimic_device_close(parents);
	if (mimic_device_open(&fresh, "maple0", &embedded_options))
		return 2;
	/* The old handle stays dead beside a fresh one of the same instance. */
	if (mimic_device_access(parents, &access) != -ENODEV)
		return 3;
	device = fresh;
	if (!(device_load(MAPLE_LOAD_INIT, SIZE_CODE) & 2))
		return 4;
	device_open_both(0);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 5);
	if (device_consume32(0) != 5)
		return 5;
	mimic_device_close(fresh);
	return 0;
}

static void a_forked_child_has_no_devices_but_can_open_its_own(void **state)
{
	int status;
	pid_t child;

	(void)state;
	device_open_both(0);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 17);
	child = fork();
	if (!child)
		_exit(in_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(device_consume32(0), 17);
}

/* --- signals -------------------------------------------------------------- */

static sigjmp_buf back;

static void jump_out(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

/*
 * A signal may come while the library holds its lock, where a jump would keep it for ever and a
 * handler's access is refused (-EDEADLK), unless it asks mimic_signal_defer(). These tests are of signals to a thread that waits:
 * another thread sends one when the kernel says that this one sleeps.
 */
static struct {
	pthread_t watcher, watched;
	pid_t tid;
	atomic_bool is_ready;
} signaller;

static char state_of(pid_t tid)
{
	char path[64], line[512], *end;
	char answer = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(path, "r");
	/* The state follows the name, which is in brackets. */
	if (file && fgets(line, sizeof(line), file) && (end = strrchr(line, ')')) && end[1] == ' ')
		answer = end[2];
	if (file)
		fclose(file);
	return answer;
}

static void *signal_when_asleep(void *unused)
{
	(void)unused;
	while (!atomic_load(&signaller.is_ready) || state_of(signaller.tid) != 'S')
		usleep(200);
	pthread_kill(signaller.watched, SIGALRM);
	return NULL;
}

static void begin_to_watch(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGALRM, &action, NULL);
	signaller.watched = pthread_self();
	signaller.tid = gettid();
	atomic_store(&signaller.is_ready, false);
	assert_int_equal(pthread_create(&signaller.watcher, NULL, signal_when_asleep, NULL), 0);
	/* Making a thread may sleep, too: not before here. */
	atomic_store(&signaller.is_ready, true);
}

static void end_to_watch(void)
{
	pthread_join(signaller.watcher, NULL);
}

static void a_handler_may_jump_out_of_a_load_that_waits(void **state)
{
	uint32_t answers[3];

	(void)state;
	device_open_both(0);
	for (int i = 0; i < 20; i++) {
		if (!sigsetjmp(back, 1)) {
			begin_to_watch(jump_out);
			device_consume32(0);
			fail_msg("nothing was there to consume");
		}
		end_to_watch();
	}
	/* The abandoned loads are withdrawn: none takes a word. */
	for (uint32_t i = 0; i < 3; i++)
		device_post_one(MAPLE_STORE_PRODUCE, 0, 4, i);
	device_take(0, 4, answers, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(answers[i], i);
}

#define MARKER 0xffffffffu

/* The words in order up to the marker; how many, or -1. */
static void *consume_to_marker(void *count)
{
	uint32_t word, expected = 0;

	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	while ((word = device_consume32(0)) != MARKER) {
		if (word != expected++)
			abort();
	}
	*(uint32_t *)count = expected;
	return NULL;
}

static void a_handler_may_jump_out_of_a_post_that_waits(void **state)
{
	static uint64_t values[10000];
	uint32_t count = 0;
	pthread_t thread;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	for (uint64_t i = 0; i < 10000; i++)
		values[i] = i;
	if (!sigsetjmp(back, 1)) {
		begin_to_watch(jump_out);
		device_post(MAPLE_STORE_PRODUCE, 0, 4, values, 10000);
		fail_msg("there was room for all");
	}
	end_to_watch();
	pthread_create(&thread, NULL, consume_to_marker, &count);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, MARKER);
	pthread_join(thread, NULL);
	/* All words that had been accepted, and no more. */
	assert_in_range(count, WORDS, 9999);
}

static uint32_t nested_answer;
static atomic_bool handler_ran;

static void access_in_handler(int number)
{
	uint64_t data;

	(void)number;
	nested_answer = device_try_load(MAPLE_LOAD_CONSUME, 1, 4, &data) ? 0 : (uint32_t)data;
	atomic_store(&handler_ran, true);
}

static void *feed_after_nested(void *unused)
{
	(void)unused;
	while (!atomic_load(&handler_ran))
		usleep(1000);
	device_load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	device_post_one(MAPLE_STORE_PRODUCE, 0, 4, 11);
	return NULL;
}

static void a_handler_s_access_does_not_disturb_the_one_it_interrupts(void **state)
{
	pthread_t thread;

	(void)state;
	device_load(MAPLE_LOAD_OPEN_CONSUMER, 0);
	device_open_both(1);
	device_post_one(MAPLE_STORE_PRODUCE, 1, 4, 22);
	pthread_create(&thread, NULL, feed_after_nested, NULL);
	begin_to_watch(access_in_handler);
	assert_int_equal(device_consume32(0), 11);
	assert_int_equal(nested_answer, 22);
	end_to_watch();
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(a_thread_s_roles_are_free_when_it_ends),
		DEVICE_TEST(posts_of_a_thread_outlive_it),
		DEVICE_TEST(the_last_close_answers_waiters_and_resets_the_device),
		DEVICE_TEST(a_forked_child_has_no_devices_but_can_open_its_own),
		DEVICE_TEST(a_handler_may_jump_out_of_a_load_that_waits),
		DEVICE_TEST(a_handler_may_jump_out_of_a_post_that_waits),
		DEVICE_TEST(a_handler_s_access_does_not_disturb_the_one_it_interrupts),
	};

	return device_run_tests("embedded_ends", tests, sizeof(tests) / sizeof(tests[0]));
}
