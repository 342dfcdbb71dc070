/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which users may connect, and the socket's file. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/loop/listen.h"
#include "tests/lib/protocol_fixture.h"

#define NOBODY 65534

/* Exit status of the child: 0 refused as it should be. */
static int be_nobody(void)
{
	struct mimic_hello_reply reply = { 0 };
	int ignored, fd;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return 77;
	fd = raw_connect(protocol_served.socket);
	if (fd < 0)
		return 2;
	if (raw_receive(fd, &reply, sizeof(reply), &ignored) != (ssize_t)sizeof(reply))
		return 3;
	if (reply.header.error != -EACCES || ignored != -1)
		return 4;
	return raw_receive(fd, &reply, sizeof(reply), &ignored) ? 5 : 0;
}

static void another_user_is_refused_with_a_reason_in_the_log(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (geteuid())
		skip();
	/* The file's permissions are the first hurdle; take it away to meet the second. */
	assert_int_equal(chmod(protocol_served.socket, 0666), 0);
	child = fork();
	if (!child)
		_exit(be_nobody());
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(served_said(&protocol_served, "it is of user 65534, this daemon serves user 0 (--allow-users)"));
}

static void the_socket_is_for_its_user_only(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(stat(protocol_served.socket, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void a_second_daemon_at_the_same_socket_gives_up(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(mimicd_listen(protocol_served.socket, SOCK_SEQPACKET, false, &status), -EADDRINUSE);
	protocol_expect_served();
}

static void the_socket_of_a_killed_daemon_is_replaced(void **state)
{
	(void)state;
	served_end(&protocol_served, SIGKILL);
	assert_int_equal(access(protocol_served.socket, F_OK), 0);
	assert_true(served_restart(&protocol_served, PROTOCOL_DEVICES));
	protocol_expect_served();
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
	struct stat status;
	int fd;

	(void)state;
	served_end(&protocol_served, SIGTERM);
	assert_int_equal(access(protocol_served.socket, F_OK), -1);
	fd = open(protocol_served.socket, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(mimicd_listen(protocol_served.socket, SOCK_SEQPACKET, false, &status), -EEXIST);
	assert_int_equal(stat(protocol_served.socket, &status), 0);
	assert_int_equal(status.st_size, 4);
	unlink(protocol_served.socket);
	assert_true(served_restart(&protocol_served, PROTOCOL_DEVICES));
}

/* Each user that can read the directory can lock it. */
static void a_lock_on_the_directory_holds_up_no_start(void **state)
{
	int fd = open(protocol_served.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(flock(fd, LOCK_EX), 0);
	served_end(&protocol_served, SIGTERM);
	alarm(20);
	assert_true(served_restart(&protocol_served, PROTOCOL_DEVICES));
	protocol_expect_served();
	close(fd);
}

static void two_that_start_at_once_wait_for_each_other_with_a_limit(void **state)
{
	char path[sizeof(protocol_served.socket) + 8];
	struct stat status;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s.lock", protocol_served.socket);
	assert_int_equal(access(path, F_OK), -1);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(mimicd_listen(protocol_served.socket, SOCK_SEQPACKET, false, &status), -ETIMEDOUT);
	close(fd);
	/* One that was left is no lock. */
	assert_int_equal(mimicd_listen(protocol_served.socket, SOCK_SEQPACKET, false, &status), -EADDRINUSE);
	assert_int_equal(access(path, F_OK), -1);
	if (geteuid())
		return;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	assert_int_equal(fchown(fd, NOBODY, NOBODY), 0);
	close(fd);
	assert_int_equal(mimicd_listen(protocol_served.socket, SOCK_SEQPACKET, false, &status), -EPERM);
	unlink(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, protocol_start, protocol_end)
	const struct CMUnitTest tests[] = {
		TEST(another_user_is_refused_with_a_reason_in_the_log),
		TEST(the_socket_is_for_its_user_only),
		TEST(a_second_daemon_at_the_same_socket_gives_up),
		TEST(the_socket_of_a_killed_daemon_is_replaced),
		TEST(a_file_that_is_no_socket_is_left_alone),
		TEST(a_lock_on_the_directory_holds_up_no_start),
		TEST(two_that_start_at_once_wait_for_each_other_with_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
