/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The model's memory port in time: requests leave the pipeline one after the other, walks
 * of the page table before them, and the data of loads comes back by itself.
 */
#include <errno.h>

#include "devices/maple/time/internal.h"

#define WALK_LEVELS 3	/* Sv39: maple-mmio.md, A9 */

static struct maple_time *device_of(void *context)
{
	return context;
}

static bool is_through_l2(const struct maple_time *device)
{
	switch (device->step.step) {
	case MAPLE_STEP_LLC_POINTER:
	case MAPLE_STEP_LIMA_LLC_POINTER:
	case MAPLE_STEP_LIMA_LLC_CHUNK:
		return true;
	default:
		return device->pipes.through_l2;
	}
}

/* When a walk that begins at `begun` ends. */
static uint64_t walk_end(const struct maple_time *device, uint64_t page, uint64_t begun)
{
	const struct mimic_time_host *host = &device->host;

	if (device->parameters.maple_walk)
		return begun + WALK_LEVELS * device->parameters.maple_walk;
	return host->walk_time ? host->walk_time(host->context, page, begun) : begun;
}

uint64_t maple_time_step_walks(struct maple_time *device, uint64_t time)
{
	struct step_time *step = &device->step;
	uint64_t begun = later(time, device->blocked_until);

	time = begun;
	for (unsigned int i = 0; device->parameters.maple_translation && i < step->walks; i++)
		time = walk_end(device, step->walked[i], time);
	if (time > begun)
		device->blocked_until = time;
	device->statistics.walks += time - begun;
	step->walks = 0;
	return time;
}

/* When the request of a load or an atomic leaves the device. */
static uint64_t issue(struct maple_time *device)
{
	uint64_t earliest, time;

	if (maple_time_step_is_lima(device->step.step))
		return maple_time_step_walks(device, device->now);
	earliest = device->now + device->pipes.store;
	time = later(earliest, device->issue_next);
	device->statistics.issue += time - earliest;
	time = maple_time_step_walks(device, time);
	device->issue_next = time + device->pipes.pointer_interval;
	device->step.issued = time;
	return time;
}

/* A load of 8 bytes that is aligned to 4 only is two requests, one right after the other. */
static uint64_t load_time(struct maple_time *device, uint64_t address, unsigned int size, uint64_t time)
{
	const struct mimic_time_host *host = &device->host;
	bool through_l2 = is_through_l2(device);
	uint64_t first;

	if (size != 8 || !(address & 4))
		return host->read_time(host->context, address, size, through_l2, time);
	first = host->read_time(host->context, address, 4, through_l2, time);
	if (!maple_time_step_is_lima(device->step.step)) {
		device->step.issued = time + 1;
		device->issue_next++;
	}
	return later(first, host->read_time(host->context, address + 4, 4, through_l2, time + 1));
}

/* Words that the model pushes next are the step's, and leave the queue from `time` on. */
static void mark_next(struct maple_time *device, unsigned int count, uint64_t time)
{
	maple_time_mark_ready(device, device->step.queue, next_word(device, device->step.queue), count, time);
}

static bool start_load(struct maple_time *device, uint64_t address, unsigned int size, uint64_t tag)
{
	struct queue_time *q = &device->queue[device->step.queue];
	struct event event = { .kind = EVENT_FILL, .queue = (uint8_t)device->step.queue, .address = address,
			       .size = (uint8_t)size, .tag = tag };

	if (device->event_count >= MAPLE_TIME_EVENTS - MAPLE_TIME_ACCESSES - MAPLE_MAX_QUEUES)
		return false;
	event.time = load_time(device, address, size, issue(device));
	maple_time_event_add(device, &event);
	q->loads++;
	device->loads++;
	if (device->loads > device->statistics.outstanding_most)
		device->statistics.outstanding_most = device->loads;
	mark_next(device, size / 4, 0);
	return true;
}

/* The model asks for one load at a time, so that none begins before one that faults. */
static long gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
		   uint64_t tag, uint64_t *values)
{
	struct maple_time *device = device_of(context);
	const struct mimic_time_host *host = &device->host;

	for (size_t i = 0; i < count; i++) {
		values[i] = 0;
		if (host->read(host->context, addresses[i], &values[i], size))
			return (long)i;
	}
	if (count != 1 || !device->step.is_on)
		return (long)count;
	return start_load(device, addresses[0], size, tag) ? -EINPROGRESS : 1;
}

