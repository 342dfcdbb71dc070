/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A system call without the C library, for signal handlers: libc's wrapper
 * would touch the interrupted code's errno, and its symbol may be wrapped.
 * Returns what the kernel returns: -errno on failure. x86-64 only.
 */
#ifndef MIMIC_RAW_SYSCALL_H
#define MIMIC_RAW_SYSCALL_H

static inline long mimic_raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
