/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device rounds to nearest and keeps subnormals, even if the program that it is embedded in has chosen
 * other modes for its own thread; and that program's modes, flags and traps stay as they were.
 */
#ifndef MIMIC_FLOAT_MODE_H
#define MIMIC_FLOAT_MODE_H

#include <stdint.h>

#if defined(__x86_64__)
#define MIMIC_FLOAT_DEFAULT 0x1f80u

/* Returns the old mode, for mimic_float_mode_end(). */
static inline uint64_t mimic_float_mode_begin(void)
{
	unsigned int saved = __builtin_ia32_stmxcsr();

	__builtin_ia32_ldmxcsr(MIMIC_FLOAT_DEFAULT);
	return saved;
}

static inline void mimic_float_mode_end(uint64_t saved)
{
	__builtin_ia32_ldmxcsr((unsigned int)saved);
}
#elif defined(__aarch64__)
static inline uint64_t mimic_float_mode_begin(void)
{
	uint64_t control, status;

	__asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status));
	__asm__ volatile("msr fpcr, %0" : : "r"(0ull) : "memory");
	return control << 32 | (status & 0xffffffffu);
}

static inline void mimic_float_mode_end(uint64_t saved)
{
	__asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1"
			 : : "r"(saved >> 32), "r"(saved & 0xffffffffu) : "memory");
}
#elif defined(__riscv)
static inline uint64_t mimic_float_mode_begin(void)
{
	uint64_t saved;

	__asm__ volatile("fscsr %0, zero" : "=r"(saved) : : "memory");
	return saved;
}

static inline void mimic_float_mode_end(uint64_t saved)
{
	__asm__ volatile("fscsr %0" : : "r"(saved) : "memory");
}
#else
#error "the modes of floating point are known of x86-64, arm64 and RISC-V"
#endif

#endif
