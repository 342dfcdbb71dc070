/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads that come and go, each with a queue of MAPLE; and plain accesses of one thread. */
#include <pthread.h>
#include <string.h>

#include "libmaple/maple.h"
#include "libmimic/mimic.h"
#include "tests/soak/kill_work.h"

#define THREADS 4u
#define ROUNDS 4u
#define WORDS 20u
#define BURSTS 40u
#define AT(operation, field) ((operation) << 3 | (field) << 9)
enum { INIT = 0, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CONSUME = 7, PRODUCE = 8, FULL_POINTER32 = 16,
       WORDS_32 = 2 };

struct queue_thread {
	struct maple *maple;
	unsigned int queue, round;
	uint64_t sum;
	pthread_t thread;
};

static int check(long result, const char *step)
{
	if (result < 0)
		return kill_fail("%s: %s (%s)", step, strerror((int)-result), maple_error_text());
	kill_mark(step);
	return 0;
}

/* In the odd rounds the end of the thread is to free its roles. */
static void *use_queue(void *context)
{
	struct queue_thread *thread = context;
	struct maple *maple = thread->maple;
	uint32_t words[WORDS];

	if (check(maple_open(maple, thread->queue, MAPLE_PRODUCER), "open in a new thread") ||
	    check(maple_open(maple, thread->queue, MAPLE_CONSUMER), "open in a new thread"))
		return NULL;
	for (uint32_t i = 0; i < WORDS; i++) {
		if (check(maple_produce32(maple, thread->queue, i * 3 + thread->queue), "PRODUCE in a new thread"))
			return NULL;
	}
	if (check(maple_consume32_batch(maple, thread->queue, words, WORDS), "CONSUME in a new thread"))
		return NULL;
	thread->sum = kill_sum(0, words, sizeof(words));
	if (thread->round % 2)
		return NULL;
	if (!check(maple_close(maple, thread->queue, MAPLE_PRODUCER), "close in a new thread"))
		check(maple_close(maple, thread->queue, MAPLE_CONSUMER), "close in a new thread");
	return NULL;
}

static int run_threads(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	const struct maple_options options = { .transport = place->transport, .socket_path = place->socket };
	struct queue_thread threads[THREADS];
	struct maple *maple;

	if (check(maple_init(&maple, &options), "INIT"))
		return -1;
	result->sums[0] = variant + 1;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < THREADS; i++) {
			threads[i] = (struct queue_thread){ .maple = maple, .queue = i, .round = round };
			if (pthread_create(&threads[i].thread, NULL, use_queue, &threads[i]))
				return kill_fail("no thread");
		}
		for (unsigned int i = 0; i < THREADS; i++) {
			pthread_join(threads[i].thread, NULL);
			if (!threads[i].sum)
				return -1;
			result->sums[0] = kill_sum(result->sums[0], &threads[i].sum, sizeof(threads[i].sum));
		}
	}
	maple_fini(maple);
	kill_mark("CLOSE");
	return 0;
}

const struct kill_work kill_threads = { .name = "threads", .parts = { "queues" }, .run = run_threads };

static int access_register(struct mimic_device *device, unsigned int operation, unsigned int size, bool is_write,
			   uint64_t *data)
{
	struct mimic_access access = { .offset = AT(operation, 0), .size = size, .is_write = is_write, .data = *data };

	if (check(mimic_device_access(device, &access), is_write ? "plain store" : "plain load"))
		return -1;
	*data = access.data;
	return 0;
}

static int load_register(struct mimic_device *device, unsigned int operation, unsigned int field, uint64_t *data)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = 4 };

	if (check(mimic_device_access(device, &access), "plain load"))
		return -1;
	*data = access.data;
	return 0;
}

/* As many words as the queue has room for: a thread alone must not wait for itself. */
static int do_burst(struct mimic_device *device, uint64_t *random, uint64_t *sum)
{
	static uint32_t memory[16];
	unsigned int count = 1 + kill_random(random) % 8;

	for (unsigned int i = 0; i < count; i++) {
		bool is_pointer = kill_random(random) % 2;
		uint64_t data = is_pointer ? (uintptr_t)&memory[i] : kill_random(random) & UINT32_MAX;

		memory[i] = (uint32_t)kill_random(random);
		if (access_register(device, is_pointer ? FULL_POINTER32 : PRODUCE, is_pointer ? 8 : 4, true, &data))
			return -1;
	}
	for (unsigned int i = 0; i < count; i++) {
		uint64_t data = 0;

		if (access_register(device, CONSUME, 4, false, &data))
			return -1;
		*sum = kill_sum(*sum, &data, sizeof(data));
	}
	return 0;
}

static int run_accesses(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	struct mimic_options options = { .socket_path = place->socket };
	uint64_t random = variant + 4711, data[3];
	struct mimic_device *device;
	int error;

	options.transport = place->socket ? MIMIC_TRANSPORT_DAEMON : MIMIC_TRANSPORT_EMBEDDED;
	error = mimic_device_open(&device, "maple", &options);
	if (error)
		return kill_fail("OPEN: %s (%s)", strerror(-error), mimic_error_text());
	kill_mark("OPEN");
	if (load_register(device, INIT, WORDS_32, &data[0]) || load_register(device, OPEN_PRODUCER, 0, &data[1]) ||
	    load_register(device, OPEN_CONSUMER, 0, &data[2]))
		return -1;
	result->sums[0] = kill_sum(0, data, sizeof(data));
	for (unsigned int i = 0; i < BURSTS; i++) {
		if (do_burst(device, &random, &result->sums[1]))
			return -1;
	}
	mimic_device_close(device);
	kill_mark("CLOSE");
	return 0;
}

const struct kill_work kill_accesses = {
	.name = "accesses",
	.parts = { "answers of INIT and OPEN", "answers of CONSUME" },
	.run = run_accesses,
};
