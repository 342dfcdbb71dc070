/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the tables of docs/dare-isa.md from the instruction list. */
#include <stdio.h>

#include "devices/dare/isa.h"

/* As Table I of the paper writes them. */
static const char *const operand_texts[] = {
	[DARE_FORMAT_CONFIGURE] = "rs1, rs2",
	[DARE_FORMAT_LOAD] = "md, (rs1), rs2",
	[DARE_FORMAT_STORE] = "ms3, (rs1), rs2",
	[DARE_FORMAT_MULTIPLY] = "md, ms1, ms2",
	[DARE_FORMAT_GATHER] = "md, (ms1)",
	[DARE_FORMAT_SCATTER] = "ms2, (ms1)",
};

/* The operand whose highest bit is `bit`, or NULL. */
static const char *operand_at(enum dare_format format, int bit, struct dare_bits *bits)
{
	const struct dare_encoding *encoding = &dare_encodings[format];
	const struct {
		const char *name;
		struct dare_bits bits;
	} operands[] = {
		{ "md", encoding->md }, { "ms1", encoding->ms1 },
		{ format == DARE_FORMAT_STORE ? "ms3" : "ms2", encoding->ms2 },
		{ "rs1", encoding->rs1 }, { "rs2", encoding->rs2 },
	};

	for (unsigned int i = 0; i < sizeof(operands) / sizeof(operands[0]); i++) {
		*bits = operands[i].bits;
		if (bits->mask && bits->shift + __builtin_popcount(bits->mask) - 1 == bit)
			return operands[i].name;
	}
	return NULL;
}

/* Bits 31 to 0; a space where one of the usual fields begins. */
static void print_bits(const struct dare_operation_info *operation)
{
	const uint32_t borders = 1u << 6 | 1u << 9 | 1u << 11 | 1u << 14 | 1u << 17 | 1u << 24;
	struct dare_bits bits;
	const char *name;

	for (int bit = 31; bit >= 0; bit--) {
		name = operand_at(operation->format, bit, &bits);
		if (name) {
			printf(" %s[%d:%d]", name, bit, bits.shift);
			bit = bits.shift;
			continue;
		}
		if (borders >> bit & 1)
			putchar(' ');
		putchar(operation->word >> bit & 1 ? '1' : '0');
	}
}

static void print_instructions(void)
{
	printf("| instruction | word, operands 0 | element | meaning |\n| --- | --- | --- | --- |\n");
	for (int i = 0; i < DARE_OPERATION_COUNT; i++) {
		const struct dare_operation_info *operation = &dare_instructions[i];

		printf("| `%s %s` | `0x%08x` | ", operation->name, operand_texts[operation->format], operation->word);
		if (operation->element)
			printf("%u ", operation->element);
		printf("| %s |\n", operation->meaning);
	}
}

static void print_encodings(void)
{
	printf("\n| instruction | bits 31 to 0 |\n| --- | --- |\n");
	for (int i = 0; i < DARE_OPERATION_COUNT; i++) {
		printf("| `%s` | `", dare_instructions[i].name);
		print_bits(&dare_instructions[i]);
		printf("` |\n");
	}
}

static void print_csrs(void)
{
	printf("\n| CSR | name | values | meaning |\n| --- | --- | --- | --- |\n");
#define _(number, name, largest, meaning) printf("| %d | %s | 1 to %d | %s |\n", number, #name, largest, meaning);
	DARE_CSRS(_)
#undef _
}

int main(void)
{
	print_instructions();
	print_encodings();
	print_csrs();
	return 0;
}
