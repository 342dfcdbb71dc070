/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/engine/asleep.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/probe.h"
#include "mimic/lane.h"

/* Rounds that a worker does in the place of the loop's thread, before it wakes it. */
#define STAND_IN_ROUNDS 4
/* A job comes back within milliseconds. Reading a program's memory can take longer. */
#define CHECK_NS 100000000ull
#define PATIENCE_NS 2000000000ull
/* Times that it was looked in a row, CHECK_NS apart. */
#define ASLEEP_CHECKS 5u

/* --- taking, handing back ---------------------------------------------------------- */

static void hand_back(struct mimicd_job *job)
{
	struct mimicd_device_jobs *device = job->device;
	struct mimicd_jobs *jobs = device->jobs;
	void *done = job->job;

	/* Room again first: done() may let a store go on that makes new work. */
	job->job = NULL;
	device->in_flight--;
	jobs->in_flight--;
	device->ops->done(device->model, done, mimic_now());
	jobs->ops->returned(jobs->context, device->model);
}

static bool collect(struct mimicd_device_jobs *device)
{
	struct mimicd_job *job;
	int count = 0;

	if (!atomic_load_explicit(&device->finished, memory_order_relaxed))
		return false;
	/* acquire: the job's results are there before it is handed back */
	job = atomic_exchange_explicit(&device->finished, NULL, memory_order_acquire);
	while (job) {
		struct mimicd_job *next = job->next;

		hand_back(job);
		job = next;
		count++;
	}
	atomic_fetch_sub(&device->jobs->pending, count);
	return true;
}

static bool has_job(const struct mimicd_device_jobs *device)
{
	return !device->is_on_hold && device->in_flight < device->count && device->ops->has(device->model);
}

static struct mimicd_job *find_place(struct mimicd_device_jobs *device)
{
	struct mimicd_job *place = device->places;

	while (place->job)
		place++;
	return place;
}

static bool hand_out(struct mimicd_device_jobs *device)
{
	bool worked = false;

	while (has_job(device)) {
		struct mimicd_job *place = find_place(device);

		place->job = device->ops->take(device->model);
		if (!place->job)
			break;
		device->in_flight++;
		device->jobs->in_flight++;
		mimicd_workers_add(&device->jobs->workers, place);
		worked = true;
	}
	return worked;
}

static bool do_round(struct mimicd_jobs *jobs, bool is_worker)
{
	struct mimicd_device_jobs *device;
	bool worked = false, added = false;

	for (device = jobs->open; device; device = device->next) {
		if (is_worker && device->is_for_loop)
			continue;
		worked |= collect(device);
		added |= hand_out(device);
	}
	if (added)
		mimicd_workers_call(&jobs->workers, is_worker);
	return worked || added;
}

bool mimicd_jobs_round(struct mimicd_jobs *jobs)
{
	return jobs->open && do_round(jobs, false);
}

bool mimicd_jobs_have_work(struct mimicd_jobs *jobs)
{
	struct mimicd_device_jobs *device;

	if (atomic_load(&jobs->pending) > 0)
		return true;
	for (device = jobs->open; device; device = device->next) {
		if (has_job(device))
			return true;
	}
	return false;
}

bool mimicd_jobs_need_cpus(const struct mimicd_jobs *jobs)
{
	/* One of them is the client's, one would be ours. */
	return jobs->in_flight && jobs->in_flight + 2 > jobs->workers.processors;
}

/* --- the engine's lock ---------------------------------------------------------------- */

bool mimicd_jobs_unlock(struct mimicd_jobs *jobs)
{
	mimic_lock_release(jobs->lock);
	/* Pairs with the one of a worker between its finished job and its try for the lock. */
	mimic_lane_fence();
	return atomic_load(&jobs->pending) <= 0;
}

void mimicd_jobs_lock(struct mimicd_jobs *jobs)
{
	atomic_store(&jobs->is_wanted, true);
	mimic_lock_acquire(jobs->lock, MIMICD_LOCK_LOOP);
	atomic_store(&jobs->is_wanted, false);
}

