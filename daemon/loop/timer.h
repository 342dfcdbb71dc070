/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Timers of the loop, by the monotonic clock. */
#ifndef MIMICD_TIMER_H
#define MIMICD_TIMER_H

#include "daemon/loop/loop.h"

struct mimicd_timer {
	struct mimicd_loop *loop;
	int fd;		/* -1: it was not created */
	struct mimicd_source source;
	void (*expired)(void *context);	/* NULL: it wakes the loop, that is all */
	void *context;
};

/* Takes `expired` and `context` as they are. 0 or -errno. */
int mimicd_timer_create(struct mimicd_timer *timer, struct mimicd_loop *loop);
void mimicd_timer_destroy(struct mimicd_timer *timer);
/*
 * Once, at `due` nanoseconds, or at once if that has passed; instead of an earlier order.
 * 0: not at all. From any thread.
 */
void mimicd_timer_arm(struct mimicd_timer *timer, uint64_t due);

#endif
