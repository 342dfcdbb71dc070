/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Section numbers are those of the Intel 64 and IA-32 Architectures Software
 * Developer's Manual, volume 2.
 *
 * Reading past the available bytes yields 0 and marks the decoder short. What
 * is concluded from such a byte is void: mimic_decode() then answers -ENODATA,
 * so an answer never depends on a byte that was not there.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#else
#include <errno.h>
#include <stdbool.h>
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

#include "libmimic/base/decode.h"

enum encoding {
	LEGACY	= 1,
	VEX	= 2,
	EVEX	= 4,
};

/* Mandatory prefixes, numbered as the pp field of VEX and EVEX (2.3.6). */
enum mandatory {
	P_NONE,
	P_66,
	P_F3,
	P_F2,
};

struct decoder {
	struct mimic_instruction *instruction;
	const uint8_t *bytes;
	unsigned int available;
	unsigned int position;
	bool is_short;

	enum encoding encoding;
	bool operand_16;	/* 66 */
	bool lock;		/* F0 */
	uint8_t repeat;		/* F2 or F3, the last one; 0 without */
	bool rex;		/* any REX: spl to dil instead of ah to bh */

	/* From REX, VEX or EVEX. */
	bool w;
	uint8_t reg_high;	/* added to ModRM.reg: 0, 8, 16, 24 */
	uint8_t index_high;	/* added to SIB.index: 0, 8 */
	uint8_t base_high;	/* added to ModRM.rm or SIB.base: 0, 8 */

	/* From VEX or EVEX; a legacy instruction has vector_size 16. */
	uint8_t mandatory;
	uint8_t vvvv;		/* the register number; 0 where the field is unused */
	uint8_t vector_size;	/* 16, 32 or 64 */

	uint8_t modrm_reg;	/* without reg_high */
	uint8_t displacement_unit;	/* EVEX multiplies an 8-bit displacement (2.7.5); else 1 */
};

static uint64_t mimic_decode_fetch(struct decoder *decoder, unsigned int size)
{
	const uint8_t *bytes = decoder->bytes + decoder->position;
	uint64_t value = 0;
	unsigned int i;

	if (decoder->available - decoder->position < size) {
		decoder->is_short = true;
		return 0;
	}
	for (i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	decoder->position += size;
	return value;
}

static uint8_t mimic_decode_fetch_byte(struct decoder *decoder)
{
	if (decoder->position == decoder->available) {
		decoder->is_short = true;
		return 0;
	}
	return decoder->bytes[decoder->position++];
}

static int64_t mimic_decode_fetch_signed(struct decoder *decoder, unsigned int size)
{
	uint64_t value = mimic_decode_fetch(decoder, size);

	if (size == 1)
		return (int8_t)value;
	if (size == 2)
		return (int16_t)value;
	return (int32_t)value;
}

/* --- prefixes ------------------------------------------------------------ */

/* A legacy prefix takes effect and true is returned; anything else: false. */
static bool mimic_decode_legacy_prefix(struct decoder *decoder, uint8_t byte)
{
	struct mimic_instruction *instruction = decoder->instruction;

	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e:
		/*
		 * es, cs, ss, ds are null prefixes in 64-bit mode (volume 1, 3.4.2.1):
		 * they do not even take an earlier fs or gs back.
		 */
		return true;
	case 0x64:
		instruction->segment = MIMIC_SEGMENT_FS;
		return true;
	case 0x65:
		instruction->segment = MIMIC_SEGMENT_GS;
		return true;
	case 0x66:
		decoder->operand_16 = true;
		return true;
	case 0x67:
		instruction->address_size = 4;
		return true;
	case 0xf0:
		decoder->lock = true;
		return true;
	case 0xf2: case 0xf3:
		decoder->repeat = byte;
		return true;
	}
	return false;
}

/* Reads all prefixes and returns the byte after them. */
static uint8_t mimic_decode_prefixes(struct decoder *decoder)
{
	uint8_t rex = 0;
	uint8_t byte;

	for (;;) {
		byte = mimic_decode_fetch_byte(decoder);
		if ((byte & 0xf0) == 0x40) {
			rex = byte;
			continue;
		}
		if (!mimic_decode_legacy_prefix(decoder, byte))
			break;
		/* A REX that does not stand right before the opcode is ignored (2.2.1). */
		rex = 0;
	}
	decoder->rex = rex != 0;
	decoder->w = rex & 8;
	decoder->reg_high = rex & 4 ? 8 : 0;
	decoder->index_high = rex & 2 ? 8 : 0;
	decoder->base_high = rex & 1 ? 8 : 0;
	return byte;
}

