/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cores' TLB against a plain one: a list of pages and a tree of nodes, each of which is a flag. A node that is false
 * points to its left half.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/tlb.h"

#define PAGE 4096ull
#define HALF (1ull << 32)	/* pages that are so many pages apart have the same lower half of their number */

struct plain_tlb {
	unsigned int entries;
	uint64_t page[MIMIC_TLB_MAX];
	bool is_filled[MIMIC_TLB_MAX];
	bool points_right[MIMIC_TLB_MAX];	/* of a node: its children are 2n + 1 and 2n + 2 */
};

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Goes down the tree to the entry; each node on the way points to the half that it is not in. */
static void plain_use(struct plain_tlb *plain, unsigned int entry)
{
	unsigned int node = 0, first = 0;

	for (unsigned int half = plain->entries / 2; half; half /= 2) {
		bool is_right = entry >= first + half;

		plain->points_right[node] = !is_right;
		node = 2 * node + (is_right ? 2 : 1);
		first += is_right ? half : 0;
	}
}

static bool plain_hits(struct plain_tlb *plain, uint64_t page)
{
	for (unsigned int i = 0; i < plain->entries; i++) {
		if (!plain->is_filled[i] || plain->page[i] != page)
			continue;
		plain_use(plain, i);
		return true;
	}
	return false;
}

static void plain_fill(struct plain_tlb *plain, uint64_t page)
{
	unsigned int node = 0, first = 0;

	for (unsigned int half = plain->entries / 2; half; half /= 2) {
		bool is_right = plain->points_right[node];

		node = 2 * node + (is_right ? 2 : 1);
		first += is_right ? half : 0;
	}
	plain->page[first] = page;
	plain->is_filled[first] = true;
	plain_use(plain, first);
}

/* Some pages more than entries, of which some have the same lower half. */
static uint64_t random_page(unsigned int entries)
{
	return next_random() % (entries + entries / 2 + 1) + next_random() % 2 * HALF;
}

static void compare(bool (*hits)(struct soc_tlb *tlb, uint64_t address))
{
	for (unsigned int entries = 2; entries <= MIMIC_TLB_MAX; entries *= 2) {
		struct plain_tlb plain = { .entries = entries };
		struct soc_tlb tlb;

		soc_tlb_init(&tlb, entries);
		random_state = 88172645463325252ull;
		for (unsigned int i = 0; i < 20000; i++) {
			uint64_t page = random_page(entries);
			bool expected = plain_hits(&plain, page);

			assert_int_equal(hits(&tlb, page * PAGE + next_random() % PAGE), expected);
			if (expected)
				continue;
			soc_tlb_fill(&tlb, page * PAGE);
			plain_fill(&plain, page);
		}
	}
}

static void hits_as_a_plain_one(void **state)
{
	(void)state;
	compare(soc_tlb_hits);
}

static bool guess_first(struct soc_tlb *tlb, uint64_t address)
{
	return soc_tlb_hits_by_guess(tlb, address) || soc_tlb_hits(tlb, address);
}

static void hits_as_a_plain_one_where_it_guesses(void **state)
{
	(void)state;
	compare(guess_first);
}

static void a_new_one_has_no_page(void **state)
{
	struct soc_tlb tlb;

	(void)state;
	soc_tlb_init(&tlb, 16);
	assert_false(soc_tlb_hits(&tlb, 0));
	/* The lower half of this page's number is that of an empty entry. */
	assert_false(soc_tlb_hits(&tlb, UINT32_MAX * PAGE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_as_a_plain_one),
		cmocka_unit_test(hits_as_a_plain_one_where_it_guesses),
		cmocka_unit_test(a_new_one_has_no_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
