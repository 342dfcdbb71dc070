/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A descriptor whose close takes long holds up the program that sent it, and nobody else. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/loop/closer.h"
#include "tests/lib/protocol_fixture.h"

#define OTHERS_MOST 1024	/* descriptors */
#define LINGER_SECONDS 30
#define MANY 100
#define MOST_MS 6000	/* far below that, and far above the time of an answer on a busy machine */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/*
 * A connection whose other end reads nothing, with more to send than fits: its last close
 * waits for as long as it lingers. *other stays open meanwhile.
 */
static int make_lingering(int *other)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_SECONDS };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	static const char bytes[1 << 16];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
	*other = accept(listener, NULL, NULL);
	assert_true(*other >= 0);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	close(listener);
	return fd;
}

static void expect_served_at_once(void)
{
	uint64_t begun = now_ms();

	protocol_expect_served();
	assert_true(now_ms() - begun < MOST_MS);
}

/* In a child, with nothing else of ours: when the parent has closed its own copy. */
static void close_last(int fd, int turn)
{
	char byte;

	for (int other = STDERR_FILENO + 1; other < OTHERS_MOST; other++)
		if (other != fd && other != turn)
			close(other);
	(void)!read(turn, &byte, 1);
	close(fd);
	_exit(0);
}

/*
 * Where the daemon has closed its copies already, this is the last close: a child of ours lingers in it, not the test. (A thread
 * could do that; but ThreadSanitizer ends a daemon that is forked while there is one.)
 */
static void close_beside(int fd)
{
	int turn[2];
	pid_t child;

	assert_int_equal(pipe2(turn, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(turn[1]);
		close_last(fd, turn[0]);
	}
	close(turn[0]);
	close(fd);
	close(turn[1]);
}

/* `count` copies of one descriptor, in a message that is refused, or that ends the session. */
static void send_lingering(int client, unsigned int count)
{
	struct mimic_memory_request message = { .address = 0x10000, .size = 4096 };
	int fds[16], other;
	int fd = make_lingering(&other);

	for (unsigned int i = 0; i < count; i++)
		fds[i] = fd;
	raw_header(&message, sizeof(message), MIMIC_MESSAGE_MEMORY_ADD);
	assert_true(raw_send(client, &message, sizeof(message), fds, count));
	close_beside(fd);
	/* `other` stays open: else the connection would end at once. */
}

static void a_socket_that_lingers_holds_up_nobody(void **state)
{
	int client = raw_client(protocol_served.socket);

	(void)state;
	send_lingering(client, 1);
	test_sleep_ms(50);
	expect_served_at_once();
	close(client);
}

static void more_descriptors_than_a_message_may_have_hold_up_nobody(void **state)
{
	int client = raw_client(protocol_served.socket);

	(void)state;
	send_lingering(client, 9);
	test_sleep_ms(50);
	expect_served_at_once();
	protocol_expect_end(client);
}

/* More than there are threads for closes that may not end. */
static void many_that_linger_hold_up_nobody(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		int client = raw_client(protocol_served.socket);

		assert_true(client >= 0);
		send_lingering(client, 1);
		close(client);
	}
	test_sleep_ms(50);
	expect_served_at_once();
	expect_served_at_once();
}

static void a_message_that_was_not_read_holds_up_nobody(void **state)
{
	int client = raw_client(protocol_served.socket);
	char bytes[300] = { 0 };

	(void)state;
	/* The first ends the session, the others are in the socket then. */
	kill(protocol_served.pid, SIGSTOP);
	assert_true(raw_send(client, bytes, sizeof(bytes), NULL, 0));
	send_lingering(client, 1);
	send_lingering(client, 2);
	kill(protocol_served.pid, SIGCONT);
	test_sleep_ms(50);
	expect_served_at_once();
	close(client);
}

/* The lowest that is free is the first that the daemon may not have any more. */
static void take_descriptors_away(struct rlimit *before)
{
	struct rlimit none;
	char path[64];

	assert_int_equal(prlimit(protocol_served.pid, RLIMIT_NOFILE, NULL, before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before->rlim_max };
	do {
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", protocol_served.pid, (unsigned int)none.rlim_cur++);
	} while (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW));
	none.rlim_cur--;
	assert_int_equal(prlimit(protocol_served.pid, RLIMIT_NOFILE, &none, NULL), 0);
}

static void a_client_that_is_refused_for_want_of_descriptors_holds_up_nobody(void **state)
{
	int client = raw_client(protocol_served.socket), refused;
	struct rlimit before;
	uint32_t device;
	uint64_t begun;

	(void)state;
	take_descriptors_away(&before);
	kill(protocol_served.pid, SIGSTOP);
	refused = raw_connect(protocol_served.socket);
	assert_true(refused >= 0);
	send_lingering(refused, 1);
	kill(protocol_served.pid, SIGCONT);
	test_sleep_ms(50);
	begun = now_ms();
	assert_int_equal(raw_open(client, "maple0", &device), 0);
	assert_true(now_ms() - begun < MOST_MS);
	close(client);
	/* It lets clients in again when it has descriptors. */
	assert_int_equal(prlimit(protocol_served.pid, RLIMIT_NOFILE, &before, NULL), 0);
	expect_served_at_once();
}

