/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The pace of LIMA: chunks of B come when memory has them, and their words go on one by
 * one: one in lima_interval cycles of a queue, one a cycle of all queues together.
 */
#include "devices/maple/time/internal.h"

bool maple_time_step_is_lima(enum maple_step step)
{
	return step >= MAPLE_STEP_LIMA_POINTER;
}

/* The queue is tried again at `time`. */
static void wake_at(struct maple_time *device, unsigned int queue, uint64_t time)
{
	struct event event = { .time = time, .kind = EVENT_LIMA, .queue = (uint8_t)queue };

	if (device->queue[queue].lima_wake <= time)
		return;
	if (maple_time_event_add(device, &event))
		device->queue[queue].lima_wake = time;
}

/* The first cycle from now on in which the queue has the port; it is reserved, so that queues take turns. */
static uint64_t port_time(struct maple_time *device, struct queue_time *q)
{
	if (q->lima_slot < device->now) {
		q->lima_slot = later(device->lima_port, device->now);
		device->lima_port = q->lima_slot + 1;
	}
	return q->lima_slot;
}

size_t maple_time_lima_begin(struct maple_time *device, unsigned int queue, enum maple_step step,
			     size_t count)
{
	struct queue_time *q = &device->queue[queue];
	uint64_t time = later(q->lima_next, device->blocked_until);

	(void)step;
	if (!count)
		return 0;
	if (q->chunk_count)
		time = later(time, q->chunk[q->chunk_first].ready);
	if (time <= device->now)
		time = port_time(device, q);
	if (time <= device->now)
		return 1;
	wake_at(device, queue, time);
	return 0;
}

void maple_time_lima_end(struct maple_time *device, unsigned int queue, enum maple_step step, size_t count)
{
	struct queue_time *q = &device->queue[queue];
	struct chunk_time *chunk;

	if (!count)
		return;
	if (maple_time_step_is_lima(step)) {
		q->lima_next = device->now + device->parameters.maple_lima_interval;
		if (q->chunk_count && !--q->chunk[q->chunk_first].words) {
			q->chunk_first = (q->chunk_first + 1) % MAPLE_MAX_LIMA_CHUNKS;
			q->chunk_count--;
		}
		return;
	}
	if (q->chunk_count == MAPLE_MAX_LIMA_CHUNKS)
		return;
	chunk = &q->chunk[(q->chunk_first + q->chunk_count++) % MAPLE_MAX_LIMA_CHUNKS];
	*chunk = (struct chunk_time){ .ready = device->step.chunk, .words = (uint32_t)count };
}

/* Requests for chunks leave one a cycle, as long after their loop as those of pointers after their store. */
uint64_t maple_time_lima_chunk_issue(struct maple_time *device)
{
	uint64_t time = later(device->now + device->pipes.store, device->chunk_port);

	time = maple_time_step_walks(device, time);
	device->chunk_port = time + 1;
	return time;
}

void maple_time_lima_forget(struct maple_time *device, unsigned int queue)
{
	struct queue_time *q = &device->queue[queue];

	q->chunk_count = 0;
	q->lima_next = 0;
}

void maple_time_lima_go_on(struct maple_time *device, unsigned int queue)
{
	device->queue[queue].lima_wake = NEVER;
	maple_model_progress(device->model, queue, device->now);
}
