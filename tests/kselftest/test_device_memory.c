/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory of a device: the arguments of REGISTER, the mappings, and the view of both sides when the other
 * one, the device or the driver goes. The daemon is a scripted one.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "mimic/virgo_ioctl.h"
#include "mimic/virgo_registers.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/time_scale.h"
#include "tests/kselftest/lib/window.h"

#define SIZE (16 * PAGE)
#define WORDS (SIZE / 8)

FIXTURE(device)
{
	struct fake_daemon *daemon;
	volatile uint64_t *memory;	/* the program's mapping */
	int fd;
};

static volatile uint64_t *map_memory(int fd)
{
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, VIRGO_SHARED_OFFSET);

	return memory == MAP_FAILED ? NULL : memory;
}

FIXTURE_SETUP(device)
{
	struct fake_options options = { .channel = FAKE_URING, .memory_size = SIZE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->memory = map_memory(self->fd);
	ASSERT_NE(NULL, self->memory);
}

FIXTURE_TEARDOWN(device)
{
	munmap((void *)(uintptr_t)self->memory, SIZE);
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

/* --- in the daemon ------------------------------------------------------------ */

/* The daemon's mapping: the last one. */
static volatile uint64_t *daemons;
static size_t daemons_size;

struct word {
	uint64_t number, value;
};

static long call_map(struct fake_self *self, void *argument)
{
	const uint64_t *offset_and_size = argument;
	void *memory = mmap(NULL, offset_and_size[1], PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
			    (off_t)offset_and_size[0]);

	if (memory == MAP_FAILED)
		return -errno;
	if (daemons)
		munmap((void *)(uintptr_t)daemons, daemons_size);
	daemons = memory;
	daemons_size = offset_and_size[1];
	return 0;
}

static long call_get(struct fake_self *self, void *argument)
{
	struct word *word = argument;

	(void)self;
	word->value = daemons[word->number];
	return 0;
}

static long call_put(struct fake_self *self, void *argument)
{
	const struct word *word = argument;

	(void)self;
	daemons[word->number] = word->value;
	return 0;
}

/* 0 or -errno. */
static int daemon_maps(struct fake_daemon *daemon, uint64_t offset, uint64_t size)
{
	uint64_t argument[2] = { offset, size };

	return (int)fake_daemon_call(daemon, call_map, argument, sizeof(argument));
}

static int daemon_maps_its_own(struct fake_daemon *daemon)
{
	return daemon_maps(daemon, MIMIC_BUS_MEMORY(daemon->control->device), SIZE);
}

static uint64_t daemon_get(struct fake_daemon *daemon, uint64_t number)
{
	struct word word = { number, ~0ull };

	fake_daemon_call(daemon, call_get, &word, sizeof(word));
	return word.value;
}

static long daemon_put(struct fake_daemon *daemon, uint64_t number, uint64_t value)
{
	struct word word = { number, value };

	return fake_daemon_call(daemon, call_put, &word, sizeof(word));
}

static uint64_t nonzero_words(const volatile uint64_t *memory)
{
	uint64_t found = 0;

	for (unsigned int i = 0; i < WORDS; i++)
		found += memory[i] != 0;
	return found;
}

/* --- memory and its size -------------------------------------------------------- */

TEST_F(device, both_sides_see_the_same_memory)
{
	ASSERT_EQ(0, daemon_maps_its_own(self->daemon));
	EXPECT_EQ(0, nonzero_words(self->memory));
	for (unsigned int i = 0; i < WORDS; i += 97)
		self->memory[i] = i + 1;
	for (unsigned int i = 0; i < WORDS; i += 97)
		EXPECT_EQ(i + 1, daemon_get(self->daemon, i));
	EXPECT_EQ(0, daemon_put(self->daemon, WORDS - 1, 4711));
	EXPECT_EQ(4711, self->memory[WORDS - 1]);
	/* No access of these was a request. */
	EXPECT_EQ(0, self->daemon->control->loads + self->daemon->control->stores);
}

TEST_F(device, info_tells_its_size)
{
	struct virgo_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, ioctl(self->fd, VIRGO_IOCTL_INFO, &info));
	EXPECT_EQ(SIZE, info.shared_size);
	EXPECT_EQ(VIRGO_PAGE_COUNT, info.pages);
	EXPECT_EQ(VIRGO_ABI_VERSION, info.version);
	EXPECT_EQ((uint64_t)VIRGO_MAGIC << 32 | VIRGO_VERSION << 24 | VIRGO_UNITS_MAX, info.identify);
	EXPECT_EQ(SIZE, memory_number("/sys/bus/mimic/devices/virgo0/shared_size"));
	EXPECT_EQ(VIRGO_UNITS_MAX, memory_number("/sys/bus/mimic/devices/virgo0/units"));
	EXPECT_EQ((unsigned long)getpid(), memory_number("/sys/bus/mimic/devices/virgo0/holder"));
}

TEST_F(device, sizes_that_register_refuses)
{
	static const unsigned int sizes[] = { 1, PAGE - 1, PAGE + 8, MIMIC_BUS_MEMORY_MAX + PAGE, ~0u, 1u << 31 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct fake_options options = {
			.channel = FAKE_READ_WRITE, .kind = "with", .memory_size = sizes[i],
			.without_node = true, .pages = 1,
		};

		EXPECT_EQ(NULL, fake_daemon_start(&options));
		EXPECT_EQ(EINVAL, errno);
	}
}

TEST_F(device, a_driver_takes_no_device_without_the_memory_that_it_needs)
{
	struct fake_options options = {
		.channel = FAKE_READ_WRITE, .kind = "virgo", .pages = 2, .without_node = true,
	};
	struct fake_daemon *other = fake_daemon_start(&options);

	ASSERT_NE(NULL, other);
	usleep(50000 * time_scale());
	EXPECT_NE(0, access("/dev/virgo1", F_OK));
	fake_daemon_stop(other);
}

/* --- mappings --------------------------------------------------------------------- */

static int map_error(int fd, size_t size, int protection, int flags, off_t offset)
{
	void *memory = mmap(NULL, size, protection, flags, fd, offset);

	if (memory == MAP_FAILED)
		return errno;
	munmap(memory, size);
	return 0;
}

TEST_F(device, mappings_of_a_program)
{
	const int both = PROT_READ | PROT_WRITE;
	const off_t base = VIRGO_SHARED_OFFSET;
	int reader;

	EXPECT_EQ(0, map_error(self->fd, PAGE, both, MAP_SHARED, base));
	EXPECT_EQ(0, map_error(self->fd, PAGE, PROT_READ, MAP_SHARED, base + SIZE - PAGE));
	EXPECT_EQ(EINVAL, map_error(self->fd, PAGE, both, MAP_SHARED, base + SIZE));
	EXPECT_EQ(EINVAL, map_error(self->fd, SIZE, both, MAP_SHARED, base + PAGE));
	EXPECT_EQ(EINVAL, map_error(self->fd, SIZE + 1, both, MAP_SHARED, base));
	EXPECT_EQ(EINVAL, map_error(self->fd, PAGE, both, MAP_SHARED, base - PAGE));
	EXPECT_EQ(EINVAL, map_error(self->fd, PAGE, both, MAP_SHARED, 2 * PAGE));
	EXPECT_EQ(EINVAL, map_error(self->fd, PAGE, both, MAP_PRIVATE, base));
	EXPECT_EQ(EINVAL, map_error(self->fd, PAGE, both | PROT_EXEC, MAP_SHARED, base));
	EXPECT_NE(0, mprotect((void *)(uintptr_t)self->memory, PAGE, both | PROT_EXEC));
	reader = open(self->daemon->node, O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(0, map_error(reader, PAGE, PROT_READ, MAP_SHARED, base));
	EXPECT_EQ(EACCES, map_error(reader, PAGE, both, MAP_SHARED, base));
	close(reader);
}

TEST_F(device, mappings_of_the_daemon)
{
	uint32_t device = self->daemon->control->device;
	uint64_t base = MIMIC_BUS_MEMORY(device);

	EXPECT_EQ(0, daemon_maps(self->daemon, base, SIZE));
	EXPECT_EQ(-EINVAL, daemon_maps(self->daemon, base + PAGE, SIZE));
	EXPECT_EQ(-EINVAL, daemon_maps(self->daemon, base, MIMIC_BUS_MEMORY_MAX));
	EXPECT_EQ(-EINVAL, daemon_maps(self->daemon, base + SIZE, PAGE));
	EXPECT_EQ(-ENOENT, daemon_maps(self->daemon, MIMIC_BUS_MEMORY(device + 1), PAGE));
	EXPECT_EQ(-ENOENT, daemon_maps(self->daemon, MIMIC_BUS_MEMORY(0), PAGE));
	EXPECT_EQ(-ENOENT, daemon_maps(self->daemon, MIMIC_BUS_MEMORY(0) - PAGE, PAGE));
	EXPECT_EQ(-ENOENT, daemon_maps(self->daemon, MIMIC_BUS_WINDOW(1) - PAGE, PAGE));
}

TEST_F(device, another_daemon_cannot_map_it)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE, .without_device = true };
	struct fake_daemon *other = fake_daemon_start(&options);

	ASSERT_NE(NULL, other);
	EXPECT_EQ(-ENOENT, daemon_maps(other, MIMIC_BUS_MEMORY(self->daemon->control->device), SIZE));
	fake_daemon_stop(other);
}

