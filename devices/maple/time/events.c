/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Future events, ordered by time: a binary heap of fixed size. */
#include "devices/maple/time/internal.h"

static bool is_before(const struct event *a, const struct event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void sift_up(struct maple_time *device, unsigned int i, const struct event *event)
{
	while (i && is_before(event, &device->event[(i - 1) / 2])) {
		device->event[i] = device->event[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	device->event[i] = *event;
}

static void sift_down(struct maple_time *device, unsigned int i, const struct event *event)
{
	for (;;) {
		unsigned int child = 2 * i + 1;

		if (child + 1 < device->event_count &&
		    is_before(&device->event[child + 1], &device->event[child]))
			child++;
		if (child >= device->event_count || !is_before(&device->event[child], event))
			break;
		device->event[i] = device->event[child];
		i = child;
	}
	device->event[i] = *event;
}

bool maple_time_event_add(struct maple_time *device, const struct event *event)
{
	struct event ordered = *event;

	if (device->event_count == MAPLE_TIME_EVENTS)
		return false;
	ordered.order = device->order++;
	sift_up(device, device->event_count++, &ordered);
	return true;
}

const struct event *maple_time_event_first(const struct maple_time *device)
{
	return device->event_count ? &device->event[0] : NULL;
}

void maple_time_event_take(struct maple_time *device, struct event *event)
{
	struct event last = device->event[--device->event_count];

	*event = device->event[0];
	if (device->event_count)
		sift_down(device, 0, &last);
}

void maple_time_event_drop(struct maple_time *device, uint64_t owner)
{
	unsigned int count = device->event_count, left = 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct event *event = &device->event[i];

		if (event->kind == EVENT_ACCESS && device->access[event->access].owner == owner) {
			device->access[event->access].owner = 0;
			continue;
		}
		device->event[left++] = *event;
	}
	device->event_count = 0;
	for (unsigned int i = 0; i < left; i++) {
		struct event event = device->event[i];

		sift_up(device, device->event_count++, &event);
	}
}
