/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The produce pipeline: data, pointers, prefetches (paper, sections 3.1 and 3.4). */
#include "devices/maple/maple_internal.h"

#define MAPLE_OPERATIONS 64	/* that an offset can name */

/* The data that a pointer operation fetches, and how its payload names the address. */
struct pointer_kind {
	unsigned int size;	/* bytes; 0: this is no pointer operation */
	bool coherent;		/* through the LLC */
	bool full;		/* the payload is a whole pointer (paper profile) */
};

static struct pointer_kind pointer_kind(unsigned int operation)
{
	static const struct pointer_kind kinds[MAPLE_OPERATIONS] = {
		[MAPLE_STORE_POINTER32] = { 4, false, false },
		[MAPLE_STORE_POINTER64] = { 8, false, false },
		[MAPLE_STORE_LLC_POINTER32] = { 4, true, false },
		[MAPLE_STORE_LLC_POINTER64] = { 8, true, false },
		[MAPLE_STORE_FULL_POINTER32] = { 4, false, true },
		[MAPLE_STORE_FULL_POINTER64] = { 8, false, true },
		[MAPLE_STORE_FULL_LLC_POINTER32] = { 4, true, true },
		[MAPLE_STORE_FULL_LLC_POINTER64] = { 8, true, true },
	};

	return kinds[operation % MAPLE_OPERATIONS];
}

static bool is_extension(unsigned int operation)
{
	return operation >= MAPLE_STORE_FULL_POINTER32 &&
	       operation <= MAPLE_STORE_QUEUE_LOOP_PREFETCH64;
}

bool maple_store_is_produce(const struct maple *m, unsigned int operation)
{
	if (is_extension(operation))
		return !has_quirk(m, MAPLE_QUIRK_no_extension) &&
		       operation <= MAPLE_STORE_FULL_PREFETCH;
	if (operation == MAPLE_STORE_PRODUCE || operation == MAPLE_STORE_PREFETCH)
		return true;
	if (operation >= MAPLE_STORE_ATOMIC_ADD && operation <= MAPLE_STORE_CAS2)
		return true;
	return pointer_kind(operation).size != 0;
}

static uint64_t indexed_address(const struct maple *m, const struct maple_queue *q, uint32_t index)
{
	uint64_t offset = (uint64_t)index << q->base_shift;

	return (q->base + offset) & address_mask(m) & ~3ull;
}

uint64_t maple_model_pointer(const struct mimic_model *model, const struct mimic_access *access)
{
	struct maple *m = (struct maple *)model;
	struct pointer_kind kind = pointer_kind(access->offset >> MAPLE_OPERATION_SHIFT);
	unsigned int number;
	const struct maple_queue *q = maple_queue_of(m, access->offset >> MAPLE_QUEUE_SHIFT & 7, &number);

	if (!q || !kind.size || !access->is_write || access->page != MAPLE_PAGE_MAPLE)
		return 0;
	return kind.full ? access->data & address_mask(m) & ~3ull : indexed_address(m, q, (uint32_t)access->data);
}

static enum step push_data(struct maple *m, struct maple_queue *q, unsigned int size, uint64_t data)
{
	unsigned int words = size == 8 ? 2 : 1;

	if (maple_queue_room(q) < words)
		return STEP_WAIT;
	maple_queue_push(m, q, (uint32_t)data, false);
	if (words == 2)
		maple_queue_push(m, q, (uint32_t)(data >> 32), false);
	return STEP_DONE;
}

static bool fetch_hangs(const struct maple *m, bool coherent, unsigned int size, uint64_t address)
{
	/* the coherent path does not split a 64-bit fetch at 4 mod 8 */
	return coherent && size == 8 && address & 4 &&
	       has_quirk(m, MAPLE_QUIRK_coherent_load64_hangs);
}

/* The RTL never answers this fetch, and so never serves the words behind it in the queue. */
static void queue_hang(struct maple *m, struct maple_queue *q)
{
	maple_queue_push(m, q, 0, true);
	maple_queue_push(m, q, 0, true);
	q->hung = true;
	count(m, MAPLE_COUNTER_hangs, 1);
	if (m->host.report)
		m->host.report(m->host.context,
			       "a coherent 64-bit fetch at 4 mod 8 hangs its queue in the artifact's RTL; "
			       "loads from the queue give 0 until RESET");
}

/*
 * A double load may stall on a page fault between its halves. It is then tried
 * again whole, and must not fetch the first half twice.
 */
