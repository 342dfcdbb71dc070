/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mgather and mscatter (paper, III-B): "treating the first element of each matrix
 * register row as a base address vector ... as per-row base addresses for memory
 * load and store operations". The first element is the first 8 bytes, little endian.
 */
#include <string.h>

#include "tests/contract/dare/contract.h"

#define SPREAD 16384

static uint8_t source[SPREAD], target[SPREAD], expected[SPREAD];
static uint64_t addresses[ROWS];

static void fresh(uint32_t seed)
{
	fill(source, sizeof(source), seed);
	memset(target, 0xa5, sizeof(target));
	memset(expected, 0xa5, sizeof(expected));
}

/* Rows of `base` in no order, `apart` bytes from each other at least, not equal, multiples of `unit`. */
static void scramble(uint8_t *base, unsigned int apart, unsigned int unit, uint32_t seed)
{
	uint32_t state = seed * 977 + 1;
	unsigned int place[ROWS];

	for (unsigned int row = 0; row < ROWS; row++)
		place[row] = row;
	for (unsigned int row = ROWS - 1; row > 0; row--) {
		unsigned int other = next_random(&state) % (row + 1), swap = place[row];

		place[row] = place[other];
		place[other] = swap;
	}
	for (unsigned int row = 0; row < ROWS; row++) {
		unsigned int offset = place[row] * (apart + 64) + next_random(&state) % 64;

		addresses[row] = (uintptr_t)base + offset / unit * unit;
	}
}

static void expect_gathered(unsigned int md, unsigned int rows, unsigned int width)
{
	struct tile tile = { 0 };

	for (unsigned int row = 0; row < rows; row++)
		memcpy(tile.bytes[row], (const void *)(uintptr_t)addresses[row], width);
	EXPECT_REGISTER(md, &tile);
}

/* Does the mscatter of `tile` in expected[], which stands for target[]. */
static void scatter_expected(const struct tile *tile, unsigned int rows, unsigned int width)
{
	for (unsigned int row = 0; row < rows; row++)
		memcpy(expected + (addresses[row] - (uintptr_t)target), tile->bytes[row], width);
}

CASE(mgather_loads_row_i_from_the_address_in_row_i, EITHER)
{
	fresh(1);
	for (unsigned int seed = 0; seed < 8; seed++) {
		scramble(source, 128, 4, seed);
		set_addresses(1, addresses);
		mgather(WORD, 2, 1);
		expect_gathered(2, 16, 64);
	}
}

CASE(mscatter_stores_row_i_to_the_address_in_row_i_and_nowhere_else, EITHER)
{
	struct tile tile;

	fill(&tile, sizeof(tile), 2);
	set_register(5, &tile);
	for (unsigned int seed = 0; seed < 8; seed++) {
		fresh(0);
		scramble(target, 128, 4, seed);
		set_addresses(4, addresses);
		mscatter(WORD, 5, 4);
		COMPLETE();
		scatter_expected(&tile, 16, 64);
		EXPECT_BYTES(target, expected, sizeof(target));
	}
}

CASE(mgather_fills_m_rows_of_k_bytes_and_zeroes_the_rest, EITHER)
{
	struct tile dirty;

	fresh(3);
	memset(&dirty, 0xff, sizeof(dirty));
	for (unsigned int k = 1; k <= ROW_BYTES; k += k < 10 ? 1 : 9) {
		for (unsigned int m = 1; m <= ROWS; m++) {
			if (is_left_out(m + k))
				continue;
			scramble(source, 128, 1, k * 17 + m);
			set_addresses(0, addresses);
			set_register(7, &dirty);
			mcfg(CSR_M, m);
			mcfg(CSR_K, k);
			mgather(BYTE, 7, 0);
			expect_gathered(7, m, k);
		}
	}
}

CASE(mscatter_writes_m_rows_of_k_bytes_and_touches_nothing_else, EITHER)
{
	struct tile tile;

	fill(&tile, sizeof(tile), 4);
	set_register(3, &tile);
	for (unsigned int k = 1; k <= ROW_BYTES; k += k < 10 ? 1 : 9) {
		for (unsigned int m = 1; m <= ROWS; m++) {
			if (is_left_out(m + k))
				continue;
			fresh(0);
			scramble(target, 128, 1, k * 17 + m);
			set_addresses(2, addresses);
			mcfg(CSR_M, m);
			mcfg(CSR_K, k);
			mscatter(BYTE, 3, 2);
			COMPLETE();
			scatter_expected(&tile, m, k);
			EXPECT_BYTES(target, expected, 4096);
		}
	}
}

