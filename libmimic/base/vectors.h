/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Vector registers of a program under `mimic run`. A trampoline stands between two instructions of the program,
 * so no register may change. To store all vector registers (32 of 64 bytes with AVX-512) takes as long as half an
 * access, and few accesses use one.
 *
 * So a trampoline provides a place for them, and stores none. All code of ours that an access runs is compiled for
 * general registers only (GENERAL_ONLY in the Makefile). Code of other libraries may use vector registers: the
 * linker leads each call of it to a gate (gates_x86.S), which first stores all of them in the place. Code of ours
 * that calls a function it does not know, such as a user's callback, calls mimic_vectors_keep() before.
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
	uint32_t is_filled; /* 1: with those of AVX, 2: of AVX-512; before it is filled, anything */
	uint64_t scratch;
	int *errno_place; /* as mimic_vectors_errno; NULL: errno is not put back */
	int errno_value;
};

#pragma GCC visibility push(default)

#if defined(__x86_64__) && !defined(__ILP32__)

/*
 * The place that the trampoline of this thread provides, in its stack frame. NULL: no trampoline is at work, or the
 * place is filled. A signal handler sets it to NULL for its own length.
 */
extern __thread struct mimic_vectors *mimic_vectors_place __attribute__((tls_model("initial-exec")));

/*
 * Where this thread's errno is, if it has made an access by a trampoline before. Like vector registers, only functions of
 * other libraries change it, so it is kept and put back with these.
 */
extern __thread int *mimic_vectors_errno __attribute__((tls_model("initial-exec")));

/* 1: those of AVX, 2: of AVX-512; 0: the processor lacks instructions that trampolines need. */
extern uint32_t mimic_vectors_in_use __attribute__((visibility("hidden")));

/* Before the first place is given. false: the processor lacks instructions that trampolines need. */
bool mimic_vectors_start(void);

/*
 * Are all calls of other libraries gated? clock_gettime() has no gate, because each access calls it: the answer is no
 * where a program or a preloaded library has its own. libmimic.a has no gates at all.
 */
bool mimic_vectors_are_safe(void);

/*
 * Stores all vector registers and errno if there is a place, and sets MXCSR to its default. Changes r10 and r11 only, so that a
 * gate can jump on to the function.
 */
void mimic_vectors_keep(void);

/* Loads all of them from a place that is filled. Of general registers it changes rax and rdi. */
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
