/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * For the programs that look for stale memory: a device, its daemon, and cells
 * that the daemon reads while a test changes them.
 */
#ifndef MIMIC_TESTS_STALE_H
#define MIMIC_TESTS_STALE_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "tests/kselftest/lib/fake_daemon.h"
#include "tests/kselftest/lib/generations.h"
#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/time_scale.h"
#include "tests/kselftest/lib/window.h"

#define CELLS 64
/* Of each test: 10 million of all. */
#define LOADS_WANTED 1300000
#define CHANGES_WANTED 800
#define SECONDS_MAX 90

FIXTURE(stale) {
	struct fake_daemon *daemon;
	struct window_check *check;
	struct generations *all;
	int fd;
	double end;
	unsigned int changes, changes_wanted;
	uint64_t loads_wanted;
};

FIXTURE_SETUP(stale)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	self->check = window_check_create();
	ASSERT_NE(NULL, self->check);
	self->daemon = fake_daemon_start(&options);
	ASSERT_NE(NULL, self->daemon);
	self->fd = open(self->daemon->node, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->all = memory_map(sizeof(*self->all));
	self->changes = 0;
	self->changes_wanted = CHANGES_WANTED;
	self->loads_wanted = LOADS_WANTED;
	self->end = memory_clock() + SECONDS_MAX * time_scale();
}

FIXTURE_TEARDOWN(stale)
{
	close(self->fd);
	fake_daemon_stop(self->daemon);
}

static inline int place_cells(FIXTURE_DATA(stale) *self, void *base, uint32_t count, size_t distance)
{
	generations_place_cells(self->all, self->check, base, count, distance);
	return window_map(self->daemon, base, (count - 1) * distance + PAGE);
}

static inline void write_all(FIXTURE_DATA(stale) *self)
{
	uint32_t i;

	for (i = 0; i < self->check->count; i++)
		generations_write(self->all, i);
}

/*
 * Once for each change: go on? First they come as fast as they can, then in peace
 * enough for the loads that are wanted: the daemon's SIGBUSes take long.
 */
static inline bool wants_more(FIXTURE_DATA(stale) *self)
{
	if (memory_clock() > self->end)
		return false;
	if (++self->changes <= self->changes_wanted)
		return true;
	usleep(500);
	return self->check->checked < self->loads_wanted;
}

#define EXPECT_NOTHING_STALE() do { \
	EXPECT_EQ(0, window_check_finish(self->daemon, self->check)); \
	EXPECT_EQ(0, self->check->stale) { \
		TH_LOG("cell %lu: %#lx was read, floor %#lx then %#lx, newest %#lx", \
		       self->check->first.cell, self->check->first.value, self->check->first.floor, \
		       self->check->first.floor_after, self->check->first.newest); \
	} \
	EXPECT_LE(self->loads_wanted, self->check->checked); \
	EXPECT_LE(self->changes_wanted, self->changes); \
	printf("# %lu loads checked, %lu absent, %u changes\n", self->check->checked, \
	       self->check->absent, self->changes); \
} while (0)

#endif
