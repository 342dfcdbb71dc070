/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Counters of a unit, the sums of all units on page 0, and COUNTER. Expected values are counted by hand. */
#include "tests/contract/virgo/contract.h"

#define EXPECT_COUNT(counter, expected) EXPECT(unit_count(counter), (expected))

CASE(commands_are_counted_by_their_kinds, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		config_ld(0, 64, 1, false);
		config_ld(1, 64, 1, false);
		config_ld(2, 64, 1, false);
		config_st(64, NO_ACTIVATION, 1);
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		mvin(input_at(0), 0, 1, n);
		mvin2(input_at(0), 0, 1, n);
		mvin3(input_at(0), 0, 1, n);
		mvout(output_at(0), 0, 1, n);
		rocc(MVOUT_SPAD, 5, pack(1, n, ACC));
		rocc(PRELOAD, pack(n, n, 0), pack(n, n, ACC));
		rocc(COMPUTE_PRELOADED, pack(n, n, 0), pack(n, n, GARBAGE));
		rocc(COMPUTE_ACCUMULATED, pack(n, n, 0), pack(n, n, GARBAGE));
		rocc(LOOP_WS_BOUNDS, 0, 0);
		rocc(LOOP_WS, 0, 0);
		rocc(LOOP_CONV_1, 0, 0);
		rocc(LOOP_CONV_WS, 0, 0);
		rocc(FLUSH, 0, 0);
		rocc(CLOCK_GATE, 0, 0);
		rocc(COUNTER, 0, 0);
		COMPLETE();
		EXPECT_COUNT(COUNT_COMMANDS, 20);
		EXPECT_COUNT(COUNT_CONFIGURATIONS, 7);
		EXPECT_COUNT(COUNT_MOVES_IN, 3);
		EXPECT_COUNT(COUNT_MOVES_OUT, 2);
		EXPECT_COUNT(COUNT_PRELOADS, 1);
		EXPECT_COUNT(COUNT_COMPUTES, 2);
		EXPECT_COUNT(COUNT_LOOPS, 2);
		EXPECT_COUNT(COUNT_TILES, 2);
		EXPECT_COUNT(COUNT_MACS, 2 * n * n * n);
		EXPECT_COUNT(COUNT_ERRORS, 0);
		EXPECT_COUNT(COUNT_DROPPED, 0);
		EXPECT_COUNT(COUNT_FAULTS, 0);
		EXPECT_COUNT(COUNT_ILLEGAL, 0);
	}
}

CASE(moves_count_rows_and_bytes, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim, s = unit.size;

		config_ld(0, 256, 1, false);
		config_st(256, NO_ACTIVATION, 1);
		mvin(input_at(0), 0, 5, 2 * n - 1);
		mvin(input_at(0), ACC, 3, n);
		mvout(output_at(0), 0, 4, n);
		mvout(output_at(0), ACC | FULL, 2, n);
		/* nothing of the program's memory */
		mvin((void *)0, 0, 7, n);
		rocc(MVOUT_SPAD, 5, pack(1, n, ACC));
		COMPLETE();
		EXPECT_COUNT(COUNT_DMA_READS, 5 + 3);
		EXPECT_COUNT(COUNT_BYTES_READ, 5 * (2 * n - 1) * s + 3 * n * 4);
		EXPECT_COUNT(COUNT_DMA_WRITES, 4 + 2);
		EXPECT_COUNT(COUNT_BYTES_WRITTEN, 4 * n * s + 2 * n * 4);
		EXPECT_COUNT(COUNT_SHARED_WRITTEN, 5 * (2 * n - 1) * s + 7 * n * s + n * s);
		EXPECT_COUNT(COUNT_SHARED_READ, 4 * n * s);
		EXPECT_COUNT(COUNT_ACCUMULATOR_WRITTEN, 3);
		EXPECT_COUNT(COUNT_ACCUMULATOR_READ, 2 + 1);
	}
}

