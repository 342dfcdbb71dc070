/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Commands that are wrong: which error, which value, and how a unit goes on. */
#include <string.h>

#include "tests/contract/virgo/contract.h"

static uint64_t in(void)
{
	return address_of(input_at(0));
}

static uint64_t out(void)
{
	return address_of(output_at(0));
}

static void configure(void)
{
	config_ld(0, 64, 1, false);
	config_st(64, NO_ACTIVATION, 1);
}

CASE(a_funct_that_is_no_command_is_an_error, EITHER)
{
	use_unit(2);
	for (unsigned int funct = 26; funct < 128; funct++)
		if (funct != COUNTER && !is_left_out(funct - 26))
			EXPECT_BAD(BAD_COMMAND, funct, funct, 1, 2);
}

CASE(a_word_of_another_opcode_is_an_error, EITHER)
{
	FOR_EACH_UNIT {
		unit_put(RS1, 5);
		unit_put(RS2, 6);
		store(A, PAGE_UNITS, unit_at(INSTRUCTION), 4, 0x04000033);
		EXPECT_ERROR(BAD_COMMAND, 0x04000033, 0, 0x04000033, 5, 6);
	}
}

CASE(rows_outside_of_the_scratchpad_are_errors, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int rows = unit.rows, n = unit.dim;

		configure();
		EXPECT_BAD(BAD_RANGE, rows, MVIN, in(), pack(1, n, rows));
		EXPECT_BAD(BAD_RANGE, rows, MVIN, in(), pack(8, n, rows - 7));
		EXPECT_BAD(BAD_RANGE, rows, MVIN, in(), pack(1, n + 1, rows - n));
		EXPECT_BAD(BAD_RANGE, 1u << 30, MVIN2, in(), pack(1, 1, 1u << 30));
		EXPECT_BAD(BAD_RANGE, rows, MVIN3, in(), pack(0xffff, 1, rows - 1));
		EXPECT_BAD(BAD_RANGE, rows, MVOUT, out(), pack(8, n, rows - 7));
		EXPECT_BAD(BAD_RANGE, 0x7fffffff, MVOUT, out(), pack(1, 1, 0x7fffffff));
		EXPECT_BAD(BAD_RANGE, rows, MVOUT_SPAD, 1ull << 32 | (rows - 1), pack(2, n, ACC));
		EXPECT_BAD(BAD_RANGE, rows, MVOUT_SPAD, 0xffffffffull << 32 | 1, pack(2, n, ACC));
		EXPECT_BAD(BAD_RANGE, 0xffffffff, MVOUT_SPAD, 0xffffffff, pack(1, 1, ACC));
	}
}

CASE(rows_outside_of_the_accumulator_are_errors, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int rows = unit.accumulator_rows, n = unit.dim;

		configure();
		EXPECT_BAD(BAD_RANGE, rows, MVIN, in(), pack(1, n, ACC | rows));
		EXPECT_BAD(BAD_RANGE, rows, MVIN, in(), pack(2, 1, ACC | ADD | (rows - 1)));
		EXPECT_BAD(BAD_RANGE, rows, MVOUT, out(), pack(1, 2 * n, ACC | (rows - n)));
		EXPECT_BAD(BAD_RANGE, rows, MVOUT, out(), pack(1, n, ACC | FULL | rows));
		EXPECT_BAD(BAD_RANGE, rows, MVOUT_SPAD, 0, pack(2, n, ACC | (rows - 1)));
		EXPECT_BAD(BAD_RANGE, (1u << 26) - 1, MVOUT, out(), pack(1, 1, ACC | ((1u << 26) - 1)));
	}
}

