/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory that programs of other users share with a daemon of root keeps its pages: a thread that accesses
 * a page while others are punched out sleeps in the kernel (man 2 fallocate; man 2 ioctl_iflags: nobody can
 * change immutable files).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/protocol_fixture.h"

#define NOBODY 65534u
#define ADDRESS 0x10000000ull
#define AT(operation, field) ((operation) << 3 | (field) << 9)
enum { INIT = 0, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CONSUME = 7, FULL_POINTER32 = 16, WORDS_32 = 2 };
#define PAGES(n) ((n) * 4096ull)
#define PUNCH (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)
/* In a child, whose exit status says where it went wrong. */
#define CHECK(condition) do { if (!(condition)) return __LINE__; } while (0)

static int start(void **state)
{
	(void)state;
	alarm(120);
	protocol_served.virgos = 1;
	return served_start(&protocol_served, PROTOCOL_DEVICES, true) ? 0 : -1;
}

/* By the test itself: needs root, CAP_LINUX_IMMUTABLE, CAP_FOWNER, and a kernel whose tmpfs knows the flag. */
static bool can_be_fixed(void)
{
	int fd = memfd_create("try", MFD_CLOEXEC), flags = 0;
	bool can = !geteuid() && !fchown(fd, NOBODY, NOBODY) && !ioctl(fd, FS_IOC_GETFLAGS, &flags);

	flags |= FS_IMMUTABLE_FL;
	can = can && !ioctl(fd, FS_IOC_SETFLAGS, &flags) && !ioctl(fd, FS_IOC_GETFLAGS, &flags) && flags & FS_IMMUTABLE_FL;
	close(fd);
	if (!can)
		print_message("not root, or memfds cannot be made immutable here\n");
	return can;
}

static pid_t begin_as_nobody(int (*function)(int fd), int fd)
{
	pid_t child = fork();

	if (child)
		return child;
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		_exit(1);
	fd = function(fd);
	if (fd)
		fprintf(stderr, "line %d failed\n", fd);
	_exit(fd ? 1 : 0);
}

static int end_of(pid_t child)
{
	int status;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int as_nobody(int (*function)(int fd))
{
	return end_of(begin_as_nobody(function, -1));
}

static bool is_refused(int result)
{
	return result == -1 && errno == EPERM;
}

/* By its descriptor, and by a mapping. */
static bool keeps_pages(int fd, void *mapping, size_t size)
{
	return is_refused(fallocate(fd, PUNCH, 0, (off_t)size)) && is_refused(madvise(mapping, size, MADV_REMOVE));
}

static uint64_t word(enum mimic_command_kind kind, uint32_t device, unsigned int offset, unsigned int size)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = kind, .device = (uint8_t)device,
		.size = (uint8_t)size, .offset = (uint16_t)offset, .count = 1 });
}

/* Has the client's device read the value at an address. */
static int read_by_device(int client, int event, uint64_t address, uint64_t *value)
{
	struct raw_lane lane;
	uint32_t device;

	CHECK(!raw_open(client, "maple", &device) && !raw_lane(client, 0, 0, &lane));
	lane.event_fd = event;
	raw_post(&lane, (uint64_t[]){
		word(MIMIC_COMMAND_LOAD, device, AT(INIT, WORDS_32), 4),
		word(MIMIC_COMMAND_LOAD, device, AT(OPEN_PRODUCER, 0), 4),
		word(MIMIC_COMMAND_LOAD, device, AT(OPEN_CONSUMER, 0), 4),
		word(MIMIC_COMMAND_STORE, device, AT(FULL_POINTER32, 0), 8), address,
		word(MIMIC_COMMAND_LOAD, device, AT(CONSUME, 0), 4) }, 6);
	for (int i = 0; i < 4; i++)
		CHECK(raw_answer(&lane, value));
	raw_lane_unmap(&lane);
	return 0;
}

static int share_and_punch(int unused)
{
	int event, client = raw_client_with_event(protocol_served.socket, &event);
	int fd = protocol_memfd(PAGES(4), F_SEAL_SHRINK), other, other_event;
	uint32_t *memory = mmap(NULL, PAGES(4), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *again;
	uint64_t value;

	(void)unused;
	CHECK(memory != MAP_FAILED);
	memory[1025] = 0x600d600d;
	CHECK(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(4), 0) == 0);
	CHECK(keeps_pages(fd, memory, PAGES(4)));
	CHECK(!read_by_device(client, event, ADDRESS + 4100, &value) && value == 0x600d600d);
	/* It goes on as memory, also in another session. */
	again = mmap(NULL, PAGES(4), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(again != MAP_FAILED);
	again[1025] = 0x12345678;
	other = raw_client_with_event(protocol_served.socket, &other_event);
	CHECK(raw_memory(other, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(4), 0) == 0);
	CHECK(!read_by_device(other, other_event, ADDRESS + 4100, &value) && value == 0x12345678);
	CHECK(keeps_pages(fd, again, PAGES(4)));
	CHECK(raw_memory(client, MIMIC_MESSAGE_MEMORY_REMOVE, -1, ADDRESS, PAGES(4), 0) == 0);
	CHECK(keeps_pages(fd, memory, PAGES(4)));
	return 0;
}

static int punch_a_lane(int unused)
{
	int client = raw_client(protocol_served.socket), fd;
	struct mimic_lane_request request = { .level = 0 };
	struct mimic_lane_reply reply;
	size_t size;
	void *memory;

	(void)unused;
	CHECK(!raw_request(client, &request, sizeof(request), MIMIC_MESSAGE_LANE, -1, &reply, sizeof(reply), &fd));
	size = mimic_lane_size(reply.command_words, reply.response_words);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED && keeps_pages(fd, memory, size));
	return 0;
}

