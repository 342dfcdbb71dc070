/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The TLB against a second one, written from the definition of tree
 * pseudo-LRU: a binary tree over the entries, each node points at the half that
 * was used longer ago, an access turns the nodes above it away from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "devices/soc/tlb.h"

struct plain_entry {
	bool valid;
	unsigned int shift;
	uint64_t virtual_base;
	uint64_t physical_base;
};

struct plain_tlb {
	unsigned int count;
	struct plain_entry entry[MIMIC_TLB_MAX];
	/* older_is_right[first][length]: of the node over entries [first, first + length) */
	bool older_is_right[MIMIC_TLB_MAX][MIMIC_TLB_MAX + 1];
};

static void plain_use(struct plain_tlb *tlb, unsigned int used)
{
	unsigned int first = 0, length = tlb->count;

	while (length > 1) {
		bool in_right = used >= first + length / 2;

		tlb->older_is_right[first][length] = !in_right;
		length /= 2;
		if (in_right)
			first += length;
	}
}

static unsigned int plain_victim(const struct plain_tlb *tlb)
{
	unsigned int first = 0, length = tlb->count;

	while (length > 1) {
		bool right = tlb->older_is_right[first][length];

		length /= 2;
		if (right)
			first += length;
	}
	return first;
}

static int plain_find(struct plain_tlb *tlb, uint64_t address)
{
	for (unsigned int i = 0; i < tlb->count; i++) {
		struct plain_entry *entry = &tlb->entry[i];

		if (!entry->valid || address >> entry->shift != entry->virtual_base >> entry->shift)
			continue;
		plain_use(tlb, i);
		return (int)i;
	}
	return -1;
}

static int plain_fill(struct plain_tlb *tlb, uint64_t address, uint64_t frame, unsigned int shift)
{
	unsigned int victim = plain_victim(tlb);

	tlb->entry[victim] = (struct plain_entry){
		true, shift, address >> shift << shift, frame >> shift << shift
	};
	plain_use(tlb, victim);
	return (int)victim;
}

static uint64_t plain_physical(const struct plain_tlb *tlb, int i, uint64_t address)
{
	return tlb->entry[i].physical_base + (address - tlb->entry[i].virtual_base);
}

static void plain_invalidate(struct plain_tlb *tlb, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < tlb->count; i++) {
		struct plain_entry *entry = &tlb->entry[i];
		uint64_t past = entry->virtual_base + (1ull << entry->shift);

		if (entry->virtual_base < end && past > start)
			entry->valid = false;
	}
}

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A few pages more than entries, so that hits, misses and victims are all common. */
static uint64_t random_address(unsigned int entries)
{
	return (0x20000 + next_random() % (entries + entries / 2)) << 12 | next_random() % 4096;
}

static void touch_both(struct mimic_tlb *tlb, struct plain_tlb *plain, uint64_t address)
{
	uint64_t frame = (address >> 12 ^ 0x5a5) << 12;
	int found = mimic_tlb_find(tlb, address);
	int expected = plain_find(plain, address);

	assert_int_equal(found, expected);
	if (expected < 0) {
		found = mimic_tlb_fill(tlb, address, frame, 12);
		expected = plain_fill(plain, address, frame, 12);
		assert_int_equal(found, expected);
	}
	assert_int_equal(mimic_tlb_physical(tlb, found, address),
			 plain_physical(plain, expected, address));
}

static void disturb_both(struct mimic_tlb *tlb, struct plain_tlb *plain)
{
	uint64_t start = random_address(tlb->entries);
	uint64_t end = start + (next_random() % 3 << 12) + 1;
	int entry;

	switch (next_random() % 8) {
	case 0:
		mimic_tlb_flush(tlb);
		for (unsigned int i = 0; i < plain->count; i++)
			plain->entry[i].valid = false;
		break;
	case 1:
		entry = (int)(next_random() % plain->count);
		mimic_tlb_drop(tlb, entry);
		plain->entry[entry].valid = false;
		break;
	default:
		mimic_tlb_invalidate(tlb, start, end);
		plain_invalidate(plain, start, end);
	}
}

static void check_random(unsigned int entries)
{
	struct plain_tlb plain = { .count = entries };
	struct mimic_tlb tlb;

	random_state = 0x9e3779b97f4a7c15 + entries;
	mimic_tlb_init(&tlb, entries);
	for (unsigned int i = 0; i < 50000; i++) {
		if (next_random() % 50 == 0)
			disturb_both(&tlb, &plain);
		touch_both(&tlb, &plain, random_address(entries));
	}
}

static void sixteen_entries_replace_as_tree_pseudo_lru_says(void **state)
{
	(void)state;
	check_random(16);
}

