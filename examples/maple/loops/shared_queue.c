/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/maple/loops/shared_queue.h"

#include <sched.h>

/* The other thread may be waiting for this very processor. */
#define PATIENCE 256

void shared_queue_wait_room(struct shared_queue *shared)
{
	unsigned int rounds = 0;

	while (__atomic_load_n(&shared->size, __ATOMIC_ACQUIRE) == SHARED_QUEUE_ENTRIES) {
		if (++rounds % PATIENCE == 0)
			sched_yield();
	}
}

void shared_queue_wait_entry(struct shared_queue *shared)
{
	unsigned int rounds = 0;

	while (__atomic_load_n(&shared->size, __ATOMIC_ACQUIRE) == 0) {
		if (++rounds % PATIENCE == 0)
			sched_yield();
	}
}
