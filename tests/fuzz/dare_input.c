/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Decodes the input bytes of fuzz_dare. */
#include "devices/dare/isa.h"
#include "tests/fuzz/dare_input.h"
#include "tests/fuzz/dare_side.h"

uint64_t next_address(struct input *input)
{
	uint64_t choice = bytes(input, 2);
	uint64_t address = page_address(choice >> 13) + (choice & 0x3ff) * 4;

	return (choice >> 10 & 7) == 7 ? address - 1 : address;
}

/* The bits of an operand that tell m0 and m1 from m2 to m7. */
static uint32_t high_registers(const struct dare_encoding *encoding)
{
	const struct dare_bits operands[] = { encoding->md, encoding->ms1, encoding->ms2 };
	uint32_t bits = 0;

	for (unsigned int i = 0; i < 3; i++)
		bits |= (operands[i].mask & 6u) << operands[i].shift;
	return bits;
}

static uint32_t next_word(struct input *input)
{
	const struct dare_operation_info *operation;
	const struct dare_encoding *encoding;
	unsigned int choice = byte(input);
	uint32_t operands;

	if (choice >= 250)
		return (uint32_t)bytes(input, 4);
	operation = &dare_instructions[choice % DARE_OPERATION_COUNT];
	if (choice >= 240)
		return operation->word ^ 1u << byte(input) % 32;
	encoding = &dare_encodings[operation->format];
	operands = (uint32_t)bytes(input, 4) & encoding->operands;
	/* Few registers make many dependencies. */
	if (choice & 0x30)
		operands &= ~high_registers(encoding);
	return operation->word | operands;
}

/* Mostly a shape that there is; else just beyond, or with high bits that count as well. */
static void next_shape(struct input *input, unsigned int choice, struct instruction *instruction)
{
	instruction->value[1] = choice % 3;
	instruction->value[2] = 1 + byte(input) % (choice % 3 == 1 ? 64 : 16);
	if (choice < 224)
		return;
	if (choice < 232)
		instruction->value[2] = bytes(input, 1) % 70;
	else if (choice < 240)
		instruction->value[1] |= 1ull << (32 + choice % 32);
	else if (choice < 248)
		instruction->value[2] |= 1ull << (32 + choice % 32);
	else
		instruction->value[1] = bytes(input, 8);
}

struct instruction next_instruction(struct input *input)
{
	struct instruction instruction = { .value = { next_word(input) }, .count = 1 };
	uint32_t word = (uint32_t)instruction.value[0];
	unsigned int choice;

	instruction.count += dare_oracle_value_count(word);
	if (instruction.count == 1)
		return instruction;
	choice = byte(input);
	if (word >> 25 == 0x7f) {
		next_shape(input, choice, &instruction);
		return instruction;
	}
	instruction.value[1] = choice >= 250 ? bytes(input, 8) : next_address(input);
	if (choice >= 240)
		instruction.value[2] = bytes(input, 8);
	else if (choice & 1)
		instruction.value[2] = (uint64_t)(int64_t)(4 * (int8_t)byte(input));
	else
		instruction.value[2] = 64;
	return instruction;
}