TEST_F(device, parts_of_a_mapping_move_and_go_as_of_any_memory)
{
	volatile uint64_t *moved;
	char *place = memory_map(2 * PAGE);

	for (unsigned int i = 0; i < WORDS; i++)
		self->memory[i] = i;
	moved = mremap((char *)(uintptr_t)self->memory + 4 * PAGE, 2 * PAGE, 2 * PAGE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, place);
	ASSERT_EQ((void *)place, (void *)(uintptr_t)moved);
	EXPECT_EQ(4 * PAGE / 8, moved[0]);
	EXPECT_EQ(6 * PAGE / 8 - 1, moved[2 * PAGE / 8 - 1]);
	EXPECT_EQ(6 * PAGE / 8, self->memory[6 * PAGE / 8]);
	EXPECT_EQ(0, madvise((void *)(uintptr_t)self->memory, PAGE, MADV_DONTNEED));
	EXPECT_EQ(7, self->memory[7]);
	EXPECT_EQ(MAP_FAILED, mremap((void *)(uintptr_t)moved, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE));
	munmap(place, 2 * PAGE);
}

TEST_F(device, system_calls_use_it_as_any_memory)
{
	struct iovec here = { (void *)(uintptr_t)self->memory, 64 };
	char text[] = "through a pipe", copy[sizeof(text)] = "";
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	EXPECT_EQ((ssize_t)sizeof(text), write(ends[1], text, sizeof(text)));
	EXPECT_EQ((ssize_t)sizeof(text), read(ends[0], here.iov_base, sizeof(text)));
	EXPECT_EQ((ssize_t)sizeof(text), write(ends[1], here.iov_base, sizeof(text)));
	EXPECT_EQ((ssize_t)sizeof(text), read(ends[0], copy, sizeof(copy)));
	EXPECT_EQ(0, strcmp(text, copy));
	/* As a debugger does. */
	memset(copy, 0, sizeof(copy));
	EXPECT_EQ((ssize_t)sizeof(text),
		  process_vm_readv(getpid(), &(struct iovec){ copy, sizeof(text) }, 1, &here, 1, 0));
	EXPECT_EQ(0, strcmp(text, copy));
	close(ends[0]);
	close(ends[1]);
}

