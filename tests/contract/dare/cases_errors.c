/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Errors are precise: instructions before the one that fails are complete, it has changed
 * no register, the rows of a store before ERROR_ROW are in memory, and instructions
 * after it are dropped until the error is cleared.
 */
#include <string.h>
#include <sys/mman.h>

#include "tests/contract/dare/contract.h"

/* Memory that ends at an unmapped page; the last `rows` rows of 64 bytes before it. */
static uint8_t *end_of_memory(void)
{
	return island() + 2 * DARE_PAGE;
}

static struct tile old;

static void set_old(unsigned int number)
{
	fill(&old, sizeof(old), 77);
	set_register(number, &old);
}

/* --- loads ---------------------------------------------------------------------- */

CASE(a_load_that_fails_at_row_r_says_so_and_changes_no_register, EITHER)
{
	fill(island(), 2 * DARE_PAGE, 1);
	set_old(2);
	for (unsigned int row = 0; row < ROWS; row++) {
		uint8_t *base = end_of_memory() - 64 * row;
		uint64_t position = get(DISPATCHED);

		mld(WORD, 2, base, 64);
		EXPECT_ERROR(BAD_LOAD, word_mld(WORD, 2), position, (uintptr_t)end_of_memory(), row);
		EXPECT_REGISTER(2, &old);
	}
}

CASE(a_load_of_rows_that_are_all_there_does_not_look_further, EITHER)
{
	struct tile tile;

	fill(island(), 2 * DARE_PAGE, 2);
	mld(WORD, 2, end_of_memory() - 1024, 64);
	tile_of(&tile, end_of_memory() - 1024, 64, 16, 64);
	EXPECT_REGISTER(2, &tile);
	shape(3, 5, 1);
	mld(BYTE, 2, end_of_memory() - 5 - 2 * 7, 7);
	tile_of(&tile, end_of_memory() - 5 - 2 * 7, 7, 3, 5);
	EXPECT_REGISTER(2, &tile);
	mld(WORD, 2, island() + 2 * 64, -64);
	tile_of(&tile, island() + 2 * 64, -64, 3, 5);
	EXPECT_REGISTER(2, &tile);
}

CASE(a_row_that_is_there_in_part_fails_at_its_first_missing_byte, EITHER)
{
	fill(island(), 2 * DARE_PAGE, 3);
	set_old(4);
	for (unsigned int there = 0; there < 64; there += 3) {
		uint64_t position = get(DISPATCHED);

		mld(BYTE, 4, end_of_memory() - 200 - there, 100);
		EXPECT_ERROR(BAD_LOAD, word_mld(BYTE, 4), position, (uintptr_t)end_of_memory(), 2);
		EXPECT_REGISTER(4, &old);
	}
}

/* The missing page comes first, then memory. */
CASE(a_row_whose_beginning_is_missing_fails_at_its_beginning, EITHER)
{
	uint64_t position = get(DISPATCHED);

	mld(BYTE, 4, island() - 3, 64);
	EXPECT_ERROR(BAD_LOAD, word_mld(BYTE, 4), position, (uintptr_t)island() - 3, 0);
	mld(WORD, 4, island() + 64, -64);
	EXPECT_ERROR(BAD_LOAD, word_mld(WORD, 4), position + 1, (uintptr_t)island() - 64, 2);
}

static void expect_load_fails(uint64_t base, uint64_t stride, uint64_t address, unsigned int row)
{
	uint64_t position = get(DISPATCHED);

	issue(word_mld(BYTE, 1), base, stride);
	EXPECT_ERROR(BAD_LOAD, word_mld(BYTE, 1), position, address, row);
}

CASE(addresses_that_no_program_has_cannot_be_loaded_from, EITHER)
{
	uint64_t base = (uintptr_t)island();

	set_old(1);
	expect_load_fails(0, 64, 0, 0);
	expect_load_fails(8, 0, 8, 0);
	expect_load_fails(0xffff800000000000, 64, 0xffff800000000000, 0);
	expect_load_fails(0x0000800000000000, 64, 0x0000800000000000, 0);
	expect_load_fails(UINT64_MAX - 63, 64, UINT64_MAX - 63, 0);
	/* All 64 bits of an address count: these are not `base` with a few bits cut off. */
	expect_load_fails(base | 1ull << 48, 64, base | 1ull << 48, 0);
	expect_load_fails(base | 1ull << 56, 64, base | 1ull << 56, 0);
	expect_load_fails(base | 1ull << 63, 64, base | 1ull << 63, 0);
	EXPECT_REGISTER(1, &old);
}

