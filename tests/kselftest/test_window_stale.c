/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Nothing stale: while a program changes its memory in every way that there is,
 * the daemon reads it through its window, millions of times, and never sees
 * data that was gone before the read began.
 */
#include <sys/wait.h>

#include "tests/kselftest/lib/stale.h"
#include "tests/lib/limit.h"

TEST_SECONDS(480);

TEST_F_TIMEOUT(stale, under_dontneed, 600)
{
	char *base = memory_map(CELLS * PAGE);
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		i = self->changes % CELLS;
		generations_allow_zero(self->all, i);
		ASSERT_EQ(0, madvise(base + i * PAGE, PAGE, MADV_DONTNEED));
		generations_lost(self->all, i);
		generations_write(self->all, i);
	}
	EXPECT_NOTHING_STALE();
}

/* One page only: each of the daemon's faults meets a change of its page; the loads are few. */
TEST_F_TIMEOUT(stale, under_dontneed_while_it_is_entered, 600)
{
	char *base = memory_map(PAGE);

	ASSERT_EQ(0, place_cells(self, base, 1, PAGE));
	write_all(self);
	self->changes_wanted = 20000;
	self->loads_wanted = 1000;
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		generations_allow_zero(self->all, 0);
		ASSERT_EQ(0, madvise(base, PAGE, MADV_DONTNEED));
		generations_lost(self->all, 0);
		generations_write(self->all, 0);
	}
	EXPECT_NOTHING_STALE();
}

TEST_F_TIMEOUT(stale, under_munmap_and_mmap, 600)
{
	volatile char *aside = memory_map(PAGE);
	char *base = memory_map(CELLS * PAGE);
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		i = self->changes % CELLS;
		ASSERT_EQ(0, munmap(base + i * PAGE, PAGE));
		generations_hidden(self->all, i);
		/* So that the page soon has another owner. */
		ASSERT_EQ(0, madvise((void *)aside, PAGE, MADV_DONTNEED));
		*aside = 1;
		generations_lost(self->all, i);
		ASSERT_EQ(base + i * PAGE, mmap(base + i * PAGE, PAGE, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
		generations_write(self->all, i);
	}
	EXPECT_NOTHING_STALE();
}

TEST_F_TIMEOUT(stale, under_mmap_over_it, 600)
{
	char *base = memory_map(CELLS * PAGE);
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		i = self->changes % CELLS;
		generations_allow_zero(self->all, i);
		ASSERT_EQ(base + i * PAGE, mmap(base + i * PAGE, PAGE, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		generations_lost(self->all, i);
		generations_write(self->all, i);
	}
	EXPECT_NOTHING_STALE();
}

/* Pages come from elsewhere by mremap, over the old ones; every second one goes away again. */
TEST_F_TIMEOUT(stale, under_mremap, 600)
{
	char *base = memory_map(CELLS * PAGE);
	char *aside = memory_map(2 * PAGE);
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		i = self->changes % CELLS;
		if (self->changes % 2) {
			ASSERT_EQ(aside + PAGE, mremap(base + i * PAGE, PAGE, PAGE,
						       MREMAP_MAYMOVE | MREMAP_FIXED, aside + PAGE));
			generations_hidden(self->all, i);
		}
		ASSERT_EQ(aside, mmap(aside, PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		*(volatile uint64_t *)aside = generations_next(self->all, i);
		/* Where nothing is, the new one may be seen before the call returns. */
		if (self->changes % 2)
			generations_publish(self->all, i);
		ASSERT_EQ(base + i * PAGE, mremap(aside, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
						  base + i * PAGE));
		generations_publish(self->all, i);
	}
	EXPECT_NOTHING_STALE();
}

TEST_F_TIMEOUT(stale, under_mprotect, 600)
{
	char *base = memory_map(CELLS * PAGE);
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		i = self->changes % CELLS;
		ASSERT_EQ(0, mprotect(base + i * PAGE, PAGE, PROT_NONE));
		generations_hidden(self->all, i);
		usleep(0);
		generations_publish(self->all, i);
		ASSERT_EQ(0, mprotect(base + i * PAGE, PAGE, PROT_READ | PROT_WRITE));
		generations_write(self->all, i);
	}
	EXPECT_NOTHING_STALE();
}

TEST_F_TIMEOUT(stale, under_truncate, 600)
{
	int file = memory_file(CELLS * PAGE);
	char *base = memory_map_file(file, CELLS * PAGE);
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		uint32_t kept = self->changes % CELLS;

		ASSERT_EQ(0, ftruncate(file, (off_t)(kept * PAGE)));
		for (i = kept; i < CELLS; i++)
			generations_hidden(self->all, i);
		for (i = kept; i < CELLS; i++)
			generations_lost(self->all, i);
		ASSERT_EQ(0, ftruncate(file, CELLS * PAGE));
		for (i = kept; i < CELLS; i++)
			generations_write(self->all, i);
	}
	EXPECT_NOTHING_STALE();
}

TEST_F_TIMEOUT(stale, under_holes_in_a_file, 600)
{
	int file = memory_file(CELLS * PAGE);
	char *base = memory_map_file(file, CELLS * PAGE);
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		i = self->changes % CELLS;
		generations_allow_zero(self->all, i);
		ASSERT_EQ(0, fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				       (off_t)(i * PAGE), PAGE));
		generations_lost(self->all, i);
		generations_write(self->all, i);
	}
	EXPECT_NOTHING_STALE();
}

/* The parent writes first, so the page that both had stays the child's. */
TEST_F_TIMEOUT(stale, under_fork, 600)
{
	char *base = memory_map(CELLS * PAGE);
	int status, go[2];
	pid_t child;
	uint32_t i;

	ASSERT_EQ(0, place_cells(self, base, CELLS, PAGE));
	write_all(self);
	/* Each of them changes all of the cells. */
	self->changes_wanted = 60;
	window_check_start(self->daemon, self->check);
	while (wants_more(self)) {
		ASSERT_EQ(0, pipe(go));
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			char byte;

			_exit(read(go[0], &byte, 1) != 1);
		}
		for (i = 0; i < CELLS; i++)
			generations_write(self->all, i);
		ASSERT_EQ(1, write(go[1], "", 1));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_EQ(0, status);
		close(go[0]);
		close(go[1]);
	}
	EXPECT_NOTHING_STALE();
}

TEST_HARNESS_MAIN
