/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Workers, and threads that wait, do jobs. struct embedded_jobs describes how they share the work. */
#include "libmimic/base/quiet_thread.h"
#include "libmimic/embedded/embedded.h"

#include <signal.h>
#include <sys/syscall.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/raw_syscall.h"

/* The thread that closes checks again after this long, should a wake-up be lost. */
#define CLOSE_LOOKS_NANOSECONDS 10000000u
/* A thread of the program begins no further job after this long: its signals wait meanwhile. */
#define HELP_NANOSECONDS 1000000u

/* --- taking and giving back, with the lock --------------------------------------------- */

static void *take(struct embedded_instance *instance)
{
	struct embedded_jobs *jobs = &instance->jobs;
	void *job = instance->open ? jobs->kind->take(instance->model) : NULL;

	if (job)
		atomic_store_explicit(&jobs->out, jobs->out + 1, memory_order_relaxed);
	return job;
}

static void give_back(struct embedded_instance *instance, void *job)
{
	struct embedded_jobs *jobs = &instance->jobs;

	/* Also after the close, which waits for us: the model is still there. */
	jobs->kind->done(instance->model, job, instance->clock.now);
	atomic_store_explicit(&jobs->out, jobs->out - 1, memory_order_relaxed);
	if (atomic_load_explicit(&jobs->ending, memory_order_relaxed) && !jobs->out)
		mimic_futex_wake(&jobs->out, 1, MIMIC_FUTEX_PRIVATE);
}

static struct embedded_worker *find_asleep(struct embedded_jobs *jobs)
{
	for (unsigned int i = 0; i < jobs->made; i++) {
		if (atomic_load_explicit(&jobs->worker[i].state, memory_order_relaxed) == EMBEDDED_ASLEEP)
			return &jobs->worker[i];
	}
	return NULL;
}

/*
 * At once, and not when the lock is free, as for lanes: a handler that leaves by siglongjmp()
 * before the wake-up would leave a worker that all threads take for awake.
 */
static void wake(struct embedded_jobs *jobs, struct embedded_worker *worker)
{
	atomic_store_explicit(&worker->state, EMBEDDED_AWAKE, memory_order_relaxed);
	jobs->asleep--;
	jobs->waking++;
	mimic_futex_wake(&worker->state, 1, MIMIC_FUTEX_PRIVATE);
}

/* There is a job, and no worker that is about to see it. May one more thread be at work? */
static bool wants_another(const struct embedded_jobs *jobs, bool is_worker)
{
	/* A thread of the program runs, too. */
	unsigned int active = jobs->out + (is_worker ? 0 : 1);

	if (!atomic_load_explicit(&jobs->available, memory_order_relaxed) ||
	    atomic_load_explicit(&jobs->looking, memory_order_relaxed) || jobs->waking)
		return false;
	return active < jobs->cpus || jobs->asleep == jobs->made;
}

void mimic_embedded_jobs_settle(struct embedded_instance *instance, bool is_worker)
{
	struct embedded_jobs *jobs = &instance->jobs;

	atomic_store_explicit(&jobs->available, instance->open && jobs->kind->has(instance->model),
			      memory_order_relaxed);
	if (jobs->asleep && wants_another(jobs, is_worker))
		wake(jobs, find_asleep(jobs));
}

/* --- workers ------------------------------------------------------------------------------ */

static void *work(void *argument);

static int make_thread(struct embedded_worker *worker)
{
	int error = -mimic_quiet_thread(&worker->thread, work, worker);

	worker->exists = !error;
	return error;
}

/* With the lock: a place for another worker; NULL: there are enough. */
static struct embedded_worker *reserve(struct embedded_instance *instance)
{
	struct embedded_jobs *jobs = &instance->jobs;
	struct embedded_worker *worker = &jobs->worker[jobs->made];

