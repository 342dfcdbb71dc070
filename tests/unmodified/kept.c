/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A state to save, and what is left of it in another program:
 *
 *   kept put    fills a queue of maple1 and the shared memory of virgo0, prints "ready", and ends at a line of input
 *   kept take   prints the words of that queue, and the sum of that memory
 *   kept rows M...   opens a context of dare0 for each M and sets its MATRIX_M
 *   kept rows        opens a context of dare0 and leaves its MATRIX_M as it is
 *                    prints MATRIX_M of all and "ready", and the former once more after a line of input
 */
#include "contract.h"

#include <string.h>

#define WORDS 20u
#define SHARED 0x100000
#define SHARED_BYTES 131072u

static void put(volatile char *queues, unsigned char *shared)
{
	load32(queues, RESET, 0);
	load32(queues, INIT, WORDS_32);
	load32(queues, OPEN_PRODUCER, 0);
	for (unsigned int i = 0; i < WORDS; i++)
		store32(queues, PRODUCE, 0, 100 + i);
	memset(shared, 1, SHARED_BYTES);
	puts("ready");
	fflush(stdout);
	getchar();
}

static void take(volatile char *queues, const unsigned char *shared)
{
	unsigned int sum = 0;

	load32(queues, OPEN_CONSUMER, 0);
	for (unsigned int i = 0; i < WORDS; i++)
		printf("%u ", load32(queues, CONSUME, 0));
	for (unsigned int i = 0; i < SHARED_BYTES; i++)
		sum += shared[i];
	printf("and %u\n", sum);
}

enum { RS1 = 0x00, RS2 = 0x08, INSTRUCTION = 0x10, MATRIX_M = 0x30 };	/* docs/dare.md */

#define MCFG 0xfe00002bu

#define CONTEXTS_MAX 8

static volatile uint64_t *open_context(const char *m)
{
	volatile uint64_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, open_or_die("/dev/dare0"), 0);

	CHECK(page != MAP_FAILED);
	if (!m)
		return page;
	page[RS1 / 8] = 0;
	page[RS2 / 8] = (uint64_t)atoi(m);
	page[INSTRUCTION / 8] = MCFG;
	return page;
}

static void print_rows(volatile uint64_t *const *pages, int count)
{
	for (int i = 0; i < count; i++)
		printf("%d%c", (int)pages[i][MATRIX_M / 8], i + 1 < count ? ' ' : '\n');
}

static int rows(int count, char **m)
{
	volatile uint64_t *pages[CONTEXTS_MAX] = { open_context(m[0]) };

	CHECK(count <= CONTEXTS_MAX);
	for (int i = 1; i < count; i++)
		pages[i] = open_context(m[i]);
	count += !count;
	print_rows(pages, count);
	puts("ready");
	fflush(stdout);
	getchar();
	print_rows(pages, count);
	return 0;
}

static int queue_and_memory(const char *operation)
{
	int maple = open_or_die("/dev/maple1"), virgo = open_or_die("/dev/virgo0");
	volatile char *queues = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, maple, 0);
	unsigned char *shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, virgo, SHARED);

	CHECK(queues != MAP_FAILED && shared != MAP_FAILED);
	if (!strcmp(operation, "put"))
		put(queues, shared);
	else
		take(queues, shared);
	return 0;
}

int main(int argc, char **argv)
{
	CHECK(argc >= 2);
	return strcmp(argv[1], "rows") ? queue_and_memory(argv[1]) : rows(argc - 2, argv + 2);
}
