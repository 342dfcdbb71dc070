/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The CISC port, in both of its generations, with tiles of 2 x 2 x 2 blocks and
 * plain loops. Blocks of DIM x DIM lie one after the other in the shared memory.
 */
#include <string.h>

#include "tests/contract/virgo/contract.h"

#define BLOCKS 2u
#define A_AT 0u
#define B_AT 40000u
#define D_AT 80000u
#define WIDE 300u	/* more than 8 bits */

enum { PAPER, LATER };

static unsigned int side(void)
{
	return BLOCKS * unit.dim;
}

static void cisc(uint32_t word)
{
	COMPLETE();
	unit_put(CISC, word | unit.number << 5);
}

/* Element (row, column) of a tile of blocks. */
static double in_blocks(unsigned int first_row, unsigned int row, unsigned int column)
{
	unsigned int d = unit.dim, block = row / d * BLOCKS + column / d;

	return element_of(shared_row(first_row), (block * d + row % d) * d + column % d);
}

/* Elements from row to row of blocks: of A and B. Inside of a block they are side by side. */
static unsigned int strides[2];

static size_t index_of(unsigned int row, unsigned int column, unsigned int stride)
{
	return row / unit.dim * unit.dim * stride + row % unit.dim * side() + column;
}

static double input(unsigned int at, unsigned int row, unsigned int column)
{
	return element_of(input_at(at), index_of(row, column, strides[at == B_AT]));
}

static double product(unsigned int row, unsigned int column)
{
	double sum = 0;

	for (unsigned int k = 0; k < side(); k++)
		sum += input(A_AT, row, k) * input(B_AT, k, column);
	return sum;
}

static void begin(unsigned int generation)
{
	unsigned int n = side();

	unit_put(CISC_GENERATION, generation);
	unit_put(CISC_TILE, (uint64_t)BLOCKS << 32 | BLOCKS << 16 | BLOCKS);
	strides[0] = strides[1] = n;
	fill_small(input_at(A_AT), index_of(n, 0, WIDE + 10), 3);
	fill_small(input_at(B_AT), index_of(n, 0, WIDE + 10), 3);
	config_ld(0, n * unit.size, 1, false);
	config_ld(1, n * unit.size, 1, false);
	config_st(n * unit.size, NO_ACTIVATION, 1);
	config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
	rocc(LOOP_WS_ADDRS_AB, address_of(input_at(A_AT)), address_of(input_at(B_AT)));
	rocc(LOOP_WS_ADDRS_DC, 0, address_of(output_at(0)));
	rocc(LOOP_WS_STRIDES_DC, n, n);
	memset(shared_memory(), 0, SHARED_BYTES);
}

/* C from the accumulator, in full width. */
static void expect_accumulator(double factor)
{
	unsigned int n = side();

	rocc(CONFIG, 2, 0x3f800000ull << 32 | n * 4);
	rocc(LOOP_WS_BOUNDS, 0, (uint64_t)BLOCKS << 32 | BLOCKS << 16 | BLOCKS);
	rocc(LOOP_WS, LOOP_FULL_C, ONLY_STORE);
	config_st(n * unit.size, NO_ACTIVATION, 1);
	COMPLETE();
	for (unsigned int i = 0; i < n * n; i++)
		EXPECT_TRUE(value_of(output_at(0), i) == factor * product(i / n, i % n));
}

static void expect_tile(unsigned int first_row, unsigned int at)
{
	for (unsigned int i = 0; i < side() * side(); i++)
		EXPECT_TRUE(in_blocks(first_row, i / side(), i % side()) == input(at, i / side(), i % side()));
}

static void expect_product_in_blocks(unsigned int first_row)
{
	for (unsigned int i = 0; i < side() * side(); i++)
		EXPECT_TRUE(in_blocks(first_row, i / side(), i % side()) ==
			    as_element(product(i / side(), i % side())));
}

/* --- the paper's ----------------------------------------------------------------------- */

/* A in the first or second quarter, B's end is that of the third or fourth. */
static void expect_load(uint32_t operation, unsigned int a_quarter, unsigned int b_quarter)
{
	unsigned int quarter = unit.rows / 4, b_rows = BLOCKS * BLOCKS * unit.dim;

	cisc(8 | side() << 8 | side() << 16);
	cisc(operation);
	COMPLETE();
	expect_tile(a_quarter * quarter, A_AT);
	expect_tile((b_quarter + 1) * quarter - b_rows, B_AT);
}

