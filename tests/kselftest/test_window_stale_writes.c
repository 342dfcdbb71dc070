/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The daemon writes, all the time, each page that it may. When the program has taken
 * a page out of its reach, by any call, the page does not change any more.
 */
#include <sys/wait.h>

#include "tests/kselftest/lib/stale.h"
#include "tests/lib/limit.h"

TEST_SECONDS(480);

/* So long is a page looked at that must not change. */
#define LOOKS 2000
#define STORES_WANTED 100000

/* The daemon's marks are in all pages. */
static bool all_are_written(FIXTURE_DATA(stale) *self)
{
	uint32_t i;

	for (i = 0; i < self->check->count; i++) {
		double end = memory_clock() + 10 * time_scale();

		*generations_place(self->all, i) = 1;
		while (*generations_place(self->all, i) == 1) {
			if (memory_clock() > end)
				return false;
		}
	}
	return true;
}

static bool changes(const volatile uint64_t *place)
{
	uint64_t before = *place;
	unsigned int i;

	for (i = 0; i < LOOKS; i++) {
		if (*place != before)
			return true;
	}
	return false;
}

static int start_writing(FIXTURE_DATA(stale) *self, void *base, uint32_t count)
{
	int error = place_cells(self, base, count, PAGE);
	uint32_t i;

	for (i = 0; i < count; i++)
		*generations_place(self->all, i) = 1;
	self->check->is_writer = true;
	self->loads_wanted = STORES_WANTED;
	window_check_start(self->daemon, self->check);
	return error;
}

/* Enough of each; stores that were done are counted as loads are elsewhere. */
#define WHILE_WRITTEN(base, count) \
	ASSERT_EQ(0, start_writing(self, base, count)); \
	ASSERT_TRUE(all_are_written(self)); \
	while (wants_more(self))

#define EXPECT_NOTHING_WRITTEN(changed) do { \
	EXPECT_EQ(0, window_check_finish(self->daemon, self->check)); \
	EXPECT_EQ(0, changed); \
	EXPECT_LE(self->loads_wanted, self->check->checked); \
	EXPECT_LE(self->changes_wanted, self->changes); \
	printf("# %lu stores, %lu refused, %u changes\n", self->check->checked, \
	       self->check->absent, self->changes); \
} while (0)

TEST_F_TIMEOUT(stale, nothing_is_written_after_mprotect, 600)
{
	char *base = memory_map(CELLS * PAGE);
	unsigned int changed = 0;
	uint32_t i;

	WHILE_WRITTEN(base, CELLS) {
		i = self->changes % CELLS;
		ASSERT_EQ(0, mprotect(base + i * PAGE, PAGE, PROT_READ));
		changed += changes(generations_place(self->all, i));
		ASSERT_EQ(0, mprotect(base + i * PAGE, PAGE, PROT_READ | PROT_WRITE));
		*generations_place(self->all, i) = 1;
	}
	EXPECT_NOTHING_WRITTEN(changed);
}

/* One page only: each of the daemon's faults meets a change of its page. */
TEST_F_TIMEOUT(stale, nothing_is_written_after_mprotect_while_it_is_entered, 600)
{
	char *base = memory_map(PAGE);
	unsigned int changed = 0;

	self->changes_wanted = 5000;
	WHILE_WRITTEN(base, 1) {
		ASSERT_EQ(0, mprotect(base, PAGE, PROT_READ));
		changed += changes((uint64_t *)base);
		ASSERT_EQ(0, mprotect(base, PAGE, PROT_READ | PROT_WRITE));
		*(volatile uint64_t *)base = 1;
	}
	EXPECT_NOTHING_WRITTEN(changed);
}

/* The page goes to where the daemon has no window. */
TEST_F_TIMEOUT(stale, nothing_is_written_to_a_page_that_was_moved_away, 600)
{
	char *base = memory_map(CELLS * PAGE);
	char *aside = memory_map(PAGE);
	unsigned int changed = 0;
	uint32_t i;

	WHILE_WRITTEN(base, CELLS) {
		i = self->changes % CELLS;
		ASSERT_EQ(aside, mremap(base + i * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, aside));
		changed += changes((uint64_t *)aside);
		ASSERT_EQ(base + i * PAGE, mmap(base + i * PAGE, PAGE, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		*generations_place(self->all, i) = 1;
	}
	EXPECT_NOTHING_WRITTEN(changed);
}

/* The file is looked at through a mapping that the daemon does not know of. */
TEST_F_TIMEOUT(stale, nothing_is_written_to_a_file_after_munmap, 600)
{
	int file = memory_file(CELLS * PAGE);
	char *base = memory_map_file(file, CELLS * PAGE);
	char *other = memory_map_file(file, CELLS * PAGE);
	unsigned int changed = 0;
	uint32_t i;

	WHILE_WRITTEN(base, CELLS) {
		i = self->changes % CELLS;
		ASSERT_EQ(0, munmap(base + i * PAGE, PAGE));
		changed += changes((uint64_t *)(other + i * PAGE));
		ASSERT_EQ(base + i * PAGE, mmap(base + i * PAGE, PAGE, PROT_READ | PROT_WRITE,
						MAP_SHARED | MAP_FIXED, file, (off_t)(i * PAGE)));
		*generations_place(self->all, i) = 1;
	}
	EXPECT_NOTHING_WRITTEN(changed);
	close(file);
}

/* Not in the child, and not in the parent before that has a page of its own again. */
TEST_F_TIMEOUT(stale, nothing_is_written_after_fork, 600)
{
	char *base = memory_map(CELLS * PAGE);
	unsigned int changed = 0;
	int status;
	pid_t child;
	uint32_t i;

	self->changes_wanted = 40;
	WHILE_WRITTEN(base, CELLS) {
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			for (i = 0; i < CELLS; i++)
				changed += changes(generations_place(self->all, i));
			_exit(changed != 0);
		}
		for (i = 0; i < CELLS; i += 2)
			*generations_place(self->all, i) = 1;
		ASSERT_EQ(child, waitpid(child, &status, 0));
		changed += status != 0;
		for (i = 0; i < CELLS; i++)
			*generations_place(self->all, i) = 1;
	}
	EXPECT_NOTHING_WRITTEN(changed);
}

TEST_HARNESS_MAIN
