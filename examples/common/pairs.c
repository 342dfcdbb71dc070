/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

unsigned int worker_threads(const struct worker *worker)
{
	return worker->role == MAPLE_PRODUCER ? worker->pairs->access_threads : worker->pairs->execute_threads;
}

unsigned int worker_queue(const struct worker *worker, uint64_t block)
{
	return (unsigned int)(block % worker->pairs->queues);
}

uint64_t worker_block(const struct worker *worker, uint64_t block)
{
	while (worker_queue(worker, block) % worker_threads(worker) != worker->index)
		block++;
	return block;
}

static const char *role_name(enum maple_role role)
{
	return role == MAPLE_PRODUCER ? "access" : "execute";
}

static void open_queues(struct worker *worker)
{
	struct pairs *pairs = worker->pairs;

	for (unsigned int queue = worker->index; queue < pairs->queues; queue += worker_threads(worker)) {
		int error = maple_open(worker->maple, queue, worker->role);

		if (!error)
			continue;
		/* Only the first error is told; the text of the others does not matter. */
		if (!__atomic_exchange_n(&pairs->error, error, __ATOMIC_ACQ_REL))
			message_set(pairs->message, error, "%s thread %u cannot open queue %u: %s",
				    role_name(worker->role), worker->index, queue, strerror(-error));
	}
}

static void close_queues(struct worker *worker)
{
	for (unsigned int queue = worker->index; queue < worker->pairs->queues; queue += worker_threads(worker))
		maple_close(worker->maple, queue, worker->role);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct pairs *pairs = worker->pairs;
	int error;

	open_queues(worker);
	pthread_barrier_wait(&pairs->ready);
	if (__atomic_load_n(&pairs->error, __ATOMIC_ACQUIRE)) {
		close_queues(worker);
		return NULL;
	}
	error = worker->role == MAPLE_PRODUCER ? pairs->access(worker) : pairs->execute(worker);
	if (error) {
		const char *text = maple_error_text();

		fprintf(stderr, "%s: %s thread %u: %s\n", program_invocation_short_name,
			role_name(worker->role), worker->index, *text ? text : strerror(-error));
		/* Not exit(): its handlers would wait for threads that may never come back. */
		_exit(1);
	}
	close_queues(worker);
	return NULL;
}

static int start(struct pairs *pairs, unsigned int number)
{
	struct worker *worker = &pairs->worker[number];
	bool access = number < pairs->access_threads;

	worker->pairs = pairs;
	worker->maple = pairs->maple;
	worker->context = pairs->context;
	worker->role = access ? MAPLE_PRODUCER : MAPLE_CONSUMER;
	worker->index = access ? number : number - pairs->access_threads;
	return pthread_create(&worker->thread, NULL, work, worker);
}

/* Threads that did start wait for the others at the barrier and cannot be called back. */
static void start_or_exit(struct pairs *pairs, unsigned int number)
{
	int error = start(pairs, number);

	if (!error)
		return;
	fprintf(stderr, "%s: cannot start a thread: %s\n", program_invocation_short_name, strerror(error));
	_exit(1);
}

int pairs_run(struct pairs *pairs, struct message *message)
{
	unsigned int threads = pairs->access_threads + pairs->execute_threads;
	double started;

	pairs->queues = pairs->access_threads > pairs->execute_threads ? pairs->access_threads :
									 pairs->execute_threads;
	pairs->error = 0;
	pairs->message = message;
	if (pairs->queues > maple_queue_count(pairs->maple))
		return message_set(message, -EINVAL, "--threads %u+%u needs %u queues, and %s has %u",
				   pairs->access_threads, pairs->execute_threads, pairs->queues,
				   maple_device_name(pairs->maple), maple_queue_count(pairs->maple));
	pairs->worker = calloc(threads, sizeof(*pairs->worker));
	if (!pairs->worker)
		return message_set(message, -ENOMEM, "out of memory for %u threads", threads);
	pthread_barrier_init(&pairs->ready, NULL, threads + 1);
	for (unsigned int i = 0; i < threads; i++)
		start_or_exit(pairs, i);
	pthread_barrier_wait(&pairs->ready);
	started = clock_seconds();
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(pairs->worker[i].thread, NULL);
	pairs->seconds = clock_seconds() - started;
	pthread_barrier_destroy(&pairs->ready);
	free(pairs->worker);
	return pairs->error;
}
