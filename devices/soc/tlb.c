/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/tlb.h"

#include <string.h>

#define LARGE_SHIFT 21
#define HUGE_SHIFT 30

static unsigned int page_shift_of(const struct mimic_tlb *tlb, int entry)
{
	if (!(tlb->large >> entry & 1))
		return MIMIC_TLB_PAGE_SHIFT;
	return tlb->huge >> entry & 1 ? HUGE_SHIFT : LARGE_SHIFT;
}

static unsigned int wide_bucket_of(uint64_t page)
{
	return (unsigned int)(page ^ page >> 10) % MIMIC_TLB_WIDE_BUCKETS;
}

static bool is_narrow(const struct mimic_tlb *tlb)
{
	return tlb->entries <= 16;
}

static void bucket_add(struct mimic_tlb *tlb, uint64_t page, unsigned int entry)
{
	if (is_narrow(tlb))
		tlb->bucket[mimic_tlb_bucket(page)] |= (uint16_t)(1u << entry);
	else
		tlb->wide_bucket[wide_bucket_of(page)] |= 1ull << entry;
}

static void bucket_remove(struct mimic_tlb *tlb, uint64_t page, unsigned int entry)
{
	if (is_narrow(tlb))
		tlb->bucket[mimic_tlb_bucket(page)] &= (uint16_t)~(1u << entry);
	else
		tlb->wide_bucket[wide_bucket_of(page)] &= ~(1ull << entry);
}

static uint64_t bucket_entries(const struct mimic_tlb *tlb, uint64_t page)
{
	return is_narrow(tlb) ? tlb->bucket[mimic_tlb_bucket(page)] : tlb->wide_bucket[wide_bucket_of(page)];
}

void mimic_tlb_init(struct mimic_tlb *tlb, unsigned int entries)
{
	memset(tlb, 0, sizeof(*tlb));
	tlb->entries = entries;
}

void mimic_tlb_flush(struct mimic_tlb *tlb)
{
	tlb->valid = 0;
	tlb->large = 0;
	tlb->huge = 0;
	memset(tlb->bucket, 0, sizeof(tlb->bucket));
}

void mimic_tlb_drop(struct mimic_tlb *tlb, int entry)
{
	bucket_remove(tlb, tlb->page[entry], (unsigned int)entry);
	tlb->valid &= ~(1ull << entry);
	tlb->large &= ~(1ull << entry);
	tlb->huge &= ~(1ull << entry);
}

void mimic_tlb_invalidate(struct mimic_tlb *tlb, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < tlb->entries; i++) {
		unsigned int shift = page_shift_of(tlb, (int)i);
		uint64_t first = tlb->page[i] << MIMIC_TLB_PAGE_SHIFT >> shift << shift;
		uint64_t last = first + ((1ull << shift) - 1);

		if (tlb->valid >> i & 1 && first < end && last >= start)
			mimic_tlb_drop(tlb, (int)i);
	}
}

/* Bits of the nodes above a leaf, and the values that they get. A left child (even) was used: point right, and the other way round. */
#define ABOVE(n, up) ((n) >> (up) > 1 ? 1ull << ((n) >> ((up) + 1)) : 0)
#define AWAY(n, up) ((n) >> (up) & 1 ? 0 : ABOVE(n, up))
#define ALL_UP(OF, n) (OF(n, 0) | OF(n, 1) | OF(n, 2) | OF(n, 3) | OF(n, 4) | OF(n, 5))
#define NODE(n) { ALL_UP(ABOVE, n), ALL_UP(AWAY, n) }
#define NODES4(n) NODE(n), NODE((n) + 1), NODE((n) + 2), NODE((n) + 3)
#define NODES16(n) NODES4(n), NODES4((n) + 4), NODES4((n) + 8), NODES4((n) + 12)
#define NODES64(n) NODES16(n), NODES16((n) + 16), NODES16((n) + 32), NODES16((n) + 48)