static void every_legal_size_replaces_as_tree_pseudo_lru_says(void **state)
{
	(void)state;
	for (unsigned int entries = 2; entries <= MIMIC_TLB_MAX; entries *= 2)
		check_random(entries);
}

/* By hand: entries 0 to 3 in order; using 0 turns the root to the right half, whose older one is 2. */
static void the_victim_of_four_entries_is_the_one_worked_out_by_hand(void **state)
{
	struct mimic_tlb tlb;

	(void)state;
	mimic_tlb_init(&tlb, 4);
	assert_int_equal(mimic_tlb_fill(&tlb, 0x1000, 0x1000, 12), 0);
	assert_int_equal(mimic_tlb_fill(&tlb, 0x2000, 0x2000, 12), 2);
	assert_int_equal(mimic_tlb_fill(&tlb, 0x3000, 0x3000, 12), 1);
	assert_int_equal(mimic_tlb_fill(&tlb, 0x4000, 0x4000, 12), 3);
	assert_int_equal(mimic_tlb_find(&tlb, 0x1000), 0);
	assert_int_equal(mimic_tlb_fill(&tlb, 0x5000, 0x5000, 12), 2);
}

static void the_first_sixteen_pages_all_stay(void **state)
{
	struct mimic_tlb tlb;

	(void)state;
	mimic_tlb_init(&tlb, 16);
	for (uint64_t page = 1; page <= 16; page++)
		mimic_tlb_fill(&tlb, page << 12, page << 12, 12);
	for (uint64_t page = 1; page <= 16; page++)
		assert_true(mimic_tlb_find(&tlb, page << 12) >= 0);
}

static void a_large_page_translates_all_its_addresses(void **state)
{
	static const unsigned int shifts[] = { 12, 21, 30 };
	struct mimic_tlb tlb;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t size = 1ull << shifts[i], address = 5 * size, frame = 3 * size;
		int entry;

		mimic_tlb_init(&tlb, 16);
		mimic_tlb_fill(&tlb, address, frame, shifts[i]);
		entry = mimic_tlb_find(&tlb, address + size - 1);
		assert_true(entry >= 0);
		assert_int_equal(mimic_tlb_physical(&tlb, entry, address + size - 1), frame + size - 1);
		assert_true(mimic_tlb_find(&tlb, address) >= 0);
		assert_int_equal(mimic_tlb_find(&tlb, address - 1), -1);
		assert_int_equal(mimic_tlb_find(&tlb, address + size), -1);
	}
}

static void invalidating_one_byte_drops_the_large_page_around_it(void **state)
{
	struct mimic_tlb tlb;

	(void)state;
	mimic_tlb_init(&tlb, 16);
	mimic_tlb_fill(&tlb, 0x40000000, 0x40000000, 21);
	mimic_tlb_fill(&tlb, 0x50000000, 0x50000000, 12);
	mimic_tlb_invalidate(&tlb, 0x40100000, 0x40100001);
	assert_int_equal(mimic_tlb_find(&tlb, 0x40000000), -1);
	assert_true(mimic_tlb_find(&tlb, 0x50000000) >= 0);
}

static void invalidating_beside_a_page_keeps_it(void **state)
{
	struct mimic_tlb tlb;

	(void)state;
	mimic_tlb_init(&tlb, 16);
	mimic_tlb_fill(&tlb, 0x5000, 0x5000, 12);
	mimic_tlb_invalidate(&tlb, 0x4000, 0x5000);
	mimic_tlb_invalidate(&tlb, 0x6000, 0x7000);
	assert_true(mimic_tlb_find(&tlb, 0x5fff) >= 0);
	mimic_tlb_invalidate(&tlb, 0, UINT64_MAX);
	assert_int_equal(mimic_tlb_find(&tlb, 0x5000), -1);
}

/* Find, and fill on a miss, one after the other. Bit i: addresses[i] was there. */
static uint64_t translate_one_by_one(struct mimic_tlb *tlb, const uint64_t *addresses, size_t count)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < count; i++) {
		if (mimic_tlb_find(tlb, addresses[i]) >= 0)
			hits |= 1ull << i;
		else
			mimic_tlb_fill(tlb, addresses[i], addresses[i], 12);
	}
	return hits;
}

static void expect_same_entries(const struct mimic_tlb *a, const struct mimic_tlb *b)
{
	assert_int_equal(a->valid, b->valid);
	assert_int_equal(a->tree, b->tree);
	for (unsigned int i = 0; i < a->entries; i++) {
		if (!(a->valid >> i & 1))
			continue;
		assert_int_equal(a->page[i], b->page[i]);
		assert_int_equal(a->frame[i], b->frame[i]);
	}
}

