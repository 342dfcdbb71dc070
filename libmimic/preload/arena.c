/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Addresses of device pages. All that the program leaves to us lie in one aligned range, so that one
 * compare tells a device's page from memory. It is reserved at the first page and stays reserved.
 */
#include <errno.h>
#include <sys/mman.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#define ARENA_SHIFT 28
#define ARENA_BYTES ((size_t)1 << ARENA_SHIFT)
#define ARENA_PAGES (ARENA_BYTES >> PAGE_SHIFT)
/* Of addresses that the program has chosen. If they lie further apart than the greater one, each has a block. */
#define CHOSEN_SHIFT 24
#define CHOSEN_SHIFT_MAX 32

static _Atomic uintptr_t arena;
static bool is_refused;
static uint64_t taken[ARENA_PAGES / 64];
/* Pages at addresses that the program has chosen, ever. */
static _Atomic uintptr_t lowest_chosen = UINTPTR_MAX;
static _Atomic uintptr_t highest_chosen;

/* Twice as much, so that an aligned range is in it. */
static void reserve(void)
{
	uintptr_t start, aligned;
	void *mapped;

	mapped = NEXT(mmap)(NULL, 2 * ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);
	if (mapped == MAP_FAILED) {
		is_refused = true;
		return;
	}
	start = (uintptr_t)mapped;
	aligned = (start + ARENA_BYTES - 1) & ~(ARENA_BYTES - 1);
	if (aligned > start)
		NEXT(munmap)(mapped, aligned - start);
	NEXT(munmap)((void *)(aligned + ARENA_BYTES), start + ARENA_BYTES - aligned);
	atomic_store(&arena, aligned);
}

static bool is_taken(size_t page)
{
	return taken[page / 64] >> (page % 64) & 1;
}

static void set_taken(size_t first, size_t count, bool is_set)
{
	size_t i;

	for (i = first; i < first + count; i++) {
		taken[i / 64] &= ~(1ull << (i % 64));
		taken[i / 64] |= (uint64_t)is_set << (i % 64);
	}
}

void *mimic_preload_arena_take(size_t length)
{
	size_t wanted = length >> PAGE_SHIFT;
	size_t run = 0;
	size_t i;

	if (!mimic_preload_patch_is_on() || is_refused)
		return NULL;
	if (!atomic_load(&arena))
		reserve();
	if (!atomic_load(&arena))
		return NULL;
	for (i = 0; i < ARENA_PAGES; i++) {
		run = is_taken(i) ? 0 : run + 1;
		if (run < wanted)
			continue;
		set_taken(i + 1 - wanted, wanted, true);
		return (void *)(atomic_load(&arena) + ((i + 1 - wanted) << PAGE_SHIFT));
	}
	return NULL;
}

bool mimic_preload_arena_has(uintptr_t address)
{
	uintptr_t start = atomic_load_explicit(&arena, memory_order_relaxed);

	return start && address - start < ARENA_BYTES;
}

bool mimic_preload_arena_overlaps(uintptr_t start, size_t length)
{
	uintptr_t base = atomic_load_explicit(&arena, memory_order_relaxed);

	return base && start < base + ARENA_BYTES && start + length > base;
}

void mimic_preload_arena_leave(uintptr_t start, size_t length)
{
	uintptr_t base = atomic_load(&arena);
	uintptr_t end = start + length;

	if (start < base)
		start = base;
	if (end > base + ARENA_BYTES)
		end = base + ARENA_BYTES;
	if (base && end > start)
		set_taken((start - base) >> PAGE_SHIFT, (end - start) >> PAGE_SHIFT, true);
}

/* A page that the program has mapped meanwhile is not the arena's any more. */
void mimic_preload_arena_give_back(uintptr_t start, size_t length)
{
	uintptr_t base = atomic_load(&arena);
	uintptr_t address;

	if (!mimic_preload_arena_overlaps(start, length))
		return;
	for (address = start; address < start + length; address += PAGE_BYTES) {
		if (!mimic_preload_arena_has(address))
			continue;
		if (NEXT(mmap)((void *)address, PAGE_BYTES, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			       0) == (void *)address)
			set_taken((address - base) >> PAGE_SHIFT, 1, false);
	}
}

void mimic_preload_arena_note_chosen(uintptr_t page)
{
	if (mimic_preload_arena_has(page))
		return;
	if (page < atomic_load(&lowest_chosen))
		atomic_store(&lowest_chosen, page);
	if (page > atomic_load(&highest_chosen))
		atomic_store(&highest_chosen, page);
}

/* The least block that has both. */
static struct patch_block block_over(uintptr_t low, uintptr_t high)
{
	uint8_t shift = CHOSEN_SHIFT;

	while (low >> shift != high >> shift)
		shift++;
	return (struct patch_block){ .key = low >> shift, .shift = shift };
}

struct patch_block mimic_preload_arena_block(uintptr_t address)
{
	const struct mimic_physical *physical =
		mimic_preload_physical_kind ? mimic_preload_physical_kind->physical : NULL;
	uintptr_t low = atomic_load(&lowest_chosen), high = atomic_load(&highest_chosen);
	struct patch_block block;

	if (mimic_preload_arena_has(address))
		return (struct patch_block){ .key = address >> ARENA_SHIFT, .shift = ARENA_SHIFT };
	/* Physical addresses that are used as they are: no memory of a program lies there. */
	if (physical && address - physical->start < physical->size)
		return block_over(physical->start, physical->start + physical->size - 1);
	/* Memory in between is accessed by a call that declines, which takes longer. */
	block = block_over(low < address ? low : address, high > address ? high : address);
	return block.shift <= CHOSEN_SHIFT_MAX ? block : block_over(address, address);
}
