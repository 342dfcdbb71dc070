/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/jobs.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/events.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/workers.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/probe.h"

/* Rounds that a worker does in the place of the engine's thread, before it wakes it. */
#define STAND_IN_ROUNDS 4
/* A job comes back within milliseconds. Reading a program's memory can take longer. */
#define LOOK_NS 100000000ull
#define PATIENCE_NS 2000000000ull

static unsigned int count_processors(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) > (int)MIMICD_WORKERS_MAX)
		return MIMICD_WORKERS_MAX;
	return (unsigned int)CPU_COUNT(&set);
}

int mimicd_jobs_create(struct mimicd_engine *engine)
{
	struct mimicd_jobs *jobs = &engine->jobs;
	int error;

	pthread_mutex_init(&jobs->lock, NULL);
	jobs->last = &jobs->first;
	jobs->processors = count_processors();
	jobs->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	mimic_lock_acquire(&jobs->baton, MIMICD_BATON_ENGINE);
	if (jobs->wake_fd < 0)
		return -errno;
	error = mimicd_loop_watch(engine->loop, jobs->wake_fd, EPOLLIN | EPOLLET, &engine->jobs_source);
	return error ? error : mimic_probe_install_handlers();
}

void mimicd_jobs_destroy(struct mimicd_engine *engine)
{
	mimicd_workers_stop(engine);
	if (engine->jobs.wake_fd >= 0)
		close(engine->jobs.wake_fd);
	pthread_mutex_destroy(&engine->jobs.lock);
}

/* --- taking, handing back ---------------------------------------------------------- */

static void hand_back(struct mimicd_job *job)
{
	struct mimicd_instance *instance = job->instance;
	struct mimicd_engine *engine = instance->engine;
	void *done = job->job;

	/* Room again first: done() may let a store go on that makes new work. */
	job->job = NULL;
	instance->jobs.out--;
	engine->jobs.out--;
	instance->kind->jobs->done(instance->model, done, mimic_now());
	engine->busy |= instance->model->ops->busy(instance->model);
}

static bool collect(struct mimicd_instance *instance)
{
	struct mimicd_job *job;
	int count = 0;

	if (!atomic_load_explicit(&instance->jobs.finished, memory_order_relaxed))
		return false;
	/* acquire: what the job did is there before it is handed back */
	job = atomic_exchange_explicit(&instance->jobs.finished, NULL, memory_order_acquire);
	while (job) {
		struct mimicd_job *next = job->next;

		hand_back(job);
		job = next;
		count++;
	}
	atomic_fetch_sub(&instance->engine->jobs.pending, count);
	return true;
}

static bool has_job(const struct mimicd_instance *instance)
{
	return instance->jobs.out < instance->jobs.count &&
	       instance->kind->jobs->has(instance->model);
}

static struct mimicd_job *find_place(struct mimicd_instance *instance)
{
	struct mimicd_job *place = instance->jobs.places;

	while (place->job)
		place++;
	return place;
}

static bool hand_out(struct mimicd_instance *instance)
{
	struct mimicd_jobs *jobs = &instance->engine->jobs;
	bool worked = false;

	while (has_job(instance)) {
		struct mimicd_job *place = find_place(instance);

		place->job = instance->kind->jobs->take(instance->model);
		if (!place->job)
			break;
		instance->jobs.out++;
		jobs->out++;
		mimicd_workers_add(jobs, place);
		worked = true;
	}
	return worked;
}

/* What belongs to a process through the kernel is the engine's thread's alone. */
static bool is_for_worker(const struct mimicd_instance *instance)
{
	return !mimicd_instance_is_bound(instance);
}

static bool do_round(struct mimicd_engine *engine, bool is_worker)
{
	struct mimicd_instance *instance;
	bool worked = false, added = false;

	for (instance = engine->jobs.open; instance; instance = instance->jobs.next) {
		if (is_worker && !is_for_worker(instance))
			continue;
		worked |= collect(instance);
		added |= hand_out(instance);
	}
	if (added)
		mimicd_workers_call(engine, is_worker);
	return worked || added;
}

bool mimicd_jobs_round(struct mimicd_engine *engine)
{
	return engine->jobs.open && do_round(engine, false);
}

bool mimicd_jobs_have_work(struct mimicd_engine *engine)
{
	struct mimicd_instance *instance;

	if (atomic_load(&engine->jobs.pending) > 0)
		return true;
	for (instance = engine->jobs.open; instance; instance = instance->jobs.next) {
		if (has_job(instance))
			return true;
	}
	return false;
}

bool mimicd_jobs_need_cpus(const struct mimicd_jobs *jobs)
{
	/* One of them is the client's, one would be ours. */
	return jobs->out && jobs->out + 2 > jobs->processors;
}

/* --- the baton ------------------------------------------------------------------------ */

bool mimicd_jobs_sleep(struct mimicd_engine *engine)
{
	mimic_lock_release(&engine->jobs.baton);
	/* Pairs with the one of a worker between its finished job and its look at the baton. */
	mimic_lane_fence();
	return atomic_load(&engine->jobs.pending) <= 0;
}

