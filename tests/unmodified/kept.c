/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A state to save, and what is left of it in another program:
 *
 *   kept put    fills a queue of maple1 and the shared memory of virgo0, prints "ready", and ends at a line of input
 *   kept take   prints the words of that queue, and the sum of that memory
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

int main(int argc, char **argv)
{
	int maple = open_or_die("/dev/maple1"), virgo = open_or_die("/dev/virgo0");
	volatile char *queues = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, maple, 0);
	unsigned char *shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, virgo, SHARED);

	CHECK(argc == 2 && queues != MAP_FAILED && shared != MAP_FAILED);
	if (!strcmp(argv[1], "put"))
		put(queues, shared);
	else
		take(queues, shared);
	return 0;
}
