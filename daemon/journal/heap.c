/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory of the window. Which parts are free is known to this process alone: a successor copies
 * the states into a window of its own. Sizes are powers of two, so that what is freed fits again.
 *
 * A block that a step has freed is free after its commit: until then an undo may bring it back, and by then
 * another thread must not have written there.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/journal/internal.h"

#define ALIGNMENT 64u
#define CLASSES 40u
#define PLACES (MIMICD_JOURNAL_FILES_BYTES / MIMICD_WINDOW_FILE_PLACE)

/* In front of each block. */
struct mimicd_block {
	_Alignas(ALIGNMENT) uint64_t class;
	struct mimicd_block *next;	/* free ones of the class, or those that a step has freed */
};

/* Of all threads, for some instructions. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	uint64_t next, end;
	struct mimicd_block *free[CLASSES];
	bool place_is_taken[PLACES];	/* of files, behind the heap */
} heap;

void mimicd_heap_begin(uint64_t start)
{
	memset(&heap, 0, sizeof(heap));
	heap.next = start;
	heap.end = start + MIMICD_JOURNAL_HEAP_BYTES;
}

void mimicd_heap_end(void)
{
	memset(&heap, 0, sizeof(heap));
}

static unsigned int class_of(size_t size)
{
	unsigned int class = 7;

	while (class < CLASSES && (1ull << class) < size)
		class++;
	return class;
}

/* NULL: there is none. */
static struct mimicd_block *take_free(unsigned int class)
{
	struct mimicd_block *block;

	pthread_mutex_lock(&lock);
	block = heap.free[class];
	if (block)
		heap.free[class] = block->next;
	pthread_mutex_unlock(&lock);
	return block;
}

/* Its bytes are zeros. NULL: there is no room. */
static struct mimicd_block *take_new(unsigned int class)
{
	const uint64_t size = 1ull << class;
	struct mimicd_block *block = NULL;

	pthread_mutex_lock(&lock);
	if (size <= heap.end - heap.next) {
		block = (struct mimicd_block *)(uintptr_t)heap.next;
		heap.next += size;
	}
	pthread_mutex_unlock(&lock);
	if (block)
		block->class = class;
	return block;
}

void *mimicd_journal_alloc(size_t size)
{
	unsigned int class = size > MIMICD_JOURNAL_HEAP_BYTES ? CLASSES : class_of(size + sizeof(struct mimicd_block));
	struct mimicd_block *block;

	if (class >= CLASSES)
		return NULL;
	block = take_free(class);
	if (block)
		return memset(block + 1, 0, size);
	block = take_new(class);
	return block ? block + 1 : NULL;
}

void mimicd_journal_free(void *memory)
{
	struct mimicd_block *block;

	if (!memory || !mimicd_journal_holds(memory))
		return;
	block = (struct mimicd_block *)memory - 1;
	block->next = mimicd_log_own->freed;
	mimicd_log_own->freed = block;
}

void mimicd_heap_take_back(struct mimicd_block *freed)
{
	pthread_mutex_lock(&lock);
	while (freed) {
		struct mimicd_block *next = freed->next;

		freed->next = heap.free[freed->class];
		heap.free[freed->class] = freed;
		freed = next;
	}
	pthread_mutex_unlock(&lock);
}

static uint64_t first_place(void)
{
	return mimicd_journal.start + MIMICD_JOURNAL_HEAP_BYTES;
}

void *mimicd_journal_place_take(size_t size)
{
	unsigned int number = 0;

	if (size > MIMICD_WINDOW_FILE_PLACE)
		return NULL;
	while (number < PLACES && heap.place_is_taken[number])
		number++;
	if (number == PLACES)
		return NULL;
	heap.place_is_taken[number] = true;
	return (void *)(uintptr_t)(first_place() + number * MIMICD_WINDOW_FILE_PLACE);
}

void mimicd_journal_place_give_back(void *address)
{
	heap.place_is_taken[((uint64_t)(uintptr_t)address - first_place()) / MIMICD_WINDOW_FILE_PLACE] = false;
}
