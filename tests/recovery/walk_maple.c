/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmaple/maple.h"
#include "tests/recovery/walk.h"

#define ELEMENTS 256u
#define WAITED 70u		/* more than a queue holds */
#define PAUSE_US 2000u		/* so long that the other thread waits in the device */

struct side {
	struct maple *maple;
	unsigned int queue;
	uint32_t words[WAITED];
};

static void open_both(struct maple *maple, unsigned int queue)
{
	CHECK_MAPLE(maple_open(maple, queue, MAPLE_PRODUCER));
	CHECK_MAPLE(maple_open(maple, queue, MAPLE_CONSUMER));
}

static void close_both(struct maple *maple, unsigned int queue)
{
	CHECK_MAPLE(maple_close(maple, queue, MAPLE_PRODUCER));
	CHECK_MAPLE(maple_close(maple, queue, MAPLE_CONSUMER));
}

static void words_in_order(struct maple *maple)
{
	uint32_t words[20], read[20];
	uint64_t wide[6], wide_read[6];

	walk_fill(words, sizeof(words), 1);
	walk_fill(wide, sizeof(wide), 2);
	open_both(maple, 0);
	for (unsigned int i = 0; i < 4; i++)
		CHECK_MAPLE(maple_produce32(maple, 0, words[i]));
	CHECK_MAPLE(maple_produce32_batch(maple, 0, words + 4, 16));
	for (unsigned int i = 0; i < 3; i++)
		CHECK_MAPLE(maple_consume32(maple, 0, &read[i]));
	CHECK_MAPLE(maple_consume32_batch(maple, 0, read + 3, 17));
	CHECK_MAPLE(maple_produce64_batch(maple, 0, wide, 5));
	CHECK_MAPLE(maple_produce64(maple, 0, wide[5]));
	CHECK_MAPLE(maple_consume64(maple, 0, &wide_read[0]));
	CHECK_MAPLE(maple_consume64_batch(maple, 0, wide_read + 1, 5));
	close_both(maple, 0);
	walk_print("words", read, sizeof(read));
	walk_print("wide words", wide_read, sizeof(wide_read));
}

/* From memory that the daemon has to fetch from the process, or has mapped. */
static void pointers(struct maple *maple, const char *name, const uint64_t *memory)
{
	static const uint32_t indices[8] = { 7, 200, 3, 90, 91, 255, 0, 16 };
	uint32_t read[16];
	uint64_t wide[9];

	open_both(maple, 1);
	CHECK_MAPLE(maple_produce_ptr32(maple, 1, (const uint32_t *)memory + 5, MAPLE_DRAM));
	CHECK_MAPLE(maple_produce_ptr32(maple, 1, (const uint32_t *)memory + 300, MAPLE_LLC));
	CHECK_MAPLE(maple_produce_ptr32_batch(maple, 1, memory, indices, 8, MAPLE_LLC));
	CHECK_MAPLE(maple_consume32_batch(maple, 1, read, 10));
	CHECK_MAPLE(maple_produce_ptr64(maple, 1, memory + 77, MAPLE_DRAM));
	CHECK_MAPLE(maple_produce_ptr64_batch(maple, 1, memory, indices, 8, MAPLE_DRAM));
	CHECK_MAPLE(maple_consume64_batch(maple, 1, wide, 9));
	CHECK_MAPLE(maple_prefetch(maple, 1, memory + 9));
	close_both(maple, 1);
	walk_print(name, read, 10 * sizeof(read[0]));
	walk_print(name, wide, sizeof(wide));
}

static void loops(struct maple *maple, const char *name, const uint64_t *memory)
{
	uint32_t b[40], read[40];
	uint64_t wide[12];

	for (unsigned int i = 0; i < 40; i++)
		b[i] = i * 37 % ELEMENTS;
	open_both(maple, 2);
	CHECK_MAPLE(maple_lima(maple, 2, memory, 8, b, 0, 10));
	CHECK_MAPLE(maple_lima_produce32(maple, 2, memory, b, 1, 37, MAPLE_LLC));
	CHECK_MAPLE(maple_consume32_batch(maple, 2, read, 36));
	CHECK_MAPLE(maple_lima_produce64(maple, 2, memory, b, 20, 32, MAPLE_DRAM));
	CHECK_MAPLE(maple_consume64_batch(maple, 2, wide, 12));
	close_both(maple, 2);
	walk_print(name, read, 36 * sizeof(read[0]));
	walk_print(name, wide, sizeof(wide));
}

