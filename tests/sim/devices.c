/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program with several MAPLEs.
 *
 *   streams DEVICE:WORDS...  a thread for each, which sends so many pointers to that MAPLE, all at one time, each by a
 *                            queue of its own, and then consumes their words. Prints the cycles of sending
 *   pages COUNT, physical COUNT  by loads and stores of pages: words for all of them, then loads of them
 *   absent NAME...           opens these, by libmaple and by their nodes, and prints the errors
 *   stuck DEVICE             consumes from a queue that nobody produces for
 *   late DEVICE              a phase that opens the device after 100,000 cycles, and makes ten loads of it. Prints the cycles
 *                            from there to the phase's end
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include <maple.h>
#include <mimic/sim.h>

#include "../unmodified/contract.h"

#define THREADS 8
#define WORDS 32	/* of a queue */
#define DEVICES 64

struct stream {
	struct maple *maple;
	unsigned int number, words;
	uint64_t cycles;
	pthread_t thread;
};

static uint32_t data[THREADS][WORDS];
static struct maple *devices[DEVICES];
static pthread_barrier_t start;

static struct maple *open_device(unsigned int number)
{
	char name[32];
	struct maple_options options = { .device = name };

	snprintf(name, sizeof(name), "maple%u", number);
	if (!devices[number] && maple_init(&devices[number], &options)) {
		fprintf(stderr, "%s\n", maple_error_text());
		exit(3);
	}
	return devices[number];
}

/* --- streams ------------------------------------------------------------------------ */

static void *run_stream(void *argument)
{
	struct stream *stream = argument;
	struct maple *maple = stream->maple;
	unsigned int queue = stream->number, words = stream->words;
	uint32_t *from = data[queue];
	uint64_t begin;

	CHECK(!maple_open(maple, queue, MAPLE_PRODUCER) && !maple_open(maple, queue, MAPLE_CONSUMER));
	pthread_barrier_wait(&start);
	begin = mimic_sim_cycles();
	for (unsigned int i = 0; i < words; i++)
		maple_produce_ptr32(maple, queue, &from[i], MAPLE_DRAM);
	stream->cycles = mimic_sim_cycles() - begin;
	for (unsigned int i = 0; i < words; i++) {
		uint32_t value;

		CHECK(!maple_consume32(maple, queue, &value));
		CHECK(value == from[i]);
	}
	return NULL;
}

static int run_streams(unsigned int count, char **descriptions)
{
	static struct stream streams[THREADS];

	CHECK(count <= THREADS);
	pthread_barrier_init(&start, NULL, count);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int device, words;

		CHECK(sscanf(descriptions[i], "%u:%u", &device, &words) == 2 && device < DEVICES && words <= WORDS);
		streams[i] = (struct stream){ .maple = open_device(device), .number = i, .words = words };
		for (unsigned int word = 0; word < WORDS; word++)
			data[i][word] = i * 1000 + word;
	}
	for (unsigned int i = 1; i < count; i++)
		CHECK(!pthread_create(&streams[i].thread, NULL, run_stream, &streams[i]));
	run_stream(&streams[0]);
	for (unsigned int i = 1; i < count; i++)
		CHECK(!pthread_join(streams[i].thread, NULL));
	for (unsigned int i = 0; i < count; i++)
		printf("%s%llu", i ? " " : "", (unsigned long long)streams[i].cycles);
	putchar('\n');
	return 0;
}

/* --- pages: device i gets 3 + i words; those of the last one are consumed first ----- */

static int use_pages(unsigned int count, bool by_nodes)
{
	static void *page[THREADS];

	CHECK(count <= THREADS);
	for (unsigned int i = 0; i < count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/maple%u", i);
		page[i] = by_nodes ? map_or_die(open_or_die(path), 0) : (void *)tile_address(PHYSICAL_MAPLE, i);
		load32(page[i], RESET, 0);
		CHECK(load32(page[i], INIT, WORDS_32) == 2);
		CHECK(load32(page[i], OPEN_PRODUCER, 1) & 2);
		CHECK(load32(page[i], OPEN_CONSUMER, 1) & 1);
	}
	for (unsigned int word = 0; word < 3 + count; word++)
		for (unsigned int i = 0; i < count; i++)
			if (word < 3 + i)
				store32(page[i], PRODUCE, 1, 100 * i + word);
	for (unsigned int i = count; i-- > 0; )
		for (unsigned int word = 0; word < 3 + i; word++)
			CHECK(load32(page[i], CONSUME, 1) == 100 * i + word);
	puts("right");
	return 0;
}

/* --- absent devices ------------------------------------------------------------------- */

static int open_absent(char **names)
{
	for (; *names; names++) {
		struct maple_options options = { .device = *names };
		struct maple *maple;
		int error = maple_init(&maple, &options), file;
		char path[64];

		snprintf(path, sizeof(path), "/dev/%s", *names);
		file = open(path, O_RDWR);
		printf("%s: %d, %d\n", *names, -error, file < 0 ? errno : 0);
	}
	return 0;
}

static int open_late(unsigned int number)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	uint64_t opened, end;
	char path[32];
	void *page;

	snprintf(path, sizeof(path), "/dev/maple%u", number);
	mimic_sim_phase_begin("late");
	CHECK(!nanosleep(&nap, NULL));
	opened = mimic_sim_cycles();
	page = map_or_die(open_or_die(path), 0);
	for (unsigned int i = 0; i < 10; i++)
		CHECK(load32(page, CLOSE_CONSUMER, 3) == 0);
	end = mimic_sim_cycles();
	mimic_sim_phase_end();
	printf("%llu\n", (unsigned long long)(end - opened));
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t value;

	CHECK(argc > 2);
	if (!strcmp(argv[1], "streams"))
		return run_streams((unsigned int)argc - 2, argv + 2);
	if (!strcmp(argv[1], "pages") || !strcmp(argv[1], "physical"))
		return use_pages((unsigned int)atoi(argv[2]), !strcmp(argv[1], "pages"));
	if (!strcmp(argv[1], "late"))
		return open_late((unsigned int)atoi(argv[2]));
	if (!strcmp(argv[1], "absent"))
		return open_absent(argv + 2);
	CHECK(!maple_open(open_device((unsigned int)atoi(argv[2])), 0, MAPLE_CONSUMER));
	return maple_consume32(devices[atoi(argv[2])], 0, &value);
}