const struct mimic_tlb_leaf mimic_tlb_leaves[2 * MIMIC_TLB_MAX] = { NODES64(0), NODES64(64) };

static bool covers(const struct mimic_tlb *tlb, int entry, uint64_t page)
{
	unsigned int shift = page_shift_of(tlb, entry) - MIMIC_TLB_PAGE_SHIFT;

	return tlb->valid >> entry & 1 && tlb->page[entry] >> shift == page >> shift;
}

int mimic_tlb_find(struct mimic_tlb *tlb, uint64_t address)
{
	uint64_t page = address >> MIMIC_TLB_PAGE_SHIFT;
	uint64_t candidates = tlb->valid & (bucket_entries(tlb, page) | tlb->large);

	for (; candidates; candidates &= candidates - 1) {
		int entry = __builtin_ctzll(candidates);

		if (!covers(tlb, entry, page))
			continue;
		tlb->tree = mimic_tlb_touched(tlb->tree, tlb->entries, (unsigned int)entry);
		return entry;
	}
	return -1;
}

int mimic_tlb_fill(struct mimic_tlb *tlb, uint64_t address, uint64_t frame_address,
		   unsigned int page_shift)
{
	unsigned int i = mimic_tlb_victim(tlb->tree, tlb->entries);
	uint64_t bit = 1ull << i;

	bucket_remove(tlb, tlb->page[i], i);
	tlb->page[i] = address >> MIMIC_TLB_PAGE_SHIFT;
	tlb->frame[i] = frame_address >> MIMIC_TLB_PAGE_SHIFT;
	bucket_add(tlb, tlb->page[i], i);
	tlb->valid |= bit;
	if (tlb->large) {
		tlb->large &= ~bit;
		tlb->huge &= ~bit;
	}
	if (page_shift > MIMIC_TLB_PAGE_SHIFT)
		tlb->large |= bit;
	if (page_shift == HUGE_SHIFT)
		tlb->huge |= bit;
	tlb->tree = mimic_tlb_touched(tlb->tree, tlb->entries, i);
	return (int)i;
}

uint64_t mimic_tlb_physical(const struct mimic_tlb *tlb, int entry, uint64_t address)
{
	unsigned int shift = page_shift_of(tlb, entry);
	uint64_t inside = address & ((1ull << shift) - 1);
	uint64_t frame = tlb->frame[entry] << MIMIC_TLB_PAGE_SHIFT;

	return (frame >> shift << shift) | inside;
}

/*
 * The tree of 16 as five trees of four: the upper one chooses a group, the
 * group's own chooses in it. The state of four is a | b << 1 | c << 2 with a
 * the root, b its left and c its right child, so each step reads a constant
 * instead of walking the tree.
 */
#define FOUR_VICTIM 0xdc98u	/* 2 bits a state: a ? 2 + c : b */

#define FOUR_CHANGED 0x53535353u	/* 4 bits a state: the nodes that filling the victim flips */

static inline unsigned int four_victim(unsigned int state)
{
	return FOUR_VICTIM >> (2 * state) & 3;
}

static inline unsigned int four_changed(unsigned int state)
{
	return FOUR_CHANGED >> (4 * state) & 7;
}

static inline unsigned int four_touch(unsigned int state, unsigned int leaf)
{
	/* 4 bits a leaf: the nodes that are written, and their values */
	unsigned int written = 0x5533u >> (4 * leaf) & 7;
	unsigned int value = 0x0413u >> (4 * leaf) & 7;

	return (state & ~written) | value;
}

struct tree16 {
	unsigned int upper;	/* nodes 1, 2, 3 */
	unsigned int lower;	/* 3 bits a group: nodes 4 + g, 8 + 2g, 9 + 2g */
};

static struct tree16 tree16_split(uint64_t tree)
{
	struct tree16 split = { .upper = tree >> 1 & 7 };

	for (unsigned int group = 0; group < 4; group++) {
		unsigned int state = (tree >> (4 + group) & 1) | (tree >> (8 + 2 * group) & 3) << 1;

		split.lower |= state << (3 * group);
	}
	return split;
}