	if (jobs->made >= jobs->most || atomic_load_explicit(&jobs->ending, memory_order_relaxed))
		return NULL;
	worker->instance = instance;
	/* A worker of the last open may have ended while it looked for a job. */
	worker->is_looking = false;
	atomic_store_explicit(&worker->state, EMBEDDED_AWAKE, memory_order_relaxed);
	atomic_store_explicit(&worker->cpu, MIMIC_CPU_UNKNOWN, memory_order_relaxed);
	jobs->made++;
	jobs->waking++;
	return worker;
}

/* Of the lock: no thread of the program has such a number. */
static uint32_t holder_of(const struct embedded_worker *worker)
{
	return MIMIC_LOCK_HOLDER_MAX - (uint32_t)(worker - worker->instance->jobs.worker);
}

static void lock(struct embedded_worker *worker)
{
	/* Never -EDEADLK: no signal handler runs on this thread. */
	mimic_embedded_lock_as(worker->instance, holder_of(worker));
	atomic_store_explicit(&worker->cpu, mimic_cpu_current(), memory_order_relaxed);
}

/* A thread that could not be made has to be counted out again. */
static void make_another(struct embedded_worker *self, struct embedded_worker *another)
{
	struct embedded_jobs *jobs = &self->instance->jobs;

	if (!make_thread(another))
		return;
	lock(self);
	jobs->most = jobs->made;	/* no more attempts */
	jobs->waking--;
	mimic_embedded_leave(self->instance);
}

/*
 * Gives back `done` (NULL: nothing) and takes another job. NULL: there is none, and unless
 * the device ends, the worker is counted as one that looks.
 */
static void *exchange(struct embedded_worker *worker, void *done, bool is_new)
{
	struct embedded_instance *instance = worker->instance;
	struct embedded_jobs *jobs = &instance->jobs;
	struct embedded_worker *another = NULL;
	void *job;

	lock(worker);
	if (is_new)
		jobs->waking--;
	if (worker->is_looking)
		jobs->looking--;
	if (done)
		give_back(instance, done);
	if (instance->open)
		mimic_embedded_drain(instance);
	job = take(instance);
	worker->is_looking = !job && !atomic_load_explicit(&jobs->ending, memory_order_relaxed);
	if (worker->is_looking)
		jobs->looking++;
	mimic_embedded_jobs_settle(instance, true);
	if (job && !jobs->asleep && wants_another(jobs, true))
		another = reserve(instance);
	mimic_embedded_leave(instance);
	if (another)
		make_another(worker, another);
	return job;
}

static bool has_work(struct embedded_instance *instance)
{
	return atomic_load_explicit(&instance->jobs.available, memory_order_relaxed) ||
	       atomic_load_explicit(&instance->jobs.ending, memory_order_relaxed) ||
	       mimic_embedded_has_news(instance);
}

static bool spin(struct embedded_instance *instance)
{
	const struct embedded_jobs *jobs = &instance->jobs;
	struct mimic_spin spinning;

	mimic_spin_start(&spinning, instance->spin_microseconds,
			 mimic_embedded_peer_is_elsewhere(instance, NULL));
	do {
		if (has_work(instance))
			return true;
		/* CPUs that are all at work have none for us to spin on. */
	} while (atomic_load_explicit(&jobs->out, memory_order_relaxed) < jobs->cpus &&
		 mimic_spin_step(&spinning));
	return false;
}

/* With the lock: true if the worker may sleep, and is counted as asleep. */
static bool fall_asleep(struct embedded_worker *worker)
{
	struct embedded_jobs *jobs = &worker->instance->jobs;

	if (atomic_load_explicit(&jobs->ending, memory_order_relaxed) ||
	    atomic_load_explicit(&jobs->available, memory_order_relaxed))
		return false;
	jobs->looking--;
	worker->is_looking = false;
	jobs->asleep++;
	atomic_store_explicit(&worker->state, EMBEDDED_ASLEEP, memory_order_relaxed);
	atomic_store(&worker->instance->sleepers, 1);
	return true;
}

