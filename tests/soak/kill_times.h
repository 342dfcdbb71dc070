/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Times that were measured at each kill, and what of them is reported. */
#ifndef TESTS_SOAK_KILL_TIMES_H
#define TESTS_SOAK_KILL_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct kill_times {
	uint32_t *microseconds;
	size_t count, room;
};

/* 0 or -1. */
int kill_times_make(struct kill_times *times, size_t room);
void kill_times_free(struct kill_times *times);
/* One that does not fit is left out. */
void kill_times_add(struct kill_times *times, uint64_t nanoseconds);
/* Sorts them. Milliseconds; 0 if there are none. fraction 1: the longest. */
double kill_times_percentile(struct kill_times *times, double fraction);

#endif
