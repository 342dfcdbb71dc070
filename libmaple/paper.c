/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The paper profile: whole pointers, and A and B of LIMA for each queue. */
#include "internal.h"

static unsigned int pointer_operation(unsigned int element, enum maple_path path)
{
	if (element == 4)
		return path == MAPLE_LLC ? MAPLE_STORE_FULL_LLC_POINTER32
					 : MAPLE_STORE_FULL_POINTER32;
	return path == MAPLE_LLC ? MAPLE_STORE_FULL_LLC_POINTER64 : MAPLE_STORE_FULL_POINTER64;
}

static unsigned int loop_operation(unsigned int element, enum maple_path path)
{
	if (element == 4)
		return path == MAPLE_LLC ? MAPLE_STORE_QUEUE_LOOP_LLC_POINTER32
					 : MAPLE_STORE_QUEUE_LOOP_POINTER32;
	return path == MAPLE_LLC ? MAPLE_STORE_QUEUE_LOOP_LLC_POINTER64
				 : MAPLE_STORE_QUEUE_LOOP_POINTER64;
}

static int paper_pointer(struct maple *maple, unsigned int queue, uint64_t address,
			 unsigned int element, enum maple_path path)
{
	ssize_t posted = maple_post(maple, pointer_operation(element, path), queue, &address, 1);

	return posted < 0 ? (int)posted : 0;
}

/*
 * Whole pointers, although a base register and indices would say the same: the
 * device adds the base at the same cost, and the queue's base stays as it is.
 */
static ssize_t paper_indices(struct maple *maple, unsigned int queue, uint64_t base,
			     unsigned int element, const uint32_t *indices, size_t count,
			     enum maple_path path)
{
	unsigned int operation = pointer_operation(element, path);
	unsigned int shift = element == 4 ? 2 : 3;
	uint64_t pointers[MAPLE_PIECE];
	size_t done, piece;
	ssize_t posted;

	for (done = 0; done < count; done += piece) {
		piece = count - done < MAPLE_PIECE ? count - done : MAPLE_PIECE;
		for (size_t i = 0; i < piece; i++)
			pointers[i] = base + ((uint64_t)indices[done + i] << shift);
		posted = maple_post(maple, operation, queue, pointers, piece);
		if (unlikely(posted < 0))
			return posted;
		maple_count(&maple->queues[queue].produced, piece * (element / 4));
	}
	return (ssize_t)count;
}

static int paper_prefetch(struct maple *maple, unsigned int queue, const uint64_t *addresses,
			  size_t count)
{
	ssize_t posted = maple_post(maple, MAPLE_STORE_FULL_PREFETCH, queue, addresses, count);

	return posted < 0 ? (int)posted : 0;
}

/* The device takes A and B when a loop is pushed, so loops that still run keep theirs. */
static int set_arrays(struct maple *maple, unsigned int queue, uint64_t a, uint64_t b)
{
	struct maple_queue *state = &maple->queues[queue];
	ssize_t posted;

	if (!state->lima_is_set || state->lima_a != a) {
		posted = maple_post(maple, MAPLE_STORE_QUEUE_LIMA_A, queue, &a, 1);
		if (posted < 0)
			return (int)posted;
	}
	if (!state->lima_is_set || state->lima_b != b) {
		posted = maple_post(maple, MAPLE_STORE_QUEUE_LIMA_B, queue, &b, 1);
		if (posted < 0) {
			state->lima_is_set = false;
			return (int)posted;
		}
	}
	state->lima_a = a;
	state->lima_b = b;
	state->lima_is_set = true;
	return 0;
}

static int push_loop(struct maple *maple, unsigned int queue, unsigned int operation,
		     const void *a, const uint32_t *b, uint32_t begin, uint32_t end)
{
	const uint64_t loop = (uint64_t)begin << 32 | end;
	int error = set_arrays(maple, queue, (uintptr_t)a, (uintptr_t)b);
	ssize_t posted;

	if (error)
		return error;
	posted = maple_post(maple, operation, queue, &loop, 1);
	return posted < 0 ? (int)posted : 0;
}

static int paper_lima_prefetch(struct maple *maple, unsigned int queue, const void *a,
			       unsigned int element, const uint32_t *b, uint32_t begin,
			       uint32_t end)
{
	unsigned int operation = element == 4 ? MAPLE_STORE_QUEUE_LOOP_PREFETCH32
					      : MAPLE_STORE_QUEUE_LOOP_PREFETCH64;

	return push_loop(maple, queue, operation, a, b, begin, end);
}

static int paper_lima_produce(struct maple *maple, unsigned int queue, const void *a,
			      unsigned int element, const uint32_t *b, uint32_t begin,
			      uint32_t end, enum maple_path path)
{
	return push_loop(maple, queue, loop_operation(element, path), a, b, begin, end);
}

static int paper_fault(struct maple *maple, uint64_t *address, uint64_t *count)
{
	int error = maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_FAULT_ADDRESS, 0, 8,
					address);

	if (error)
		return error;
	return maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_FAULT_COUNT, 0, 8, count);
}

const struct maple_encoding maple_paper_encoding = {
	.pointer = paper_pointer,
	.indices = paper_indices,
	.prefetch = paper_prefetch,
	.lima_prefetch = paper_lima_prefetch,
	.lima_produce = paper_lima_produce,
	.fault = paper_fault,
};
