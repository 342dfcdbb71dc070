/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The decoders of the trap path on arm64 and RISC-V, where an instruction that uses memory does nothing else
 * (decode.h is x86-64's). Pure functions, which are compiled everywhere.
 *
 * The instructions that they decode:
 *   arm64   ldr, str, ldur, stur, ldtr, sttr, ldp, stp, ldnp, stnp with all sizes, extensions and addressing
 *           modes, of general and of vector registers; ldar, stlr, ldlar, stllr, ldapr, ldapur, stlur;
 *   RISC-V  lb to lwu, sb to sd, flh, flw, fld, fsh, fsw, fsd, and the compressed forms of these (C, Zcb).
 * Everything else is refused: structures (ld1 to ld4), SVE, RVV, prefetches. So are instructions that lock memory: exclusive
 * accesses, lr and sc, and atomic operations.
 */
#ifndef MIMIC_LOAD_STORE_H
#define MIMIC_LOAD_STORE_H

#include <stdint.h>

#define MIMIC_LOAD_STORE_NONE 0xffu

struct mimic_load_store {
	int64_t displacement;
	uint8_t length;		/* of the instruction: 2 or 4 bytes */
	uint8_t is_write;	/* 1: memory is written, 0: memory is read */
	uint8_t memory_size;	/* bytes of each register: 1, 2, 4, 8, of arm64's vector registers 16 */
	uint8_t count;		/* of registers, which lie one behind the other in memory: 1 or 2 */
	uint8_t reg[2];		/* 31 of arm64's general registers is the one that is 0 */
	uint8_t is_vector;	/* floating point, vectors; a load fills up with zeros, of RISC-V with ones */
	/* Loads of general registers: memory's sign to so many bytes, 4 or 8. 0: zeros to all of the register. */
	uint8_t sign_size;

	uint8_t base;		/* 31 is arm64's stack pointer; MIMIC_LOAD_STORE_NONE: the instruction's address */
	uint8_t index;		/* MIMIC_LOAD_STORE_NONE: none */
	uint8_t index_size;	/* 4 or 8 of its bytes count */
	uint8_t index_is_signed;
	uint8_t shift;		/* of the index to the left */
	uint8_t is_behind;	/* memory is at the base: the displacement is added after */
	uint8_t writes_base;	/* the base has the displacement added, after */
};

/* 0; -ENOLCK: it locks memory; -EOPNOTSUPP: none of the above. *result is undefined unless 0 is returned. */
int mimic_decode_arm64(uint32_t instruction, struct mimic_load_store *result);
/* The upper half does not matter where the lower is a compressed instruction, which does not end with 11. */
int mimic_decode_riscv(uint32_t instruction, struct mimic_load_store *result);

#endif
