/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Physical memory: a page gets the next free frame when it is touched for the first time.
 * So a cache's hits and misses depend on the order of touches and not on the host's
 * addresses.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sim/runtime/internal.h"

#define FIRST_SLOTS 4096u
/* In the place of a frame: the device, and where the page lies in its memory. */
#define DEVICE (1ull << 63)
#define DEVICE_SHIFT 48

struct sim_frame_entry sim_frame_cache[SIM_FRAME_CACHE];

/* An open hash table, at most half full. Page 1 is none: pages are multiples of 4096. */
static struct sim_frame_entry *table;
static uint64_t slots;
static uint64_t pages;
static uint64_t count;		/* frames */

static struct sim_frame_entry *make_table(uint64_t size)
{
	/* Not malloc(): the program's own must not move. */
	struct sim_frame_entry *made = mmap(NULL, size * sizeof(*made), PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		return NULL;
	for (uint64_t i = 0; i < size; i++)
		made[i].page = 1;
	return made;
}

int sim_frames_begin(void)
{
	for (unsigned int i = 0; i < SIM_FRAME_CACHE; i++)
		sim_frame_cache[i].page = 1;
	table = make_table(FIRST_SLOTS);
	slots = FIRST_SLOTS;
	return table ? 0 : -ENOMEM;
}

static struct sim_frame_entry *find(struct sim_frame_entry *in, uint64_t size, uint64_t page)
{
	uint64_t slot = (page >> 12) * 0x9e3779b97f4a7c15ull >> 32 & (size - 1);	/* 2^64 / golden ratio */

	while (in[slot].page != page && in[slot].page != 1)
		slot = (slot + 1) & (size - 1);
	return &in[slot];
}

static void grow(void)
{
	struct sim_frame_entry *larger = make_table(2 * slots);

	if (!larger) {
		sim_say("no memory for the table of frames");
		sim_end_with(SIM_REFUSED);
	}
	for (uint64_t i = 0; i < slots; i++)
		if (table[i].page != 1)
			*find(larger, 2 * slots, table[i].page) = table[i];
	munmap(table, slots * sizeof(*table));
	table = larger;
	slots *= 2;
}

/* Where a page is, or is to be put. */
static struct sim_frame_entry *find_place(uint64_t page)
{
	struct sim_frame_entry *known = find(table, slots, page);

	if (known->page != 1)
		return known;
	if (2 * (pages + 1) > slots) {
		grow();
		known = find(table, slots, page);
	}
	pages++;
	known->page = page;
	known->frame = 0;
	return known;
}

uint64_t sim_frame_find(struct sim_frame_entry *entry, uint64_t page)
{
	struct sim_frame_entry *known = find(table, slots, page);

	if (known->page != 1 && known->frame & DEVICE)
		return 0;
	if (known->page == 1 || !known->frame) {
		/* It stays unknown: it may become memory. */
		if (sim_device_page(page))
			return 0;
		known = find_place(page);
		/* Frame 0 stays free. */
		known->frame = ++count << 12;
	}
	*entry = *known;
	return entry->frame;
}

void sim_frame_is_device_memory(uint64_t page, unsigned int number, uint64_t offset)
{
	sim_frame_forget(page);
	find_place(page)->frame = DEVICE | (uint64_t)number << DEVICE_SHIFT | offset;
}

bool sim_frame_device_memory(uint64_t page, unsigned int *number, uint64_t *offset)
{
	const struct sim_frame_entry *known = find(table, slots, page);

	if (known->page == 1 || !(known->frame & DEVICE))
		return false;
	*number = (unsigned int)((known->frame & ~DEVICE) >> DEVICE_SHIFT);
	*offset = known->frame & ((1ull << DEVICE_SHIFT) - 1);
	return true;
}

void sim_frames_forget_device(unsigned int number)
{
	const uint64_t mask = DEVICE | ~0ull << DEVICE_SHIFT, wanted = DEVICE | (uint64_t)number << DEVICE_SHIFT;

	for (uint64_t i = 0; i < slots; i++)
		if (table[i].page != 1 && (table[i].frame & mask) == wanted)
			table[i].frame = 0;
}

void sim_frame_forget(uintptr_t page)
{
	struct sim_frame_entry *entry = &sim_frame_cache[page >> 12 & (SIM_FRAME_CACHE - 1)];
	struct sim_frame_entry *known = find(table, slots, page);

	if (entry->page == page)
		entry->page = 1;
	if (known->page == page)
		known->frame = 0;
}

uint64_t sim_frames_count(void)
{
	return count;
}
