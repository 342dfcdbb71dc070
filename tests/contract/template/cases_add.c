/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/contract/template/contract.h"

static void add(enum bus_thread who, uint64_t a, uint64_t b)
{
	store(who, 0, REGISTER_A, 8, a);
	store(who, 0, REGISTER_B, 8, b);
	store(who, 0, REGISTER_START, 8, 1);
}

CASE(registers_are_0_after_an_open, ANY)
{
	EXPECT(load(A, 0, REGISTER_A, 8), 0);
	EXPECT(load(A, 0, REGISTER_B, 8), 0);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 0);
	EXPECT(load(A, 0, REGISTER_COUNT, 8), 0);
}

CASE(operands_are_what_was_stored, ANY)
{
	store(A, 0, REGISTER_A, 8, 0x123456789abcdef0);
	store(A, 0, REGISTER_B, 8, 0xfedcba9876543210);
	EXPECT(load(A, 0, REGISTER_A, 8), 0x123456789abcdef0);
	EXPECT(load(A, 0, REGISTER_B, 8), 0xfedcba9876543210);
}

CASE(the_sum_is_that_of_the_operands, ANY)
{
	add(A, 40, 2);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 42);
}

CASE(a_sum_wraps_at_64_bits, ANY)
{
	add(A, UINT64_MAX, 3);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 2);
}

CASE(a_load_of_the_sum_waits_for_the_addition, ANY)
{
	add(A, 1, 1);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 2);
	EXPECT(load(A, 0, REGISTER_COUNT, 8), 1);
}

CASE(operands_that_are_stored_after_the_start_are_those_of_the_next_addition, ANY)
{
	add(A, 1, 2);
	store(A, 0, REGISTER_A, 8, 100);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 3);
	store(A, 0, REGISTER_START, 8, 1);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 102);
}

CASE(a_start_waits_for_the_addition_before_it, ANY)
{
	for (unsigned int i = 0; i < 10; i++)
		store(A, 0, REGISTER_START, 8, 1);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 0);
	EXPECT(load(A, 0, REGISTER_COUNT, 8), 10);
}

CASE(threads_may_use_it_in_turn, ANY)
{
	store(A, 0, REGISTER_A, 8, 5);
	store(B, 0, REGISTER_B, 8, 6);
	store(C, 0, REGISTER_START, 8, 1);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 11);
}

CASE(stores_of_a_batch_take_effect_in_their_order, ANY)
{
	static const uint64_t values[] = { 3, 5, 7 };

	post_begin(A, REGISTER_A, values, 3);
	finish_post(A, 3);
	EXPECT(load(A, 0, REGISTER_A, 8), 7);
}

CASE(an_access_of_another_size_reads_0_and_changes_nothing, ANY)
{
	store(A, 0, REGISTER_A, 8, 0x1122334455667788);
	store(A, 0, REGISTER_A, 4, 0);
	EXPECT(load(A, 0, REGISTER_A, 4), 0);
	EXPECT(load(A, 0, REGISTER_A, 8), 0x1122334455667788);
}

CASE(no_register_reads_0_and_takes_no_store, ANY)
{
	store(A, 0, 0x800, 8, 1);
	EXPECT(load(A, 0, 0x800, 8), 0);
	store(A, 0, REGISTER_SUM, 8, 9);
	EXPECT(load(A, 0, REGISTER_SUM, 8), 0);
	EXPECT(load(A, 0, REGISTER_START, 8), 0);
}
