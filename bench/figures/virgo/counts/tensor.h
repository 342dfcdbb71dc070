/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by both kernels of the tensor cores: a warp's 16 x 8 of the tile of C, in registers f16 to f31. */
#ifndef VIRGO_COUNTS_TENSOR_H
#define VIRGO_COUNTS_TENSOR_H

#include "machine.h"

/* Operands of a wmma have fixed registers, so all floats are named by hand, and the compiler has none of its own. */
#define FLOAT_LOAD(number, pointer, offset) __asm__ volatile("flw f%1, %2(%0)" :: "r"(pointer), "i"(number), "i"(offset) : "memory")
#define FLOAT_STORE(number, pointer, offset) __asm__ volatile("fsw f%1, %2(%0)" :: "r"(pointer), "i"(number), "i"(offset) : "memory")
#define FLOAT_CLEAR(number) __asm__ volatile("fmv.w.x f%0, zero" :: "i"(number))
#define WMMA(number) __asm__ volatile(".insn r 0x0b, 0, 2, x0, x0, x%0" :: "i"(number))
#define EIGHT(_) _(0) _(1) _(2) _(3) _(4) _(5) _(6) _(7)

INLINE void clear(void)
{
#define _(i) FLOAT_CLEAR(16 + i); FLOAT_CLEAR(24 + i);
	EIGHT(_)
#undef _
}

/* Read once: a read of a CSR waits until the warp has nothing else in flight. */
struct place {
	uint32_t thread, lane, row, column;	/* row, column: of the warp's part of the tile */
};

INLINE struct place place(void)
{
	const uint32_t core = core_number(), warp = warp_number(), lane = lane_number(), number = CORES * warp + core;

	return (struct place){ (core * WARPS + warp) * LANES + lane, lane, number / 8 * 16, number % 8 * 8 };
}

/* One step of the tile's depth; of A `deeper` and `below` words to the next 8 x 8 in depth, and to the lower one. */
INLINE void multiply_step(const uint32_t *a, const uint32_t *b, uint32_t deeper, uint32_t below)
{
	for (uint32_t depth = 0; depth < TILE / 8; depth++, a += deeper, b += 8 * TILE) {
#define _(i) FLOAT_LOAD(8 + i, b, i * 256);
		EIGHT(_)
#undef _
#define _(i) FLOAT_LOAD(i, a, i * 256);
		EIGHT(_)
		WMMA(0);
		a += below;
		EIGHT(_)
#undef _
		WMMA(1);
		a -= below;
	}
}

/* A register of C has two words of each of four rows. */
INLINE void store_tile(struct place place, uint32_t *c, uint32_t n)
{
	uint32_t *upper = c + (place.row + place.lane / 2) * n + place.column + place.lane % 2, *lower = upper + 8 * n;

#define _(i) FLOAT_STORE(16 + i, upper + i % 2 * 4 * n, i / 2 * 8);
	EIGHT(_)
#undef _
#define _(i) FLOAT_STORE(24 + i, lower + i % 2 * 4 * n, i / 2 * 8);
	EIGHT(_)
#undef _
}

#endif
