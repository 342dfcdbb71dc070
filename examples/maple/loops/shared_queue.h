/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Software decoupling: a queue in shared memory between one thread that pushes and
 * one that pops. Head, tail and size share a cache line, which moves to and fro
 * between the cores.
 */
#ifndef EXAMPLES_SHARED_QUEUE_H
#define EXAMPLES_SHARED_QUEUE_H

#include <stdint.h>

#define SHARED_QUEUE_ENTRIES 256

struct shared_queue {
	_Alignas(64) uint32_t head;
	uint32_t tail;
	uint32_t size;
	_Alignas(64) uint64_t entry[SHARED_QUEUE_ENTRIES];
};

/* Until there is room, or an entry. */
__attribute__((cold)) void shared_queue_wait_room(struct shared_queue *shared);
__attribute__((cold)) void shared_queue_wait_entry(struct shared_queue *shared);

static inline void shared_queue_push(struct shared_queue *shared, uint64_t value)
{
	uint32_t tail = shared->tail;

	if (__builtin_expect(__atomic_load_n(&shared->size, __ATOMIC_ACQUIRE) == SHARED_QUEUE_ENTRIES, 0))
		shared_queue_wait_room(shared);
	shared->entry[tail] = value;
	shared->tail = (tail + 1) % SHARED_QUEUE_ENTRIES;
	__atomic_fetch_add(&shared->size, 1, __ATOMIC_RELEASE);
}

static inline uint64_t shared_queue_pop(struct shared_queue *shared)
{
	uint32_t head = shared->head;
	uint64_t value;

	if (__builtin_expect(__atomic_load_n(&shared->size, __ATOMIC_ACQUIRE) == 0, 0))
		shared_queue_wait_entry(shared);
	value = shared->entry[head];
	shared->head = (head + 1) % SHARED_QUEUE_ENTRIES;
	__atomic_fetch_sub(&shared->size, 1, __ATOMIC_RELEASE);
	return value;
}

#endif
