/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The embedded transport: accesses, posts and loads on a device model in this process. */
#include "libmimic/embedded/embedded.h"

#include <errno.h>
#include <string.h>

#include "libmimic/base/hold.h"
#include "libmimic/base/memory.h"
#include "libmimic/embedded/instance.h"
#include "libmimic/embedded/section.h"

/* Always inline: of the one function that makes an access. */
#define PART_OF_ACCESS static inline __attribute__((always_inline))
#define RARE __attribute__((noinline, cold))

/* Commands are published in pieces, so that a consumer can begin before all is written. */
#define POST_PIECE 512u
/* How long a busy consumer may take between two drains of a full ring. */
#define CONSUMER_MICROSECONDS 10

static struct embedded_device *handle_of(struct mimic_device *device)
{
	return (struct embedded_device *)device;
}

/* A page that the handle does not have: loads give 0, stores are dropped. 0, or -ENODEV: it is closed. */
static int no_page(const struct embedded_device *handle)
{
	return handle->open ? 0 : -ENODEV;
}

/*
 * With the lock, and returns with it if 0: waits until all that this thread
 * posted has taken effect. The hardware's core would still stand at the store.
 */
static int finish_posts(struct embedded_instance *instance, struct embedded_lane *lane)
{
	uint64_t ticket, ignored;
	int error;

	while (lane->consumer.position != lane->producer.position) {
		ticket = mimic_embedded_park(instance, lane, EMBEDDED_WAIT_ROOM, EMBEDDED_RING_WORDS);
		mimic_embedded_leave(instance);
		mimic_embedded_await(instance, lane, ticket, &ignored);
		error = mimic_embedded_enter(instance, lane);
		if (error)
			return error;
	}
	return 0;
}

/* With the lock, and returns with it if 0: until all that another thread has posted by now has taken effect. */
static int wait_behind(struct embedded_instance *instance, struct embedded_lane *lane,
		       struct embedded_lane *other)
{
	uint64_t head = atomic_load_explicit(&other->ring.head, memory_order_acquire);
	uint64_t ticket, ignored;
	int error;

	while ((int64_t)(other->consumer.position - head) < 0) {
		ticket = mimic_embedded_park(instance, lane, EMBEDDED_WAIT_ORDER, head);
		lane->behind = other;
		instance->has_ordered = true;
		mimic_embedded_leave(instance);
		mimic_embedded_await(instance, lane, ticket, &ignored);
		error = mimic_embedded_enter(instance, lane);
		if (error)
			return error;
	}
	return 0;
}

/* The parts of the device that the access uses and for which threads' accesses keep their order, by bit. */
static uint32_t ordered(const struct embedded_device *handle, const struct mimic_access *access)
{
	const struct mimic_kind *kind = handle->instance->kind;

	if (!kind->ordered_posts)
		return 0;
	return kind->order ? kind->order(access) : 1;
}

/*
 * A program's threads may use such a device in turn, and earlier posts of another thread come
 * first. They still lie in that thread's ring, and may have to wait there.
 */
static int order_behind(struct embedded_device *handle, struct embedded_lane *lane, uint32_t works_on)
{
	int error = 0;

	for (; works_on && !error; works_on &= works_on - 1) {
		struct embedded_lane *other =
			atomic_load_explicit(&handle->last_post[__builtin_ctz(works_on)],
					     memory_order_relaxed);

		if (other && other != lane)
			error = wait_behind(handle->instance, lane, other);
	}
	return error;
}

static bool is_last(struct embedded_device *handle, struct embedded_lane *lane, uint32_t works_on)
{
	/* Threads that take turns see each other's store by their own synchronisation. */
	for (; works_on; works_on &= works_on - 1) {
		if (atomic_load_explicit(&handle->last_post[__builtin_ctz(works_on)],
					 memory_order_relaxed) != lane)
			return false;
	}
	return true;
}

