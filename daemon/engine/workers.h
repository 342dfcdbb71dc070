/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A pool of threads, and the queue of jobs that they do. */
#ifndef MIMICD_WORKERS_H
#define MIMICD_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MIMICD_WORKERS_MAX 64u

struct mimicd_device_jobs;

/* A job that was taken from a model, or room for one. */
struct mimicd_job {
	struct mimicd_job *next;	/* in the list that it is in */
	struct mimicd_device_jobs *device;
	void *job;			/* the model's; NULL: room for one */
	_Atomic int worker;		/* thread ID of the worker that does it; 0: none does */
};

struct mimicd_workers {
	void (*run)(struct mimicd_job *job);	/* on a worker, with no lock held */
	unsigned int spin_microseconds;
	unsigned int processors;

	pthread_mutex_t lock;
	struct mimicd_job *first, **last;	/* to be done */
	_Atomic unsigned int ready;	/* how many that is */
	_Atomic unsigned int spinning;	/* workers that look for one */
	_Atomic unsigned int sleeping;	/* workers that do not */
	_Atomic uint32_t bell;		/* the futex that they sleep on */
	atomic_bool stopping;
	pthread_t threads[MIMICD_WORKERS_MAX];
	unsigned int count;		/* of threads */
	_Atomic unsigned int taken;	/* by workers; changes while they work */
	unsigned int last_taken;	/* when they were looked at, with jobs that waited */
	uint64_t last_looked;		/* 0: no job waited then */
};

void mimicd_workers_init(struct mimicd_workers *workers, void (*run)(struct mimicd_job *job),
			 unsigned int spin_microseconds);
/* No job is left. */
void mimicd_workers_destroy(struct mimicd_workers *workers);

/* The rest is for one thread at a time, whichever holds the engine's lock. */

/* At least one is there when it returns 0. -EAGAIN, -ENOMEM. */
int mimicd_workers_start(struct mimicd_workers *workers);
/* A job to be done. */
void mimicd_workers_add(struct mimicd_workers *workers, struct mimicd_job *job);
/*
 * After all of them were added: enough workers read the queue. `self`: the caller is a
 * worker and reads it soon itself.
 */
void mimicd_workers_call(struct mimicd_workers *workers, bool self);
/*
 * Jobs wait, and no worker has taken one for a while? Then those that work sleep in pages of the programs whose jobs they
 * have, and one more worker does a job. 0, or when to ask again.
 */
uint64_t mimicd_workers_relieve(struct mimicd_workers *workers, uint64_t now);
/* A job of that device that no worker has begun leaves the queue. NULL: there is none. */
struct mimicd_job *mimicd_workers_take_back(struct mimicd_workers *workers,
					    const struct mimicd_device_jobs *device);

#endif