/* Until another thread wakes it. Is it counted as waking (true), or did it wake by itself? */
static bool sleep_until_woken(struct embedded_worker *worker)
{
	struct embedded_instance *instance = worker->instance;
	bool was_woken;

	/*
	 * Pairs with the light fence of mimic_embedded_notify(): either the poster sees `sleepers`,
	 * or we its words.
	 */
	mimic_fence_heavy();
	if (!mimic_embedded_has_news(instance))
		mimic_futex_wait(&worker->state, EMBEDDED_ASLEEP, 0, MIMIC_FUTEX_PRIVATE);
	lock(worker);
	was_woken = atomic_load_explicit(&worker->state, memory_order_relaxed) == EMBEDDED_AWAKE;
	if (!was_woken) {
		instance->jobs.asleep--;
		atomic_store_explicit(&worker->state, EMBEDDED_AWAKE, memory_order_relaxed);
	}
	mimic_embedded_release(instance);
	return was_woken;
}

/* Until there may be work. Is the worker counted as waking? */
static bool wait_for_work(struct embedded_worker *worker)
{
	bool sleeps;

	if (spin(worker->instance))
		return false;
	lock(worker);
	sleeps = fall_asleep(worker);
	mimic_embedded_leave(worker->instance);
	return sleeps && sleep_until_woken(worker);
}

static void *work(void *argument)
{
	struct embedded_worker *worker = argument;
	struct embedded_jobs *jobs = &worker->instance->jobs;
	bool is_waking = true;
	void *job = NULL;

	pthread_setname_np(pthread_self(), "mimic-job");
	for (;;) {
		job = exchange(worker, job, is_waking);
		is_waking = false;
		if (job)
			jobs->kind->run(job);
		else if (atomic_load_explicit(&jobs->ending, memory_order_relaxed))
			return NULL;
		else
			is_waking = wait_for_work(worker);
	}
}

/* --- threads of the program ------------------------------------------------------------------ */

/*
 * Nothing of the program may run on this thread while it has a job: a handler could leave
 * by siglongjmp(), and the job would be lost. Not through libc, where the preload library stands.
 */
static uint64_t block_signals(void)
{
	static const uint64_t let_through = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) |
					    1ull << (SIGILL - 1) | 1ull << (SIGFPE - 1) |
					    1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1);
	uint64_t blocked = ~let_through, before = 0;

	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&blocked, (long)&before, sizeof(before), 0,
			  0);
	return before;
}

