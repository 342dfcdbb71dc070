/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/protocol_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct served protocol_served;

int protocol_start(void **state)
{
	(void)state;
	alarm(120);
	protocol_served.virgos = 1;
	return served_start(&protocol_served, PROTOCOL_DEVICES, false) ? 0 : -1;
}

int protocol_end(void **state)
{
	int status = served_end(&protocol_served, SIGTERM);

	(void)state;
	served_clean(&protocol_served);
	return status;
}

void protocol_expect_end(int socket)
{
	char reply[MIMIC_MESSAGE_MAX];
	int ignored;

	assert_int_equal(raw_receive(socket, reply, sizeof(reply), &ignored), 0);
	close(socket);
}

void protocol_expect_descriptors(int count)
{
	assert_int_equal(served_await_descriptors(&protocol_served, count), count);
}

void protocol_expect_served(void)
{
	uint32_t device;
	int socket = raw_client(protocol_served.socket);

	assert_true(socket >= 0);
	assert_int_equal(raw_open(socket, "maple0", &device), 0);
	close(socket);
}

int protocol_memfd(size_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(fallocate(fd, 0, 0, (off_t)size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}
