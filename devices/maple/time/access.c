/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses to a timed MAPLE: when they enter a pipe, and when their answers leave it. */
#include "devices/maple/time/desc.h"

#define READY_MARGIN 4		/* words that one store can push */

/* When words `first` on of the queue can leave it. */
static uint64_t words_ready_at(const struct maple_time *device, unsigned int queue, uint64_t first,
			       unsigned int count)
{
	const struct queue_time *q = &device->queue[queue];
	uint64_t time = 0;

	for (unsigned int i = 0; i < count; i++)
		time = later(time, q->ready[(first + i) % MAPLE_MAX_WORDS]);
	return time;
}

void maple_time_mark_ready(struct maple_time *device, unsigned int queue, uint64_t first, unsigned int count,
			   uint64_t time)
{
	for (unsigned int i = 0; i < count; i++)
		device->queue[queue].ready[(first + i) % MAPLE_MAX_WORDS] = time;
}

/* --- waiting accesses ------------------------------------------------------ */

static void finish_load(struct maple_time *device, unsigned int queue, uint64_t data)
{
	struct queue_time *q = &device->queue[queue];
	uint64_t popped = first_word(device, queue), first = popped > q->load.words ? popped - q->load.words : 0;
	uint64_t time = later(device->now, words_ready_at(device, queue, first, q->load.words));
	uint64_t owner = q->load.owner;

	device->statistics.empty[queue] += time - q->load.since;
	q->load.owner = 0;
	device->host.complete(device->host.context, owner, data, time + device->pipes.load);
}

static void finish_store(struct maple_time *device, unsigned int queue)
{
	struct queue_time *q = &device->queue[queue];
	uint64_t owner = q->store.owner, time = device->now + device->pipes.reply;

	if (q->store.operation == MAPLE_STORE_PRODUCE)
		maple_time_mark_ready(device, queue, next_word(device, queue) - q->store.words,
				      q->store.words, device->now + device->pipes.visible);
	if (q->store.words)
		time = later(device->now + device->pipes.store, device->step.issued);
	device->statistics.full[queue] += device->now - q->store.since;
	q->store.owner = 0;
	device->host.complete(device->host.context, owner, 0, time);
}

void maple_time_complete(void *context, uint64_t owner, uint64_t data)
{
	struct maple_time *device = context;

	for (unsigned int i = 0; i < device->queue_count; i++) {
		if (device->queue[i].load.owner == owner) {
			finish_load(device, i, data);
			return;
		}
		if (device->queue[i].store.owner == owner) {
			finish_store(device, i);
			return;
		}
	}
}

/* --- one access -------------------------------------------------------------- */

static bool is_produce_store(const struct mimic_access *access)
{
	unsigned int operation = operation_of(access);

	return access->is_write && operation != MAPLE_STORE_LOOP &&
	       !(operation >= MAPLE_STORE_QUEUE_LOOP_POINTER32 && operation <= MAPLE_STORE_QUEUE_LOOP_PREFETCH64);
}

static bool has_parked(struct maple_time *device, unsigned int queue, const struct mimic_access *access)
{
	struct queue_time *q = &device->queue[queue];
	struct waiting waiting = {
		.owner = access->owner, .since = device->now, .operation = operation_of(access),
		.words = !access->is_write || is_produce_store(access) ? words_of(access) : 0,
	};

	*(access->is_write ? &q->store : &q->load) = waiting;
	return false;
}

/* It is at its pipe, of this queue. true: it leaves the device at *done. */
static bool execute(struct maple_time *device, struct mimic_access *access, enum maple_pipe pipe, unsigned int queue,
		    uint64_t *done)
{
	uint64_t latest = device->now + device->pipes.store, first = 0;

	device->step = (struct step_time){ 0 };
	if (pipe == MAPLE_PIPE_PRODUCE) {
		bool is_data = operation_of(access) == MAPLE_STORE_PRODUCE;

		first = next_word(device, queue);
		maple_time_mark_ready(device, queue, first, READY_MARGIN,
				      is_data ? device->now + device->pipes.visible : latest);
	}
	if (device->model->ops->access(device->model, access, device->now) == MIMIC_PARKED)
		return has_parked(device, queue, access);
	switch (pipe) {
	case MAPLE_PIPE_PRODUCE:
		*done = later(latest, device->step.issued);
		if (device->pipes.values)
			maple_desc_pushed(device, queue, first, access);
		break;
	case MAPLE_PIPE_CONSUME:
		*done = device->now + device->pipes.load;
		break;
	default:
		*done = device->now + device->pipes.reply;
	}
	return true;
}

