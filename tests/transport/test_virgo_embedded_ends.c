/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Virgo on the embedded transport while something ends or interrupts: close, fork, exit, threads, signals. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/virgo_embedded.h"

static double seconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Of a child: its exit status, or 1000 and the signal. */
static int status_of(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* --- close ------------------------------------------------------------------------------ */

/* When it returns, nothing of the device reads or writes any more. */
static void a_close_waits_for_the_jobs_that_are_out(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		size_t size = 64 * ROW_BYTES;
		unsigned char *buffer = malloc(size);

		assert_non_null(buffer);
		assert_int_equal(mimic_device_open(&cluster, "virgo0", &cluster_options), 0);
		unit_configure(cluster);
		for (int command = 0; command < 15 + i % 3; command++) {
			unit_move_in(cluster, buffer, 0, 64);
			unit_move_out(cluster, buffer, 0, 64);
		}
		unit_work(cluster, UNIT_INT8, 20);
		mimic_device_close(cluster);
		/* The address sanitizer sees a thread that still writes to it. */
		memset(buffer, 1, size);
		for (size_t byte = 0; byte < size; byte++)
			assert_int_equal(buffer[byte], 1);
		free(buffer);
	}
}

static void a_close_takes_no_longer_than_its_jobs(void **state)
{
	double start;

	(void)state;
	assert_int_equal(mimic_device_open(&cluster, "virgo0", &cluster_options), 0);
	/* Far more than a second of work, most of it still in the ring and the queue. */
	unit_work(cluster, UNIT_FP32, 300);
	start = seconds_now();
	mimic_device_close(cluster);
	assert_true(seconds_now() - start < 2);
}

static void *wait_at_a_barrier(void *argument)
{
	struct mimic_access wait = { .page = VIRGO_PAGE_CONTROL, .offset = VIRGO_BARRIER_WAIT(1), .size = 8 };

	*(int *)argument = mimic_device_access(cluster, &wait);
	return NULL;
}

static void a_close_ends_the_waits_of_other_threads(void **state)
{
	struct timespec moment = { 0, 50000000 };
	pthread_t thread;
	int error = 1;

	(void)state;
	assert_int_equal(mimic_device_open(&cluster, "virgo0", &cluster_options), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_at_a_barrier, &error), 0);
	nanosleep(&moment, NULL);
	mimic_device_close(cluster);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(error, 0);
}

static void *fence_until_it_is_closed(void *argument)
{
	struct mimic_access fence = {
		.page = VIRGO_PAGE_UNITS, .offset = VIRGO_UNIT_OFFSET(UNIT_FP32, FENCE), .size = 8,
	};

	/* This thread does jobs while it waits. */
	while (!mimic_device_access(cluster, &fence))
		;
	return argument;
}

static void a_close_waits_for_a_job_of_a_waiting_thread(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++) {
		pthread_t threads[2];

		assert_int_equal(mimic_device_open(&cluster, "virgo0", &cluster_options), 0);
		for (int t = 0; t < 2; t++)
			assert_int_equal(pthread_create(&threads[t], NULL, fence_until_it_is_closed, NULL), 0);
		unit_work(cluster, UNIT_FP32, 10);
		unit_work(cluster, UNIT_INT8, 10);
		mimic_device_close(cluster);
		for (int t = 0; t < 2; t++)
			assert_int_equal(pthread_join(threads[t], NULL), 0);
	}
}

/* --- fork, exit, threads that end ----------------------------------------------------------- */

/* A child of a program with threads cannot make threads under this sanitizer. */
static void need_threads_after_fork(void)
{
#ifdef __SANITIZE_THREAD__
	skip();
#endif
}

static void a_child_has_no_cluster_and_may_open_its_own(void **state)
{
	unsigned char *memory = cluster_memory(cluster, NULL);
	pid_t child;

	(void)state;
	need_threads_after_fork();
	memory[3] = 3;
	unit_work(cluster, UNIT_FP32, 20);
	child = fork();
	if (!child) {
		struct mimic_access fence = {
			.page = VIRGO_PAGE_UNITS, .offset = VIRGO_UNIT_OFFSET(UNIT_FP32, FENCE), .size = 8,
		};
		struct mimic_device *own;

		if (mimic_device_access(cluster, &fence) != -ENODEV)
			_exit(1);
		mimic_device_close(cluster);
		if (mimic_device_open(&own, "virgo0", &cluster_options))
			_exit(2);
		if (cluster_memory(own, NULL)[3])
			_exit(3);
		unit_work(own, UNIT_FP32, 5);
		unit_fence(own, UNIT_FP32);
		if (unit_load(own, UNIT_FP32, VIRGO_COMPLETED) != 7)
			_exit(4);
		mimic_device_close(own);
		_exit(0);
	}
	assert_int_equal(status_of(child), 0);
	unit_fence(cluster, UNIT_FP32);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), 22);
	assert_int_equal(memory[3], 3);
}

/* A store of the child's must not come to the parent's device. */
static void a_child_has_not_got_the_memory(void **state)
{
	unsigned char *memory = cluster_memory(cluster, NULL);
	pid_t child = fork();

	(void)state;
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile unsigned char *)memory = 1;
		_exit(0);
	}
	assert_int_not_equal(status_of(child), 0);
	assert_int_equal(memory[0], 0);
}

