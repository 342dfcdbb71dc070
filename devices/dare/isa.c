/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Instruction words to fields and back. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "devices/dare/isa.h"

const struct dare_operation_info dare_instructions[DARE_OPERATION_COUNT] = {
#define _(name, text, word, format, element, meaning) \
	[DARE_##name] = { text, word, DARE_FORMAT_##format, element, meaning },
	DARE_INSTRUCTIONS(_)
#undef _
};

/* An operand is given by its lowest bit; 0: the format does not have it. */
#define MATRIX(shift) { shift, (shift) ? 7 : 0 }
#define SCALAR(shift) { shift, (shift) ? 31 : 0 }
#define TAKEN(shift, mask) ((shift) ? UINT32_C(mask) << (shift) : 0)
#define ENCODING(md, ms1, ms2, rs1, rs2) \
	{ MATRIX(md), MATRIX(ms1), MATRIX(ms2), SCALAR(rs1), SCALAR(rs2), \
	  TAKEN(md, 7) | TAKEN(ms1, 7) | TAKEN(ms2, 7) | TAKEN(rs1, 31) | TAKEN(rs2, 31) }

const struct dare_encoding dare_encodings[DARE_FORMAT_SCATTER + 1] = {
	/*				   md  ms1 ms2 rs1 rs2 */
	[DARE_FORMAT_CONFIGURE] = ENCODING(0,  0,  0,  15, 20),
	[DARE_FORMAT_LOAD] =	  ENCODING(7,  0,  0,  15, 20),
	[DARE_FORMAT_STORE] =	  ENCODING(0,  0,  7,  15, 20),	/* ms2: Table I calls it ms3 */
	[DARE_FORMAT_MULTIPLY] =  ENCODING(15, 18, 21, 0,  0),
	[DARE_FORMAT_GATHER] =	  ENCODING(7,  18, 0,  0,  0),
	[DARE_FORMAT_SCATTER] =	  ENCODING(0,  18, 21, 0,  0),
};

/*
 * Bits [31:25] and [11:10] hold no operand in any format and differ for any two
 * instructions (if they did not, the compiler would warn of an initializer that
 * is given twice). So they find the only candidate, or 0 if there is none.
 */
#define KEY(word) ((word) >> 25 << 2 | ((word) >> 10 & 3))

static const uint8_t candidates[KEY(UINT32_MAX) + 1] = {
#define _(name, text, word, format, element, meaning) [KEY(word)] = DARE_##name + 1,
	DARE_INSTRUCTIONS(_)
#undef _
};

/* NULL if the word is no instruction. */
static const struct dare_operation_info *find_instruction(uint32_t word)
{
	const struct dare_operation_info *candidate;

	if (!candidates[KEY(word)])
		return NULL;
	candidate = &dare_instructions[candidates[KEY(word)] - 1];
	if ((word & ~dare_encodings[candidate->format].operands) != candidate->word)
		return NULL;
	return candidate;
}

static unsigned int take(uint32_t word, struct dare_bits bits)
{
	return word >> bits.shift & bits.mask;
}

int dare_decode(uint32_t word, struct dare_fields *fields)
{
	const struct dare_operation_info *instruction = find_instruction(word);
	const struct dare_encoding *layout;

	if (!instruction)
		return -EINVAL;
	layout = &dare_encodings[instruction->format];
	*fields = (struct dare_fields){
		.operation = (enum dare_operation)(instruction - dare_instructions),
		.md = take(word, layout->md),
		.ms1 = take(word, layout->ms1),
		.ms2 = take(word, layout->ms2),
		.rs1 = take(word, layout->rs1),
		.rs2 = take(word, layout->rs2),
	};
	return 0;
}

static bool put(uint32_t *word, struct dare_bits bits, unsigned int value)
{
	if (value > bits.mask)
		return false;
	*word |= (uint32_t)value << bits.shift;
	return true;
}

int dare_encode(const struct dare_fields *fields, uint32_t *word)
{
	const struct dare_encoding *layout;
	uint32_t result;

	if ((unsigned int)fields->operation >= DARE_OPERATION_COUNT)
		return -EINVAL;
	result = dare_instructions[fields->operation].word;
	layout = &dare_encodings[dare_instructions[fields->operation].format];
	if (!put(&result, layout->md, fields->md) || !put(&result, layout->ms1, fields->ms1) ||
	    !put(&result, layout->ms2, fields->ms2) || !put(&result, layout->rs1, fields->rs1) ||
	    !put(&result, layout->rs2, fields->rs2))
		return -EINVAL;
	*word = result;
	return 0;
}

unsigned int dare_operand_count(uint32_t word)
{
	const struct dare_operation_info *instruction = find_instruction(word);

	return instruction && dare_encodings[instruction->format].rs1.mask ? 2 : 0;
}
