/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/clock.h"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* A quarter to half a microsecond: counters of today's processors go at 2 to 4 GHz, and none slower than 1. */
#define RECENT_TICKS 1000

/* Of a thread that may not read the clock: the last result of mimic_now(). */
static __thread uint64_t counted __attribute__((tls_model("initial-exec")));

void mimic_clock_is_forbidden(bool is_forbidden)
{
	counted = is_forbidden ? mimic_now() : 0;
}

uint64_t mimic_now(void)
{
	struct timespec now;

	if (counted)
		return ++counted;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* 0: there is no counter that every program may read, and of which we know how fast it goes. */
static uint64_t read_ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return 0;
#endif
}

uint64_t mimic_now_recent(struct mimic_recent *recent)
{
	uint64_t ticks = counted ? 0 : read_ticks(), now;

	/* One of another processor may be behind: the difference is large then. */
	if (ticks && ticks - recent->ticks < RECENT_TICKS)
		return recent->now;
	now = mimic_now();
	/* Two threads may read the clock in one order and get the lock in the other. */
	if (now > recent->now)
		recent->now = now;
	recent->ticks = ticks;
	return recent->now;
}
