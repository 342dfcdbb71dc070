/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mvout and MVOUT_SPAD: scaling, rounding, relu, full width, blocks. */
#include <math.h>
#include <string.h>

#include "tests/contract/virgo/contract.h"

CASE(mvout_of_the_scratchpad_writes_what_is_there, EITHER)
{
	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size;

		fill_elements(shared_memory(), 4096);
		memset(output_at(0), 0x5a, 65536);
		/* scale and activation are for the accumulator */
		config_st(2000, RELU, 0.25f);
		mvout(output_at(8), 3, unit.dim, unit.dim);
		COMPLETE();
		for (unsigned int row = 0; row < unit.dim; row++)
			EXPECT_SAME(output_at(8 + 2000 * row), shared_row(3 + row), row_bytes);
		EXPECT(*(uint8_t *)output_at(7), 0x5a);
		EXPECT(*(uint8_t *)output_at(8 + row_bytes), 0x5a);
	}
}

CASE(blocks_of_a_wide_row_lie_dim_rows_apart, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int columns = 3 * unit.dim - 1;

		fill_unit();
		config_st(1000, NO_ACTIVATION, 1);
		mvout(output_at(8), 11, 5, columns);
		COMPLETE();
		for (unsigned int row = 0; row < 5; row++)
			for (unsigned int column = 0; column < columns; column++)
				EXPECT_SAME(output_at(8 + 1000 * row + column * unit.size),
					    shared_row(11 + row + column / unit.dim * unit.dim) +
					    column % unit.dim * unit.size, unit.size);
		mvout(output_at(8), ACC | 7, 5, columns);
		mvout(output_at(16384), ACC | FULL | 7, 5, columns);
		/* wider than a DMA transfer */
		config_st(2048, NO_ACTIVATION, 1);
		mvout(output_at(32768), 0, 3, 60 * unit.dim);
		CHECK();
	}
}

CASE(values_of_the_accumulator_leave_as_elements, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim * unit.dim;

		fill_values(input_at(0), n);
		config_ld(0, unit.dim * 4, 1, false);
		config_st(unit.dim * unit.size, NO_ACTIVATION, 1);
		mvin(input_at(0), ACC, unit.dim, unit.dim);
		mvout(output_at(0), ACC, unit.dim, unit.dim);
		COMPLETE();
		for (unsigned int i = 0; i < n; i++)
			EXPECT_TRUE(element_of(output_at(0), i) == as_element(value_of(input_at(0), i)));
	}
}

/* Gemmini's ACC_SCALE: the product is an fp32, rounded to the nearest whole number, ties to even. */
CASE(the_scale_of_int8_rounds_ties_to_even_and_saturates, EITHER)
{
	static const int32_t values[16] = { 1, 3, 5, 7, -1, -3, -5, -7, 253, 254, 255, -255, -256, -257, 1000000, 0 };
	static const int8_t halves[16] = { 0, 2, 2, 4, 0, -2, -2, -4, 126, 127, 127, -128, -128, -128, 127, 0 };

	use_type(INT8);
	memcpy(input_at(0), values, sizeof(values));
	config_ld(0, 64, 1, false);
	config_st(64, NO_ACTIVATION, 0.5f);
	mvin(input_at(0), ACC, 1, 16);
	mvout(output_at(0), ACC, 1, 16);
	COMPLETE();
	EXPECT_SAME(output_at(0), halves, 16);
}

/* One rounding: fp32 to binary16, to nearest, ties to even; large values are infinite. */
CASE(values_of_fp16_are_rounded_once_on_the_way_out, EITHER)
{
	static const float values[8] = { 2049, 2051, 65519, 65520, 0x1p-25f, 0x1.8p-24f, -2049, 1.0f / 3 };
	static const uint16_t halves[8] = { 0x6800, 0x6802, 0x7bff, 0x7c00, 0x0000, 0x0002, 0xe800, 0x3555 };

	use_type(FP16);
	memcpy(input_at(0), values, sizeof(values));
	config_ld(0, 64, 1, false);
	config_st(64, NO_ACTIVATION, 1);
	mvin(input_at(0), ACC, 1, 8);
	mvout(output_at(0), ACC, 1, 8);
	COMPLETE();
	EXPECT_SAME(output_at(0), halves, sizeof(halves));
}

