/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef LIBMIMIC_CLOCK_H
#define LIBMIMIC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds of the monotonic clock: the device's `now` in functional mode. */
uint64_t mimic_now(void);
/* The time when it was last read, and the processor's counter then. Of a lock's holder; zero: never. */
struct mimic_recent {
	uint64_t now;
	uint64_t ticks;
};
/*
 * The same, or its value less than a microsecond ago: reading the counter takes a third of the time of reading the
 * clock. It never goes back.
 */
uint64_t mimic_now_recent(struct mimic_recent *recent);
/*
 * The thread that calls may not read a clock any more (under strict seccomp, the kernel ends a program that reads the
 * processor's time-stamp counter, with which clock_gettime() does without a system call), or may again. Until then
 * mimic_now() counts the calls of this thread from here on. Threads that it makes later do not count.
 */
#pragma GCC visibility push(default)
void mimic_clock_is_forbidden(bool is_forbidden);
#pragma GCC visibility pop

#endif