/* --- memory operands ----------------------------------------------------- */

static void mimic_decode_displacement(struct decoder *decoder, unsigned int mod)
{
	struct mimic_instruction *instruction = decoder->instruction;

	if (mod == 1)
		instruction->displacement = mimic_decode_fetch_signed(decoder, 1) * decoder->displacement_unit;
	else if (mod == 2)
		instruction->displacement = mimic_decode_fetch_signed(decoder, 4);
}

static void mimic_decode_sib(struct decoder *decoder, unsigned int mod)
{
	struct mimic_instruction *instruction = decoder->instruction;
	uint8_t byte = mimic_decode_fetch_byte(decoder);
	uint8_t index = ((byte >> 3) & 7) | decoder->index_high;

	if (index != 4) {
		instruction->index = index;
		instruction->scale = 1 << (byte >> 6);
	}
	if ((byte & 7) == 5 && mod == 0) {
		instruction->displacement = mimic_decode_fetch_signed(decoder, 4);
		return;
	}
	instruction->base = (byte & 7) | decoder->base_high;
	mimic_decode_displacement(decoder, mod);
}

/* ModRM, SIB and displacement. A register operand is none of ours. */
static int mimic_decode_memory(struct decoder *decoder)
{
	struct mimic_instruction *instruction = decoder->instruction;
	uint8_t byte = mimic_decode_fetch_byte(decoder);
	unsigned int mod = byte >> 6;
	unsigned int rm = byte & 7;

	if (mod == 3)
		return -EOPNOTSUPP;
	decoder->modrm_reg = (byte >> 3) & 7;
	if (rm == 4) {
		mimic_decode_sib(decoder, mod);
	} else if (rm == 5 && mod == 0) {
		instruction->rip_relative = 1;
		instruction->displacement = mimic_decode_fetch_signed(decoder, 4);
	} else {
		instruction->base = rm | decoder->base_high;
		mimic_decode_displacement(decoder, mod);
	}
	return 0;
}

/* --- general registers --------------------------------------------------- */

/* REX.W goes before 66 (2.2.1.2). */
static unsigned int mimic_decode_operand_size(const struct decoder *decoder)
{
	return decoder->w ? 8 : decoder->operand_16 ? 2 : 4;
}

/* An opcode's lowest bit says byte or not, nearly everywhere. */
static unsigned int mimic_decode_size_of(const struct decoder *decoder, uint8_t opcode)
{
	return opcode & 1 ? mimic_decode_operand_size(decoder) : 1;
}

static void mimic_decode_general_register(struct decoder *decoder, unsigned int number, unsigned int size)
{
	struct mimic_instruction *instruction = decoder->instruction;

	instruction->operand = MIMIC_OPERAND_GENERAL;
	instruction->register_size = size;
	instruction->high_byte = size == 1 && !decoder->rex && number >= 4;
	instruction->reg = instruction->high_byte ? number - 4 : number;
}

static int mimic_decode_general(struct decoder *decoder, bool is_write, unsigned int memory_size,
				unsigned int register_size)
{
	struct mimic_instruction *instruction = decoder->instruction;
	int error = mimic_decode_memory(decoder);

	if (error)
		return error;
	instruction->is_write = is_write;
	instruction->memory_size = memory_size;
	mimic_decode_general_register(decoder, decoder->modrm_reg | decoder->reg_high, register_size);
	return 0;
}

static int mimic_decode_extending(struct decoder *decoder, unsigned int memory_size, bool sign)
{
	decoder->instruction->sign_extend = sign;
	return mimic_decode_general(decoder, false, memory_size, mimic_decode_operand_size(decoder));
}

/* mov between al, ax, eax, rax and an address in the instruction (A0 to A3). */
static int mimic_decode_absolute(struct decoder *decoder, uint8_t opcode)
{
	struct mimic_instruction *instruction = decoder->instruction;

	instruction->displacement = (int64_t)mimic_decode_fetch(decoder, instruction->address_size);
	instruction->is_write = opcode >= 0xa2;
	instruction->memory_size = mimic_decode_size_of(decoder, opcode);
	mimic_decode_general_register(decoder, 0, instruction->memory_size);
	return 0;
}

