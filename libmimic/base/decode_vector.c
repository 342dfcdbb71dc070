/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Moves of vector registers: SSE, VEX and EVEX. Section numbers are those of decode.c. */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#else
#include <errno.h>
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

#include "libmimic/base/decode_internal.h"

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

/* The value of W that EVEX requires; VEX and SSE ignore it, except BY_W. */
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

int mimic_decode_vector(struct decoder *decoder, unsigned int map, uint8_t opcode)
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
int mimic_decode_vex(struct decoder *decoder, uint8_t first)
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
int mimic_decode_evex(struct decoder *decoder)
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
