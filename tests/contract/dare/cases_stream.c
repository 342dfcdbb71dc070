/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dispatch: STREAM takes an instruction word and then, if it is mcfg, mld or mst,
 * rs1 and rs2; INSTRUCTION takes a word, with the values last stored to RS1 and RS2.
 * Each complete one is dispatched.
 */
#include <string.h>

#include "tests/contract/dare/contract.h"

static uint8_t source[1024], target[1024];

static uint64_t missing(void)
{
	return STREAM_MISSING(get(STATUS));
}

static void stream_mcfg(unsigned int csr, uint64_t value)
{
	put(STREAM, word_mcfg());
	put(STREAM, csr);
	put(STREAM, value);
}

CASE(stream_takes_a_word_and_two_values_for_mcfg_mld_and_mst, BY_STREAM)
{
	fill(source, sizeof(source), 1);
	stream_mcfg(CSR_M, 4);
	put(STREAM, word_mld(WORD, 3));
	put(STREAM, (uintptr_t)source);
	put(STREAM, 64);
	put(STREAM, word_mst(HALF, 3));
	put(STREAM, (uintptr_t)target);
	put(STREAM, 64);
	COMPLETE();
	EXPECT(get(DISPATCHED), 3);
	EXPECT_BYTES(target, source, 256);
	EXPECT(target[256], 0);
}

CASE(stream_takes_a_word_alone_for_the_others, BY_STREAM)
{
	static uint64_t vector[ROWS][8];

	for (unsigned int row = 0; row < ROWS; row++)
		vector[row][0] = (uintptr_t)source;
	put(STREAM, word_mld(WORD, 1));
	put(STREAM, (uintptr_t)vector);
	put(STREAM, 64);
	put(STREAM, word_mma(WORD, 0, 0, 0));
	put(STREAM, word_mma(HALF, 0, 0, 0));
	put(STREAM, word_mma(BYTE, 0, 0, 0));
	put(STREAM, word_mgather(WORD, 2, 1));
	put(STREAM, word_mscatter(WORD, 2, 1));
	stream_mcfg(CSR_N, 3);
	COMPLETE();
	EXPECT(get(DISPATCHED), 7);
	EXPECT(get(COUNT_MMA), 3);
	EXPECT(get(MATRIX_N), 3);
}

CASE(status_says_how_many_words_are_missing, BY_STREAM)
{
	const uint32_t word[] = { word_mcfg(), word_mld(BYTE, 1), word_mst(BYTE, 1) };

	EXPECT(missing(), 0);
	for (unsigned int i = 0; i < 3; i++) {
		put(STREAM, word[i]);
		EXPECT(missing(), 2);
		EXPECT(get(DISPATCHED), i);
		put(STREAM, i ? (uintptr_t)source : CSR_M);
		EXPECT(missing(), 1);
		EXPECT(get(DISPATCHED), i);
		put(STREAM, i ? 64 : 16);
		EXPECT(missing(), 0);
		EXPECT(get(DISPATCHED), i + 1);
	}
	put(STREAM, word_mma(WORD, 0, 0, 0));
	EXPECT(missing(), 0);
	put(STREAM, word_mgather(WORD, 0, 2) | 1u << 12);
	EXPECT(missing(), 0);
}

CASE(an_instruction_that_is_not_whole_is_not_executed_and_a_fence_does_not_wait_for_it, BY_STREAM)
{
	put(STREAM, word_mcfg());
	put(STREAM, CSR_M);
	EXPECT(fence() & (IS_BUSY | HAS_ERROR), 0);
	EXPECT(STREAM_MISSING(fence()), 1);
	EXPECT(get(MATRIX_M), 16);
	EXPECT(get(DISPATCHED), 0);
	put(STREAM, 5);
	COMPLETE();
	EXPECT(get(MATRIX_M), 5);
}

CASE(values_of_stream_may_look_like_words, BY_STREAM)
{
	/* An address that is an instruction, a CSR number that is one: values all the same. */
	put(STREAM, word_mcfg());
	put(STREAM, word_mma(WORD, 0, 0, 0));
	put(STREAM, word_mcfg());
	EXPECT_ERROR(BAD_CSR, word_mcfg(), 0, word_mma(WORD, 0, 0, 0), 0);
	put(STREAM, word_mcfg());
	put(STREAM, CSR_M);
	put(STREAM, word_mcfg());
	EXPECT_ERROR(SHAPE, word_mcfg(), 1, word_mcfg(), 0);
	stream_mcfg(CSR_M, 3);
	COMPLETE();
	EXPECT(get(MATRIX_M), 3);
}

