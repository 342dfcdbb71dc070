/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The message TRACE: a session's spool, and the misuse of it by its program. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/spool.h"
#include "mimic/command.h"
#include "mimic/maple_registers.h"
#include "tests/lib/protocol_fixture.h"

#define CHUNKS 8
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static int request(int client, enum mimic_message_type type, int fd)
{
	struct mimic_message message, reply;

	memset(&message, 0, sizeof(message));
	return raw_request(client, &message, sizeof(message), type, fd, &reply, sizeof(reply), NULL);
}

static int trace(int client, int fd)
{
	return request(client, MIMIC_MESSAGE_TRACE, fd);
}

static int make_spool(int seals)
{
	int fd = memfd_create("spool", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(mimic_spool_create(fd, CHUNKS * MIMIC_SPOOL_CHUNK), 0);
	assert_int_equal(fallocate(fd, 0, 0, CHUNKS * MIMIC_SPOOL_CHUNK), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static struct mimic_spool_header *map_spool(int fd)
{
	void *address = mmap(NULL, CHUNKS * MIMIC_SPOOL_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(address, MAP_FAILED);
	return address;
}

/* Loads of IDENTIFY. The lane is dropped when all are answered. */
static void load_words(int client, int event_fd, uint32_t device, unsigned int count)
{
	const struct mimic_command command = {
		.kind = MIMIC_COMMAND_LOAD, .device = (uint8_t)device, .size = 8,
		.offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), .count = 1,
	};
	const uint64_t word = mimic_command_pack(&command);
	struct raw_lane lane;
	uint64_t answer;

	assert_int_equal(raw_lane(client, 0, 0, &lane), 0);
	lane.event_fd = event_fd;
	for (unsigned int i = 0; i < count; i++) {
		raw_post(&lane, &word, 1);
		assert_true(raw_answer(&lane, &answer));
	}
	raw_lane_unmap(&lane);
}

static unsigned int count_events(const struct mimic_spool_header *header)
{
	const struct mimic_trace_event *event = (const struct mimic_trace_event *)header;
	unsigned int count = 0;

	for (size_t i = MIMIC_SPOOL_EVENTS; i < CHUNKS * MIMIC_SPOOL_EVENTS; i++)
		count += i % MIMIC_SPOOL_EVENTS && __atomic_load_n(&event[i].kind, __ATOMIC_ACQUIRE);
	return count;
}

static void only_sealed_spools_are_taken(void **state)
{
	int client = raw_client(protocol_served.socket);
	int before = served_descriptors(&protocol_served);
	int good = make_spool(F_SEAL_SHRINK), unsealed = make_spool(F_SEAL_GROW);
	int unwritable = make_spool(F_SEAL_SHRINK | F_SEAL_WRITE);
	int none = protocol_memfd(CHUNKS * MIMIC_SPOOL_CHUNK, F_SEAL_SHRINK);
	int small = protocol_memfd(100, F_SEAL_SHRINK);
	int file = open(protocol_served.log, O_RDWR | O_CLOEXEC);

	(void)state;
	assert_int_equal(trace(client, -1), -EINVAL);
	assert_int_equal(trace(client, file), -EINVAL);
	assert_int_equal(trace(client, unsealed), -EPERM);
	assert_int_equal(trace(client, unwritable), -EPERM);
	assert_int_equal(trace(client, none), -EINVAL);
	assert_int_equal(trace(client, small), -EINVAL);
	assert_int_equal(trace(client, good), 0);
	assert_int_equal(trace(client, good), -EALREADY);
	protocol_expect_descriptors(before);
	close(good);
	close(unsealed);
	close(unwritable);
	close(none);
	close(small);
	close(file);
	close(client);
	protocol_expect_served();
}

static void the_kernels_devices_cannot_be_traced_where_there_are_none(void **state)
{
	int client = raw_client(protocol_served.socket);
	int fd = make_spool(F_SEAL_SHRINK);

	(void)state;
	assert_int_equal(request(client, MIMIC_MESSAGE_TRACE_BUS, fd), -EOPNOTSUPP);
	/* That was no trace. */
	assert_int_equal(trace(client, fd), 0);
	close(fd);
	close(client);
}

static void the_work_of_a_session_is_in_its_spool(void **state)
{
	int event_fd, client = raw_client_with_event(protocol_served.socket, &event_fd);
	int fd = make_spool(F_SEAL_SHRINK);
	struct mimic_spool_header *header = map_spool(fd);
	uint32_t device;

	(void)state;
	assert_int_equal(trace(client, fd), 0);
	assert_int_equal(raw_open(client, "maple0", &device), 0);
	assert_string_equal(header->device[0].name, "maple0");
	assert_int_equal(header->device[0].pid, getpid());
	assert_int_equal(atomic_load(&header->device[0].is_open), 1);
	load_words(client, event_fd, device, 20);
	assert_int_equal(count_events(header), 20);
	assert_int_equal(raw_number(client, MIMIC_MESSAGE_CLOSE, device), 0);
	assert_int_equal(atomic_load(&header->device[0].is_open), 0);
	munmap(header, CHUNKS * MIMIC_SPOOL_CHUNK);
	close(fd);
	close(event_fd);
	close(client);
}

static void the_work_of_other_sessions_is_not_in_it(void **state)
{
	int event_fd, client = raw_client_with_event(protocol_served.socket, &event_fd);
	int other_fd, other = raw_client_with_event(protocol_served.socket, &other_fd);
	int fd = make_spool(F_SEAL_SHRINK);
	struct mimic_spool_header *header = map_spool(fd);
	uint32_t device, others;
	unsigned int before;

	(void)state;
	assert_int_equal(trace(client, fd), 0);
	assert_int_equal(raw_open(client, "maple0", &device), 0);
	assert_int_equal(raw_open(other, "maple1", &others), 0);
	load_words(other, other_fd, others, 5);
	assert_int_equal(count_events(header), 0);
	/* The same device, when it is somebody else's. */
	assert_int_equal(raw_number(client, MIMIC_MESSAGE_CLOSE, device), 0);
	before = count_events(header);
	assert_int_equal(raw_open(other, "maple0", &others), 0);
	load_words(other, other_fd, others, 5);
	assert_int_equal(count_events(header), before);
	munmap(header, CHUNKS * MIMIC_SPOOL_CHUNK);
	close(fd);
	close(other_fd);
	close(other);
	close(event_fd);
	close(client);
}

static void a_program_that_damages_its_spool_hurts_nobody(void **state)
{
	static const uint64_t claims[] = { 0, 1, CHUNKS, UINT64_MAX / 65536, UINT64_MAX };
	int event_fd, client = raw_client_with_event(protocol_served.socket, &event_fd);
	int fd = make_spool(F_SEAL_SHRINK);
	struct mimic_spool_header *header = map_spool(fd);
	uint32_t device;

	(void)state;
	assert_int_equal(trace(client, fd), 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(raw_open(client, "maple0", &device), 0);
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		memset(header, 0xff, sizeof(*header));
		atomic_store(&header->claimed, claims[i]);
		load_words(client, event_fd, device, 2 * MIMIC_SPOOL_EVENTS);
	}
	munmap(header, CHUNKS * MIMIC_SPOOL_CHUNK);
	close(fd);
	close(event_fd);
	close(client);
	protocol_expect_served();
}

/* Pages that the daemon made in their place would be the daemon's to pay: of each session as many as it has had. */
static void a_spool_with_holes_ends_the_session_and_gets_no_pages(void **state)
{
	int userfaultfd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	int event_fd, client = raw_client_with_event(protocol_served.socket, &event_fd);
	int fd = make_spool(F_SEAL_SHRINK);
	struct stat status;
	uint32_t device;

	(void)state;
	if (userfaultfd < 0)
		skip();
	close(userfaultfd);
	assert_int_equal(raw_open(client, "maple0", &device), 0);
	assert_int_equal(trace(client, fd), 0);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, CHUNKS * MIMIC_SPOOL_CHUNK), 0);
	/* Its trace is told of the device. */
	raw_open(client, "maple1", &device);
	protocol_expect_end(client);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_blocks, 0);
	assert_true(served_said(&protocol_served, "memory that it shares has holes"));
	close(fd);
	close(event_fd);
	protocol_expect_served();
}

static void a_session_that_ends_leaves_nothing(void **state)
{
	int fd = make_spool(F_SEAL_SHRINK);
	uint32_t device;

	(void)state;
	for (int i = 0; i < 20; i++) {
		int event_fd, client = raw_client_with_event(protocol_served.socket, &event_fd);

		assert_int_equal(trace(client, fd), 0);
		assert_int_equal(raw_open(client, "maple0", &device), 0);
		load_words(client, event_fd, device, 3);
		close(event_fd);
		close(client);
	}
	close(fd);
	protocol_expect_served();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, protocol_start, protocol_end)
	const struct CMUnitTest tests[] = {
		TEST(only_sealed_spools_are_taken),
		TEST(the_kernels_devices_cannot_be_traced_where_there_are_none),
		TEST(the_work_of_a_session_is_in_its_spool),
		TEST(the_work_of_other_sessions_is_not_in_it),
		TEST(a_program_that_damages_its_spool_hurts_nobody),
		TEST(a_spool_with_holes_ends_the_session_and_gets_no_pages),
		TEST(a_session_that_ends_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
