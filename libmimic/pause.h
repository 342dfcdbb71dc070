/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMIC_PAUSE_H
#define MIMIC_PAUSE_H

/* One step of a loop that spins: the processor may give its time to the other thread of the core. */
static inline void mimic_pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#elif defined(__riscv)
	/* The instruction pause: a hint, which a compiler without Zihintpause has no name for. */
	__asm__ volatile(".4byte 0x0100000f");
#endif
}

#endif
