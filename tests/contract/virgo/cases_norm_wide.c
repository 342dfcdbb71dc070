/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Layernorm and softmax of rows that are wider than DIM, each visit by one move-out
 * of the whole row: sums end with the last block of a row, and not before. Expected
 * values are computed from all columns of the row (virgo_norm.h).
 */
#include <string.h>

#include "tests/contract/virgo/norm.h"
#include "tests/contract/virgo/contract.h"

#define MOST_BLOCKS 7
#define MOST (MOST_BLOCKS * MAX_DIM)

static const unsigned int block_counts[] = { 2, 3, MOST_BLOCKS };

/* Rows of 2, 3 and 7 blocks; the last block is whole, or has one column. */
static bool next_width(unsigned int *n, unsigned int *columns)
{
	unsigned int blocks;

	if (*n >= 6)
		return false;
	blocks = block_counts[*n / 2];
	*columns = *n % 2 ? (blocks - 1) * unit.dim + 1 : blocks * unit.dim;
	++*n;
	return true;
}
#define FOR_EACH_WIDTH(columns) \
	for (unsigned int width_ = 0, columns; next_width(&width_, &columns);)

/*
 * Blocks differ much from each other, so that statistics of some of them are not
 * near those of the row. Values of floats are steps of 1/250 that are not exact.
 */
static void draw_row(unsigned int activation, double *values, unsigned int columns)
{
	bool rises = draw_below(2);

	for (unsigned int i = 0; i < columns; i++) {
		int block = (int)(i / unit.dim), step = rises ? block : MOST_BLOCKS - block;

		if (unit.type != INT8)
			values[i] = (double)(draw_float() / 4 + 1.5f * (float)step);
		else if (activation == LAYERNORM)
			values[i] = (int)draw_below(801) - 400 + 300 * step;
		else
			values[i] = (int)draw_below(41) - 20 + 30 * step;
	}
}

/* A row of the accumulator; its memory is its own, for the reference reads it again. */
static void put_row(uint32_t local, const double *values, unsigned int columns)
{
	void *from = input_at((size_t)local * MOST * 4);

	for (unsigned int i = 0; i < columns; i++)
		put_value(from, i, values[i]);
	config_ld(0, 4096, 1, false);
	mvin(from, ACC | local, 1, columns);
	COMPLETE();
}

/* The visits before the last one. */
static unsigned int visit_of(unsigned int activation, unsigned int n)
{
	static const unsigned int layernorm[] = { NORM_MEAN, NORM_DEVIATION };
	static const unsigned int softmax[] = { NORM_MAX, NORM_END_EXP };

	return activation == LAYERNORM ? layernorm[n] : softmax[n];
}

/* Rows of the scratchpad that a row of the accumulator goes to. */
#define SPAD_ROW 3
#define SPAD_STRIDE 2

static const void *spad_block(unsigned int block)
{
	return shared_row(SPAD_ROW + block * unit.dim * SPAD_STRIDE);
}

static void expect_row(const void *row, const double *expected, unsigned int columns)
{
	for (unsigned int i = 0; i < columns; i++)
		EXPECT_TRUE(element_of(row, i) == expected[i]);
}

static void expect_normalised(unsigned int activation, unsigned int columns)
{
	double values[MOST], expected[MOST];

	draw_row(activation, values, columns);
	normalised_row(activation, values, columns, expected);
	put_row(5, values, columns);
	config_activation(activation, 4096);
	for (unsigned int n = 0; n < 2; n++)
		mvout(output_at(0), ACC | NORM(visit_of(activation, n)) | 5, 1, columns);
	mvout(output_at(0), ACC | 5, 1, columns);
	COMPLETE();
	expect_row(output_at(0), expected, columns);
	CHECK();
}

CASE(layernorm_of_rows_of_2_3_and_7_blocks, EITHER)
{
	FOR_EACH_UNIT
		FOR_EACH_WIDTH(columns)
			expect_normalised(LAYERNORM, columns);
}

CASE(softmax_of_rows_of_2_3_and_7_blocks, EITHER)
{
	FOR_EACH_UNIT
		FOR_EACH_WIDTH(columns)
			expect_normalised(SOFTMAX, columns);
}

/* --- the same by moves to the scratchpad -------------------------------------------------- */

static void expect_normalised_in_spad(unsigned int activation, unsigned int columns)
{
	uint64_t to = (uint64_t)SPAD_STRIDE << 32 | SPAD_ROW;
	double values[MOST], expected[MOST];

	draw_row(activation, values, columns);
	normalised_row(activation, values, columns, expected);
	put_row(0, values, columns);
	config_activation(activation, 4096);
	for (unsigned int n = 0; n < 2; n++)
		rocc(MVOUT_SPAD, to, pack(1, columns, ACC | NORM(visit_of(activation, n))));
	rocc(MVOUT_SPAD, to, pack(1, columns, ACC));
	COMPLETE();
	for (unsigned int i = 0; i < columns; i += unit.dim)
		expect_row(spad_block(i / unit.dim), expected + i,
			   columns - i < unit.dim ? columns - i : unit.dim);
	CHECK();
}