CASE(computes_count_what_the_commands_asked_for, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int m = unit.dim - 1, n = unit.dim - 2, k = unit.dim - 3, s = unit.size;

		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		rocc(PRELOAD, pack(k, n, 0), pack(m, n, ACC));
		rocc(COMPUTE_PRELOADED, pack(m, k, 0), pack(m, n, 0));
		COMPLETE();
		EXPECT_COUNT(COUNT_MACS, m * n * k);
		EXPECT_COUNT(COUNT_TILES, 1);
		EXPECT_COUNT(COUNT_SHARED_READ, (m * k + k * n + m * n) * s);
		EXPECT_COUNT(COUNT_ACCUMULATOR_WRITTEN, m);
	}
}

/* A once for each column of blocks, B once. */
CASE(a_loop_counts_what_its_commands_would, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int s = unit.size, m = 2 * unit.dim - 3, n = 3 * unit.dim - 1, k = 3 * unit.dim - 2;

		config_ld(0, k * s, 1, false);
		config_ld(1, n * s, 1, false);
		config_st(n * s, NO_ACTIVATION, 1);
		rocc(LOOP_WS_BOUNDS, 2ull << 32 | 1u << 16 | 3, 3ull << 32 | 3u << 16 | 2);
		rocc(LOOP_WS_ADDRS_AB, address_of(input_at(0)), address_of(input_at(65536)));
		rocc(LOOP_WS_ADDRS_DC, 0, address_of(output_at(0)));
		rocc(LOOP_WS_STRIDES_AB, k, n);
		rocc(LOOP_WS_STRIDES_DC, n, n);
		rocc(LOOP_WS, 0, 0);
		COMPLETE();
		EXPECT_COUNT(COUNT_LOOPS, 1);
		EXPECT_COUNT(COUNT_TILES, 2 * 3 * 3);
		EXPECT_COUNT(COUNT_MACS, m * n * k);
		EXPECT_COUNT(COUNT_BYTES_READ, (m * k + k * n) * s);
		EXPECT_COUNT(COUNT_BYTES_WRITTEN, m * n * s);
		EXPECT_COUNT(COUNT_SHARED_WRITTEN, (m * k + k * n) * s);
		EXPECT_COUNT(COUNT_SHARED_READ, (3 * m * k + k * n) * s);
		/* a row for each row, block of columns and of the depth; all are read once */
		EXPECT_COUNT(COUNT_ACCUMULATOR_WRITTEN, m * 3 * 3);
		EXPECT_COUNT(COUNT_ACCUMULATOR_READ, m * 3);
	}
}

/* A and then B to the accumulator, which is read once. */
CASE(a_residual_add_multiplies_nothing, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int s = unit.size, m = 2 * unit.dim - 3, n = 3 * unit.dim - 1;

		config_ld(0, n * s, 1, true);
		config_ld(1, n * s, 1, true);
		config_st(n * s, NO_ACTIVATION, 1);
		rocc(LOOP_WS_BOUNDS, 1u << 16 | 3, 3u << 16 | 2);
		rocc(LOOP_WS_ADDRS_AB, address_of(input_at(0)), address_of(input_at(65536)));
		rocc(LOOP_WS_ADDRS_DC, 0, address_of(output_at(0)));
		rocc(LOOP_WS_STRIDES_AB, n, n);
		rocc(LOOP_WS_STRIDES_DC, n, n);
		rocc(LOOP_WS, 0, LOOP_RESIDUAL);
		COMPLETE();
		EXPECT_COUNT(COUNT_LOOPS, 1);
		EXPECT_COUNT(COUNT_TILES, 0);
		EXPECT_COUNT(COUNT_MACS, 0);
		EXPECT_COUNT(COUNT_BYTES_READ, 2 * m * n * s);
		EXPECT_COUNT(COUNT_BYTES_WRITTEN, m * n * s);
		EXPECT_COUNT(COUNT_SHARED_READ, 0);
		EXPECT_COUNT(COUNT_SHARED_WRITTEN, 0);
		EXPECT_COUNT(COUNT_ACCUMULATOR_WRITTEN, 2 * m * 3);
		EXPECT_COUNT(COUNT_ACCUMULATOR_READ, m * 3);
	}
}

