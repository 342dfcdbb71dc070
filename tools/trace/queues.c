/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Numbers that came in runs and leave in other runs: words of a queue, commands. */
#include <stdlib.h>
#include <string.h>

#include "tools/trace/trace.h"

static bool make_room(struct trace_queue *queue)
{
	struct trace_run *runs;
	size_t capacity;

	if (queue->first + queue->count < queue->capacity)
		return true;
	if (queue->first > queue->capacity / 2) {
		memmove(queue->runs, queue->runs + queue->first, queue->count * sizeof(*runs));
		queue->first = 0;
		return true;
	}
	capacity = queue->capacity ? 2 * queue->capacity : 16;
	runs = realloc(queue->runs, capacity * sizeof(*runs));
	if (!runs)
		return false;
	queue->runs = runs;
	queue->capacity = capacity;
	return true;
}

bool trace_queue_put(struct trace_queue *queue, uint64_t first, uint64_t count, uint64_t time)
{
	if (!make_room(queue))
		return false;
	queue->runs[queue->first + queue->count++] = (struct trace_run){ first, count, time };
	return true;
}

/* From the front, as almost always. */
static void take_front(struct trace_queue *queue, uint64_t count)
{
	struct trace_run *front = &queue->runs[queue->first];

	front->first += count;
	front->count -= count;
	if (front->count)
		return;
	queue->first++;
	queue->count--;
}

/* From anywhere else: the rest of the run stays, as one run or two. */
static bool take_inner(struct trace_queue *queue, size_t at, uint64_t first, uint64_t count)
{
	struct trace_run run = queue->runs[queue->first + at];
	uint64_t before = first - run.first, after = run.count - before - count;
	size_t left = queue->count - at - 1;
	struct trace_run *place;

	if (!make_room(queue))
		return false;
	place = &queue->runs[queue->first + at];
	memmove(place + (before != 0) + (after != 0), place + 1, left * sizeof(*place));
	if (before)
		*place++ = (struct trace_run){ run.first, before, run.time };
	if (after)
		*place = (struct trace_run){ first + count, after, run.time };
	queue->count += (size_t)(before != 0) + (after != 0) - 1;
	return true;
}

bool trace_queue_take(struct trace_queue *queue, uint64_t first, uint64_t count, struct trace_run *taken)
{
	for (size_t i = 0; i < queue->count; i++) {
		const struct trace_run *run = &queue->runs[queue->first + i];
		uint64_t offset = first - run->first;

		if (first < run->first || offset >= run->count)
			continue;
		if (count > run->count - offset)
			count = run->count - offset;
		*taken = (struct trace_run){ first, count, run->time };
		if (!i && !offset)
			take_front(queue, count);
		else if (!take_inner(queue, i, first, count))
			return false;
		return true;
	}
	return false;
}
