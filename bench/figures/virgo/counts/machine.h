/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cluster, as a compiler has to know it to make the kernels' instructions. They are counted (count.py) and never
 * run on hardware: addresses and encodings are places in the order, one instruction each, and stand for no real ones.
 */
#ifndef VIRGO_COUNTS_MACHINE_H
#define VIRGO_COUNTS_MACHINE_H

#include <stdint.h>

#define CORES 4
#define WARPS 8u	/* of a core */
#define LANES 8u
#define THREADS (CORES * WARPS * LANES)
#define TILE 64u
#define TILE_BYTES (TILE * TILE * 4)

/* count.py knows these three, too. */
#define SHARED 0x20000000u	/* A, A, B, B: both halves of two double buffers */
#define UNIT 0x20100000u	/* registers of the matrix unit */
#define CSR_UNIT "0xacc"

#define INLINE static inline __attribute__((always_inline))
#define READ_CSR(number) ({ uint32_t value; __asm__ volatile("csrr %0, " number : "=r"(value)); value; })

INLINE uint32_t lane_number(void) { return READ_CSR("0xcc0"); }
INLINE uint32_t warp_number(void) { return READ_CSR("0xcc1"); }
INLINE uint32_t core_number(void) { return READ_CSR("0xcc2"); }

INLINE uint32_t thread_number(void)
{
	return (core_number() * WARPS + warp_number()) * LANES + lane_number();
}

/* The warp that drives unit and DMA; of its threads the first one does. */
INLINE int is_leader(void)
{
	return !(core_number() | warp_number());
}

INLINE uint32_t *shared(int is_b, uint32_t half)
{
	return (uint32_t *)(SHARED + (is_b ? 2 * TILE_BYTES : 0) + half * TILE_BYTES);
}

INLINE void fence(void) { __asm__ volatile("fence" ::: "memory"); }
INLINE void barrier(void) { __asm__ volatile(".insn r 0x0b, 4, 0, x0, %0, %1" :: "r"(0), "r"(CORES) : "memory"); }

INLINE void meet(void)
{
	fence();
	barrier();
}

/* --- the unit ------------------------------------------------------------------------------------------------- */

enum job { JOB_MULTIPLY, JOB_FIRST = 2, JOB_SIZES = 8, JOB_MOVE, JOB_LOAD };

INLINE void job(uint32_t word) { __asm__ volatile("csrw " CSR_UNIT ", %0" :: "r"(word) : "memory"); }

/* The first one overwrites the sums. */
INLINE void multiply(uint32_t half, int is_first) { job((is_first ? JOB_FIRST : JOB_MULTIPLY) + half); }

INLINE void poll(void)
{
	do
		__asm__ volatile("nop");
	while (*(volatile uint32_t *)(UNIT + 0x20));
}

/* Two operands of 64 bits, in halves, and the word that queues them: five stores. */
INLINE void command(uint32_t word, uint32_t first, uint32_t first_high, uint32_t second, uint32_t second_high)
{
	volatile uint32_t *unit = (volatile uint32_t *)UNIT;

	unit[4] = first;
	unit[5] = first_high;
	unit[6] = second;
	unit[7] = second_high;
	unit[0] = word;
}

INLINE void order_load(const uint32_t *a, const uint32_t *b, uint32_t half)
{
	command(0x7b, (uint32_t)a, 0, (uint32_t)b, 0);
	job(JOB_SIZES);
	job(JOB_LOAD + half);
}

/* The function that count.py runs. m, n and k are multiples of TILE. */
void kernel(uint32_t m, uint32_t n, uint32_t k, const uint32_t *a, const uint32_t *b, uint32_t *c);

#endif
