/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DARE's instruction words and their text. The expected encodings are written out
 * bit by bit below, from the XuanTie 0.4 formats and the codes that we took for
 * mgather and mscatter, not from the list that the code is made from.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "devices/dare/isa.h"
#include "libdare/dare_assembly.h"
#include "tests/lib/sanitized.h"

/* Letters are operands: d md, a ms1, b ms2 or ms3, s rs1, t rs2. */
static const struct {
	const char *bits;
	enum dare_operation operation;
	unsigned int values;	/* that follow in STREAM */
} patterns[] = {
	{ "1111111 ttttt sssss 000 00000 0101011", DARE_MCFG, 2 },
	{ "0000010 ttttt sssss 000 10ddd 0101011", DARE_MLD, 2 },
	{ "0000010 ttttt sssss 000 01ddd 0101011", DARE_MLD_H, 2 },
	{ "0000010 ttttt sssss 000 00ddd 0101011", DARE_MLD_B, 2 },
	{ "0000110 ttttt sssss 000 10bbb 0101011", DARE_MST, 2 },
	{ "0000110 ttttt sssss 000 01bbb 0101011", DARE_MST_H, 2 },
	{ "0000110 ttttt sssss 000 00bbb 0101011", DARE_MST_B, 2 },
	{ "0000100 0bbb aaaddd 000 10000 0101011", DARE_MMA, 0 },
	{ "0000100 0bbb aaaddd 000 01001 0101011", DARE_MMA_BF16, 0 },
	{ "0001000 0bbb aaaddd 000 00000 0101011", DARE_MMA_I8, 0 },
	{ "0011010 0000 aaa000 000 10ddd 0101011", DARE_MGATHER, 0 },
	{ "0011010 0000 aaa000 000 01ddd 0101011", DARE_MGATHER_H, 0 },
	{ "0011010 0000 aaa000 000 00ddd 0101011", DARE_MGATHER_B, 0 },
	{ "0011110 0bbb aaa000 000 10000 0101011", DARE_MSCATTER, 0 },
	{ "0011110 0bbb aaa000 000 01000 0101011", DARE_MSCATTER_H, 0 },
	{ "0011110 0bbb aaa000 000 00000 0101011", DARE_MSCATTER_B, 0 },
};

#define PATTERN_COUNT (sizeof(patterns) / sizeof(patterns[0]))
#define OPCODE 0x2bu
#define OPCODE_BITS 7
/* Every word, but with a sanitizer, which takes ten times as long, one of eleven. */
#define WORDS_APART (IS_SANITIZED ? 11u : 1u)
/* mcfg 2^10, six loads and stores 2^13, three mma 2^9, six gathers and scatters 2^6. */
#define LEGAL_WORDS (1024 + 6 * 8192 + 3 * 512 + 6 * 64)

/* The bits of `word` where the pattern has `letter`, as a number. */
static unsigned int operand_of(const char *bits, uint32_t word, char letter)
{
	unsigned int value = 0, bit = 32;

	for (; *bits; bits++) {
		if (*bits == ' ')
			continue;
		bit--;
		if (*bits == letter)
			value = value << 1 | (word >> bit & 1);
	}
	assert_int_equal(bit, 0);
	return value;
}

/* The fixed bits of a pattern. */
static void fixed_bits(const char *bits, uint32_t *mask, uint32_t *value)
{
	*mask = 0;
	*value = 0;
	for (; *bits; bits++) {
		if (*bits == ' ')
			continue;
		*mask = *mask << 1 | (*bits == '0' || *bits == '1');
		*value = *value << 1 | (*bits == '1');
	}
}

/* The pattern that each word fits, or PATTERN_COUNT. */
static size_t pattern_of(uint32_t word)
{
	static uint32_t mask[PATTERN_COUNT], value[PATTERN_COUNT];
	size_t i;

	if (!mask[0]) {
		for (i = 0; i < PATTERN_COUNT; i++)
			fixed_bits(patterns[i].bits, &mask[i], &value[i]);
	}
	for (i = 0; i < PATTERN_COUNT; i++) {
		if ((word & mask[i]) == value[i])
			return i;
	}
	return PATTERN_COUNT;
}

static void assert_fields(const char *bits, uint32_t word, const struct dare_fields *fields)
{
	assert_int_equal(fields->md, operand_of(bits, word, 'd'));
	assert_int_equal(fields->ms1, operand_of(bits, word, 'a'));
	assert_int_equal(fields->ms2, operand_of(bits, word, 'b'));
	assert_int_equal(fields->rs1, operand_of(bits, word, 's'));
	assert_int_equal(fields->rs2, operand_of(bits, word, 't'));
}

