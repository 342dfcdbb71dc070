/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Pages of files through a window, pages that the kernel may drop, and system
 * calls of the daemon on memory of the window.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/window.h"

FIXTURE(file) {
	struct fake_daemon *daemon;
	int fd, file;
	uint64_t value;
};

FIXTURE_SETUP(file)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->file = memory_file(4 * PAGE);
}

FIXTURE_TEARDOWN(file)
{
	close(self->file);
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

#define GET(place) window_get(self->daemon, place, &self->value)
#define PUT(place, number) window_put(self->daemon, place, number)
#define EXPECT_SEEN(number, place) do { \
	EXPECT_EQ(0, GET(place)); \
	EXPECT_EQ(number, self->value); \
} while (0)
#define EXPECT_ABSENT(place) EXPECT_EQ(WINDOW_ABSENT, GET(place))
#define WATCH(place, size) ASSERT_EQ(0, window_map(self->daemon, place, size))
#define EXPECT_IN_FILE(number, offset) do { \
	uint64_t in_file = ~0ull; \
	EXPECT_EQ(8, pread(self->file, &in_file, 8, offset)); \
	EXPECT_EQ(number, in_file); \
} while (0)

TEST_F(file, a_store_of_the_daemon_reaches_the_file)
{
	volatile uint64_t *page = memory_map_file(self->file, PAGE);

	WATCH(page, PAGE);
	EXPECT_ABSENT(page);
	page[0] = 1;
	EXPECT_EQ(0, PUT(page + 1, 2));
	EXPECT_IN_FILE(2, 8);
	ASSERT_EQ(0, msync((void *)page, PAGE, MS_SYNC));
	ASSERT_TRUE(memory_write_text("/proc/sys/vm/drop_caches", "3"));
	EXPECT_IN_FILE(2, 8);
	ASSERT_EQ(0, munmap((void *)page, PAGE));
	ASSERT_TRUE(memory_write_text("/proc/sys/vm/drop_caches", "3"));
	EXPECT_IN_FILE(2, 8);
	EXPECT_IN_FILE(1, 0);
}

TEST_F(file, stores_of_others_into_the_file_are_seen)
{
	volatile uint64_t *page = memory_map_file(self->file, PAGE);
	uint64_t number = 77;

	WATCH(page, PAGE);
	page[0] = 1;
	EXPECT_SEEN(1, page);
	ASSERT_EQ(8, pwrite(self->file, &number, 8, 0));
	EXPECT_SEEN(77, page);
}

TEST_F(file, a_truncated_file_ends_the_window_at_its_new_end)
{
	volatile uint64_t *page = memory_map_file(self->file, 4 * PAGE);
	int i;

	WATCH(page, 4 * PAGE);
	for (i = 0; i < 4; i++) {
		page[512 * i] = (uint64_t)i + 1;
		EXPECT_SEEN((uint64_t)i + 1, page + 512 * i);
	}
	ASSERT_EQ(0, ftruncate(self->file, 2 * PAGE));
	EXPECT_SEEN(2, page + 512);
	EXPECT_ABSENT(page + 2 * 512);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page + 3 * 512, 9));
	ASSERT_EQ(0, ftruncate(self->file, 4 * PAGE));
	EXPECT_ABSENT(page + 2 * 512);
	EXPECT_EQ(0, page[2 * 512]);
	EXPECT_SEEN(0, page + 2 * 512);
}

TEST_F(file, a_page_that_is_cut_in_the_middle_is_zero_behind_the_end)
{
	volatile uint64_t *page = memory_map_file(self->file, PAGE);

	WATCH(page, PAGE);
	page[1] = 1;
	page[500] = 2;
	EXPECT_SEEN(2, page + 500);
	ASSERT_EQ(0, ftruncate(self->file, 100));
	EXPECT_EQ(1, page[1]);
	EXPECT_SEEN(1, page + 1);
	EXPECT_SEEN(0, page + 500);
}

TEST_F(file, a_hole_takes_a_page_away)
{
	volatile uint64_t *page = memory_map_file(self->file, PAGE);

	WATCH(page, PAGE);
	page[0] = 1;
	EXPECT_SEEN(1, page);
	ASSERT_EQ(0, fallocate(self->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE));
	EXPECT_ABSENT(page);
	EXPECT_EQ(0, page[0]);
	EXPECT_SEEN(0, page);
}

TEST_F(file, a_private_mapping_is_not_written_to_the_file)
{
	volatile uint64_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->file, 0);
	uint64_t number = 5;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(8, pwrite(self->file, &number, 8, 0));
	WATCH(page, PAGE);
	EXPECT_EQ(5, page[0]);
	EXPECT_SEEN(5, page);
	/* The file's own page: not the daemon's to write. */
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 6));
	EXPECT_IN_FILE(5, 0);
	page[0] = 7;
	EXPECT_SEEN(7, page);
	EXPECT_EQ(0, PUT(page, 8));
	EXPECT_EQ(8, page[0]);
	EXPECT_IN_FILE(5, 0);
}

