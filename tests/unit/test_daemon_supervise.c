/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A supervisor's parser of messages, and the list of descriptors that it keeps. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/supervise/kept.h"
#include "daemon/supervise/message.h"

/* --- messages ---------------------------------------------------------------------------- */

static struct mimicd_manager_message parse(const char *text)
{
	struct mimicd_manager_message message;

	assert_int_equal(mimicd_message_parse(&message, text, strlen(text)), 0);
	return message;
}

static void expect_malformed(const char *text, size_t length)
{
	struct mimicd_manager_message message;

	assert_int_equal(mimicd_message_parse(&message, text, length), -EINVAL);
}

static void states_are_understood(void **state)
{
	struct mimicd_manager_message message = parse("READY=1");

	(void)state;
	assert_true(message.is_ready && !message.is_stopping && !message.is_alive && !message.is_put &&
		    !message.is_drop);
	message = parse("STOPPING=1\nWATCHDOG=1\n");
	assert_true(!message.is_ready && message.is_stopping && message.is_alive && !message.is_put &&
		    !message.is_drop);
}

static void a_put_and_a_drop_have_a_name(void **state)
{
	struct mimicd_manager_message message = parse("FDSTORE=1\nFDPOLL=0\nFDNAME=lane-7");

	(void)state;
	assert_true(message.is_put && !message.is_drop);
	assert_string_equal(message.name, "lane-7");
	message = parse("FDNAME=123456789012345678901234567890\nFDSTOREREMOVE=1\n");
	assert_true(!message.is_put && message.is_drop);
	assert_string_equal(message.name, "123456789012345678901234567890");
}

static void other_lines_are_left_out(void **state)
{
	struct mimicd_manager_message message =
		parse("STATUS=READY=1\nREADY=0\nREADY=11\n READY=1\nREADY\n\nMAINPID=7");

	(void)state;
	assert_true(!message.is_ready && !message.is_stopping && !message.is_alive && !message.is_put &&
		    !message.is_drop);
	assert_true(parse("STATUS=busy\nREADY=1").is_ready);
	parse("");
}

