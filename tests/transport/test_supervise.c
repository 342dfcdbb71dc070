/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A supervisor and its daemon: descriptors over a daemon's death, and when another one is started. */
#include <dirent.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_fixture.h"
#include "tests/lib/supervised.h"

#define PATIENCE_MS 20000
#define QUIET_MS 400	/* long enough for a daemon to start that should not */

static struct supervised supervised;

static int begin(void **state)
{
	(void)state;
	alarm(100);
	supervised = (struct supervised){ .pid = -1, .orders = -1 };
	return 0;
}

static int finish(void **state)
{
	(void)state;
	supervised_end(&supervised);
	return 0;
}

static void start(void)
{
	assert_true(supervised_start(&supervised));
}

static void done(const char *answer)
{
	assert_string_equal(answer, "done");
}

static void expect_next(void)
{
	assert_true(supervised_next(&supervised, PATIENCE_MS) > 0);
}

/* The daemon ends so, and another one starts. */
static void replace(const char *order)
{
	supervised_end_daemon(&supervised, "%s", order);
	expect_next();
}

static void expect_found(const char *expected)
{
	assert_string_equal(supervised_order(&supervised, "list"), expected);
}

static void expect_exit(int expected)
{
	int status = supervised_wait(&supervised);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
	/* And nobody starts any more. */
	assert_int_equal(supervised_next(&supervised, 0), -1);
}

static unsigned int count_descriptors(void)
{
	char path[48];
	DIR *directory;
	unsigned int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)supervised.pid);
	directory = opendir(path);
	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* --- descriptors ------------------------------------------------------------------------------ */

static void a_successor_finds_the_descriptors_of_a_killed_daemon(void **state)
{
	int end;
	char text[8] = "";

	(void)state;
	start();
	done(supervised_order(&supervised, "say READY=1"));
	expect_found("");
	done(supervised_order(&supervised, "put arena the state"));
	done(supervised_order(&supervised, "pipe client-1"));
	end = supervised_descriptor();
	assert_true(end >= 0);
	replace("signal 9");
	expect_found("arena=the state,client-1=?");
	/* The client's socket has seen no end. */
	assert_int_equal(recv(end, text, sizeof(text), MSG_DONTWAIT), -1);
	close(end);
}

static void they_outlive_any_number_of_daemons(void **state)
{
	char expected[512] = "";

	(void)state;
	start();
	for (unsigned int i = 0; i < 20; i++) {
		done(supervised_order(&supervised, "put n%u %u", i, i));
		done(supervised_order(&supervised, "say READY=1"));
		replace(i % 2 ? "signal 9" : "exit 1");
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%sn%u=%u",
			 i ? "," : "", i, i);
		expect_found(expected);
	}
}

/* The last of them are in the socket's queue when the daemon is killed. */
static void a_thousand_puts_before_a_kill_are_kept(void **state)
{
	static char expected[32768];
	size_t length = 0;

	(void)state;
	start();
	done(supervised_order(&supervised, "many 1000"));
	replace("signal 9");
	for (unsigned int i = 0; i < 1000; i++)
		length += (size_t)snprintf(expected + length, sizeof(expected) - length, "%sn%u=%u",
					   i ? "," : "", i, i);
	expect_found(expected);
	/* And the daemon after that. */
	replace("signal 9");
	expect_found(expected);
}

static void dropped_names_are_not_kept(void **state)
{
	(void)state;
	start();
	done(supervised_order(&supervised, "put a 1"));
	done(supervised_order(&supervised, "put b 2"));
	done(supervised_order(&supervised, "put a 3"));
	done(supervised_order(&supervised, "drop a"));
	done(supervised_order(&supervised, "drop none"));
	replace("signal 9");
	expect_found("b=2");
	done(supervised_order(&supervised, "drop b"));
	replace("signal 9");
	expect_found("");
}

static void a_full_store_refuses_with_one_line(void **state)
{
	(void)state;
	supervised.descriptors = 68;
	start();
	done(supervised_order(&supervised, "many 10"));
	done(supervised_order(&supervised, "say READY=1"));
	replace("signal 9");
	expect_found("n0=0,n1=1,n2=2,n3=3");
	assert_int_equal(supervised_said(&supervised, "the descriptor store is full with 4: 'n4'"), 1);
	assert_int_equal(supervised_said(&supervised, "is full"), 1);
}

static void descriptors_of_the_service_manager_are_given_on(void **state)
{
	(void)state;
	supervised.given = "listen";
	start();
	expect_found("listen=given");
	done(supervised_order(&supervised, "put a 1"));
	done(supervised_order(&supervised, "drop listen"));
	replace("signal 9");
	expect_found("listen=given,a=1");
}

/* --- messages of others ---------------------------------------------------------------------------- */