CASE(cisc_10_and_11_of_the_paper_load_a_and_b, EITHER)
{
	FOR_EACH_UNIT {
		begin(PAPER);
		expect_load(10, 0, 2);
		memset(shared_memory(), 0, SHARED_BYTES);
		expect_load(11, 1, 3);
	}
}

/* Bits [31:24] mean nothing here. */
CASE(cisc_8_of_the_paper_has_strides_of_8_bits, EITHER)
{
	FOR_EACH_UNIT {
		begin(PAPER);
		strides[0] = 255;
		strides[1] = 129;
		cisc(8 | 255u << 8 | 129u << 16 | 0xffu << 24);
		cisc(10);
		COMPLETE();
		expect_tile(0, A_AT);
		expect_tile(3 * (unit.rows / 4) - BLOCKS * BLOCKS * unit.dim, B_AT);
	}
}

CASE(cisc_0_to_3_of_the_paper_multiply, EITHER)
{
	FOR_EACH_UNIT {
		begin(PAPER);
		expect_load(10, 0, 2);
		expect_load(11, 1, 3);
		cisc(0);
		expect_accumulator(1);
		cisc(1);
		expect_accumulator(2);
		cisc(2);
		expect_accumulator(3);
		cisc(3);
		expect_accumulator(1);
		cisc(2);
		expect_accumulator(2);
		cisc(0);
		expect_accumulator(1);
	}
}

CASE(cisc_9_of_the_paper_stores_c_to_the_first_row, EITHER)
{
	FOR_EACH_UNIT {
		begin(PAPER);
		expect_load(11, 1, 3);
		cisc(3);
		cisc(9);
		COMPLETE();
		expect_product_in_blocks(0);
	}
}

CASE(a_word_while_the_unit_is_busy_is_an_overflow_in_the_paper, EITHER)
{
	uint64_t position;

	use_unit(0);
	unit_put(CISC_GENERATION, PAPER);
	occupy_unit();
	flush_commands();
	position = unit_get(DISPATCHED);
	unit_put(CISC, 8 | unit.number << 5);
	EXPECT_ERROR(OVERFLOW, 8 | unit.number << 5, position, 1, 0, 0);
}

/* --- the later ones -------------------------------------------------------------------------- */

static unsigned int sixteenth(unsigned int n)
{
	return unit.rows / 16 * n;
}

static void load_later(void)
{
	cisc(8 | side() << 8 | side() << 20);
	cisc(11 | side() << 8 | side() << 20);
	cisc(10 | 3u << 8 | 9u << 16);
}

CASE(cisc_10_of_the_later_ones_loads_to_sixteenths, EITHER)
{
	FOR_EACH_UNIT {
		begin(LATER);
		load_later();
		COMPLETE();
		expect_tile(sixteenth(3), A_AT);
		expect_tile(sixteenth(10) - BLOCKS * BLOCKS * unit.dim, B_AT);
	}
}

CASE(cisc_8_of_the_later_ones_has_strides_of_12_bits, EITHER)
{
	FOR_EACH_UNIT {
		begin(LATER);
		strides[0] = WIDE;
		strides[1] = WIDE + 7;
		cisc(8 | strides[0] << 8 | strides[1] << 20);
		cisc(10 | 3u << 8 | 9u << 16);
		COMPLETE();
		expect_tile(sixteenth(3), A_AT);
		expect_tile(sixteenth(10) - BLOCKS * BLOCKS * unit.dim, B_AT);
	}
}

/* No word loads D: a loop that comes after it does. */
CASE(cisc_11_of_the_later_ones_sets_the_strides_of_d_and_c, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = side();

		begin(LATER);
		for (unsigned int i = 0; i < index_of(n, 0, WIDE); i++)
			put_value(input_at(D_AT), i, (int)draw_below(2001) - 1000);
		config_ld(2, n * 4, 1, false);
		config_st(n * 4, NO_ACTIVATION, 1);
		rocc(LOOP_WS_BOUNDS, 0, (uint64_t)BLOCKS << 32 | BLOCKS << 16 | BLOCKS);
		rocc(LOOP_WS_ADDRS_DC, address_of(input_at(D_AT)), address_of(output_at(0)));
		cisc(11 | WIDE << 8 | (WIDE + 7) << 20);
		rocc(LOOP_WS, LOOP_FULL_C, SKIP_A | SKIP_B | SKIP_EXECUTE);
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++)
			EXPECT_TRUE(value_of(output_at(0), index_of(i / n, i % n, WIDE + 7)) ==
				    value_of(input_at(D_AT), index_of(i / n, i % n, WIDE)));
	}
}