/* One image of 6 x 4 pixels of 3 channels, kernels of 3 x 3, 4 channels of 4 x 2 pixels: all in one block. */
static void convolve(unsigned int pooled_rows, unsigned int pooled_columns, uint64_t flags)
{
	config_st(4 * unit.size, NO_ACTIVATION, 1);
	rocc(LOOP_CONV_1, 4ull << 48 | 3ull << 32 | 6u << 16 | 1,
	     1ull << 48 | 2ull << 32 | pooled_rows << 16 | 4);
	rocc(LOOP_CONV_2, 3ull << 48 | (uint64_t)pooled_columns << 32 | 2u << 16 | 2u << 8,
	     1ull << 48 | (uint64_t)pooled_rows << 32 | pooled_columns << 16 | 4);
	rocc(LOOP_CONV_3, 3ull << 48 | 3ull << 32 | 3u << 16, 4);
	rocc(LOOP_CONV_4, 4ull << 48 | 1, 3ull << 48 | 4ull << 32 | 4u << 16 | 2);
	rocc(LOOP_CONV_5, address_of(input_at(4096)), address_of(output_at(0)));
	rocc(LOOP_CONV_6, address_of(input_at(8192)), address_of(input_at(0)));
	rocc(LOOP_CONV_WS, 0, flags);
	COMPLETE();
}

/* A tile for each row of the output and pixel of the kernel; the weights are read once. */
static void expect_counts_of_convolution(void)
{
	unsigned int s = unit.size;

	EXPECT_COUNT(COUNT_LOOPS, 1);
	EXPECT_COUNT(COUNT_TILES, 4 * 9);
	EXPECT_COUNT(COUNT_MACS, 4 * 2 * 4 * 9 * 3);
	EXPECT_COUNT(COUNT_DMA_READS, 4 * 2 + 6 * 4 + 9 * 3);
	EXPECT_COUNT(COUNT_BYTES_READ, 4 * 2 * 4 * 4 + (6 * 4 * 3 + 9 * 3 * 4) * s);
	EXPECT_COUNT(COUNT_SHARED_WRITTEN, (6 * 4 * 3 + 9 * 3 * 4) * s);
	EXPECT_COUNT(COUNT_SHARED_READ, (4 * 9 * 2 * 3 + 9 * 3 * 4) * s);
	EXPECT_COUNT(COUNT_ACCUMULATOR_WRITTEN, 4 * 2 + 4 * 9 * 2);
}

CASE(a_convolution_counts_what_its_commands_would, EITHER)
{
	FOR_EACH_UNIT {
		convolve(0, 0, 1);
		expect_counts_of_convolution();
		EXPECT_COUNT(COUNT_DMA_WRITES, 4 * 2);
		EXPECT_COUNT(COUNT_BYTES_WRITTEN, 4 * 2 * 4 * unit.size);
		EXPECT_COUNT(COUNT_ACCUMULATOR_READ, 4 * 2);
	}
}

/* Windows of 2 x 2 side by side: each pixel is read once, a quarter of them leaves. */
CASE(a_pooled_convolution_counts_what_it_stores, EITHER)
{
	FOR_EACH_UNIT {
		convolve(2, 1, 0);
		expect_counts_of_convolution();
		EXPECT_COUNT(COUNT_DMA_WRITES, 2);
		EXPECT_COUNT(COUNT_BYTES_WRITTEN, 2 * 4 * unit.size);
		EXPECT_COUNT(COUNT_ACCUMULATOR_READ, 4 * 2);
	}
}

CASE(page_0_shows_the_sums_of_all_units, EITHER)
{
	uint64_t sum = 0;

	FOR_EACH_UNIT {
		for (unsigned int i = 0; i <= unit.number; i++)
			rocc(CLOCK_GATE, 0, 0);
		COMPLETE();
		sum += unit.number + 1;
	}
	EXPECT(cluster_count(COUNT_COMMANDS), sum);
	EXPECT(load(A, PAGE_CLUSTER, COUNTERS, 4), sum);
}

CASE(polls_are_counted, EITHER)
{
	FOR_EACH_UNIT {
		uint64_t polls = unit_count(COUNT_POLLS);

		unit_get(BUSY);
		unit_get(LOOPS);
		unit_get(STATUS);
		unit_get(FENCE);
		unit_get(ERROR);
		EXPECT_COUNT(COUNT_POLLS, polls + 3);
	}
}

