/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The daemon's end of a descriptor store: its messages, and the descriptors that it finds at its start. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/socket.h"
#include "daemon/loop/notify.h"
#include "daemon/recovery/store.h"
#include "tests/lib/daemon_fixture.h"

/* --- messages ---------------------------------------------------------------------------- */

static int manager;

/* A manager's socket, in the abstract name space, which NOTIFY_SOCKET names. */
static int open_manager(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char path[64];

	(void)state;
	alarm(100);
	snprintf(path, sizeof(path), "@mimic-test-store-%d", (int)getpid());
	memcpy(address.sun_path + 1, path + 1, strlen(path) - 1);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(manager, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))))
		return -1;
	return setenv("NOTIFY_SOCKET", path, 1);
}

static int close_manager(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	close(manager);
	return 0;
}

/* The next message is this text, with a descriptor whose file has `content`; NULL: without. */
static void expect_message(const char *text, const char *content)
{
	char bytes[256] = "", found[64] = "";
	int fd;

	assert_int_equal(raw_receive(manager, bytes, sizeof(bytes) - 1, &fd), strlen(text));
	assert_string_equal(bytes, text);
	assert_int_equal(fd >= 0, content != NULL);
	if (fd < 0)
		return;
	assert_true(pread(fd, found, sizeof(found) - 1, 0) >= 0);
	assert_string_equal(found, content);
	close(fd);
}

static int memfd_with(const char *content)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	return fd;
}

static void a_put_sends_the_descriptor_with_its_name(void **state)
{
	int fd = memfd_with("arena");

	(void)state;
	assert_int_equal(mimicd_store_put("client-7", fd), 0);
	expect_message("FDSTORE=1\nFDPOLL=0\nFDNAME=client-7", "arena");
	/* It stays the caller's. */
	assert_int_equal(close(fd), 0);
}

static void a_drop_sends_the_name_alone(void **state)
{
	(void)state;
	assert_int_equal(mimicd_store_drop("client-7"), 0);
	expect_message("FDSTOREREMOVE=1\nFDNAME=client-7", NULL);
}

static void states_are_told_as_they_are(void **state)
{
	(void)state;
	mimicd_notify("READY=1");
	expect_message("READY=1", NULL);
}

static void names_of_other_characters_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "a:b", "a b", "a\nFDSTORE=1", "a.b", "\xc3\xa9", "1234567890123456789012345678901",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(mimicd_store_put(bad[i], STDERR_FILENO), -EINVAL);
		assert_int_equal(mimicd_store_drop(bad[i]), -EINVAL);
	}
	assert_int_equal(mimicd_store_drop("A-z-09-56789012345678901234567"), 0);
	expect_message("FDSTOREREMOVE=1\nFDNAME=A-z-09-56789012345678901234567", NULL);
}

static void a_descriptor_that_is_none_is_refused(void **state)
{
	(void)state;
	assert_int_equal(mimicd_store_put("a", -1), -EBADF);
	assert_int_equal(mimicd_store_put("a", 1000000), -EBADF);
}

static void without_a_manager_there_is_no_store(void **state)
{
	(void)state;
	assert_true(mimicd_store_is_there());
	unsetenv("NOTIFY_SOCKET");
	assert_false(mimicd_store_is_there());
	assert_int_equal(mimicd_store_put("a", STDERR_FILENO), -ENOTCONN);
	setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
	assert_false(mimicd_store_is_there());
}

static void a_manager_that_has_ended_is_an_error(void **state)
{
	(void)state;
	close(manager);
	assert_int_equal(mimicd_store_put("a", STDERR_FILENO), -ECONNREFUSED);
}

/* As one that is stopped: the caller does not wait for ever. */
static void a_manager_that_does_not_read_is_an_error(void **state)
{
	int error = 0;

	(void)state;
	for (unsigned int i = 0; i < 10000 && !error; i++)
		error = mimicd_store_drop("a");
	assert_int_equal(error, -ETIMEDOUT);
}

/* --- at the start ---------------------------------------------------------------------------- */

/* Pages of a test that it shares with the process of its own that takes the descriptors. */
struct found {
	int error;
	size_t count;
	char names[8][32];
	char contents[8][16];
	bool are_cloexec, are_unset;
	int listener;		/* the place of mimicd_socket_from_manager()'s among them, or -1 */
	bool is_nonblocking;
};

static int find_place(const struct mimicd_stored *stored, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (stored[i].fd < 0)
			return (int)i;
	}
	return -1;
}

static void take(struct found *found)
{
	struct mimicd_stored *stored;
	int listener;

	found->error = mimicd_store_take(&stored, &found->count);
	found->are_cloexec = true;
	for (size_t i = 0; i < found->count && i < 8; i++) {
		strcpy(found->names[i], stored[i].name);
		found->are_cloexec &= fcntl(stored[i].fd, F_GETFD) == FD_CLOEXEC;
		if (pread(stored[i].fd, found->contents[i], sizeof(found->contents[i]) - 1, 0) < 0)
			found->contents[i][0] = 0;
	}
	found->are_unset = !getenv("LISTEN_PID") && !getenv("LISTEN_FDS") && !getenv("LISTEN_FDNAMES");
	listener = mimicd_socket_from_manager(stored, found->count);
	found->listener = find_place(stored, found->count);
	found->is_nonblocking = listener >= 0 && fcntl(listener, F_GETFL) & O_NONBLOCK;
	mimicd_store_free(stored, found->count);
}

