/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Statistics of a timed MAPLE, beside the model's counters. */
#include <string.h>

#include "devices/maple/time/internal.h"

/* Adds levels times the cycles since the last change. */
static void add_passed(const struct maple_time *device, uint64_t now, struct maple_time_statistics *statistics)
{
	uint64_t passed = now - device->counted_until;

	statistics->outstanding += device->loads * passed;
	maple_model_add_levels(device->model, passed, statistics->occupancy);
}

void maple_time_count_until(struct maple_time *device, uint64_t now)
{
	if (now <= device->counted_until)
		return;
	add_passed(device, now, &device->statistics);
	device->counted_until = now;
}

/* Waits that have not ended count up to now. */
static void add_waiting(const struct maple_time *device, uint64_t now, struct maple_time_statistics *statistics)
{
	for (unsigned int i = 0; i < device->queue_count; i++) {
		const struct queue_time *q = &device->queue[i];

		if (q->store.owner && now > q->store.since)
			statistics->full[i] += now - q->store.since;
		if (q->is_held && now > q->held_since)
			statistics->full[i] += now - q->held_since;
		if (q->load.owner && now > q->load.since)
			statistics->empty[i] += now - q->load.since;
	}
}

void maple_time_statistics(const struct maple_time *device, uint64_t now, struct maple_time_statistics *statistics)
{
	*statistics = device->statistics;
	now = later(now, device->counted_until);
	add_passed(device, now, statistics);
	add_waiting(device, now, statistics);
	statistics->cycles = now - device->statistics_since;
}

void maple_time_clear_statistics(struct maple_time *device, uint64_t now)
{
	maple_time_advance(device, now);
	memset(&device->statistics, 0, sizeof(device->statistics));
	device->statistics_since = device->now;
	device->statistics.outstanding_most = device->loads;
	for (unsigned int i = 0; i < device->queue_count; i++) {
		struct queue_time *q = &device->queue[i];

		q->store.since = q->load.since = q->held_since = device->now;
	}
}
