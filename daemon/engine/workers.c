/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/workers.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/loop/log.h"
#include "mimic/lane.h"

/* --- the queue ---------------------------------------------------------------- */

void mimicd_workers_add(struct mimicd_jobs *jobs, struct mimicd_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&jobs->lock);
	*jobs->last = job;
	jobs->last = &job->next;
	/* Before the look at who spins: a worker that gives up looks at it afterwards. */
	atomic_fetch_add(&jobs->ready, 1);
	pthread_mutex_unlock(&jobs->lock);
}

static struct mimicd_job *take(struct mimicd_jobs *jobs, const struct mimicd_instance *instance)
{
	struct mimicd_job **link, *job;

	pthread_mutex_lock(&jobs->lock);
	link = &jobs->first;
	while (*link && instance && (*link)->instance != instance)
		link = &(*link)->next;
	job = *link;
	if (job) {
		*link = job->next;
		if (!job->next)
			jobs->last = link;
		atomic_fetch_sub(&jobs->ready, 1);
	}
	pthread_mutex_unlock(&jobs->lock);
	return job;
}

struct mimicd_job *mimicd_workers_take_back(struct mimicd_jobs *jobs,
					    const struct mimicd_instance *instance)
{
	return take(jobs, instance);
}

/* Whoever added a job since we took ours has counted us as one that looks for it. */
static void call_another(struct mimicd_jobs *jobs)
{
	if (atomic_load(&jobs->ready) <= atomic_load(&jobs->spinning) || !atomic_load(&jobs->sleeping))
		return;
	atomic_fetch_add(&jobs->bell, 1);
	mimic_futex_wake(&jobs->bell, 1, MIMIC_FUTEX_PRIVATE);
}

static struct mimicd_job *spin_for_job(struct mimicd_engine *engine)
{
	struct mimicd_jobs *jobs = &engine->jobs;
	struct mimicd_job *job = NULL;
	struct mimic_spin spin;

	atomic_fetch_add(&jobs->spinning, 1);
	mimic_spin_start(&spin, engine->settings.spin_microseconds, jobs->processors > 1);
	do {
		if (atomic_load_explicit(&jobs->ready, memory_order_relaxed))
			job = take(jobs, NULL);
	} while (!job && !atomic_load_explicit(&jobs->stopping, memory_order_relaxed) &&
		 mimic_spin_step(&spin));
	atomic_fetch_sub(&jobs->spinning, 1);
	/* Pairs with the one between a new job and the look at who spins. */
	mimic_lane_fence();
	if (job)
		call_another(jobs);
	return job;
}

/* NULL: the daemon stops. */
static struct mimicd_job *wait_for_job(struct mimicd_engine *engine)
{
	struct mimicd_jobs *jobs = &engine->jobs;
	struct mimicd_job *job = take(jobs, NULL);

	if (!job)
		job = spin_for_job(engine);
	while (!job && !atomic_load(&jobs->stopping)) {
		uint32_t bell = atomic_load(&jobs->bell);

		atomic_fetch_add(&jobs->sleeping, 1);
		/* Pairs with the one between a new job and the look at who sleeps. */
		mimic_lane_fence();
		if (!atomic_load(&jobs->ready) && !atomic_load(&jobs->stopping))
			mimic_futex_wait(&jobs->bell, bell, 0, MIMIC_FUTEX_PRIVATE);
		atomic_fetch_sub(&jobs->sleeping, 1);
		job = take(jobs, NULL);
	}
	return job;
}

/* --- threads -------------------------------------------------------------------- */

static void *work(void *context)
{
	/* Computes for long: threads that wait for something come first when they wake. */
	const struct sched_param none = { 0 };
	struct mimicd_engine *engine = context;
	struct mimicd_job *job;

	sched_setscheduler(0, SCHED_BATCH, &none);
	while ((job = wait_for_job(engine))) {
		job->instance->kind->jobs->run(job->job);
		mimicd_job_finished(engine, job);
	}
	return NULL;
}

static int add_worker(struct mimicd_engine *engine)
{
	struct mimicd_jobs *jobs = &engine->jobs;
	sigset_t signals, before;
	int error;

	/* The daemon's signals are for the engine's thread; a read of a bad address is for whoever reads. */
	sigfillset(&signals);
	sigdelset(&signals, SIGSEGV);
	sigdelset(&signals, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &signals, &before);
	error = pthread_create(&jobs->workers[jobs->worker_count], NULL, work, engine);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return -error;
	pthread_setname_np(jobs->workers[jobs->worker_count++], "mimicd worker");
	return 0;
}

int mimicd_workers_start(struct mimicd_engine *engine)
{
	int error = engine->jobs.worker_count ? 0 : add_worker(engine);

	if (error)
		mimicd_log(MIMICD_LOG_WARNING, "no thread for the work of devices: %s", strerror(-error));
	return error;
}

void mimicd_workers_stop(struct mimicd_engine *engine)
{
	struct mimicd_jobs *jobs = &engine->jobs;

	atomic_store(&jobs->stopping, true);
	atomic_fetch_add(&jobs->bell, 1);
	mimic_futex_wake(&jobs->bell, (int)MIMICD_WORKERS_MAX, MIMIC_FUTEX_PRIVATE);
	while (jobs->worker_count)
		pthread_join(jobs->workers[--jobs->worker_count], NULL);
}

void mimicd_workers_call(struct mimicd_engine *engine, bool self)
{
	struct mimicd_jobs *jobs = &engine->jobs;
	unsigned int ready = atomic_load(&jobs->ready);
	unsigned int awake = atomic_load(&jobs->spinning) + self;
	unsigned int sleeping;

	if (ready <= awake)
		return;
	mimic_lane_fence();
	sleeping = atomic_load(&jobs->sleeping);
	if (sleeping) {
		atomic_fetch_add(&jobs->bell, 1);
		mimic_futex_wake(&jobs->bell, (int)(ready - awake), MIMIC_FUTEX_PRIVATE);
	}
	/* If there can be no more of them, those that there are do it all. */
	if (ready - awake > sleeping && jobs->worker_count < jobs->processors)
		add_worker(engine);
}