void maple_time_finish_held(struct maple_time *device, struct mimic_access *access)
{
	unsigned int queue = 0;
	enum maple_pipe pipe = maple_model_pipe(device->model, access, &queue);
	uint64_t done;

	if (execute(device, access, pipe, queue, &done))
		device->host.complete(device->host.context, access->owner, access->is_write ? 0 : access->data,
				      done);
}

/* Where queues count values (DeSC, maple.queue_values): stores that waited for a value's room, or for a load to end. */
void maple_time_let_in_held(struct maple_time *device)
{
	for (unsigned int i = 0; device->pipes.values && i < device->queue_count; i++) {
		struct queue_time *q = &device->queue[i];
		struct mimic_access access;

		if (!q->is_held)
			continue;
		access = q->held;
		maple_desc_popped(device, i);
		if (!maple_desc_has_room(device, i, &access))
			continue;
		q->is_held = false;
		device->statistics.full[i] += device->now - q->held_since;
		maple_time_finish_held(device, &access);
	}
}

bool maple_time_must_hold(struct maple_time *device, const struct mimic_access *access)
{
	unsigned int queue;

	if (!device->pipes.values || maple_model_pipe(device->model, access, &queue) != MAPLE_PIPE_PRODUCE)
		return false;
	maple_desc_popped(device, queue);
	if (maple_desc_has_room(device, queue, access))
		return false;
	device->queue[queue].held = *access;
	device->queue[queue].held_since = device->now;
	device->queue[queue].is_held = true;
	return true;
}

static uint64_t store_enters(struct maple_time *device, struct queue_time *q)
{
	uint64_t time = later(device->now, q->store_next);

	if (device->pipes.is_shared)
		time = later(time, later(device->store_pipe, device->blocked_until));
	q->store_next = time + device->pipes.store_interval;
	device->store_pipe = time + 1;
	device->statistics.pipe += time - device->now;
	return time;
}

/* The model pops at once: a load waits here for words that are still in their own pipe. */
static uint64_t load_enters(struct maple_time *device, unsigned int queue, const struct mimic_access *access)
{
	unsigned int level;
	uint64_t first = maple_model_popped(device->model, queue, &level), time = device->now, ready;

	if (device->pipes.is_shared)
		time = later(time, device->load_pipe);
	device->load_pipe = time + 1;
	device->statistics.pipe += time - device->now;
	if (level < words_of(access))
		return time;
	ready = words_ready_at(device, queue, first, words_of(access));
	if (ready <= time)
		return time;
	device->statistics.empty[queue] += ready - time;
	return ready;
}

/* The parameters say how large queues are, and not the program's size code. */
static void choose_size(const struct maple_time *device, struct mimic_access *access)
{
	static const uint16_t words[] = MAPLE_SIZE_CODES;
	unsigned int code = access->offset >> MAPLE_QUEUE_SHIFT & 7;
	int chosen = device->any_size_code;

	if (access->is_write || (access->page != MAPLE_PAGE_MAPLE && access->page != MAPLE_PAGE_MMU))
		return;
	if (operation_of(access) != MAPLE_LOAD_INIT && operation_of(access) != MAPLE_LOAD_FIFO_ADD)
		return;
	if (chosen < 0 && words[code] == 32)
		chosen = device->size_code;
	if (chosen >= 0)
		access->offset = MAPLE_OFFSET(operation_of(access), chosen);
}

/* false: as many as there can be are held back. */
static bool hold_until(struct maple_time *device, const struct mimic_access *access, uint64_t time)
{
	for (unsigned int i = 0; i < MAPLE_TIME_ACCESSES; i++) {
		struct event event = { .time = time, .kind = EVENT_ACCESS, .access = (uint8_t)i };

		if (device->access[i].owner)
			continue;
		if (!maple_time_event_add(device, &event))
			return false;
		device->access[i] = *access;
		return true;
	}
	return false;
}

bool maple_time_access(struct maple_time *device, struct mimic_access *access, uint64_t now, uint64_t *done)
{
	unsigned int queue = 0;
	enum maple_pipe pipe;
	uint64_t time;
	bool is_over;

	maple_time_advance(device, now);
	time = device->now;
	choose_size(device, access);
	pipe = maple_model_pipe(device->model, access, &queue);
	switch (pipe) {
	case MAPLE_PIPE_PRODUCE:
		time = store_enters(device, &device->queue[queue]);
		break;
	case MAPLE_PIPE_CONSUME:
		time = load_enters(device, queue, access);
		break;
	default:
		break;
	}
	if (time > device->now && hold_until(device, access, time))
		return false;
	if (maple_time_must_hold(device, access))
		return false;
	is_over = execute(device, access, pipe, queue, done);
	maple_time_let_in_held(device);
	return is_over;
}
