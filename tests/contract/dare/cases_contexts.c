/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Each open has a context of its own: no instruction of one changes another.
 * Two threads may use one context: their accesses are serialised.
 * A and B share a context; C has another one.
 */
#include <string.h>

#include "tests/contract/dare/contract.h"

static uint8_t memory[4][1024];

CASE(each_context_has_registers_of_its_own, EITHER)
{
	struct tile tiles[2][REGISTERS];

	for (unsigned int i = 0; i < REGISTERS; i++) {
		fill(&tiles[0][i], sizeof(struct tile), 10 + i);
		fill(&tiles[1][i], sizeof(struct tile), 30 + i);
		as(A);
		set_register(i, &tiles[0][i]);
		as(C);
		set_register(i, &tiles[1][i]);
	}
	for (unsigned int i = 0; i < REGISTERS; i++) {
		as(A);
		EXPECT_REGISTER(i, &tiles[0][i]);
		as(C);
		EXPECT_REGISTER(i, &tiles[1][i]);
	}
}

CASE(each_context_has_a_shape_of_its_own, EITHER)
{
	shape(3, 4, 5);
	as(C);
	shape(6, 7, 8);
	COMPLETE();
	EXPECT(get(MATRIX_M), 6);
	EXPECT(get(MATRIX_K), 7);
	EXPECT(get(MATRIX_N), 8);
	as(A);
	COMPLETE();
	EXPECT(get(MATRIX_M), 3);
	EXPECT(get(MATRIX_K), 4);
	EXPECT(get(MATRIX_N), 5);
}

CASE(each_context_has_source_values_and_a_stream_of_its_own, EITHER)
{
	put(RS1, CSR_M);
	put(RS2, 5);
	put(STREAM, word_mcfg());
	as(C);
	EXPECT(STREAM_MISSING(get(STATUS)), 0);
	put(RS1, CSR_M);
	put(RS2, 9);
	put(STREAM, word_mcfg());
	put(STREAM, CSR_K);
	as(A);
	EXPECT(STREAM_MISSING(get(STATUS)), 2);
	put(INSTRUCTION, word_mcfg());
	put(STREAM, CSR_N);
	as(C);
	EXPECT(STREAM_MISSING(get(STATUS)), 1);
	put(STREAM, 21);
	put(INSTRUCTION, word_mcfg());
	as(A);
	put(STREAM, 2);
	COMPLETE();
	EXPECT(get(MATRIX_M), 5);
	EXPECT(get(MATRIX_K), 64);
	EXPECT(get(MATRIX_N), 2);
	as(C);
	COMPLETE();
	EXPECT(get(MATRIX_M), 9);
	EXPECT(get(MATRIX_K), 21);
	EXPECT(get(MATRIX_N), 16);
}

CASE(an_error_of_one_context_does_not_stop_another, EITHER)
{
	issue(0, 0, 0);
	EXPECT_TRUE(fence() & HAS_ERROR);
	as(C);
	EXPECT(get(ERROR), NO_ERROR);
	shape(4, 4, 4);
	COMPLETE();
	EXPECT(get(MATRIX_M), 4);
	EXPECT(get(ERRORS), 0);
	/* Clearing ERROR in C, which has none, changes nothing for A. */
	put(ERROR, 0);
	as(A);
	EXPECT_ERROR(ILLEGAL, 0, 0, 0, 0);
}

CASE(a_reset_of_one_context_does_not_touch_another, EITHER)
{
	struct tile tile, zero = { 0 };

	fill(&tile, sizeof(tile), 50);
	set_register(1, &tile);
	shape(5, 6, 7);
	as(C);
	set_register(1, &tile);
	put(RESET, 0);
	EXPECT(get(DISPATCHED), 0);
	EXPECT_REGISTER(1, &zero);
	as(A);
	COMPLETE();
	EXPECT(get(MATRIX_K), 6);
	EXPECT(get(DISPATCHED), 1 + 3);
	EXPECT_REGISTER(1, &tile);
}