static void a_process_exits_while_jobs_run(void **state)
{
	(void)state;
	need_threads_after_fork();
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child) {
			struct mimic_device *own;

			alarm(60);
			if (mimic_device_open(&own, "virgo", &cluster_options))
				_exit(1);
			unit_work(own, UNIT_FP32, 12);
			unit_work(own, UNIT_INT8, 12);
			/* Not _exit(): the destructors of the libraries have to run, too. */
			exit(42);
		}
		assert_int_equal(status_of(child), 42);
	}
}

static void *post_and_end(void *argument)
{
	unit_work(cluster, UNIT_FP32, 40);
	return argument;
}

static void posts_of_a_thread_are_done_after_its_end(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, post_and_end, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	unit_fence(cluster, UNIT_FP32);
	assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), 42);
}

/* --- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t handled;
static sigjmp_buf jump;

/* Could the device be used here? Not in the short moments of a call that are no wait. */
static bool may_use_the_device(void)
{
	struct mimic_access status = {
		.page = VIRGO_PAGE_UNITS, .offset = VIRGO_UNIT_OFFSET(UNIT_INT8, STATUS), .size = 8,
	};

	return mimic_device_access(cluster, &status) != -EDEADLK;
}

static void look_at_the_device(int number)
{
	(void)number;
	if (may_use_the_device())
		handled++;
}

/*
 * From anywhere but a wait it would be the program's mistake; the timer comes again. Once:
 * after the jump there is nowhere to go.
 */
static void jump_away(int number)
{
	(void)number;
	if (handled || !may_use_the_device())
		return;
	handled++;
	siglongjmp(jump, 1);
}

static void every(unsigned int microseconds, void (*handler)(int))
{
	/* Calls are not restarted: the thread sanitizer runs the handler when they have come back. */
	struct sigaction action = { .sa_handler = handler };
	struct itimerval timer = { { 0, (suseconds_t)microseconds }, { 0, (suseconds_t)microseconds } };

	handled = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void no_more(void)
{
	struct itimerval timer = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &timer, NULL);
	signal(SIGALRM, SIG_DFL);
}

static void a_handler_may_use_the_cluster_during_a_fence(void **state)
{
	double start = seconds_now();

	(void)state;
	every(1000, look_at_the_device);
	for (uint64_t loops = 0; handled < 20 && seconds_now() - start < 30;) {
		unit_work(cluster, UNIT_FP32, 20);
		loops += 22;
		unit_fence(cluster, UNIT_FP32);
		assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), loops);
	}
	no_more();
	assert_true(handled >= 20);
}

/* Waits at a barrier that nobody else comes to, until the signal; jobs are done meanwhile. */
static void leave_a_wait_by_jumping(unsigned int microseconds)
{
	if (sigsetjmp(jump, 1))
		return;
	every(microseconds, jump_away);
	cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_WAIT(4));
}

static void a_handler_may_jump_out_of_a_wait(void **state)
{
	volatile uint64_t before = 0;

	(void)state;
	cluster_store(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(4), 200);
	for (volatile int i = 0; i < 200; i++) {
		unit_work(cluster, UNIT_FP32, 12);
		unit_work(cluster, UNIT_INT8, 12);
		/* All that was posted is accepted: this thread waits at the barrier, and has jobs to do meanwhile. */
		unit_load(cluster, UNIT_INT8, VIRGO_STATUS);
		leave_a_wait_by_jumping(50 + 3 * (unsigned int)i);
		no_more();
		before += 14;
		unit_fence(cluster, UNIT_FP32);
		unit_fence(cluster, UNIT_INT8);
		assert_int_equal(unit_load(cluster, UNIT_FP32, VIRGO_COMPLETED), before);
		assert_int_equal(unit_load(cluster, UNIT_INT8, VIRGO_COMPLETED), before);
	}
	/* The thread that jumped away has not arrived. */
	assert_int_equal(cluster_load(cluster, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_STATUS(4)), 0);
}

static void count_signal(int number)
{
	(void)number;
	handled++;
}

/* A signal that the program's threads block waits for them: no thread of ours takes it. */
static void workers_take_no_signals_of_the_program(void **state)
{
	struct sigaction action = { .sa_handler = count_signal };
	struct timespec moment = { 0, 2000000 };
	sigset_t blocked, pending;

	(void)state;
	handled = 0;
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	for (int i = 0; i < 20; i++) {
		unit_work(cluster, UNIT_FP32, 4);
		kill(getpid(), SIGUSR1);
		nanosleep(&moment, NULL);
		assert_int_equal(handled, 0);
		sigpending(&pending);
		assert_true(sigismember(&pending, SIGUSR1));
	}
	unit_fence(cluster, UNIT_FP32);
	pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
	assert_int_equal(handled, 1);
	signal(SIGUSR1, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_close_waits_for_the_jobs_that_are_out),
		cmocka_unit_test(a_close_takes_no_longer_than_its_jobs),
		cmocka_unit_test(a_close_ends_the_waits_of_other_threads),
		cmocka_unit_test(a_close_waits_for_a_job_of_a_waiting_thread),
		CLUSTER_TEST(a_child_has_no_cluster_and_may_open_its_own),
		CLUSTER_TEST(a_child_has_not_got_the_memory),
		CLUSTER_TEST(a_process_exits_while_jobs_run),
		CLUSTER_TEST(posts_of_a_thread_are_done_after_its_end),
		CLUSTER_TEST(a_handler_may_use_the_cluster_during_a_fence),
		CLUSTER_TEST(a_handler_may_jump_out_of_a_wait),
		CLUSTER_TEST(workers_take_no_signals_of_the_program),
	};

	return cluster_run_tests("virgo embedded ends", tests, sizeof(tests) / sizeof(tests[0]));
}
