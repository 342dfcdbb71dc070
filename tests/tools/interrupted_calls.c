/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The calls of libmimic under signals whose handler uses the same device. With the argument
 * "defers" the handler asks mimic_signal_defer() first; without it nothing does, unless
 * `mimic run` does. Exit status 0: each access on either side was right; 3: a handler's was
 * refused.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libmimic/mimic.h"

#define ROUNDS 300
#define BATCH 20

enum { INIT = 0, RESET = 1, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CONSUME = 7, PRODUCE = 8, WORDS_32 = 2 };
enum { OUTSIDE, INSIDE };

static struct mimic_device *device;
static pthread_t watched;
static atomic_int handled;
static volatile sig_atomic_t refused;
static int defers;

static void check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "not so: %s\n", what);
	exit(1);
}

static struct mimic_access at(unsigned int operation, unsigned int queue, unsigned int size)
{
	return (struct mimic_access){
		.offset = (uint16_t)(operation << 3 | queue << 9), .size = (uint8_t)size,
	};
}

static int access_one(unsigned int operation, unsigned int queue, int is_write, uint64_t *data)
{
	struct mimic_access access = at(operation, queue, 4);
	int error;

	access.is_write = (uint8_t)is_write;
	access.data = *data;
	error = mimic_device_access(device, &access);
	*data = access.data;
	return error;
}

static void handler(int number, siginfo_t *information, void *context)
{
	uint64_t value = 0x80000000u + (uint64_t)atomic_load(&handled);
	uint64_t sent = value;
	int before = errno;

	if (defers && mimic_signal_defer(number, information, context))
		return;
	/* Half done must not be: the next one would find the other's value. */
	if (access_one(PRODUCE, INSIDE, 1, &value))
		refused = 1;
	else if (access_one(CONSUME, INSIDE, 0, &value) || value != sent)
		refused = 2;
	errno = before;
	atomic_fetch_add(&handled, 1);
}

static void *send(void *unused)
{
	unsigned int seed = 1;

	for (int i = 0; i < ROUNDS && !refused; i++) {
		struct timespec time = { .tv_nsec = rand_r(&seed) % 20000 };

		pthread_kill(watched, SIGUSR1);
		while (atomic_load(&handled) <= i)
			sched_yield();
		nanosleep(&time, NULL);
	}
	return unused;
}

static int is_over(void)
{
	return refused || atomic_load(&handled) >= ROUNDS;
}

static void one_by_one(void)
{
	uint64_t value, i;

	for (i = 0; !is_over() && i < 2000; i++) {
		value = i;
		check(!access_one(PRODUCE, OUTSIDE, 1, &value), "a store is done");
		check(!access_one(CONSUME, OUTSIDE, 0, &value) && value == i, "a load gives what was stored");
	}
}

static void by_batches(void)
{
	struct mimic_access produce = at(PRODUCE, OUTSIDE, 4), consume = at(CONSUME, OUTSIDE, 4);
	uint64_t values[BATCH], counters[64];
	uint32_t answers[BATCH];
	int i, k;

	for (i = 0; !is_over() && i < 2000; i++) {
		for (k = 0; k < BATCH; k++)
			values[k] = (uint64_t)(i * BATCH + k);
		check(mimic_device_post(device, &produce, values, BATCH) == BATCH, "a batch is posted");
		check(mimic_device_load(device, &consume, answers, BATCH) == BATCH, "a batch is loaded");
		for (k = 0; k < BATCH; k++)
			check(answers[k] == values[k], "the batch is what was posted");
		check(mimic_device_counters(device, counters, 64) > 0, "there are counters");
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_EMBEDDED, .devices = "maple:1" };
	uint64_t data = 0;
	pthread_t sender;
	unsigned int queue;

	defers = argc > 1 && !strcmp(argv[1], "defers");
	check(!mimic_device_open(&device, "maple0", &options), "the device opens");
	access_one(INIT, WORDS_32, 0, &data);
	for (queue = OUTSIDE; queue <= INSIDE; queue++) {
		access_one(OPEN_PRODUCER, queue, 0, &data);
		access_one(OPEN_CONSUMER, queue, 0, &data);
	}
	sigaction(SIGUSR1, &action, NULL);
	watched = pthread_self();
	check(!pthread_create(&sender, NULL, send, NULL), "a thread starts");
	while (!is_over()) {
		one_by_one();
		by_batches();
	}
	pthread_join(sender, NULL);
	check(refused != 2, "a handler's load gives what it stored");
	return refused ? 3 : 0;
}
