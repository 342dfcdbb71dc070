/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Nothing stale while the kernel, not the program, moves pages, merges and splits them. */
#include <sys/sysinfo.h>

#include "tests/kselftest/lib/stale.h"
#include "tests/lib/limit.h"

TEST_SECONDS(480);

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

TEST_F_TIMEOUT(stale, under_collapse_and_split_of_huge_pages, 600)
{
	char *base = memory_map_huge();
	unsigned int collapsed = 0;

	SKIP_WITHOUT_HUGE_PAGES(base);
	ASSERT_EQ(0, place_cells(self, base, CELLS, HUGE_PAGE / CELLS));
	write_all(self);
	self->changes_wanted = 100;
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		/* Not a cell's page; the huge page is split by it. */
		ASSERT_EQ(0, madvise(base + PAGE, PAGE, MADV_DONTNEED));
		write_all(self);
		collapsed += !madvise(base, HUGE_PAGE, MADV_COLLAPSE);
		write_all(self);
	}
	EXPECT_NOTHING_STALE();
	EXPECT_LT(self->changes_wanted / 4, collapsed);
}

/* Takes so much that the next pages come from elsewhere. */
static char *map_ballast(size_t *size)
{
	struct sysinfo information;
	char *memory;

	sysinfo(&information);
	*size = information.freeram * information.mem_unit * 6 / 10 & ~(HUGE_PAGE - 1);
	memory = memory_map(*size);
	if (madvise(memory, *size, MADV_POPULATE_WRITE))
		abort();
	return memory;
}

/*
 * Compaction moves used pages to one end of the memory. So the cells get new
 * pages while that end is taken, and then it is not. Every second page stays
 * free: the others are worth moving together.
 */
static void scatter(FIXTURE_DATA(stale) *self, char *base, size_t size)
{
	size_t ballast_size, offset;
	char *ballast;

	if (madvise(base, size, MADV_DONTNEED))
		abort();
	ballast = map_ballast(&ballast_size);
	for (offset = 0; offset < size; offset += PAGE)
		base[offset + 8] = 1;
	write_all(self);
	munmap(ballast, ballast_size);
	for (offset = PAGE; offset < size; offset += 2 * PAGE)
		madvise(base + offset, PAGE, MADV_DONTNEED);
}

TEST_F_TIMEOUT(stale, under_compaction, 600)
{
	const size_t size = 16ul << 20;
	char *base = memory_map(size);
	unsigned long before = memory_named_number("/proc/vmstat", "pgmigrate_success");
	int file = open("/proc/sys/vm/compact_memory", O_WRONLY | O_CLOEXEC);

	ASSERT_LE(0, file);
	ASSERT_EQ(0, place_cells(self, base, WINDOW_CELLS_MAX, size / WINDOW_CELLS_MAX));
	write_all(self);
	/*
	 * Each of them changes all of the cells. Few: one compaction takes seconds in a machine
	 * that has run for a while, and most pages move in the first after each scatter(). Then
	 * only the loads that are wanted go on: compactions would take the processors from them.
	 */
	self->changes_wanted = 12;
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		if (self->changes > self->changes_wanted)
			continue;
		if (self->changes % 3 == 1) {
			/* It takes long, and all is absent. */
			ASSERT_EQ(0, window_check_finish(self->daemon, self->check));
			scatter(self, base, size);
			window_check_start(self->daemon, self->check);
		}
		ASSERT_EQ(1, write(file, "1", 1));
		write_all(self);
	}
	EXPECT_NOTHING_STALE();
	EXPECT_LT(before + 1000, memory_named_number("/proc/vmstat", "pgmigrate_success"));
	printf("# %lu pages moved\n", memory_named_number("/proc/vmstat", "pgmigrate_success") - before);
}

/* Pages that are alike are merged while they are read, and part again when they are written. */
TEST_F_TIMEOUT(stale, under_merging_of_equal_pages, 600)
{
	char *base = memory_map(CELLS * 2 * PAGE);
	unsigned long merged = 0;
	uint32_t i;

	if (access("/sys/kernel/mm/ksm/run", W_OK))
		SKIP(return, "this kernel has no KSM");
	ASSERT_EQ(0, madvise(base, CELLS * 2 * PAGE, MADV_MERGEABLE));
	ASSERT_EQ(0, place_cells(self, base, CELLS, 2 * PAGE));
	ASSERT_TRUE(memory_write_text("/sys/kernel/mm/ksm/sleep_millisecs", "0"));
	ASSERT_TRUE(memory_write_text("/sys/kernel/mm/ksm/pages_to_scan", "1000"));
	/* Since 6.7: pages that were not alike are left out of the next scans. */
	memory_write_text("/sys/kernel/mm/ksm/smart_scan", "0");
	ASSERT_TRUE(memory_write_text("/sys/kernel/mm/ksm/run", "1"));
	write_all(self);
	/* Each of them changes all of the cells. */
	self->changes_wanted = 10;
	window_check_start(self->daemon, self->check);
	/* ksmd has a low priority, and the checks run on both processors: more rounds if few were merged. */
	while (wants_more(self) || (merged <= CELLS / 8 && memory_clock() < self->end)) {
		for (i = 0; i < CELLS; i++) {
			generations_write(self->all, i);
			/* The page behind a cell's is as the cell's. */
			*(volatile uint64_t *)(base + (2 * i + 1) * PAGE) =
				WINDOW_VALUE(i, self->all->now[i]);
		}
		for (i = 0; i < 300 && memory_number("/sys/kernel/mm/ksm/pages_sharing") < CELLS / 4; i++)
			usleep(3000);
		merged += memory_number("/sys/kernel/mm/ksm/pages_sharing");
	}
	EXPECT_TRUE(memory_write_text("/sys/kernel/mm/ksm/run", "2"));
	EXPECT_NOTHING_STALE();
	EXPECT_LT(CELLS / 8, merged);
}

/* Each page moves for sure: its frame is given up. */
TEST_F_TIMEOUT(stale, under_moving_each_page, 600)
{
	char *base = memory_map(CELLS * PAGE);
	unsigned int moved = 0;
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		i = self->changes % CELLS;
		if (moved < CELLS)
			moved += !madvise(base + i * PAGE, PAGE, MADV_SOFT_OFFLINE);
		generations_write(self->all, i);
	}
	EXPECT_NOTHING_STALE();
	EXPECT_EQ(CELLS, moved);
}

TEST_HARNESS_MAIN
