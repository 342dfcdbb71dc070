/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mld and mst (paper, III-A): "mld loads a tile from memory into a matrix register,
 * and mst stores a tile from a matrix register to memory. Each tile consists of
 * matrixM rows and matrixK bytes per row."
 */
#include <string.h>

#include "tests/contract/dare/contract.h"

#define WIDE 8192

static uint8_t source[WIDE], target[WIDE], expected[WIDE];

static void fresh(uint32_t seed)
{
	fill(source, sizeof(source), seed);
	memset(target, 0xa5, sizeof(target));
	memset(expected, 0xa5, sizeof(expected));
}

CASE(registers_are_zero_after_power_on, EITHER)
{
	struct tile zero = { 0 };

	for (unsigned int i = 0; i < REGISTERS; i++)
		EXPECT_REGISTER(i, &zero);
}

CASE(a_tile_is_16_rows_of_64_bytes_after_power_on, EITHER)
{
	struct tile tile;

	fresh(1);
	mld(WORD, 3, source, 100);
	tile_of(&tile, source, 100, 16, 64);
	EXPECT_REGISTER(3, &tile);
}

CASE(row_i_is_loaded_from_base_plus_i_strides, EITHER)
{
	static const int64_t strides[] = { 64, 68, 100, 256, 4, 0, 8 };
	struct tile tile;

	fresh(2);
	for (unsigned int i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
		mld(WORD, 0, source, strides[i]);
		tile_of(&tile, source, strides[i], 16, 64);
		EXPECT_REGISTER(0, &tile);
	}
}

CASE(row_i_is_stored_to_base_plus_i_strides_and_nowhere_else, EITHER)
{
	static const int64_t strides[] = { 64, 68, 100, 256, 480 };
	struct tile tile;

	fill(&tile, sizeof(tile), 3);
	set_register(5, &tile);
	for (unsigned int i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
		fresh(0);
		for (unsigned int row = 0; row < ROWS; row++)
			memcpy(expected + 128 + row * strides[i], tile.bytes[row], 64);
		mst(WORD, 5, target + 128, strides[i]);
		COMPLETE();
		EXPECT_BYTES(target, expected, sizeof(target));
	}
}

CASE(a_negative_stride_walks_down, EITHER)
{
	struct tile tile, stored;

	fresh(4);
	mld(WORD, 1, source + 4000, -132);
	tile_of(&tile, source + 4000, -132, 16, 64);
	EXPECT_REGISTER(1, &tile);
	fill(&stored, sizeof(stored), 5);
	set_register(1, &stored);
	for (unsigned int row = 0; row < ROWS; row++)
		memcpy(expected + 2000 - row * 72, stored.bytes[row], 64);
	mst(WORD, 1, target + 2000, -72);
	COMPLETE();
	EXPECT_BYTES(target, expected, sizeof(target));
}

CASE(a_stride_of_0_loads_one_row_16_times, EITHER)
{
	struct tile tile;

	fresh(6);
	mld(HALF, 2, source + 10, 0);
	tile_of(&tile, source + 10, 0, 16, 64);
	EXPECT_REGISTER(2, &tile);
}

CASE(rows_are_stored_in_order_so_the_last_one_stays, EITHER)
{
	struct tile tile;

	fresh(0);
	fill(&tile, sizeof(tile), 7);
	set_register(2, &tile);
	mst(WORD, 2, target + 64, 0);
	memcpy(expected + 64, tile.bytes[15], 64);
	COMPLETE();
	EXPECT_BYTES(target, expected, sizeof(target));
	for (unsigned int row = 0; row < ROWS; row++)
		memcpy(expected + 256 + 20 * row, tile.bytes[row], 64);
	mst(WORD, 2, target + 256, 20);
	COMPLETE();
	EXPECT_BYTES(target, expected, sizeof(target));
}

/* Each M and K; the register's earlier bytes do not show. */
static void load_every_shape(unsigned int first, unsigned int step)
{
	struct tile dirty, tile;

	fresh(8);
	memset(&dirty, 0xff, sizeof(dirty));
	for (unsigned int k = first; k <= ROW_BYTES; k += step) {
		for (unsigned int m = 1; m <= ROWS; m++) {
			if (is_left_out(m + k))
				continue;
			set_register(4, &dirty);
			mcfg(CSR_M, m);
			mcfg(CSR_K, k);
			mld(BYTE, 4, source + m, 77);
			tile_of(&tile, source + m, 77, m, k);
			EXPECT_REGISTER(4, &tile);
		}
	}
}

CASE(a_load_fills_m_rows_of_k_bytes_and_zeroes_the_rest_for_k_1_5_9, EITHER)
{
	load_every_shape(1, 4);
}