/*
 * In a process with these descriptors from 3 on, and these variables; NULL: without. LISTEN_PID is its own
 * unless given.
 */
static struct found take_with(const int *fds, int count, const char *number, const char *names,
			      const char *pid)
{
	struct found *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct found found;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		int high[8];
		char own[16];

		for (int i = 0; i < count; i++)
			high[i] = fcntl(fds[i], F_DUPFD, 100);
		for (int i = 0; i < count; i++)
			dup2(high[i], 3 + i);
		for (int fd = 3 + count; fd < 100; fd++)
			close(fd);
		snprintf(own, sizeof(own), "%d", (int)getpid());
		setenv("LISTEN_PID", pid ? pid : own, 1);
		setenv("LISTEN_FDS", number, 1);
		if (names)
			setenv("LISTEN_FDNAMES", names, 1);
		take(shared);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	found = *shared;
	munmap(shared, sizeof(*shared));
	return found;
}

static int listener(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void descriptors_of_the_predecessor_are_found_by_name(void **state)
{
	const int fds[] = { memfd_with("one"), memfd_with("two"), memfd_with("three") };
	struct found found = take_with(fds, 3, "3", "arena:client-1:client-1", NULL);

	(void)state;
	assert_int_equal(found.error, 0);
	assert_int_equal(found.count, 3);
	assert_string_equal(found.names[0], "arena");
	assert_string_equal(found.contents[0], "one");
	assert_string_equal(found.names[1], "client-1");
	assert_string_equal(found.contents[1], "two");
	assert_string_equal(found.names[2], "client-1");
	assert_string_equal(found.contents[2], "three");
	assert_true(found.are_cloexec);
	assert_true(found.are_unset);
	for (unsigned int i = 0; i < 3; i++)
		close(fds[i]);
}

static void names_that_are_missing_or_too_long_are_empty(void **state)
{
	const int fds[] = { memfd_with("one"), memfd_with("two"), memfd_with("three") };
	struct found found = take_with(fds, 3, "3", "a:12345678901234567890123456789012", NULL);

	(void)state;
	assert_int_equal(found.count, 3);
	assert_string_equal(found.names[0], "a");
	assert_string_equal(found.names[1], "");
	assert_string_equal(found.names[2], "");
	found = take_with(fds, 1, "1", NULL, NULL);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.names[0], "");
	for (unsigned int i = 0; i < 3; i++)
		close(fds[i]);
}

static void descriptors_of_another_process_are_left_alone(void **state)
{
	const int fds[] = { memfd_with("one") };
	struct found found = take_with(fds, 1, "1", "a", "1");

	(void)state;
	assert_int_equal(found.error, 0);
	assert_int_equal(found.count, 0);
	assert_true(found.are_unset);
	close(fds[0]);
}

static void wrong_numbers_are_errors(void **state)
{
	static const char *const wrong[] = { "-1", "x", "1x", "", "99999999999999999999", "1048577" };
	const int fds[] = { memfd_with("one") };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(take_with(fds, 1, wrong[i], "a", NULL).error, -EINVAL);
	assert_int_equal(take_with(fds, 1, "2", "a:b", NULL).error, -EBADF);
	assert_int_equal(take_with(fds, 1, "0", "a", NULL).error, 0);
	close(fds[0]);
}

static void the_only_listening_socket_needs_no_name(void **state)
{
	const int fds[] = { memfd_with("one"), listener() };
	struct found found = take_with(fds, 2, "2", "arena:mimicd.socket", NULL);

	(void)state;
	assert_int_equal(found.listener, 1);
	assert_true(found.is_nonblocking);
	assert_int_equal(take_with(&fds[1], 1, "1", NULL, NULL).listener, 0);
	assert_int_equal(take_with(&fds[1], 1, "1", "unknown", NULL).listener, 0);
	/* The name alone makes no such socket. */
	assert_int_equal(take_with(fds, 1, "1", "listen", NULL).listener, -1);
	close(fds[0]);
	close(fds[1]);
}

static void of_two_listening_sockets_the_name_decides(void **state)
{
	const int fds[] = { listener(), listener() };

	(void)state;
	assert_int_equal(take_with(fds, 2, "2", "mimicd.socket:listen", NULL).listener, 1);
	assert_int_equal(take_with(fds, 2, "2", "one:two", NULL).listener, -1);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_manager, close_manager)
	const struct CMUnitTest tests[] = {
		TEST(a_put_sends_the_descriptor_with_its_name),
		TEST(a_drop_sends_the_name_alone),
		TEST(states_are_told_as_they_are),
		TEST(names_of_other_characters_are_refused),
		TEST(a_descriptor_that_is_none_is_refused),
		TEST(without_a_manager_there_is_no_store),
		TEST(a_manager_that_has_ended_is_an_error),
		TEST(a_manager_that_does_not_read_is_an_error),
		cmocka_unit_test(descriptors_of_the_predecessor_are_found_by_name),
		cmocka_unit_test(names_that_are_missing_or_too_long_are_empty),
		cmocka_unit_test(descriptors_of_another_process_are_left_alone),
		cmocka_unit_test(wrong_numbers_are_errors),
		cmocka_unit_test(the_only_listening_socket_needs_no_name),
		cmocka_unit_test(of_two_listening_sockets_the_name_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