/* The address is all 8 bytes of it, even if rows have fewer. */
CASE(the_address_has_8_bytes_whatever_k_is, EITHER)
{
	struct tile tile;

	fresh(5);
	fill(&tile, sizeof(tile), 6);
	set_register(1, &tile);
	scramble(source, 128, 1, 7);
	set_addresses(0, addresses);
	for (unsigned int k = 1; k < 8; k++) {
		mcfg(CSR_K, k);
		mgather(BYTE, 2, 0);
		expect_gathered(2, 16, k);
	}
	scramble(target, 128, 1, 8);
	set_addresses(0, addresses);
	mcfg(CSR_K, 2);
	mscatter(BYTE, 1, 0);
	COMPLETE();
	scatter_expected(&tile, 16, 2);
	EXPECT_BYTES(target, expected, sizeof(target));
}

CASE(addresses_may_be_equal_for_mgather, EITHER)
{
	fresh(9);
	for (unsigned int row = 0; row < ROWS; row++)
		addresses[row] = (uintptr_t)source + 100;
	set_addresses(0, addresses);
	mgather(WORD, 1, 0);
	expect_gathered(1, 16, 64);
	addresses[3] = addresses[11] = (uintptr_t)source + 4096;
	set_addresses(0, addresses);
	mgather(WORD, 1, 0);
	expect_gathered(1, 16, 64);
}

CASE(of_equal_addresses_mscatter_leaves_the_last_row, EITHER)
{
	struct tile tile;

	fresh(0);
	fill(&tile, sizeof(tile), 10);
	set_register(0, &tile);
	for (unsigned int row = 0; row < ROWS; row++)
		addresses[row] = (uintptr_t)target + 128 * (row % 3);
	set_addresses(1, addresses);
	mscatter(WORD, 0, 1);
	COMPLETE();
	memcpy(expected, tile.bytes[15], 64);
	memcpy(expected + 128, tile.bytes[13], 64);
	memcpy(expected + 256, tile.bytes[14], 64);
	EXPECT_BYTES(target, expected, sizeof(target));
}

CASE(overlapping_rows_of_mscatter_are_stored_in_order, EITHER)
{
	struct tile tile;

	fresh(0);
	fill(&tile, sizeof(tile), 11);
	set_register(0, &tile);
	for (unsigned int row = 0; row < ROWS; row++)
		addresses[row] = (uintptr_t)target + 200 + 12 * (row * 7 % 16);
	set_addresses(1, addresses);
	mscatter(WORD, 0, 1);
	COMPLETE();
	scatter_expected(&tile, 16, 64);
	EXPECT_BYTES(target, expected, sizeof(target));
}

CASE(mgather_may_replace_its_own_addresses, EITHER)
{
	fresh(12);
	scramble(source, 128, 4, 13);
	for (unsigned int number = 0; number < REGISTERS; number++) {
		set_addresses(number, addresses);
		mgather(WORD, number, number);
		expect_gathered(number, 16, 64);
	}
}

CASE(mscatter_may_store_its_own_addresses, EITHER)
{
	struct tile tile;

	fresh(0);
	scramble(target, 128, 4, 14);
	set_addresses(6, addresses);
	get_register(6, &tile);
	mscatter(WORD, 6, 6);
	COMPLETE();
	scatter_expected(&tile, 16, 64);
	EXPECT_BYTES(target, expected, sizeof(target));
	EXPECT_REGISTER(6, &tile);
}

CASE(the_addresses_and_what_is_scattered_stay, EITHER)
{
	struct tile vector, tile;

	fresh(15);
	scramble(source, 128, 4, 15);
	set_addresses(0, addresses);
	get_register(0, &vector);
	shape(4, 20, 3);
	mgather(WORD, 1, 0);
	EXPECT_REGISTER(0, &vector);
	scramble(target, 128, 4, 16);
	set_addresses(0, addresses);
	get_register(0, &vector);
	fill(&tile, sizeof(tile), 17);
	set_register(1, &tile);
	mscatter(WORD, 1, 0);
	EXPECT_REGISTER(0, &vector);
	EXPECT_REGISTER(1, &tile);
}