void mimicd_jobs_wake_loop(struct mimicd_jobs *jobs)
{
	const uint64_t one = 1;

	(void)!write(jobs->wake_fd, &one, sizeof(one));
}

static bool may_watch(const struct mimicd_jobs *jobs)
{
	const struct mimicd_device_jobs *device;

	if (jobs->workers.processors < 2 || atomic_load(&jobs->workers.ready) || atomic_load(&jobs->is_wanted))
		return false;
	for (device = jobs->open; device; device = device->next) {
		if (device->is_for_loop && has_job(device))
			return false;
	}
	return jobs->ops->may_watch(jobs->context);
}

/* With the lock, on a worker that has no job: looks for commands until one makes a job. */
static void watch(struct mimicd_jobs *jobs)
{
	struct mimic_spin spin;

	if (!may_watch(jobs))
		return;
	jobs->ops->watch(jobs->context, true);
	mimic_spin_start(&spin, jobs->workers.spin_microseconds, true);
	do {
		jobs->ops->go_on(jobs->context);
		do_round(jobs, true);
	} while (may_watch(jobs) && mimic_spin_step(&spin));
	jobs->ops->watch(jobs->context, false);
	/* Pairs with the fence of a program between its command and its read of the flag. */
	mimic_lane_fence();
}

/* With the lock, on a worker: all that the jobs' ends set off. */
static void stand_in(struct mimicd_jobs *jobs)
{
	unsigned int rounds = 0;
	bool worked;

	do {
		worked = do_round(jobs, true);
		worked |= jobs->ops->go_on(jobs->context);
	} while (worked && ++rounds < STAND_IN_ROUNDS);
	watch(jobs);
	if (jobs->ops->finish(jobs->context))
		mimicd_jobs_wake_loop(jobs);
}

/* The C library asks the system each time, and a short job takes no more than some ten system calls. */
static int own_number(void)
{
	static _Thread_local int number;

	if (!number)
		number = gettid();
	return number;
}

/* On a worker: does the job, and then the work that it sets off, if the loop's thread sleeps. */
static void run(struct mimicd_job *job)
{
	struct mimicd_device_jobs *device = job->device;
	struct mimicd_jobs *jobs = device->jobs;

	atomic_store_explicit(&job->worker, own_number(), memory_order_relaxed);
	device->ops->run(job->job);
	atomic_store_explicit(&job->worker, 0, memory_order_relaxed);
	job->next = atomic_load_explicit(&device->finished, memory_order_relaxed);
	/* release: the job's results are there. Afterwards we must not access the device. */
	while (!atomic_compare_exchange_weak_explicit(&device->finished, &job->next, job,
						      memory_order_release, memory_order_relaxed))
		;
	atomic_fetch_add(&jobs->pending, 1);
	atomic_fetch_add(&jobs->returns, 1);
	mimic_lane_fence();
	if (atomic_load(&jobs->is_awaited))
		mimic_futex_wake(&jobs->returns, 1, MIMIC_FUTEX_PRIVATE);
	/* A holder of the lock looks for finished jobs after it has released it, too. */
	if (!mimic_lock_try(jobs->lock, MIMICD_LOCK_WORKER))
		return;
	stand_in(jobs);
	mimic_lock_release(jobs->lock);
	mimic_lane_fence();
	if (atomic_load(&jobs->pending) > 0)
		mimicd_jobs_wake_loop(jobs);
}

/* --- open and close ---------------------------------------------------------------------- */

int mimicd_jobs_open(struct mimicd_device_jobs *device, const void *parameters, bool is_for_loop)
{
	int error;

	if (!device->ops || device->places)
		return 0;
	error = mimicd_workers_start(&device->jobs->workers);
	if (error)
		return error;
	device->count = device->ops->count(parameters);
	device->places = calloc(device->count, sizeof(*device->places));
	if (!device->places)
		return -ENOMEM;
	for (unsigned int i = 0; i < device->count; i++)
		device->places[i].device = device;
	device->is_for_loop = is_for_loop;
	device->next = device->jobs->open;
	device->jobs->open = device;
	return 0;
}

