/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/events.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "libmimic/base/clock.h"

static void forget(struct mimicd_instance *instance)
{
	if (!instance->events.wanted)
		return;
	close(instance->events.fd);
	instance->events.wanted = 0;
}

int mimicd_events_set(struct mimicd_instance *instance, int fd, uint64_t events)
{
	const struct mimic_kind *kind = instance->kind;
	int copy, error;

	if (!kind->enable_events)
		return -ENXIO;
	if (events & ~kind->events)
		return -EINVAL;
	if (fd < 0 || !events) {
		forget(instance);
		kind->enable_events(instance->model, 0, mimic_now());
		return 0;
	}
	error = mimicd_signaller_check(&instance->engine->events.signaller, fd);
	if (error)
		return error;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	forget(instance);
	instance->events.fd = copy;
	instance->events.wanted = events;
	kind->enable_events(instance->model, events, mimic_now());
	return 0;
}

void mimicd_events_raise(struct mimicd_instance *instance)
{
	struct mimicd_events *events = &instance->engine->events;

	if (instance->events.raised || !instance->events.wanted)
		return;
	instance->events.raised = true;
	instance->events.next = events->raised;
	events->raised = instance;
}

void mimicd_events_deliver(struct mimicd_engine *engine)
{
	while (engine->events.raised) {
		struct mimicd_instance *instance = engine->events.raised;

		engine->events.raised = instance->events.next;
		instance->events.raised = false;
		if (instance->events.wanted && instance->kind->take_events(instance->model, mimic_now()))
			mimicd_signaller_signal(&engine->events.signaller, instance->events.fd);
	}
}

void mimicd_events_forget(struct mimicd_instance *instance)
{
	struct mimicd_instance **link = &instance->engine->events.raised;

	forget(instance);
	if (!instance->events.raised)
		return;
	while (*link != instance)
		link = &(*link)->events.next;
	*link = instance->events.next;
	instance->events.raised = false;
}

void mimicd_events_destroy(struct mimicd_engine *engine)
{
	mimicd_signaller_destroy(&engine->events.signaller);
}
