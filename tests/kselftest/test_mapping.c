/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mmap and a program's calls on a mapping: docs/abi.md, "Pages". */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "mimic/maple_ioctl.h"
#include "tests/kselftest/lib/holder.h"

FIXTURE(mapping)
{
	struct holder holder;
	struct fake_control *control;
	int fd;
	volatile uint8_t *pages;
};

FIXTURE_SETUP(mapping)
{
	ASSERT_EQ(0, holder_start(&self->holder, NULL));
	self->control = self->holder.control;
	self->fd = self->holder.fd;
	self->pages = self->holder.pages;
}

FIXTURE_TEARDOWN(mapping)
{
	holder_stop(&self->holder);
}

#define READ_WRITE (PROT_READ | PROT_WRITE)

static bool device_heard_nothing(const struct fake_control *control)
{
	return !control->loads && !control->stores;
}

/* 0 or the errno; a mapping that was made goes again. */
static int map(int fd, size_t length, int prot, int flags, off_t offset)
{
	void *pages = mmap(NULL, length, prot, flags, fd, offset);

	if (pages == MAP_FAILED)
		return errno;
	munmap(pages, length);
	return 0;
}

/* --- mmap ------------------------------------------------------------------------ */

TEST_F(mapping, each_page_and_all_of_them_can_be_mapped)
{
	int page;

	for (page = 0; page < 5; page++)
		EXPECT_EQ(0, map(self->fd, PAGE, READ_WRITE, MAP_SHARED, page * (off_t)PAGE));
	EXPECT_EQ(0, map(self->fd, 5 * PAGE, READ_WRITE, MAP_SHARED, 0));
	EXPECT_EQ(0, map(self->fd, 2 * PAGE, PROT_READ, MAP_SHARED, 3 * PAGE));
	EXPECT_EQ(0, map(self->fd, PAGE, PROT_NONE, MAP_SHARED, 0));
	/* Rounded up to whole pages, as always. */
	EXPECT_EQ(0, map(self->fd, 1, READ_WRITE, MAP_SHARED, 4 * PAGE));
}

TEST_F(mapping, the_offset_says_which_page)
{
	volatile uint64_t *third = mmap(NULL, PAGE, READ_WRITE, MAP_SHARED, self->fd, 3 * PAGE);

	ASSERT_NE(MAP_FAILED, (void *)third);
	third[2] = 0x33;
	EXPECT_EQ(0x33, self->control->memory[3][2]);
	EXPECT_EQ(0x33, *holder_register(&self->holder, 3, 16));
}

TEST_F(mapping, length_0_is_einval)
{
	EXPECT_EQ(EINVAL, map(self->fd, 0, READ_WRITE, MAP_SHARED, 0));
}

TEST_F(mapping, an_offset_within_a_page_is_einval)
{
	EXPECT_EQ(-1, syscall(9 /* mmap */, 0, PAGE, READ_WRITE, MAP_SHARED, self->fd, 0x800));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(mapping, a_private_mapping_is_einval)
{
	EXPECT_EQ(EINVAL, map(self->fd, PAGE, READ_WRITE, MAP_PRIVATE, 0));
	EXPECT_EQ(EINVAL, map(self->fd, PAGE, PROT_READ, MAP_PRIVATE, 0));
}

TEST_F(mapping, an_executable_mapping_is_einval)
{
	EXPECT_EQ(EINVAL, map(self->fd, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0));
}

TEST_F(mapping, a_page_beyond_the_last_is_einval)
{
	EXPECT_EQ(EINVAL, map(self->fd, PAGE, READ_WRITE, MAP_SHARED, 5 * PAGE));
	EXPECT_EQ(EINVAL, map(self->fd, 6 * PAGE, READ_WRITE, MAP_SHARED, 0));
	EXPECT_EQ(EINVAL, map(self->fd, 2 * PAGE, READ_WRITE, MAP_SHARED, 4 * PAGE));
	EXPECT_EQ(EINVAL, map(self->fd, PAGE, READ_WRITE, MAP_SHARED, 1ll << 40));
	EXPECT_NE(0, map(self->fd, 1ull << 40, READ_WRITE, MAP_SHARED, 0));
	/* Numbers that wrap around. */
	EXPECT_NE(0, map(self->fd, 2 * PAGE, READ_WRITE, MAP_SHARED, -(off_t)PAGE));
}

TEST_F(mapping, a_descriptor_for_reading_maps_for_reading)
{
	int reader = open(self->holder.daemon->node, O_RDONLY);
	volatile uint64_t *page;

	ASSERT_LE(0, reader);
	EXPECT_EQ(EACCES, map(reader, PAGE, READ_WRITE, MAP_SHARED, 0));
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reader, 0);
	ASSERT_NE(MAP_FAILED, (void *)page);
	self->control->memory[0][0] = 5;
	EXPECT_EQ(5, page[0]);
	EXPECT_EQ(-1, mprotect((void *)page, PAGE, READ_WRITE));
	EXPECT_EQ(EACCES, errno);
	close(reader);
}