CASE(relu_keeps_what_is_not_negative, EITHER)
{
	FOR_EACH_UNIT {
		fill_values(input_at(0), unit.dim * unit.dim);
		config_ld(0, unit.dim * 4, 1, false);
		config_st(unit.dim * unit.size, RELU, 1);
		mvin(input_at(0), ACC, unit.dim, unit.dim);
		mvout(output_at(0), ACC, unit.dim, unit.dim);
		COMPLETE();
		for (unsigned int i = 0; i < unit.dim * unit.dim; i++) {
			double value = value_of(input_at(0), i);

			EXPECT_TRUE(element_of(output_at(0), i) == (value < 0 ? 0 : as_element(value)));
		}
	}
}

CASE(scales_of_all_sizes_with_and_without_relu, EITHER)
{
	static const float scales[] = { 1, 0.001f, 0.0004f, 0.5f, -1, 3e-5f, 1e10f, 0 };

	FOR_EACH_UNIT {
		fill_unit();
		for (unsigned int i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
			config_st(unit.dim * unit.size, i % 2 ? RELU : NO_ACTIVATION, scales[i]);
			mvout(output_at(i * 16384), ACC, unit.accumulator_rows, unit.dim);
		}
		CHECK();
	}
}

CASE(a_scale_of_all_ones_keeps_the_one_that_was, EITHER)
{
	FOR_EACH_UNIT {
		put_value(input_at(0), 0, 12);
		config_ld(0, 64, 1, false);
		config_st(64, NO_ACTIVATION, 0.25f);
		mvin(input_at(0), ACC, 1, 1);
		rocc(CONFIG, 2, 0xffffffffull << 32 | 128);
		mvout(output_at(0), ACC, 1, 1);
		COMPLETE();
		EXPECT_TRUE(element_of(output_at(0), 0) == 3);
	}
}

CASE(full_width_is_the_accumulator_as_it_is, EITHER)
{
	FOR_EACH_UNIT {
		fill_values(input_at(0), 4 * unit.dim);
		config_ld(0, unit.dim * 4, 1, false);
		mvin(input_at(0), ACC | 4, 4, unit.dim);
		config_st(100, RELU, 0.5f);
		mvout(output_at(0), ACC | FULL | 4, 4, unit.dim);
		/* bits of the normaliser mean nothing here */
		mvout(output_at(4096), ACC | FULL | NORM(NORM_SUM) | 4, 4, unit.dim);
		COMPLETE();
		for (unsigned int row = 0; row < 4; row++) {
			EXPECT_SAME(output_at(100 * row), input_at(row * unit.dim * 4), unit.dim * 4);
			EXPECT_SAME(output_at(4096 + 100 * row), input_at(row * unit.dim * 4), unit.dim * 4);
		}
	}
}

/* The number of NaN in fp32 is 0x7fc00000, in binary16 0x7e00. */
CASE(a_nan_that_arithmetic_makes_has_one_pattern, EITHER)
{
	static const uint32_t infinity = 0x7f800000, nan = 0x7fc00000;
	static const uint16_t half_nan = 0x7e00;

	FOR_EACH_UNIT {
		if (unit.type == INT8)
			continue;
		memcpy(input_at(0), &infinity, 4);
		config_ld(0, 64, 1, false);
		config_ld(1, 64, -1, false);
		config_st(64, NO_ACTIVATION, 1);
		mvin(input_at(0), ACC, 1, 1);
		mvin2(input_at(0), ACC | ADD, 1, 1);
		mvout(output_at(0), ACC | FULL, 1, 1);
		mvout(output_at(64), ACC, 1, 1);
		config_st(64, NO_ACTIVATION, 2);
		mvout(output_at(128), ACC, 1, 1);
		COMPLETE();
		EXPECT_SAME(output_at(0), &nan, 4);
		EXPECT_SAME(output_at(64), unit.size == 2 ? (const void *)&half_nan : &nan, unit.size);
		EXPECT_SAME(output_at(128), unit.size == 2 ? (const void *)&half_nan : &nan, unit.size);
	}
}

/* --- MVOUT_SPAD ------------------------------------------------------------------------------ */

