/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mvin, mvin2, mvin3: program memory to the scratchpad and the accumulator. */
#include <string.h>

#include "tests/contract/virgo/contract.h"

CASE(mvin_takes_rows_by_their_stride_and_puts_them_one_below_the_other, EITHER)
{
	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size, stride = 100 * unit.size;

		fill_elements(input_at(0), 8192);
		memset(shared_memory(), 0x5a, SHARED_BYTES);
		config_ld(0, stride, 1, false);
		mvin(input_at(12), 40, unit.dim, unit.dim);
		COMPLETE();
		for (unsigned int row = 0; row < unit.dim; row++)
			EXPECT_SAME(shared_row(40 + row), input_at(12 + row * stride), row_bytes);
		EXPECT(*shared_row(39), 0x5a);
		EXPECT(*shared_row(40 + unit.dim), 0x5a);
	}
}

CASE(mvin_of_fewer_columns_leaves_the_rest_of_the_row_alone, EITHER)
{
	FOR_EACH_UNIT {
		size_t bytes = (size_t)(unit.dim - 2) * unit.size;

		fill_elements(input_at(0), 8192);
		memset(shared_memory(), 0x5a, SHARED_BYTES);
		config_ld(0, 64 * unit.size, 1, false);
		mvin(input_at(3), 7, unit.dim - 1, unit.dim - 2);
		COMPLETE();
		for (unsigned int row = 0; row < unit.dim - 1; row++) {
			EXPECT_SAME(shared_row(7 + row), input_at(3 + row * 64 * unit.size), bytes);
			EXPECT(shared_row(7 + row)[bytes], 0x5a);
		}
		EXPECT(*shared_row(7 + unit.dim - 1), 0x5a);
	}
}

CASE(mvin_of_wide_rows_fills_blocks_a_block_stride_apart, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int columns = 4 * unit.dim - 3;

		fill_elements(input_at(0), INPUT_BYTES / unit.size);
		config_ld_blocks(1, 3000, 1, 33, 1);
		mvin2(input_at(8), 100, unit.dim, columns);
		COMPLETE();
		for (unsigned int row = 0; row < unit.dim; row++)
			for (unsigned int column = 0; column < columns; column++)
				EXPECT_SAME(shared_row(100 + row + column / unit.dim * 33) +
					    column % unit.dim * unit.size,
					    input_at(8 + row * 3000 + column * unit.size), unit.size);
	}
}

CASE(mvin_of_very_wide_rows_and_of_many_rows, EITHER)
{
	FOR_EACH_UNIT {
		fill_elements(input_at(0), INPUT_BYTES / unit.size);
		config_ld(0, 5000, 1, false);
		mvin(input_at(0), 0, unit.dim, 900);
		config_ld(1, 6, 1, false);
		mvin2(input_at(0), unit.rows - 1000, 1000, unit.dim);
		CHECK();
	}
}

CASE(blocks_of_a_wide_row_may_lie_over_each_other, EITHER)
{
	FOR_EACH_UNIT {
		fill_elements(input_at(0), 4096);
		config_ld_blocks(0, 512, 1, 0, 1);
		mvin(input_at(0), 9, 3, 3 * unit.dim);
		config_ld_blocks(0, 512, 1, 1, 1);
		mvin(input_at(0), 19, 3, 3 * unit.dim);
		CHECK();
	}
}

CASE(a_stride_of_0_repeats_a_row, EITHER)
{
	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size;

		fill_elements(input_at(0), 4096);
		config_ld(2, 0, 1, false);
		mvin3(input_at(64), 9, unit.dim, unit.dim);
		COMPLETE();
		for (unsigned int row = 0; row < unit.dim; row++)
			EXPECT_SAME(shared_row(9 + row), input_at(64), row_bytes);
		mvin3(input_at(64), ACC, unit.dim, 2 * unit.dim);
		CHECK();
	}
}

CASE(the_address_0_reads_as_zeros, EITHER)
{
	static const uint8_t zeros[64];

	FOR_EACH_UNIT {
		fill_unit();
		config_ld(0, 1000, 2.5f, false);
		mvin(NULL, 5, 3, unit.dim);
		COMPLETE();
		for (unsigned int row = 5; row < 8; row++)
			EXPECT_SAME(shared_row(row), zeros, (size_t)unit.dim * unit.size);
		mvin(NULL, ACC | 2, 3, unit.dim - 1);
		mvin(NULL, ACC | ADD | 30, 3, unit.dim);
		CHECK();
	}
}

CASE(moves_of_no_rows_or_no_columns_do_nothing, EITHER)
{
	FOR_EACH_UNIT {
		config_ld(0, 64, 1, false);
		config_st(64, NO_ACTIVATION, 1);
		mvin(input_at(0), 3, 0, unit.dim);
		mvin(input_at(0), 3, unit.dim, 0);
		mvin((void *)16, 3, 0, 0);
		mvout(output_at(0), 3, 0, 4);
		mvout(output_at(0), ACC, 4, 0);
		CHECK();
	}
}

