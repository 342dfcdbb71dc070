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

		if (tlb->large ? !covers(tlb, entry, page) : tlb->page[entry] != page)
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
 * the root, b its left and c its right child. A block waits for one element's
 * state before it knows the next one's, so a step is few instructions from
 * state to state; the rest, which the states do not wait for, may take longer.
 */
static const uint8_t four_victim[8] = { 0, 2, 1, 2, 0, 3, 1, 3 };	/* a ? 2 + c : b */

struct tree16 {
	unsigned int upper;	/* nodes 1, 2, 3 */
	unsigned int lower;	/* 3 bits a group: nodes 4 + g, 8 + 2g, 9 + 2g */
};

static struct tree16 tree16_split(uint64_t tree)
{
	struct tree16 split = { .upper = tree >> 1 & 7 };

#pragma GCC unroll 4
	for (unsigned int group = 0; group < 4; group++) {
		unsigned int state = (tree >> (4 + group) & 1) | (tree >> (8 + 2 * group) & 3) << 1;

		split.lower |= state << (3 * group);
	}
	return split;
}

static uint64_t tree16_join(struct tree16 split)
{
	uint64_t tree = (uint64_t)split.upper << 1;

#pragma GCC unroll 4
	for (unsigned int group = 0; group < 4; group++) {
		uint64_t state = split.lower >> (3 * group) & 7;

		tree |= (state & 1) << (4 + group) | state >> 1 << (8 + 2 * group);
	}
	return tree;
}

/* 4 bits a leaf of four: the nodes that an access writes, and their values. */
#define FOUR_WRITTEN(leaf) (0x5533u >> (4 * (leaf)) & 7)
#define FOUR_VALUE(leaf) (0x0413u >> (4 * (leaf)) & 7)
#define ACCESS(group, leaf) { \
	~FOUR_WRITTEN(group), FOUR_VALUE(group), \
	~(FOUR_WRITTEN(leaf) << (3 * (group))), FOUR_VALUE(leaf) << (3 * (group)) }
#define ACCESSES(group) ACCESS(group, 0), ACCESS(group, 1), ACCESS(group, 2), ACCESS(group, 3)

/* An access's effect on both, by the entry. */
static const struct {
	unsigned int upper_kept, upper_set, lower_kept, lower_set;
} accesses[16] = { ACCESSES(0), ACCESSES(1), ACCESSES(2), ACCESSES(3) };

static inline void tree16_touch(struct tree16 *tree, unsigned int entry)
{
	tree->upper = (tree->upper & accesses[entry].upper_kept) | accesses[entry].upper_set;
	tree->lower = (tree->lower & accesses[entry].lower_kept) | accesses[entry].lower_set;
}

/* By a group: what filling its tree's victim flips, a and then b or c; `flips` is for an a of 0. */
#define GROUP(group) { 3 * (group), 1u << (3 * (group)), 3u << (3 * (group)) }

static const struct {
	unsigned int shift, a, flips;
} groups[4] = { GROUP(0), GROUP(1), GROUP(2), GROUP(3) };

/* The victim, which is then the latest used. */
static inline unsigned int tree16_replace(struct tree16 *tree)
{
	unsigned int group = four_victim[tree->upper];
	unsigned int entry = 4 * group + four_victim[tree->lower >> groups[group].shift & 7];

	tree->upper ^= groups[0].flips + 2 * (tree->upper & groups[0].a);
	tree->lower ^= groups[group].flips + 2 * (tree->lower & groups[group].a);
	return entry;
}

/*
 * Misses in a row: entries of a tree of four take turns as victims in an order that its state says, and so do the
 * groups. After the first few the next 16 are listed, four bits each, the next one lowest; then they come again.
 */
#define FEW_MISSES 8
#define FEW_FIRST_MISSES 2	/* of a block: most have long rows or none */

#define FIRST(state) ((state) & 1 ? 2 + ((state) >> 2) : (state) >> 1 & 1)
#define SECOND(state) ((state) & 1 ? (state) >> 1 & 1 : 2 + ((state) >> 2))
#define IN_TURN(state, bits) ((uint64_t)FIRST(state) | (uint64_t)SECOND(state) << (bits) | \
			      (uint64_t)(FIRST(state) ^ 1) << 2 * (bits) | (uint64_t)(SECOND(state) ^ 1) << 3 * (bits))
#define TURNS(state) { IN_TURN(state, 4), IN_TURN(state, 16) }
/* The nodes that n fills flip: a each time, b and c in turn. */
#define FLIPS(n, lefts, rights) (((n) & 1) | ((lefts) & 1) << 1 | ((rights) & 1) << 2)
#define AFTER(state, n) ((state) ^ ((state) & 1 ? FLIPS(n, (n) / 2, ((n) + 1) / 2) : FLIPS(n, ((n) + 1) / 2, (n) / 2)))
#define AFTERS(state) { AFTER(state, 0), AFTER(state, 1), AFTER(state, 2), AFTER(state, 3) }
#define STATES(OF) { OF(0), OF(1), OF(2), OF(3), OF(4), OF(5), OF(6), OF(7) }