static void restore_signals(uint64_t mask)
{
	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

/* Threads of the program that wait and are not asleep, the caller among them. */
static unsigned int waiting_awake(struct embedded_instance *instance)
{
	struct embedded_lane *lane;
	unsigned int count = 0;

	for (lane = atomic_load_explicit(&instance->lanes, memory_order_acquire); lane;
	     lane = atomic_load_explicit(&lane->next, memory_order_relaxed))
		count += atomic_load_explicit(&lane->waiting, memory_order_relaxed) != EMBEDDED_WAIT_NONE &&
			 atomic_load_explicit(&lane->state, memory_order_relaxed) == EMBEDDED_AWAKE;
	return count;
}

/* A worker that looks for a job gets it, if there can be a CPU for it beside all threads that are awake. */
static bool is_workers(struct embedded_instance *instance)
{
	const struct embedded_jobs *jobs = &instance->jobs;
	unsigned int looking = atomic_load_explicit(&jobs->looking, memory_order_relaxed);

	return looking && atomic_load_explicit(&jobs->out, memory_order_relaxed) + looking +
			  waiting_awake(instance) <= jobs->cpus;
}

bool mimic_embedded_jobs_need_help(struct embedded_instance *instance)
{
	return atomic_load_explicit(&instance->jobs.available, memory_order_relaxed) &&
	       !is_workers(instance);
}

/* With the lock. A thread whose wait is over has other things to do. */
static void *take_while_waiting(struct embedded_instance *instance, struct embedded_lane *lane)
{
	if (is_workers(instance) ||
	    atomic_load_explicit(&lane->state, memory_order_relaxed) == EMBEDDED_SETTLED)
		return NULL;
	return take(instance);
}

/* Gives the job back and takes the next: between two locks a worker would be woken for it. */
static void *exchange_while_waiting(struct embedded_instance *instance, struct embedded_lane *lane, void *job,
				     bool may_go_on)
{
	/* Never -EDEADLK: with its signals blocked, this thread does not hold the lock. */
	mimic_embedded_lock(instance, lane);
	give_back(instance, job);
	if (instance->open)
		mimic_embedded_drain(instance);
	job = may_go_on ? take_while_waiting(instance, lane) : NULL;
	mimic_embedded_leave(instance);
	return job;
}

void mimic_embedded_jobs_help(struct embedded_instance *instance, struct embedded_lane *lane)
{
	uint64_t mask = block_signals(), begun;
	void *job = NULL;

	if (!mimic_embedded_lock(instance, lane)) {
		if (instance->open)
			mimic_embedded_drain(instance);
		job = take_while_waiting(instance, lane);
		mimic_embedded_leave(instance);
	}
	for (begun = job ? mimic_now() : 0; job;) {
		instance->jobs.kind->run(job);
		job = exchange_while_waiting(instance, lane, job, mimic_now() - begun < HELP_NANOSECONDS);
	}
	restore_signals(mask);
}

/* --- beginning and end ----------------------------------------------------------------------------- */

int mimic_embedded_jobs_start(struct embedded_instance *instance, const void *parameters)
{
	struct embedded_jobs *jobs = &instance->jobs;
	unsigned int cpus = mimic_cpu_count();
	unsigned int most;

	if (!jobs->kind)
		return 0;
	most = jobs->kind->count(parameters);
	if (most > cpus)
		most = cpus;
	if (most > EMBEDDED_WORKERS_MAX)
		most = EMBEDDED_WORKERS_MAX;
	/* One by one and not by memset(): a thread that waited when the device was closed may still read them. */
	atomic_store(&jobs->cpus, cpus);
	atomic_store(&jobs->most, most);
	atomic_store(&jobs->looking, 0);
	atomic_store(&jobs->available, false);
	atomic_store(&jobs->ending, false);
	/* Those that are not made yet are no thread's peers. */
	for (unsigned int i = 0; i < EMBEDDED_WORKERS_MAX; i++)
		atomic_store(&jobs->worker[i].state, EMBEDDED_ASLEEP);
	jobs->made = 0;
	jobs->asleep = 0;
	jobs->waking = 0;
	return make_thread(reserve(instance));
}

void mimic_embedded_jobs_end(struct embedded_instance *instance)
{
	struct embedded_jobs *jobs = &instance->jobs;
	struct embedded_worker *worker;

	atomic_store_explicit(&jobs->ending, true, memory_order_relaxed);
	while ((worker = find_asleep(jobs)))
		wake(jobs, worker);
}

void mimic_embedded_jobs_stop(struct embedded_instance *instance)
{
	struct embedded_jobs *jobs = &instance->jobs;
	int cancel;
	uint32_t out;

	/* Joining is a cancellation point, and our callers hold locks. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* Each was made by one of a lower number: when that has ended, `exists` is as it will be. */
	for (unsigned int i = 0; i < jobs->made; i++) {
		if (jobs->worker[i].exists)
			pthread_join(jobs->worker[i].thread, NULL);
	}
	pthread_setcancelstate(cancel, NULL);
	/* A thread of the program may have one. */
	while ((out = atomic_load_explicit(&jobs->out, memory_order_acquire)))
		mimic_futex_wait(&jobs->out, out, CLOSE_LOOKS_NANOSECONDS, MIMIC_FUTEX_PRIVATE);
}
