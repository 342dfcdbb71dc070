/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which words are instructions: the layout of the XuanTie extension, and fields that must be 0. */
#include "tests/contract/dare/contract.h"

/* The value of a word's bits that hold no operand. */
static const struct {
	uint32_t fixed, value;
} legal[] = {
	/* mcfg: all but rs1 and rs2 */
	{ 0xfe007fffu, 0xfe00002bu },
	/* mld, mst: [31:25], [14:12], [6:0]; sizes 0 to 2 */
	{ 0xfe007c7fu, 0x0400002bu }, { 0xfe007c7fu, 0x0400042bu }, { 0xfe007c7fu, 0x0400082bu },
	{ 0xfe007c7fu, 0x0c00002bu }, { 0xfe007c7fu, 0x0c00042bu }, { 0xfe007c7fu, 0x0c00082bu },
	/* mma of fp32, bf16, int8: all but the three registers */
	{ 0xff007fffu, 0x0800082bu }, { 0xff007fffu, 0x080004abu }, { 0xff007fffu, 0x1000002bu },
	/* mgather: all but ms1 and md; mscatter: all but ms2 and ms1 */
	{ 0xffe3fc7fu, 0x3400002bu }, { 0xffe3fc7fu, 0x3400042bu }, { 0xffe3fc7fu, 0x3400082bu },
	{ 0xff03ffffu, 0x3c00002bu }, { 0xff03ffffu, 0x3c00042bu }, { 0xff03ffffu, 0x3c00082bu },
};

#define LEGAL_COUNT (sizeof(legal) / sizeof(legal[0]))

static bool is_legal(uint32_t word)
{
	for (unsigned int i = 0; i < LEGAL_COUNT; i++)
		if ((word & legal[i].fixed) == legal[i].value)
			return true;
	return false;
}

/* rs1 and rs2 are no addresses, so that any word leaves an error to look at. */
static void expect_illegal(uint64_t word)
{
	uint64_t position = get(DISPATCHED);

	if (profile_is(BY_REGISTERS))
		put(INSTRUCTION, word);
	else
		put(STREAM, word);
	EXPECT_ERROR(ILLEGAL, (uint32_t)word, position, (uint32_t)word, 0);
}

CASE(words_of_other_instruction_sets_are_illegal, EITHER)
{
	/* nop, ret, ecall, ebreak, lw, fld, custom-0, custom-2, custom-3, compressed nop, vector and matrix */
	static const uint32_t words[] = {
		0x00000000, 0xffffffff, 0x00000013, 0x00008067, 0x00000073, 0x00100073, 0x00002003,
		0x00003007, 0x0400080b, 0x0400085b, 0x0400087b, 0x00010001, 0x02000057, 0x0000002b,
		0x0000000b, 0x8000002b, 0x7f00002b,
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		expect_illegal(words[i]);
}

/* mld.d and its like, streaming and whole-register forms, mmaqa.h, mzero, mrelease, the other mcfgs. */
CASE(instructions_of_the_xuantie_extension_that_dare_has_not_are_illegal, EITHER)
{
	static const uint32_t words[] = {
		0x04000c2b, 0x0c000c2b, 0x34000c2b, 0x3c000c2b, 0x1400082b, 0x1c00082b, 0x2400082b,
		0x2c00082b, 0x0800042b, 0x08000c2b, 0x100000ab, 0x1000012b, 0x100001ab, 0x1000042b,
		0xf800002b, 0x7e00002b, 0x8e00002b, 0x9e00002b, 0xae00002b, 0x0e00002b,
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		expect_illegal(words[i]);
}

CASE(a_bit_that_belongs_to_no_operand_makes_a_word_illegal, EITHER)
{
	for (unsigned int i = 0; i < LEGAL_COUNT; i++) {
		for (unsigned int bit = 0; bit < 32; bit++) {
			uint32_t word = (legal[i].value | (0x0124u << 15 & ~legal[i].fixed)) ^ 1u << bit;

			if (!is_legal(word) && !is_left_out(i + bit))
				expect_illegal(word);
		}
	}
}

CASE(words_of_random_bits_are_mostly_illegal, EITHER)
{
	uint32_t state = 99;

	for (unsigned int i = 0; i < 300; i++) {
		uint32_t word = next_random(&state);

		/* Half of them with the opcode, and some near a legal one. */
		if (i % 2)
			word = (word & ~0x7fu) | CUSTOM_1;
		if (i % 4 == 3)
			word = (word & ~0xfe000000u) | (legal[i / 4 % LEGAL_COUNT].value & 0xfe000000u);
		if (!is_legal(word) && !is_left_out(i))
			expect_illegal(word);
	}
}

/* Each legal word executes: nothing of it is taken for another. */
CASE(legal_words_are_not_illegal, EITHER)
{
	uint32_t state = 5;

	for (unsigned int i = 0; i < 8 * LEGAL_COUNT; i++) {
		uint32_t word = legal[i % LEGAL_COUNT].value | (next_random(&state) & ~legal[i % LEGAL_COUNT].fixed);
		uint64_t error;

		/* As mcfg it names CSR 77; as mld and mst its base is odd. */
		issue(word, 77, 0);
		fence();
		error = get(ERROR);
		if (error == ILLEGAL)
			contract_fail(__FILE__, __LINE__, "word %#x is an instruction", word);
		EXPECT(error == NO_ERROR, i % LEGAL_COUNT > 6 && i % LEGAL_COUNT < 10);
		put(ERROR, 0);
	}
}

CASE(the_upper_half_of_a_stored_word_means_nothing, EITHER)
{
	uint64_t position = get(DISPATCHED);

	expect_illegal(0xffffffff00000013);
	expect_illegal(0x0400082b00000000);
	if (profile_is(BY_REGISTERS)) {
		put(RS1, CSR_M);
		put(RS2, 9);
		put(INSTRUCTION, 0x1234567800000000 | word_mcfg());
	} else {
		put(STREAM, 0x1234567800000000 | word_mcfg());
		put(STREAM, CSR_M);
		put(STREAM, 9);
	}
	COMPLETE();
	EXPECT(get(MATRIX_M), 9);
	EXPECT(get(DISPATCHED), position + 3);
}

CASE(an_illegal_word_changes_no_register, EITHER)
{
	struct tile tiles[REGISTERS];

	for (unsigned int i = 0; i < REGISTERS; i++) {
		fill(&tiles[i], sizeof(tiles[i]), 300 + i);
		set_register(i, &tiles[i]);
	}
	/* mma with bit 24, mld of 8-byte elements, mgather with a bit between its fields */
	expect_illegal(word_mma(WORD, 1, 2, 3) | 1u << 24);
	expect_illegal(word_mld((enum element)3, 4));
	expect_illegal(word_mgather(WORD, 5, 6) | 1u << 15);
	for (unsigned int i = 0; i < REGISTERS; i++)
		EXPECT_REGISTER(i, &tiles[i]);
}