static int punch_a_device(int unused)
{
	int client = raw_client(protocol_served.socket), fd;
	struct mimic_open request = { .name = "virgo0" };
	struct mimic_open_reply reply;
	char *memory;

	(void)unused;
	CHECK(!raw_request(client, &request, sizeof(request), MIMIC_MESSAGE_OPEN, -1, &reply, sizeof(reply), &fd));
	memory = mmap(NULL, reply.memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	memory[5] = 77;
	CHECK(keeps_pages(fd, memory, reply.memory_size) && memory[5] == 77);
	return 0;
}

static int add_it(int fd)
{
	int client = raw_client(protocol_served.socket);

	CHECK(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(4), 0) == 0);
	CHECK(is_refused(fallocate(fd, PUNCH, 0, PAGES(4))));
	return 0;
}

static int add_refused(int fd)
{
	int client = raw_client(protocol_served.socket);

	CHECK(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(4), 0) == -EPERM);
	return 0;
}

static void memory_that_a_program_shares_cannot_be_punched_out(void **state)
{
	(void)state;
	if (!can_be_fixed())
		skip();
	assert_int_equal(as_nobody(share_and_punch), 0);
	protocol_expect_served();
}

static void memory_that_the_daemon_gives_away_cannot_be_punched_out(void **state)
{
	(void)state;
	if (!can_be_fixed())
		skip();
	assert_int_equal(as_nobody(punch_a_lane), 0);
	assert_int_equal(as_nobody(punch_a_device), 0);
}

/* The daemon serves users that it trusts as before: they may punch. */
static void memory_of_root_stays_as_it_is(void **state)
{
	int client = raw_client(protocol_served.socket), fd = protocol_memfd(PAGES(4), F_SEAL_SHRINK);

	(void)state;
	assert_int_equal(raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, ADDRESS, PAGES(4), 0), 0);
	assert_int_equal(fallocate(fd, PUNCH, 0, PAGES(1)), 0);
	close(fd);
	close(client);
}

/* Root's file, and one that can only be read: that they become immutable is no choice of the program's. */
static void files_of_others_are_refused_and_stay_as_they_are(void **state)
{
	int fd = protocol_memfd(PAGES(4), F_SEAL_SHRINK), reader;
	char path[32];

	(void)state;
	if (!can_be_fixed())
		skip();
	assert_int_equal(end_of(begin_as_nobody(add_refused, fd)), 0);
	assert_int_equal(fchown(fd, NOBODY, NOBODY), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(end_of(begin_as_nobody(add_refused, reader)), 0);
	assert_int_equal(fallocate(fd, PUNCH, 0, PAGES(1)), 0);
	close(reader);
	close(fd);
}

/* A program that has the file's lock for as long as it likes: its write waits for a page that nobody brings. */
static pid_t hold_lock(int fd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);	/* is there one? */
	void *page = mmap(NULL, PAGES(1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (faults < 0)
		return -1;
	child = fork();
	if (child) {
		close(faults);
		return child;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A child does not have its parent's. */
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (uintptr_t)page;
	range.range.len = PAGES(1);
	if (!ioctl(faults, UFFDIO_API, &api) && !ioctl(faults, UFFDIO_REGISTER, &range))
		(void)!pwrite(fd, page, PAGES(1), 0);
	_exit(1);
}

static void a_file_whose_lock_is_held_holds_up_its_program_only(void **state)
{
	int fd = protocol_memfd(PAGES(4), F_SEAL_SHRINK);
	pid_t holder, program;

	(void)state;
	if (!can_be_fixed())
		skip();
	assert_int_equal(fchown(fd, NOBODY, NOBODY), 0);
	holder = hold_lock(fd);
	if (holder < 0)
		skip();
	test_sleep_ms(200);
	program = begin_as_nobody(add_it, fd);
	test_sleep_ms(300);
	assert_int_equal(waitpid(program, NULL, WNOHANG), 0);
	protocol_expect_served();
	assert_int_equal(as_nobody(share_and_punch), 0);
	/* Nor does it end the daemon's sleep. */
	assert_true(served_cpu_ns(&protocol_served) < 1000000000);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	assert_int_equal(end_of(program), 0);
	close(fd);
}

/* The program is gone first. */
static void a_program_may_end_meanwhile(void **state)
{
	int fd = protocol_memfd(PAGES(4), F_SEAL_SHRINK), before;
	pid_t holder, program;

	(void)state;
	if (!can_be_fixed())
		skip();
	before = served_descriptors(&protocol_served);
	assert_int_equal(fchown(fd, NOBODY, NOBODY), 0);
	holder = hold_lock(fd);
	if (holder < 0)
		skip();
	test_sleep_ms(200);
	program = begin_as_nobody(add_it, fd);
	test_sleep_ms(300);
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	protocol_expect_served();
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	protocol_expect_served();
	protocol_expect_descriptors(before);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, protocol_end)
	const struct CMUnitTest tests[] = {
		TEST(memory_that_a_program_shares_cannot_be_punched_out),
		TEST(memory_that_the_daemon_gives_away_cannot_be_punched_out),
		TEST(memory_of_root_stays_as_it_is),
		TEST(files_of_others_are_refused_and_stay_as_they_are),
		TEST(a_file_whose_lock_is_held_holds_up_its_program_only),
		TEST(a_program_may_end_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
