/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Words that were decoded before. */
#include "devices/dare/dare_internal.h"

/* Which matrix registers an instruction reads and writes. mma adds to md, so it reads it. */
static void find_registers(struct decoded *decoded, const struct dare_fields *fields)
{
	uint8_t md = (uint8_t)(1u << fields->md), ms1 = (uint8_t)(1u << fields->ms1);
	uint8_t ms2 = (uint8_t)(1u << fields->ms2);

	switch ((enum dare_format)decoded->format) {
	case DARE_FORMAT_CONFIGURE:
		return;
	case DARE_FORMAT_LOAD:
		decoded->writes = md;
		return;
	case DARE_FORMAT_STORE:
		decoded->reads = ms2;
		return;
	case DARE_FORMAT_MULTIPLY:
		decoded->reads = ms1 | ms2 | md;
		decoded->writes = md;
		return;
	case DARE_FORMAT_GATHER:
		decoded->reads = ms1;
		decoded->writes = md;
		return;
	case DARE_FORMAT_SCATTER:
		decoded->reads = ms1 | ms2;
		return;
	}
}

void dare_mpu_decoded_fill(struct decoded *decoded, uint32_t word)
{
	struct dare_fields fields;

	*decoded = (struct decoded){ .word = word, .is_filled = 1, .operation = DARE_OPERATION_COUNT };
	if (dare_decode(word, &fields))
		return;
	decoded->operation = (uint8_t)fields.operation;
	decoded->format = (uint8_t)dare_instructions[fields.operation].format;
	decoded->alignment = (uint8_t)(dare_instructions[fields.operation].element - 1);
	decoded->operands = (uint8_t)dare_operand_count(word);
	decoded->md = (uint8_t)fields.md;
	decoded->ms1 = (uint8_t)fields.ms1;
	decoded->ms2 = (uint8_t)fields.ms2;
	find_registers(decoded, &fields);
}
