/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/tlb.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LARGE_SHIFT 21
#define HUGE_SHIFT 30

static unsigned int page_shift_of(const struct mimic_tlb *tlb, int entry)
{
	if (!(tlb->large >> entry & 1))
		return MIMIC_TLB_PAGE_SHIFT;
	return tlb->huge >> entry & 1 ? HUGE_SHIFT : LARGE_SHIFT;
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
}

void mimic_tlb_drop(struct mimic_tlb *tlb, int entry)
{
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

static uint64_t touched(uint64_t tree, unsigned int entries, unsigned int entry)
{
	unsigned int node = entries + entry;

	for (; node > 1; node >>= 1) {
		uint64_t parent = 1ull << (node >> 1);

		/* a left child (even) was used: point right, and the other way round */
		tree = node & 1 ? tree & ~parent : tree | parent;
	}
	return tree;
}

static unsigned int victim(const struct mimic_tlb *tlb)
{
	unsigned int node = 1;

	while (node < tlb->entries)
		node = 2 * node + (tlb->tree >> node & 1);
	return node - tlb->entries;
}

static bool covers(const struct mimic_tlb *tlb, int entry, uint64_t page)
{
	unsigned int shift = page_shift_of(tlb, entry) - MIMIC_TLB_PAGE_SHIFT;

	return tlb->valid >> entry & 1 && tlb->page[entry] >> shift == page >> shift;
}

int mimic_tlb_find(struct mimic_tlb *tlb, uint64_t address)
{
	uint64_t page = address >> MIMIC_TLB_PAGE_SHIFT;

	for (unsigned int i = 0; i < tlb->entries; i++) {
		if (tlb->tag[i] != (uint32_t)page && !(tlb->large >> i & 1))
			continue;
		if (!covers(tlb, (int)i, page))
			continue;
		tlb->tree = touched(tlb->tree, tlb->entries, i);
		return (int)i;
	}
	return -1;
}

int mimic_tlb_fill(struct mimic_tlb *tlb, uint64_t address, uint64_t frame_address,
		   unsigned int page_shift)
{
	unsigned int i = victim(tlb);

	mimic_tlb_drop(tlb, (int)i);
	tlb->page[i] = address >> MIMIC_TLB_PAGE_SHIFT;
	tlb->tag[i] = (uint32_t)tlb->page[i];
	tlb->frame[i] = frame_address >> MIMIC_TLB_PAGE_SHIFT;
	tlb->valid |= 1ull << i;
	if (page_shift > MIMIC_TLB_PAGE_SHIFT)
		tlb->large |= 1ull << i;
	if (page_shift == HUGE_SHIFT)
		tlb->huge |= 1ull << i;
	tlb->tree = touched(tlb->tree, tlb->entries, i);
	return (int)i;
}

uint64_t mimic_tlb_physical(const struct mimic_tlb *tlb, int entry, uint64_t address)
{
	unsigned int shift = page_shift_of(tlb, entry);
	uint64_t inside = address & ((1ull << shift) - 1);
	uint64_t frame = tlb->frame[entry] << MIMIC_TLB_PAGE_SHIFT;

	return (frame >> shift << shift) | inside;
}

static size_t translate_one_by_one(struct mimic_tlb *tlb, uint64_t *addresses, size_t count)
{
	size_t misses = 0;

	for (size_t i = 0; i < count; i++) {
		int entry = mimic_tlb_find(tlb, addresses[i]);

		if (entry < 0) {
			mimic_tlb_fill(tlb, addresses[i], addresses[i], MIMIC_TLB_PAGE_SHIFT);
			misses++;
			continue;
		}
		addresses[i] = mimic_tlb_physical(tlb, entry, addresses[i]);
	}
	return misses;
}

#ifdef __SSE2__
/*
 * The same for 16 small pages, with tags in registers: a random gather misses
 * on nearly every element, and a tag stored to memory would stall the vector
 * load of the next search.
 */
struct tags16 {
	__m128i part[4];
};

static inline unsigned int search16(const struct tags16 *tags, uint32_t tag)
{
	__m128i wanted = _mm_set1_epi32((int)tag);
	__m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(tags->part[0], wanted),
				      _mm_cmpeq_epi32(tags->part[1], wanted));
	__m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(tags->part[2], wanted),
				       _mm_cmpeq_epi32(tags->part[3], wanted));

	return (unsigned int)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

static inline void replace16(struct tags16 *tags, unsigned int entry, uint32_t tag)
{
	__m128i wanted = _mm_set1_epi32((int)tag);
	__m128i number = _mm_set1_epi32((int)entry);

	for (int i = 0; i < 4; i++) {
		__m128i lanes = _mm_add_epi32(_mm_set_epi32(3, 2, 1, 0), _mm_set1_epi32(4 * i));
		__m128i here = _mm_cmpeq_epi32(lanes, number);

		tags->part[i] = _mm_or_si128(_mm_andnot_si128(here, tags->part[i]),
					     _mm_and_si128(here, wanted));
	}
}

/*
 * The tree of 16 as five trees of four: the upper one chooses a group, the
 * group's own chooses in it. The state of four is a | b << 1 | c << 2 with a
 * the root, b its left and c its right child, so both steps are a look into a
 * constant instead of a walk.
 */
#define FOUR_VICTIM 0xdc98u	/* 2 bits a state: a ? 2 + c : b */

static inline unsigned int four_victim(unsigned int state)
{
	return FOUR_VICTIM >> (2 * state) & 3;
}

static inline unsigned int four_touch(unsigned int state, unsigned int leaf)
{
	/* 4 bits a leaf: which nodes are written, and with what */
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

static inline unsigned int tree16_victim(struct tree16 tree)
{
	unsigned int group = four_victim(tree.upper);

	return 4 * group + four_victim(tree.lower >> (3 * group) & 7);
}

static size_t translate16(struct mimic_tlb *tlb, uint64_t *addresses, size_t count)
{
	struct tree16 tree = tree16_split(tlb->tree);
	unsigned int valid = (unsigned int)tlb->valid;
	struct tags16 tags;
	size_t misses = 0;

	for (int i = 0; i < 4; i++)
		tags.part[i] = _mm_load_si128((const __m128i *)tlb->tag + i);
	for (size_t i = 0; i < count; i++) {
		uint64_t page = addresses[i] >> MIMIC_TLB_PAGE_SHIFT;
		unsigned int found = search16(&tags, (uint32_t)page) & valid;
		unsigned int entry;

		/* pages 2^44 bytes apart share a tag */
		while (found && tlb->page[__builtin_ctz(found)] != page)
			found &= found - 1;
		if (found) {
			entry = (unsigned int)__builtin_ctz(found);
			addresses[i] += (tlb->frame[entry] - page) << MIMIC_TLB_PAGE_SHIFT;
		} else {
			entry = tree16_victim(tree);
			replace16(&tags, entry, (uint32_t)page);
			tlb->page[entry] = page;
			tlb->frame[entry] = page;
			valid |= 1u << entry;
			misses++;
		}
		tree16_touch(&tree, entry);
	}
	for (int i = 0; i < 4; i++)
		_mm_store_si128((__m128i *)tlb->tag + i, tags.part[i]);
	tlb->valid = valid;
	tlb->tree = tree16_join(tree);
	return misses;
}
#endif

size_t mimic_tlb_translate_identity(struct mimic_tlb *tlb, uint64_t *addresses, size_t count)
{
#ifdef __SSE2__
	if (tlb->entries == 16 && !tlb->large)
		return translate16(tlb, addresses, count);
#endif
	return translate_one_by_one(tlb, addresses, count);
}