/* --- as memory of the program, for the device -------------------------------------- */

TEST_F(device, a_window_shows_it_once_it_is_touched)
{
	uint64_t value = 0;

	/* As of any memory: not there, until somebody brings it in. */
	EXPECT_EQ(-EFAULT, fake_window_read(self->daemon, &self->memory[5], &value, sizeof(value)));
	self->memory[5] = 55;
	EXPECT_EQ(0, fake_window_read(self->daemon, &self->memory[5], &value, sizeof(value)));
	EXPECT_EQ(55, value);
	value = 56;
	EXPECT_EQ(0, fake_window_write(self->daemon, &self->memory[5], &value, sizeof(value)));
	EXPECT_EQ(56, self->memory[5]);
	ASSERT_EQ(0, daemon_maps_its_own(self->daemon));
	EXPECT_EQ(56, daemon_get(self->daemon, 5));
}

TEST_F(device, a_fault_of_the_device_brings_it_in)
{
	volatile uint64_t *place = &self->memory[3 * PAGE / 8];
	uint64_t value = 1234;

	self->daemon->control->fault_word = (uintptr_t)place | VIRGO_FAULT_STALLED | VIRGO_FAULT_WRITES | 5;
	ASSERT_EQ(0, fake_daemon_interrupt(self->daemon, 0));
	ASSERT_TRUE(fake_wait(&self->daemon->control->resolves, 1));
	EXPECT_EQ(VIRGO_RESOLVE_PRESENT | 5, self->daemon->control->last_resolve);
	EXPECT_EQ(0, fake_window_write(self->daemon, place, &value, sizeof(value)));
	EXPECT_EQ(1234, self->memory[3 * PAGE / 8]);
}

