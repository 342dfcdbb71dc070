/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The messages of a daemon to systemd, which watches it. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_fixture.h"

static struct served served;
static char path[64];
static int listener;

/* The next message comes within so long, and is that the loop goes round. */
static bool is_told(int milliseconds)
{
	struct pollfd entry = { .fd = listener, .events = POLLIN };
	char text[64] = "";

	if (poll(&entry, 1, milliseconds) != 1)
		return false;
	return recv(listener, text, sizeof(text) - 1, 0) > 0 && !strcmp(text, "WATCHDOG=1");
}

static int start(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)state;
	alarm(100);
	snprintf(path, sizeof(path), "/tmp/mimic-watchdog-%d", (int)getpid());
	strcpy(address.sun_path, path);
	listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)))
		return -1;
	setenv("NOTIFY_SOCKET", path, 1);
	setenv("WATCHDOG_USEC", "200000", 1);
	unsetenv("WATCHDOG_PID");
	return served_start(&served, 1, false) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	if (served.pid > 0)
		served_end(&served, SIGKILL);
	served_clean(&served);
	close(listener);
	unlink(path);
	return 0;
}

static void it_hears_as_long_as_the_loop_goes_round(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		assert_true(is_told(5000));
	assert_int_equal(served_end(&served, SIGTERM), 0);
}

static void nothing_is_said_where_nobody_watches(void **state)
{
	(void)state;
	served_end(&served, SIGTERM);
	setenv("WATCHDOG_PID", "1", 1);
	while (is_told(0))
		;
	assert_true(served_restart(&served, 1));
	assert_false(is_told(1000));
}

/* As systemd does (WatchdogSignal=SIGKILL: no other signal reaches it), before it starts another daemon. */
static void a_loop_that_is_stuck_is_silent_and_can_be_ended(void **state)
{
	int status;

	(void)state;
	assert_true(is_told(5000));
	/* No program can make it hang: a signal of root or its user can. */
	kill(served.pid, SIGSTOP);
	test_sleep_ms(200);
	while (is_told(0))
		;
	assert_false(is_told(1000));
	kill(served.pid, SIGKILL);
	assert_int_equal(waitpid(served.pid, &status, 0), served.pid);
	served.pid = -1;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(it_hears_as_long_as_the_loop_goes_round),
		TEST(a_loop_that_is_stuck_is_silent_and_can_be_ended),
		TEST(nothing_is_said_where_nobody_watches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
