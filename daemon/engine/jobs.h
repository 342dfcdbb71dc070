/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Long work of devices (struct mimic_jobs), done by a pool of threads.
 *
 * Models, lanes and clients belong to the thread that holds the engine's lock. That is the
 * loop's thread, but for the time that it sleeps. A worker that has done a job puts it where
 * the holder finds it. If the lock is free, the worker takes it, hands the job back,
 * lets waiting accesses go on, and takes the next job. So a unit goes from job to job
 * without a wake-up, and the loop's thread sleeps meanwhile. Before a worker releases the
 * lock it looks at the lanes for a moment: a program that gives one command after the
 * other need not wake the loop's thread for each.
 *
 * Lock order: the engine's lock, then the lock of the queue of jobs. A job runs with
 * neither; the memory that it uses stays until mimicd_jobs_close().
 */
#ifndef MIMICD_JOBS_H
#define MIMICD_JOBS_H

#include "daemon/engine/workers.h"
#include "daemon/loop/loop.h"
#include "libmimic/base/kinds.h"
#include "libmimic/base/wait.h"

/* The holder of the engine's lock: the loop's thread, or any worker. */
#define MIMICD_LOCK_LOOP 1u
#define MIMICD_LOCK_WORKER 2u

struct mimicd_jobs;

/* Of a device. */
struct mimicd_device_jobs {
	struct mimicd_jobs *jobs;
	const struct mimic_jobs *ops;	/* NULL: its kind has none */
	struct mimic_model *model;
	const char *name;		/* the device's */

	bool is_for_loop;		/* only the loop's thread hands its jobs out and back */
	bool is_on_hold;		/* no job is handed out */
	struct mimicd_job *places;	/* NULL: not open */
	unsigned int count;
	unsigned int in_flight;
	struct mimicd_job *_Atomic finished;	/* by workers, not handed back */
	struct mimicd_device_jobs *next;	/* of the open ones */
};

/* Calls to the engine when a job has ended. All with its lock held. */
struct mimicd_jobs_ops {
	/* The model has got a job back. */
	void (*returned)(void *context, struct mimic_model *model);
	/* On a worker, while the loop's thread sleeps: lets waiting accesses go on. true: one did. */
	bool (*go_on)(void *context);
	/*
	 * Then the worker may go on looking at the lanes for a moment. Not if there is work that
	 * is the loop's thread's only, or a program needs this CPU.
	 */
	bool (*may_watch)(void *context);
	/* Tells programs that they need not wake the loop's thread meanwhile; that they need to again. */
	void (*watch)(void *context, bool watches);
	/* After that. true: the loop's thread is to wake, there is work for it. */
	bool (*finish)(void *context);
};

struct mimicd_jobs {
	struct mimic_lock *lock;	/* the engine's */
	const struct mimicd_jobs_ops *ops;
	void *context;
	struct mimicd_loop *loop;
	int wake_fd;			/* eventfd: the loop's thread is to wake */
	struct mimicd_source wake_source;
	struct mimicd_device_jobs *open;	/* devices that a program has */
	unsigned int in_flight;
	_Atomic int pending;		/* finished, not handed back */
	_Atomic uint32_t returns;	/* counts finished jobs; a thread that waits for one sleeps on it */
	atomic_bool is_awaited;
	atomic_bool is_wanted;		/* the loop's thread waits for the lock */
	struct mimicd_workers workers;
};

/* Lock, operations and context are filled in. 0 or -errno; after either, mimicd_jobs_destroy(). */
int mimicd_jobs_create(struct mimicd_jobs *jobs, struct mimicd_loop *loop, unsigned int spin_microseconds);
/* No device is open. */
void mimicd_jobs_destroy(struct mimicd_jobs *jobs);

/* All that follows with the lock. */

/* A program has the device, of these parameters. 0, also for kinds without jobs; -EAGAIN, -ENOMEM. */
int mimicd_jobs_open(struct mimicd_device_jobs *device, const void *parameters, bool is_for_loop);
/*
 * No program has the device any more, and its model has been told power_on(). Waits for its jobs, whose
 * memory may be freed afterwards; mimicd_jobs_take_back() says beforehand whether there are any.
 */
void mimicd_jobs_close(struct mimicd_device_jobs *device);

/*
 * Jobs that no thread has begun come back. The model has been told power_on(), and drops their commands.
 * false: a thread is at work on one, and may sleep in a page of the program's.
 */
bool mimicd_jobs_take_back(struct mimicd_device_jobs *device);

/*
 * The device gets no new job until mimicd_jobs_release(). true: none is in flight. false: to be asked again when
 * one has come back.
 */
bool mimicd_jobs_hold(struct mimicd_device_jobs *device);
/* Of all devices. One that is still needed on hold is asked for again. */
void mimicd_jobs_release(struct mimicd_jobs *jobs);

/* Takes finished jobs back and hands new ones out. true: there was one. */
bool mimicd_jobs_round(struct mimicd_jobs *jobs);
/* Is there something that a round would do? */
bool mimicd_jobs_have_work(struct mimicd_jobs *jobs);
/* From any thread: the loop's does not sleep on. */
void mimicd_jobs_wake_loop(struct mimicd_jobs *jobs);
/* Do threads that have work need the CPU that we would spin on? */
bool mimicd_jobs_need_cpus(const struct mimicd_jobs *jobs);

/*
 * Before and after the sleep of the loop's thread. Unlock: false, there is work, do not
 * sleep. Either way the lock is to be taken again by mimicd_jobs_lock().
 */
bool mimicd_jobs_unlock(struct mimicd_jobs *jobs);
void mimicd_jobs_lock(struct mimicd_jobs *jobs);

#endif