static int order_posts(struct embedded_device *handle, struct embedded_lane *lane,
		       const struct mimic_access *pattern)
{
	struct mimic_access store = *pattern;
	uint32_t works_on;
	int error;

	store.is_write = 1;
	works_on = ordered(handle, &store);
	if (is_last(handle, lane, works_on))
		return 0;
	error = mimic_embedded_enter(handle->instance, lane);
	if (error)
		return error;
	error = order_behind(handle, lane, works_on);
	if (error)
		return error;
	mimic_embedded_leave(handle->instance);
	for (; works_on; works_on &= works_on - 1)
		atomic_store_explicit(&handle->last_post[__builtin_ctz(works_on)], lane,
				      memory_order_relaxed);
	return 0;
}

/* Enters, and every post that this access comes after has taken effect. */
PART_OF_ACCESS int begin(struct embedded_device *handle, struct embedded_lane *lane,
			 const struct mimic_access *access)
{
	int error = mimic_embedded_section_enter(handle->instance, lane);

	if (!error && lane->consumer.position != lane->producer.position)
		error = finish_posts(handle->instance, lane);
	if (error || !handle->instance->kind->ordered_posts)
		return error;
	return order_behind(handle, lane, ordered(handle, access));
}

/* With the lock; leaves it. The device has not answered. */
static RARE int wait_for_answer(struct embedded_instance *instance, struct embedded_lane *lane,
				uint8_t first_page, struct mimic_access *access)
{
	uint64_t ticket = mimic_embedded_park(instance, lane, EMBEDDED_WAIT_ANSWER, 0), answer = 0;

	lane->access = *access;
	lane->access.page += first_page;
	mimic_embedded_leave(instance);
	if (!mimic_embedded_await(instance, lane, ticket, &answer))
		return -EAGAIN;
	if (!access->is_write)
		access->data = answer;
	return 0;
}

/*
 * With the lock; leaves it. One access that may wait. Returns 0, -errno, or
 * -EAGAIN: a signal handler's access came between, and it has to be issued again.
 */
PART_OF_ACCESS int issue(struct embedded_instance *instance, struct embedded_lane *lane, uint8_t first_page,
			 struct mimic_access *access)
{
	enum mimic_outcome outcome;

	/* Not in a copy: a processor that copies what was just written in pieces waits until it is in the cache. */
	access->owner = lane->holder;
	access->page += first_page;
	outcome = instance->model->ops->access(instance->model, access, instance->clock.now);
	/* Before leave(): a signal that waited may be handled there, and its handler may jump away. */
	access->page -= first_page;
	if (outcome != MIMIC_DONE)
		return wait_for_answer(instance, lane, first_page, access);
	/* It may have made room for a store that waits in a ring. */
	if (instance->blocked)
		mimic_embedded_drain(instance);
	mimic_embedded_section_leave(instance);
	return 0;
}

static int embedded_access(struct mimic_device *device, struct mimic_access *access)
{
	struct embedded_device *handle = handle_of(device);
	struct embedded_instance *instance = handle->instance;
	struct embedded_lane *lane;
	int error;

	if (access->page >= handle->pages) {
		access->data = 0;
		return no_page(handle);
	}
	lane = mimic_embedded_lane_get(instance, &error);
	if (!lane)
		return error;
	do {
		error = begin(handle, lane, access);
		if (!error)
			error = issue(instance, lane, handle->first_page, access);
	} while (error == -EAGAIN);
	return error;
}

/*
 * While a consumer on another CPU drains the ring, let it: draining here would
 * pull the model's cache lines over, and the consumer would have to pull them back.
 */
static bool consumer_makes_room(struct embedded_instance *instance, struct embedded_lane *lane)
{
	uint64_t tail = lane->producer.peer;
	struct mimic_spin spin;

	mimic_spin_start(&spin, CONSUMER_MICROSECONDS, mimic_embedded_peer_is_elsewhere(instance, lane));
	while (mimic_spin_step(&spin)) {
		if (mimic_ring_room(&lane->producer, EMBEDDED_POST_ROOM) >= EMBEDDED_POST_ROOM)
			return true;
		if (lane->producer.peer == tail)
			continue;
		tail = lane->producer.peer;
		mimic_spin_start(&spin, CONSUMER_MICROSECONDS, true);
	}
	return false;
}