static bool mimic_decode_only_reads(unsigned int operation)
{
	return operation == MIMIC_OPERATION_CMP || operation == MIMIC_OPERATION_TEST;
}

/* Memory that is the first operand of an operation, or what is moved to. */
static void mimic_decode_first_operand(struct decoder *decoder, unsigned int operation, unsigned int size)
{
	struct mimic_instruction *instruction = decoder->instruction;

	instruction->operation = operation;
	instruction->is_write = operation == MIMIC_OPERATION_MOVE;
	instruction->is_update = !instruction->is_write && !mimic_decode_only_reads(operation);
	instruction->memory_first = !instruction->is_write;
	instruction->memory_size = size;
}

/* After ModRM: an immediate of `bytes`, with memory of `size`. */
static int mimic_decode_immediate(struct decoder *decoder, unsigned int operation, unsigned int size,
				  unsigned int bytes)
{
	struct mimic_instruction *instruction = decoder->instruction;

	mimic_decode_first_operand(decoder, operation, size);
	instruction->operand = MIMIC_OPERAND_IMMEDIATE;
	instruction->register_size = size;
	if (bytes)
		instruction->immediate = (uint64_t)mimic_decode_fetch_signed(decoder, bytes);
	return 0;
}

/* There is no 8-byte immediate with memory: 4 bytes are sign extended. */
static unsigned int mimic_decode_immediate_size(unsigned int size)
{
	return size == 8 ? 4 : size;
}

/* Opcodes whose ModRM.reg says which instruction it is. */
static int mimic_decode_group(struct decoder *decoder, uint8_t opcode)
{
	unsigned int size = mimic_decode_size_of(decoder, opcode);
	unsigned int bytes = mimic_decode_immediate_size(size);
	int error = mimic_decode_memory(decoder);
	unsigned int which = decoder->modrm_reg;

	if (error)
		return error;
	switch (opcode) {
	case 0x80: case 0x81:
		return mimic_decode_immediate(decoder, which, size, bytes);
	case 0x83:
		return mimic_decode_immediate(decoder, which, size, 1);
	case 0xc6: case 0xc7:
		return which ? -EOPNOTSUPP : mimic_decode_immediate(decoder, MIMIC_OPERATION_MOVE, size, bytes);
	case 0xf6: case 0xf7:
		/* /1 is an undocumented twin of /0. */
		if (which < 2)
			return mimic_decode_immediate(decoder, MIMIC_OPERATION_TEST, size, bytes);
		if (which > 3)
			return -EOPNOTSUPP;
		return mimic_decode_immediate(decoder, MIMIC_OPERATION_NOT + which - 2, size, 0);
	}
	if (which > 1)
		return -EOPNOTSUPP;
	decoder->instruction->immediate = 1;
	return mimic_decode_immediate(decoder, MIMIC_OPERATION_INC + which, size, 0);
}

/* Opcodes 00 to 3F: eight operations, each with memory as destination (0, 1) or source (2, 3). */
static int mimic_decode_arithmetic(struct decoder *decoder, uint8_t opcode)
{
	unsigned int size = mimic_decode_size_of(decoder, opcode);
	unsigned int form = opcode & 7;
	int error;

	if (form > 3)
		return -EOPNOTSUPP;
	error = mimic_decode_general(decoder, false, size, size);
	if (form < 2)
		mimic_decode_first_operand(decoder, opcode >> 3, size);
	else
		decoder->instruction->operation = opcode >> 3;
	return error;
}

/*
 * Opcodes D8 to DF, by ModRM.reg: bytes of memory, and STORES. 0: an
 * environment, 10 bytes, or no instruction.
 */
#define STORES 0x80

static const uint8_t x87_bytes[8][8] = {
	{ 4, 4, 4, 4, 4, 4, 4, 4 },
	{ 4, 0, 4 | STORES, 4 | STORES, 0, 0, 0, 0 },
	{ 4, 4, 4, 4, 4, 4, 4, 4 },
	{ 4, 4 | STORES, 4 | STORES, 4 | STORES, 0, 0, 0, 0 },
	{ 8, 8, 8, 8, 8, 8, 8, 8 },
	{ 8, 8 | STORES, 8 | STORES, 8 | STORES, 0, 0, 0, 0 },
	{ 2, 2, 2, 2, 2, 2, 2, 2 },
	{ 2, 2 | STORES, 2 | STORES, 2 | STORES, 0, 8, 0, 8 | STORES },
};

