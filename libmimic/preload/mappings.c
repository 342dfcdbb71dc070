/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The table of mapped device pages: a hash of page addresses, written under
 * the lock and read by the fault handler without one.
 */
#include <errno.h>
#include <sys/mman.h>

#include "patch.h"
#include "preload.h"

/* The kernel gives a process 65530 mappings (vm.max_map_count): more could not be used. */
#define TABLE_BITS 16
#define TABLE_SIZE (1u << TABLE_BITS)
#define TABLE_FULL (TABLE_SIZE - TABLE_SIZE / 8)

#define FREE 0ull
#define REMOVED 1ull	/* page number 1 is below mmap_min_addr */

struct entry {
	_Atomic uint64_t page_number;
	_Atomic uint64_t target;
};

static struct entry table[TABLE_SIZE];
static unsigned int pages_in_table;
_Atomic uint64_t mimic_preload_mappings_version;
/* The library of virtual time, which knows pages of the program by their addresses. */
static void (*_Atomic watcher)(uintptr_t page);
/* Only ever widened: a filter that keeps munmap() of other memory cheap. */
static _Atomic uintptr_t lowest = UINTPTR_MAX;
static _Atomic uintptr_t highest;

static unsigned int hash(uint64_t page_number)
{
	return (unsigned int)((page_number * 0x9e3779b97f4a7c15ull) >> (64 - TABLE_BITS));
}

static uint64_t pack(const struct mapping *mapping)
{
	return (uint64_t)(mapping->holder - mimic_preload_holders) << 16 |
	       (uint64_t)mapping->device_page << 8 | (unsigned int)mapping->protection;
}

static struct mapping unpack(uint64_t target)
{
	return (struct mapping){
		.holder = &mimic_preload_holders[target >> 16],
		.device_page = (target >> 8) & 0xff,
		.protection = (int)(target & 0xff),
	};
}

static struct entry *find(uint64_t page_number)
{
	unsigned int i = hash(page_number);
	unsigned int steps;

	for (steps = 0; steps < TABLE_SIZE; steps++, i = (i + 1) % TABLE_SIZE) {
		uint64_t here = atomic_load_explicit(&table[i].page_number, memory_order_acquire);

		if (here == page_number)
			return &table[i];
		if (here == FREE)
			return NULL;
	}
	return NULL;
}

bool mimic_preload_mapping_find(uintptr_t address, struct mapping *mapping)
{
	uint64_t page_number = address >> PAGE_SHIFT;
	struct entry *entry = find(page_number);

	if (!entry)
		return false;
	*mapping = unpack(atomic_load_explicit(&entry->target, memory_order_acquire));
	/* Still the same page: then the target was this page's. */
	return atomic_load_explicit(&entry->page_number, memory_order_acquire) == page_number;
}

static void has_changed(void)
{
	atomic_fetch_add(&mimic_preload_mappings_version, 1);
}

static void widen(uintptr_t address)
{
	if (address < atomic_load(&lowest))
		atomic_store(&lowest, address);
	if (address > atomic_load(&highest))
		atomic_store(&highest, address);
}

int mimic_preload_mapping_insert(uintptr_t address, const struct mapping *mapping)
{
	uint64_t page_number = address >> PAGE_SHIFT;
	unsigned int i = hash(page_number);
	void (*watch)(uintptr_t page);

	if (pages_in_table >= TABLE_FULL)
		return -ENOMEM;
	while (atomic_load(&table[i].page_number) > REMOVED)
		i = (i + 1) % TABLE_SIZE;
	atomic_store_explicit(&table[i].target, pack(mapping), memory_order_release);
	/* release: a thread that sees the page sees its target */
	atomic_store_explicit(&table[i].page_number, page_number, memory_order_release);
	has_changed();
	widen(address);
	if (mapping->device_page != MEMORY_PAGE)
		mimic_preload_arena_note_chosen(address);
	mapping->holder->pages++;
	pages_in_table++;
	watch = atomic_load(&watcher);
	if (watch && mapping->device_page != MEMORY_PAGE)
		watch(address);
	return 0;
}

EXPORT void mimic_preload_watch_device_pages(void (*changed)(uintptr_t page))
{
	atomic_store(&watcher, changed);
}

