/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program that gives its device endless work does not hold up anybody else. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/daemon/client.h"
#include "tests/lib/daemon_device.h"

/*
 * Far below the minute of the daemon's processor time that the whole loop takes. It is this time
 * that is measured: a loaded machine adds little to it.
 */
#define AT_ONCE_NS 5000000000ull
#define TURNS 100

static pid_t offender;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int open_at(const char *name, struct mimic_device **device)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };

	return mimic_device_open(device, name, &options);
}

static void prefetch_everything(int ready)
{
	static uint32_t table[1024];

	if (open_at("maple0", &served_device))
		_exit(1);
	served_init(WORDS_32);
	served_open_both(0);
	register_store(SET_BASE32, 0, 8, (uint64_t)(uintptr_t)table);
	register_store(LIMA_PREFETCH, 0, 8, (uint64_t)(uintptr_t)table);
	/* [0, 0xffffffff) */
	register_store(LOOP, 0, 8, 0xffffffff);
	(void)!write(ready, "", 1);
	pause();
	_exit(0);
}

static int start(void **state)
{
	int ends[2];
	char byte;

	(void)state;
	alarm(120);
	if (!served_start(&served, 2, false) || pipe(ends))
		return -1;
	offender = fork();
	if (!offender) {
		close(ends[0]);
		prefetch_everything(ends[1]);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		return -1;
	close(ends[0]);
	return 0;
}

static void kill_offender(void)
{
	if (offender > 0) {
		kill(offender, SIGKILL);
		waitpid(offender, NULL, 0);
	}
	offender = 0;
}

static int end(void **state)
{
	int status;

	(void)state;
	kill_offender();
	status = served_end(&served, SIGTERM);
	served_clean(&served);
	return status;
}

static void expect_daemon_works(void)
{
	uint64_t before = served_cpu_ns(&served);

	/* 100 ms do on a quiet machine. */
	for (unsigned int i = 0; i < 50 && served_cpu_ns(&served) <= before + 10000000; i++)
		test_sleep_ms(100);
	assert_true(served_cpu_ns(&served) > before + 10000000);
}

static void an_endless_prefetch_loop_holds_up_no_other_device(void **state)
{
	uint64_t begun;

	(void)state;
	expect_daemon_works();
	begun = served_cpu_ns(&served);
	assert_int_equal(open_at("maple1", &served_device), 0);
	served_init(WORDS_32);
	served_open_both(0);
	for (uint32_t i = 0; i < TURNS; i++) {
		register_store(PRODUCE, 0, 4, i * 3);
		assert_int_equal(register_load(CONSUME, 0, 4), i * 3);
	}
	assert_true(served_cpu_ns(&served) - begun < AT_ONCE_NS);
	mimic_device_close(served_device);
}

static void an_endless_prefetch_loop_does_not_hold_up_the_list(void **state)
{
	uint64_t begun = served_cpu_ns(&served);
	char *text;

	(void)state;
	assert_int_equal(mimic_daemon_list(served.socket, &text), 0);
	assert_true(served_cpu_ns(&served) - begun < AT_ONCE_NS);
	free(text);
}

static void the_device_of_a_killed_program_is_free_in_the_middle_of_its_loop(void **state)
{
	uint64_t begun;
	int error;

	(void)state;
	assert_int_equal(open_at("maple0", &served_device), -EBUSY);
	begun = now_ns();
	kill_offender();
	while ((error = open_at("maple0", &served_device)) == -EBUSY && now_ns() - begun < AT_ONCE_NS)
		test_sleep_ms(5);
	assert_int_equal(error, 0);
	/* As after power-on: there are no queues, so INIT makes some. */
	assert_int_equal(register_load(INIT, WORDS_32, 4), 2);
	mimic_device_close(served_device);
}

static void the_daemon_sleeps_again_when_the_program_with_the_loop_is_gone(void **state)
{
	uint64_t before;

	(void)state;
	expect_daemon_works();
	kill_offender();
	test_sleep_ms(500);
	before = served_cpu_ns(&served);
	test_sleep_ms(500);
	assert_true(served_cpu_ns(&served) - before < 10000000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(an_endless_prefetch_loop_holds_up_no_other_device),
		TEST(an_endless_prefetch_loop_does_not_hold_up_the_list),
		TEST(the_device_of_a_killed_program_is_free_in_the_middle_of_its_loop),
		TEST(the_daemon_sleeps_again_when_the_program_with_the_loop_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
