/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The RISC-V Instruction Set Manual, volume I: RV64I, A, F, D, Zfh, C, Zcb. */
#include <errno.h>
#include <stdbool.h>

#include "libmimic/base/load_store.h"

#define OPCODE_LOAD		0x03u
#define OPCODE_LOAD_FLOAT	0x07u
#define OPCODE_STORE		0x23u
#define OPCODE_STORE_FLOAT	0x27u
#define OPCODE_ATOMIC		0x2fu
#define STACK_POINTER		2u

static uint32_t bits(uint32_t instruction, unsigned int high, unsigned int low)
{
	return instruction >> low & ((2u << (high - low)) - 1);
}

static int64_t signed_bits(uint32_t instruction, unsigned int high, unsigned int low)
{
	return (int32_t)(instruction << (31 - high)) >> (31 - high + low);
}

static int load(uint32_t instruction, bool is_float, struct mimic_load_store *result)
{
	unsigned int width = bits(instruction, 14, 12);

	/* 0 and 5 to 7 of floating point are vectors, 4 is of 16 bytes. */
	if (is_float ? width < 1 || width > 3 : width == 7)
		return -EOPNOTSUPP;
	result->is_vector = is_float;
	result->memory_size = (uint8_t)(1u << (width & 3));
	result->sign_size = is_float || width > 3 ? 0 : 8;
	result->reg[0] = (uint8_t)bits(instruction, 11, 7);
	result->displacement = signed_bits(instruction, 31, 20);
	return 0;
}

static int store(uint32_t instruction, bool is_float, struct mimic_load_store *result)
{
	unsigned int width = bits(instruction, 14, 12);

	if (width > 3 || (is_float && width < 1))
		return -EOPNOTSUPP;
	result->is_vector = is_float;
	result->is_write = 1;
	result->memory_size = (uint8_t)(1u << width);
	result->reg[0] = (uint8_t)bits(instruction, 24, 20);
	result->displacement = signed_bits(instruction, 31, 25) * 32 + bits(instruction, 11, 7);
	return 0;
}

/* --- compressed -------------------------------------------------------------- */

/* Bits 15 to 13 of the quadrants 0 and 2, which have the same meaning in both. */
static int compressed_form(uint32_t instruction, struct mimic_load_store *result)
{
	unsigned int form = bits(instruction, 15, 13);

	if (!(form & 3))
		return -EOPNOTSUPP;
	result->is_write = form >> 2;
	result->is_vector = (form & 3) == 1;
	result->memory_size = (form & 3) == 2 ? 4 : 8;
	result->sign_size = result->is_write || result->is_vector ? 0 : 8;
	return 0;
}

/* c.lbu, c.lhu, c.lh, c.sb, c.sh */
static int compressed_narrow(uint32_t instruction, struct mimic_load_store *result)
{
	unsigned int form = bits(instruction, 12, 10);
	bool is_half = form & 1, bit = bits(instruction, 6, 6);

	if (form > 3 || (form == 3 && bit))
		return -EOPNOTSUPP;
	result->is_write = form >> 1;
	result->memory_size = is_half ? 2 : 1;
	result->displacement = bits(instruction, 5, 5) * 2;
	if (!is_half)
		result->displacement += bit;
	else if (bit)
		result->sign_size = 8;
	return 0;
}

/* Quadrant 0: the registers are 8 to 15. */
static int compressed_register(uint32_t instruction, struct mimic_load_store *result)
{
	result->reg[0] = (uint8_t)(8 + bits(instruction, 4, 2));
	result->base = (uint8_t)(8 + bits(instruction, 9, 7));
	if (bits(instruction, 15, 13) == 4)
		return compressed_narrow(instruction, result);
	if (compressed_form(instruction, result))
		return -EOPNOTSUPP;
	result->displacement = bits(instruction, 12, 10) * 8;
	if (result->memory_size == 8)
		result->displacement += bits(instruction, 6, 5) * 64;
	else
		result->displacement += bits(instruction, 6, 6) * 4 + bits(instruction, 5, 5) * 64;
	return 0;
}

/* Quadrant 2: relative to the stack pointer. */
static int compressed_stack(uint32_t instruction, struct mimic_load_store *result)
{
	bool is_word;

	if (compressed_form(instruction, result))
		return -EOPNOTSUPP;
	is_word = result->memory_size == 4;
	result->base = STACK_POINTER;
	if (result->is_write) {
		result->reg[0] = (uint8_t)bits(instruction, 6, 2);
		result->displacement = is_word ? bits(instruction, 12, 9) * 4 + bits(instruction, 8, 7) * 64 :
						 bits(instruction, 12, 10) * 8 + bits(instruction, 9, 7) * 64;
		return 0;
	}
	result->reg[0] = (uint8_t)bits(instruction, 11, 7);
	result->displacement = bits(instruction, 12, 12) * 32;
	result->displacement += is_word ? bits(instruction, 6, 4) * 4 + bits(instruction, 3, 2) * 64 :
					  bits(instruction, 6, 5) * 8 + bits(instruction, 4, 2) * 64;
	/* c.lwsp and c.ldsp of x0 are reserved. */
	return !result->is_vector && !result->reg[0] ? -EOPNOTSUPP : 0;
}

int mimic_decode_riscv(uint32_t instruction, struct mimic_load_store *result)
{
	*result = (struct mimic_load_store){
		.length = 4,
		.count = 1,
		.base = (uint8_t)bits(instruction, 19, 15),
		.index = MIMIC_LOAD_STORE_NONE,
	};
	if ((instruction & 3) != 3) {
		result->length = 2;
		if ((instruction & 3) == 1)
			return -EOPNOTSUPP;
		return instruction & 2 ? compressed_stack(instruction, result) :
					 compressed_register(instruction, result);
	}
	switch (bits(instruction, 6, 0)) {
	case OPCODE_LOAD:
		return load(instruction, false, result);
	case OPCODE_LOAD_FLOAT:
		return load(instruction, true, result);
	case OPCODE_STORE:
		return store(instruction, false, result);
	case OPCODE_STORE_FLOAT:
		return store(instruction, true, result);
	case OPCODE_ATOMIC:
		return -ENOLCK;
	default:
		return -EOPNOTSUPP;
	}
}
