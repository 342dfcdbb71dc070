/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A lane: one queue that a kernel has to itself, with a thread that feeds it if
 * the kernel is decoupled (paper, section 3.1: roles are taken by threads).
 *
 * The thread that opens a lane consumes from it. It is the producer as well,
 * except in a decoupled lane, where the access thread is.
 */
#ifndef MAPLE_LANE_H
#define MAPLE_LANE_H

#include <semaphore.h>

#include "internal.h"

/* Elements that kernels consume at once: long enough to make a call cheap, and the buffer stays in the L1 cache. */
#define MAPLE_BLOCK 1024

struct maple_lane;

/*
 * Runs on the access thread: produces all that the execute thread will consume,
 * even after an error (maple_lane_fill), or that one would wait for ever.
 */
typedef int (*maple_feed)(struct maple_lane *lane, void *argument);

struct maple_lane {
	struct maple *maple;
	unsigned int queue;
	bool is_decoupled;
	/* The rest is the hand-over to the access thread; the semaphores order it. */
	pthread_t thread;
	sem_t work;
	sem_t done;
	unsigned int spins;
	maple_feed feed;		/* NULL: end */
	void *argument;
	int result;
	char text[256];			/* of result */
};

/* -EBUSY: every queue is open or holds data. */
int maple_lane_open(struct maple_lane *lane, struct maple *maple, bool is_decoupled);
/* The first error of the two, so that callers can hand their own through. */
int maple_lane_close(struct maple_lane *lane, int error);

/* Hands one piece of work to the access thread; maple_lane_wait() must follow. */
void maple_lane_feed(struct maple_lane *lane, maple_feed feed, void *argument);
int maple_lane_wait(struct maple_lane *lane);

/* Words that the lane's producer has asked for; for that thread only. */
static inline uint64_t maple_lane_produced(const struct maple_lane *lane)
{
	return atomic_load_explicit(&lane->maple->queues[lane->queue].produced,
				    memory_order_relaxed);
}

/* Zeros in place of words that could not be fetched. Returns `error`, whose text is this thread's last. */
int maple_lane_fill(struct maple_lane *lane, uint64_t words, int error);

/* 0, or -EINVAL if row_start decreases. */
int maple_check_rows(size_t rows, const uint64_t *row_start);

#endif