static int mimic_decode_x87(struct decoder *decoder, uint8_t opcode)
{
	struct mimic_instruction *instruction = decoder->instruction;
	int error = mimic_decode_memory(decoder);
	uint8_t bytes;

	if (error)
		return error;
	bytes = x87_bytes[opcode & 7][decoder->modrm_reg];
	if (!bytes)
		return -EOPNOTSUPP;
	instruction->operand = MIMIC_OPERAND_X87;
	instruction->is_write = !!(bytes & STORES);
	instruction->memory_size = bytes & ~STORES;
	instruction->register_size = instruction->memory_size;
	instruction->reg = (opcode & 7) << 3 | decoder->modrm_reg;
	return 0;
}

static int mimic_decode_primary_map(struct decoder *decoder, uint8_t opcode)
{
	unsigned int size = mimic_decode_size_of(decoder, opcode);
	int error;

	switch (opcode) {
	case 0x88: case 0x89:
		return mimic_decode_general(decoder, true, size, size);
	case 0x8a: case 0x8b:
		return mimic_decode_general(decoder, false, size, size);
	case 0xa0: case 0xa1: case 0xa2: case 0xa3:
		return mimic_decode_absolute(decoder, opcode);
	case 0x80: case 0x81: case 0x83: case 0xc6: case 0xc7: case 0xf6: case 0xf7: case 0xfe: case 0xff:
		return mimic_decode_group(decoder, opcode);
	case 0xd8: case 0xd9: case 0xda: case 0xdb: case 0xdc: case 0xdd: case 0xde: case 0xdf:
		return mimic_decode_x87(decoder, opcode);
	case 0x63:
		/* movsxd; without REX.W it extends nothing, and with 66 it reads 2 bytes. */
		size = mimic_decode_operand_size(decoder);
		return mimic_decode_extending(decoder, size == 8 ? 4 : size, true);
	case 0x84: case 0x85:
		decoder->instruction->operation = MIMIC_OPERATION_TEST;
		decoder->instruction->memory_first = 1;
		return mimic_decode_general(decoder, false, size, size);
	case 0x86: case 0x87:
		/* xchg with memory locks without being asked to. */
		error = mimic_decode_memory(decoder);
		return error ? error : -ENOLCK;
	}
	return opcode < 0x40 ? mimic_decode_arithmetic(decoder, opcode) : -EOPNOTSUPP;
}

/* --- vector registers ---------------------------------------------------- */

enum vector_bytes {
	FULL	= 0,	/* as long as the vector */
	BY_W	= 1,	/* 4, or 8 with W */
	/* 2, 4, 8: that many */
};

enum vector_length {
	ANY,		/* 16, 32 with VEX, 64 with EVEX */
	ONLY_128,	/* any other is an invalid instruction */
	IGNORED,	/* scalar */
};

/* What EVEX asks of W; VEX and SSE ignore it, except BY_W. */
enum evex_w {
	W0,
	W1,
	WX,
};

struct vector_move {
	uint8_t map;		/* 1: 0F, 2: 0F 38, 5: EVEX only */
	uint8_t opcode;
	uint8_t mandatory;
	uint8_t is_write;
	uint8_t bytes;
	uint8_t length;
	uint8_t w;
	uint8_t flags;		/* encodings, and: */
#define HIGH	0x10		/* memory is bytes 8 to 15 of the register */
#define MERGES	0x20		/* a load of half an xmm register */
};

#define ALL (LEGACY | VEX | EVEX)

