/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Events of a device, counted by an eventfd of the program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/embedded/embedded.h"

static bool is_eventfd(int fd)
{
	static const char wanted[] = "anon_inode:[eventfd]";
	char path[32], target[sizeof(wanted)];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, target, sizeof(target));
	return length == sizeof(wanted) - 1 && !memcmp(target, wanted, sizeof(wanted) - 1);
}

/* Our copy: the program may close its own at any time. -1 for none, or -errno. */
static int copy_of(int fd)
{
	int copy;

	if (fd < 0)
		return -1;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return -errno;
	if (is_eventfd(copy))
		return copy;
	close(copy);
	return -EINVAL;
}

void mimic_embedded_events_signal(struct embedded_instance *instance)
{
	struct pollfd state = { .fd = instance->event_fd, .events = POLLOUT };
	const uint64_t once = 1;
	int saved = errno;

	instance->events_raised = false;
	/* Without an eventfd they are the program's, to load and clear. */
	if (!instance->open || instance->event_fd < 0 ||
	    !instance->kind->take_events(instance->model, instance->clock.now))
		return;
	/* A counter that is full already wakes its reader; the write would wait until a thread reads it. */
	if (poll(&state, 1, 0) == 1 && (state.revents & POLLOUT))
		(void)!write(instance->event_fd, &once, sizeof(once));
	errno = saved;
}

int mimic_embedded_device_eventfd(struct mimic_device *device, int fd, uint64_t events)
{
	struct embedded_instance *instance = ((struct embedded_device *)device)->instance;
	struct embedded_lane *lane;
	int copy, before, error = 0;

	copy = copy_of(fd);
	if (fd >= 0 && copy < 0)
		return copy;
	lane = mimic_embedded_lane_get(instance, &error);
	if (lane)
		error = mimic_embedded_enter(instance, lane);
	if (error) {
		if (copy >= 0)
			close(copy);
		return error;
	}
	before = instance->event_fd;
	instance->event_fd = copy;
	/* Earlier events raise the interrupt here. */
	instance->kind->enable_events(instance->model, events, instance->clock.now);
	mimic_embedded_leave(instance);
	if (before >= 0)
		close(before);
	return 0;
}
