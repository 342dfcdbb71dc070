/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The device and the program's memory: pointers of 32 bits into the heap, and
 * pointers to nothing, which the device answers with 0 while the program goes on.
 */
#include "contract.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static void *page;
static volatile int signals_seen;

static void on_fault(int number)
{
	(void)number;
	signals_seen++;
}

static uint32_t fetch32(unsigned int queue, uint64_t pointer)
{
	store64(page, POINTER32, queue, pointer);
	return load32(page, CONSUME, queue);
}

/* No base is set, so the low 32 bits are the address: the heap must lie below 4 GiB. */
static void check_heap(unsigned int queue, size_t size)
{
	uint32_t *memory = malloc(size);

	CHECK(memory && address_of(memory) + size <= 1ull << 32);
	memory[0] = 0x12345678;
	memory[size / 4 - 1] = 0x9abcdef0;
	CHECK(fetch32(queue, address_of(memory)) == 0x12345678);
	CHECK(fetch32(queue, address_of(&memory[size / 4 - 1])) == 0x9abcdef0);
	free(memory);
}

static void *thread_main(void *argument)
{
	(void)argument;
	open_both(page, 1);
	check_heap(1, 64);
	check_heap(1, 4 << 20);
	return NULL;
}

static void check_nothing(void)
{
	char *memory = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *file = tmpfile();
	char *past_end;

	CHECK(file && memory != MAP_FAILED);
	past_end = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(file), 0);
	CHECK(past_end != MAP_FAILED);
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	CHECK(fetch32(0, 0x1000) == 0);	/* never mapped */
	CHECK(fetch32(0, 0) == 0);
	/* With a base, to reach the high addresses: a page without rights, a file's missing page. */
	store64(page, SET_BASE32, 0, address_of(memory));
	CHECK(fetch32(0, 1) == 0);
	store64(page, SET_BASE32, 0, address_of(past_end));
	CHECK(fetch32(0, 1) == 0);
	CHECK(signals_seen == 0);
}

int main(void)
{
	pthread_t thread;

	page = map_node("/dev/maple0", WORDS_8);
	open_both(page, 0);
	check_heap(0, 64);
	check_heap(0, 16 << 20);
	CHECK(pthread_create(&thread, NULL, thread_main, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	check_nothing();
	return 0;
}