static void messages_of_other_processes_are_left_out(void **state)
{
	unsigned int before;

	(void)state;
	start();
	done(supervised_order(&supervised, "put a 1"));
	replace("signal 9");
	before = count_descriptors();
	done(supervised_order(&supervised, "stranger FDSTORE=1\nFDNAME=b"));
	done(supervised_order(&supervised, "stranger FDSTOREREMOVE=1\nFDNAME=a"));
	replace("signal 9");
	expect_found("a=1");
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(supervised_said(&supervised, "it is not the daemon"), 2);
}

static void a_process_elsewhere_is_not_ready_for_the_daemon(void **state)
{
	(void)state;
	start();
	for (unsigned int i = 0; i < 4; i++) {
		done(supervised_order(&supervised, "stranger READY=1"));
		replace("signal 9");
	}
	done(supervised_order(&supervised, "stranger READY=1"));
	supervised_end_daemon(&supervised, "signal 9");
	expect_exit(1);
}

static void malformed_messages_are_left_out(void **state)
{
	unsigned int before;

	(void)state;
	start();
	done(supervised_order(&supervised, "put a 1"));
	replace("signal 9");
	before = count_descriptors();
	done(supervised_order(&supervised, "send FDSTORE=1"));
	done(supervised_order(&supervised, "send FDSTOREREMOVE=1\nFDNAME=a\nFDNAME=a"));
	done(supervised_order(&supervised, "send FDSTORE=1\nFDSTOREREMOVE=1\nFDNAME=a"));
	/* Well formed, but the descriptor is for nothing. */
	done(supervised_order(&supervised, "send STATUS=busy"));
	replace("signal 9");
	expect_found("a=1");
	assert_int_equal(supervised_said(&supervised, "it is malformed"), 3);
	assert_int_equal(count_descriptors(), before);
}

/* --- when another one is started ---------------------------------------------------------------- */

static void a_daemon_that_ends_well_ends_the_supervisor(void **state)
{
	(void)state;
	start();
	done(supervised_order(&supervised, "say READY=1"));
	supervised_end_daemon(&supervised, "exit 0");
	expect_exit(0);
}

static void a_daemon_that_fails_is_replaced(void **state)
{
	(void)state;
	start();
	done(supervised_order(&supervised, "say READY=1"));
	replace("exit 3");
	assert_int_equal(supervised_said(&supervised, "ended with status 3; 0 descriptors are kept"), 1);
	done(supervised_order(&supervised, "say READY=1"));
	/* (Sanitizers make an exit of the usual signal of a crash.) */
	replace("signal 9");
	assert_int_equal(supervised_said(&supervised, "was killed by signal 9 (Killed)"), 1);
}

/* It has said why, as of a path in use. */
static void a_first_daemon_that_cannot_start_is_not_replaced(void **state)
{
	(void)state;
	start();
	supervised_end_daemon(&supervised, "exit 2");
	expect_exit(2);
}

static void five_that_end_early_are_the_last(void **state)
{
	char byte;
	int end;

	(void)state;
	start();
	done(supervised_order(&supervised, "say READY=1"));
	done(supervised_order(&supervised, "pipe client-1"));
	end = supervised_descriptor();
	replace("signal 9");
	for (unsigned int i = 0; i < 4; i++)
		replace(i % 2 ? "signal 9" : "exit 1");
	supervised_end_daemon(&supervised, "exit 1");
	expect_exit(1);
	assert_int_equal(supervised_said(&supervised, "five ended one after the other"), 1);
	/* Clients see the end. */
	assert_int_equal(recv(end, &byte, 1, MSG_DONTWAIT), 0);
	close(end);
}

static void one_that_is_ready_begins_the_count_anew(void **state)
{
	(void)state;
	start();
	for (unsigned int round = 0; round < 3; round++) {
		done(supervised_order(&supervised, "say READY=1"));
		for (unsigned int i = 0; i < 5; i++)
			replace("signal 9");
	}
}

static void one_that_is_not_ready_in_time_is_the_last(void **state)
{
	pid_t daemon;

	(void)state;
	supervised.recovery_seconds = 1;
	start();
	done(supervised_order(&supervised, "say READY=1"));
	supervised_end_daemon(&supervised, "signal 9");
	daemon = supervised_next(&supervised, PATIENCE_MS);
	assert_true(daemon > 0);
	expect_exit(1);
	assert_int_equal(supervised_said(&supervised, "none was ready within --recovery-time"), 1);
	assert_int_equal(kill(daemon, 0), -1);
}

static void the_time_ends_when_one_is_ready(void **state)
{
	(void)state;
	supervised.recovery_seconds = 1;
	start();
	/* The first one has all the time that it needs. */
	test_sleep_ms(1300);
	done(supervised_order(&supervised, "say READY=1"));
	replace("signal 9");
	done(supervised_order(&supervised, "say READY=1"));
	test_sleep_ms(1300);
	done(supervised_order(&supervised, "say READY=1"));
	assert_int_equal(supervised_said(&supervised, "is ready, "), 1);
}

/* --- signals ------------------------------------------------------------------------------------- */