static void the_daemon_ends_while_a_close_lingers(void **state)
{
	int client = raw_client(protocol_served.socket);
	uint64_t begun;

	(void)state;
	send_lingering(client, 1);
	test_sleep_ms(50);
	begun = now_ms();
	/* By the fixture's signal; nothing else is to be said of it. */
	assert_int_equal(served_end(&protocol_served, SIGTERM), 0);
	assert_true(now_ms() - begun < 2 * MOST_MS);
	close(client);
	assert_true(served_restart(&protocol_served, PROTOCOL_DEVICES));
}

static bool has_ended(int fd)
{
	char byte;

	for (unsigned int i = 0; i < 200; i++) {
		if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0)
			return true;
		test_sleep_ms(10);
	}
	return false;
}

/* Its own table, from which sockets go before their close. */
static unsigned int count_descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void sockets_that_linger_hold_up_not_even_their_owner(void **state)
{
	struct mimicd_closer *closer = mimicd_closer_create();
	int ends[MANY][2], other;
	unsigned int before;

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		mimicd_closer_close(closer, 1, make_lingering(&other));
	for (unsigned int i = 0; i < MANY; i++)
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
	before = count_descriptors();
	for (unsigned int i = 0; i < MANY; i++)
		mimicd_closer_close(closer, 1, ends[i][0]);
	for (unsigned int i = 0; i < MANY; i++) {
		assert_true(has_ended(ends[i][1]));
		assert_int_equal(close(ends[i][1]), 0);
	}
	assert_true(count_descriptors() <= before - 2 * MANY);
	assert_int_equal(mimicd_closer_backlog(closer, 1), 0);
	mimicd_closer_destroy(closer);
}

/* The other end sees the end of a connection at once, not when the socket is closed. */
static void a_connection_ends_with_its_last_message(void **state)
{
	struct mimicd_closer *closer = mimicd_closer_create();
	char bytes[8] = "";
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	mimicd_closer_hang_up(closer, 1, ends[0], "last", 4);
	assert_int_equal(recv(ends[1], bytes, sizeof(bytes), 0), 4);
	assert_string_equal(bytes, "last");
	assert_true(has_ended(ends[1]));
	close(ends[1]);
	mimicd_closer_destroy(closer);
}

/* --- for want of descriptors ------------------------------------------------------------------ */

#define NOBODY 65534u
#define FEW_DESCRIPTORS 64

/*
 * In a child: closes that linger, then more connections than the daemon may have descriptors, one after the other.
 * Many at once would take the few descriptors there are by themselves, before their user has the connections of its
 * quota.
 */
static void take_descriptors(int ready)
{
	char byte = 0;
	int fd;

	alarm(60);	/* should nobody end it */
	if (!geteuid() && (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(1);
	for (unsigned int i = 0; i < 6; i++) {
		fd = raw_client(protocol_served.socket);
		send_lingering(fd, 5);	/* too many: the session ends */
		close(fd);
	}
	test_sleep_ms(50);
	for (unsigned int i = 0; i < 4 * FEW_DESCRIPTORS; i++) {
		fd = raw_client(protocol_served.socket);
		if (fd < 0)
			_exit(1);
		close(fd);
	}
	if (write(ready, &byte, 1) == 1)
		pause();
	_exit(1);
}

static void a_user_with_closes_that_linger_takes_no_descriptors(void **state)
{
	int before = served_descriptors(&protocol_served), ready[2];
	pid_t child;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (!child)
		take_descriptors(ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	expect_served_at_once();
	expect_served_at_once();
	protocol_expect_descriptors(before);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ready[0]);
}

static int start_with_few_descriptors(void **state)
{
	struct rlimit before, few;
	bool is_there;

	(void)state;
	alarm(120);
	if (getrlimit(RLIMIT_NOFILE, &before))
		return -1;
	few = (struct rlimit){ FEW_DESCRIPTORS, before.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &few))
		return -1;
	is_there = served_start(&protocol_served, PROTOCOL_DEVICES, true);
	return setrlimit(RLIMIT_NOFILE, &before) || !is_there ? -1 : 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, protocol_start, protocol_end)
	const struct CMUnitTest tests[] = {
		TEST(a_socket_that_lingers_holds_up_nobody),
		TEST(more_descriptors_than_a_message_may_have_hold_up_nobody),
		TEST(many_that_linger_hold_up_nobody),
		TEST(a_message_that_was_not_read_holds_up_nobody),
		TEST(a_client_that_is_refused_for_want_of_descriptors_holds_up_nobody),
		TEST(the_daemon_ends_while_a_close_lingers),
		cmocka_unit_test_setup_teardown(a_user_with_closes_that_linger_takes_no_descriptors, start_with_few_descriptors,
						protocol_end),
		cmocka_unit_test(sockets_that_linger_hold_up_not_even_their_owner),
		cmocka_unit_test(a_connection_ends_with_its_last_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