TEST_F(file, a_file_that_was_opened_for_reading_is_not_written)
{
	volatile uint64_t *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->file, 0);

	ASSERT_NE(MAP_FAILED, page);
	WATCH(page, PAGE);
	EXPECT_EQ(0, page[0]);
	EXPECT_SEEN(0, page);
	EXPECT_EQ(WINDOW_ABSENT, PUT(page, 6));
	EXPECT_IN_FILE(0, 0);
}

/* MADV_FREE: the kernel may drop the page as long as nobody writes it. */
TEST_F(file, a_page_that_may_be_dropped_is_kept_once_the_daemon_writes_it)
{
	volatile uint64_t *page = memory_map(64 * PAGE);
	unsigned int i, kept = 0, dropped = 0;

	WATCH(page, 64 * PAGE);
	for (i = 0; i < 64; i++)
		page[512 * i] = 1;
	ASSERT_EQ(0, madvise((void *)page, 64 * PAGE, MADV_FREE));
	for (i = 0; i < 32; i++)
		EXPECT_EQ(0, PUT(page + 512 * i, 2));
	ASSERT_EQ(0, madvise((void *)page, 64 * PAGE, MADV_PAGEOUT));
	for (i = 0; i < 32; i++)
		kept += page[512 * i] == 2;
	for (i = 32; i < 64; i++)
		dropped += !page[512 * i];
	EXPECT_EQ(32, kept);
	/* Else the test has shown nothing. */
	EXPECT_LT(0, dropped);
}

TEST_F(file, a_dropped_page_is_absent)
{
	volatile uint64_t *page = memory_map(64 * PAGE);
	unsigned int i, dropped = 0;

	WATCH(page, 64 * PAGE);
	for (i = 0; i < 64; i++) {
		page[512 * i] = 1;
		EXPECT_SEEN(1, page + 512 * i);
	}
	ASSERT_EQ(0, madvise((void *)page, 64 * PAGE, MADV_FREE));
	ASSERT_EQ(0, madvise((void *)page, 64 * PAGE, MADV_PAGEOUT));
	for (i = 0; i < 64; i++) {
		bool is_there = memory_frame(page + 512 * i);

		dropped += !is_there;
		EXPECT_EQ(is_there ? 0 : WINDOW_ABSENT, GET(page + 512 * i));
	}
	EXPECT_LT(0, dropped);
}

/* --- the daemon's system calls --------------------------------------------- */

struct transfer {
	uint64_t address;
	uint64_t bytes;		/* moved through a pipe */
	uint64_t value;
	int64_t result;
	int32_t is_read;	/* read(2) into the window; else write(2) from it */
};

static long through_pipe(struct fake_self *self, void *argument)
{
	struct transfer *transfer = argument;
	char *window = fake_self_window(self, (uint32_t)self->control->open_binding,
					transfer->address, PAGE);
	int ends[2];

	if (window == MAP_FAILED || pipe(ends))
		return -errno;
	if (transfer->is_read) {
		if (write(ends[1], &transfer->value, 8) != 8)
			return -EIO;
		transfer->result = read(ends[0], window, 8);
	} else {
		transfer->result = write(ends[1], window, 8);
	}
	if (transfer->result < 0)
		transfer->result = -errno;
	else if (!transfer->is_read && read(ends[0], &transfer->value, 8) != 8)
		return -EIO;
	close(ends[0]);
	close(ends[1]);
	munmap(window, PAGE);
	return 0;
}

#define TRANSFER(...) ({ \
	struct transfer transfer = { __VA_ARGS__ }; \
	EXPECT_EQ(0, fake_daemon_call(self->daemon, through_pipe, &transfer, sizeof(transfer))); \
	transfer; \
})

TEST_F(file, the_daemons_system_calls_read_what_is_present)
{
	volatile uint64_t *page = memory_map(PAGE);
	struct transfer done;

	done = TRANSFER(.address = (uintptr_t)page);
	EXPECT_EQ(-EFAULT, done.result);
	page[0] = 0x77;
	done = TRANSFER(.address = (uintptr_t)page);
	EXPECT_EQ(8, done.result);
	EXPECT_EQ(0x77, done.value);
}

TEST_F(file, the_daemons_system_calls_write_what_is_writable)
{
	volatile uint64_t *page = memory_map(PAGE);
	struct transfer done;

	page[0] = 1;
	done = TRANSFER(.address = (uintptr_t)page, .is_read = 1, .value = 2);
	EXPECT_EQ(8, done.result);
	EXPECT_EQ(2, page[0]);
	ASSERT_EQ(0, mprotect((void *)page, PAGE, PROT_READ));
	done = TRANSFER(.address = (uintptr_t)page, .is_read = 1, .value = 3);
	EXPECT_EQ(-EFAULT, done.result);
	EXPECT_EQ(2, page[0]);
}

TEST_HARNESS_MAIN
