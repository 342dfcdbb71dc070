/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Access threads and execute threads for the decoupled form.
 *
 * The work is cut into blocks. Block i goes through queue i % queues; a queue
 * has one access thread, which produces into it, and one execute thread, which
 * consumes from it. Every thread takes its blocks in ascending order, so the
 * lowest unfinished block can always go on, for any numbers of threads.
 */
#ifndef EXAMPLES_PAIRS_H
#define EXAMPLES_PAIRS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "examples/common/message.h"
#include "maple.h"

struct pairs;

struct worker {
	struct pairs *pairs;
	struct maple *maple;
	void *context;
	enum maple_role role;
	unsigned int index;	/* among the threads of its role */
	pthread_t thread;
};

struct pairs {
	struct maple *maple;
	void *context;
	unsigned int access_threads;
	unsigned int execute_threads;
	int (*access)(struct worker *worker);	/* 0 or -errno */
	int (*execute)(struct worker *worker);
	/* Filled in by pairs_run() */
	unsigned int queues;
	double seconds;		/* from the moment that all are ready */
	pthread_barrier_t ready;
	int error;		/* of opening the queues */
	struct message *message;
	struct worker *worker;
};

/*
 * Runs all threads to their end. 0, or -errno with a message if they could not
 * start. An error of the device while they run ends the process with status 1:
 * the other end of the queue may be waiting in the device for good.
 */
int pairs_run(struct pairs *pairs, struct message *message);

unsigned int worker_threads(const struct worker *worker);
/* The first block of this worker that is not before `block`. */
uint64_t worker_block(const struct worker *worker, uint64_t block);
unsigned int worker_queue(const struct worker *worker, uint64_t block);

double clock_seconds(void);

#endif
