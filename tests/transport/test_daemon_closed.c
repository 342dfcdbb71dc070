/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program that closes all descriptors it does not know, as daemons do, and then opens files of its own. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_device.h"

#define FILES 64
#define PATIENCE_MS 5000

static int files[FILES];	/* both ends of pairs of sockets: a stranger that polls them learns nothing */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static unsigned int limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	return (unsigned int)(limit.rlim_cur < 65536 ? limit.rlim_cur : 65536);
}

static int open_again(void)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };

	return mimic_device_open(&served_device, "maple0", &options);
}

/*
 * Own files at the numbers of all that was open, as if these had been the next that are free.
 */
static void replace_all_descriptors(void)
{
	unsigned int count = 0;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		_exit(10);
	for (int fd = 3; fd < (int)limit(); fd++) {
		if (fd == ends[0] || fd == ends[1] || fcntl(fd, F_GETFD) < 0)
			continue;
		if (count == FILES || dup2(ends[0], fd) != fd)
			_exit(11);
		files[count++] = fd;
	}
	if (count < 2)
		_exit(12);
}

static bool files_are_whole(void)
{
	for (unsigned int i = 0; i < FILES && files[i]; i++) {
		char byte;

		if (fcntl(files[i], F_GETFD) < 0)
			return false;
		/* Nothing was written into the pair, and it was not shut down. */
		if (recv(files[i], &byte, 1, MSG_DONTWAIT | MSG_PEEK) != -1 || errno != EAGAIN)
			return false;
		if (send(files[i], "", 0, MSG_NOSIGNAL) < 0)
			return false;
	}
	return true;
}

/* In a child of its own: cmocka has descriptors, too. Its exit status. */
static int use(void)
{
	struct mimic_access access = { .offset = AT(CONSUME, 0), .size = 4 };
	uint64_t begun;
	uint32_t *memory;
	int error;

	if (open_again())
		return 1;
	served_init(WORDS_32);
	served_open_both(0);
	memory = mimic_memory_alloc(served_device, 4096);
	if (!memory)
		return 2;
	memory[0] = 7;
	replace_all_descriptors();
	begun = now_ms();
	/* Nothing comes: the queue is empty, and the daemon has ended the session. */
	error = mimic_device_access(served_device, &access);
	if (error != -ENOTCONN || now_ms() - begun > PATIENCE_MS)
		return 3;
	if (!files_are_whole())
		return 4;
	mimic_memory_free(served_device, memory);
	mimic_device_close(served_device);
	if (!files_are_whole())
		return 5;
	if (open_again())
		return 6;
	served_init(WORDS_32);
	served_open_both(0);
	register_store(PRODUCE, 0, 4, 9);
	if (register_load(CONSUME, 0, 4) != 9)
		return 7;
	mimic_device_close(served_device);
	return files_are_whole() ? 0 : 8;
}

static void it_gets_an_error_and_its_files_are_left_alone(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (!child) {
		alarm(60);
		_exit(use());
	}
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int keep_low(void)
{
	int before = dup(0), fd;

	close(before);
	if (open_again())
		return 1;
	fd = dup(0);
	return fd == before ? 0 : 2;
}

static void descriptors_of_the_library_leave_the_low_numbers_to_the_program(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (!child)
		_exit(keep_low());
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

static int start(void **state)
{
	(void)state;
	alarm(100);
	return served_start(&served, 1, false) ? 0 : -1;
}

static int end(void **state)
{
	int status = served_end(&served, SIGTERM);

	(void)state;
	served_clean(&served);
	return status;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(it_gets_an_error_and_its_files_are_left_alone),
		TEST(descriptors_of_the_library_leave_the_low_numbers_to_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