/* In the order of the opcode maps (volume 2, appendix A). */
static const struct vector_move vector_moves[] = {
	{ 1, 0x10, P_NONE, 0, FULL, ANY,      W0, ALL },		/* movups */
	{ 1, 0x10, P_66,   0, FULL, ANY,      W1, ALL },		/* movupd */
	{ 1, 0x10, P_F3,   0, 4,    IGNORED,  W0, ALL },		/* movss */
	{ 1, 0x10, P_F2,   0, 8,    IGNORED,  W1, ALL },		/* movsd */
	{ 1, 0x11, P_NONE, 1, FULL, ANY,      W0, ALL },
	{ 1, 0x11, P_66,   1, FULL, ANY,      W1, ALL },
	{ 1, 0x11, P_F3,   1, 4,    IGNORED,  W0, ALL },
	{ 1, 0x11, P_F2,   1, 8,    IGNORED,  W1, ALL },
	{ 1, 0x12, P_NONE, 0, 8,    ONLY_128, W0, ALL | MERGES },	/* movlps */
	{ 1, 0x12, P_66,   0, 8,    ONLY_128, W1, ALL | MERGES },	/* movlpd */
	{ 1, 0x13, P_NONE, 1, 8,    ONLY_128, W0, ALL },
	{ 1, 0x13, P_66,   1, 8,    ONLY_128, W1, ALL },
	{ 1, 0x16, P_NONE, 0, 8,    ONLY_128, W0, ALL | HIGH | MERGES },	/* movhps */
	{ 1, 0x16, P_66,   0, 8,    ONLY_128, W1, ALL | HIGH | MERGES },	/* movhpd */
	{ 1, 0x17, P_NONE, 1, 8,    ONLY_128, W0, ALL | HIGH },
	{ 1, 0x17, P_66,   1, 8,    ONLY_128, W1, ALL | HIGH },
	{ 1, 0x28, P_NONE, 0, FULL, ANY,      W0, ALL },		/* movaps */
	{ 1, 0x28, P_66,   0, FULL, ANY,      W1, ALL },		/* movapd */
	{ 1, 0x29, P_NONE, 1, FULL, ANY,      W0, ALL },
	{ 1, 0x29, P_66,   1, FULL, ANY,      W1, ALL },
	{ 1, 0x2b, P_NONE, 1, FULL, ANY,      W0, ALL },		/* movntps */
	{ 1, 0x2b, P_66,   1, FULL, ANY,      W1, ALL },		/* movntpd */
	{ 1, 0x6e, P_66,   0, BY_W, ONLY_128, WX, ALL },		/* movd, movq */
	{ 1, 0x6f, P_66,   0, FULL, ANY,      WX, ALL },		/* movdqa, movdqa32, movdqa64 */
	{ 1, 0x6f, P_F3,   0, FULL, ANY,      WX, ALL },		/* movdqu, movdqu32, movdqu64 */
	{ 1, 0x6f, P_F2,   0, FULL, ANY,      WX, EVEX },		/* movdqu8, movdqu16 */
	{ 1, 0x7e, P_66,   1, BY_W, ONLY_128, WX, ALL },
	{ 1, 0x7e, P_F3,   0, 8,    ONLY_128, W1, ALL },		/* movq */
	{ 1, 0x7f, P_66,   1, FULL, ANY,      WX, ALL },
	{ 1, 0x7f, P_F3,   1, FULL, ANY,      WX, ALL },
	{ 1, 0x7f, P_F2,   1, FULL, ANY,      WX, EVEX },
	{ 1, 0xd6, P_66,   1, 8,    ONLY_128, W1, ALL },		/* movq */
	{ 1, 0xe7, P_66,   1, FULL, ANY,      W0, ALL },		/* movntdq */
	{ 1, 0xf0, P_F2,   0, FULL, ANY,      WX, LEGACY | VEX },	/* lddqu */
	{ 2, 0x2a, P_66,   0, FULL, ANY,      W0, ALL },		/* movntdqa */
	{ 5, 0x10, P_F3,   0, 2,    IGNORED,  W0, EVEX },		/* vmovsh */
	{ 5, 0x11, P_F3,   1, 2,    IGNORED,  W0, EVEX },
	{ 5, 0x6e, P_66,   0, 2,    ONLY_128, WX, EVEX },		/* vmovw */
	{ 5, 0x7e, P_66,   1, 2,    ONLY_128, WX, EVEX },
};

static const struct vector_move *mimic_decode_find_vector_move(const struct decoder *decoder,
							       unsigned int map, uint8_t opcode)
{
	const struct vector_move *move;

	for (move = vector_moves; move < vector_moves + ARRAY_SIZE(vector_moves); move++) {
		if (move->opcode == opcode && move->map == map &&
		    move->mandatory == decoder->mandatory && (move->flags & decoder->encoding))
			return move;
	}
	return NULL;
}

static bool mimic_decode_vector_fields_fit(const struct decoder *decoder, const struct vector_move *move)
{
	if (move->length == ONLY_128 && decoder->vector_size != 16)
		return false;
	if (decoder->encoding == EVEX && move->w != WX && decoder->w != (move->w == W1))
		return false;
	return (move->flags & MERGES) || !decoder->vvvv;
}

