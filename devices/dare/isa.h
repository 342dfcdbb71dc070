/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Instruction words to fields and back, and properties of each instruction.
 * All of it is made from the list of include/mimic/dare_isa.h. No state, no
 * allocation: the model, libdare and the tools share it.
 */
#ifndef MIMIC_DARE_ISA_CODEC_H
#define MIMIC_DARE_ISA_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "mimic/dare_isa.h"

struct dare_operation_info {
	const char *name;		/* as in assembly: "mld.h" */
	uint32_t word;			/* with all operands 0 */
	enum dare_format format;
	unsigned int element;		/* bytes; 0: mcfg, which has none */
	const char *meaning;
};

/* An instruction when it is dispatched: its operands, its shape, where its rows are. */
struct dare_dispatched {
	struct dare_fields fields;
	unsigned int m, k, n;			/* matrixM, matrixK and matrixN */
	uint64_t address[DARE_ROWS];		/* of the m rows that it loads or stores; others are not set */
};

/* Does it load or store rows? */
static inline bool dare_has_rows(enum dare_format format)
{
	return format != DARE_FORMAT_CONFIGURE && format != DARE_FORMAT_MULTIPLY;
}

/* By enum dare_operation. */
extern const struct dare_operation_info dare_instructions[DARE_OPERATION_COUNT];

/* Where an operand is in the word; mask 0: the format does not have it. */
struct dare_bits {
	uint8_t shift;
	uint8_t mask;			/* of the operand's value: 7 or 31 */
};

struct dare_encoding {
	struct dare_bits md, ms1, ms2, rs1, rs2;
	uint32_t operands;		/* all their bits */
};

/* By enum dare_format. */
extern const struct dare_encoding dare_encodings[DARE_FORMAT_SCATTER + 1];

/* 0, or -EINVAL for a word that is no instruction; *fields is then not written. */
int dare_decode(uint32_t word, struct dare_fields *fields);

/*
 * The other way. -EINVAL: no such operation, an operand that is too large, or
 * one that the format does not have and that is not 0.
 */
int dare_encode(const struct dare_fields *fields, uint32_t *word);

/* Values that follow the word in STREAM: 2 (rs1 and rs2) or 0; 0 for illegal words. */
unsigned int dare_operand_count(uint32_t word);

#endif
