/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/progress.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_MS 100

static _Atomic int64_t next_ms;
static atomic_bool is_shown;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool on_terminal(void)
{
	static _Atomic int answer = -1;

	if (answer < 0)
		answer = isatty(STDERR_FILENO);
	return answer > 0;
}

void progress_show(const char *what, uint64_t done, uint64_t total)
{
	int64_t now, due;

	if (!on_terminal() || total == 0)
		return;
	now = now_ms();
	due = atomic_load_explicit(&next_ms, memory_order_relaxed);
	/* The exchange lets one of several threads print. */
	if (now < due || !atomic_compare_exchange_strong(&next_ms, &due, now + INTERVAL_MS))
		return;
	is_shown = true;
	fprintf(stderr, "\r%s: %3u %%\033[K", what, (unsigned int)(100.0 * (double)done / (double)total));
	fflush(stderr);
}

void progress_clear(void)
{
	if (!is_shown)
		return;
	is_shown = false;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}