static void every_word_of_the_opcode_decodes_as_the_formats_say(void **state)
{
	unsigned int legal = 0;
	struct dare_fields fields;

	(void)state;
	for (uint32_t high = 0; high < 1u << (32 - OPCODE_BITS); high += WORDS_APART) {
		uint32_t word = high << OPCODE_BITS | OPCODE;
		size_t pattern = pattern_of(word);
		int error = dare_decode(word, &fields);

		if (pattern == PATTERN_COUNT) {
			if (error != -EINVAL || dare_operand_count(word))
				fail_msg("0x%08x is taken for an instruction", word);
			continue;
		}
		legal++;
		if (error)
			fail_msg("0x%08x is taken for no instruction", word);
		assert_int_equal(fields.operation, patterns[pattern].operation);
		assert_int_equal(dare_operand_count(word), patterns[pattern].values);
		assert_fields(patterns[pattern].bits, word, &fields);
	}
	if (WORDS_APART == 1)
		assert_int_equal(legal, LEGAL_WORDS);
}

static void every_legal_word_is_encoded_from_its_fields_again(void **state)
{
	struct dare_fields fields;
	unsigned int legal = 0;
	uint32_t again;

	(void)state;
	for (uint32_t high = 0; high < 1u << (32 - OPCODE_BITS); high += WORDS_APART) {
		uint32_t word = high << OPCODE_BITS | OPCODE;

		if (dare_decode(word, &fields))
			continue;
		legal++;
		assert_int_equal(dare_encode(&fields, &again), 0);
		assert_int_equal(again, word);
	}
	if (WORDS_APART == 1)
		assert_int_equal(legal, LEGAL_WORDS);
}

static void words_of_other_opcodes_are_illegal(void **state)
{
	struct dare_fields fields;

	(void)state;
	/* All other opcodes with the bits of each legal format, and a walk through all words. */
	for (uint32_t opcode = 0; opcode < 1u << OPCODE_BITS; opcode++) {
		for (size_t i = 0; i < PATTERN_COUNT && opcode != OPCODE; i++) {
			uint32_t mask, value;

			fixed_bits(patterns[i].bits, &mask, &value);
			assert_int_equal(dare_decode(value - OPCODE + opcode, &fields), -EINVAL);
		}
	}
	for (uint64_t word = 0; word <= UINT32_MAX; word += 211 * WORDS_APART) {
		if (pattern_of((uint32_t)word) == PATTERN_COUNT && dare_decode((uint32_t)word, &fields) != -EINVAL)
			fail_msg("0x%08x is taken for an instruction", (uint32_t)word);
	}
}

static void fields_that_do_not_fit_are_not_encoded(void **state)
{
	static const struct dare_fields wrong[] = {
		{ .operation = DARE_OPERATION_COUNT },
		{ .operation = (enum dare_operation)1000 },
		{ .operation = DARE_MLD, .md = 8 },
		{ .operation = DARE_MLD, .rs1 = 32 },
		{ .operation = DARE_MLD, .rs2 = 0x80000001 },
		{ .operation = DARE_MLD, .ms1 = 1 },	/* mld has no such operand */
		{ .operation = DARE_MST, .md = 1 },
		{ .operation = DARE_MMA, .ms2 = 8 },
		{ .operation = DARE_MMA_I8, .rs1 = 1 },
		{ .operation = DARE_MGATHER, .ms2 = 1 },
		{ .operation = DARE_MSCATTER_B, .md = 1 },
		{ .operation = DARE_MCFG, .md = 1 },
	};
	uint32_t word = 12345;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(dare_encode(&wrong[i], &word), -EINVAL);
	assert_int_equal(word, 12345);
}