CASE(wide_moves_to_the_scratchpad_normalise_whole_rows, EITHER)
{
	FOR_EACH_UNIT {
		FOR_EACH_WIDTH(columns) {
			expect_normalised_in_spad(LAYERNORM, columns);
			expect_normalised_in_spad(SOFTMAX, columns);
		}
	}
}

/* --- rows in parts, and several rows ---------------------------------------------------------- */

/* The operation for the first part of a row, which does not end the sum. */
static unsigned int unfinished(unsigned int norm)
{
	return norm == NORM_MEAN ? NORM_SUM : norm == NORM_DEVIATION ? NORM_VARIANCE :
	       norm == NORM_END_EXP ? NORM_SUM_EXP : norm;
}

/* Blocks 0 to 2 by one move, 3 to 6 by another one. */
CASE(a_row_of_7_blocks_in_two_wide_moves, EITHER)
{
	static const unsigned int activations[] = { LAYERNORM, SOFTMAX };

	FOR_EACH_UNIT {
		for (unsigned int a = 0; a < 2; a++) {
			unsigned int first = 3 * unit.dim, columns = MOST_BLOCKS * unit.dim - 1;
			double values[MOST], expected[MOST];

			draw_row(activations[a], values, columns);
			normalised_row(activations[a], values, columns, expected);
			put_row(0, values, columns);
			config_activation(activations[a], 4096);
			for (unsigned int n = 0; n < 2; n++) {
				unsigned int norm = visit_of(activations[a], n);

				mvout(output_at(0), ACC | NORM(unfinished(norm)), 1, first);
				mvout(output_at(0), ACC | NORM(norm) | first, 1, columns - first);
			}
			mvout(output_at(0), ACC, 1, columns);
			COMPLETE();
			expect_row(output_at(0), expected, columns);
			CHECK();
		}
	}
}

/* The sums of a row end with it: of two rows in one move, the mean is the second one's. */
CASE(each_row_of_a_wide_move_is_a_sum_of_its_own, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int columns = 3 * unit.dim;
		double first[MOST], second[MOST];

		for (unsigned int i = 0; i < columns; i++) {
			first[i] = 50;
			second[i] = i < unit.dim ? 4 : 10;
		}
		put_row(0, first, columns);
		put_row(1, second, columns);
		config_st(1024, LAYERNORM, 1);
		mvout(output_at(0), ACC | NORM(NORM_MEAN), 2, columns);
		mvout(output_at(0), ACC, 2, columns);
		COMPLETE();
		/* the mean is 8, the deviation not known yet and so 1 */
		for (unsigned int i = 0; i < columns; i++) {
			EXPECT_TRUE(element_of(output_at(0), i) == 42);
			EXPECT_TRUE(element_of(output_at(1024), i) == (i < unit.dim ? -4 : 2));
		}
		CHECK();
	}
}

/* --- LOOP_WS ---------------------------------------------------------------------------------- */

/* Only the store of a loop: two rows of blocks, of which the second has one row. */
CASE(a_loop_normalises_rows_of_2_3_and_7_blocks, EITHER)
{
	static const unsigned int activations[] = { LAYERNORM, SOFTMAX };

	FOR_EACH_UNIT {
		FOR_EACH_WIDTH(columns) {
			unsigned int activation = activations[columns % 2], dim = unit.dim;
			unsigned int blocks = (columns + dim - 1) / dim, row_bytes = columns * unit.size;
			static double values[MAX_DIM + 1][MOST];
			double expected[MOST];

			for (unsigned int row = 0; row <= dim; row++) {
				draw_row(activation, values[row], columns);
				put_row(row < dim ? row : blocks * dim, values[row], columns);
			}
			config_activation(activation, row_bytes);
			rocc(LOOP_WS_BOUNDS, (uint64_t)(blocks * dim - columns) << 16 | (dim - 1),
			     1ull << 32 | (uint64_t)blocks << 16 | 2);
			rocc(LOOP_WS_ADDRS_DC, 0, address_of(output_at(0)));
			rocc(LOOP_WS_STRIDES_DC, 0, columns);
			rocc(LOOP_WS, LOOP_ACTIVATION(activation), ONLY_STORE);
			COMPLETE();
			for (unsigned int row = 0; row <= dim; row++) {
				normalised_row(activation, values[row], columns, expected);
				expect_row(output_at(row * row_bytes), expected, columns);
			}
			CHECK();
		}
	}
}