CASE(cisc_0_of_the_later_ones_multiplies_and_can_accumulate, EITHER)
{
	FOR_EACH_UNIT {
		begin(LATER);
		load_later();
		cisc(0 | 3u << 8 | 9u << 16);
		expect_accumulator(1);
		cisc(0 | 3u << 8 | 9u << 16 | 1u << 24);
		expect_accumulator(2);
	}
}

CASE(cisc_1_of_the_later_ones_stores_c_to_a_sixteenth, EITHER)
{
	FOR_EACH_UNIT {
		begin(LATER);
		load_later();
		cisc(1 | 3u << 8 | 9u << 16 | 5u << 24);
		COMPLETE();
		expect_product_in_blocks(sixteenth(5));
		cisc(9 | 12u << 8);
		COMPLETE();
		expect_product_in_blocks(sixteenth(12));
	}
}

CASE(cisc_12_of_the_later_ones_stores_c_to_memory, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = side();

		begin(LATER);
		load_later();
		cisc(0 | 3u << 8 | 9u << 16);
		cisc(12);
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++)
			EXPECT_TRUE(element_of(output_at(0), i) == as_element(product(i / n, i % n)));
	}
}

CASE(cisc_2_of_the_later_ones_is_a_loop_of_nothing, EITHER)
{
	use_unit(1);
	unit_put(CISC_GENERATION, LATER);
	occupy_unit();
	flush_commands();
	unit_put(CISC, 2 | unit.number << 5);
	EXPECT(unit_get(LOOPS), 1);
	COMPLETE();
	EXPECT(unit_get(LOOPS), 0);
	EXPECT(unit_count(COUNT_CISC), 1);
}

CASE(a_fifth_word_that_is_not_finished_is_an_overflow, EITHER)
{
	uint64_t position;

	use_unit(2);
	unit_put(CISC_GENERATION, LATER);
	occupy_unit();
	flush_commands();
	for (unsigned int i = 0; i < 4; i++)
		unit_put(CISC, 2 | unit.number << 5);
	EXPECT(unit_get(ERROR), NO_ERROR);
	position = unit_get(DISPATCHED);
	unit_put(CISC, 2 | unit.number << 5);
	EXPECT_ERROR(OVERFLOW, 2 | unit.number << 5, position, 4, 0, 0);
}

/* --- both ------------------------------------------------------------------------------------------ */

CASE(words_without_a_meaning_are_errors, EITHER)
{
	static const uint8_t bad[2][6] = { { 4, 7, 12, 13, 14, 31 }, { 3, 7, 13, 14, 15, 31 } };

	FOR_EACH_UNIT {
		for (unsigned int generation = PAPER; generation <= LATER; generation++)
			for (unsigned int i = 0; i < 6; i++) {
				uint32_t word = bad[generation][i] | unit.number << 5 | 0x123400;

				unit_put(CISC_GENERATION, generation);
				unit_put(CISC, word);
				EXPECT_ERROR(BAD_COMMAND, word, 0, bad[generation][i], 0, 0);
			}
		EXPECT(unit_count(COUNT_CISC), 0);
	}
}

CASE(a_word_says_which_unit_does_it_whichever_block_it_is_stored_to, EITHER)
{
	for (unsigned int i = 0; i < UNITS; i++)
		use_unit(i);
	for (unsigned int i = 0; i < UNITS; i++) {
		turn_to_unit(i);
		unit_put(CISC_GENERATION, LATER);
	}
	turn_to_unit(0);
	for (unsigned int i = 0; i < UNITS; i++)
		unit_put(CISC, 2 | i << 5);
	for (unsigned int i = 0; i < UNITS; i++) {
		turn_to_unit(i);
		COMPLETE();
		EXPECT(unit_get(DISPATCHED), 1);
	}
}

CASE(a_word_for_a_unit_that_is_not_there_is_an_error_of_the_block, EITHER)
{
	use_unit(1);
	unit_put(CISC, 5u << 5 | 8);
	EXPECT_ERROR(BAD_COMMAND, 5u << 5 | 8, 0, 5u << 5 | 8, 0, 0);
}

CASE(the_tile_is_one_of_64_elements_after_a_reset, EITHER)
{
	FOR_EACH_UNIT {
		/* 64 x 64 values of 4 bytes are the whole accumulator */
		uint64_t bytes = unit_count(COUNT_SHARED_WRITTEN);

		unit_put(CISC_GENERATION, PAPER);
		cisc(9);
		COMPLETE();
		EXPECT(unit_count(COUNT_SHARED_WRITTEN) - bytes, 64 * 64 * unit.size);
	}
}