CASE(a_load_fills_m_rows_of_k_bytes_and_zeroes_the_rest_for_k_2_6_10, EITHER)
{
	load_every_shape(2, 4);
}

CASE(a_load_fills_m_rows_of_k_bytes_and_zeroes_the_rest_for_k_3_7_11, EITHER)
{
	load_every_shape(3, 4);
}

CASE(a_load_fills_m_rows_of_k_bytes_and_zeroes_the_rest_for_k_4_8_12, EITHER)
{
	load_every_shape(4, 4);
}

CASE(a_store_writes_m_rows_of_k_bytes_and_touches_nothing_else, EITHER)
{
	struct tile tile;

	fill(&tile, sizeof(tile), 9);
	set_register(6, &tile);
	for (unsigned int k = 1; k <= ROW_BYTES; k++) {
		mcfg(CSR_K, k);
		for (unsigned int m = 1; m <= ROWS; m++) {
			if (is_left_out(m + k))
				continue;
			fresh(0);
			for (unsigned int row = 0; row < m; row++)
				memcpy(expected + 65 + row * 71, tile.bytes[row], k);
			mcfg(CSR_M, m);
			mst(BYTE, 6, target + 65, 71);
			COMPLETE();
			EXPECT_BYTES(target, expected, 1400);
		}
	}
}

CASE(a_store_does_not_change_its_register, EITHER)
{
	struct tile tile;

	fresh(0);
	fill(&tile, sizeof(tile), 10);
	set_register(7, &tile);
	mcfg(CSR_M, 3);
	mcfg(CSR_K, 12);
	mst(WORD, 7, target, 64);
	mst(BYTE, 7, target, 64);
	EXPECT_REGISTER(7, &tile);
}

CASE(a_load_changes_no_other_register, EITHER)
{
	struct tile tiles[REGISTERS];

	for (unsigned int i = 0; i < REGISTERS; i++) {
		fill(&tiles[i], sizeof(tiles[i]), 20 + i);
		set_register(i, &tiles[i]);
	}
	for (unsigned int md = 0; md < REGISTERS; md++) {
		fresh(40 + md);
		mcfg(CSR_M, 1 + md);
		mcfg(CSR_K, 64 - md * 4);
		mld(WORD, md, source, 80);
		tile_of(&tiles[md], source, 80, 1 + md, 64 - md * 4);
		for (unsigned int i = 0; i < REGISTERS; i++)
			EXPECT_REGISTER(i, &tiles[i]);
	}
}

CASE(addresses_need_only_the_alignment_of_the_element, EITHER)
{
	struct tile tile;

	fresh(11);
	for (unsigned int size = 0; size < ELEMENTS; size++) {
		for (unsigned int i = 0; i < 16; i++) {
			unsigned int step = ELEMENT_BYTES(size);

			mld((enum element)size, 1, source + i * step, 64 + (int)(i * step));
			tile_of(&tile, source + i * step, 64 + (int)(i * step), 16, 64);
			EXPECT_REGISTER(1, &tile);
			memset(target, 0xa5, sizeof(target));
			memset(expected, 0xa5, sizeof(expected));
			for (unsigned int row = 0; row < ROWS; row++)
				memcpy(expected + i * step + row * (64 + step), tile.bytes[row], 64);
			mst((enum element)size, 1, target + i * step, 64 + (int)step);
			COMPLETE();
			EXPECT_BYTES(target, expected, sizeof(target));
		}
	}
}

/* III-A says bytes per row; only mma has elements. */
CASE(a_row_of_a_load_or_store_need_not_be_whole_elements, EITHER)
{
	struct tile tile;

	fresh(12);
	mcfg(CSR_M, 5);
	mcfg(CSR_K, 7);
	mld(WORD, 0, source + 4, 8);
	tile_of(&tile, source + 4, 8, 5, 7);
	EXPECT_REGISTER(0, &tile);
	mst(WORD, 0, target + 4, 8);
	for (unsigned int row = 0; row < 5; row++)
		memcpy(expected + 4 + 8 * row, tile.bytes[row], 7);
	COMPLETE();
	EXPECT_BYTES(target, expected, sizeof(target));
}

CASE(the_element_of_a_load_changes_nothing_but_the_alignment, EITHER)
{
	struct tile tile;

	fresh(13);
	mcfg(CSR_K, 40);
	for (unsigned int size = 0; size < ELEMENTS; size++) {
		mld((enum element)size, size, source, 44);
		tile_of(&tile, source, 44, 16, 40);
		EXPECT_REGISTER(size, &tile);
	}
}