CASE(the_three_loads_have_configurations_of_their_own, EITHER)
{
	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size;

		fill_elements(input_at(0), 8192);
		config_ld(0, 64, 1, false);
		config_ld(1, 128, 1, false);
		config_ld(2, 192, 1, false);
		mvin(input_at(0), 0, 2, unit.dim);
		mvin2(input_at(0), 10, 2, unit.dim);
		mvin3(input_at(0), 20, 2, unit.dim);
		COMPLETE();
		EXPECT_SAME(shared_row(1), input_at(64), row_bytes);
		EXPECT_SAME(shared_row(11), input_at(128), row_bytes);
		EXPECT_SAME(shared_row(21), input_at(192), row_bytes);
		CHECK();
	}
}

/* int8: rounded to nearest, ties to even, saturated. Written out, for nothing else to be wrong with it. */
CASE(a_scale_of_int8_rounds_ties_to_even_and_saturates, EITHER)
{
	static const int8_t from[16] = { 1, 2, 3, 4, 5, -1, -2, -3, -4, -5, 127, -128, 0, 100, -100, 7 };
	static const int8_t halves[16] = { 0, 1, 2, 2, 2, 0, -1, -2, -2, -2, 64, -64, 0, 50, -50, 4 };
	static const int8_t doubles[16] = { 2, 4, 6, 8, 10, -2, -4, -6, -8, -10, 127, -128, 0, 127, -128, 14 };

	use_type(INT8);
	memcpy(input_at(0), from, 16);
	config_ld(0, 16, 0.5f, false);
	mvin(input_at(0), 0, 1, 16);
	config_ld(1, 16, 2, false);
	mvin2(input_at(0), 1, 1, 16);
	COMPLETE();
	EXPECT_SAME(shared_row(0), halves, 16);
	EXPECT_SAME(shared_row(1), doubles, 16);
}

CASE(a_scale_multiplies_elements_of_every_type, EITHER)
{
	static const float scales[] = { 0.5f, 1.5f, -2, 0.3333f, 100, 1e30f, 0 };

	FOR_EACH_UNIT {
		fill_elements(input_at(0), 2048);
		for (unsigned int i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
			config_ld(0, unit.dim * unit.size, scales[i], false);
			mvin(input_at(0), 64 * i, 64, unit.dim);
		}
		CHECK();
		for (unsigned int i = 0; i < unit.dim && unit.type == FP32; i++)
			EXPECT(float_bits((float)element_of(shared_row(0), i)),
			       float_bits((float)element_of(input_at(0), i) * 0.5f));
	}
}

/* Not a number, with something to say: 0x7fa01234 and 0x7d01. */
CASE(a_scale_of_1_copies_bits, EITHER)
{
	static const uint8_t wide[4] = { 0x34, 0x12, 0xa0, 0x7f }, narrow[2] = { 0x01, 0x7d };

	FOR_EACH_UNIT {
		memcpy(input_at(0), unit.type == FP32 ? wide : narrow, unit.size == 4 ? 4 : 2);
		config_ld(0, 64, 1, false);
		mvin(input_at(0), 0, 1, 1);
		COMPLETE();
		EXPECT_SAME(shared_row(0), input_at(0), unit.size);
	}
}

CASE(the_accumulator_takes_whole_values, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim * unit.dim;

		fill_values(input_at(0), 2 * n);
		config_ld(0, unit.dim * 4, 1, false);
		config_st(unit.dim * 4, NO_ACTIVATION, 1);
		mvin(input_at(0), ACC | 5, unit.dim, unit.dim);
		mvout(output_at(0), ACC | FULL | 5, unit.dim, unit.dim);
		COMPLETE();
		EXPECT_SAME(output_at(0), input_at(0), n * 4);
	}
}

CASE(a_move_with_the_accumulate_bit_adds, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim * unit.dim;

		fill_values(input_at(0), 2 * n);
		config_ld(0, unit.dim * 4, 1, false);
		config_st(unit.dim * 4, NO_ACTIVATION, 1);
		mvin(input_at(0), ACC | 5, unit.dim, unit.dim);
		mvin(input_at(n * 4), ACC | ADD | 5, unit.dim, unit.dim);
		mvout(output_at(0), ACC | FULL | 5, unit.dim, unit.dim);
		COMPLETE();
		for (unsigned int i = 0; i < n; i++) {
			double sum = value_of(input_at(0), i) + value_of(input_at(n * 4), i);

			EXPECT_TRUE(value_of(output_at(0), i) == (double)(float)sum);
		}
		mvin(input_at(0), ACC | ADD | 5, unit.dim, 2 * unit.dim);
		CHECK();
	}
}

CASE(sums_of_int32_wrap, EITHER)
{
	static const int32_t a[] = { INT32_MAX, INT32_MIN, -1 }, sums[] = { -2, 0, -2 };
	const int32_t *result = output_at(0);

	use_type(INT8);
	memcpy(input_at(0), a, sizeof(a));
	config_ld(0, 64, 1, false);
	config_st(64, NO_ACTIVATION, 1);
	mvin(input_at(0), ACC, 1, 3);
	mvin(input_at(0), ACC | ADD, 1, 3);
	mvout(output_at(0), ACC | FULL, 1, 3);
	COMPLETE();
	EXPECT_SAME(result, sums, sizeof(sums));
}