CASE(values_of_stream_have_64_bits, BY_STREAM)
{
	put(STREAM, word_mld(WORD, 0));
	put(STREAM, 0xfedcba9876543210);
	put(STREAM, 0x123456789abcdef0);
	EXPECT_ERROR(BAD_LOAD, word_mld(WORD, 0), 0, 0xfedcba9876543210, 0);
	put(STREAM, word_mst(HALF, 0));
	put(STREAM, (uintptr_t)target);
	put(STREAM, 0x8000000000000001);
	EXPECT_ERROR(MISALIGNED, word_mst(HALF, 0), 1, 0x8000000000000001, 0);
}

CASE(reset_forgets_an_instruction_that_is_not_whole, BY_STREAM)
{
	for (unsigned int words = 1; words < 3; words++) {
		put(STREAM, word_mld(WORD, 0));
		for (unsigned int i = 1; i < words; i++)
			put(STREAM, (uintptr_t)source);
		EXPECT(missing(), 3 - words);
		put(RESET, 0);
		EXPECT(missing(), 0);
		/* The next one is a word again. */
		stream_mcfg(CSR_K, 8 + words);
		COMPLETE();
		EXPECT(get(MATRIX_K), 8 + words);
		EXPECT(get(DISPATCHED), 1);
	}
}

CASE(a_store_to_error_does_not_disturb_an_instruction_that_is_not_whole, BY_STREAM)
{
	put(STREAM, word_mcfg());
	put(ERROR, 0);
	put(STREAM, CSR_N);
	put(ERROR, 0);
	put(STREAM, 7);
	COMPLETE();
	EXPECT(get(MATRIX_N), 7);
}

CASE(instruction_may_be_used_in_the_middle_of_a_stream, BY_STREAM)
{
	put(STREAM, word_mcfg());
	put(RS1, CSR_K);
	put(RS2, 12);
	put(STREAM, CSR_M);
	put(INSTRUCTION, word_mcfg());
	EXPECT(missing(), 1);
	EXPECT(get(DISPATCHED), 1);
	put(STREAM, 3);
	COMPLETE();
	EXPECT(get(MATRIX_M), 3);
	EXPECT(get(MATRIX_K), 12);
	EXPECT(get(DISPATCHED), 2);
}

/* An instruction is dispatched when it is complete: the one through INSTRUCTION comes first. */
CASE(a_stream_instruction_is_dispatched_by_its_last_value, BY_STREAM)
{
	put(STREAM, word_mcfg());
	put(STREAM, CSR_M);
	put(RS1, CSR_M);
	put(RS2, 4);
	put(INSTRUCTION, word_mcfg());
	fence();
	EXPECT(get(MATRIX_M), 4);
	put(STREAM, 9);
	COMPLETE();
	EXPECT(get(MATRIX_M), 9);
}

CASE(stream_does_not_change_rs1_and_rs2, BY_STREAM)
{
	put(RS1, 0x1111222233334444);
	put(RS2, 0x5555666677778888);
	stream_mcfg(CSR_M, 3);
	COMPLETE();
	EXPECT(get(RS1), 0x1111222233334444);
	EXPECT(get(RS2), 0x5555666677778888);
}

CASE(an_illegal_word_in_stream_is_alone, BY_STREAM)
{
	/* As near to mld and mcfg as can be. */
	put(STREAM, word_mld(WORD, 0) | 1u << 12);
	EXPECT_ERROR(ILLEGAL, word_mld(WORD, 0) | 1u << 12, 0, word_mld(WORD, 0) | 1u << 12, 0);
	stream_mcfg(CSR_M, 2);
	put(STREAM, word_mcfg() | 1u << 7);
	EXPECT_ERROR(ILLEGAL, word_mcfg() | 1u << 7, 2, word_mcfg() | 1u << 7, 0);
	stream_mcfg(CSR_M, 5);
	COMPLETE();
	EXPECT(get(MATRIX_M), 5);
}

CASE(dropped_instructions_of_a_stream_take_their_values_with_them, BY_STREAM)
{
	uint64_t dropped = get(DROPPED);

	put(STREAM, 0);
	/* rs1 of this one is the word of an mma: it must not be taken for one. */
	put(STREAM, word_mld(WORD, 0));
	put(STREAM, word_mma(WORD, 0, 0, 0));
	EXPECT(missing(), 1);
	put(STREAM, word_mma(WORD, 0, 0, 0));
	EXPECT(missing(), 0);
	stream_mcfg(CSR_M, 3);
	put(STREAM, word_mma(WORD, 0, 0, 0));
	EXPECT(get(DROPPED), dropped + 3);
	EXPECT_ERROR(ILLEGAL, 0, 0, 0, 0);
	EXPECT(get(MATRIX_M), 16);
}

