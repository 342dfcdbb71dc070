/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The effects of a trapped instruction on general registers and flags, once its
 * bytes are decoded: the value that it stores, and the use of a value that
 * it loads. Vector operands are in other files.
 *
 * Needs nothing but fixed-width integers, as decode.h: the program's end of the
 * transports and the kernel driver build the same text.
 */
#ifndef MIMIC_OPERATE_H
#define MIMIC_OPERATE_H

#include "libmimic/base/decode.h"

struct mimic_registers {
	uint64_t gpr[16];	/* in hardware order, as for mimic_effective_address() */
	uint64_t flags;		/* RFLAGS */
};

/* All ones in the low `size` bytes, of 1 to 8. */
static inline uint64_t mimic_operate_mask(unsigned int size)
{
	return ~0ull >> (64 - 8 * size);
}

/* The value that the store writes: its low memory_size bytes, the rest is 0. */
uint64_t mimic_operate_store_value(const struct mimic_instruction *instruction,
				   const struct mimic_registers *registers);

/* The value that an update stores (is_update), where memory held `memory`. */
uint64_t mimic_operate_update_value(const struct mimic_instruction *instruction,
				    const struct mimic_registers *registers, uint64_t memory);

/*
 * Finishes a load of `memory`, of which the low memory_size bytes count:
 * changes the destination register, and the flags if the instruction does; of an update,
 * the flags only. Not the instruction pointer.
 */
void mimic_operate_load(const struct mimic_instruction *instruction,
			struct mimic_registers *registers, uint64_t memory);

/*
 * How an access that is unaligned or wider than 8 bytes is cut: the size of the
 * largest naturally aligned piece that starts at `address`, with `left` bytes to
 * go (1 or more).
 */
unsigned int mimic_operate_piece(uint64_t address, unsigned int left);

#endif
