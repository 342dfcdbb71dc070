/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A fully associative TLB with tree pseudo-LRU replacement.
 *
 * The tree is a heap: node 1 is the root, node n has children 2n and 2n + 1,
 * the leaves are the entries from left to right. A node's bit says which child
 * the next victim is under (0: left). An access makes every node on its way
 * point away from it. An entry that is filled counts as accessed, because the
 * access that missed is then tried again and hits.
 *
 * It holds no pointers, so that a device's state can be saved as it is.
 */
#ifndef MIMIC_DEVICES_TLB_H
#define MIMIC_DEVICES_TLB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIMIC_TLB_MAX 64
#define MIMIC_TLB_PAGE_SHIFT 12
#define MIMIC_TLB_BUCKETS 4096
#define MIMIC_TLB_WIDE_BUCKETS 1024
#define MIMIC_TLB_BLOCK 64	/* addresses translated in one call */

struct mimic_tlb {
	/*
	 * A shortcut, not state of the hardware: bit e of bucket hash(page) is set
	 * if entry e holds a page with that hash. A random gather misses on nearly
	 * every element, and one empty bucket says so without reading the
	 * entries. TLBs of up to 16 entries have many narrow buckets.
	 */
	union {
		uint16_t bucket[MIMIC_TLB_BUCKETS];
		uint64_t wide_bucket[MIMIC_TLB_WIDE_BUCKETS];
	};
	uint64_t page[MIMIC_TLB_MAX];	/* virtual page number, in 4 KiB pages */
	uint64_t frame[MIMIC_TLB_MAX];	/* physical page number, in 4 KiB pages */
	uint64_t valid;			/* one bit an entry */
	uint64_t large;			/* entries of 2 MiB or 1 GiB */
	uint64_t huge;			/* of these, the ones of 1 GiB */
	uint64_t tree;			/* bit n is node n */
	uint32_t entries;		/* power of two, 2 to 64 */
};

/* entries must be a power of two from 2 to MIMIC_TLB_MAX. */
void mimic_tlb_init(struct mimic_tlb *tlb, unsigned int entries);
/* Drops all entries; the tree keeps its bits, as in hardware. */
void mimic_tlb_flush(struct mimic_tlb *tlb);
/* Drops every entry that translates an address of [start, end). */
void mimic_tlb_invalidate(struct mimic_tlb *tlb, uint64_t start, uint64_t end);

/* The entry that translates `address`, which is then the latest used; -1: miss. */
int mimic_tlb_find(struct mimic_tlb *tlb, uint64_t address);

/* An access's effect on the tree, by the number of its leaf's node: the nodes above it and their new bits. */
struct mimic_tlb_leaf {
	uint64_t above;
	uint64_t away;
};
extern const struct mimic_tlb_leaf mimic_tlb_leaves[2 * MIMIC_TLB_MAX];

static inline unsigned int mimic_tlb_bucket(uint64_t page)
{
	return (unsigned int)(page ^ page >> 12) % MIMIC_TLB_BUCKETS;
}

static inline uint64_t mimic_tlb_touched(uint64_t tree, unsigned int entries, unsigned int entry)
{
	const struct mimic_tlb_leaf *leaf = &mimic_tlb_leaves[entries + entry];

	return (tree & ~leaf->above) | leaf->away;
}

/* The entry that the tree points to. */
static inline unsigned int mimic_tlb_victim(uint64_t tree, unsigned int entries)
{
	unsigned int node = 1;

	while (node < entries)
		node = 2 * node + (tree >> node & 1);
	return node - entries;
}

/* Fills the victim with a page of 2^page_shift bytes (12, 21 or 30). Returns its number. */
int mimic_tlb_fill(struct mimic_tlb *tlb, uint64_t address, uint64_t frame_address,
		   unsigned int page_shift);
void mimic_tlb_drop(struct mimic_tlb *tlb, int entry);

/* Physical address of `address` by an entry that translates it. */
uint64_t mimic_tlb_physical(const struct mimic_tlb *tlb, int entry, uint64_t address);

/* Of a TLB of 16 entries, as it was before translate_identity(). */
struct mimic_tlb_undo {
	uint64_t tree;
	uint64_t valid;
	uint64_t hits;		/* bit i: addresses[i] was there */
	size_t fills;
	uint64_t page[16];
	uint64_t frame[16];
};

/*
 * Translates up to MIMIC_TLB_BLOCK addresses[] in place where every walk finds
 * the identity: as find(), and fill() on a miss, one after the other. Returns
 * false, with nothing done, if that takes more than the plain case: another
 * size than 16 entries, or large pages. undo->fills are the misses.
 */
bool mimic_tlb_translate_identity(struct mimic_tlb *tlb, uint64_t *addresses, size_t count,
				  struct mimic_tlb_undo *undo);
/* The TLB is as it was before that call. */
void mimic_tlb_take_back(struct mimic_tlb *tlb, const struct mimic_tlb_undo *undo);

#endif
