/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/timer.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void expire(void *context)
{
	struct mimicd_timer *timer = context;
	uint64_t count;

	/* Else it stays readable. */
	(void)!read(timer->fd, &count, sizeof(count));
	if (timer->expired)
		timer->expired(timer->context);
}

int mimicd_timer_create(struct mimicd_timer *timer, struct mimicd_loop *loop)
{
	int error;

	timer->loop = loop;
	timer->source = (struct mimicd_source){ expire, timer };
	timer->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timer->fd < 0)
		return -errno;
	error = mimicd_loop_watch(loop, timer->fd, EPOLLIN, &timer->source);
	if (error)
		mimicd_timer_destroy(timer);
	return error;
}

void mimicd_timer_destroy(struct mimicd_timer *timer)
{
	if (timer->fd >= 0)
		close(timer->fd);
	timer->fd = -1;
}

void mimicd_timer_arm(struct mimicd_timer *timer, uint64_t due)
{
	const struct itimerspec time = {
		.it_value = { (time_t)(due / 1000000000), (long)(due % 1000000000) },
	};

	timerfd_settime(timer->fd, TFD_TIMER_ABSTIME, &time, NULL);
}
