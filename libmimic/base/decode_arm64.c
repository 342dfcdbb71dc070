/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Arm Architecture Reference Manual for A-profile, C4.1, "Loads and Stores". */
#include <errno.h>
#include <stdbool.h>

#include "libmimic/base/load_store.h"

static uint32_t bits(uint32_t instruction, unsigned int high, unsigned int low)
{
	return instruction >> low & ((2u << (high - low)) - 1);
}

static int64_t signed_bits(uint32_t instruction, unsigned int high, unsigned int low)
{
	return (int32_t)(instruction << (31 - high)) >> (31 - high + low);
}

/* Bits 31, 30 (size) and 23, 22 (opc) of accesses of one general register. */
static int general_register(uint32_t instruction, struct mimic_load_store *result)
{
	unsigned int size = bits(instruction, 31, 30), opc = bits(instruction, 23, 22);

	/* ldrsw to 32 bits is not, nor is there a sign of 64 bits: that is prfm. */
	if ((opc == 3 && size >= 2) || (opc == 2 && size == 3))
		return -EOPNOTSUPP;
	result->is_write = opc == 0;
	result->memory_size = (uint8_t)(1u << size);
	result->sign_size = opc == 2 ? 8 : opc == 3 ? 4 : 0;
	return 0;
}

static int vector_register(uint32_t instruction, struct mimic_load_store *result)
{
	unsigned int size = bits(instruction, 31, 30) | bits(instruction, 23, 23) << 2;

	if (size > 4)
		return -EOPNOTSUPP;
	result->is_vector = 1;
	result->is_write = !bits(instruction, 22, 22);
	result->memory_size = (uint8_t)(1u << size);
	return 0;
}

/* ldr, ldrsw, and ldr of vector registers, relative to the instruction. */
static int literal(uint32_t instruction, struct mimic_load_store *result)
{
	unsigned int opc = bits(instruction, 31, 30);

	if (opc == 3)
		return -EOPNOTSUPP;
	result->base = MIMIC_LOAD_STORE_NONE;
	result->displacement = signed_bits(instruction, 23, 5) * 4;
	result->is_vector = (uint8_t)bits(instruction, 26, 26);
	if (result->is_vector)
		result->memory_size = (uint8_t)(4u << opc);
	else
		result->memory_size = opc == 1 ? 8 : 4;
	if (!result->is_vector && opc == 2)
		result->sign_size = 8;
	return 0;
}

static int pair(uint32_t instruction, struct mimic_load_store *result)
{
	unsigned int opc = bits(instruction, 31, 30), mode = bits(instruction, 24, 23);

	result->is_write = !bits(instruction, 22, 22);
	result->is_vector = (uint8_t)bits(instruction, 26, 26);
	if (opc == 3)
		return -EOPNOTSUPP;
	if (result->is_vector) {
		result->memory_size = (uint8_t)(4u << opc);
	} else {
		/* ldpsw; there it is stgp, or nothing, that stores or is non-temporal. */
		if (opc == 1 && (result->is_write || mode == 0))
			return -EOPNOTSUPP;
		result->memory_size = opc == 2 ? 8 : 4;
		result->sign_size = opc == 1 ? 8 : 0;
	}
	result->count = 2;
	result->reg[1] = (uint8_t)bits(instruction, 14, 10);
	result->displacement = signed_bits(instruction, 21, 15) * result->memory_size;
	result->is_behind = mode == 1;
	result->writes_base = mode & 1;
	return 0;
}

/* Of an index register: its extension, and whether it counts elements. */
static int register_offset(uint32_t instruction, struct mimic_load_store *result)
{
	unsigned int option = bits(instruction, 15, 13);

	if (!(option & 2))
		return -EOPNOTSUPP;
	result->index = (uint8_t)bits(instruction, 20, 16);
	result->index_size = option & 1 ? 8 : 4;
	result->index_is_signed = (uint8_t)(option >> 2);
	if (bits(instruction, 12, 12))
		result->shift = (uint8_t)__builtin_ctz(result->memory_size);
	return 0;
}

/* Bit 21 without an index register: ldadd and the like, swp; ldapr; ldraa. */
static int atomic_operation(uint32_t instruction, struct mimic_load_store *result)
{
	bool is_other = bits(instruction, 15, 15);
	unsigned int opc = bits(instruction, 14, 12);

	if (bits(instruction, 26, 26) || bits(instruction, 11, 10))
		return -EOPNOTSUPP;
	if (!is_other || opc == 0)
		return -ENOLCK;
	if (opc != 4 || bits(instruction, 23, 22) != 2)
		return -EOPNOTSUPP;
	result->memory_size = (uint8_t)(1u << bits(instruction, 31, 30));
	return 0;
}

static int one_register(uint32_t instruction, struct mimic_load_store *result)
{
	unsigned int mode = bits(instruction, 11, 10);
	int error;

	if (!bits(instruction, 24, 24) && bits(instruction, 21, 21) && mode != 2)
		return atomic_operation(instruction, result);
	error = bits(instruction, 26, 26) ? vector_register(instruction, result) :
					    general_register(instruction, result);
	if (error)
		return error;
	if (bits(instruction, 24, 24)) {
		result->displacement = (int64_t)bits(instruction, 21, 10) * result->memory_size;
		return 0;
	}
	if (bits(instruction, 21, 21))
		return register_offset(instruction, result);
	result->displacement = signed_bits(instruction, 20, 12);
	result->is_behind = mode == 1;
	result->writes_base = mode & 1;
	/* Of vector registers there is no ldtr. */
	return mode == 2 && result->is_vector ? -EOPNOTSUPP : 0;
}

/* ldar and the like; the rest of this group is exclusive. */
static int ordered(uint32_t instruction, struct mimic_load_store *result)
{
	if (!bits(instruction, 23, 23) || bits(instruction, 21, 21))
		return -ENOLCK;
	result->is_write = !bits(instruction, 22, 22);
	result->memory_size = (uint8_t)(1u << bits(instruction, 31, 30));
	return 0;
}

/* ldapur, stlur */
static int ordered_unscaled(uint32_t instruction, struct mimic_load_store *result)
{
	if (bits(instruction, 21, 21) || bits(instruction, 11, 10))
		return -EOPNOTSUPP;
	result->displacement = signed_bits(instruction, 20, 12);
	return general_register(instruction, result);
}

int mimic_decode_arm64(uint32_t instruction, struct mimic_load_store *result)
{
	*result = (struct mimic_load_store){
		.length = 4,
		.count = 1,
		.reg = { (uint8_t)bits(instruction, 4, 0) },
		.base = (uint8_t)bits(instruction, 9, 5),
		.index = MIMIC_LOAD_STORE_NONE,
	};
	if (bits(instruction, 29, 24) == 0x08)
		return ordered(instruction, result);
	if (bits(instruction, 29, 24) == 0x19)
		return ordered_unscaled(instruction, result);
	if (bits(instruction, 29, 27) == 3 && bits(instruction, 25, 24) == 0)
		return literal(instruction, result);
	if (bits(instruction, 29, 27) == 5 && !bits(instruction, 25, 25))
		return pair(instruction, result);
	if (bits(instruction, 29, 27) == 7 && !bits(instruction, 25, 25))
		return one_register(instruction, result);
	return -EOPNOTSUPP;
}
