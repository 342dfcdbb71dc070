/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program may map a file of the state filesystem and give that memory to a device.
 * When the daemon reads it, the kernel asks the daemon for the page, and the daemon
 * waits for its own answer. So a thread watches whether requests are taken. If they are
 * not, for so long that nothing else explains it, it cuts the connection: all that
 * wait for the filesystem get an error, the daemon too, and it goes on without.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/filesystem/internal.h"

#define CHECK_MS 100
/* Checks in a row without a request taken. A process that is stopped does not check. */
#define CHECKS 30

/* false: time to end. */
static bool wait_for_request(const struct mimicd_guard *guard)
{
	struct pollfd entries[] = {
		{ .fd = guard->stop_fd, .events = POLLIN },
		{ .fd = guard->fuse_fd, .events = POLLIN },
	};

	while (poll(entries, 2, -1) < 0 && errno == EINTR)
		;
	/* An end of the connection is the loop's to see. */
	return !entries[0].revents && entries[1].revents == POLLIN;
}

static bool is_stopping(const struct mimicd_guard *guard)
{
	struct pollfd entry = { .fd = guard->stop_fd, .events = POLLIN };

	return poll(&entry, 1, CHECK_MS) > 0;
}

/* Has the loop taken no request all this time, and is one there? */
static bool is_stuck(struct mimicd_guard *guard)
{
	uint64_t turns = atomic_load(&guard->turns);
	struct pollfd entry = { .fd = guard->fuse_fd, .events = POLLIN };

	for (int i = 0; i < CHECKS; i++) {
		if (is_stopping(guard) || atomic_load(&guard->turns) != turns)
			return false;
	}
	return poll(&entry, 1, 0) == 1 && entry.revents == POLLIN && atomic_load(&guard->turns) == turns;
}

/* The kernel ends a connection whose last descriptor is closed. The number stays ours. */
static void cut(struct mimicd_guard *guard)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	atomic_store(&guard->has_cut, true);
	dup3(null, guard->fuse_fd, O_CLOEXEC);
	close(null);
	mimicd_timer_arm(guard->timer, 1);
}

static void *watch(void *argument)
{
	struct mimicd_guard *guard = argument;

	while (wait_for_request(guard)) {
		if (!is_stuck(guard))
			continue;
		cut(guard);
		break;
	}
	return NULL;
}

int mimicd_guard_start(struct mimicd_guard *guard, int fuse_fd, struct mimicd_timer *timer)
{
	sigset_t all, before;
	int error;

	guard->fuse_fd = fuse_fd;
	guard->timer = timer;
	guard->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (guard->stop_fd < 0)
		return -errno;
	/* Signals are for the loop's thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = -pthread_create(&guard->thread, NULL, watch, guard);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		close(guard->stop_fd);
	guard->is_running = !error;
	return error;
}

void mimicd_guard_stop(struct mimicd_guard *guard)
{
	const uint64_t one = 1;

	if (!guard->is_running)
		return;
	(void)!write(guard->stop_fd, &one, sizeof(one));
	pthread_join(guard->thread, NULL);
	close(guard->stop_fd);
	guard->is_running = false;
}
