/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Long work of devices (struct mimic_jobs), done by threads of a pool.
 *
 * Models, lanes and sessions belong to whoever holds the baton. That is the
 * engine's thread, but for the time that it sleeps. A worker that has done a job
 * puts it where the holder finds it; if nobody holds the baton, it takes it, hands
 * the job back, lets what waited for it go on, and takes the next. So a unit goes
 * from job to job without waking anybody, and the engine's thread sleeps meanwhile.
 *
 * Order: the baton, then the lock of the queue of jobs to be done. A job runs with
 * neither; what it touches stays until mimicd_jobs_close().
 */
#ifndef MIMICD_JOBS_H
#define MIMICD_JOBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmimic/base/wait.h"

#define MIMICD_WORKERS_MAX 64u

struct mimicd_instance;
struct mimicd_engine;

/* A job that is out, or room for one. */
struct mimicd_job {
	struct mimicd_job *next;	/* in the list that it is in */
	struct mimicd_instance *instance;
	void *job;			/* the model's; NULL: room for one */
};

/* Of an instance. */
struct mimicd_instance_jobs {
	struct mimicd_job *places;	/* NULL: not open */
	unsigned int count;
	unsigned int out;
	struct mimicd_job *_Atomic finished;	/* by workers, not handed back */
	struct mimicd_instance *next;	/* of the open ones */
};

struct mimicd_jobs {
	struct mimic_lock baton;
	struct mimicd_instance *open;	/* whoever has a device with jobs */
	unsigned int out;
	unsigned int processors;
	int wake_fd;			/* eventfd: the engine's thread is to wake */

	pthread_mutex_t lock;
	struct mimicd_job *first, **last;	/* to be done */
	_Atomic unsigned int ready;	/* how many that is */
	_Atomic unsigned int spinning;	/* workers that look for one */
	_Atomic unsigned int sleeping;	/* workers that do not */
	_Atomic uint32_t bell;		/* what they sleep on */
	_Atomic int pending;		/* finished, not handed back */
	_Atomic uint32_t returns;	/* counts finished jobs; who waits for one sleeps on it */
	atomic_bool is_awaited;
	atomic_bool stopping;
	pthread_t workers[MIMICD_WORKERS_MAX];
	unsigned int worker_count;
};

/* The caller has the baton from then on. 0 or -errno. */
int mimicd_jobs_create(struct mimicd_engine *engine);
/* No instance is open. */
void mimicd_jobs_destroy(struct mimicd_engine *engine);

/* All that follows with the baton. */

/* Somebody has the device from now on. 0, also for kinds without jobs; -EAGAIN, -ENOMEM. */
int mimicd_jobs_open(struct mimicd_instance *instance);
/*
 * Nobody has it any more: waits, some milliseconds at most, for its jobs. Its model
 * has been told power_on(). What they touched may go afterwards.
 */
void mimicd_jobs_close(struct mimicd_instance *instance);

/* Waits the same way, but who has the device has it still. Its model has been told power_on(). */
void mimicd_jobs_end(struct mimicd_instance *instance);

/* Takes back what is finished and hands out what there is to do. true: there was something. */
bool mimicd_jobs_round(struct mimicd_engine *engine);
/* Is there something that a round would do? */
bool mimicd_jobs_have_work(struct mimicd_engine *engine);
/* Do threads that have work need the CPU that we would spin on? */
bool mimicd_jobs_need_cpus(const struct mimicd_jobs *jobs);

/*
 * Before and after the sleep of the engine's thread. false: there is work, do not
 * sleep. Either way the baton is to be taken back by mimicd_jobs_wake().
 */
bool mimicd_jobs_sleep(struct mimicd_engine *engine);
void mimicd_jobs_wake(struct mimicd_engine *engine);

#endif
