/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program whose memory is swapped out: its device's page faults bring the pages back, with their
 * contents, and they are charged to the program; pages that the device wrote go out and come back.
 * The disk is tests/vm/testdisk.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/program.h"
#include "tests/kselftest/lib/window.h"

#define DISK "/dev/testdisk"
#define DISK_PAGES 8192u
#define GROUP "/sys/fs/cgroup/swap"
#define PAGES 256ul
#define SIZE (PAGES * PAGE)
/* Of the pages' bytes: a program has some more of its own, and some counts come in batches. */
#define MOST(bytes) ((bytes) * 3 / 4)
/* In a word of /proc/PID/pagemap. */
#define IS_PRESENT (1ull << 63)
#define IS_SWAPPED (1ull << 62)

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

FIXTURE(swap) {
	struct fake_daemon *daemon;
	struct program program;
	int process;	/* a pidfd of the program */
	int pages;	/* its pagemap */
	bool has_disk;
};

/* 6.1's harness runs a test whose setup has skipped it. */
#define NEEDS_DISK() do { \
	if (!self->has_disk) \
		SKIP(return, "there is no disk"); \
} while (0)

/* The header, as mkswap writes it: version 1, and the number of the last page. */
static bool make_swap(void)
{
	static union {
		char bytes[PAGE];
		uint32_t words[PAGE / 4];
	} header;
	int file = open(DISK, O_WRONLY | O_CLOEXEC);
	bool is_made;

	header.words[1024 / 4] = 1;
	header.words[1024 / 4 + 1] = DISK_PAGES - 1;
	memcpy(header.bytes + PAGE - 10, "SWAPSPACE2", 10);
	is_made = pwrite(file, &header, PAGE, 0) == (ssize_t)PAGE && !fsync(file);
	close(file);
	return is_made && !swapon(DISK, 0);
}

/* In a group of its own, its pages are charged to that one. */
static void write_in_group(struct program_shared *shared, volatile uint64_t *memory, int fd)
{
	size_t i;

	(void)fd;
	if (!memory_write_text(GROUP "/cgroup.procs", "0"))
		return;
	madvise((void *)memory, SIZE, MADV_DONTNEED);
	for (i = 0; i < PAGES; i++)
		memory[i * 512] = i + 1;
	shared->count = 1;
}

FIXTURE_SETUP(swap)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };
	char path[64];
	int tries;

	self->has_disk = !access(DISK, F_OK);
	if (!self->has_disk)
		return;
	memory_write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	ASSERT_EQ(0, mkdir(GROUP, 0700));
	ASSERT_TRUE(make_swap());
	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	ASSERT_TRUE(program_start(&self->program, self->daemon, SIZE, write_in_group));
	for (tries = 0; !self->program.shared->count && tries < 5000; tries++)
		sleep_ms(1);
	ASSERT_EQ(1, self->program.shared->count);
	self->process = (int)syscall(SYS_pidfd_open, self->program.pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", self->program.pid);
	self->pages = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->pages);
	ASSERT_EQ(0, window_map(self->daemon, self->program.memory, SIZE));
}

FIXTURE_TEARDOWN(swap)
{
	if (!self->has_disk)
		return;
	program_stop(&self->program);
	fake_daemon_stop(self->daemon);
	EXPECT_EQ(0, swapoff(DISK));
	rmdir(GROUP);
}

static size_t count_pages(FIXTURE_DATA(swap) *self, uint64_t flag)
{
	uint64_t words[PAGES] = { 0 };
	size_t i, count = 0;

	if (pread(self->pages, words, sizeof(words), (uintptr_t)self->program.memory / PAGE * 8) < 0)
		return 0;
	for (i = 0; i < PAGES; i++)
		count += !!(words[i] & flag);
	return count;
}