static uint64_t tree16_join(struct tree16 split)
{
	uint64_t tree = (uint64_t)split.upper << 1;

	for (unsigned int group = 0; group < 4; group++) {
		uint64_t state = split.lower >> (3 * group) & 7;

		tree |= (state & 1) << (4 + group) | state >> 1 << (8 + 2 * group);
	}
	return tree;
}

static inline void tree16_touch(struct tree16 *tree, unsigned int entry)
{
	unsigned int group = entry >> 2, shift = 3 * group;
	unsigned int state = tree->lower >> shift & 7;

	tree->upper = four_touch(tree->upper, group);
	tree->lower ^= (state ^ four_touch(state, entry & 3)) << shift;
}

/* The victim, which is then the latest used. */
static inline unsigned int tree16_replace(struct tree16 *tree)
{
	unsigned int group = four_victim(tree->upper), shift = 3 * group;
	unsigned int state = tree->lower >> shift & 7;

	tree->upper ^= four_changed(tree->upper);
	tree->lower ^= four_changed(state) << shift;
	return 4 * group + four_victim(state);
}

static inline void fill16(struct mimic_tlb *tlb, unsigned int entry, uint64_t page,
			  struct mimic_tlb_undo *undo)
{
	uint64_t old = tlb->page[entry];
	uint16_t bit = (uint16_t)(1u << entry);

	undo->replaced[undo->fills].page = old;
	undo->replaced[undo->fills].frame = tlb->frame[entry];
	undo->replaced[undo->fills].entry = entry;
	undo->fills++;
	tlb->bucket[mimic_tlb_bucket(old)] &= (uint16_t)~bit;
	tlb->bucket[mimic_tlb_bucket(page)] |= bit;
	tlb->page[entry] = page;
	tlb->frame[entry] = page;
}

bool mimic_tlb_translate_identity(struct mimic_tlb *tlb, uint64_t *addresses, size_t count,
				  struct mimic_tlb_undo *undo)
{
	struct tree16 tree = tree16_split(tlb->tree);
	unsigned int valid = (unsigned int)tlb->valid;

	if (tlb->entries != 16 || tlb->large || count > MIMIC_TLB_BLOCK)
		return false;
	undo->tree = tlb->tree;
	undo->valid = tlb->valid;
	undo->missed = 0;
	undo->fills = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t page = addresses[i] >> MIMIC_TLB_PAGE_SHIFT;
		unsigned int found = tlb->bucket[mimic_tlb_bucket(page)] & valid, entry;

		while (found && tlb->page[__builtin_ctz(found)] != page)
			found &= found - 1;
		if (found) {
			entry = (unsigned int)__builtin_ctz(found);
			addresses[i] += (tlb->frame[entry] - page) << MIMIC_TLB_PAGE_SHIFT;
			tree16_touch(&tree, entry);
			continue;
		}
		entry = tree16_replace(&tree);
		fill16(tlb, entry, page, undo);
		undo->missed |= 1ull << i;
		valid |= 1u << entry;
	}
	tlb->valid = valid;
	tlb->tree = tree16_join(tree);
	return true;
}

void mimic_tlb_take_back(struct mimic_tlb *tlb, const struct mimic_tlb_undo *undo)
{
	for (size_t i = undo->fills; i-- > 0;) {
		unsigned int entry = (unsigned int)undo->replaced[i].entry;
		uint16_t bit = (uint16_t)(1u << entry);

		tlb->bucket[mimic_tlb_bucket(tlb->page[entry])] &= (uint16_t)~bit;
		tlb->page[entry] = undo->replaced[i].page;
		tlb->frame[entry] = undo->replaced[i].frame;
		tlb->bucket[mimic_tlb_bucket(tlb->page[entry])] |= bit;
	}
	tlb->valid = undo->valid;
	tlb->tree = undo->tree;
}
