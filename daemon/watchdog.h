/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Tells systemd that the loop goes round (WatchdogSec= of a unit). */
#ifndef MIMICD_WATCHDOG_H
#define MIMICD_WATCHDOG_H

#include "daemon/loop/loop.h"
#include "daemon/loop/timer.h"

struct mimicd_watchdog {
	struct mimicd_timer timer;
	uint64_t interval_ns;	/* 0: nobody watches */
};

/* By $WATCHDOG_USEC and $WATCHDOG_PID. 0, also if nobody watches, or -errno. */
int mimicd_watchdog_start(struct mimicd_watchdog *watchdog, struct mimicd_loop *loop);
void mimicd_watchdog_stop(struct mimicd_watchdog *watchdog);

#endif
