/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * x86-64: which instructions can be carried out elsewhere with the same effects. Those that compute with
 * general registers: they cannot fault and touch no memory, and their bytes mean the same at any address. And
 * jumps by a distance: elsewhere the distance is another one.
 */
#include <string.h>

#include "libmimic/preload/patch_plan.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define LONGEST 15u

struct cursor {
	const uint8_t *bytes;
	size_t count, at;
	bool has_16; /* the prefix of 16 bits */
	bool is_wide; /* REX.W */
};

/* The bytes behind an opcode. */
enum form {
	NONE_SUCH, /* or one that must stay where it is */
	PLAIN,
	IMMEDIATE_8, /* no operand in memory can be named */
	IMMEDIATE, /* of 16 or 32 bits */
	IMMEDIATE_ANY, /* of 64 bits, too */
	REGISTERS, /* ModRM of two registers */
	REGISTERS_8, /* and 8 bits */
	REGISTERS_IMMEDIATE,
	ADDRESS, /* ModRM of an address, which is only computed */
	GROUP_NOT, /* test $, not, neg, mul, imul: by ModRM; div is none of these */
	GROUP_NOT_8,
	GROUP_COUNT, /* inc, dec */
	GROUP_MOVE_8, /* mov of an immediate */
	GROUP_MOVE,
};

static enum form form_of(uint8_t opcode)
{
	if (opcode < 0x40)
		/* eight operations: four forms of ModRM, two of the accumulator; push, pop and the like are
		 * none */
		return (opcode & 7) < 4	   ? REGISTERS
		       : (opcode & 7) == 4 ? IMMEDIATE_8
		       : (opcode & 7) == 5 ? IMMEDIATE
					   : NONE_SUCH;
	if (opcode >= 0x90 && opcode <= 0x99)
		return PLAIN; /* nop, xchg of the accumulator, sign extensions */
	if (opcode >= 0xb0 && opcode <= 0xbf)
		return opcode < 0xb8 ? IMMEDIATE_8 : IMMEDIATE_ANY;
	switch (opcode) {
	case 0x63: /* movslq */
	case 0x84:
	case 0x85: /* test */
	case 0x86:
	case 0x87: /* xchg */
	case 0x88:
	case 0x89:
	case 0x8a:
	case 0x8b: /* mov */
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3: /* shifts */
		return REGISTERS;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
		return REGISTERS_8;
	case 0x69:
	case 0x81:
		return REGISTERS_IMMEDIATE;
	case 0x8d:
		return ADDRESS;
	case 0xa8:
		return IMMEDIATE_8;
	case 0xa9:
		return IMMEDIATE;
	case 0xc6:
		return GROUP_MOVE_8;
	case 0xc7:
		return GROUP_MOVE;
	case 0xf6:
		return GROUP_NOT_8;
	case 0xf7:
		return GROUP_NOT;
	case 0xfe:
	case 0xff:
		return GROUP_COUNT;
	default:
		return NONE_SUCH;
	}
}

static enum form form_of_second(uint8_t opcode)
{
	if ((opcode >= 0x40 && opcode <= 0x4f) || (opcode >= 0x90 && opcode <= 0x9f))
		return REGISTERS; /* cmov, set */
	if (opcode >= 0xc8 && opcode <= 0xcf)
		return PLAIN; /* bswap */
	switch (opcode) {
	case 0x1f: /* nop, which computes an address at most */
		return ADDRESS;
	case 0xa3:
	case 0xab:
	case 0xaf: /* imul */
	case 0xb3:
	case 0xb6:
	case 0xb7:
	case 0xbb:
	case 0xbe:
	case 0xbf: /* sign and zero extensions */
		return REGISTERS;
	default:
		return NONE_SUCH;
	}
}

static bool next(struct cursor *cursor, uint8_t *byte)
{
	if (cursor->at == cursor->count)
		return false;
	*byte = cursor->bytes[cursor->at++];
	return true;
}

/* ModRM of an address with its SIB and displacement, but not one relative to the instruction's own. */
static bool skip_address(struct cursor *cursor, uint8_t modrm)
{
	unsigned int mode = modrm >> 6;
	uint8_t sib = 0;

	if (mode == 3 || (mode == 0 && (modrm & 7) == 5))
		return false;
	if ((modrm & 7) == 4 && !next(cursor, &sib))
		return false;
	if (mode == 2 || (mode == 0 && (modrm & 7) == 4 && (sib & 7) == 5))
		cursor->at += 4;
	else if (mode == 1)
		cursor->at += 1;
	return true;
}