/* --- text -------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	const char *bits;
} lines[] = {
	{ "mcfg a0, a1", "1111111 01011 01010 000 00000 0101011" },
	{ "mcfg x31, x0", "1111111 00000 11111 000 00000 0101011" },
	{ "mld m1, (a0), a1", "0000010 01011 01010 000 10001 0101011" },
	{ "mld m7,(fp),zero", "0000010 00000 01000 000 10111 0101011" },
	{ "mld.h m2, (sp), t6", "0000010 11111 00010 000 01010 0101011" },
	{ "mld.b m0, (s11), ra", "0000010 00001 11011 000 00000 0101011" },
	{ "mst m1, (a0), a1", "0000110 01011 01010 000 10001 0101011" },
	{ "mst.h m5, (t3), s2", "0000110 10010 11100 000 01101 0101011" },
	{ "  mst.b\tm4 , ( x9 ) ,x17 ", "0000110 10001 01001 000 00100 0101011" },
	{ "mma m0, m1, m2", "0000100 0010 001000 000 10000 0101011" },
	{ "mma.bf16 m6, m5, m4 # sums", "0000100 0100 101110 000 01001 0101011" },
	{ "mma.i8 m3,m7,m7// sums", "0001000 0111 111011 000 00000 0101011" },
	{ "mgather m1, (m2)", "0011010 0000 010000 000 10001 0101011" },
	{ "mgather.h m7, (m0)", "0011010 0000 000000 000 01111 0101011" },
	{ "mgather.b m3, (m3)\r\nmld", "0011010 0000 011000 000 00011 0101011" },
	{ "mscatter m1, (m2)", "0011110 0001 010000 000 10000 0101011" },
	{ "mscatter.h m7, (m6)", "0011110 0111 110000 000 01000 0101011" },
	{ "mscatter.b m0, (m1)", "0011110 0000 001000 000 00000 0101011" },
	{ ".word 0x12345678", "0001001 00011 01000 101 01100 1111000" },
	{ ".word 4294967295", "1111111 11111 11111 111 11111 1111111" },
};

static void lines_of_text_become_the_words_of_the_formats(void **state)
{
	uint32_t word, mask, expected;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		fixed_bits(lines[i].bits, &mask, &expected);
		assert_int_equal(mask, UINT32_MAX);
		if (dare_assemble(lines[i].text, &word, NULL) != 1 || word != expected)
			fail_msg("%s: 0x%08x, not 0x%08x", lines[i].text, word, expected);
	}
}

static void lines_without_an_instruction_give_none(void **state)
{
	static const char *const empty[] = { "", "\n", "  \t \r\n", "# mld m1, (a0), a1", "\t// text", "\nmld" };
	uint32_t word = 12345;

	(void)state;
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		assert_int_equal(dare_assemble(empty[i], &word, NULL), 0);
	assert_int_equal(word, 12345);
}

static void every_legal_word_comes_back_from_its_text(void **state)
{
	char text[DARE_TEXT_SIZE];
	unsigned int legal = 0;
	uint32_t again;

	(void)state;
	for (uint32_t high = 0; high < 1u << (32 - OPCODE_BITS); high += WORDS_APART) {
		uint32_t word = high << OPCODE_BITS | OPCODE;

		if (pattern_of(word) == PATTERN_COUNT)
			continue;
		legal++;
		assert_true(dare_disassemble(word, text, sizeof(text)) < DARE_TEXT_SIZE);
		assert_true(text[0] == 'm');
		assert_int_equal(dare_assemble(text, &again, NULL), 1);
		assert_int_equal(again, word);
	}
	if (WORDS_APART == 1)
		assert_int_equal(legal, LEGAL_WORDS);
}

static void illegal_words_come_back_from_their_text(void **state)
{
	char text[DARE_TEXT_SIZE], expected[DARE_TEXT_SIZE];
	uint32_t again;

	(void)state;
	for (uint64_t word = 0; word <= UINT32_MAX; word += 99991) {
		if (pattern_of((uint32_t)word) != PATTERN_COUNT)
			continue;
		dare_disassemble((uint32_t)word, text, sizeof(text));
		snprintf(expected, sizeof(expected), ".word 0x%08x", (uint32_t)word);
		assert_string_equal(text, expected);
		assert_int_equal(dare_assemble(text, &again, NULL), 1);
		assert_int_equal(again, (uint32_t)word);
	}
}

static void a_text_that_does_not_fit_is_cut(void **state)
{
	char text[8] = "1234567";

	(void)state;
	assert_int_equal(dare_disassemble(0x04b508ab, text, 5), (int)strlen("mld m1, (a0), a1"));
	assert_string_equal(text, "mld ");
	assert_int_equal(dare_disassemble(0x04b508ab, NULL, 0), (int)strlen("mld m1, (a0), a1"));
}

static void scalar_registers_are_found_by_both_names(void **state)
{
	/* As the RISC-V calling convention has them. */
	static const char *const names[] = {
		"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
		"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
	};
	char number[16];

	(void)state;
	for (int i = 0; i < 32; i++) {
		snprintf(number, sizeof(number), "x%d", i);
		assert_int_equal(dare_scalar_register(names[i], strlen(names[i])), i);
		assert_int_equal(dare_scalar_register(number, strlen(number)), i);
	}
	assert_int_equal(dare_scalar_register("fp", 2), 8);
	assert_int_equal(dare_scalar_register("a0, a1", 2), 10);
	assert_int_equal(dare_scalar_register("x32", 3), -EINVAL);
	assert_int_equal(dare_scalar_register("x01", 3), -EINVAL);
	assert_int_equal(dare_scalar_register("x", 1), -EINVAL);
	assert_int_equal(dare_scalar_register("", 0), -EINVAL);
	assert_int_equal(dare_scalar_register("m0", 2), -EINVAL);
	assert_int_equal(dare_scalar_register("A0", 2), -EINVAL);
}

