/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* MAPLE's work: two threads at two queues, by values, pointers and loops. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libmaple/maple.h"
#include "tests/soak/kill_work.h"

#define ELEMENTS 1024u
#define BYTES (ELEMENTS * sizeof(uint32_t))
#define PAGE 4096u
#define ROUNDS 4u
#define POINTERS 96u	/* of a round: more than a queue holds */
#define VALUES 6u
#define LOOP 48u
/* Words of a round in queue 0: pointers, values of 32 bits, one of 64 bits and one pointer to such. */
#define WORDS_0 (POINTERS + VALUES + 4)

struct maple_run {
	struct maple *maple;
	unsigned int variant;
	uint32_t *data, *indices;
	uint64_t sums[2];
};

static int check(long result, const char *step)
{
	if (result < 0)
		return kill_fail("%s: %s (%s)", step, strerror((int)-result), maple_error_text());
	kill_mark(step);
	return 0;
}

static int produce_round(struct maple_run *run, unsigned int round)
{
	enum maple_path path = round % 2 ? MAPLE_LLC : MAPLE_DRAM;
	const uint32_t *indices = run->indices + round * POINTERS;
	int error = check(maple_produce_ptr32_batch(run->maple, 0, run->data, indices, POINTERS, path),
			  "PRODUCE_PTR of 32 bits, many");

	for (uint32_t i = 0; i < VALUES && !error; i++)
		error = check(maple_produce32(run->maple, 0, i * 77 + round), "PRODUCE of 32 bits");
	if (!error)
		error = check(maple_produce64(run->maple, 0, 0x123456789abcdefu * (round + 1)), "PRODUCE of 64 bits");
	if (!error)
		error = check(maple_produce_ptr64(run->maple, 0, run->data + 2 * round, path), "PRODUCE_PTR of 64 bits");
	if (!error)
		error = check(maple_prefetch(run->maple, 0, run->data + round), "PREFETCH");
	if (!error)
		error = check(maple_lima_produce32(run->maple, 1, run->data, run->indices, round * LOOP,
						   round * LOOP + LOOP, path), "LIMA");
	return error;
}

static void *produce(void *context)
{
	struct maple_run *run = context;
	int error = check(maple_open(run->maple, 0, MAPLE_PRODUCER), "open of a producer");

	if (!error)
		error = check(maple_open(run->maple, 1, MAPLE_PRODUCER), "open of a producer");
	for (unsigned int round = 0; round < ROUNDS && !error; round++)
		error = produce_round(run, round);
	if (!error)
		error = check(maple_close(run->maple, 0, MAPLE_PRODUCER), "close of a producer");
	/* The other role is free when the thread has ended. */
	return NULL;
}

static int consume(struct maple_run *run, unsigned int queue, unsigned int count)
{
	uint32_t words[WORDS_0];
	unsigned int done = 0;

	while (done < count) {
		unsigned int piece = (done + queue) % 3 ? 1 : 7;
		int error;

		if (piece > count - done)
			piece = count - done;
		if (piece == 1)
			error = check(maple_consume32(run->maple, queue, words + done), "CONSUME");
		else
			error = check(maple_consume32_batch(run->maple, queue, words + done, piece), "CONSUME, many");
		if (error)
			return error;
		done += piece;
	}
	run->sums[queue] = kill_sum(run->sums[queue], words, count * sizeof(*words));
	return 0;
}

static int consume_all(struct maple_run *run)
{
	int error = check(maple_open(run->maple, 0, MAPLE_CONSUMER), "open of a consumer");

	if (!error)
		error = check(maple_open(run->maple, 1, MAPLE_CONSUMER), "open of a consumer");
	for (unsigned int round = 0; round < ROUNDS && !error; round++) {
		error = consume(run, 0, WORDS_0);
		if (!error)
			error = consume(run, 1, LOOP);
	}
	return error;
}

static int sum_counters(struct maple_run *run, struct kill_result *result)
{
	struct maple_counters counters;
	uint64_t steady[6];

	if (check(maple_counters(run->maple, &counters), "counters"))
		return -1;
	/* The rest depends on who waits for whom. */
	steady[0] = counters.produced;
	steady[1] = counters.consumed;
	steady[2] = counters.lima_loops;
	steady[3] = counters.faults;
	steady[4] = counters.illegal;
	steady[5] = counters.fetched;
	result->sums[2] = kill_sum(0, steady, sizeof(steady));
	return 0;
}

static int run_threads(struct maple_run *run, struct kill_result *result)
{
	pthread_t producer;
	int error;

	if (pthread_create(&producer, NULL, produce, run))
		return kill_fail("no thread");
	error = consume_all(run);
	/* After an error the producer may wait for ever: the process ends. */
	if (error)
		return error;
	pthread_join(producer, NULL);
	result->sums[0] = run->sums[0];
	result->sums[1] = run->sums[1];
	return sum_counters(run, result);
}

static int run_on_memory(struct maple_run *run, struct kill_result *result)
{
	int error;

	kill_fill(run->data, BYTES, run->variant);
	kill_fill(run->indices, BYTES, run->variant + 100);
	for (unsigned int i = 0; i < ELEMENTS; i++)
		run->indices[i] %= ELEMENTS;
	if (run->variant == 2 && check(maple_register(run->maple, run->data, BYTES), "registration of memory"))
		return -1;
	error = run_threads(run, result);
	if (!error && run->variant == 2)
		error = check(maple_unregister(run->maple, run->data, BYTES), "end of a registration");
	if (!error)
		result->sums[3] = kill_sum(kill_sum(0, run->data, BYTES), run->indices, BYTES);
	return error;
}

static int run_maple(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	const struct maple_options options = { .transport = place->transport, .socket_path = place->socket };
	struct maple_run run = { .variant = variant };
	bool allocates = variant % 2;
	int error;

	if (check(maple_init(&run.maple, &options), "INIT"))
		return -1;
	run.indices = aligned_alloc(PAGE, BYTES);
	run.data = allocates ? maple_alloc(run.maple, BYTES) : aligned_alloc(PAGE, BYTES);
	if (!run.indices || !run.data)
		return kill_fail("no memory: %s", strerror(errno));
	error = run_on_memory(&run, result);
	if (error)
		return error;
	if (allocates)
		error = check(maple_free(run.maple, run.data), "end of shared memory");
	else
		free(run.data);
	free(run.indices);
	maple_fini(run.maple);
	kill_mark("CLOSE");
	return error;
}

const struct kill_work kill_maple = {
	.name = "maple",
	.parts = { "queue of pointers and values", "queue of a loop", "counters", "memory" },
	.run = run_maple,
};