/* All of them. Those that wait at another processor for their place in the kernel's lists need another try. */
static bool swap_out(FIXTURE_DATA(swap) *self)
{
	struct iovec all = { (void *)self->program.memory, SIZE };
	double end = now_seconds() + at_most(10);

	while (count_pages(self, IS_SWAPPED) < PAGES && now_seconds() < end) {
		/* It empties each processor's batch for those lists. */
		memory_write_text("/proc/sys/vm/compact_memory", "1");
		syscall(SYS_process_madvise, self->process, &all, 1, MADV_PAGEOUT, 0);
	}
	printf("# %zu of %lu pages are swapped out, %zu are not\n", count_pages(self, IS_SWAPPED), PAGES,
	       count_pages(self, IS_PRESENT));
	return count_pages(self, IS_SWAPPED) == PAGES;
}

/* Pages that are swapped out may stay in memory for a while, as copies that the kernel drops when somebody needs room. */
static unsigned long charged_without_copies(unsigned long most)
{
	double end = now_seconds() + at_most(10);

	while (memory_number(GROUP "/memory.current") >= most && now_seconds() < end)
		memory_write_text(GROUP "/memory.reclaim", "1M");
	return memory_number(GROUP "/memory.current");
}

/* The device needs it, and the driver brings it. */
static bool bring(FIXTURE_DATA(swap) *self, size_t page, bool writes)
{
	unsigned int resolves = self->daemon->control->resolves;

	return !fake_daemon_fault(self->daemon, self->program.memory + page * 512, writes) &&
	       fake_wait(&self->daemon->control->resolves, resolves + 1);
}

TEST_F(swap, its_pages_come_back_with_what_was_in_them)
{
	uint64_t value = 0;
	size_t i, wrong = 0, absent = 0;

	NEEDS_DISK();
	ASSERT_TRUE(swap_out(self));
	for (i = 0; i < PAGES; i++) {
		absent += window_get(self->daemon, self->program.memory + i * 512, &value) == WINDOW_ABSENT;
		ASSERT_TRUE(bring(self, i, false));
		wrong += window_get(self->daemon, self->program.memory + i * 512, &value) || value != i + 1;
	}
	EXPECT_EQ(PAGES, absent);
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(PAGES, count_pages(self, IS_PRESENT));
}

TEST_F(swap, they_are_charged_to_the_program)
{
	unsigned long with, out, in, swapped;
	size_t i;

	NEEDS_DISK();
	with = memory_number(GROUP "/memory.current");
	ASSERT_TRUE(swap_out(self));
	ASSERT_LT(MOST(SIZE), with);
	out = charged_without_copies(with - MOST(SIZE));
	swapped = memory_number(GROUP "/memory.swap.current");
	for (i = 0; i < PAGES; i++)
		ASSERT_TRUE(bring(self, i, false));
	in = memory_number(GROUP "/memory.current");
	printf("# %lu kB, %lu kB without its pages, %lu kB with them again; %lu kB swapped\n", with >> 10,
	       out >> 10, in >> 10, swapped >> 10);
	EXPECT_LT(out + MOST(SIZE), with);
	EXPECT_LT(out + MOST(SIZE), in);
	EXPECT_LE(SIZE, swapped);
}

/* Out once more while the window shows them, and as the device has left them. */
TEST_F(swap, a_page_that_the_device_wrote_goes_out_and_comes_back)
{
	uint64_t value = 0;
	size_t i, wrong = 0, absent = 0;

	NEEDS_DISK();
	ASSERT_TRUE(swap_out(self));
	for (i = 0; i < PAGES; i++) {
		ASSERT_TRUE(bring(self, i, true));
		wrong += !!window_put(self->daemon, self->program.memory + i * 512, 1000 + i);
	}
	ASSERT_TRUE(swap_out(self));
	for (i = 0; i < PAGES; i++) {
		struct iovec ours = { &value, sizeof(value) };
		struct iovec its = { (void *)(self->program.memory + i * 512), sizeof(value) };

		absent += window_get(self->daemon, self->program.memory + i * 512, &value) == WINDOW_ABSENT;
		/* As the program itself would read it. */
		process_vm_readv(self->program.pid, &ours, 1, &its, 1, 0);
		wrong += value != 1000 + i;
	}
	EXPECT_EQ(PAGES, absent);
	EXPECT_EQ(0, wrong);
}

TEST_HARNESS_MAIN