CASE(operands_outside_of_memories_and_array_are_errors, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;
		uint64_t nothing = pack(n, n, GARBAGE), bad = pack(n, n, unit.rows - n + 1);

		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		rocc(PRELOAD, nothing, nothing);
		EXPECT_BAD(BAD_RANGE, unit.rows, COMPUTE_PRELOADED, bad, nothing);
		EXPECT_BAD(BAD_RANGE, unit.rows, COMPUTE_PRELOADED, nothing, bad);
		EXPECT_BAD(BAD_RANGE, unit.accumulator_rows, COMPUTE_ACCUMULATED,
			   pack(1, 1, ACC | unit.accumulator_rows), nothing);
		EXPECT_BAD(BAD_SIZE, n + 1, COMPUTE_PRELOADED, pack(n + 1, n, 0), nothing);
		EXPECT_BAD(BAD_SIZE, n + 2, COMPUTE_PRELOADED, pack(n, n + 2, 0), nothing);
		EXPECT_BAD(BAD_SIZE, 0xffff, COMPUTE_PRELOADED, nothing, pack(1, 0xffff, 0));
		/* preload only notes its operands: the compute finds them */
		rocc(PRELOAD, bad, nothing);
		EXPECT_BAD(BAD_RANGE, unit.rows, COMPUTE_PRELOADED, nothing, nothing);
		rocc(COMPUTE_ACCUMULATED, nothing, nothing);
		rocc(PRELOAD, nothing, pack(n, n, ACC | (unit.accumulator_rows - 1)));
		EXPECT_BAD(BAD_RANGE, unit.accumulator_rows, COMPUTE_ACCUMULATED, nothing, nothing);
		rocc(PRELOAD, nothing, nothing);
		config_ex_strides(WEIGHT_STATIONARY, 0xffff, 1, 1);
		EXPECT_BAD(BAD_RANGE, unit.rows, COMPUTE_ACCUMULATED, pack(2, n, 0), nothing);
	}
}

CASE(configurations_that_make_no_sense_are_errors, EITHER)
{
	FOR_EACH_UNIT {
		EXPECT_BAD(BAD_VALUE, 3, CONFIG, 3u << 3 | 1, 0);
		EXPECT_BAD(BAD_VALUE, 4, CONFIG, 4u << 8 | 3, 0);
		EXPECT_BAD(BAD_VALUE, 63, COUNTER, 1u << 3 | 63u << 12, 0);
		EXPECT_BAD(BAD_VALUE, 0, MVOUT_SPAD, 0, pack(1, 1, 0));
		EXPECT_BAD(BAD_VALUE, ACC | FULL, MVOUT_SPAD, 0, pack(1, 1, ACC | FULL));
	}
}

CASE(poolings_that_make_no_sense_are_errors, EITHER)
{
	FOR_EACH_UNIT {
		struct pooling p = { .stride = 1, .rows = 1, .columns = 1, .in_rows = 2, .in_columns = 2 };

		config_st_pool(&p, 64, NO_ACTIVATION, 1);
		EXPECT_BAD(BAD_VALUE, 0, MVOUT, out(), pack(0, 1, ACC));
		p.size = 2;
		config_st_pool(&p, 64, NO_ACTIVATION, 1);
		EXPECT_BAD(BAD_VALUE, 2, MVOUT, out(), pack(0, 1, ACC | FULL));
		EXPECT_BAD(BAD_SIZE, unit.dim + 1, MVOUT, out(), pack(0, unit.dim + 1, ACC));
		EXPECT_BAD(BAD_RANGE, unit.accumulator_rows, MVOUT, out(),
			   pack(0, 1, ACC | (unit.accumulator_rows - 3)));
	}
}

static uint64_t bounds(uint64_t i, uint64_t j, uint64_t k)
{
	return k << 32 | j << 16 | i;
}

CASE(loops_that_do_not_fit_are_errors, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim, most = unit.accumulator_rows / n, half = unit.rows / 2 / n;

		rocc(LOOP_WS_BOUNDS, 0, bounds(most + 1, 1, 1));
		EXPECT_BAD(BAD_SIZE, (most + 1) * n, LOOP_WS, 0, 0);
		rocc(LOOP_WS_BOUNDS, n, bounds(1, 1, 1));
		EXPECT_BAD(BAD_SIZE, n, LOOP_WS, 0, 0);
		rocc(LOOP_WS_BOUNDS, 0, bounds(1, 1, half));
		EXPECT_BAD(BAD_SIZE, 2ull * half * n, LOOP_WS, 0, 0);
		rocc(LOOP_WS_BOUNDS, 0, bounds(0xffff, 0xffff, 0xffff));
		EXPECT_BAD(BAD_SIZE, 0xffffull * 0xffff * n, LOOP_WS, 0, 0);
		rocc(LOOP_WS_BOUNDS, 0, bounds(1, 1, 1));
		EXPECT_BAD(BAD_VALUE, 3, LOOP_WS, LOOP_A_ID(3), 0);
		EXPECT_BAD(BAD_VALUE, 3, LOOP_WS, LOOP_B_ID(3), 0);
		EXPECT_BAD(BAD_RANGE, unit.rows, LOOP_WS, 0, ONLY_STORE_SPAD | LOOP_C_ROW(unit.rows - 1));
		EXPECT_BAD(BAD_VALUE, 1, LOOP_WS, LOOP_FULL_C, ONLY_STORE_SPAD);
		rocc(SPAD_AB, unit.rows - 1, unit.rows);
		EXPECT_BAD(BAD_RANGE, unit.rows, LOOP_WS, 0, 0);
		rocc(SPAD_AB, 0, unit.rows + 1);
		EXPECT_BAD(BAD_RANGE, unit.rows, LOOP_WS, 0, 0);
		rocc(SPAD_AB, 0, n - 1);
		EXPECT_BAD(BAD_SIZE, n, LOOP_WS, 0, 0);
	}
}

