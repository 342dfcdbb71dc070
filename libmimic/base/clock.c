/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/clock.h"

#include <time.h>

/* Of a thread that may not read the clock: what mimic_now() has said last. */
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