TEST_F(mapping, map_populate_and_mlock_do_not_touch_the_device)
{
	void *page = mmap(NULL, PAGE, READ_WRITE, MAP_SHARED | MAP_POPULATE, self->fd, 0);

	ASSERT_NE(MAP_FAILED, page);
	mlock(page, PAGE);
	mlockall(MCL_CURRENT);
	msync(page, PAGE, MS_SYNC);
	EXPECT_TRUE(device_heard_nothing(self->control));
	EXPECT_EQ(0, signal_of_load(page, NULL));
}

static int maps_parents_descriptor(void *fd)
{
	return map(*(int *)fd, PAGE, READ_WRITE, MAP_SHARED, 0);
}

TEST_F(mapping, a_child_cannot_map_its_parents_descriptor)
{
	EXPECT_EQ(ENODEV, in_child(maps_parents_descriptor, &self->fd));
}

TEST_F(mapping, a_device_without_traps_cannot_be_mapped)
{
	struct fake_options options = {
		.channel = FAKE_SLOTS, .capabilities = MIMIC_BUS_WINDOW_ACCESS,
	};
	struct fake_daemon *other = fake_daemon_start(&options);
	int fd;

	ASSERT_NE(NULL, other);
	fd = open(other->node, O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(ENODEV, map(fd, PAGE, READ_WRITE, MAP_SHARED, 0));
	close(fd);
	fake_daemon_stop(other);
}

TEST_F(mapping, a_device_that_is_gone_cannot_be_mapped)
{
	ASSERT_EQ(0, fake_daemon_unregister(self->holder.daemon));
	EXPECT_EQ(ENODEV, map(self->fd, PAGE, READ_WRITE, MAP_SHARED, 0));
	EXPECT_EQ(0, fake_daemon_register(self->holder.daemon));
}

/* --- protection -------------------------------------------------------------------- */

TEST_F(mapping, a_store_to_a_page_for_reading_is_sigsegv)
{
	siginfo_t info;

	ASSERT_EQ(0, mprotect((void *)self->pages, PAGE, PROT_READ));
	EXPECT_EQ(0, signal_of_load(self->pages + 8, NULL));
	EXPECT_EQ(SIGSEGV, signal_of_store(self->pages + 8, &info));
	EXPECT_EQ(SEGV_ACCERR, info.si_code);
	EXPECT_EQ((void *)(self->pages + 8), info.si_addr);
	EXPECT_EQ(0, self->control->stores);
	ASSERT_EQ(0, mprotect((void *)self->pages, PAGE, READ_WRITE));
	EXPECT_EQ(0, signal_of_store(self->pages + 8, NULL));
}

TEST_F(mapping, a_page_without_protection_is_sigsegv)
{
	ASSERT_EQ(0, mprotect((void *)self->pages, PAGE, PROT_NONE));
	EXPECT_EQ(SIGSEGV, signal_of_load(self->pages + 8, NULL));
	EXPECT_EQ(SIGSEGV, signal_of_store(self->pages + 8, NULL));
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(mapping, mprotect_of_one_page_leaves_its_neighbours)
{
	ASSERT_EQ(0, mprotect((void *)(self->pages + PAGE), PAGE, PROT_READ));
	EXPECT_EQ(0, signal_of_store(self->pages, NULL));
	EXPECT_EQ(SIGSEGV, signal_of_store(self->pages + PAGE, NULL));
	EXPECT_EQ(0, signal_of_store(self->pages + 2 * PAGE + 8, NULL));
	EXPECT_EQ(1, self->control->memory[0][0]);
	EXPECT_EQ(1, self->control->memory[2][1]);
}

TEST_F(mapping, mprotect_to_executable_is_eacces)
{
	EXPECT_EQ(-1, mprotect((void *)self->pages, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, signal_of_store(self->pages, NULL));
}

/* --- munmap and mremap --------------------------------------------------------------- */

TEST_F(mapping, munmap_of_a_part_leaves_the_rest)
{
	self->holder.pages = NULL;
	ASSERT_EQ(0, munmap((void *)(self->pages + PAGE), PAGE));
	EXPECT_EQ(SIGSEGV, signal_of_load(self->pages + PAGE, NULL));
	EXPECT_EQ(0, signal_of_store(self->pages + 0x10, NULL));
	EXPECT_EQ(0, signal_of_store(self->pages + 3 * PAGE + 0x18, NULL));
	EXPECT_EQ(1, self->control->memory[0][2]);
	EXPECT_EQ(1, self->control->memory[3][3]);
	holder_close(&self->holder);
	sleep_ms(20);
	EXPECT_EQ(0, self->control->closes);
	munmap((void *)self->pages, PAGE);
	munmap((void *)(self->pages + 2 * PAGE), 3 * PAGE);
	EXPECT_TRUE(fake_wait(&self->control->closes, 1));
}

TEST_F(mapping, memory_mapped_over_a_page_replaces_it)
{
	ASSERT_EQ((void *)self->pages, mmap((void *)self->pages, PAGE, READ_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(0, signal_of_store(self->pages, NULL));
	EXPECT_TRUE(device_heard_nothing(self->control));
	EXPECT_EQ(0, signal_of_store(self->pages + PAGE, NULL));
	EXPECT_EQ(1, self->control->stores);
}

TEST_F(mapping, mremap_does_not_grow_it)
{
	EXPECT_EQ(MAP_FAILED, mremap((void *)self->pages, 5 * PAGE, 6 * PAGE, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MAP_FAILED, mremap((void *)self->pages, 5 * PAGE, 6 * PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, signal_of_store(self->pages + 4 * PAGE, NULL));
}

TEST_F(mapping, mremap_does_not_double_it)
{
	EXPECT_EQ(MAP_FAILED, mremap((void *)self->pages, 0, PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(0, signal_of_store(self->pages, NULL));
}

TEST_F(mapping, mremap_does_not_move_it)
{
	void *elsewhere = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT_EQ(MAP_FAILED, mremap((void *)self->pages, 5 * PAGE, 5 * PAGE,
				     MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, signal_of_store(self->pages, NULL));
	EXPECT_EQ(1, self->control->stores);
	EXPECT_EQ(MAP_FAILED, mremap((void *)self->pages, 5 * PAGE, 5 * PAGE,
				     MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL));
}

TEST_F(mapping, mremap_cuts_pages_off_at_the_end)
{
	EXPECT_EQ((void *)self->pages, mremap((void *)self->pages, 5 * PAGE, 2 * PAGE, 0));
	EXPECT_EQ(0, signal_of_store(self->pages + PAGE, NULL));
	EXPECT_EQ(SIGSEGV, signal_of_store(self->pages + 2 * PAGE, NULL));
	EXPECT_EQ(1, self->control->stores);
}

/* --- madvise ------------------------------------------------------------------------- */

TEST_F(mapping, no_advice_touches_the_device_or_breaks_the_mapping)
{
	static const int advice[] = {
		MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE,
		MADV_REMOVE, MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
		MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_COLD, MADV_PAGEOUT,
		22 /* POPULATE_READ */, 23 /* POPULATE_WRITE */, 25 /* COLLAPSE */,
	};
	unsigned int i;

	for (i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		madvise((void *)self->pages, 5 * PAGE, advice[i]);
		EXPECT_TRUE(device_heard_nothing(self->control)) TH_LOG("after %d", advice[i]);
	}
	*holder_register(&self->holder, 2, 8) = 6;
	EXPECT_EQ(6, *holder_register(&self->holder, 2, 8));
}

TEST_F(mapping, populate_fails)
{
	EXPECT_EQ(-1, madvise((void *)self->pages, PAGE, 22));
	EXPECT_EQ(-1, madvise((void *)self->pages, PAGE, 23));
}

TEST_F(mapping, dontneed_and_dofork_are_einval)
{
	EXPECT_EQ(-1, madvise((void *)self->pages, PAGE, MADV_DONTNEED));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, madvise((void *)self->pages, PAGE, MADV_DOFORK));
	EXPECT_EQ(EINVAL, errno);
}

static int loads_from_page(void *page)
{
	return (int)*(volatile uint64_t *)page;
}

TEST_F(mapping, with_dontfork_a_child_has_no_page)
{
	ASSERT_EQ(0, madvise((void *)self->pages, 5 * PAGE, MADV_DONTFORK));
	EXPECT_EQ(128 + SIGSEGV, in_child(loads_from_page, (void *)self->pages));
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_F(mapping, proc_self_smaps_and_pagemap_do_not_touch_the_device)
{
	static char text[65536];
	uint64_t entry = 0;
	int file = open("/proc/self/smaps", O_RDONLY);

	while (read(file, text, sizeof(text)) > 0)
		;
	close(file);
	file = open("/proc/self/pagemap", O_RDONLY);
	EXPECT_EQ(8, pread(file, &entry, 8, (off_t)((uintptr_t)self->pages / PAGE * 8)));
	/* No page frame is behind it. */
	EXPECT_EQ(0, entry >> 63);
	close(file);
	EXPECT_TRUE(device_heard_nothing(self->control));
}

TEST_HARNESS_MAIN