/* A small one that is fine; a case changes one field. */
struct conv_fields {
	uint64_t out_side, stride, pool_size, pool_stride, channels, side, top, dilation, kernel, batches;
	uint64_t pooled_rows, pooled_columns;
};

static void send_conv(const struct conv_fields *f)
{
	rocc(LOOP_CONV_1, f->channels << 48 | f->channels << 32 | f->side << 16 | f->batches,
	     f->stride << 48 | f->out_side << 32 | f->pooled_rows << 16 | f->out_side);
	rocc(LOOP_CONV_2, f->kernel << 48 | f->pooled_columns << 32 | f->pool_size << 16 | f->pool_stride << 8,
	     f->batches << 48 | f->pooled_rows << 32 | f->pooled_columns << 16 | f->channels);
	rocc(LOOP_CONV_3, f->kernel << 48 | f->kernel << 32 | f->channels << 16, f->top << 32 | f->side);
	rocc(LOOP_CONV_4, f->out_side << 48 | f->dilation, f->channels << 48 | f->channels << 32 |
	     f->channels << 16 | f->out_side);
}

static const struct conv_fields good = {
	.out_side = 4, .stride = 1, .pool_size = 2, .pool_stride = 2, .channels = 4, .side = 4, .dilation = 1,
	.kernel = 1, .batches = 1, .pooled_rows = 2, .pooled_columns = 2,
};

CASE(convolutions_that_do_not_fit_or_make_no_sense_are_errors, EITHER)
{

	FOR_EACH_UNIT {
		struct conv_fields f = good;

		send_conv(&f);
		rocc(LOOP_CONV_WS, 1, 1);
		COMPLETE();
		EXPECT_BAD(BAD_VALUE, 3, LOOP_CONV_WS, 3u << 16, 1);
		EXPECT_BAD(BAD_VALUE, 3, LOOP_CONV_WS, 3u << 18, 1);
		EXPECT_BAD(BAD_VALUE, 5, LOOP_CONV_WS, 5u << 8, 1);
		f.stride = 0;
		send_conv(&f);
		EXPECT_BAD(BAD_VALUE, 0, LOOP_CONV_WS, 0, 1);
		f = good;
		f.dilation = 0;
		send_conv(&f);
		EXPECT_BAD(BAD_VALUE, 0, LOOP_CONV_WS, 0, 1);
		f = good;
		f.pool_size = 4;
		send_conv(&f);
		EXPECT_BAD(BAD_VALUE, 4, LOOP_CONV_WS, 0, 0);
		f.pool_size = 2;
		f.pool_stride = 0;
		send_conv(&f);
		EXPECT_BAD(BAD_VALUE, 0, LOOP_CONV_WS, 0, 0);
		f.pool_stride = 4;
		send_conv(&f);
		EXPECT_BAD(BAD_VALUE, 4, LOOP_CONV_WS, 0, 0);
		f = good;
		f.out_side = f.side = 300;
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, 90000, LOOP_CONV_WS, 0, 1);
		f = good;
		f.top = 9;
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, 9, LOOP_CONV_WS, 0, 1);
	}
}

/* Rows of the scratchpad: a pixel of the input is one, the weights of a pixel and a channel are one. */
CASE(convolutions_whose_input_and_weights_do_not_fit_are_errors, EITHER)
{
	FOR_EACH_UNIT {
		struct conv_fields f = good;
		unsigned int half = unit.rows / 2, kernel = 1, input;

		f.channels = unit.dim;
		while ((kernel + 1) * (kernel + 1) * unit.dim <= half)
			kernel++;
		f.kernel = kernel;
		f.out_side = 10;
		input = (10 + kernel - 1) * (10 + kernel - 1);
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, input + kernel * kernel * unit.dim, LOOP_CONV_WS, 0, 1);
		/* one pixel of output: the input is as large as the kernel */
		f.kernel = kernel + 1;
		f.out_side = 1;
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, (kernel + 1) * (kernel + 1) * unit.dim, LOOP_CONV_WS, 2u << 16, 1);
		/* of one pixel, every second one */
		f = good;
		f.out_side = 1;
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, 0, LOOP_CONV_WS, 0, 3);
	}
}

