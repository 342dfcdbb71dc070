/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A system call without the C library, for signal handlers: libc's wrapper
 * would touch the interrupted code's errno, and its symbol may be wrapped.
 * Returns what the kernel returns: -errno on failure. x86-64 and RISC-V.
 */
#ifndef MIMIC_RAW_SYSCALL_H
#define MIMIC_RAW_SYSCALL_H

#if defined(__x86_64__)

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

#elif defined(__riscv)

static inline long mimic_raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
	return a0;
}

#else
#error "system calls are known of x86-64 and RISC-V"
#endif

#endif
