/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Queues against a plain array: stores and loads of 4 and 8 bytes in any mix, every size of queue. */
#include "contract.h"

#define MAX_WORDS 64

struct plain_queue {
	uint32_t words[MAX_WORDS];
	unsigned int head;
	unsigned int level;
};

static void plain_push(struct plain_queue *queue, uint32_t word)
{
	queue->words[(queue->head + queue->level++) % MAX_WORDS] = word;
}

static uint32_t plain_pop(struct plain_queue *queue)
{
	uint32_t word = queue->words[queue->head];

	queue->head = (queue->head + 1) % MAX_WORDS;
	queue->level--;
	return word;
}

static void push(void *page, unsigned int number, struct plain_queue *queue, uint64_t value, int is_wide)
{
	plain_push(queue, (uint32_t)value);
	if (!is_wide) {
		store32(page, PRODUCE, number, (uint32_t)value);
		return;
	}
	plain_push(queue, (uint32_t)(value >> 32));
	store64(page, PRODUCE, number, value);
}

static void pop(void *page, unsigned int number, struct plain_queue *queue, int is_wide)
{
	uint64_t expected = plain_pop(queue);

	if (!is_wide) {
		CHECK(load32(page, CONSUME, number) == (uint32_t)expected);
		return;
	}
	expected |= (uint64_t)plain_pop(queue) << 32;
	CHECK(load64(page, CONSUME, number) == expected);
}

static void mix(void *page, unsigned int size_code, unsigned int words, unsigned int queues)
{
	struct plain_queue plain[2] = { 0 };
	uint64_t state = 2463534242ull + size_code;
	unsigned int i;

	load32(page, RESET, 0);
	CHECK(load32(page, INIT, size_code) == 2);
	for (i = 0; i < queues; i++)
		open_both(page, i);
	for (i = 0; i < 400; i++) {
		uint64_t random = next_random(&state);
		unsigned int number = (random >> 8) % queues;
		unsigned int wide = (random >> 16) & 1;
		struct plain_queue *queue = &plain[number];

		if ((random & 1) && queue->level + 1 + wide <= words)
			push(page, number, queue, next_random(&state), (int)wide);
		else if (queue->level >= 1 + wide)
			pop(page, number, queue, (int)wide);
	}
}

int main(void)
{
	static const unsigned int words[] = { 8, 16, 32, 48, 64 };
	void *page = map_or_die(open_or_die("/dev/maple0"), 0);
	unsigned int i;

	for (i = 0; i < 5; i++)
		mix(page, i, words[i], 2);
	return 0;
}
