/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads and processes with DARE, on the embedded and on the daemon transport. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/dare_transports.h"

static void *multiply_often(void *argument)
{
	struct mimic_device *device = argument;
	struct tile a, b, c, expected;

	for (unsigned int i = 0; i < 300; i++) {
		tile_fill(&a, i + (unsigned int)(uintptr_t)device);
		tile_fill(&b, 3 * i);
		tile_fill(&c, 5 * i);
		expected = c;
		tile_multiply(&expected, &a, &b);
		context_multiply(device, &c, &a, &b);
		if (memcmp(&c, &expected, sizeof(c)))
			return device;
	}
	return NULL;
}

static void threads_with_contexts_of_one_device_do_not_disturb_each_other(void **state)
{
	struct mimic_device *devices[4];
	pthread_t threads[4];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		devices[i] = open_or_fail("dare0");
		assert_int_equal(pthread_create(&threads[i], NULL, multiply_often, devices[i]), 0);
	}
	for (unsigned int i = 0; i < 4; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
		mimic_device_close(devices[i]);
	}
}

static void *post_stream(void *argument)
{
	static const uint64_t words[] = { WORD_MCFG, CSR_M, 9 };

	context_post(argument, words, 3);
	return NULL;
}

static void an_access_finds_what_other_threads_posted(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, post_stream, device), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(context_load(device, DARE_MATRIX_M), 9);
	mimic_device_close(device);
}

static void *post_two_words(void *argument)
{
	static const uint64_t words[] = { CSR_N, 6 };

	context_post(argument, words, 2);
	return NULL;
}

static void run_in_thread(void *(*work)(void *argument), struct mimic_device *device)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, work, device), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void threads_that_post_in_turn_are_executed_in_that_order(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	static const uint64_t word = WORD_MCFG;

	(void)state;
	for (unsigned int i = 0; i < 50; i++) {
		context_post(device, &word, 1);
		run_in_thread(post_two_words, device);
		context_post(device, (uint64_t[]){ WORD_MCFG, CSR_M, i % 16 + 1 }, 3);
		run_in_thread(post_stream, device);
		assert_int_equal(context_fence(device) & 7, 0);
		assert_int_equal(context_load(device, DARE_MATRIX_N), 6);
		assert_int_equal(context_load(device, DARE_MATRIX_M), 9);
		assert_int_equal(context_load(device, DARE_DISPATCHED), 3 * (i + 1));
	}
	mimic_device_close(device);
}

/* In the child of a fork: 0, or the number of the wrong check. */
static int in_child(struct mimic_device *inherited)
{
	struct mimic_access access = { .offset = DARE_MATRIX_M, .size = 8 };
	struct tile a, b, c = { 0 }, expected = { 0 };
	struct mimic_device *device;

	if (mimic_device_access(inherited, &access) != -ENODEV)
		return 1;
	mimic_device_close(inherited);
	if (mimic_device_open(&device, "dare0", transport_options))
		return 2;
	if (context_load(device, DARE_MATRIX_M) != 16)
		return 3;
	tile_fill(&a, 20);
	tile_fill(&b, 21);
	tile_multiply(&expected, &a, &b);
	context_multiply(device, &c, &a, &b);
	return memcmp(&c, &expected, sizeof(c)) ? 4 : 0;
}

static void a_child_of_fork_has_contexts_of_its_own(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	struct tile a, out = { 0 };
	int status;
	pid_t child;

	(void)state;
	tile_fill(&a, 22);
	context_dispatch(device, WORD_MLD(0), address_of(&a), 64);
	context_dispatch(device, WORD_MCFG, CSR_M, 3);
	child = fork();
	if (!child)
		_exit(in_child(device));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	context_dispatch(device, WORD_MST(0), address_of(&out), 64);
	assert_int_equal(context_fence(device) & 7, 0);
	assert_int_equal(context_load(device, DARE_MATRIX_M), 3);
	assert_memory_equal(&out, &a, 3 * 64);
	mimic_device_close(device);
}

static sigjmp_buf back;
static volatile sig_atomic_t may_jump;

static void jump_back(int number, siginfo_t *information, void *context)
{
	if (mimic_signal_defer(number, information, context) || !may_jump)
		return;
	may_jump = 0;
	siglongjmp(back, 1);
}

/* A program may make the same access again; a context's page is another one of the device than of the program. */
static void an_access_that_a_handler_jumped_out_of_names_the_same_page_as_before(void **state)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	struct sigaction action = { .sa_sigaction = jump_back, .sa_flags = SA_SIGINFO };
	static struct mimic_access access;
	struct mimic_device *device = open_or_fail("dare0");
	static unsigned int jumps, wrong;

	(void)state;
	jumps = wrong = 0;
	access = (struct mimic_access){ .offset = DARE_MATRIX_M, .size = 8 };
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	if (sigsetjmp(back, 1))
		jumps++;
	wrong += access.page != 0;
	access.page = 0;
	while (jumps < 2000) {
		may_jump = 1;
		mimic_device_access(device, &access);
	}
	may_jump = 0;
	setitimer(ITIMER_REAL, &never, NULL);
	assert_int_equal(wrong, 0);
	mimic_device_close(device);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(name)
	const struct CMUnitTest tests[] = {
		TEST(threads_with_contexts_of_one_device_do_not_disturb_each_other),
		TEST(an_access_finds_what_other_threads_posted),
		TEST(threads_that_post_in_turn_are_executed_in_that_order),
		TEST(a_child_of_fork_has_contexts_of_its_own),
		TEST(an_access_that_a_handler_jumped_out_of_names_the_same_page_as_before),
	};

	return run_on_both_transports(tests, sizeof(tests) / sizeof(tests[0]));
}
