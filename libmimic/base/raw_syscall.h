/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A system call without the C library, for signal handlers: libc's wrapper
 * would touch the interrupted code's errno, and its symbol may be wrapped.
 * Returns the kernel's result: -errno on failure. x86-64, arm64 and RISC-V.
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

#elif defined(__aarch64__)

static inline long mimic_raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
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
#error "system calls are known of x86-64, arm64 and RISC-V"
#endif

#endif
