/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/workers.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "daemon/loop/log.h"
#include "libmimic/base/wait.h"
#include "mimic/lane.h"

/* A job takes some milliseconds, and some more where other programs have the processors. */
#define ALL_SLEEP_NS 20000000u

/* --- the queue ---------------------------------------------------------------- */

void mimicd_workers_add(struct mimicd_workers *workers, struct mimicd_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&workers->lock);
	*workers->last = job;
	workers->last = &job->next;
	/* Before `spinning` is read: a worker that gives up reads this afterwards. */
	atomic_fetch_add(&workers->ready, 1);
	pthread_mutex_unlock(&workers->lock);
}

/* The first job, which a worker does, or the first of a device. */
static struct mimicd_job *take(struct mimicd_workers *workers, const struct mimicd_device_jobs *device)
{
	struct mimicd_job **link, *job;

	pthread_mutex_lock(&workers->lock);
	link = &workers->first;
	while (*link && device && (*link)->device != device)
		link = &(*link)->next;
	job = *link;
	if (job) {
		*link = job->next;
		if (!job->next)
			workers->last = link;
		atomic_fetch_sub(&workers->ready, 1);
		atomic_fetch_add_explicit(&workers->taken, !device, memory_order_relaxed);
	}
	pthread_mutex_unlock(&workers->lock);
	return job;
}

struct mimicd_job *mimicd_workers_take_back(struct mimicd_workers *workers,
					    const struct mimicd_device_jobs *device)
{
	return take(workers, device);
}

/* A thread that added a job since we took ours has counted us as one that looks for it. */
static void call_another(struct mimicd_workers *workers)
{
	if (atomic_load(&workers->ready) <= atomic_load(&workers->spinning) ||
	    !atomic_load(&workers->sleeping))
		return;
	atomic_fetch_add(&workers->bell, 1);
	mimic_futex_wake(&workers->bell, 1, MIMIC_FUTEX_PRIVATE);
}

static struct mimicd_job *spin_for_job(struct mimicd_workers *workers)
{
	struct mimicd_job *job = NULL;
	struct mimic_spin spin;

	atomic_fetch_add(&workers->spinning, 1);
	mimic_spin_start(&spin, workers->spin_microseconds, workers->processors > 1);
	do {
		if (atomic_load_explicit(&workers->ready, memory_order_relaxed))
			job = take(workers, NULL);
	} while (!job && !atomic_load_explicit(&workers->stopping, memory_order_relaxed) &&
		 mimic_spin_step(&spin));
	atomic_fetch_sub(&workers->spinning, 1);
	/* Pairs with the one of a thread between its new job and its read of `spinning`. */
	mimic_lane_fence();
	if (job)
		call_another(workers);
	return job;
}

/* NULL: the daemon stops. */
static struct mimicd_job *wait_for_job(struct mimicd_workers *workers)
{
	struct mimicd_job *job = take(workers, NULL);

	/* A program has the last CPU: it would wait for one that looks for nothing. */
	if (!job && atomic_load(&workers->spinning) + 1 < workers->processors)
		job = spin_for_job(workers);
	while (!job && !atomic_load(&workers->stopping)) {
		uint32_t bell = atomic_load(&workers->bell);

		atomic_fetch_add(&workers->sleeping, 1);
		/* Pairs with the one of a thread between its new job and its read of `sleeping`. */
		mimic_lane_fence();
		if (!atomic_load(&workers->ready) && !atomic_load(&workers->stopping))
			mimic_futex_wait(&workers->bell, bell, 0, MIMIC_FUTEX_PRIVATE);
		atomic_fetch_sub(&workers->sleeping, 1);
		job = take(workers, NULL);
	}
	return job;
}

/* --- threads -------------------------------------------------------------------- */

static void *work(void *context)
{
	/* Computes for long: threads that wait for something come first when they wake. */
	const struct sched_param none = { 0 };
	struct mimicd_workers *workers = context;
	struct mimicd_job *job;

	sched_setscheduler(0, SCHED_BATCH, &none);
	while ((job = wait_for_job(workers)))
		workers->run(job);
	return NULL;
}