static int mimic_decode_vector(struct decoder *decoder, unsigned int map, uint8_t opcode)
{
	const struct vector_move *move = mimic_decode_find_vector_move(decoder, map, opcode);
	struct mimic_instruction *instruction = decoder->instruction;
	unsigned int bytes;
	int error;

	if (!move || !mimic_decode_vector_fields_fit(decoder, move))
		return -EOPNOTSUPP;
	bytes = move->bytes;
	if (bytes == FULL)
		bytes = decoder->vector_size;
	else if (bytes == BY_W)
		bytes = decoder->w ? 8 : 4;
	decoder->displacement_unit = decoder->encoding == EVEX ? bytes : 1;
	error = mimic_decode_memory(decoder);
	if (error)
		return error;

	instruction->operand = MIMIC_OPERAND_VECTOR;
	instruction->is_write = move->is_write;
	instruction->memory_size = bytes;
	instruction->reg = decoder->modrm_reg | decoder->reg_high;
	instruction->register_offset = move->flags & HIGH ? 8 : 0;
	instruction->register_size = bytes;
	if (move->is_write)
		return 0;
	instruction->register_size = bytes < 16 ? 16 : bytes;
	instruction->clears_upper = decoder->encoding != LEGACY;
	if (move->flags & MERGES)
		instruction->merge_register = decoder->encoding == LEGACY ? instruction->reg :
								     decoder->vvvv;
	return 0;
}

/* VEX and EVEX allow no 66, F2, F3, F0 or REX before them (2.3.2 to 2.3.4, 2.7.11.1). */
static bool mimic_decode_may_precede_vex(const struct decoder *decoder)
{
	return !decoder->operand_16 && !decoder->repeat && !decoder->rex;
}

/* Two bytes (C5) or three (C4); R, X, B and vvvv are inverted. */
static int mimic_decode_vex(struct decoder *decoder, uint8_t first)
{
	uint8_t map = 1;
	uint8_t high, last;

	if (!mimic_decode_may_precede_vex(decoder))
		return -EOPNOTSUPP;
	high = mimic_decode_fetch_byte(decoder);
	last = high;
	if (first == 0xc4) {
		map = high & 0x1f;
		last = mimic_decode_fetch_byte(decoder);
	} else {
		/* The short form has R only: X, B and W are 0. */
		high |= 0x60;
		last &= 0x7f;
	}
	decoder->encoding = VEX;
	decoder->w = last & 0x80;
	decoder->reg_high = high & 0x80 ? 0 : 8;
	decoder->index_high = high & 0x40 ? 0 : 8;
	decoder->base_high = high & 0x20 ? 0 : 8;
	decoder->vvvv = ~(last >> 3) & 15;
	decoder->vector_size = last & 4 ? 32 : 16;
	decoder->mandatory = last & 3;
	return mimic_decode_vector(decoder, map, mimic_decode_fetch_byte(decoder));
}

/* Three bytes after 62 (2.7.1): R X B R' 0 m m m, W v v v v 1 p p, z L' L b V' a a a. */
static int mimic_decode_evex(struct decoder *decoder)
{
	uint8_t p0, p1, p2;

	if (!mimic_decode_may_precede_vex(decoder))
		return -EOPNOTSUPP;
	p0 = mimic_decode_fetch_byte(decoder);
	p1 = mimic_decode_fetch_byte(decoder);
	p2 = mimic_decode_fetch_byte(decoder);
	if ((p0 & 0x08) || !(p1 & 0x04))
		return -EOPNOTSUPP;
	/* Masking (z, aaa) and broadcast (b) make it more than a plain move; L'L 3 is no length. */
	if ((p2 & 0x97) || (p2 & 0x60) == 0x60)
		return -EOPNOTSUPP;
	decoder->encoding = EVEX;
	decoder->w = p1 & 0x80;
	decoder->reg_high = (p0 & 0x80 ? 0 : 8) | (p0 & 0x10 ? 0 : 16);
	decoder->index_high = p0 & 0x40 ? 0 : 8;
	decoder->base_high = p0 & 0x20 ? 0 : 8;
	decoder->vvvv = (~(p1 >> 3) & 15) | (p2 & 0x08 ? 0 : 16);
	decoder->vector_size = 16 << ((p2 >> 5) & 3);
	decoder->mandatory = p1 & 3;
	return mimic_decode_vector(decoder, p0 & 7, mimic_decode_fetch_byte(decoder));
}