CASE(a_load_sees_what_a_store_before_it_wrote, EITHER)
{
	struct tile tile;

	fresh(14);
	mld(WORD, 0, source, 64);
	mst(WORD, 0, target, 64);
	mld(WORD, 1, target, 64);
	mst(WORD, 1, target + 2048, 64);
	mld(WORD, 2, target + 2048, 64);
	tile_of(&tile, source, 64, 16, 64);
	EXPECT_REGISTER(2, &tile);
	EXPECT_BYTES(target + 2048, source, 1024);
}

CASE(overlapping_copies_go_through_the_register, EITHER)
{
	fresh(15);
	memcpy(expected, source, sizeof(source));
	memcpy(expected + 100, source, 1024);
	mld(WORD, 0, source, 64);
	mst(WORD, 0, source + 100, 64);
	COMPLETE();
	EXPECT_BYTES(source, expected, sizeof(source));
}

CASE(the_program_sees_a_store_after_a_fence_and_the_device_sees_the_programs, EITHER)
{
	for (unsigned int round = 0; round < 50; round++) {
		memset(source, (int)round, 1024);
		mld(WORD, round % 8, source, 64);
		mst(WORD, round % 8, target, 64);
		COMPLETE();
		EXPECT_BYTES(target, source, 1024);
	}
}

CASE(a_change_of_shape_does_not_change_registers, EITHER)
{
	struct tile tile;

	fill(&tile, sizeof(tile), 16);
	set_register(0, &tile);
	shape(1, 1, 1);
	shape(16, 64, 16);
	shape(3, 5, 7);
	EXPECT_REGISTER(0, &tile);
}

CASE(rows_may_cross_pages, EITHER)
{
	uint8_t *pages = arena();
	struct tile tile;

	fill(pages, ARENA_SIZE, 17);
	for (unsigned int before = 1; before < 64; before += 6) {
		/* every row crosses */
		mcfg(CSR_M, 7);
		mld(BYTE, 0, pages + DARE_PAGE - before, DARE_PAGE);
		tile_of(&tile, pages + DARE_PAGE - before, DARE_PAGE, 7, 64);
		EXPECT_REGISTER(0, &tile);
		/* one of them does */
		mld(BYTE, 0, pages + DARE_PAGE - 128 - before, 61);
		tile_of(&tile, pages + DARE_PAGE - 128 - before, 61, 7, 64);
		EXPECT_REGISTER(0, &tile);
	}
}

/* Bytes of an earlier instruction are not in the rest of a row that lies in two pages. */
CASE(rows_that_cross_pages_are_zero_beyond_k, EITHER)
{
	uint8_t *pages = arena();
	struct tile tile;

	fill(pages, ARENA_SIZE, 20);
	for (unsigned int k = 2; k < 64; k += 7) {
		for (unsigned int before = 1; before < k; before += 1 + k / 4) {
			mcfg(CSR_M, 16);
			mcfg(CSR_K, 64);
			mld(BYTE, 1, pages, 64);
			mcfg(CSR_M, 1 + k % 15);
			mcfg(CSR_K, k);
			mld(BYTE, 0, pages + DARE_PAGE - before, DARE_PAGE);
			tile_of(&tile, pages + DARE_PAGE - before, DARE_PAGE, 1 + k % 15, k);
			EXPECT_REGISTER(0, &tile);
		}
	}
}

CASE(stored_rows_may_cross_pages, EITHER)
{
	static uint8_t copy[ARENA_SIZE];
	uint8_t *pages = arena();
	struct tile tile;

	fill(pages, ARENA_SIZE, 18);
	memcpy(copy, pages, ARENA_SIZE);
	fill(&tile, sizeof(tile), 19);
	set_register(0, &tile);
	mcfg(CSR_M, 9);
	for (unsigned int before = 1; before < 64; before += 6) {
		mcfg(CSR_K, 65 - before);
		for (unsigned int row = 0; row < 9; row++)
			memcpy(copy + DARE_PAGE - before / 2 + row * DARE_PAGE, tile.bytes[row], 65 - before);
		mst(BYTE, 0, pages + DARE_PAGE - before / 2, DARE_PAGE);
		COMPLETE();
		EXPECT_BYTES(pages, copy, ARENA_SIZE);
	}
}

CASE(more_pages_than_a_tlb_holds_are_no_matter, EITHER)
{
	static uint8_t pages[80 * 4096];
	struct tile tile;

	fill(pages, sizeof(pages), 21);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 5; i++) {
			mld(BYTE, i, pages + i * 16 * DARE_PAGE + 100 * round, DARE_PAGE);
			tile_of(&tile, pages + i * 16 * DARE_PAGE + 100 * round, DARE_PAGE, 16, 64);
			EXPECT_REGISTER(i, &tile);
		}
	}
}