void mimicd_jobs_wake(struct mimicd_engine *engine)
{
	mimic_lock_acquire(&engine->jobs.baton, MIMICD_BATON_ENGINE);
}

static void wake_engine(struct mimicd_engine *engine)
{
	const uint64_t one = 1;

	(void)!write(engine->jobs.wake_fd, &one, sizeof(one));
}

/* With the baton, on a worker: all that the jobs' ends set off. */
static void stand_in(struct mimicd_engine *engine)
{
	unsigned int rounds = 0;
	bool worked;

	do {
		worked = do_round(engine, true);
		worked |= mimicd_engine_round_lanes(engine);
	} while (worked && ++rounds < STAND_IN_ROUNDS);
	mimicd_events_deliver(engine);
	if (engine->reap || mimicd_engine_has_work(engine))
		wake_engine(engine);
}

void mimicd_job_finished(struct mimicd_engine *engine, struct mimicd_job *job)
{
	struct mimicd_instance *instance = job->instance;
	struct mimicd_jobs *jobs = &engine->jobs;

	job->next = atomic_load_explicit(&instance->jobs.finished, memory_order_relaxed);
	/* release: what the job did is there. Afterwards the instance is not ours to look at. */
	while (!atomic_compare_exchange_weak_explicit(&instance->jobs.finished, &job->next, job,
						      memory_order_release, memory_order_relaxed))
		;
	atomic_fetch_add(&jobs->pending, 1);
	atomic_fetch_add(&jobs->returns, 1);
	mimic_lane_fence();
	if (atomic_load(&jobs->is_awaited))
		mimic_futex_wake(&jobs->returns, 1, MIMIC_FUTEX_PRIVATE);
	/* Whoever has the baton looks after it has given it back, too. */
	if (!mimic_lock_try(&jobs->baton, MIMICD_BATON_WORKER))
		return;
	stand_in(engine);
	mimic_lock_release(&jobs->baton);
	mimic_lane_fence();
	if (atomic_load(&jobs->pending) > 0)
		wake_engine(engine);
}

/* --- who has a device -------------------------------------------------------------------- */

int mimicd_jobs_open(struct mimicd_instance *instance)
{
	const struct mimic_settings *settings = &instance->engine->settings;
	struct mimicd_instance_jobs *jobs = &instance->jobs;
	int error;

	if (!instance->kind->jobs || jobs->places)
		return 0;
	error = mimicd_workers_start(instance->engine);
	if (error)
		return error;
	jobs->count = instance->kind->jobs->count(mimic_parameters_of(&settings->parameters,
								       instance->kind));
	jobs->places = calloc(jobs->count, sizeof(*jobs->places));
	if (!jobs->places)
		return -ENOMEM;
	for (unsigned int i = 0; i < jobs->count; i++)
		jobs->places[i].instance = instance;
	jobs->next = instance->engine->jobs.open;
	instance->engine->jobs.open = instance;
	return 0;
}

/*
 * Reading a program's memory takes as long as the program likes, if it serves page
 * faults itself. When we are to stop, we stop: nothing that is out can be freed then.
 */
static void check_patience(const struct mimicd_instance *instance, uint64_t since, bool *told)
{
	if (mimic_now() - since < PATIENCE_NS)
		return;
	if (!*told)
		mimicd_log(MIMICD_LOG_ERROR, "%s: work on it does not end", instance->name);
	*told = true;
	if (instance->engine->loop->is_stopping)
		_exit(EXIT_FAILURE);
}

static void wait_for_jobs(struct mimicd_instance *instance)
{
	struct mimicd_jobs *jobs = &instance->engine->jobs;
	uint64_t since = mimic_now();
	bool told = false;

	atomic_store(&jobs->is_awaited, true);
	for (;;) {
		uint32_t returns = atomic_load(&jobs->returns);

		mimic_lane_fence();
		collect(instance);
		if (!instance->jobs.out)
			break;
		mimic_futex_wait(&jobs->returns, returns, LOOK_NS, MIMIC_FUTEX_PRIVATE);
		check_patience(instance, since, &told);
	}
	atomic_store(&jobs->is_awaited, false);
}

void mimicd_jobs_end(struct mimicd_instance *instance)
{
	struct mimicd_job *job;

	if (!instance->jobs.places)
		return;
	/* After power_on() the model has forgotten what is in them. */
	while ((job = mimicd_workers_take_back(&instance->engine->jobs, instance)))
		hand_back(job);
	wait_for_jobs(instance);
}

void mimicd_jobs_close(struct mimicd_instance *instance)
{
	struct mimicd_instance **link = &instance->engine->jobs.open;

	if (!instance->jobs.places)
		return;
	mimicd_jobs_end(instance);
	while (*link != instance)
		link = &(*link)->jobs.next;
	*link = instance->jobs.next;
	free(instance->jobs.places);
	instance->jobs.places = NULL;
}