static enum step fetch_addresses(struct maple *m, unsigned int number, uint64_t *address,
				 unsigned int n, unsigned int size, enum maple_step kind)
{
	struct maple_queue *q = &m->state.queue[number];
	unsigned int skip = n == 2 && q->half_done ? 1 : 0;
	size_t got = fetch_at_pace(m, number, address + skip, n - skip, size, kind);

	if (got < n - skip) {
		q->half_done = skip + got == 1;
		return STEP_WAIT;
	}
	q->half_done = false;
	return STEP_DONE;
}

/* One pointer that is not part of a double one: most are so. */
static inline enum step fetch_pointer(struct maple *m, unsigned int number, struct pointer_kind kind,
				      uint64_t payload)
{
	struct maple_queue *q = &m->state.queue[number];
	uint64_t address;

	if (maple_queue_room(q) < kind.size / 4)
		return STEP_WAIT;
	address = kind.full ? payload & address_mask(m) & ~3ull : indexed_address(m, q, (uint32_t)payload);
	if (fetch_hangs(m, kind.coherent, kind.size, address)) {
		queue_hang(m, q);
		return STEP_DONE;
	}
	return maple_fetch_value(m, number, address, kind.size, MAPLE_FAULT_PIPES) ? STEP_DONE : STEP_WAIT;
}

static enum step fetch_pointers(struct maple *m, unsigned int number, struct pointer_kind kind,
				uint64_t payload)
{
	struct maple_queue *q = &m->state.queue[number];
	bool is_double = !kind.full && payload >> 32;
	unsigned int n = is_double ? 2 : 1;
	uint64_t address[2];

	if (maple_queue_room(q) < (q->half_done ? 1 : n) * kind.size / 4)
		return STEP_WAIT;
	if (kind.full) {
		address[0] = payload & address_mask(m) & ~3ull;
	} else if (is_double) {
		address[0] = indexed_address(m, q, (uint32_t)(payload >> 32));
		address[1] = indexed_address(m, q, (uint32_t)payload);
	} else {
		address[0] = indexed_address(m, q, (uint32_t)payload);
	}
	if (fetch_hangs(m, kind.coherent, kind.size, address[0]) ||
	    (is_double && fetch_hangs(m, kind.coherent, kind.size, address[1]))) {
		queue_hang(m, q);
		return STEP_DONE;
	}
	return fetch_addresses(m, number, address, n, kind.size,
			       kind.coherent ? MAPLE_STEP_LLC_POINTER : MAPLE_STEP_POINTER);
}

static enum step prefetch(struct maple *m, struct maple_queue *q, unsigned int operation,
			  uint64_t payload)
{
	uint64_t address;

	if (has_quirk(m, MAPLE_QUIRK_prefetch_needs_room) && maple_queue_room(q) < 2)
		return STEP_WAIT;
	if (operation == MAPLE_STORE_FULL_PREFETCH)
		address = payload & address_mask(m);
	else
		address = indexed_address(m, q, (uint32_t)payload);
	MIMIC_TRACE(&m->model.trace, prefetch, 0ull, q - m->state.queue, address, 0u, 0ull, 1ull);
	pace_begin(m, (unsigned int)(q - m->state.queue), MAPLE_STEP_PREFETCH, 1);
	maple_prefetch_address(m, address, MAPLE_FAULT_PIPES);
	pace_end(m, (unsigned int)(q - m->state.queue), MAPLE_STEP_PREFETCH, 1);
	return STEP_DONE;
}

/* Pointers wait behind a page fault: translation blocks the shared first stage. */
static bool pipes_are_stalled(struct maple *m, unsigned int operation)
{
	return operation != MAPLE_STORE_PRODUCE && operation != MAPLE_STORE_CAS1 &&
	       maple_mmu_stall(m, MAPLE_FAULT_PIPES)->stalled;
}

static enum step loop_step(struct maple *m, unsigned int number, unsigned int operation,
			   uint64_t payload)
{
	if (operation == MAPLE_STORE_LOOP)
		return maple_lima_push_tile(m, number, payload);
	return maple_lima_push_queue(m, number, operation, payload);
}

static bool store_is_loop(unsigned int operation)
{
	return operation == MAPLE_STORE_LOOP ||
	       (operation >= MAPLE_STORE_QUEUE_LOOP_POINTER32 &&
		operation <= MAPLE_STORE_QUEUE_LOOP_PREFETCH64);
}

static bool is_same_store(const struct mimic_access *a, const struct mimic_access *b)
{
	return a->owner == b->owner && a->page == b->page && a->offset == b->offset && a->size == b->size &&
	       a->data == b->data;
}