/* An instruction counts at the time of its last word. */
CASE(an_instruction_begun_before_an_error_is_cleared_executes_after_it, BY_STREAM)
{
	put(STREAM, 0);
	put(STREAM, word_mcfg());
	put(STREAM, CSR_M);
	EXPECT_ERROR(ILLEGAL, 0, 0, 0, 0);
	put(STREAM, 11);
	COMPLETE();
	EXPECT(get(MATRIX_M), 11);
	EXPECT(get(DISPATCHED), 2);
}

CASE(a_batch_of_thousands_is_executed_in_order, BY_STREAM)
{
	unsigned int steps = is_left_out(1) ? 256 : 4096;
	static uint8_t ring[4096 + 64];

	/* Each copies its predecessor's byte one place on. */
	memset(ring, 0, sizeof(ring));
	ring[0] = 0x77;
	mcfg(CSR_M, 1);
	mcfg(CSR_K, 1);
	for (unsigned int i = 0; i < steps; i++) {
		mld(BYTE, i % 8, ring + i, 0);
		mst(BYTE, i % 8, ring + i + 1, 0);
	}
	COMPLETE();
	for (unsigned int i = 0; i <= steps; i++)
		EXPECT(ring[i], 0x77);
	EXPECT(get(DISPATCHED), 2 + 2 * steps);
	EXPECT(get(COMPLETED), 2 + 2 * steps);
}

CASE(an_error_in_a_batch_stops_it_there, BY_STREAM)
{
	static uint8_t bytes[512];

	memset(bytes, 0, sizeof(bytes));
	source[0] = 1;
	mld(BYTE, 0, source, 0);
	mcfg(CSR_M, 1);
	mcfg(CSR_K, 1);
	for (unsigned int i = 0; i < 400; i++)
		mst(BYTE, 0, i == 250 ? NULL : bytes + i, 0);
	EXPECT_ERROR(BAD_STORE, word_mst(BYTE, 0), 253, 0, 0);
	for (unsigned int i = 0; i < 400; i++)
		EXPECT(bytes[i], i < 250);
	EXPECT(get(DROPPED), 149);
}

/* --- INSTRUCTION ----------------------------------------------------------------------- */

CASE(instruction_uses_the_values_last_stored_to_rs1_and_rs2, BY_REGISTERS)
{
	put(RS1, CSR_N);
	put(RS2, 3);
	put(RS1, CSR_M);
	put(RS2, 4);
	put(INSTRUCTION, word_mcfg());
	COMPLETE();
	EXPECT(get(MATRIX_M), 4);
	EXPECT(get(MATRIX_N), 16);
}

CASE(rs1_and_rs2_keep_their_values_for_the_next_instruction, BY_REGISTERS)
{
	put(RS1, CSR_M);
	put(RS2, 4);
	put(INSTRUCTION, word_mcfg());
	put(RS1, CSR_K);
	put(INSTRUCTION, word_mcfg());
	put(RS1, CSR_N);
	put(INSTRUCTION, word_mma(WORD, 0, 0, 0));
	put(INSTRUCTION, word_mcfg());
	COMPLETE();
	EXPECT(get(MATRIX_M), 4);
	EXPECT(get(MATRIX_K), 4);
	EXPECT(get(MATRIX_N), 4);
	EXPECT(get(DISPATCHED), 4);
}

CASE(a_store_to_rs1_or_rs2_does_not_change_what_was_dispatched, BY_REGISTERS)
{
	fill(source, sizeof(source), 2);
	memset(target, 0, sizeof(target));
	put(RS1, (uintptr_t)source);
	put(RS2, 64);
	put(INSTRUCTION, word_mld(WORD, 0));
	put(RS1, 0);
	put(RS2, 0);
	put(RS1, (uintptr_t)target);
	put(RS2, 64);
	put(INSTRUCTION, word_mst(WORD, 0));
	put(RS1, 0);
	COMPLETE();
	EXPECT_BYTES(target, source, sizeof(target));
}

CASE(rs1_and_rs2_can_be_read_and_have_64_bits, BY_REGISTERS)
{
	EXPECT(get(RS1), 0);
	EXPECT(get(RS2), 0);
	put(RS1, 0xfedcba9876543210);
	put(RS2, 0x0123456789abcdef);
	EXPECT(get(RS1), 0xfedcba9876543210);
	EXPECT(get(RS2), 0x0123456789abcdef);
	put(INSTRUCTION, word_mld(BYTE, 0));
	EXPECT_ERROR(BAD_LOAD, word_mld(BYTE, 0), 0, 0xfedcba9876543210, 0);
}