static void a_block_is_translated_as_its_addresses_one_by_one(void **state)
{
	/* Hits, hits and misses in turn, and misses only. */
	static const unsigned int pages[] = { 16, 200, 5000 };
	struct mimic_tlb block, single;
	struct mimic_tlb_undo undo;

	(void)state;
	random_state = 4711;
	mimic_tlb_init(&block, 16);
	mimic_tlb_init(&single, 16);
	for (unsigned int round = 0; round < 2000; round++) {
		uint64_t addresses[MIMIC_TLB_BLOCK], copy[MIMIC_TLB_BLOCK];
		size_t count = 1 + next_random() % MIMIC_TLB_BLOCK;

		for (size_t i = 0; i < count; i++)
			addresses[i] = random_address(pages[round % 3]);
		memcpy(copy, addresses, sizeof(copy));
		if (!mimic_tlb_translate_identity(&block, addresses, count, &undo))
			fail_msg("16 entries and small pages are the plain case");
		assert_true(undo.hits == translate_one_by_one(&single, copy, count));
		assert_int_equal(undo.fills, count - (size_t)__builtin_popcountll(undo.hits));
		assert_memory_equal(addresses, copy, count * sizeof(*copy));
		expect_same_entries(&block, &single);
	}
}

static void a_block_that_is_taken_back_leaves_no_trace(void **state)
{
	struct mimic_tlb tlb, before;
	struct mimic_tlb_undo undo;

	(void)state;
	random_state = 815;
	mimic_tlb_init(&tlb, 16);
	for (unsigned int round = 0; round < 2000; round++) {
		uint64_t addresses[MIMIC_TLB_BLOCK];
		size_t count = 1 + next_random() % MIMIC_TLB_BLOCK;

		for (size_t i = 0; i < count; i++)
			addresses[i] = random_address(40);
		before = tlb;
		assert_true(mimic_tlb_translate_identity(&tlb, addresses, count, &undo));
		mimic_tlb_take_back(&tlb, &undo);
		expect_same_entries(&tlb, &before);
		for (unsigned int i = 0; i < 60; i++) {
			uint64_t page = (0x20000 + i) << 12;
			struct mimic_tlb one = tlb, other = before;

			assert_int_equal(mimic_tlb_find(&one, page), mimic_tlb_find(&other, page));
		}
		translate_one_by_one(&tlb, addresses, count / 2);
	}
}

static void an_installed_translation_is_not_the_plain_case_of_a_block(void **state)
{
	uint64_t addresses[2] = { 0x7000, 0x8000 };
	struct mimic_tlb tlb, before;
	struct mimic_tlb_undo undo;
	bool done;

	(void)state;
	mimic_tlb_init(&tlb, 16);
	mimic_tlb_fill(&tlb, 0x7000, 0x9000, 12);
	before = tlb;
	done = mimic_tlb_translate_identity(&tlb, addresses, 2, &undo);
	/* Either it is refused without a trace, or it translates as the entry says. */
	if (!done)
		expect_same_entries(&tlb, &before);
	assert_int_equal(addresses[0], done ? 0x9000 : 0x7000);
	assert_int_equal(addresses[1], 0x8000);
}

static void large_pages_are_refused_by_a_block(void **state)
{
	uint64_t addresses[1] = { 0x40012345 };
	struct mimic_tlb tlb;
	struct mimic_tlb_undo undo;

	(void)state;
	mimic_tlb_init(&tlb, 16);
	mimic_tlb_fill(&tlb, 0x40000000, 0x80000000, 21);
	assert_false(mimic_tlb_translate_identity(&tlb, addresses, 1, &undo));
	assert_int_equal(addresses[0], 0x40012345);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sixteen_entries_replace_as_tree_pseudo_lru_says),
		cmocka_unit_test(every_legal_size_replaces_as_tree_pseudo_lru_says),
		cmocka_unit_test(the_victim_of_four_entries_is_the_one_worked_out_by_hand),
		cmocka_unit_test(the_first_sixteen_pages_all_stay),
		cmocka_unit_test(a_large_page_translates_all_its_addresses),
		cmocka_unit_test(invalidating_one_byte_drops_the_large_page_around_it),
		cmocka_unit_test(invalidating_beside_a_page_keeps_it),
		cmocka_unit_test(a_block_is_translated_as_its_addresses_one_by_one),
		cmocka_unit_test(a_block_that_is_taken_back_leaves_no_trace),
		cmocka_unit_test(an_installed_translation_is_not_the_plain_case_of_a_block),
		cmocka_unit_test(large_pages_are_refused_by_a_block),
	};

	return cmocka_run_group_tests_name("tlb", tests, NULL, NULL);
}
