/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/events.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon/engine/keep.h"
#include "daemon/engine/turn.h"
#include "daemon/engine/user.h"
#include "daemon/loop/closer.h"
#include "libmimic/base/clock.h"

/* Its last close takes as long as it has watches: that is not for the loop's thread. */
static void close_descriptor(struct mimicd_device_events *device)
{
	if (!device->wanted)
		return;
	mimicd_keep_drop(MIMICD_KEEP_EVENT, device->kept, 0);
	device->kept = 0;
	mimicd_closer_close(device->events->closer, device->user->uid, device->fd);
	device->wanted = 0;
}

int mimicd_events_set(struct mimicd_device_events *device, struct mimicd_user *user, int fd, uint64_t wanted)
{
	const struct mimic_kind *kind = device->kind;
	int copy, error;

	if (!kind->enable_events)
		return -ENXIO;
	if (wanted & ~kind->events)
		return -EINVAL;
	if (fd < 0 || !wanted) {
		close_descriptor(device);
		kind->enable_events(device->model, 0, mimic_now());
		return 0;
	}
	error = mimicd_signaller_check(&device->events->signaller, fd);
	if (error)
		return error;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	close_descriptor(device);
	error = mimicd_keep(MIMICD_KEEP_EVENT, &device->kept, 0, copy);
	if (error) {
		close(copy);
		return error;
	}
	device->fd = copy;
	device->user = user;
	device->wanted = wanted;
	kind->enable_events(device->model, wanted, mimic_now());
	return 0;
}

static void append(struct mimicd_device_events *device)
{
	struct mimicd_events *events = device->events;

	if (!events->raised)
		events->last = &events->raised;
	device->raised = true;
	device->next = NULL;
	*events->last = device;
	events->last = &device->next;
}

void mimicd_events_raise(struct mimicd_device_events *device)
{
	if (!device->raised && device->wanted)
		append(device);
}

static bool has_turn(struct mimicd_events *events, struct mimicd_user *user)
{
	if (user->event_turn != events->turn) {
		user->event_turn = events->turn;
		user->event_ns = 0;
	}
	return user->event_ns < MIMICD_TURN_NS;
}

static void tell(struct mimicd_device_events *device)
{
	struct mimicd_wake_clock clock;

	if (!device->kind->take_events(device->model, mimic_now()))
		return;
	mimicd_wake_begin(&clock, device->user, MIMICD_WAKE_EVENT);
	mimicd_signaller_signal(&device->events->signaller, device->fd);
	device->user->event_ns += mimicd_wake_end(&clock, device->user, MIMICD_WAKE_EVENT);
}

bool mimicd_events_deliver(struct mimicd_events *events)
{
	struct mimicd_device_events *device = events->raised, *next;

	events->goes_on = false;
	events->raised = NULL;
	events->turn++;
	for (; device; device = next) {
		next = device->next;
		device->raised = false;
		if (!device->wanted)
			continue;
		/* An eventfd needs one signal for all that has happened meanwhile. */
		if (mimicd_wakes_throttled(device->user, MIMICD_WAKE_EVENT)) {
			device->raised = true;
			device->next = events->throttled;
			events->throttled = device;
		} else if (!has_turn(events, device->user)) {
			append(device);
			events->goes_on = true;
		} else {
			tell(device);
		}
	}
	return events->goes_on;
}

void mimicd_events_go_on(struct mimicd_events *events)
{
	struct mimicd_device_events *device = events->throttled, *next;

	events->throttled = NULL;
	for (; device; device = next) {
		next = device->next;
		append(device);
	}
}

static struct mimicd_device_events **find(struct mimicd_device_events **link, const struct mimicd_device_events *device)
{
	while (*link && *link != device)
		link = &(*link)->next;
	return link;
}

void mimicd_events_forget(struct mimicd_device_events *device)
{
	struct mimicd_events *events = device->events;
	struct mimicd_device_events **link;

	close_descriptor(device);
	if (!device->raised)
		return;
	link = find(&events->throttled, device);
	if (!*link)
		link = find(&events->raised, device);
	*link = device->next;
	if (events->last == &device->next)
		events->last = link;
	device->raised = false;
}

void mimicd_events_destroy(struct mimicd_events *events)
{
	mimicd_signaller_destroy(&events->signaller);
}