/* The ring is full: drain it ourselves, and wait if the device holds it up. */
static int make_room(struct embedded_instance *instance, struct embedded_lane *lane)
{
	uint64_t ticket, ignored;
	int error;

	if (consumer_makes_room(instance, lane))
		return 0;
	error = mimic_embedded_enter(instance, lane);
	if (error)
		return error;
	mimic_ring_release(&lane->consumer, 0);
	if (mimic_ring_room(&lane->producer, EMBEDDED_POST_ROOM) >= EMBEDDED_POST_ROOM) {
		mimic_embedded_leave(instance);
		return 0;
	}
	ticket = mimic_embedded_park(instance, lane, EMBEDDED_WAIT_ROOM, EMBEDDED_POST_ROOM);
	mimic_embedded_leave(instance);
	mimic_embedded_await(instance, lane, ticket, &ignored);
	return 0;
}

/* Words of a payload into the ring, `ahead` of our position. */
static void put_words(struct mimic_ring_end *producer, uint64_t ahead, const uint64_t *values,
		      uint64_t count)
{
	while (count) {
		uint64_t piece;
		uint64_t *words = mimic_ring_piece(producer, ahead, count, &piece);

		/* Not memcpy(): gcc knows the bound, and makes of it a rep movsq that takes longer to start than to copy. */
		memmove(words, values, piece * sizeof(*values));
		values += piece;
		ahead += piece;
		count -= piece;
	}
}

/* One command: as many of the values as the ring takes now. Returns how many. */
static size_t put_command(struct embedded_lane *lane, struct mimic_command *command,
			  const uint64_t *values, size_t count)
{
	struct mimic_ring_end *producer = &lane->producer;
	size_t wanted = count < POST_PIECE ? count : POST_PIECE;
	int64_t room = mimic_ring_room(producer, wanted + 1);

	if (room < 2)
		return 0;
	if (wanted > (size_t)room - 1)
		wanted = (size_t)room - 1;
	command->count = (uint32_t)wanted;
	mimic_embedded_prefetch(values, wanted, command->size);
	mimic_ring_put(producer, 0, mimic_command_pack(command));
	put_words(producer, 1, values, wanted);
	mimic_ring_publish(producer, wanted + 1);
	return wanted;
}

static ssize_t embedded_post(struct mimic_device *device, const struct mimic_access *pattern,
			     const uint64_t *values, size_t count)
{
	struct embedded_device *handle = handle_of(device);
	struct embedded_instance *instance = handle->instance;
	struct mimic_command command = {
		.kind = MIMIC_COMMAND_STORE,
		.page = pattern->page + handle->first_page,
		.size = pattern->size,
		.offset = (uint16_t)pattern->offset,
	};
	struct embedded_lane *lane;
	size_t done = 0, taken;
	int error;

	if (pattern->page >= handle->pages) {
		error = no_page(handle);
		return error ? error : (ssize_t)count;
	}
	lane = mimic_embedded_lane_get(instance, &error);
	if (!lane)
		return error;
	error = order_posts(handle, lane, pattern);
	if (error)
		return error;
	atomic_store_explicit(&lane->cpu, mimic_cpu_current(), memory_order_relaxed);
	/* Left by a siglongjmp(): our posts must not answer a load that no thread waits for. */
	if (atomic_load_explicit(&lane->waiting, memory_order_relaxed) != EMBEDDED_WAIT_NONE) {
		error = mimic_embedded_enter(instance, lane);
		if (error)
			return error;
		mimic_embedded_leave(instance);
	}
	while (done < count) {
		/* A handler's access waits until all that is in the ring has been taken: it must be whole. */
		mimic_hold_begin();
		taken = put_command(lane, &command, values + done, count - done);
		done += taken;
		if (taken)
			mimic_embedded_notify(instance, lane);
		mimic_hold_end();
		if (taken)
			continue;
		error = make_room(instance, lane);
		if (error)
			return error;
	}
	return (ssize_t)count;
}

/* With the lock: loads as far as they go without waiting, with posts that the rings add meanwhile. */
static size_t load_ready(struct embedded_instance *instance, const struct mimic_access *pattern,
			 char *values, size_t count)
{
	size_t done = 0, got;
	bool progress;

	do {
		got = instance->model->ops->load_many(instance->model, pattern,
						      values + done * pattern->size, count - done,
						      instance->clock.now);
		done += got;
		/* Loads make room for stores that wait in a ring, and those bring more to load. */
		progress = instance->blocked && mimic_embedded_drain(instance);
	} while (done < count && progress);
	return done;
}