static void a_signal_reaches_the_daemon_whose_status_is_the_supervisors(int signal_number)
{
	start();
	done(supervised_order(&supervised, "say READY=1"));
	done(supervised_order(&supervised, "catch 7"));
	kill(supervised.pid, signal_number);
	expect_exit(7);
}

static void sigterm_reaches_the_daemon(void **state)
{
	(void)state;
	a_signal_reaches_the_daemon_whose_status_is_the_supervisors(SIGTERM);
}

static void sigint_reaches_the_daemon(void **state)
{
	(void)state;
	a_signal_reaches_the_daemon_whose_status_is_the_supervisors(SIGINT);
}

static void a_daemon_without_a_handler_ends_well_too(void **state)
{
	(void)state;
	start();
	kill(supervised.pid, SIGTERM);
	expect_exit(0);
}

static void sighup_ends_nothing(void **state)
{
	(void)state;
	start();
	kill(supervised.pid, SIGHUP);
	replace("signal 9");
}

static void a_daemon_ends_with_its_supervisor(void **state)
{
	char byte;

	(void)state;
	start();
	kill(supervised.pid, SIGKILL);
	assert_true(WIFSIGNALED(supervised_wait(&supervised)));
	/* Its end of the orders was the last one. */
	for (unsigned int i = 0; i < PATIENCE_MS / 10 && recv(supervised.orders, &byte, 1, MSG_DONTWAIT); i++)
		test_sleep_ms(10);
	assert_int_equal(recv(supervised.orders, &byte, 1, MSG_DONTWAIT), 0);
}

/* --- a service manager above --------------------------------------------------------------------- */

static int manager;

static int begin_under_manager(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[64];

	snprintf(name, sizeof(name), "@mimic-test-manager-%d", (int)getpid());
	memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(manager, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))))
		return -1;
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "1000000", 1);
	return begin(state);
}

static int finish_under_manager(void **state)
{
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	close(manager);
	return finish(state);
}

static void expect_told(const char *expected)
{
	struct pollfd entry = { .fd = manager, .events = POLLIN };
	char text[64] = "";

	assert_int_equal(poll(&entry, 1, expected ? PATIENCE_MS : QUIET_MS), expected != NULL);
	if (!expected)
		return;
	assert_true(recv(manager, text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, expected);
}

static void states_are_told_to_the_manager_above(void **state)
{
	char pid[16];

	(void)state;
	start();
	done(supervised_order(&supervised, "say READY=1"));
	expect_told("READY=1");
	/* The daemon's watchdog is its own. */
	snprintf(pid, sizeof(pid), "%d", (int)supervised.pid);
	assert_string_not_equal(supervised_order(&supervised, "get WATCHDOG_PID"), pid);
	done(supervised_order(&supervised, "say WATCHDOG=1"));
	expect_told("WATCHDOG=1");
	done(supervised_order(&supervised, "put a 1"));
	supervised_end_daemon(&supervised, "exit 0");
	expect_told("STOPPING=1");
	expect_exit(0);
}

/* systemd would end the supervisor for it. */
static void a_daemon_that_stops_and_fails_is_no_end_above(void **state)
{
	(void)state;
	start();
	done(supervised_order(&supervised, "say READY=1"));
	expect_told("READY=1");
	done(supervised_order(&supervised, "say STOPPING=1"));
	replace("exit 1");
	expect_told(NULL);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
#define TEST_UNDER_MANAGER(name) \
	cmocka_unit_test_setup_teardown(name, begin_under_manager, finish_under_manager)
	const struct CMUnitTest tests[] = {
		TEST(a_successor_finds_the_descriptors_of_a_killed_daemon),
		TEST(they_outlive_any_number_of_daemons),
		TEST(a_thousand_puts_before_a_kill_are_kept),
		TEST(dropped_names_are_not_kept),
		TEST(a_full_store_refuses_with_one_line),
		TEST(descriptors_of_the_service_manager_are_given_on),
		TEST(messages_of_other_processes_are_left_out),
		TEST(a_process_elsewhere_is_not_ready_for_the_daemon),
		TEST(malformed_messages_are_left_out),
		TEST(a_daemon_that_ends_well_ends_the_supervisor),
		TEST(a_daemon_that_fails_is_replaced),
		TEST(a_first_daemon_that_cannot_start_is_not_replaced),
		TEST(five_that_end_early_are_the_last),
		TEST(one_that_is_ready_begins_the_count_anew),
		TEST(one_that_is_not_ready_in_time_is_the_last),
		TEST(the_time_ends_when_one_is_ready),
		TEST(sigterm_reaches_the_daemon),
		TEST(sigint_reaches_the_daemon),
		TEST(a_daemon_without_a_handler_ends_well_too),
		TEST(sighup_ends_nothing),
		TEST(a_daemon_ends_with_its_supervisor),
		TEST_UNDER_MANAGER(states_are_told_to_the_manager_above),
		TEST_UNDER_MANAGER(a_daemon_that_stops_and_fails_is_no_end_above),
	};

	supervised_daemon(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
