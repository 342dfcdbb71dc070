/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Declarations that the files of the decoder share: decode.c calls decode_vector.c, and both decode_operand.c. */
#ifndef MIMIC_DECODE_INTERNAL_H
#define MIMIC_DECODE_INTERNAL_H

#ifndef __KERNEL__
#include <stdbool.h>
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

/* decode_operand.c. Bytes of the instruction: 0 where there are no more, and then `is_short`. */
uint64_t mimic_decode_fetch(struct decoder *decoder, unsigned int size);
uint8_t mimic_decode_fetch_byte(struct decoder *decoder);
int64_t mimic_decode_fetch_signed(struct decoder *decoder, unsigned int size);
/* ModRM, SIB and displacement. A register operand is none of ours: -EOPNOTSUPP. */
int mimic_decode_memory(struct decoder *decoder);

/* decode_vector.c: a move of opcode map `map`; the same after the first byte of VEX (C4, C5) or EVEX (62) */
int mimic_decode_vector(struct decoder *decoder, unsigned int map, uint8_t opcode);
int mimic_decode_vex(struct decoder *decoder, uint8_t first);
int mimic_decode_evex(struct decoder *decoder);

#endif
