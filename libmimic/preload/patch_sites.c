/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The table of sites: instructions that have trapped, by their addresses, and the bytes of their jumps. */
#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#define HASH_BITS 16
#define HASH_SIZE (1u << HASH_BITS)

static struct patch_site sites[PATCH_SITES_MAX];
static _Atomic unsigned int site_count;
/* By the address of the instruction, the latest: number in sites[], and 1. */
static _Atomic uint16_t hash_table[HASH_SIZE];

static unsigned int hash(uintptr_t address)
{
	return (unsigned int)((address * 0x9e3779b97f4a7c15ull) >> (64 - HASH_BITS));
}

static _Atomic uint16_t *slot_of(uintptr_t address)
{
	unsigned int i = hash(address);
	unsigned int at;

	for (; (at = atomic_load_explicit(&hash_table[i], memory_order_acquire)); i = (i + 1) % HASH_SIZE)
		if (sites[at - 1].target.address == address)
			break;
	return &hash_table[i];
}

struct patch_site *mimic_preload_patch_find(uintptr_t address)
{
	unsigned int at = atomic_load_explicit(slot_of(address), memory_order_acquire);

	return at ? &sites[at - 1] : NULL;
}

struct patch_site *mimic_preload_patch_spare(uintptr_t address)
{
	struct patch_site *site = mimic_preload_patch_find(address);

	while (site && (site->size || site->is_lost))
		site = mimic_preload_patch_former(site);
	return site;
}

struct patch_site *mimic_preload_patch_add(uintptr_t address)
{
	struct patch_site *spare = mimic_preload_patch_spare(address);
	unsigned int count = atomic_load(&site_count);

	if (spare) {
		mimic_preload_patch_bring_forward(spare);
		return spare;
	}
	if (count == PATCH_SITES_MAX)
		return NULL;
	sites[count].target.address = address;
	sites[count].former = atomic_load(slot_of(address));
	atomic_store(&site_count, count + 1);
	/* release: a handler that finds it sees its address */
	atomic_store_explicit(slot_of(address), (uint16_t)(count + 1), memory_order_release);
	return &sites[count];
}

struct patch_site *mimic_preload_patch_former(const struct patch_site *site)
{
	return site->former ? &sites[site->former - 1] : NULL;
}

void mimic_preload_patch_bring_forward(struct patch_site *site)
{
	_Atomic uint16_t *slot = slot_of(site->target.address);
	struct patch_site *later = &sites[atomic_load(slot) - 1];
	uint16_t number = (uint16_t)(site - sites + 1);

	if (later == site)
		return;
	while (later->former != number)
		later = &sites[later->former - 1];
	later->former = site->former;
	site->former = atomic_load(slot);
	atomic_store_explicit(slot, number, memory_order_release);
}

unsigned int mimic_preload_patch_count(void)
{
	return atomic_load(&site_count);
}

struct patch_site *mimic_preload_patch_site(unsigned int number)
{
	return &sites[number];
}

bool mimic_preload_patch_is_latest(const struct patch_site *site)
{
	return mimic_preload_patch_find(site->target.address) == site;
}

/* --- bytes of jumps ------------------------------------------------------------------ */

/*
 * Those that are written, and the rest of its instruction: a jump that were written over that would stay in it when its
 * own is taken back.
 */
static unsigned int bytes_of(const struct patch_site *site)
{
	unsigned int length = site->target.instruction.length;

	return length > site->window.changed ? length : site->window.changed;
}

struct patch_site *mimic_preload_patch_over(uintptr_t address)
{
	unsigned int back;

	for (back = 0; back < MIMIC_INSTRUCTION_MAX; back++) {
		struct patch_site *site = mimic_preload_patch_find(address - back);

		if (site && atomic_load(&site->installed) && back < bytes_of(site))
			return site;
	}
	return NULL;
}

struct patch_site *mimic_preload_patch_borrower(uintptr_t address)
{
	unsigned int back;

	for (back = 1; back < PATCH_JUMP_MAX; back++) {
		struct patch_site *site = mimic_preload_patch_find(address - back);

		if (site && atomic_load(&site->installed) && back >= site->window.changed &&
		    back < site->window.changed + site->window.borrowed)
			return site;
	}
	return NULL;
}