enum step maple_produce_step(struct maple *m, unsigned int number, const struct mimic_access *access)
{
	struct maple_queue *q = &m->state.queue[number];
	unsigned int operation = access->offset >> MAPLE_OPERATION_SHIFT & 63;
	struct pointer_kind kind = pointer_kind(operation);
	enum step step;

	/*
	 * A store that was taken back and comes again goes on behind its first word. Behind
	 * another store it does not, and the word stays: the consumer may have it already.
	 */
	if (q->half_done && !is_same_store(&q->store.access, access))
		q->half_done = false;
	if (store_is_loop(operation))
		return loop_step(m, number, operation, access->data);
	/* Program order per queue: the words of earlier loops come first. */
	if (lima_backlog(q) || pipes_are_stalled(m, operation))
		return STEP_WAIT;
	if (kind.size && (kind.full || !(access->data >> 32)) && !q->half_done && !is_paced(m))
		step = fetch_pointer(m, number, kind, access->data);
	else if (kind.size)
		step = fetch_pointers(m, number, kind, access->data);
	else if (operation == MAPLE_STORE_PRODUCE)
		step = push_data(m, q, access->size, access->data);
	else if (operation == MAPLE_STORE_PREFETCH || operation == MAPLE_STORE_FULL_PREFETCH)
		step = prefetch(m, q, operation, access->data);
	else
		return maple_atomic_step(m, number, operation, access->data);
	if (step == STEP_DONE)
		q->cas1_valid = false;
	else if (q->half_done)	/* the store of a run is not parked */
		q->store.access = *access;
	return step;
}

static size_t produce_data(struct maple *m, struct maple_queue *q, unsigned int size,
			   const uint64_t *values, size_t n)
{
	unsigned int bytes = size == 8 ? 8 : 4;
	size_t room = maple_queue_room(q) / (bytes / 4);
	uint64_t block[FETCH_BLOCK];
	size_t done = 0;

	n = n < room ? n : room;
	while (done < n) {
		size_t piece = n - done < FETCH_BLOCK ? n - done : FETCH_BLOCK;

		for (size_t i = 0; i < piece; i++)
			block[i] = low_bytes(values[done + i], size);
		maple_queue_push_many(m, q, bytes, block, piece);
		done += piece;
	}
	return done;
}

static size_t produce_pointers(struct maple *m, unsigned int number, struct pointer_kind kind,
			       const uint64_t *values, size_t n)
{
	const struct maple_queue *q = &m->state.queue[number];
	uint64_t mask = address_mask(m) & ~3ull;
	uint64_t address[FETCH_BLOCK];
	size_t done = 0;

	while (done < n) {
		size_t block = maple_queue_room(q) / (kind.size / 4), got, i;

		if (block > n - done)
			block = n - done;
		if (block > FETCH_BLOCK)
			block = FETCH_BLOCK;
		for (i = 0; i < block; i++) {
			uint64_t payload = values[done + i];

			if (kind.full) {
				address[i] = payload & mask;
				continue;
			}
			if (payload >> 32)
				break;
			address[i] = (q->base + (payload << q->base_shift)) & mask;
		}
		if (!i)
			break;
		got = maple_fetch_into_queue(m, number, address, i, kind.size, MAPLE_FAULT_PIPES);
		done += got;
		if (got < i)
			break;
	}
	return done;
}

/*
 * A run of stores to one register, as far as the fast path goes: the caller
 * goes on one by one from there. Same effects as one by one.
 */
size_t maple_produce_many(struct maple *m, unsigned int number, const struct mimic_access *pattern,
			  const uint64_t *values, size_t n)
{
	struct maple_queue *q = &m->state.queue[number];
	unsigned int operation = pattern->offset >> MAPLE_OPERATION_SHIFT & 63;
	struct pointer_kind kind = pointer_kind(operation);
	size_t done = 0;

	if (lima_backlog(q) || pipes_are_stalled(m, operation) || is_paced(m) || q->half_done)
		return 0;
	if (operation == MAPLE_STORE_PRODUCE)
		done = produce_data(m, q, pattern->size, values, n);
	else if (pattern->size != 8)
		return 0;
	else if (kind.size == 4 || (kind.size == 8 && !kind.coherent) ||
		 (kind.size == 8 && !has_quirk(m, MAPLE_QUIRK_coherent_load64_hangs)))
		done = produce_pointers(m, number, kind, values, n);
	if (done)
		q->cas1_valid = false;
	return done;
}