CASE(rows_of_addresses_beyond_m_are_not_used, EITHER)
{
	struct tile tile;

	fresh(18);
	scramble(source, 128, 4, 19);
	for (unsigned int row = 5; row < ROWS; row++)
		addresses[row] = 0xdead00000003;
	set_addresses(0, addresses);
	mcfg(CSR_M, 5);
	mgather(WORD, 1, 0);
	expect_gathered(1, 5, 64);
	fill(&tile, sizeof(tile), 20);
	set_register(1, &tile);
	scramble(target, 128, 4, 21);
	for (unsigned int row = 5; row < ROWS; row++)
		addresses[row] = 0;
	set_addresses(0, addresses);
	mscatter(WORD, 1, 0);
	COMPLETE();
	scatter_expected(&tile, 5, 64);
	EXPECT_BYTES(target, expected, sizeof(target));
}

CASE(gathered_addresses_need_only_the_alignment_of_the_element, EITHER)
{
	struct tile tile;

	fresh(22);
	fill(&tile, sizeof(tile), 23);
	set_register(2, &tile);
	for (unsigned int size = 0; size < ELEMENTS; size++) {
		for (unsigned int row = 0; row < ROWS; row++)
			addresses[row] = (uintptr_t)source + row * 96 + row * ELEMENT_BYTES(size);
		set_addresses(0, addresses);
		mgather((enum element)size, 1, 0);
		expect_gathered(1, 16, 64);
		fresh(24);
		for (unsigned int row = 0; row < ROWS; row++)
			addresses[row] = (uintptr_t)target + row * 96 + row * ELEMENT_BYTES(size);
		set_addresses(0, addresses);
		mscatter((enum element)size, 2, 0);
		COMPLETE();
		scatter_expected(&tile, 16, 64);
		EXPECT_BYTES(target, expected, sizeof(target));
	}
}

CASE(each_pair_of_registers_can_gather_and_scatter, EITHER)
{
	for (unsigned int pair = 0; pair < REGISTERS * REGISTERS; pair++) {
		unsigned int vector = pair / REGISTERS, data = pair % REGISTERS;
		struct tile tile;

		if (is_left_out(vector + 7 * data))
			continue;
		fresh(30 + pair);
		scramble(source, 128, 4, pair);
		set_addresses(vector, addresses);
		mgather(WORD, data, vector);
		expect_gathered(data, 16, 64);
		if (data == vector)
			continue;
		get_register(data, &tile);
		scramble(target, 128, 4, pair);
		set_addresses(vector, addresses);
		mscatter(WORD, data, vector);
		COMPLETE();
		scatter_expected(&tile, 16, 64);
		EXPECT_BYTES(target, expected, 4096);
	}
}

/* The paper's use: mld brings the vector, mgather the rows, mscatter puts them back elsewhere. */
CASE(a_vector_loaded_by_mld_gathers_at_once, EITHER)
{
	static struct tile vectors[2];

	fresh(25);
	scramble(source, 128, 4, 26);
	for (unsigned int row = 0; row < ROWS; row++)
		memcpy(vectors[0].bytes[row], &addresses[row], 8);
	for (unsigned int row = 0; row < ROWS; row++) {
		uint64_t address = (uintptr_t)target + (addresses[row] - (uintptr_t)source);

		memcpy(vectors[1].bytes[row], &address, 8);
		memcpy(expected + (address - (uintptr_t)target), (void *)(uintptr_t)addresses[row], 64);
	}
	mcfg(CSR_K, 8);
	mld(WORD, 0, &vectors[0], 64);
	mld(WORD, 1, &vectors[1], 64);
	mcfg(CSR_K, 64);
	mgather(WORD, 2, 0);
	mscatter(WORD, 2, 1);
	COMPLETE();
	EXPECT_BYTES(target, expected, sizeof(target));
}

CASE(gathered_rows_may_cross_pages, EITHER)
{
	uint8_t *pages = arena();
	struct tile tile;

	fill(pages, ARENA_SIZE, 27);
	/* 15 rows, each at an end of a page of its own. */
	for (unsigned int row = 0; row < 15; row++)
		addresses[row] = arena_at((1 + row * 7 % 15) * DARE_PAGE - 4 * row);
	set_addresses(0, addresses);
	mcfg(CSR_M, 15);
	mgather(WORD, 1, 0);
	expect_gathered(1, 15, 64);
	fill(&tile, sizeof(tile), 28);
	set_register(1, &tile);
	memset(pages, 0, ARENA_SIZE);
	mscatter(WORD, 1, 0);
	COMPLETE();
	for (unsigned int row = 0; row < 15; row++) {
		uint8_t *at = (uint8_t *)(uintptr_t)addresses[row];

		EXPECT_BYTES(at, tile.bytes[row], 64);
		EXPECT(at[-1] | at[64], 0);
	}
}
