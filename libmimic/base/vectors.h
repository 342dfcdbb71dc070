/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Vector registers of a caller that cannot lose any: a trampoline of `mimic run`, which stands between two
 * instructions of a program. To keep all of them (32 of 64 bytes, with AVX-512) takes longer than a good part of an
 * access, and few accesses need one.
 *
 * So the caller has a place for them, and keeps none. What an access calls is compiled for general registers only
 * (GENERAL_ONLY in the Makefile). Functions of other libraries may use vector registers: each call of one goes through
 * a gate (libmimic/base/gates_x86.S), which keeps all of them first. So does, by mimic_vectors_keep(), whatever calls a function
 * that it does not know.
 */
#ifndef LIBMIMIC_VECTORS_H
#define LIBMIMIC_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

/* The stub in libmimic/preload has the same offsets. */
struct mimic_vectors {
	_Alignas(64) uint8_t vectors[32][64]; /* zmm0 to zmm31; without AVX-512, ymm0 to ymm15 */
	uint64_t masks[8]; /* k0 to k7 */
	uint32_t mxcsr;
	uint32_t is_filled; /* 0 at first; 1: with those of AVX, 2: of AVX-512 */
	uint64_t scratch;
};

#pragma GCC visibility push(default)

#if defined(__x86_64__) && !defined(__ILP32__)

/* The place of this thread's caller, in its frame; NULL: nothing has to be kept, or all is. NULL in signal handlers. */
extern __thread struct mimic_vectors *mimic_vectors_place __attribute__((tls_model("initial-exec")));

/* 1: those of AVX, 2: of AVX-512; 0: the processor lacks what trampolines need. */
extern uint32_t mimic_vectors_in_use __attribute__((visibility("hidden")));

/* Before the first place is given. false: the processor lacks what trampolines need. */
bool mimic_vectors_start(void);

/*
 * Are there gates, and is the one function without any, clock_gettime(), the C library's? A program or a library before it may
 * have one of its own.
 */
bool mimic_vectors_are_safe(void);

/* Keeps them if there is a place, and sets MXCSR as a function may expect it. Changes no register that has an argument. */
void mimic_vectors_keep(void);

/* Of a place that is filled. */
void mimic_vectors_put_back(const struct mimic_vectors *kept);

#else

static inline void mimic_vectors_keep(void)
{
}

static inline bool mimic_vectors_are_safe(void)
{
	return false;
}

#endif

#pragma GCC visibility pop

#endif