CASE(each_context_counts_for_itself, EITHER)
{
	for (unsigned int i = 0; i < 5; i++)
		mma(WORD, 0, 0, 0);
	as(C);
	mma(WORD, 0, 0, 0);
	load(C, 0, 0xff0, 8);
	COMPLETE();
	EXPECT(get(COUNT_MMA), 1);
	EXPECT(get(DISPATCHED), 1);
	EXPECT(get(ILLEGAL_ACCESSES), 1);
	as(A);
	COMPLETE();
	EXPECT(get(COUNT_MMA), 5);
	EXPECT(get(DISPATCHED), 5);
	EXPECT(get(ILLEGAL_ACCESSES), 0);
}

/* Sources that look the same to a careless cache: the same register, another context. */
CASE(the_same_register_of_two_contexts_multiplies_differently, EITHER)
{
	struct tile one = { 0 }, two = { 0 }, expected = { 0 };

	memset(one.bytes[0], 1, 64);
	memset(two.bytes[0], 2, 64);
	for (unsigned int round = 0; round < 3; round++) {
		as(A);
		set_register(0, &one);
		mma(BYTE, 1, 0, 0);
		as(C);
		set_register(0, &two);
		mma(BYTE, 1, 0, 0);
	}
	as(A);
	expected.bytes[0][0] = 3 * 64;
	EXPECT_REGISTER(1, &expected);
	as(C);
	expected.bytes[0][0] = 0;
	expected.bytes[0][1] = 3;	/* 3 x 64 x 4 */
	EXPECT_REGISTER(1, &expected);
}

CASE(a_context_sees_what_another_one_stored_after_a_fence, EITHER)
{
	struct tile tile;

	fill(memory[0], 1024, 51);
	mld(WORD, 0, memory[0], 64);
	mst(WORD, 0, memory[1], 64);
	COMPLETE();
	as(C);
	mld(WORD, 5, memory[1], 64);
	tile_of(&tile, memory[0], 64, 16, 64);
	EXPECT_REGISTER(5, &tile);
}

/* --- two threads ------------------------------------------------------------------------ */

CASE(threads_of_one_context_share_its_registers_and_shape, EITHER)
{
	struct tile tile;

	fill(memory[0], 1024, 52);
	shape(7, 12, 3);
	mld(WORD, 4, memory[0], 16);
	as(B);
	COMPLETE();
	EXPECT(get(MATRIX_M), 7);
	tile_of(&tile, memory[0], 16, 7, 12);
	EXPECT_REGISTER(4, &tile);
	mcfg(CSR_M, 2);
	COMPLETE();
	as(A);
	EXPECT(get(MATRIX_M), 2);
}

CASE(a_thread_sees_the_error_that_another_one_made_and_may_clear_it, EITHER)
{
	issue(0, 0, 0);
	as(B);
	EXPECT_ERROR(ILLEGAL, 0, 0, 0, 0);
	as(A);
	mcfg(CSR_M, 3);
	COMPLETE();
}

CASE(an_instruction_of_a_stream_may_be_given_by_two_threads_in_turn, BY_STREAM)
{
	put(STREAM, word_mcfg());
	as(B);
	put(STREAM, CSR_K);
	as(A);
	put(STREAM, 33);
	COMPLETE();
	EXPECT(get(MATRIX_K), 33);
}

CASE(a_thread_that_ends_leaves_its_instructions, EITHER)
{
	struct tile tile;

	as(B);
	fill(memory[0], 1024, 53);
	mld(WORD, 6, memory[0], 64);
	flush();
	end_thread(B);
	as(A);
	tile_of(&tile, memory[0], 64, 16, 64);
	EXPECT_REGISTER(6, &tile);
}

