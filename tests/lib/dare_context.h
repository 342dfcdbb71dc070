/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A context of DARE as a program of libmimic uses it: registers, words, dispatches. No cmocka: for children and threads too. */
#ifndef TESTS_DARE_CONTEXT_H
#define TESTS_DARE_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "libmimic/mimic.h"
#include "mimic/dare_registers.h"

/* Words, from the encodings of include/mimic/dare_isa.h by hand. */
#define WORD_MCFG 0xfe00002bu
#define WORD_MLD(md) (0x0400082bu | (uint32_t)(md) << 7)
#define WORD_MST(ms) (0x0c00082bu | (uint32_t)(ms) << 7)
#define WORD_MMA(md, ms1, ms2) \
	(0x0800082bu | (uint32_t)(md) << 15 | (uint32_t)(ms1) << 18 | (uint32_t)(ms2) << 21)

enum { CSR_M, CSR_K, CSR_N };

/* A matrix register's worth of memory; no row crosses a page. */
struct tile {
	_Alignas(64) float at[16][16];
};

/* Each aborts on an error of the call. */
uint64_t context_load(struct mimic_device *device, unsigned int offset);
void context_store(struct mimic_device *device, unsigned int offset, uint64_t value);
/* By RS1, RS2 and INSTRUCTION. */
void context_dispatch(struct mimic_device *device, uint32_t word, uint64_t rs1, uint64_t rs2);
/* By STREAM, posted. `words`: as the register wants them. */
void context_post(struct mimic_device *device, const uint64_t *words, size_t count);
/* Answers STATUS. */
uint64_t context_fence(struct mimic_device *device);
uint64_t context_counter(struct mimic_device *device, enum dare_counter counter);

static inline uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* Small whole numbers, so that sums are exact in any order. */
void tile_fill(struct tile *tile, unsigned int seed);
/* c += a x transposed b, by a plain loop. */
void tile_multiply(struct tile *c, const struct tile *a, const struct tile *b);
/* The same by the device, with registers 0, 1, 2; posted and fenced. */
void context_multiply(struct mimic_device *device, struct tile *c, const struct tile *a,
		      const struct tile *b);

#endif
