/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The artifact profile: the RTL as published, with its limits (contract A5, A7).
 *
 *   - Pointers have 40 bits, and the payload of a pointer store is an index of
 *     32 bits against the queue's base register; a payload with anything in its
 *     upper half is two indices.
 *   - LIMA has one A for the tile and takes B from queue 0's base register.
 *   - A loop that finds the loop FIFO full is dropped silently.
 */
#include <sched.h>
#include <time.h>

#include "internal.h"

#define ADDRESS_BITS 40
#define ADDRESS_MASK ((1ull << ADDRESS_BITS) - 1)
#define WINDOW_BITS 33
#define BASE_OF_LOW_WINDOW (ADDRESS_MASK - 3)
#define LIMA_B_COHERENT 1	/* address bit 9 of a LIMA A store */
#define YIELDS 100		/* before a wait for room sleeps */
#define STUCK_AFTER 20		/* pauses without a place for a loop */

static void pause_a_little(void)
{
	const struct timespec pause = { .tv_nsec = 50000 };

	nanosleep(&pause, NULL);
}

static int check_address(const char *what, uint64_t address, uint64_t last)
{
	if (last <= ADDRESS_MASK && last >= address)
		return 0;
	return maple_error(-ERANGE,
			   "%s 0x%llx: the artifact profile has 40-bit pointers; use maple_alloc()",
			   what, (unsigned long long)(address > ADDRESS_MASK ? address : last));
}

static unsigned int pointer_operation(unsigned int element, enum maple_path path)
{
	if (element == 4)
		return path == MAPLE_LLC ? MAPLE_STORE_LLC_POINTER32 : MAPLE_STORE_POINTER32;
	return path == MAPLE_LLC ? MAPLE_STORE_LLC_POINTER64 : MAPLE_STORE_POINTER64;
}

/* A coherent 8-byte fetch at 4 mod 8 is never answered and blocks its queue for good. */
static int check_coherent(uint64_t address, unsigned int element, enum maple_path path)
{
	if (element != 8 || path != MAPLE_LLC || (address & 7) == 0)
		return 0;
	return maple_error(-EINVAL,
			   "pointer 0x%llx: the artifact hangs on a 64-bit fetch through the LLC at 4 mod 8",
			   (unsigned long long)address);
}

static int set_base(struct maple *maple, unsigned int queue, uint64_t base, unsigned int shift)
{
	unsigned int operation = shift == 2 ? MAPLE_STORE_SET_BASE32 : MAPLE_STORE_SET_BASE64;
	struct maple_queue *state = &maple->queues[queue];
	ssize_t posted = 0;

	if (state->base_is_set && state->base == base && state->base_shift == shift)
		return 0;
	/*
	 * Queue 0's is changed by several threads, and posts of two threads have no
	 * order: an access takes effect after the posts of all of them.
	 */
	if (queue == 0)
		posted = maple_store_register(maple, operation, queue, base);
	else
		posted = maple_post(maple, operation, queue, &base, 1);
	if (posted < 0)
		return (int)posted;
	state->base = base;
	state->base_shift = shift;
	state->base_is_set = true;
	return 0;
}

/*
 * LIMA of any queue sets queue 0's base register, so indices of queue 0 are
 * posted under the tile's lock, and never more than the queue has room for: a
 * store that waits under the lock could wait for a consumer that waits for
 * another producer's LIMA.
 */
static size_t lock_with_room(struct maple *maple, unsigned int words_each, size_t wanted)
{
	unsigned int tries = 0;
	size_t room;

	for (;;) {
		uint64_t level = maple_queue_level(&maple->queues[0]);

		room = level < maple->queue_words ? (maple->queue_words - level) / words_each : 0;
		if (room > 0)
			break;
		if (++tries < YIELDS)
			sched_yield();
		else
			pause_a_little();
	}
	pthread_mutex_lock(&maple->tile_lock);
	return room < wanted ? room : wanted;
}

/* One post, of at most as many values as were asked for. */
static ssize_t post_indices(struct maple *maple, unsigned int queue, unsigned int operation,
			    uint64_t base, unsigned int shift, const uint64_t *indices,
			    size_t count, unsigned int words_each)
{
	size_t piece = count;
	ssize_t posted;
	int error;

	if (queue == 0)
		piece = lock_with_room(maple, words_each, count);
	error = set_base(maple, queue, base, shift);
	posted = error ? error : maple_post(maple, operation, queue, indices, piece);
	if (queue == 0)
		pthread_mutex_unlock(&maple->tile_lock);
	return posted;
}