CASE(convolutions_whose_output_does_not_fit_are_errors, EITHER)
{
	FOR_EACH_UNIT {
		struct conv_fields f = good;

		f.out_side = 33;
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, 33 * 33, LOOP_CONV_WS, 0, 1);
		f.out_side = 16;
		f.batches = 5;
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, 16 * 16 * 5, LOOP_CONV_WS, 0, 1);
		f = good;
		f.pooled_rows = 256;
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, 256, LOOP_CONV_WS, 0, 0);
		f = good;
		f.pooled_columns = 257;
		send_conv(&f);
		EXPECT_BAD(BAD_SIZE, 257, LOOP_CONV_WS, 0, 0);
	}
}

CASE(a_command_that_is_wrong_does_nothing, EITHER)
{
	FOR_EACH_UNIT {
		memset(shared_memory(), 0x5a, SHARED_BYTES);
		memset(output_at(0), 0x5a, OUTPUT_BYTES);
		configure();
		EXPECT_BAD(BAD_RANGE, unit.rows, MVIN, in(), pack(8, unit.dim, unit.rows - 7));
		EXPECT_BAD(BAD_RANGE, unit.rows, MVOUT, out(), pack(8, unit.dim, unit.rows - 7));
		EXPECT(shared_memory()[SHARED_BYTES - 1], 0x5a);
		EXPECT(*(uint8_t *)output_at(0), 0x5a);
	}
}

CASE(after_an_error_commands_are_dropped_until_it_is_cleared, EITHER)
{
	FOR_EACH_UNIT {
		memset(shared_memory(), 0x5a, SHARED_BYTES);
		fill_elements(input_at(0), 64);
		configure();
		rocc(99, 7, 8);
		mvin(input_at(0), 0, 1, unit.dim);
		wait_for_unit();
		mvin(input_at(0), 0, 1, unit.dim);
		rocc(98, 0, 0);
		wait_for_unit();
		EXPECT(unit_get(COMPLETED), unit_get(DISPATCHED));
		EXPECT(unit_count(COUNT_ERRORS), 1);
		EXPECT(unit_count(COUNT_DROPPED), 3);
		EXPECT(unit_get(LOOPS), 0);
		EXPECT(*shared_row(0), 0x5a);
		/* the first one's */
		EXPECT_ERROR(BAD_COMMAND, WORD(99), 2, 99, 7, 8);
		EXPECT(unit_get(ERROR_INSTRUCTION), 0);
		EXPECT(unit_get(ERROR_POSITION), 0);
		EXPECT(unit_get(ERROR_ADDRESS), 0);
		EXPECT(unit_get(ERROR_RS1), 0);
		/* it goes on with the configuration that it had */
		mvin(input_at(0), 0, 1, unit.dim);
		COMPLETE();
		EXPECT_SAME(shared_row(0), input_at(0), (size_t)unit.dim * unit.size);
	}
}

CASE(loops_that_are_dropped_are_not_counted, EITHER)
{
	use_unit(0);
	rocc(99, 0, 0);
	for (unsigned int i = 0; i < 3; i++)
		rocc(LOOP_WS, 0, 0);
	wait_for_unit();
	EXPECT(unit_get(LOOPS), 0);
	EXPECT(unit_get(WAIT_LOOPS_0), 0);
	EXPECT(unit_get(BUSY), 0);
}

CASE(waiting_threads_go_on_when_an_error_drops_what_they_wait_for, EITHER)
{
	use_unit(0);
	occupy_unit();
	rocc(99, 0, 0);
	rocc(CLOCK_GATE, 0, 0);
	flush_commands();
	load_begin(B, PAGE_UNITS, unit_at(FENCE), 8);
	EXPECT_TRUE(still_waits(B));
	EXPECT(finish(B) & (HAS_ERROR | IS_BUSY), HAS_ERROR);
	unit_put(ERROR, 0);
}