CASE(counter_select_chooses_what_counter_value_shows, EITHER)
{
	FOR_EACH_UNIT {
		rocc(CLOCK_GATE, 0, 0);
		COMPLETE();
		for (unsigned int i = 0; i < COUNTS; i++) {
			unit_put(COUNTER_SELECT, i);
			EXPECT(unit_get(COUNTER_SELECT), i);
		}
		unit_put(COUNTER_SELECT, COUNT_COMMANDS);
		EXPECT(unit_get(COUNTER_VALUE), 1);
	}
}

/* --- COUNTER (funct 126) --------------------------------------------------------------------- */

static uint64_t counter(unsigned int flags, unsigned int index, unsigned int event)
{
	rocc(COUNTER, flags | index << 4 | event << 12, 0);
	COMPLETE();
	return unit_get(COUNTER_RESULT);
}

enum { COUNTER_RESTART = 1, SNAPSHOT_END = 2, SNAPSHOT = 4, COUNT_EVENT = 8 };

static void some_moves(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		mvin(input_at(0), 0, 1, 1);
}

/* Event n is counter n - 1 of the list. */
CASE(counter_counts_an_event_from_its_configuration_on, EITHER)
{
	FOR_EACH_UNIT {
		config_ld(0, 64, 1, false);
		some_moves(2);
		EXPECT(counter(COUNT_EVENT, 2, COUNT_MOVES_IN + 1), 0);
		some_moves(3);
		EXPECT(counter(0, 2, 0), 3);
		some_moves(1);
		EXPECT(counter(0, 2, 0), 4);
	}
}

CASE(counter_has_eight_of_them, EITHER)
{
	FOR_EACH_UNIT {
		static const enum count events[8] = {
			COUNT_COMMANDS, COUNT_CONFIGURATIONS, COUNT_MOVES_IN, COUNT_DMA_READS, COUNT_BYTES_READ,
			COUNT_MACS, COUNT_SHARED_WRITTEN, COUNT_MOVES_OUT,
		};
		const unsigned int deltas[8] = { 2 + 10, 0, 2, 2, 2 * unit.size, 0, 2 * unit.size, 0 };

		config_ld(0, 64, 1, false);
		for (unsigned int i = 0; i < 8; i++)
			counter(COUNT_EVENT, i, events[i] + 1);
		counter(COUNTER_RESTART, 0, 0);
		some_moves(2);
		for (unsigned int i = 7; i > 0; i--)
			EXPECT(counter(0, i, 0), deltas[i]);
		/* the restart itself, two moves, seven readings: each is over when the next one begins */
		EXPECT(counter(0, 0, 0), 1 + 2 + 7);
	}
}

CASE(counter_restarts_all, EITHER)
{
	FOR_EACH_UNIT {
		config_ld(0, 64, 1, false);
		counter(COUNT_EVENT, 0, COUNT_MOVES_IN + 1);
		counter(COUNT_EVENT, 7, COUNT_MOVES_IN + 1);
		some_moves(3);
		EXPECT(counter(COUNTER_RESTART, 7, 0), 0);
		EXPECT(counter(0, 0, 0), 0);
		some_moves(1);
		EXPECT(counter(0, 7, 0), 1);
	}
}

CASE(counter_takes_a_snapshot, EITHER)
{
	FOR_EACH_UNIT {
		config_ld(0, 64, 1, false);
		counter(COUNT_EVENT, 5, COUNT_MOVES_IN + 1);
		some_moves(3);
		EXPECT(counter(SNAPSHOT, 5, 0), 3);
		some_moves(2);
		EXPECT(counter(0, 5, 0), 3);
		EXPECT(counter(SNAPSHOT_END, 5, 0), 5);
	}
}

CASE(event_0_counts_nothing, EITHER)
{
	FOR_EACH_UNIT {
		counter(COUNT_EVENT, 1, 0);
		rocc(CLOCK_GATE, 0, 0);
		EXPECT(counter(0, 1, 0), 0);
	}
}

CASE(flush_and_clock_gate_have_no_effect_on_results, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		config_st(unit.dim * unit.size, NO_ACTIVATION, 0.01f);
		for (unsigned int i = 0; i < 4; i++) {
			rocc(FLUSH, i, 0);
			rocc(CLOCK_GATE, i, ~0ull);
			mvout(output_at(1024 * i), ACC | i, 3, unit.dim);
		}
		CHECK();
	}
}
