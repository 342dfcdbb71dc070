/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/watchdog.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/loop/notify.h"
#include "libmimic/base/clock.h"

/* From the loop itself: where it is stuck, nothing comes, and systemd ends us and starts another. */
static void tell(void *context)
{
	struct mimicd_watchdog *watchdog = context;

	mimicd_notify("WATCHDOG=1");
	mimicd_timer_arm(&watchdog->timer, mimic_now() + watchdog->interval_ns);
}

static uint64_t find_interval(void)
{
	const char *time = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!time || (pid && strtol(pid, NULL, 10) != (long)getpid()))
		return 0;
	/* Twice in that time, as sd_watchdog_enabled(3) says. */
	return strtoull(time, NULL, 10) * 1000 / 2;
}

int mimicd_watchdog_start(struct mimicd_watchdog *watchdog, struct mimicd_loop *loop)
{
	int error;

	watchdog->interval_ns = find_interval();
	watchdog->timer = (struct mimicd_timer){ .fd = -1, .expired = tell, .context = watchdog };
	if (!watchdog->interval_ns)
		return 0;
	error = mimicd_timer_create(&watchdog->timer, loop);
	if (!error)
		tell(watchdog);
	return error;
}

void mimicd_watchdog_stop(struct mimicd_watchdog *watchdog)
{
	mimicd_timer_destroy(&watchdog->timer);
}