/*
 * A single pointer as an index of 4-byte steps into a window of 8 GiB. The
 * windows are fixed, so that the base register seldom changes. The lowest one
 * starts at -4 (addresses wrap at 40 bits), because a base of 0 means no base.
 */
static void split_pointer(uint64_t address, uint64_t *base, uint64_t *index)
{
	*base = address & ~((1ull << WINDOW_BITS) - 1);
	if (*base == 0)
		*base = BASE_OF_LOW_WINDOW;
	*index = ((address - *base) & ADDRESS_MASK) >> 2;
}

static int artifact_pointer(struct maple *maple, unsigned int queue, uint64_t address,
			    unsigned int element, enum maple_path path)
{
	uint64_t base, index;
	ssize_t posted;
	int error;

	error = check_address("pointer", address, address + element - 1);
	if (!error)
		error = check_coherent(address, element, path);
	if (error)
		return error;
	split_pointer(address, &base, &index);
	posted = post_indices(maple, queue, pointer_operation(element, path), base, 2, &index, 1,
			      element / 4);
	return posted < 0 ? (int)posted : 0;
}

static uint32_t largest(const uint32_t *indices, size_t count)
{
	uint32_t maximum = 0;

	for (size_t i = 0; i < count; i++)
		maximum = indices[i] > maximum ? indices[i] : maximum;
	return maximum;
}

static int check_array(const char *what, uint64_t base, unsigned int element,
		       const uint32_t *indices, size_t count)
{
	const uint64_t all = (1ull << 32) * element;

	if (base + all <= ADDRESS_MASK && base + all >= base)
		return 0;
	return check_address(what, base,
			     base + (uint64_t)largest(indices, count) * element + element - 1);
}

static ssize_t artifact_indices(struct maple *maple, unsigned int queue, uint64_t base,
				unsigned int element, const uint32_t *indices, size_t count,
				enum maple_path path)
{
	unsigned int operation = pointer_operation(element, path);
	unsigned int shift = element == 4 ? 2 : 3;
	uint64_t values[MAPLE_PIECE];
	size_t done = 0, piece;
	ssize_t posted;
	int error;

	error = check_array("base", base, element, indices, count);
	if (!error)
		error = check_coherent(base, element, path);
	if (!error && base == 0)
		error = maple_error(-EINVAL, "base 0: the artifact profile cannot index from it");
	if (error)
		return error;
	while (done < count) {
		piece = count - done < MAPLE_PIECE ? count - done : MAPLE_PIECE;
		for (size_t i = 0; i < piece; i++)
			values[i] = indices[done + i];
		posted = post_indices(maple, queue, operation, base, shift, values, piece,
				      element / 4);
		if (posted < 0)
			return posted;
		maple_count(&maple->queues[queue].produced, (uint64_t)posted * (element / 4));
		done += (size_t)posted;
	}
	return (ssize_t)count;
}

/*
 * The RTL holds a prefetch back until its queue has two free words (contract
 * A4). Single indices are below 2^32, so no payload is a double load.
 */
static int artifact_prefetch(struct maple *maple, unsigned int queue, const uint64_t *addresses,
			     size_t count)
{
	uint64_t base, index;
	ssize_t posted;
	int error;

	for (size_t i = 0; i < count; i++) {
		error = check_address("pointer", addresses[i], addresses[i]);
		if (error)
			return error;
		split_pointer(addresses[i], &base, &index);
		posted = post_indices(maple, queue, MAPLE_STORE_PREFETCH, base, 2, &index, 1, 2);
		if (posted < 0)
			return (int)posted;
	}
	return 0;
}

static int dropped_loops(struct maple *maple, uint64_t *dropped)
{
	uint64_t counters[MAPLE_COUNTER_COUNT] = { 0 };
	ssize_t got = mimic_device_counters(maple->device, counters, MAPLE_COUNTER_COUNT);

	if (got < 0)
		return mimic_library_error((int)got);
	*dropped = counters[MAPLE_COUNTER_lima_dropped];
	return 0;
}

/* Under the tile's lock, so that a loop that is dropped meanwhile is ours. */
static int try_loop(struct maple *maple, unsigned int queue, unsigned int operation, uint64_t a,
		    uint64_t b, uint64_t loop, bool *was_dropped)
{
	uint64_t before = 0, after = 0;
	int error;

	error = set_base(maple, 0, b, 2);
	if (!error)
		error = maple_store_register(maple, operation, LIMA_B_COHERENT, a);
	if (!error)
		error = dropped_loops(maple, &before);
	if (!error)
		error = maple_store_register(maple, MAPLE_STORE_LOOP, queue, loop);
	if (!error)
		error = dropped_loops(maple, &after);
	*was_dropped = after != before;
	return error;
}

