/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory of the window. Which parts are free is known to this process alone: a successor copies
 * the states into a window of its own. Sizes are powers of two, so that what is freed fits again.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/journal/internal.h"

#define ALIGNMENT 64u
#define CLASSES 40u
#define PLACES (MIMICD_JOURNAL_FILES_BYTES / MIMICD_WINDOW_FILE_PLACE)

/* In front of each block. */
struct block {
	_Alignas(ALIGNMENT) uint64_t class;
	struct block *next;	/* free ones of the class */
};

static struct {
	uint64_t next, end;
	struct block *free[CLASSES];
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

void *mimicd_journal_alloc(size_t size)
{
	unsigned int class = size > MIMICD_JOURNAL_HEAP_BYTES ? CLASSES : class_of(size + sizeof(struct block));
	struct block *block;

	if (class >= CLASSES)
		return NULL;
	block = heap.free[class];
	if (block) {
		heap.free[class] = block->next;
		/* It may have been freed in this step, and comes back with an undo. */
		mimicd_journal_note(block + 1, size);
		memset(block + 1, 0, size);
		return block + 1;
	}
	if ((1ull << class) > heap.end - heap.next)
		return NULL;
	block = (struct block *)(uintptr_t)heap.next;
	heap.next += 1ull << class;
	block->class = class;
	return block + 1;
}

void mimicd_journal_free(void *memory)
{
	struct block *block;

	if (!memory || !mimicd_journal_holds(memory))
		return;
	block = (struct block *)memory - 1;
	block->next = heap.free[block->class];
	heap.free[block->class] = block;
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