TEST_F(device, memory_that_is_unmapped_leaves_the_window_too)
{
	uint64_t value = 0;

	self->memory[0] = 1;
	ASSERT_EQ(0, window_map(self->daemon, self->memory, PAGE));
	EXPECT_EQ(0, window_get(self->daemon, self->memory, &value));
	EXPECT_EQ(1, value);
	munmap((void *)(uintptr_t)self->memory, PAGE);
	EXPECT_EQ(WINDOW_ABSENT, window_get(self->daemon, self->memory, &value));
	window_unmap(self->daemon);
}

/* --- whose it is ---------------------------------------------------------------------- */

static sigjmp_buf back;

static void jump(int number)
{
	siglongjmp(back, number);
}

static int signal_of(const volatile uint64_t *place)
{
	int number;

	signal(SIGBUS, jump);
	number = sigsetjmp(back, 1);
	if (!number)
		(void)*place;
	signal(SIGBUS, SIG_DFL);
	return number;
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

TEST_F(device, a_child_has_not_got_it)
{
	pid_t child;

	self->memory[0] = 1;
	child = fork();
	if (!child)
		_exit(signal_of(self->memory) != SIGBUS || signal_of(self->memory + WORDS - 1) != SIGBUS ||
		      map_error(self->fd, PAGE, PROT_READ, MAP_SHARED, VIRGO_SHARED_OFFSET) != ENODEV);
	EXPECT_EQ(0, status_of(child));
	EXPECT_EQ(0, signal_of(self->memory));
}

/* Opens and maps it as another process would: the number of words that are not 0, or 255. */
static int words_of_next_process(const char *node)
{
	int fd = open(node, O_RDWR | O_CLOEXEC);
	volatile uint64_t *memory = fd < 0 ? NULL : map_memory(fd);
	uint64_t words;

	if (!memory)
		return 255;
	words = nonzero_words(memory);
	for (unsigned int i = 0; i < WORDS; i++)
		memory[i] = 0x77;
	return words ? 1 : 0;
}

TEST_F(device, the_next_process_finds_zeros)
{
	pid_t child;

	for (unsigned int i = 0; i < WORDS; i++)
		self->memory[i] = 0x1111;
	child = fork();
	if (!child)
		_exit(words_of_next_process(self->daemon->node));
	EXPECT_EQ(255, WEXITSTATUS(status_of(child)));
	EXPECT_EQ(0x1111, self->memory[WORDS - 1]);
	munmap((void *)(uintptr_t)self->memory, SIZE);
	close(self->fd);
	for (int i = 0; i < 2; i++) {
		child = fork();
		if (!child)
			_exit(words_of_next_process(self->daemon->node));
		EXPECT_EQ(0, status_of(child));
	}
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	self->memory = map_memory(self->fd);
	ASSERT_NE(NULL, self->memory);
	EXPECT_EQ(0, nonzero_words(self->memory));
}

/* A pipe holds a page of it; so would a registered buffer, or a disk that still reads. */
TEST_F(device, a_page_that_the_last_process_still_holds_is_not_the_next_ones)
{
	struct iovec page = { (void *)(uintptr_t)self->memory, PAGE };
	uint64_t seen = 0;
	int ends[2];
	pid_t child;

	ASSERT_EQ(0, pipe(ends));
	self->memory[0] = 0x1111;
	ASSERT_EQ(PAGE, vmsplice(ends[1], &page, 1, 0));
	munmap((void *)(uintptr_t)self->memory, SIZE);
	close(self->fd);
	child = fork();
	if (!child)
		_exit(words_of_next_process(self->daemon->node));
	EXPECT_EQ(0, status_of(child));
	ASSERT_EQ((ssize_t)sizeof(seen), read(ends[0], &seen, sizeof(seen)));
	EXPECT_EQ(0x1111, seen);
	close(ends[0]);
	close(ends[1]);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	self->memory = map_memory(self->fd);
	ASSERT_NE(NULL, self->memory);
}

TEST_F(device, files_of_one_process_have_one_memory_and_it_stays)
{
	int second = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	volatile uint64_t *other = map_memory(second);

	ASSERT_NE(NULL, other);
	self->memory[9] = 99;
	EXPECT_EQ(99, other[9]);
	close(second);
	EXPECT_EQ(99, other[9]);
	munmap((void *)(uintptr_t)other, SIZE);
	EXPECT_EQ(99, self->memory[9]);
}

TEST_F(device, a_mapping_keeps_the_device_after_its_file_is_closed)
{
	pid_t child;

	self->memory[1] = 11;
	close(self->fd);
	child = fork();
	if (!child)
		_exit(words_of_next_process(self->daemon->node));
	EXPECT_EQ(255, WEXITSTATUS(status_of(child)));
	EXPECT_EQ(11, self->memory[1]);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	EXPECT_EQ(11, self->memory[1]);
}

/* --- ends -------------------------------------------------------------------------------- */

/* After the device was taken away: memory of the program's own, which nobody else sees. */
static void expect_own_memory(struct __test_metadata *_metadata, volatile uint64_t *memory)
{
	EXPECT_EQ(0, nonzero_words(memory));
	for (unsigned int i = 0; i < WORDS; i += 8)
		memory[i] = i + 3;
	for (unsigned int i = 0; i < WORDS; i += 8)
		EXPECT_EQ(i + 3, memory[i]);
}

TEST_F(device, a_dead_daemons_program_goes_on_with_memory_of_its_own)
{
	volatile uint64_t *fresh;
	int fd;

	for (unsigned int i = 0; i < WORDS; i++)
		self->memory[i] = 0x2222;
	fake_daemon_kill(self->daemon);
	/* Where io_uring held the node it is closed a moment later. */
	for (int i = 0; i < 5000 && self->memory[0]; i++)
		usleep(1000);
	expect_own_memory(_metadata, self->memory);
	ASSERT_EQ(0, fake_daemon_restart(self->daemon));
	fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	fresh = map_memory(fd);
	ASSERT_NE(NULL, fresh);
	ASSERT_EQ(0, daemon_maps_its_own(self->daemon));
	EXPECT_EQ(0, daemon_get(self->daemon, 0));
	EXPECT_EQ(0, nonzero_words(fresh));
	fresh[0] = 5;
	EXPECT_EQ(5, daemon_get(self->daemon, 0));
	EXPECT_EQ(3, self->memory[0]);
	munmap((void *)(uintptr_t)fresh, SIZE);
	close(fd);
}

TEST_F(device, the_next_daemon_may_give_it_another_size)
{
	static const unsigned int pages[] = { 4, 32, 16 };

	for (unsigned int i = 0; i < 3; i++) {
		struct virgo_info info = { .size = sizeof(info) };
		size_t size = pages[i] * PAGE;
		int fd;

		fake_daemon_kill(self->daemon);
		self->daemon->options.memory_size = (unsigned int)size;
		ASSERT_EQ(0, fake_daemon_restart(self->daemon));
		EXPECT_EQ(0, daemon_maps(self->daemon, MIMIC_BUS_MEMORY(self->daemon->control->device), size));
		fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
		ASSERT_EQ(0, ioctl(fd, VIRGO_IOCTL_INFO, &info));
		EXPECT_EQ(size, info.shared_size);
		EXPECT_EQ(0, map_error(fd, size, PROT_READ, MAP_SHARED, VIRGO_SHARED_OFFSET));
		EXPECT_EQ(EINVAL, map_error(fd, size + PAGE, PROT_READ, MAP_SHARED, VIRGO_SHARED_OFFSET));
		close(fd);
		/* The mapping of the first device's program has the size that it had. */
		self->memory[WORDS - 1] = i;
		EXPECT_EQ(i, self->memory[WORDS - 1]);
	}
}

TEST_F(device, a_removed_devices_memory_stays_with_the_process_that_maps_it)
{
	ASSERT_EQ(0, daemon_maps_its_own(self->daemon));
	self->memory[0] = 17;
	ASSERT_EQ(0, fake_daemon_unregister(self->daemon));
	EXPECT_EQ(-ENOENT, daemon_maps_its_own(self->daemon));
	EXPECT_EQ(17, daemon_get(self->daemon, 0));
	expect_own_memory(_metadata, self->memory);
	EXPECT_EQ(17, daemon_get(self->daemon, 0));
	EXPECT_EQ(0, daemon_put(self->daemon, 1, 18));
	EXPECT_EQ(0, self->memory[1]);
	ASSERT_EQ(0, fake_daemon_register(self->daemon));
	EXPECT_EQ(18, daemon_get(self->daemon, 1));
}

static int bind_driver(const char *what)
{
	char path[64];
	int fd, result;

	snprintf(path, sizeof(path), "/sys/bus/mimic/drivers/virgo/%s", what);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	result = write(fd, "virgo0", 6) == 6 ? 0 : -errno;
	close(fd);
	return result;
}

TEST_F(device, a_driver_that_leaves_takes_it_from_the_program)
{
	pid_t child;

	ASSERT_EQ(0, daemon_maps_its_own(self->daemon));
	self->memory[0] = 21;
	ASSERT_EQ(0, bind_driver("unbind"));
	expect_own_memory(_metadata, self->memory);
	ASSERT_EQ(0, bind_driver("bind"));
	child = fork();
	if (!child)
		_exit(words_of_next_process(self->daemon->node));
	EXPECT_EQ(0, status_of(child));
	EXPECT_EQ(21, daemon_get(self->daemon, 0));
	ASSERT_EQ(0, daemon_maps_its_own(self->daemon));
	EXPECT_EQ(0x77, daemon_get(self->daemon, 0));
	EXPECT_EQ(3, self->memory[0]);
	EXPECT_EQ(ENODEV, map_error(self->fd, PAGE, PROT_READ, MAP_SHARED, VIRGO_SHARED_OFFSET));
}

/* One thread touches all of it again and again while it is taken away. */
static void *touch(void *argument)
{
	volatile uint64_t *memory = argument;

	for (unsigned int i = 0; memory[0] != 1; i = (i + PAGE / 8) % WORDS) {
		madvise((char *)(uintptr_t)memory + PAGE, SIZE - PAGE, MADV_DONTNEED);
		memory[i + 1] = 0x5a;
	}
	return NULL;
}

TEST_F(device, nothing_a_program_writes_afterwards_reaches_the_device)
{
	pthread_t thread;

	for (int round = 0; round < 10; round++) {
		int fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
		volatile uint64_t *memory = map_memory(fd);

		ASSERT_NE(NULL, memory);
		ASSERT_EQ(0, daemon_maps_its_own(self->daemon));
		ASSERT_EQ(0, pthread_create(&thread, NULL, touch, (void *)(uintptr_t)memory));
		usleep(2000);
		ASSERT_EQ(0, bind_driver("unbind"));
		for (unsigned int i = 0; i < SIZE / PAGE; i++)
			daemon_put(self->daemon, i * PAGE / 8 + 1, 0);
		usleep(2000);
		for (unsigned int i = 0; i < SIZE / PAGE; i++)
			EXPECT_EQ(0, daemon_get(self->daemon, i * PAGE / 8 + 1));
		memory[0] = 1;
		pthread_join(thread, NULL);
		munmap((void *)(uintptr_t)memory, SIZE);
		close(fd);
		ASSERT_EQ(0, bind_driver("bind"));
	}
}

TEST_HARNESS_MAIN