/* Waits for a place in the loop FIFO; only the queue's consumer makes one. */
static int push_loop(struct maple *maple, unsigned int queue, unsigned int operation,
		     const void *a, const uint32_t *b, uint32_t begin, uint32_t end)
{
	const struct maple_queue *state = &maple->queues[queue];
	const uint64_t loop = (uint64_t)begin << 32 | end;
	bool was_dropped;
	int error;

	for (unsigned int pauses = 0;; pauses++) {
		pthread_mutex_lock(&maple->tile_lock);
		error = try_loop(maple, queue, operation, (uintptr_t)a, (uintptr_t)b, loop,
				 &was_dropped);
		pthread_mutex_unlock(&maple->tile_lock);
		if (error || !was_dropped)
			return error;
		if (pauses >= STUCK_AFTER &&
		    atomic_load_explicit(&state->consumer, memory_order_relaxed) == maple_self())
			return maple_error(-EAGAIN,
					   "queue %u: its loop FIFO is full; consume first", queue);
		pause_a_little();
	}
}

static int check_lima(const void *a, unsigned int element, const uint32_t *b, uint32_t begin,
		      uint32_t end)
{
	int error = check_address("B", (uintptr_t)b, (uintptr_t)(b + end) - 1);

	if (!error && !b)
		error = maple_error(-EINVAL, "B is NULL");
	return error ? error : check_array("A", (uintptr_t)a, element, b + begin, end - begin);
}

/* The RTL's LIMA prefetch scales by 8 only; 4-byte elements are prefetched one by one. */
static int prefetch_words(struct maple *maple, unsigned int queue, const void *a,
			  const uint32_t *b, size_t count)
{
	uint64_t index;
	ssize_t posted;

	for (size_t i = 0; i < count; i++) {
		index = b[i];
		posted = post_indices(maple, queue, MAPLE_STORE_PREFETCH, (uintptr_t)a, 2, &index,
				      1, 2);
		if (posted < 0)
			return (int)posted;
	}
	return 0;
}

static int artifact_lima_prefetch(struct maple *maple, unsigned int queue, const void *a,
				  unsigned int element, const uint32_t *b, uint32_t begin,
				  uint32_t end)
{
	int error = check_lima(a, element, b, begin, end);

	if (error)
		return error;
	if (element == 4)
		return prefetch_words(maple, queue, a, b + begin, end - begin);
	return push_loop(maple, queue, MAPLE_STORE_LIMA_PREFETCH, a, b, begin, end);
}

static int artifact_lima_produce(struct maple *maple, unsigned int queue, const void *a,
				 unsigned int element, const uint32_t *b, uint32_t begin,
				 uint32_t end, enum maple_path path)
{
	unsigned int operation;
	int error;

	error = check_lima(a, element, b, begin, end);
	if (!error)
		error = check_coherent((uintptr_t)a, element, path);
	if (error)
		return error;
	if (!a)
		operation = MAPLE_STORE_LIMA_PRODUCE;
	else if (element == 4)
		operation = path == MAPLE_LLC ? MAPLE_STORE_LIMA_LLC_POINTER32
					      : MAPLE_STORE_LIMA_POINTER32;
	else
		operation = path == MAPLE_LLC ? MAPLE_STORE_LIMA_LLC_POINTER64
					      : MAPLE_STORE_LIMA_POINTER64;
	return push_loop(maple, queue, operation, a, b, begin, end);
}

/* The MMU page has the last page only; the device's own counters have the number. */
static int artifact_fault(struct maple *maple, uint64_t *address, uint64_t *count)
{
	uint64_t counters[MAPLE_COUNTER_COUNT] = { 0 };
	uint64_t fault;
	ssize_t got;
	int error;

	error = maple_load_register(maple, MAPLE_PAGE_MMU, MAPLE_LOAD_DEBUG, MAPLE_MMU_FAULT, 8,
				    &fault);
	if (error)
		return error;
	got = mimic_device_counters(maple->device, counters, MAPLE_COUNTER_COUNT);
	if (got < 0)
		return mimic_library_error((int)got);
	*address = fault & ~(uint64_t)0xfff;
	*count = counters[MAPLE_COUNTER_faults] - maple->faults_before;
	return 0;
}

const struct maple_encoding maple_artifact_encoding = {
	.pointer = artifact_pointer,
	.indices = artifact_indices,
	.prefetch = artifact_prefetch,
	.lima_prefetch = artifact_lima_prefetch,
	.lima_produce = artifact_lima_produce,
	.fault = artifact_fault,
};