CASE(address_arithmetic_has_64_bits_and_wraps, EITHER)
{
	uint64_t base = (uintptr_t)island();
	struct tile tile;

	fill(island(), 2 * DARE_PAGE, 4);
	/* Row 1 at base + 2^63, where nothing is. */
	expect_load_fails(base, 1ull << 63, base + (1ull << 63), 1);
	/* Row 2 would be at base + 2^64 + 64. */
	expect_load_fails(base, (1ull << 63) + 32, base + (1ull << 63) + 32, 1);
	/* A base near the end and a stride over it: row 0 is bad, and nothing else is tried. */
	expect_load_fails(0xfffffffffffffff0, base + 16, 0xfffffffffffffff0, 0);
	/* -64 is 2^64 - 64 */
	mcfg(CSR_M, 3);
	issue(word_mld(WORD, 0), base + 128, UINT64_MAX - 63);
	tile_of(&tile, island() + 128, -64, 3, 64);
	EXPECT_REGISTER(0, &tile);
	/* From the lower half of the addresses to the upper one. */
	expect_load_fails(base + 512, (uint64_t)0 - (base + 512) + 0x10, 0x10, 1);
}

CASE(a_row_over_the_end_of_all_addresses_fails_where_it_begins, EITHER)
{
	mcfg(CSR_M, 1);
	expect_load_fails(UINT64_MAX - 31, 64, UINT64_MAX - 31, 0);
}

/* --- stores ---------------------------------------------------------------------- */

static uint8_t before[2 * 4096];

static void fresh_island(void)
{
	memset(island(), 0x5a, 2 * DARE_PAGE);
	memset(before, 0x5a, sizeof(before));
}

CASE(a_store_that_fails_at_row_r_has_stored_the_rows_before_it, EITHER)
{
	set_old(3);
	for (unsigned int row = 0; row < ROWS; row++) {
		uint64_t position = get(DISPATCHED);

		fresh_island();
		memcpy(before + 2 * DARE_PAGE - 64 * row, &old, 64 * row);
		mst(WORD, 3, end_of_memory() - 64 * row, 64);
		EXPECT_ERROR(BAD_STORE, word_mst(WORD, 3), position, (uintptr_t)end_of_memory(), row);
		EXPECT_BYTES(island(), before, sizeof(before));
		EXPECT_REGISTER(3, &old);
	}
}

/* Rows after the bad one are not stored, though their memory is there. */
CASE(a_store_goes_no_further_than_the_row_that_failed, EITHER)
{
	uint64_t addresses[ROWS], position;

	for (unsigned int bad = 0; bad < ROWS; bad++) {
		fresh_island();
		set_old(3);
		for (unsigned int row = 0; row < ROWS; row++)
			addresses[row] = (uintptr_t)island() + 128 * row;
		addresses[bad] = (uintptr_t)end_of_memory() + 512;
		set_addresses(0, addresses);
		position = get(DISPATCHED);
		mscatter(WORD, 3, 0);
		EXPECT_ERROR(BAD_STORE, word_mscatter(WORD, 3, 0), position, (uintptr_t)end_of_memory() + 512, bad);
		for (unsigned int row = 0; row < bad; row++)
			memcpy(before + 128 * row, old.bytes[row], 64);
		EXPECT_BYTES(island(), before, sizeof(before));
	}
	fresh_island();
	position = get(DISPATCHED);
	mst(WORD, 3, island() + 128, -64);
	EXPECT_ERROR(BAD_STORE, word_mst(WORD, 3), position, (uintptr_t)island() - 64, 3);
	for (unsigned int row = 0; row < 3; row++)
		memcpy(before + 128 - 64 * row, old.bytes[row], 64);
	EXPECT_BYTES(island(), before, sizeof(before));
}