/* Which of a group's operations, and two registers? */
static bool is_allowed(enum form form, uint8_t modrm)
{
	unsigned int operation = modrm >> 3 & 7;

	if (modrm >> 6 != 3)
		return false;
	switch (form) {
	case GROUP_NOT:
	case GROUP_NOT_8:
		return operation != 1 && operation < 6;
	case GROUP_COUNT:
		return operation < 2;
	case GROUP_MOVE:
	case GROUP_MOVE_8:
		return operation == 0;
	default:
		return true;
	}
}

static unsigned int immediate_size(const struct cursor *cursor, enum form form, uint8_t opcode, uint8_t modrm)
{
	unsigned int whole = cursor->has_16 && !cursor->is_wide ? 2 : 4;

	switch (form) {
	case IMMEDIATE_8:
	case REGISTERS_8:
	case GROUP_MOVE_8:
		return 1;
	case IMMEDIATE_ANY:
		return cursor->is_wide ? 8 : whole;
	case IMMEDIATE:
	case REGISTERS_IMMEDIATE:
	case GROUP_MOVE:
		return whole;
	case GROUP_NOT:
	case GROUP_NOT_8:
		return modrm >> 3 & 7 ? 0 : opcode & 1 ? whole : 1;
	default:
		return 0;
	}
}

/* Shifts have a sixth operation that is not documented, and 0x82 and more do not exist. */
static bool is_shift(uint8_t opcode)
{
	return opcode == 0xc0 || opcode == 0xc1 || (opcode >= 0xd0 && opcode <= 0xd3);
}

static enum form read_opcode(struct cursor *cursor, uint8_t *opcode)
{
	enum form form;

	if (!next(cursor, opcode))
		return NONE_SUCH;
	if (*opcode == 0x66) {
		cursor->has_16 = true;
		if (!next(cursor, opcode))
			return NONE_SUCH;
	}
	if (*opcode >= 0x40 && *opcode <= 0x4f) {
		cursor->is_wide = *opcode & 8;
		if (!next(cursor, opcode) || (*opcode >= 0x40 && *opcode <= 0x4f))
			return NONE_SUCH;
	}
	if (*opcode != 0x0f)
		return form_of(*opcode);
	if (!next(cursor, opcode))
		return NONE_SUCH;
	form = form_of_second(*opcode);
	*opcode = 0;
	return form;
}

static unsigned int movable_as_it_is(const uint8_t *bytes, size_t available)
{
	struct cursor cursor = { .bytes = bytes, .count = available < LONGEST ? available : LONGEST };
	uint8_t opcode = 0, modrm = 0;
	enum form form = read_opcode(&cursor, &opcode);

	if (form == NONE_SUCH)
		return 0;
	if (form >= REGISTERS && !next(&cursor, &modrm))
		return 0;
	if (form == ADDRESS && !skip_address(&cursor, modrm))
		return 0;
	if (form >= REGISTERS && form != ADDRESS && !is_allowed(form, modrm))
		return 0;
	if (is_shift(opcode) && (modrm >> 3 & 7) == 6)
		return 0;
	cursor.at += immediate_size(&cursor, form, opcode, modrm);
	return cursor.at <= cursor.count ? (unsigned int)cursor.at : 0;
}

unsigned int mimic_preload_patch_branch(const uint8_t *bytes, size_t available, struct patch_branch *branch)
{
	bool has_two = available >= 2 && bytes[0] == 0x0f;
	unsigned int at = has_two, size = has_two || (available && bytes[0] == 0xe9) ? 4 : 1;
	int32_t distance = 0;
	bool is_jump;

	if (available < at + 1 + size)
		return 0;
	is_jump = !has_two && (bytes[0] == 0xe9 || bytes[0] == 0xeb);
	if (!is_jump && (bytes[at] & 0xf0) != (has_two ? 0x80 : 0x70))
		return 0;
	memcpy(&distance, bytes + at + 1, size);
	*branch = (struct patch_branch){
		.distance = size == 1 ? (int8_t)distance : distance,
		.is_conditional = !is_jump,
		.condition = bytes[at] & 0xf,
	};
	return at + 1 + size;
}

unsigned int mimic_preload_patch_movable(const uint8_t *bytes, size_t available)
{
	struct patch_branch branch;
	unsigned int length = mimic_preload_patch_branch(bytes, available, &branch);

	if (!length)
		return movable_as_it_is(bytes, available);
	/* Into itself: its bytes are those of another instruction, too. */
	return branch.distance < 0 && branch.distance > -(int32_t)length ? 0 : length;
}

#else

unsigned int mimic_preload_patch_branch(const uint8_t *bytes, size_t available, struct patch_branch *branch)
{
	(void)bytes, (void)available, (void)branch;
	return 0;
}

unsigned int mimic_preload_patch_movable(const uint8_t *bytes, size_t available)
{
	(void)bytes, (void)available;
	return 0;
}

#endif