static void remove_entry(struct entry *entry)
{
	unsigned int i = (unsigned int)(entry - table);
	struct mapping mapping = unpack(atomic_load(&entry->target));
	void (*watch)(uintptr_t page) = atomic_load(&watcher);

	mapping.holder->pages--;
	pages_in_table--;
	if (watch && mapping.device_page == MEMORY_PAGE)
		watch(atomic_load(&entry->page_number) << PAGE_SHIFT);
	atomic_store(&entry->page_number, REMOVED);
	has_changed();
	/* A removed entry that ends its chain need not be stepped over. */
	if (atomic_load(&table[(i + 1) % TABLE_SIZE].page_number) != FREE)
		return;
	while (atomic_load(&table[i].page_number) == REMOVED) {
		atomic_store(&table[i].page_number, FREE);
		i = (i + TABLE_SIZE - 1) % TABLE_SIZE;
	}
}

static bool may_overlap(uintptr_t start, size_t length)
{
	uintptr_t high = atomic_load_explicit(&highest, memory_order_relaxed);

	return high && start <= high &&
	       start + length > atomic_load_explicit(&lowest, memory_order_relaxed);
}

/* Calls for each device page of the range; stops if `visit` returns so. */
static bool for_each(uintptr_t start, size_t length, bool (*visit)(struct entry *entry, void *data),
		     void *data)
{
	uint64_t first = start >> PAGE_SHIFT;
	uint64_t end = (start + length + PAGE_BYTES - 1) >> PAGE_SHIFT;
	uint64_t page;
	unsigned int i;

	if (end - first < TABLE_SIZE) {
		for (page = first; page < end; page++) {
			struct entry *entry = find(page);

			if (entry && visit(entry, data))
				return true;
		}
		return false;
	}
	for (i = 0; i < TABLE_SIZE; i++) {
		page = atomic_load(&table[i].page_number);
		if (page > REMOVED && page >= first && page < end && visit(&table[i], data))
			return true;
	}
	return false;
}

static bool visit_stop(struct entry *entry, void *data)
{
	(void)entry;
	(void)data;
	return true;
}

static bool visit_remove(struct entry *entry, void *data)
{
	remove_entry(entry);
	++*(size_t *)data;
	return false;
}

bool mimic_preload_mapping_overlaps(uintptr_t start, size_t length)
{
	return may_overlap(start, length) && for_each(start, length, visit_stop, NULL);
}

size_t mimic_preload_mapping_remove(uintptr_t start, size_t length)
{
	size_t removed = 0;

	if (may_overlap(start, length))
		for_each(start, length, visit_remove, &removed);
	return removed;
}

bool mimic_preload_mapping_set_protection(uintptr_t address, int protection)
{
	struct entry *entry = find(address >> PAGE_SHIFT);
	struct mapping mapping;

	if (!entry)
		return false;
	mapping = unpack(atomic_load(&entry->target));
	if (mapping.device_page == MEMORY_PAGE)
		return false;
	mapping.protection = protection;
	atomic_store(&entry->target, pack(&mapping));
	has_changed();
	return true;
}

void mimic_preload_mappings_after_fork(void)
{
	unsigned int i;

	has_changed();
	for (i = 0; pages_in_table && i < TABLE_SIZE; i++) {
		uint64_t page = atomic_load(&table[i].page_number);
		struct mapping mapping = unpack(atomic_load(&table[i].target));
		bool is_gone = page > REMOVED && mapping.holder->is_not_inherited;

		if (page <= REMOVED || !atomic_load(&mapping.holder->inherited) ||
		    (mapping.device_page != MEMORY_PAGE && !is_gone))
			continue;
		/* mimic_pci.ko maps no pages in a child (VM_DONTCOPY): an access there is the program's own SIGSEGV. */
		if (is_gone) {
			remove_entry(&table[i]);
			mimic_raw_syscall(SYS_munmap, (long)(page << PAGE_SHIFT), PAGE_BYTES, 0, 0, 0, 0);
			mimic_preload_arena_give_back(page << PAGE_SHIFT, PAGE_BYTES);
			continue;
		}
		mimic_raw_syscall(SYS_mmap, (long)(page << PAGE_SHIFT), PAGE_BYTES, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	}
}