static int add_worker(struct mimicd_workers *workers)
{
	sigset_t signals, before;
	int error;

	/* The daemon's signals are for the loop's thread; a fault is for the thread that makes it. */
	sigfillset(&signals);
	sigdelset(&signals, SIGSEGV);
	sigdelset(&signals, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &signals, &before);
	error = pthread_create(&workers->threads[workers->count], NULL, work, workers);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return -error;
	pthread_setname_np(workers->threads[workers->count++], "mimicd worker");
	return 0;
}

int mimicd_workers_start(struct mimicd_workers *workers)
{
	int error = workers->count ? 0 : add_worker(workers);

	if (error)
		mimicd_log(MIMICD_LOG_WARNING, "no thread for the work of devices: %s", strerror(-error));
	return error;
}

static void ring(struct mimicd_workers *workers, unsigned int count)
{
	atomic_fetch_add(&workers->bell, 1);
	mimic_futex_wake(&workers->bell, (int)count, MIMIC_FUTEX_PRIVATE);
}

void mimicd_workers_call(struct mimicd_workers *workers, bool self)
{
	unsigned int ready = atomic_load(&workers->ready);
	unsigned int awake = atomic_load(&workers->spinning) + self;
	unsigned int sleeping, most;

	if (ready <= awake)
		return;
	mimic_lane_fence();
	sleeping = atomic_load(&workers->sleeping);
	/* There are more workers than processors when jobs have slept: no more of them are to compute. */
	most = workers->processors + sleeping > workers->count ? workers->processors + sleeping - workers->count : 0;
	if (sleeping && most)
		ring(workers, ready - awake < most ? ready - awake : most);
	/* If there can be no more of them, those that there are do it all. */
	if (ready - awake > sleeping && workers->count < workers->processors)
		add_worker(workers);
}

uint64_t mimicd_workers_relieve(struct mimicd_workers *workers, uint64_t now)
{
	unsigned int taken = atomic_load_explicit(&workers->taken, memory_order_relaxed);
	unsigned int sleeping = atomic_load(&workers->sleeping);

	if (!atomic_load(&workers->ready) || atomic_load(&workers->spinning) ||
	    (!sleeping && workers->count == MIMICD_WORKERS_MAX)) {
		workers->last_looked = 0;
		return 0;
	}
	if (workers->last_looked && workers->last_taken == taken && now - workers->last_looked < ALL_SLEEP_NS)
		return workers->last_looked + ALL_SLEEP_NS;
	if (workers->last_looked && workers->last_taken == taken && sleeping)
		ring(workers, 1);
	else if (workers->last_looked && workers->last_taken == taken)
		add_worker(workers);
	workers->last_looked = now;
	workers->last_taken = taken;
	return now + ALL_SLEEP_NS;
}

/* --- their life ------------------------------------------------------------------ */

static unsigned int count_processors(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) > (int)MIMICD_WORKERS_MAX)
		return MIMICD_WORKERS_MAX;
	return (unsigned int)CPU_COUNT(&set);
}

void mimicd_workers_init(struct mimicd_workers *workers, void (*run)(struct mimicd_job *job),
			 unsigned int spin_microseconds)
{
	pthread_mutex_init(&workers->lock, NULL);
	workers->last = &workers->first;
	workers->run = run;
	workers->spin_microseconds = spin_microseconds;
	workers->processors = count_processors();
}

void mimicd_workers_destroy(struct mimicd_workers *workers)
{
	atomic_store(&workers->stopping, true);
	atomic_fetch_add(&workers->bell, 1);
	mimic_futex_wake(&workers->bell, (int)MIMICD_WORKERS_MAX, MIMIC_FUTEX_PRIVATE);
	while (workers->count)
		pthread_join(workers->threads[--workers->count], NULL);
	pthread_mutex_destroy(&workers->lock);
}
