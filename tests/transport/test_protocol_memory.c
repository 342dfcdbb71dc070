/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Messages that share memory. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/protocol_fixture.h"

#define ADDRESS 0x10000000ull
#define AT(operation, field) ((operation) << 3 | (field) << 9)
enum { INIT = 0, OPEN_PRODUCER = 2, FULL_POINTER32 = 16, ATOMIC_ADD = 32, SET_BASE32 = 57, WORDS_32 = 2 };
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

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
	protocol_expect_descriptors(before);
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

static void memory_with_holes_is_refused(void **state)
{
	int client = raw_client(protocol_served.socket);
	int fd = memfd_create("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stat status;

	(void)state;
	assert_int_equal(ftruncate(fd, PAGES(4)), 0);
	assert_int_equal(fallocate(fd, 0, 0, PAGES(3)), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	add_refused(client, fd, ADDRESS, PAGES(4), 0, -EPERM);
	assert_true(served_said(&protocol_served, "the memfd has holes"));
	assert_int_equal(fallocate(fd, 0, PAGES(3), PAGES(1)), 0);
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(4), 0), 0);
	/* To look whether they are there makes none. */
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_blocks, PAGES(4) / 512);
	close(fd);
	close(client);
}

static uint64_t word(enum mimic_command_kind kind, uint32_t device, unsigned int offset, unsigned int size)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = kind, .device = (uint8_t)device,
		.size = (uint8_t)size, .offset = (uint16_t)offset, .count = 1 });
}

static bool has_userfaultfd(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A load of a pointer, and an atomic, which is a store, too. */
static void touch(int client, int event, bool writes)
{
	struct raw_lane lane;
	uint32_t device;

	assert_int_equal(raw_open(client, "maple0", &device), 0);
	assert_int_equal(raw_lane(client, 0, 0, &lane), 0);
	lane.event_fd = event;
	raw_post(&lane, (uint64_t[]){
		word(MIMIC_COMMAND_LOAD, device, AT(INIT, WORDS_32), 4),
		word(MIMIC_COMMAND_LOAD, device, AT(OPEN_PRODUCER, 0), 4),
		word(MIMIC_COMMAND_STORE, device, AT(SET_BASE32, 0), 8), ADDRESS + PAGES(1),
		word(MIMIC_COMMAND_STORE, device, writes ? AT(ATOMIC_ADD, 0) : AT(FULL_POINTER32, 0), 8),
		writes ? 1 : ADDRESS + PAGES(1) }, 6);
	raw_lane_unmap(&lane);
}

static void expect_no_page_for_a_hole(bool writes)
{
	int event, client = raw_client_with_event(protocol_served.socket, &event);
	int fd = protocol_memfd(PAGES(4), F_SEAL_SHRINK);
	struct stat status;

	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(4), 0), 0);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGES(1), PAGES(2)), 0);
	touch(client, event, writes);
	protocol_expect_end(client);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_blocks, PAGES(2) / 512);
	assert_true(served_said(&protocol_served, "memory that it shares has holes"));
	protocol_expect_served();
	close(event);
	close(fd);
}

static void a_hole_that_is_punched_later_costs_the_client_its_session(void **state)
{
	(void)state;
	if (!has_userfaultfd())
		skip();
	expect_no_page_for_a_hole(false);
	expect_no_page_for_a_hole(true);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, protocol_start, protocol_end)
	const struct CMUnitTest tests[] = {
		TEST(only_sealed_memfds_are_taken_as_memory),
		TEST(ranges_that_cannot_be_are_refused),
		TEST(memory_with_holes_is_refused),
		TEST(a_hole_that_is_punched_later_costs_the_client_its_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