#define MATRIX "expected a matrix register (m0 to m7)"
#define SCALAR "expected a scalar register (x0 to x31, or a name such as a0)"
#define NUMBER "expected a number from 0 to 0xffffffff"

static const struct {
	const char *line;
	unsigned int column;
	const char *text;
} mistakes[] = {
	{ "mldx m1, (a0), a1", 1, "expected an instruction of DARE or .word, not 'mldx'" },
	{ "  MLD m1, (a0), a1", 3, "expected an instruction of DARE or .word, not 'MLD'" },
	{ "mld m8, (a0), a1", 5, MATRIX ", not 'm8'" },
	{ "mld m01, (a0), a1", 5, MATRIX ", not 'm01'" },
	{ "mld m1 (a0), a1", 8, "expected ',', not '('" },
	{ "mld m1, a0, a1", 9, "expected '(', not 'a0'" },
	{ "mld m1, (m2), a1", 10, SCALAR ", not 'm2'" },
	{ "mld m1, (a0, a1", 12, "expected ')', not ','" },
	{ "mld m1, (a0)", 13, "expected ',', not the end of the line" },
	{ "mld m1, (a0), # a1", 15, SCALAR ", not the end of the line" },
	{ "mld m1, (a0), a8", 15, SCALAR ", not 'a8'" },
	{ "mld m1, (a0), 4", 15, SCALAR ", not '4'" },
	{ "mma m0, m1, m2, m3", 15, "expected the end of the line, not ','" },
	{ "mgather m1, (a0)", 14, MATRIX ", not 'a0'" },
	{ "mcfg a0 a1", 9, "expected ',', not 'a1'" },
	{ ".word", 6, NUMBER ", not the end of the line" },
	{ ".word -1", 7, NUMBER ", not '-1'" },
	{ ".word 0x100000000", 7, NUMBER ", not '0x100000000'" },
	{ ".word 99999999999999999999999", 7, NUMBER ", not '99999999999999999999999'" },
	{ ".word 12z", 7, NUMBER ", not '12z'" },
	{ ".word 1 2", 9, "expected the end of the line, not '2'" },
	{ "\033[31m", 1, "expected an instruction of DARE or .word, not '?'" },
	{ "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee", 1,
	  "expected an instruction of DARE or .word, not 'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...'" },
};

static void a_wrong_line_is_refused_with_its_column_and_reason(void **state)
{
	struct dare_assembly_error error;
	uint32_t word = 12345;

	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		assert_int_equal(dare_assemble(mistakes[i].line, &word, &error), -EINVAL);
		assert_string_equal(error.text, mistakes[i].text);
		if (error.column != mistakes[i].column)
			fail_msg("%s: column %u, not %u", mistakes[i].line, error.column, mistakes[i].column);
		assert_int_equal(dare_assemble(mistakes[i].line, &word, NULL), -EINVAL);
	}
	assert_int_equal(word, 12345);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_of_the_opcode_decodes_as_the_formats_say),
		cmocka_unit_test(every_legal_word_is_encoded_from_its_fields_again),
		cmocka_unit_test(words_of_other_opcodes_are_illegal),
		cmocka_unit_test(fields_that_do_not_fit_are_not_encoded),
		cmocka_unit_test(lines_of_text_become_the_words_of_the_formats),
		cmocka_unit_test(lines_without_an_instruction_give_none),
		cmocka_unit_test(every_legal_word_comes_back_from_its_text),
		cmocka_unit_test(illegal_words_come_back_from_their_text),
		cmocka_unit_test(a_text_that_does_not_fit_is_cut),
		cmocka_unit_test(scalar_registers_are_found_by_both_names),
		cmocka_unit_test(a_wrong_line_is_refused_with_its_column_and_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
