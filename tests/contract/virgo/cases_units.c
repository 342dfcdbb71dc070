/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Several units: alone, at once, and the parts that they share. */
#include <string.h>

#include "tests/contract/virgo/contract.h"

/* Everything that a unit does before its fence. Each has a part of every memory to itself. */
static void send_product(unsigned int number)
{
	unsigned int n, first;

	turn_to_unit(number);
	n = unit.dim;
	first = unit.rows / UNITS * number;
	config_ld(0, n * unit.size, 1, false);
	config_st(n * 4, NO_ACTIVATION, 1);
	config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
	for (unsigned int i = 0; i < 4; i++) {
		mvin(input_at(4096 * number), first, n, n);
		mvin(input_at(4096 * number + 2048), first + n, n, n);
		rocc(PRELOAD, pack(n, n, first + n), pack(n, n, ACC | (i ? ADD : 0)));
		rocc(COMPUTE_PRELOADED, pack(n, n, first), pack(n, n, GARBAGE));
	}
	mvout(output_at(4096 * number), ACC | FULL, n, n);
	flush_commands();
}

static void expect_product(unsigned int number)
{
	unsigned int n;

	turn_to_unit(number);
	COMPLETE();
	n = unit.dim;
	for (unsigned int i = 0; i < n * n; i++) {
		double sum = 0;

		for (unsigned int k = 0; k < n; k++)
			sum += element_of(input_at(4096 * number), i / n * n + k) *
			       element_of(input_at(4096 * number + 2048), k * n + i % n);
		EXPECT_TRUE(value_of(output_at(4096 * number), i) == 4 * sum);
	}
}

static void prepare(unsigned int number)
{
	use_unit(number);
	fill_small(input_at(4096 * number), unit.dim * unit.dim, 4);
	fill_small(input_at(4096 * number + 2048), unit.dim * unit.dim, 4);
}

CASE(all_units_work_at_once, EITHER)
{
	for (unsigned int i = 0; i < UNITS; i++)
		prepare(i);
	for (unsigned int round = 0; round < 10; round++) {
		if (is_left_out(round))
			continue;
		memset(output_at(0), 0, OUTPUT_BYTES);
		for (unsigned int i = 0; i < UNITS; i++)
			send_product(i);
		for (unsigned int i = 0; i < UNITS; i++)
			expect_product(i);
	}
}

CASE(units_of_threads_of_their_own_work_at_once, EITHER)
{
	static const enum bus_thread threads[UNITS] = { A, B, C, A };

	for (unsigned int i = 0; i < UNITS; i++)
		prepare(i);
	for (unsigned int i = 0; i < UNITS; i++) {
		as_thread(threads[i]);
		send_product(i);
	}
	for (unsigned int i = 0; i < UNITS; i++) {
		as_thread(threads[i]);
		expect_product(i);
	}
	as_thread(A);
}

CASE(a_busy_unit_does_not_hold_up_another_one, EITHER)
{
	use_unit(0);
	prepare(1);
	turn_to_unit(0);
	occupy_unit();
	flush_commands();
	load_begin(B, PAGE_UNITS, unit_at(FENCE), 8);
	EXPECT_TRUE(still_waits(B));
	send_product(1);
	expect_product(1);
	turn_to_unit(0);
	finish(B);
	COMPLETE();
}

CASE(an_error_of_a_unit_does_not_stop_another_one, EITHER)
{
	use_unit(2);
	rocc(99, 0, 0);
	wait_for_unit();
	EXPECT(unit_get(ERROR), BAD_COMMAND);
	for (unsigned int i = 0; i < UNITS; i++)
		if (i != 2) {
			prepare(i);
			send_product(i);
			expect_product(i);
		}
	turn_to_unit(2);
	EXPECT(unit_get(ERROR), BAD_COMMAND);
}

/* Row r of a unit begins at byte r x DIM x size. */
CASE(units_see_the_same_bytes_as_rows_of_their_own_length, EITHER)
{
	for (unsigned int i = 0; i < UNITS; i++)
		use_unit(i);
	for (unsigned int writer = 0; writer < UNITS; writer++) {
		unsigned int row_bytes;

		turn_to_unit(writer);
		row_bytes = unit.dim * unit.size;
		for (unsigned int i = 0; i < 4096; i++)
			((uint8_t *)input_at(0))[i] = (uint8_t)draw();
		config_ld(0, row_bytes, 1, false);
		mvin(input_at(0), 8192 / row_bytes, 4096 / row_bytes, unit.dim);
		COMPLETE();
		for (unsigned int reader = 0; reader < UNITS; reader++) {
			turn_to_unit(reader);
			row_bytes = unit.dim * unit.size;
			config_st(row_bytes, NO_ACTIVATION, 1);
			mvout(output_at(0), 8192 / row_bytes, 4096 / row_bytes, unit.dim);
			COMPLETE();
			EXPECT_SAME(output_at(0), input_at(0), 4096);
		}
	}
}

CASE(accumulators_are_private, EITHER)
{
	for (unsigned int i = 0; i < UNITS; i++) {
		use_unit(i);
		put_value(input_at(64 * i), 0, 10 + i);
		config_ld(0, 64, 1, false);
		config_st(64, NO_ACTIVATION, 1);
		mvin(input_at(64 * i), ACC | 9, 1, 1);
		COMPLETE();
	}
	for (unsigned int i = 0; i < UNITS; i++) {
		turn_to_unit(i);
		mvout(output_at(64 * i), ACC | FULL | 9, 1, 1);
		COMPLETE();
		EXPECT_TRUE(value_of(output_at(64 * i), 0) == 10 + i);
	}
}

/* One unit's output is another one's input. */
CASE(a_unit_goes_on_with_what_another_one_left, EITHER)
{
	use_unit(0);
	use_unit(1);
	turn_to_unit(0);
	fill_elements(input_at(0), 64);
	config_ld(0, 32, 1, false);
	mvin(input_at(0), 0, 8, 8);
	COMPLETE();
	turn_to_unit(1);
	config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
	config_st(16, NO_ACTIVATION, 1);
	/* D of 4 x 4 is half of two rows of the other unit */
	rocc(PRELOAD, pack(4, 4, GARBAGE), pack(4, 4, ACC));
	rocc(COMPUTE_PRELOADED, pack(4, 4, GARBAGE), pack(4, 4, 4));
	mvout(output_at(0), ACC | FULL, 4, 4);
	COMPLETE();
	EXPECT_SAME(output_at(0), (uint8_t *)input_at(0) + 64, 64);
}