/* --- opcode maps of the legacy encoding ---------------------------------- */

/* F2 and F3 go before 66 as mandatory prefixes (2.1.2), the last of them counts. */
static uint8_t mimic_decode_mandatory_prefix(const struct decoder *decoder)
{
	if (decoder->repeat)
		return decoder->repeat == 0xf3 ? P_F3 : P_F2;
	return decoder->operand_16 ? P_66 : P_NONE;
}

static int mimic_decode_map_0f38(struct decoder *decoder)
{
	uint8_t opcode = mimic_decode_fetch_byte(decoder);
	unsigned int size;

	if ((opcode & 0xfe) != 0xf0)
		return mimic_decode_vector(decoder, 2, opcode);
	/* With F2 this is crc32, with F3 it is nothing. */
	if (decoder->repeat)
		return -EOPNOTSUPP;
	decoder->instruction->byte_swap = 1;
	size = mimic_decode_operand_size(decoder);
	return mimic_decode_general(decoder, opcode == 0xf1, size, size);
}

static int mimic_decode_map_0f(struct decoder *decoder)
{
	uint8_t opcode = mimic_decode_fetch_byte(decoder);

	decoder->mandatory = mimic_decode_mandatory_prefix(decoder);
	switch (opcode) {
	case 0x38:
		return mimic_decode_map_0f38(decoder);
	case 0xb6: case 0xb7:
		return mimic_decode_extending(decoder, opcode & 1 ? 2 : 1, false);
	case 0xbe: case 0xbf:
		return mimic_decode_extending(decoder, opcode & 1 ? 2 : 1, true);
	case 0xc3:
		/* movnti is invalid with any prefix that others use as mandatory. */
		if (decoder->mandatory != P_NONE)
			return -EOPNOTSUPP;
		return mimic_decode_general(decoder, true, mimic_decode_operand_size(decoder),
					    mimic_decode_operand_size(decoder));
	}
	return mimic_decode_vector(decoder, 1, opcode);
}

static int mimic_decode_all(struct decoder *decoder)
{
	uint8_t opcode = mimic_decode_prefixes(decoder);

	/* With anything but an update of memory it is invalid. */
	if (decoder->lock)
		return -ENOLCK;
	switch (opcode) {
	case 0x0f:
		return mimic_decode_map_0f(decoder);
	case 0xc4: case 0xc5:
		return mimic_decode_vex(decoder, opcode);
	case 0x62:
		return mimic_decode_evex(decoder);
	}
	return mimic_decode_primary_map(decoder, opcode);
}

int mimic_decode(const uint8_t *bytes, size_t available, struct mimic_instruction *instruction)
{
	struct decoder decoder = {
		.instruction = instruction,
		.bytes = bytes,
		.available = available < MIMIC_INSTRUCTION_MAX ? available : MIMIC_INSTRUCTION_MAX,
		.encoding = LEGACY,
		.vector_size = 16,
		.displacement_unit = 1,
	};
	int error;

	*instruction = (struct mimic_instruction){
		.operation = MIMIC_OPERATION_MOVE,
		.merge_register = MIMIC_NO_REGISTER,
		.base = MIMIC_NO_REGISTER,
		.index = MIMIC_NO_REGISTER,
		.address_size = 8,
	};
	error = mimic_decode_all(&decoder);
	/* More than 15 bytes are an invalid instruction (2.3.11). */
	if (decoder.is_short)
		return available < MIMIC_INSTRUCTION_MAX ? -ENODATA : -EOPNOTSUPP;
	instruction->length = decoder.position;
	return error;
}

uint64_t mimic_effective_address(const struct mimic_instruction *instruction,
				 const uint64_t gpr[16], uint64_t rip,
				 uint64_t fs_base, uint64_t gs_base)
{
	uint64_t address = (uint64_t)instruction->displacement;

	if (instruction->rip_relative)
		address += rip + instruction->length;
	if (instruction->base != MIMIC_NO_REGISTER)
		address += gpr[instruction->base];
	if (instruction->index != MIMIC_NO_REGISTER)
		address += gpr[instruction->index] * instruction->scale;
	if (instruction->address_size == 4)
		address = (uint32_t)address;
	if (instruction->segment == MIMIC_SEGMENT_FS)
		address += fs_base;
	else if (instruction->segment == MIMIC_SEGMENT_GS)
		address += gs_base;
	return address;
}