CASE(shrunk_moves_bring_elements_to_the_accumulator, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_elements(input_at(0), 4096);
		config_ld(0, unit.dim * unit.size, 1, true);
		config_st(unit.dim * 4, NO_ACTIVATION, 1);
		mvin(input_at(0), ACC | 3, 4, n);
		mvout(output_at(0), ACC | FULL | 3, 4, n);
		COMPLETE();
		for (unsigned int i = 0; i < 4 * n; i++)
			EXPECT_TRUE(value_of(output_at(0), i) == element_of(input_at(0), i));
		mvin(input_at(0), ACC | ADD | 3, n, 2 * n);
		config_ld(0, unit.dim * unit.size, 1.7f, true);
		mvin(input_at(0), ACC | 1, n, n);
		mvin(input_at(512), ACC | ADD | 1, n, n);
		CHECK();
	}
}

/* As Gemmini's default configurations are: no multiplier for int32, one for floats. */
CASE(whole_values_are_scaled_if_they_are_floats, EITHER)
{
	FOR_EACH_UNIT {
		fill_values(input_at(0), unit.dim);
		config_ld(0, 64, 2.5f, false);
		config_st(64, NO_ACTIVATION, 1);
		mvin(input_at(0), ACC, 1, unit.dim);
		mvout(output_at(0), ACC | FULL, 1, unit.dim);
		COMPLETE();
		for (unsigned int i = 0; i < unit.dim; i++) {
			float value = (float)value_of(input_at(0), i);

			EXPECT_TRUE(value_of(output_at(0), i) ==
				    (double)(unit.type == INT8 ? value : value * 2.5f));
		}
	}
}

/* Pixel p of a row lies one row higher and its columns p times as far right. */
CASE(pixels_of_a_row_are_repeated_upwards_and_to_the_right, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int columns = unit.dim / 4, rows = 6;

		fill_elements(input_at(0), 64);
		config_ld_blocks(0, columns * unit.size, 1, unit.dim, 4);
		mvin(input_at(0), 20, rows, columns);
		COMPLETE();
		for (unsigned int row = 0; row < rows; row++)
			for (unsigned int pixel = 0; pixel < 4; pixel++)
				EXPECT_SAME(shared_row(20 + row - pixel) + pixel * columns * unit.size,
					    input_at(row * columns * unit.size), columns * unit.size);
	}
}

CASE(pixels_that_do_not_fit_are_cut_off, EITHER)
{
	FOR_EACH_UNIT {
		fill_elements(input_at(0), 4096);
		config_ld_blocks(0, 3 * unit.size, 1, unit.dim, 4);
		/* above the first row, and above the second half */
		mvin(input_at(0), 0, unit.dim, 3);
		mvin(input_at(0), unit.rows / 2 + 1, unit.dim, 3);
		/* right of the row */
		config_ld_blocks(0, 3 * unit.size, 0.5f, unit.dim, 200);
		mvin(input_at(0), 300, 2, 3);
		config_ld_blocks(1, 64, 1, 5, 3);
		mvin2(input_at(0), 400, 4, 2 * unit.dim - 1);
		CHECK();
	}
}

CASE(a_move_may_begin_at_any_byte_and_reach_over_pages, EITHER)
{
	FOR_EACH_UNIT {
		fill_elements(input_at(0), 40960 / unit.size);
		config_ld(0, 4093, 1, false);
		mvin(input_at(4089), 11, 8, 2 * unit.dim);
		CHECK();
	}
}

/* A stride has 64 bits: rows may go backwards. */
CASE(rows_may_come_in_any_direction, EITHER)
{
	FOR_EACH_UNIT {
		fill_elements(input_at(0), 4096);
		config_ld(0, (uint64_t)-64, 1, false);
		mvin(input_at(2048), 0, 8, unit.dim);
		COMPLETE();
		for (unsigned int row = 0; row < 8; row++)
			EXPECT_SAME(shared_row(row), input_at(2048 - 64 * row), (size_t)unit.dim * unit.size);
	}
}

CASE(the_last_row_of_each_memory_can_be_moved, EITHER)
{
	FOR_EACH_UNIT {
		fill_elements(input_at(0), 256);
		config_ld(0, 64, 1, false);
		config_st(64, NO_ACTIVATION, 1);
		mvin(input_at(0), unit.rows - 1, 1, unit.dim);
		mvin(input_at(0), ACC | (unit.accumulator_rows - 1), 1, unit.dim);
		mvout(output_at(0), unit.rows - 1, 1, unit.dim);
		mvout(output_at(100), ACC | FULL | (unit.accumulator_rows - 1), 1, unit.dim);
		CHECK();
		EXPECT_SAME(shared_memory() + SHARED_BYTES - unit.dim * unit.size, input_at(0),
			    (size_t)unit.dim * unit.size);
	}
}