/* Of the row that failed some bytes may be there; of others, none. */
CASE(a_stored_row_that_fits_in_part_fails_at_its_first_missing_byte, EITHER)
{
	set_old(3);
	for (unsigned int there = 0; there < 64; there += 7) {
		uint64_t position = get(DISPATCHED);
		uint8_t *base = end_of_memory() - 200 - there;

		fresh_island();
		mst(BYTE, 3, base, 100);
		EXPECT_ERROR(BAD_STORE, word_mst(BYTE, 3), position, (uintptr_t)end_of_memory(), 2);
		memcpy(before + (base - island()), old.bytes[0], 64);
		memcpy(before + (base + 100 - island()), old.bytes[1], 64);
		EXPECT_BYTES(island(), before, (size_t)(base + 200 - island()));
	}
}

CASE(memory_that_is_read_only_can_be_loaded_from_and_not_stored_to, EITHER)
{
	uint64_t position;
	struct tile tile;

	fill(island(), 2 * DARE_PAGE, 5);
	memcpy(before, island(), sizeof(before));
	EXPECT(mprotect(island() + DARE_PAGE, DARE_PAGE, PROT_READ), 0);
	set_old(6);
	mld(WORD, 1, island() + DARE_PAGE - 256, 64);
	tile_of(&tile, island() + DARE_PAGE - 256, 64, 16, 64);
	EXPECT_REGISTER(1, &tile);
	position = get(DISPATCHED);
	mst(WORD, 6, island() + DARE_PAGE - 128, 64);
	EXPECT_ERROR(BAD_STORE, word_mst(WORD, 6), position, (uintptr_t)island() + DARE_PAGE, 2);
	memcpy(before + DARE_PAGE - 128, &old, 128);
	EXPECT_BYTES(island(), before, sizeof(before));
	/* It may be written again: so may the device. */
	EXPECT(mprotect(island() + DARE_PAGE, DARE_PAGE, PROT_READ | PROT_WRITE), 0);
	mst(WORD, 6, island() + DARE_PAGE - 128, 64);
	COMPLETE();
	memcpy(before + DARE_PAGE - 128, &old, 1024);
	EXPECT_BYTES(island(), before, sizeof(before));
}

CASE(memory_without_rights_is_no_memory, EITHER)
{
	uint64_t position;

	fill(island(), 2 * DARE_PAGE, 6);
	mld(WORD, 0, island() + DARE_PAGE, 64);
	COMPLETE();
	EXPECT(mprotect(island() + DARE_PAGE, DARE_PAGE, PROT_NONE), 0);
	position = get(DISPATCHED);
	mld(WORD, 0, island() + DARE_PAGE, 64);
	EXPECT_ERROR(BAD_LOAD, word_mld(WORD, 0), position, (uintptr_t)island() + DARE_PAGE, 0);
	mst(WORD, 0, island() + DARE_PAGE - 64, 64);
	EXPECT_ERROR(BAD_STORE, word_mst(WORD, 0), position + 1, (uintptr_t)island() + DARE_PAGE, 1);
}

/* A translation that was used before does not outlive the page. */
CASE(memory_that_is_given_back_is_no_memory_any_more, EITHER)
{
	uint64_t position;

	mld(WORD, 0, island(), 128);
	mst(WORD, 0, island(), 128);
	COMPLETE();
	EXPECT(munmap(island() + DARE_PAGE, DARE_PAGE), 0);
	position = get(DISPATCHED);
	mld(WORD, 0, island() + DARE_PAGE - 512, 64);
	EXPECT_ERROR(BAD_LOAD, word_mld(WORD, 0), position, (uintptr_t)island() + DARE_PAGE, 8);
}