static void malformed_messages_are_refused(void **state)
{
	static const char *const bad[] = {
		"FDSTORE=1",
		"FDSTOREREMOVE=1",
		"FDSTORE=1\nFDNAME=",
		"FDSTORE=1\nFDNAME=a:b",
		"FDSTORE=1\nFDNAME=a b",
		"FDSTORE=1\nFDNAME=1234567890123456789012345678901",
		"FDSTORE=1\nFDSTOREREMOVE=1\nFDNAME=a",
		"FDSTORE=1\nFDNAME=a\nFDNAME=b",
		"FDSTORE=1\nFDNAME=../a",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_malformed(bad[i], strlen(bad[i]));
	expect_malformed("READY=1\n\0", 9);
	expect_malformed("FDSTORE=1\nFDNAME=a\0b", 20);
}

/* --- descriptors -------------------------------------------------------------------------- */

static int memfd_with(const char *content)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void expect_names(const struct mimicd_kept *kept, const char *expected)
{
	char *names = mimicd_kept_names(kept);

	assert_non_null(names);
	assert_string_equal(names, expected);
	free(names);
}

static void puts_are_kept_with_their_names(void **state)
{
	struct mimicd_kept kept;

	(void)state;
	mimicd_kept_begin(&kept, NULL, 0, 10);
	expect_names(&kept, "");
	assert_int_equal(mimicd_kept_put(&kept, "a", memfd_with("1")), 0);
	assert_int_equal(mimicd_kept_put(&kept, "b", memfd_with("2")), 0);
	assert_int_equal(mimicd_kept_put(&kept, "a", memfd_with("3")), 0);
	expect_names(&kept, "a:b:a");
	mimicd_kept_end(&kept);
}

static void a_drop_closes_all_of_its_name(void **state)
{
	const int fds[] = { memfd_with("1"), memfd_with("2"), memfd_with("3"), memfd_with("4") };
	struct mimicd_kept kept;

	(void)state;
	mimicd_kept_begin(&kept, NULL, 0, 10);
	for (unsigned int i = 0; i < 4; i++)
		mimicd_kept_put(&kept, i == 1 ? "b" : "a", fds[i]);
	mimicd_kept_drop(&kept, "c");
	assert_int_equal(kept.count, 4);
	mimicd_kept_drop(&kept, "a");
	expect_names(&kept, "b");
	assert_true(!is_open(fds[0]) && is_open(fds[1]) && !is_open(fds[2]) && !is_open(fds[3]));
	mimicd_kept_end(&kept);
	assert_false(is_open(fds[1]));
}

static void a_full_list_refuses_and_closes(void **state)
{
	const int fds[] = { memfd_with("1"), memfd_with("2"), memfd_with("3") };
	struct mimicd_kept kept;
	int fd;

	(void)state;
	mimicd_kept_begin(&kept, NULL, 0, 2);
	assert_int_equal(mimicd_kept_put(&kept, "a", fds[0]), 0);
	assert_int_equal(mimicd_kept_put(&kept, "b", fds[1]), 0);
	assert_int_equal(mimicd_kept_put(&kept, "c", fds[2]), -ENOSPC);
	assert_false(is_open(fds[2]));
	expect_names(&kept, "a:b");
	mimicd_kept_drop(&kept, "a");
	fd = memfd_with("4");
	assert_int_equal(mimicd_kept_put(&kept, "d", fd), 0);
	expect_names(&kept, "b:d");
	mimicd_kept_end(&kept);
}

/* exec() refuses a longer variable. */
static void names_are_never_too_long_for_an_environment(void **state)
{
	static const char name[] = "123456789012345678901234567890";
	struct mimicd_kept kept;
	size_t count = 0;
	char *names;

	(void)state;
	mimicd_kept_begin(&kept, NULL, 0, 1 << 20);
	/* The list takes any number: none is used here. */
	while (!mimicd_kept_put(&kept, name, -1))
		count++;
	assert_true(count > 4000 && count < 4300);
	names = mimicd_kept_names(&kept);
	assert_true(strlen(names) + sizeof("LISTEN_FDNAMES=") <= 131072);
	free(names);
	/* Drops make room again, all of it. */
	mimicd_kept_drop(&kept, name);
	assert_int_equal(kept.name_bytes, 0);
	mimicd_kept_end(&kept);
}

static void descriptors_of_the_manager_stay(void **state)
{
	struct mimicd_stored *given = calloc(2, sizeof(*given));
	struct mimicd_kept kept;

	(void)state;
	given[0] = (struct mimicd_stored){ "listen", memfd_with("1") };
	given[1] = (struct mimicd_stored){ "", memfd_with("2") };
	mimicd_kept_begin(&kept, given, 2, 3);
	assert_int_equal(mimicd_kept_put(&kept, "listen", memfd_with("3")), 0);
	expect_names(&kept, "listen:unknown:listen");
	mimicd_kept_drop(&kept, "listen");
	expect_names(&kept, "listen:unknown");
	mimicd_kept_end(&kept);
}

/* The descriptor of place i has the text i, in any order of numbers, over others that are in the way. */
static bool line_up_shuffled(unsigned int seed)
{
	enum { COUNT = 40 };
	int numbers[2 * COUNT];
	struct mimicd_kept kept;

	srand(seed);
	for (int i = 0; i < 2 * COUNT; i++)
		numbers[i] = 3 + i;
	for (int i = 2 * COUNT - 1; i > 0; i--) {
		int other = rand() % (i + 1), number = numbers[i];

		numbers[i] = numbers[other];
		numbers[other] = number;
	}
	mimicd_kept_begin(&kept, NULL, 0, COUNT);
	for (int i = 0; i < COUNT; i++) {
		char text[4];
		int fd;

		snprintf(text, sizeof(text), "%d", i);
		fd = fcntl(memfd_with(text), F_DUPFD_CLOEXEC, 500);
		dup3(fd, numbers[i], O_CLOEXEC);
		mimicd_kept_put(&kept, "a", numbers[i]);
	}
	if (mimicd_kept_line_up(&kept))
		return false;
	for (int i = 0; i < COUNT; i++) {
		char text[4] = "";

		if (fcntl(3 + i, F_GETFD) || pread(3 + i, text, 3, 0) < 1 || atoi(text) != i)
			return false;
	}
	return true;
}

static void descriptors_line_up_from_any_order(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 50; seed++) {
		int status;
		pid_t child = fork();

		if (!child)
			_exit(line_up_shuffled(seed) ? 0 : 1);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_are_understood),
		cmocka_unit_test(a_put_and_a_drop_have_a_name),
		cmocka_unit_test(other_lines_are_left_out),
		cmocka_unit_test(malformed_messages_are_refused),
		cmocka_unit_test(puts_are_kept_with_their_names),
		cmocka_unit_test(a_drop_closes_all_of_its_name),
		cmocka_unit_test(a_full_list_refuses_and_closes),
		cmocka_unit_test(names_are_never_too_long_for_an_environment),
		cmocka_unit_test(descriptors_of_the_manager_stay),
		cmocka_unit_test(descriptors_line_up_from_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