/* The order, with 4 bits for each of the groups, and with 16 for each entry of a group. */
static const struct {
	uint64_t groups, entries;
} turns[8] = STATES(TURNS);
static const uint8_t four_after[8][4] = STATES(AFTERS);

static uint64_t list_victims(struct tree16 tree)
{
	uint64_t order = turns[tree.upper].groups, list = 0;

	for (unsigned int i = 0; i < 16; i += 4) {
		unsigned int group = order >> i & 3;

		list |= (turns[tree.lower >> 3 * group & 7].entries | group * 0x4000400040004ull) << i;
	}
	return list;
}

/* The tree that n such misses leave. */
static struct tree16 after_misses(struct tree16 tree, unsigned int n)
{
	struct tree16 after = { .upper = four_after[tree.upper][n % 4] };
	uint64_t order = turns[tree.upper].groups;

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int shift = 3 * (order >> 4 * i & 3);

		after.lower |= (unsigned int)four_after[tree.lower >> shift & 7][(n + 3 - i) / 4 % 4] << shift;
	}
	return after;
}

/* The one that has the page; 16: none. */
static inline unsigned int find16(const struct mimic_tlb *tlb, unsigned int valid, uint64_t page)
{
	unsigned int found = tlb->bucket[mimic_tlb_bucket(page)] & valid;

	for (; found; found &= found - 1) {
		if (tlb->page[__builtin_ctz(found)] == page)
			return (unsigned int)__builtin_ctz(found);
	}
	return 16;
}

static inline void fill16(struct mimic_tlb *tlb, unsigned int entry, uint64_t page)
{
	uint16_t bit = (uint16_t)(1u << entry);

	tlb->bucket[mimic_tlb_bucket(tlb->page[entry])] &= (uint16_t)~bit;
	tlb->bucket[mimic_tlb_bucket(page)] |= bit;
	tlb->page[entry] = page;
	tlb->frame[entry] = page;
}

/* From the first one on as long as they miss: how many. */
static __attribute__((noinline)) size_t fill_misses(struct mimic_tlb *tlb, const uint64_t *addresses, size_t count,
						    struct tree16 *tree, unsigned int *valid)
{
	uint64_t victims = list_victims(*tree);
	unsigned int filled = *valid;
	size_t n;

	for (n = 0; n < count; n++) {
		uint64_t page = addresses[n] >> MIMIC_TLB_PAGE_SHIFT;
		unsigned int entry = victims & 15;

		if (find16(tlb, filled, page) < 16)
			break;
		victims = victims >> 4 | victims << 60;
		filled |= 1u << entry;
		fill16(tlb, entry, page);
	}
	*valid = filled;
	*tree = after_misses(*tree, (unsigned int)n);
	return n;
}

bool mimic_tlb_translate_identity(struct mimic_tlb *tlb, uint64_t *addresses, size_t count,
				  struct mimic_tlb_undo *undo)
{
	struct tree16 tree = tree16_split(tlb->tree);
	unsigned int valid = (unsigned int)tlb->valid, misses = FEW_MISSES - FEW_FIRST_MISSES;	/* in a row */
	uint64_t hits = 0;
	size_t i = 0, fills = 0, run;

	if (tlb->entries != 16 || tlb->large || count > MIMIC_TLB_BLOCK)
		return false;
	undo->tree = tlb->tree;
	undo->valid = tlb->valid;
	memcpy(undo->page, tlb->page, sizeof(undo->page));
	memcpy(undo->frame, tlb->frame, sizeof(undo->frame));
	while (i < count) {
		uint64_t page = addresses[i] >> MIMIC_TLB_PAGE_SHIFT;
		unsigned int entry = find16(tlb, valid, page);

		if (entry < 16) {
			addresses[i] += (tlb->frame[entry] - page) << MIMIC_TLB_PAGE_SHIFT;
			tree16_touch(&tree, entry);
			hits |= 1ull << i++;
			misses = 0;
			continue;
		}
		entry = tree16_replace(&tree);
		valid |= 1u << entry;
		fill16(tlb, entry, page);
		fills++;
		i++;
		if (++misses < FEW_MISSES)
			continue;
		run = fill_misses(tlb, addresses + i, count - i, &tree, &valid);
		fills += run;
		i += run;
		misses = 0;
	}
	undo->hits = hits;
	undo->fills = fills;
	tlb->valid = valid;
	tlb->tree = tree16_join(tree);
	return true;
}

void mimic_tlb_take_back(struct mimic_tlb *tlb, const struct mimic_tlb_undo *undo)
{
	for (unsigned int entry = 0; entry < 16; entry++)
		bucket_remove(tlb, tlb->page[entry], entry);
	for (unsigned int entry = 0; entry < 16; entry++) {
		tlb->page[entry] = undo->page[entry];
		tlb->frame[entry] = undo->frame[entry];
		if (undo->valid >> entry & 1)
			bucket_add(tlb, tlb->page[entry], entry);
	}
	tlb->valid = undo->valid;
	tlb->tree = undo->tree;
}