static void *consume_all(void *argument)
{
	struct side *side = argument;

	CHECK_MAPLE(maple_open(side->maple, side->queue, MAPLE_CONSUMER));
	for (unsigned int i = 0; i < WAITED; i++)
		CHECK_MAPLE(maple_consume32(side->maple, side->queue, &side->words[i]));
	CHECK_MAPLE(maple_close(side->maple, side->queue, MAPLE_CONSUMER));
	return NULL;
}

static void *produce_all(void *argument)
{
	struct side *side = argument;

	CHECK_MAPLE(maple_open(side->maple, side->queue, MAPLE_PRODUCER));
	/* More than there is room for: the last ones wait in the device. */
	CHECK_MAPLE(maple_produce32_batch(side->maple, side->queue, side->words, WAITED));
	CHECK_MAPLE(maple_close(side->maple, side->queue, MAPLE_PRODUCER));
	return NULL;
}

/* The other thread waits for a word, then this one's. */
static void consumer_waits(struct maple *maple)
{
	struct side side = { .maple = maple, .queue = 3 };
	uint32_t words[WAITED];
	pthread_t thread;

	walk_fill(words, sizeof(words), 3);
	CHECK_MAPLE(maple_open(maple, 3, MAPLE_PRODUCER));
	walk_check(-pthread_create(&thread, NULL, consume_all, &side), "pthread_create", "");
	usleep(PAUSE_US);
	for (unsigned int i = 0; i < WAITED; i += 35) {
		CHECK_MAPLE(maple_produce32_batch(maple, 3, words + i, 35));
		usleep(PAUSE_US);
	}
	pthread_join(thread, NULL);
	CHECK_MAPLE(maple_close(maple, 3, MAPLE_PRODUCER));
	walk_print("waited for words", side.words, sizeof(side.words));
}

static void producer_waits(struct maple *maple)
{
	struct side side = { .maple = maple, .queue = 0 };
	uint32_t read[WAITED];
	pthread_t thread;

	walk_fill(side.words, sizeof(side.words), 4);
	CHECK_MAPLE(maple_open(maple, 0, MAPLE_CONSUMER));
	walk_check(-pthread_create(&thread, NULL, produce_all, &side), "pthread_create", "");
	usleep(PAUSE_US);
	CHECK_MAPLE(maple_consume32_batch(maple, 0, read, WAITED));
	pthread_join(thread, NULL);
	CHECK_MAPLE(maple_close(maple, 0, MAPLE_CONSUMER));
	walk_print("waited for room", read, sizeof(read));
}

static void memory_of_all_kinds(struct maple *maple)
{
	const size_t size = ELEMENTS * sizeof(uint64_t);
	uint64_t *plain = malloc(size), *pages = aligned_alloc(4096, 4096), *shared = maple_alloc(maple, size);

	if (!plain || !pages || !shared)
		walk_check(-1, "memory", maple_error_text());
	walk_fill(plain, size, 5);
	walk_fill(pages, size, 6);
	walk_fill(shared, size, 7);
	pointers(maple, "pointers", plain);
	loops(maple, "loops", plain);
	CHECK_MAPLE(maple_register(maple, pages, 4096));
	pointers(maple, "registered pointers", pages);
	loops(maple, "registered loops", shared);
	CHECK_MAPLE(maple_unregister(maple, pages, 4096));
	pointers(maple, "pointers once more", pages);
	CHECK_MAPLE(maple_free(maple, shared));
	free(pages);
	free(plain);
}

static void counters(struct maple *maple)
{
	struct maple_counters all;

	CHECK_MAPLE(maple_counters(maple, &all));
	/* Not the waits, nor the translations: those are a matter of time. */
	walk_print("produced", &all.produced, sizeof(all.produced));
	walk_print("consumed", &all.consumed, sizeof(all.consumed));
	walk_print("fetched", &all.fetched, sizeof(all.fetched));
	walk_print("loops", &all.lima_loops, sizeof(all.lima_loops));
	walk_print("illegal", &all.illegal, sizeof(all.illegal));
}

static void one(const char *device, unsigned int queue_words)
{
	const struct maple_options options = { .device = device, .transport = "daemon", .queue_words = queue_words };
	struct maple *maple;

	CHECK_MAPLE(maple_init(&maple, &options));
	words_in_order(maple);
	memory_of_all_kinds(maple);
	consumer_waits(maple);
	producer_waits(maple);
	counters(maple);
	maple_fini(maple);
}

void walk_maple(void)
{
	one("maple0", 0);
	one("maple@0", 0);
	one("maple", 64);
}