/* A job that computes comes to an end, however long it takes on a loaded machine. */
static bool are_asleep(const struct mimicd_device_jobs *device)
{
	for (unsigned int i = 0; i < device->count; i++) {
		int worker = atomic_load_explicit(&device->places[i].worker, memory_order_relaxed);

		/* 0: a worker has just taken it, or is about to give it back. */
		if (device->places[i].job && (!worker || !mimicd_thread_is_asleep(worker)))
			return false;
	}
	return true;
}

/*
 * Reading a program's memory takes as long as the program likes, if it serves page
 * faults itself. When we are to stop, we stop: nothing that a job uses can be freed then.
 */
static void check_patience(const struct mimicd_device_jobs *device, uint64_t since, unsigned int *asleep, bool *told)
{
	/* Each worker sleeps for a moment now and then, for a page of the file system or a lock. */
	*asleep = are_asleep(device) ? *asleep + 1 : 0;
	if (mimic_now() - since < PATIENCE_NS)
		return;
	if (!*told)
		mimicd_log(MIMICD_LOG_ERROR, "%s: work on it does not end", device->name);
	*told = true;
	if (device->jobs->loop->is_stopping && *asleep >= ASLEEP_CHECKS)
		_exit(EXIT_FAILURE);
}

static void wait_for_jobs(struct mimicd_device_jobs *device)
{
	struct mimicd_jobs *jobs = device->jobs;
	uint64_t since = mimic_now();
	unsigned int asleep = 0;
	bool told = false;

	atomic_store(&jobs->is_awaited, true);
	for (;;) {
		uint32_t returns = atomic_load(&jobs->returns);

		mimic_lane_fence();
		collect(device);
		if (!device->in_flight)
			break;
		mimic_futex_wait(&jobs->returns, returns, CHECK_NS, MIMIC_FUTEX_PRIVATE);
		check_patience(device, since, &asleep, &told);
	}
	atomic_store(&jobs->is_awaited, false);
}

bool mimicd_jobs_take_back(struct mimicd_device_jobs *device)
{
	struct mimicd_job *job;

	if (!device->places)
		return true;
	while ((job = mimicd_workers_take_back(&device->jobs->workers, device)))
		hand_back(job);
	collect(device);
	return !device->in_flight;
}

void mimicd_jobs_close(struct mimicd_device_jobs *device)
{
	struct mimicd_device_jobs **link;

	if (!device->places)
		return;
	if (!mimicd_jobs_take_back(device))
		wait_for_jobs(device);
	link = &device->jobs->open;
	while (*link != device)
		link = &(*link)->next;
	*link = device->next;
	free(device->places);
	device->places = NULL;
	device->is_on_hold = false;
}

bool mimicd_jobs_hold(struct mimicd_device_jobs *device)
{
	device->is_on_hold = device->places;
	collect(device);
	return !device->in_flight;
}

void mimicd_jobs_release(struct mimicd_jobs *jobs)
{
	for (struct mimicd_device_jobs *device = jobs->open; device; device = device->next)
		device->is_on_hold = false;
}

/* --- their life ------------------------------------------------------------------------- */

int mimicd_jobs_create(struct mimicd_jobs *jobs, struct mimicd_loop *loop, unsigned int spin_microseconds)
{
	int error;

	mimicd_workers_init(&jobs->workers, run, spin_microseconds);
	jobs->loop = loop;
	jobs->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	mimicd_jobs_lock(jobs);
	if (jobs->wake_fd < 0)
		return -errno;
	error = mimicd_loop_watch(loop, jobs->wake_fd, EPOLLIN | EPOLLET, &jobs->wake_source);
	return error ? error : mimic_probe_install_handlers();
}

void mimicd_jobs_destroy(struct mimicd_jobs *jobs)
{
	mimicd_workers_destroy(&jobs->workers);
	if (jobs->wake_fd >= 0)
		close(jobs->wake_fd);
}
