/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Counters of a context. They begin at 0; rows, bytes and MACs are of complete instructions. */
#include "tests/contract/dare/contract.h"

static uint8_t memory[8192];

CASE(counters_begin_at_0, EITHER)
{
	for (unsigned int offset = COUNT_INSTRUCTIONS; offset < AFTER_COUNTERS; offset += 8)
		/* A kernel changes page tables when it likes. */
		if (offset != SHOOTDOWNS)
			EXPECT(get(offset), 0);
}

CASE(each_instruction_is_counted_with_its_kind, EITHER)
{
	uint64_t addresses[ROWS];

	for (unsigned int row = 0; row < ROWS; row++)
		addresses[row] = (uintptr_t)memory + 64 * row;
	set_addresses(0, addresses);		/* 1 mld */
	EXPECT(get(COUNT_MCFG), 0);
	EXPECT(get(COUNT_MLD), 1);
	for (unsigned int i = 0; i < 2; i++)
		mcfg(CSR_N, 5);
	for (unsigned int i = 0; i < 3; i++)
		mld((enum element)i, 1, memory, 64);
	for (unsigned int i = 0; i < 5; i++)
		mst((enum element)(i % 3), 1, memory, 64);
	for (unsigned int i = 0; i < 7; i++)
		mma((enum element)(i % 3), 2, 3, 4);
	for (unsigned int i = 0; i < 11; i++)
		mgather((enum element)(i % 3), 1, 0);
	for (unsigned int i = 0; i < 13; i++)
		mscatter((enum element)(i % 3), 1, 0);
	COMPLETE();
	EXPECT(get(COUNT_MCFG), 2);
	EXPECT(get(COUNT_MLD), 4);
	EXPECT(get(COUNT_MST), 5);
	EXPECT(get(COUNT_MMA), 7);
	EXPECT(get(COUNT_MGATHER), 11);
	EXPECT(get(COUNT_MSCATTER), 13);
	EXPECT(get(COUNT_INSTRUCTIONS), 2 + 4 + 5 + 7 + 11 + 13);
	EXPECT(get(ERRORS), 0);
	EXPECT(get(DROPPED), 0);
}

CASE(rows_and_bytes_are_counted_by_the_shape, EITHER)
{
	uint64_t addresses[ROWS];

	shape(3, 20, 1);
	mld(WORD, 0, memory, 64);
	COMPLETE();
	EXPECT(get(ROWS_LOADED), 3);
	EXPECT(get(BYTES_LOADED), 60);
	shape(16, 1, 1);
	mst(BYTE, 0, memory, 1);
	COMPLETE();
	EXPECT(get(ROWS_STORED), 16);
	EXPECT(get(BYTES_STORED), 16);
	for (unsigned int row = 0; row < ROWS; row++)
		addresses[row] = (uintptr_t)memory + 4096 - 20;
	set_addresses(0, addresses);		/* 16 rows of 64 bytes */
	shape(5, 36, 1);
	mgather(WORD, 1, 0);
	mscatter(WORD, 1, 0);
	COMPLETE();
	EXPECT(get(ROWS_LOADED), 3 + 16 + 5);
	EXPECT(get(BYTES_LOADED), 60 + 1024 + 180);
	EXPECT(get(ROWS_STORED), 16 + 5);
	EXPECT(get(BYTES_STORED), 16 + 180);
}

CASE(macs_are_counted_by_the_shape_and_the_element, EITHER)
{
	shape(3, 20, 5);
	mma(WORD, 0, 1, 2);
	COMPLETE();
	EXPECT(get(MACS_USED), 3 * 5 * 5);
	EXPECT(get(MACS_OFFERED), 16 * 16 * 16);
	mma(HALF, 0, 1, 2);
	COMPLETE();
	EXPECT(get(MACS_USED), 3 * 5 * 5 + 3 * 5 * 10);
	EXPECT(get(MACS_OFFERED), 16 * 16 * (16 + 32));
	mma(BYTE, 0, 1, 2);
	COMPLETE();
	EXPECT(get(MACS_USED), 3 * 5 * 5 + 3 * 5 * 10 + 3 * 5 * 20);
	EXPECT(get(MACS_OFFERED), 16 * 16 * (16 + 32 + 64));
	shape(16, 64, 16);
	mma(WORD, 0, 1, 2);
	COMPLETE();
	EXPECT(get(MACS_USED), 3 * 5 * 35 + 4096);
	EXPECT(get(MACS_OFFERED), 16 * 16 * (16 + 32 + 64 + 16));
}

CASE(instructions_that_fail_or_are_dropped_count_as_that_alone, EITHER)
{
	uint8_t *last = island() + 2 * DARE_PAGE;

	mld(WORD, 0, last - 128, 64);		/* fails at its third row */
	mld(WORD, 0, memory, 64);
	mst(WORD, 0, memory, 64);
	mma(WORD, 0, 0, 0);
	fence();
	EXPECT(get(ERRORS), 1);
	EXPECT(get(DROPPED), 3);
	EXPECT(get(FAULTS), 1);
	put(ERROR, 0);
	mst(WORD, 0, last - 128, 64);
	fence();
	put(ERROR, 0);
	mcfg(CSR_K, 3);
	mma(WORD, 0, 0, 0);
	fence();
	put(ERROR, 0);
	mld(WORD, 0, memory + 1, 64);
	fence();
	put(ERROR, 0);
	issue(0, 0, 0);
	fence();
	EXPECT(get(ERRORS), 5);
	EXPECT(get(FAULTS), 2);
	EXPECT(get(DROPPED), 3);
	EXPECT(get(COUNT_INSTRUCTIONS), 1);
	EXPECT(get(COUNT_MCFG), 1);
	EXPECT(get(COUNT_MLD) + get(COUNT_MST) + get(COUNT_MMA), 0);
	EXPECT(get(ROWS_LOADED) + get(BYTES_LOADED), 0);
	EXPECT(get(ROWS_STORED) + get(BYTES_STORED), 0);
	EXPECT(get(MACS_USED) + get(MACS_OFFERED), 0);
}

/* Each row asks the TLB once, or twice if it lies in two pages. */
CASE(each_row_is_translated_once_for_each_of_its_pages, EITHER)
{
	static uint8_t pages[8 * 4096] __attribute__((aligned(4096)));

	/* All pages are there. */
	fill(pages, sizeof(pages), 1);
	mcfg(CSR_M, 5);
	mst(WORD, 0, pages, 64);
	mld(WORD, 0, pages + 4096, 64);
	COMPLETE();
	EXPECT(get(TLB_HITS) + get(TLB_MISSES), 10);
	EXPECT_TRUE(get(TLB_MISSES) >= 2);
	mld(WORD, 0, pages + 4096 - 32, 4096);
	COMPLETE();
	EXPECT(get(TLB_HITS) + get(TLB_MISSES), 20);
	/* To the very end of a page is not over it. */
	mld(WORD, 0, pages + 4096 - 64, 4096);
	COMPLETE();
	EXPECT(get(TLB_HITS) + get(TLB_MISSES), 25);
	EXPECT(get(FAULTS), 0);
}

CASE(counters_can_be_loaded_by_halves, EITHER)
{
	shape(16, 64, 16);
	mma(WORD, 0, 1, 2);
	COMPLETE();
	EXPECT(load(A, 0, MACS_USED, 4), 4096);
	EXPECT(load(A, 0, COUNT_MCFG, 4), 3);
}
