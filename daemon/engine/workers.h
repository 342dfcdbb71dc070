/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The threads of the pool (jobs.h), and the queue of jobs that they do. */
#ifndef MIMICD_WORKERS_H
#define MIMICD_WORKERS_H

#include "daemon/engine/jobs.h"

/* Of the baton: the engine's thread, and any worker. */
#define MIMICD_BATON_ENGINE 1u
#define MIMICD_BATON_WORKER 2u

/* With the baton. At least one is there when it returns 0. -EAGAIN, -ENOMEM. */
int mimicd_workers_start(struct mimicd_engine *engine);
/* No job is out. */
void mimicd_workers_stop(struct mimicd_engine *engine);

/* With the baton: a job to be done. */
void mimicd_workers_add(struct mimicd_jobs *jobs, struct mimicd_job *job);
/*
 * With the baton, after all of them were added: enough workers look at the queue.
 * `self`: the caller is a worker and looks soon itself.
 */
void mimicd_workers_call(struct mimicd_engine *engine, bool self);
/* With the baton: a job of that instance that nobody has begun is nobody's any more. NULL: there is none. */
struct mimicd_job *mimicd_workers_take_back(struct mimicd_jobs *jobs,
					    const struct mimicd_instance *instance);

/* jobs.c: a worker has done the job, and looks whether the engine's thread sleeps. */
void mimicd_job_finished(struct mimicd_engine *engine, struct mimicd_job *job);

#endif
