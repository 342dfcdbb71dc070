/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Messages that share memory. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/protocol_fixture.h"

#define ADDRESS 0x10000000ull
#define PAGES(n) ((n) * 4096ull)

static void add_refused(int client, int fd, uint64_t address, uint64_t size, uint64_t offset, int error)
{
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, address, size, offset), error);
}

static void only_sealed_memfds_are_taken_as_memory(void **state)
{
	int client = raw_client(protocol_served.socket);
	int before = served_descriptors(&protocol_served);
	int good = protocol_memfd(PAGES(4), F_SEAL_SHRINK);
	int unsealed = protocol_memfd(PAGES(4), F_SEAL_GROW);
	int unwritable = protocol_memfd(PAGES(4), F_SEAL_SHRINK | F_SEAL_WRITE);
	int null = open("/dev/zero", O_RDWR | O_CLOEXEC);
	int file = open(protocol_served.log, O_RDWR | O_CLOEXEC);

	(void)state;
	add_refused(client, null, ADDRESS, PAGES(1), 0, -EINVAL);
	add_refused(client, file, ADDRESS, PAGES(1), 0, -EINVAL);
	add_refused(client, client, ADDRESS, PAGES(1), 0, -EINVAL);
	add_refused(client, unsealed, ADDRESS, PAGES(4), 0, -EPERM);
	add_refused(client, unwritable, ADDRESS, PAGES(4), 0, -EPERM);
	add_refused(client, -1, ADDRESS, PAGES(1), 0, -EINVAL);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, good, ADDRESS, PAGES(4), 0), 0);
	assert_int_equal(served_descriptors(&protocol_served), before);
	close(good);
	close(unsealed);
	close(unwritable);
	close(null);
	close(file);
	close(client);
	assert_true(served_said(&protocol_served, "the memfd is not sealed against shrinking"));
}

static void ranges_that_cannot_be_are_refused(void **state)
{
	int client = raw_client(protocol_served.socket);
	int fd = protocol_memfd(PAGES(4), F_SEAL_SHRINK);

	(void)state;
	add_refused(client, fd, ADDRESS, 0, 0, -EINVAL);
	add_refused(client, fd, ADDRESS + 1, PAGES(1), 0, -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(1) + 1, 0, -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(1), 1, -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(5), 0, -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(1), PAGES(4), -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(2), PAGES(3), -EINVAL);
	add_refused(client, fd, ADDRESS, PAGES(1), 0xfffffffffffff000, -EINVAL);
	add_refused(client, fd, 0xfffffffffffff000, PAGES(2), 0, -EINVAL);
	close(client);
	client = raw_client(protocol_served.socket);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(2), PAGES(1)), 0);
	add_refused(client, fd, ADDRESS, PAGES(1), 0, -EEXIST);
	add_refused(client, fd, ADDRESS + PAGES(1), PAGES(2), 0, -EEXIST);
	add_refused(client, fd, ADDRESS - PAGES(1), PAGES(2), 0, -EEXIST);
	add_refused(client, fd, ADDRESS - PAGES(1), PAGES(4), 0, -EEXIST);
	/* Right before and right after is no overlap. */
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS - PAGES(1), PAGES(1), 0), 0);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS + PAGES(2), PAGES(1), 0), 0);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_REMOVE, -1, ADDRESS, PAGES(1), 0), -ENOENT);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_REMOVE, -1, ADDRESS, PAGES(2), 0), 0);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_REMOVE, -1, ADDRESS, PAGES(2), 0), -ENOENT);
	close(client);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, protocol_start, protocol_end)
	const struct CMUnitTest tests[] = {
		TEST(only_sealed_memfds_are_taken_as_memory),
		TEST(ranges_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