/* One thread goes on where another one stopped: it posts after the other's post has returned. */
CASE(instructions_that_threads_dispatch_in_turn_are_executed_in_that_order, EITHER)
{
	static uint8_t steps[201][64];

	fill(steps[0], 64, 54);
	mcfg(CSR_M, 1);
	for (unsigned int i = 0; i < 200; i++) {
		as(i % 2 ? B : A);
		mld(WORD, 1, steps[i], 64);
		as(i % 2 ? A : B);
		mst(WORD, 1, steps[i + 1], 64);
	}
	as(A);
	flush();
	as(B);
	COMPLETE();
	for (unsigned int i = 1; i <= 200; i++)
		EXPECT_BYTES(steps[i], steps[0], 64);
}

#define MANY 3000

/* int8, one row: the sums, A's in m0 and B's in m1, count the instructions. */
CASE(instructions_of_two_threads_at_once_are_all_executed, BY_STREAM)
{
	static uint64_t words[2][MANY];
	struct tile ones = { 0 }, sum = { 0 };

	ones.bytes[0][0] = 1;
	set_register(7, &ones);
	for (unsigned int i = 0; i < MANY; i++) {
		words[0][i] = word_mma(BYTE, 0, 7, 7);
		words[1][i] = word_mma(BYTE, 1, 7, 7);
	}
	post_begin(A, STREAM, words[0], MANY);
	post_begin(B, STREAM, words[1], MANY);
	finish_post(A, MANY);
	finish_post(B, MANY);
	as(B);
	COMPLETE();
	as(A);
	COMPLETE();
	EXPECT(get(COUNT_MMA), 2 * MANY);
	sum.bytes[0][0] = MANY & 0xff;
	sum.bytes[0][1] = MANY >> 8;
	EXPECT_REGISTER(0, &sum);
	EXPECT_REGISTER(1, &sum);
}

/* A and C copy 1 KiB tiles back and forth, each in its own memory. */
CASE(two_contexts_at_once_do_not_disturb_each_other, BY_STREAM)
{
	static uint64_t words[2][6 * MANY / 6];
	static uint8_t copies[2][2][1024];

	for (unsigned int i = 0; i < 2; i++) {
		fill(copies[i][0], 1024, 60 + i);
		for (unsigned int k = 0; k < MANY / 6; k++) {
			uint64_t *word = &words[i][6 * k];

			word[0] = word_mld(WORD, k % 8);
			word[1] = (uintptr_t)copies[i][k % 2];
			word[2] = 64;
			word[3] = word_mst(WORD, k % 8);
			word[4] = (uintptr_t)copies[i][1 - k % 2];
			word[5] = 64;
		}
	}
	post_begin(A, STREAM, words[0], MANY);
	post_begin(C, STREAM, words[1], MANY);
	finish_post(A, MANY);
	finish_post(C, MANY);
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t expected[1024];

		as(i ? C : A);
		COMPLETE();
		EXPECT(get(COUNT_MLD), MANY / 6);
		EXPECT(get(COUNT_MST), MANY / 6);
		fill(expected, sizeof(expected), 60 + i);
		EXPECT_BYTES(copies[i][0], expected, 1024);
		EXPECT_BYTES(copies[i][1], expected, 1024);
	}
}

/* While C makes error after error, A goes on. */
CASE(errors_of_one_context_at_once_with_work_of_another, BY_STREAM)
{
	static uint64_t good[MANY], bad[MANY];

	for (unsigned int i = 0; i < MANY; i++) {
		good[i] = word_mma(BYTE, i % 8, 0, 1);
		bad[i] = i;
	}
	post_begin(A, STREAM, good, MANY);
	post_begin(C, STREAM, bad, MANY);
	finish_post(A, MANY);
	finish_post(C, MANY);
	COMPLETE();
	EXPECT(get(COMPLETED), MANY);
	as(C);
	EXPECT(get(DROPPED), MANY - 1);
	EXPECT_ERROR(ILLEGAL, 0, 0, 0, 0);
}