static ssize_t embedded_load(struct mimic_device *device, const struct mimic_access *pattern,
			     void *values, size_t count)
{
	struct embedded_device *handle = handle_of(device);
	struct embedded_instance *instance = handle->instance;
	struct mimic_access each = *pattern, one;
	struct embedded_lane *lane;
	size_t done = 0;
	int error;

	if (each.page >= handle->pages) {
		memset(values, 0, count * each.size);
		error = no_page(handle);
		return error ? error : (ssize_t)count;
	}
	lane = mimic_embedded_lane_get(instance, &error);
	if (!lane)
		return error;
	each.owner = lane->holder;
	each.page += handle->first_page;
	each.is_write = 0;
	while (done < count) {
		error = begin(handle, lane, pattern);
		if (error)
			return error;
		done += load_ready(instance, &each, (char *)values + done * each.size, count - done);
		if (done == count) {
			mimic_embedded_leave(instance);
			break;
		}
		one = each;
		error = issue(instance, lane, 0, &one);
		if (error == -EAGAIN)
			continue;
		if (error)
			return error;
		/* Little-endian: the low bytes are the answer. */
		memcpy((char *)values + done * each.size, &one.data, each.size);
		done++;
	}
	return (ssize_t)count;
}

static ssize_t embedded_counters(struct mimic_device *device, uint64_t *values, size_t count)
{
	const struct embedded_device *handle = handle_of(device);
	struct embedded_instance *instance = handle->instance;
	const struct mimic_contexts *contexts = instance->kind->contexts;
	struct embedded_lane *lane;
	size_t available;
	int error;

	lane = mimic_embedded_lane_get(instance, &error);
	if (!lane)
		return error;
	error = mimic_embedded_enter(instance, lane);
	if (error)
		return error;
	if (contexts)
		available = contexts->counters(instance->model, handle->context, values, count);
	else
		available = instance->model->ops->counters(instance->model, values, count);
	mimic_embedded_leave(instance);
	return (ssize_t)available;
}

static int embedded_device_memory(struct mimic_device *device, struct mimic_memory_file *file)
{
	const struct embedded_memory *memory = &handle_of(device)->instance->device_memory;

	*file = (struct mimic_memory_file){ .fd = memory->fd, .size = memory->size };
	return memory->address ? 0 : -ENODEV;
}

static const char *embedded_report(struct mimic_device *device)
{
	struct embedded_instance *instance = handle_of(device)->instance;

	if (!atomic_load_explicit(&instance->report, memory_order_relaxed))
		return NULL;
	return atomic_exchange_explicit(&instance->report, NULL, memory_order_relaxed);
}

static bool embedded_keeps_vectors(const struct mimic_device *device)
{
	return device->kind->keeps_vectors == MIMIC_KEEPS_VECTORS_IN_MODELS;
}

static void *embedded_memory_alloc(struct mimic_device *device, size_t size)
{
	return mimic_memory_private_alloc(device, size);
}

static int embedded_memory_free(struct mimic_device *device, void *address)
{
	return mimic_memory_private_free(device, address);
}

/* The device reaches all of the process anyway. */
static int embedded_memory_register(struct mimic_device *device, void *address, size_t size)
{
	return mimic_memory_private_register(device, address, size);
}

static int embedded_memory_unregister(struct mimic_device *device, void *address, size_t size)
{
	return mimic_memory_private_unregister(device, address, size);
}

const struct mimic_transport_ops mimic_embedded_transport = {
	.name = "embedded",
	.open = mimic_embedded_open,
	.close = mimic_embedded_close,
	.access = embedded_access,
	.post = embedded_post,
	.load = embedded_load,
	.counters = embedded_counters,
	.device_memory = embedded_device_memory,
	.device_eventfd = mimic_embedded_device_eventfd,
	.report = embedded_report,
	.keeps_vectors = embedded_keeps_vectors,
	.memory_alloc = embedded_memory_alloc,
	.memory_free = embedded_memory_free,
	.memory_register = embedded_memory_register,
	.memory_unregister = embedded_memory_unregister,
	.thread_gone = mimic_embedded_thread_gone,
	.after_fork = mimic_embedded_after_fork,
};