CASE(mvout_spad_puts_elements_into_the_scratchpad, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim * unit.dim;

		fill_values(input_at(0), n);
		config_ld(0, unit.dim * 4, 1, false);
		config_st(0, RELU, 1);
		mvin(input_at(0), ACC | 8, unit.dim, unit.dim);
		rocc(MVOUT_SPAD, 1ull << 32 | 77, pack(unit.dim, unit.dim, ACC | 8));
		COMPLETE();
		for (unsigned int i = 0; i < n; i++) {
			double value = value_of(input_at(0), i);

			EXPECT_TRUE(element_of(shared_row(77), i) == (value < 0 ? 0 : as_element(value)));
		}
	}
}

/* Row r of block b goes to row + (b x DIM + r) x stride. */
CASE(mvout_spad_spreads_rows_by_its_stride, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int rows = unit.dim - 1, columns = 2 * unit.dim - 3;

		fill_unit();
		config_st(0, NO_ACTIVATION, 0.01f);
		mvout(output_at(0), ACC | 5, 1, columns);
		rocc(MVOUT_SPAD, 3ull << 32 | 7, pack(rows, columns, ACC | 5));
		COMPLETE();
		EXPECT_SAME(shared_row(7), output_at(0), (size_t)unit.dim * unit.size);
		EXPECT_SAME(shared_row(7 + 3 * unit.dim), output_at(unit.dim * unit.size),
			    (size_t)(columns - unit.dim) * unit.size);
		rocc(MVOUT_SPAD, 0ull << 32 | 7, pack(rows, columns, ACC | 5));
		rocc(MVOUT_SPAD, 1ull << 32 | (unit.rows - 2 * unit.dim), pack(unit.dim, 2 * unit.dim, ACC));
		CHECK();
	}
}

/* --- hazards --------------------------------------------------------------------------------- */

/* Commands of a unit are done in order: nothing else makes this work. */
CASE(a_move_in_reads_the_rows_of_the_move_out_before_it, EITHER)
{
	FOR_EACH_UNIT {
		size_t row_bytes = (size_t)unit.dim * unit.size;

		fill_elements(input_at(0), 256);
		config_ld(0, 64, 1, false);
		config_st(64, NO_ACTIVATION, 1);
		mvin(input_at(0), 0, 1, unit.dim);
		for (unsigned int i = 0; i < 20; i++) {
			mvout(output_at(64 * i), i, 1, unit.dim);
			mvin(output_at(64 * i), i + 1, 1, unit.dim);
		}
		COMPLETE();
		EXPECT_SAME(shared_row(20), input_at(0), row_bytes);
		CHECK();
	}
}

CASE(a_row_that_is_read_is_written_afterwards, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		config_ld(0, 64, 1, false);
		config_st(64, NO_ACTIVATION, 1);
		for (unsigned int i = 0; i < 8; i++) {
			mvout(output_at(1024 * i), 10, 3, unit.dim);
			mvin(input_at(64 * i), 10, 3, unit.dim);
			rocc(MVOUT_SPAD, 1ull << 32 | 11, pack(1, unit.dim, ACC | i));
		}
		CHECK();
	}
}

/* The program's own loads and stores reach the same bytes. */
CASE(shared_memory_is_memory_for_the_program, EITHER)
{
	FOR_EACH_UNIT {
		for (unsigned int i = 0; i < SHARED_BYTES; i += 4093)
			shared_memory()[i] = (uint8_t)(i / 4093);
		shared_memory()[SHARED_BYTES - 1] = 0x77;
		config_st(unit.dim * unit.size, NO_ACTIVATION, 1);
		mvout(output_at(0), unit.rows - 256, 256, unit.dim);
		COMPLETE();
		EXPECT_SAME(output_at(0), shared_row(unit.rows - 256), 256ull * unit.dim * unit.size);
		EXPECT(((uint8_t *)output_at(0))[256 * unit.dim * unit.size - 1], 0x77);
	}
}

CASE(shared_memory_is_cleared_when_a_program_opens_the_cluster, EITHER)
{
	static const uint8_t zeros[4096];

	for (unsigned int i = 0; i < SHARED_BYTES; i += sizeof(zeros))
		EXPECT_SAME(shared_memory() + i, zeros, sizeof(zeros));
}
