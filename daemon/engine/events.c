/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/events.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "libmimic/base/clock.h"

static void close_descriptor(struct mimicd_device_events *device)
{
	if (!device->wanted)
		return;
	close(device->fd);
	device->wanted = 0;
}

int mimicd_events_set(struct mimicd_device_events *device, int fd, uint64_t wanted)
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
	device->fd = copy;
	device->wanted = wanted;
	kind->enable_events(device->model, wanted, mimic_now());
	return 0;
}

void mimicd_events_raise(struct mimicd_device_events *device)
{
	if (device->raised || !device->wanted)
		return;
	device->raised = true;
	device->next = device->events->raised;
	device->events->raised = device;
}

void mimicd_events_deliver(struct mimicd_events *events)
{
	while (events->raised) {
		struct mimicd_device_events *device = events->raised;

		events->raised = device->next;
		device->raised = false;
		if (device->wanted && device->kind->take_events(device->model, mimic_now()))
			mimicd_signaller_signal(&events->signaller, device->fd);
	}
}

void mimicd_events_forget(struct mimicd_device_events *device)
{
	struct mimicd_device_events **link;

	close_descriptor(device);
	if (!device->raised)
		return;
	link = &device->events->raised;
	while (*link != device)
		link = &(*link)->next;
	*link = device->next;
	device->raised = false;
}

void mimicd_events_destroy(struct mimicd_events *events)
{
	mimicd_signaller_destroy(&events->signaller);
}
