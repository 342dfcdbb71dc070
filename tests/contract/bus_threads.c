/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Three threads that each do one thing at a time, on request. */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "tests/contract/internal.h"

enum worker_state { IDLE, ASKED, WORKING, OVER, LEAVING };

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic enum worker_state state;	/* written with the lock */
	bool is_begin_awaited;
	bool running;
	struct bus_work work;
};

#define BEGIN_MOST 10000	/* ms, until a thread begins its work */
#define YIELDS 50		/* before a thread sleeps: most accesses take less time than two wake-ups */

static struct worker workers[BUS_THREADS];
static void (*perform_work)(enum bus_thread who, struct bus_work *work);

static void perform(struct worker *worker)
{
	if (worker->work.call)
		worker->work.call(worker->work.argument);
	else
		perform_work((enum bus_thread)(worker - workers), &worker->work);
}

static bool has_nothing_to_do(const struct worker *worker)
{
	return worker->state == IDLE || worker->state == OVER;
}

static bool is_not_over(const struct worker *worker)
{
	return worker->state == ASKED || worker->state == WORKING;
}

static void yield_while(bool (*is_so)(const struct worker *worker), const struct worker *worker)
{
	for (unsigned int i = 0; i < YIELDS && is_so(worker); i++)
		sched_yield();
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (;;) {
		yield_while(has_nothing_to_do, worker);
		pthread_mutex_lock(&worker->lock);
		while (has_nothing_to_do(worker))
			pthread_cond_wait(&worker->changed, &worker->lock);
		if (worker->state == LEAVING)
			break;
		worker->state = WORKING;
		if (worker->is_begin_awaited)
			pthread_cond_broadcast(&worker->changed);
		/* The access may wait for good; the case must be able to ask whether it does. */
		pthread_mutex_unlock(&worker->lock);
		perform(worker);
		pthread_mutex_lock(&worker->lock);
		worker->state = OVER;
		pthread_cond_broadcast(&worker->changed);
		pthread_mutex_unlock(&worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

static void start_worker(struct worker *worker)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	worker->state = IDLE;
	if (pthread_create(&worker->thread, NULL, work, worker))
		contract_fail(__FILE__, __LINE__, "cannot start a thread");
	worker->running = true;
}

void bus_threads_start(void (*perform_function)(enum bus_thread who, struct bus_work *work))
{
	perform_work = perform_function;
	for (unsigned int who = 0; who < BUS_THREADS; who++)
		start_worker(&workers[who]);
}

static void begin(enum bus_thread who, const struct bus_work *work)
{
	struct worker *worker = &workers[who];

	pthread_mutex_lock(&worker->lock);
	if (worker->state != IDLE) {
		pthread_mutex_unlock(&worker->lock);
		contract_fail(__FILE__, __LINE__, "the case uses thread %c while it waits", "ABC"[who]);
	}
	worker->work = *work;
	worker->state = ASKED;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

void bus_threads_begin(enum bus_thread who, const struct mimic_access *access, bool watched)
{
	begin(who, &(struct bus_work){ .access = *access, .watched = watched });
}

void bus_threads_post(enum bus_thread who, const struct mimic_access *pattern, const uint64_t *values,
		      size_t count)
{
	begin(who, &(struct bus_work){ .access = *pattern, .values = values, .count = count });
}

void bus_threads_call(enum bus_thread who, void (*function)(void *), void *argument)
{
	begin(who, &(struct bus_work){ .call = function, .argument = argument });
}

static struct timespec deadline_after(unsigned int milliseconds)
{
	struct timespec deadline;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += milliseconds / 1000;
	deadline.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (deadline.tv_nsec >= 1000000000) {
		deadline.tv_nsec -= 1000000000;
		deadline.tv_sec++;
	}
	return deadline;
}

/* With the lock. On a busy machine a thread may get no processor for longer than a case has patience. */
static void wait_until_it_works(struct worker *worker)
{
	struct timespec deadline = deadline_after(BEGIN_MOST);

	worker->is_begin_awaited = true;
	while (worker->state == ASKED)
		if (pthread_cond_timedwait(&worker->changed, &worker->lock, &deadline))
			break;
	worker->is_begin_awaited = false;
}

bool bus_threads_is_over(enum bus_thread who, unsigned int patience, uint64_t *answer)
{
	struct worker *worker = &workers[who];
	struct timespec deadline;
	bool over;

	yield_while(is_not_over, worker);
	pthread_mutex_lock(&worker->lock);
	wait_until_it_works(worker);
	deadline = deadline_after(patience);
	while (worker->state == WORKING)
		if (pthread_cond_timedwait(&worker->changed, &worker->lock, &deadline))
			break;
	over = worker->state == OVER;
	if (over) {
		*answer = worker->work.access.data;
		worker->state = IDLE;
	}
	pthread_mutex_unlock(&worker->lock);
	return over;
}

void bus_threads_sleep(unsigned int milliseconds)
{
	struct timespec time = { milliseconds / 1000, (long)(milliseconds % 1000) * 1000000 };

	nanosleep(&time, NULL);
}

void bus_threads_end(enum bus_thread who)
{
	struct worker *worker = &workers[who];

	if (!worker->running)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->state = LEAVING;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	worker->running = false;
}

void bus_threads_stop(void)
{
	for (unsigned int who = 0; who < BUS_THREADS; who++)
		/* One that a case left waiting ends with the process. */
		if (workers[who].state == IDLE)
			bus_threads_end((enum bus_thread)who);
}