void maple_time_fill(struct maple_time *device, const struct event *event)
{
	const struct mimic_time_host *host = &device->host;
	uint64_t value = 0;
	int error = host->read(host->context, event->address, &value, event->size);

	device->queue[event->queue].loads--;
	device->loads--;
	maple_model_fill(device->model, event->tag, error, value, device->now);
}

/* Chunks of B, and the halves of a load that lies in two pages. */
static int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	struct maple_time *device = device_of(context);
	const struct mimic_time_host *host = &device->host;
	struct step_time *step = &device->step;
	int error = host->read(host->context, address, buffer, (unsigned int)size);
	uint64_t time;

	if (error || !step->is_on)
		return error;
	if (step->step == MAPLE_STEP_LIMA_CHUNK || step->step == MAPLE_STEP_LIMA_LLC_CHUNK) {
		time = host->read_time(host->context, address, (unsigned int)size, is_through_l2(device),
				       maple_time_lima_chunk_issue(device));
		step->chunk = time + device->pipes.chunk;
		return 0;
	}
	time = host->read_time(host->context, address, (unsigned int)size, is_through_l2(device), issue(device));
	step->half = later(step->half, time);
	mark_next(device, 2, step->half);
	return 0;
}

static int do_atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		     uint32_t expected, uint32_t *old)
{
	struct maple_time *device = device_of(context);
	const struct mimic_time_host *host = &device->host;
	int error = host->atomic(host->context, address, operation, operand, expected, old);

	if (error || !device->step.is_on)
		return error;
	mark_next(device, 1, host->write_time(host->context, address, sizeof(*old), issue(device)));
	return 0;
}

static void prefetch(void *context, uint64_t address)
{
	struct maple_time *device = device_of(context);

	device->host.prefetch(device->host.context, address, issue(device));
}

/* Of identity: the TLB has missed. A prefetch asks for its page twice. */
static int walk(void *context, uint64_t address, uint64_t *frame)
{
	struct step_time *step = &device_of(context)->step;

	*frame = address;
	if (step->walks && step->walked[step->walks - 1] == address)
		return 0;
	if (step->walks < STEP_WALKS)
		step->walked[step->walks++] = address;
	return 0;
}

struct mimic_memory maple_time_memory(struct maple_time *device)
{
	return (struct mimic_memory){
		.context = device, .walk = walk, .gather = gather, .read = read_bytes, .atomic = do_atomic,
		.prefetch = prefetch,
	};
}

/* --- pace ---------------------------------------------------------------- */

static size_t begin_step(void *context, unsigned int unit, unsigned int number, size_t count)
{
	struct maple_time *device = device_of(context);
	enum maple_step step = (enum maple_step)number;

	device->step = (struct step_time){ .queue = unit, .step = step, .chunk = device->now,
					   .issued = device->now + device->pipes.store };
	if (maple_time_step_is_lima(step))
		count = maple_time_lima_begin(device, unit, step, count);
	device->step.is_on = count;
	if (count && step == MAPLE_STEP_LIMA_PRODUCE)
		mark_next(device, 1, device->now);
	return count;
}

static void end_step(void *context, unsigned int unit, unsigned int number, size_t count)
{
	struct maple_time *device = device_of(context);

	device->step.is_on = false;
	if (number >= MAPLE_STEP_LIMA_CHUNK)
		maple_time_lima_end(device, unit, (enum maple_step)number, count);
}

static void dropped(void *context, unsigned int unit)
{
	struct maple_time *device = device_of(context);

	maple_time_lima_forget(device, unit);
	device->queue[unit].values.count = 0;
	maple_time_mark_ready(device, unit, 0, MAPLE_MAX_WORDS, 0);
}

struct mimic_pace maple_time_pace(struct maple_time *device)
{
	return (struct mimic_pace){
		.context = device, .begin = begin_step, .end = end_step, .drop = dropped,
	};
}