CASE(memory_that_comes_later_is_memory, EITHER)
{
	uint64_t position = get(DISPATCHED);
	struct tile tile;
	uint8_t *page;

	mld(WORD, 0, end_of_memory(), 64);
	EXPECT_ERROR(BAD_LOAD, word_mld(WORD, 0), position, (uintptr_t)end_of_memory(), 0);
	page = mmap(end_of_memory(), DARE_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT_TRUE(page == end_of_memory());
	fill(page, DARE_PAGE, 7);
	mld(WORD, 0, page, 64);
	tile_of(&tile, page, 64, 16, 64);
	EXPECT_REGISTER(0, &tile);
}

/* --- gathered addresses --------------------------------------------------------------- */

CASE(mgather_fails_at_the_row_whose_address_is_bad_and_changes_no_register, EITHER)
{
	uint64_t addresses[ROWS], position;

	fill(island(), 2 * DARE_PAGE, 8);
	set_old(5);
	for (unsigned int bad = 0; bad < ROWS; bad++) {
		for (unsigned int row = 0; row < ROWS; row++)
			addresses[row] = (uintptr_t)island() + 100 * row;
		addresses[bad] = (uintptr_t)end_of_memory() - 20;
		set_addresses(1, addresses);
		position = get(DISPATCHED);
		mgather(WORD, 5, 1);
		EXPECT_ERROR(BAD_LOAD, word_mgather(WORD, 5, 1), position, (uintptr_t)end_of_memory(), bad);
		EXPECT_REGISTER(5, &old);
	}
}

CASE(mgather_into_its_own_addresses_keeps_them_if_it_fails, EITHER)
{
	uint64_t addresses[ROWS], position;
	struct tile vector;

	for (unsigned int row = 0; row < ROWS; row++)
		addresses[row] = (uintptr_t)island() + 100 * row;
	addresses[9] = 0;
	set_addresses(1, addresses);
	get_register(1, &vector);
	position = get(DISPATCHED);
	mgather(WORD, 1, 1);
	EXPECT_ERROR(BAD_LOAD, word_mgather(WORD, 1, 1), position, 0, 9);
	EXPECT_REGISTER(1, &vector);
}

static bool is_mapped(uint64_t address)
{
	unsigned char present;

	return !mincore((void *)(uintptr_t)(address & -(uint64_t)DARE_PAGE), 1, &present);
}

CASE(a_gathered_address_has_64_bits, EITHER)
{
	static const unsigned int bits[] = { 40, 47, 48, 52, 56, 63 };
	uint64_t addresses[ROWS], position;

	for (unsigned int i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		for (unsigned int row = 0; row < ROWS; row++)
			addresses[row] = (uintptr_t)island();
		addresses[4] |= 1ull << bits[i];
		/* A sanitizer has its own memory there. */
		if (is_mapped(addresses[4]))
			continue;
		set_addresses(0, addresses);
		position = get(DISPATCHED);
		mgather(WORD, 1, 0);
		EXPECT_ERROR(BAD_LOAD, word_mgather(WORD, 1, 0), position, addresses[4], 4);
		mscatter(WORD, 1, 0);
		EXPECT_ERROR(BAD_STORE, word_mscatter(WORD, 1, 0), position + 1, addresses[4], 4);
	}
}

CASE(the_first_bad_row_is_the_one_that_is_told, EITHER)
{
	uint64_t addresses[ROWS], position;

	for (unsigned int row = 0; row < ROWS; row++)
		addresses[row] = (uintptr_t)island() + 64 * row;
	addresses[6] = 0x3000;	/* not there */
	addresses[3] = 0x3002;	/* neither there nor aligned */
	addresses[8] = (uintptr_t)island() + 1;
	set_addresses(0, addresses);
	position = get(DISPATCHED);
	mgather(WORD, 1, 0);
	EXPECT_ERROR(MISALIGNED, word_mgather(WORD, 1, 0), position, 0x3002, 3);
	addresses[3] = (uintptr_t)island();
	set_addresses(0, addresses);
	position = get(DISPATCHED);
	mgather(WORD, 1, 0);
	EXPECT_ERROR(BAD_LOAD, word_mgather(WORD, 1, 0), position, 0x3000, 6);
	addresses[6] = (uintptr_t)island();
	set_addresses(0, addresses);
	position = get(DISPATCHED);
	mgather(WORD, 1, 0);
	EXPECT_ERROR(MISALIGNED, word_mgather(WORD, 1, 0), position, (uintptr_t)island() + 1, 8);
	mgather(BYTE, 1, 0);
	COMPLETE();
}

/* --- alignment ---------------------------------------------------------------------------- */

static void expect_misaligned(uint32_t word, uint64_t base, uint64_t stride, uint64_t address)
{
	uint64_t position = get(DISPATCHED);

	issue(word, base, stride);
	EXPECT_ERROR(MISALIGNED, word, position, address, 0);
}

CASE(base_and_stride_must_be_multiples_of_the_element, EITHER)
{
	uint64_t base = (uintptr_t)island();

	fresh_island();
	set_old(0);
	for (unsigned int size = HALF; size < ELEMENTS; size++) {
		for (unsigned int off = 1; off < ELEMENT_BYTES(size); off++) {
			uint32_t load_word = word_mld((enum element)size, 0);
			uint32_t store_word = word_mst((enum element)size, 0);

			expect_misaligned(load_word, base + off, 64, base + off);
			expect_misaligned(load_word, base, 64 + off, 64 + off);
			expect_misaligned(load_word, base, off, off);
			expect_misaligned(load_word, base + 512, (uint64_t)0 - off, (uint64_t)0 - off);
			/* base first */
			expect_misaligned(load_word, base + off, 64 + off, base + off);
			expect_misaligned(store_word, base + off, 64, base + off);
			expect_misaligned(store_word, base, 64 + off, 64 + off);
		}
	}
	EXPECT_BYTES(island(), before, sizeof(before));
	EXPECT_REGISTER(0, &old);
}

CASE(alignment_is_looked_at_before_memory, EITHER)
{
	expect_misaligned(word_mld(WORD, 0), 2, 64, 2);
	expect_misaligned(word_mst(HALF, 0), UINT64_MAX, 64, UINT64_MAX);
	expect_misaligned(word_mld(WORD, 0), 0, 2, 2);
}

CASE(the_stride_of_a_single_row_must_be_aligned_too, EITHER)
{
	fresh_island();
	mcfg(CSR_M, 1);
	expect_misaligned(word_mld(WORD, 0), (uintptr_t)island(), 2, 2);
	expect_misaligned(word_mst(WORD, 0), (uintptr_t)island(), 1, 1);
	EXPECT_BYTES(island(), before, sizeof(before));
	mld(HALF, 0, island(), 2);
	mst(BYTE, 0, island(), 1);
	COMPLETE();
}

CASE(a_gathered_address_must_be_a_multiple_of_the_element, EITHER)
{
	uint64_t addresses[ROWS], position;

	for (unsigned int size = HALF; size < ELEMENTS; size++) {
		for (unsigned int bad = 0; bad < ROWS; bad += 5) {
			fresh_island();
			set_old(4);
			for (unsigned int row = 0; row < ROWS; row++)
				addresses[row] = (uintptr_t)island() + 100 * row;
			addresses[bad] += ELEMENT_BYTES(size) / 2;
			set_addresses(1, addresses);
			position = get(DISPATCHED);
			mgather((enum element)size, 4, 1);
			EXPECT_ERROR(MISALIGNED, word_mgather((enum element)size, 4, 1), position, addresses[bad], bad);
			EXPECT_REGISTER(4, &old);
			position = get(DISPATCHED);
			mscatter((enum element)size, 4, 1);
			EXPECT_ERROR(MISALIGNED, word_mscatter((enum element)size, 4, 1), position, addresses[bad], bad);
			for (unsigned int row = 0; row < bad; row++)
				memcpy(before + 100 * row, old.bytes[row], 64);
			EXPECT_BYTES(island(), before, sizeof(before));
			EXPECT_REGISTER(4, &old);
		}
	}
}

/* --- precise ------------------------------------------------------------------------------- */

CASE(instructions_before_an_error_complete_and_those_after_it_are_dropped, EITHER)
{
	static uint8_t source[1024], target[4][1024];
	uint64_t position, completed, dropped;

	fill(source, sizeof(source), 9);
	memset(target, 0, sizeof(target));
	set_old(1);
	position = get(DISPATCHED);
	completed = get(COMPLETED);
	dropped = get(DROPPED);
	mld(WORD, 0, source, 64);		/* complete */
	mst(WORD, 0, target[0], 64);
	mld(WORD, 0, NULL, 64);			/* fails */
	mst(WORD, 0, target[1], 64);		/* dropped */
	mld(WORD, 1, source, 64);
	mcfg(CSR_M, 3);
	mma(WORD, 1, 0, 0);
	mgather(WORD, 1, 0);
	mscatter(WORD, 1, 0);
	issue(0xffffffff, 0, 0);
	mst(WORD, 1, target[2], 64);
	EXPECT_TRUE(fence() & HAS_ERROR);
	EXPECT(get(DISPATCHED), position + 3);
	EXPECT(get(COMPLETED), completed + 2);
	EXPECT(get(DROPPED), dropped + 8);
	EXPECT(get(MATRIX_M), 16);
	EXPECT_ERROR(BAD_LOAD, word_mld(WORD, 0), position + 2, 0, 0);
	mst(WORD, 0, target[3], 64);
	COMPLETE();
	EXPECT(get(DISPATCHED), position + 4);
	EXPECT(get(COMPLETED), completed + 3);
	EXPECT_REGISTER(1, &old);
	EXPECT_BYTES(target[0], source, 1024);
	EXPECT_BYTES(target[3], source, 1024);
	for (unsigned int i = 0; i < 1024; i++)
		EXPECT(target[1][i] | target[2][i], 0);
}

CASE(the_first_error_is_kept, EITHER)
{
	uint64_t position = get(DISPATCHED), errors = get(ERRORS);

	mcfg(CSR_M, 99);
	mcfg(CSR_K, 98);
	issue(0x13, 0, 0);
	mld(WORD, 0, NULL, 0);
	EXPECT_TRUE(fence() & HAS_ERROR);
	EXPECT(get(ERRORS), errors + 1);
	EXPECT_ERROR(SHAPE, word_mcfg(), position, 99, 0);
	mcfg(CSR_K, 98);
	EXPECT_ERROR(SHAPE, word_mcfg(), position + 1, 98, 0);
	EXPECT(get(ERRORS), errors + 2);
}

CASE(the_position_counts_from_the_last_reset, EITHER)
{
	put(RESET, 0);
	for (unsigned int i = 0; i < 5; i++)
		mcfg(CSR_M, 4);
	mcfg(CSR_M, 0);
	EXPECT_ERROR(SHAPE, word_mcfg(), 5, 0, 0);
	mcfg(CSR_M, 3);
	mcfg(CSR_M, 0);
	EXPECT_ERROR(SHAPE, word_mcfg(), 7, 0, 0);
	put(RESET, 1);
	mcfg(CSR_M, 0);
	EXPECT_ERROR(SHAPE, word_mcfg(), 0, 0, 0);
}

CASE(reset_clears_an_error, EITHER)
{
	mcfg(CSR_M, 77);
	EXPECT_TRUE(fence() & HAS_ERROR);
	put(RESET, 0);
	EXPECT(get(ERROR), NO_ERROR);
	EXPECT(get(STATUS) & HAS_ERROR, 0);
	EXPECT(get(ERROR_ADDRESS), 0);
	mcfg(CSR_M, 2);
	COMPLETE();
	EXPECT(get(MATRIX_M), 2);
}

CASE(an_error_that_nobody_clears_stays, EITHER)
{
	uint64_t position = get(DISPATCHED);

	mcfg(7, 1);
	for (unsigned int i = 0; i < 40; i++) {
		mcfg(CSR_M, 5);
		EXPECT_TRUE(fence() & HAS_ERROR);
		EXPECT(get(ERROR), BAD_CSR);
	}
	EXPECT(get(MATRIX_M), 16);
	EXPECT_ERROR(BAD_CSR, word_mcfg(), position, 7, 0);
}

CASE(a_store_to_error_without_an_error_changes_nothing, EITHER)
{
	mcfg(CSR_M, 6);
	put(ERROR, 5);
	EXPECT(get(ERROR), NO_ERROR);
	COMPLETE();
	EXPECT(get(MATRIX_M), 6);
	EXPECT(get(DISPATCHED), 1);
}

CASE(more_instructions_than_the_queue_holds_are_dropped_behind_an_error, EITHER)
{
	uint64_t position = get(DISPATCHED), dropped = get(DROPPED);

	issue(0, 0, 0);
	for (unsigned int i = 0; i < 200; i++)
		mma(WORD, 0, 1, 2);
	EXPECT_ERROR(ILLEGAL, 0, position, 0, 0);
	EXPECT(get(DROPPED), dropped + 200);
	EXPECT(get(DISPATCHED), position + 1);
}

CASE(an_error_leaves_the_shape_and_the_registers_to_the_next_instruction, EITHER)
{
	static uint8_t target[1024], expected[1024];

	set_old(0);
	memset(target, 0, sizeof(target));
	memset(expected, 0, sizeof(expected));
	shape(3, 12, 2);
	mma(BYTE, 1, 1, 1);
	mst(WORD, 0, NULL, 64);
	EXPECT_TRUE(fence() & HAS_ERROR);
	put(ERROR, 0);
	mst(WORD, 0, target, 16);
	COMPLETE();
	for (unsigned int row = 0; row < 3; row++)
		memcpy(expected + 16 * row, old.bytes[row], 12);
	EXPECT_BYTES(target, expected, sizeof(target));
}
