/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Declarations that are newer than glibc 2.31, the oldest that mimic is compiled with and runs on: the number of a
 * system call, the same on all architectures (a kernel without it answers ENOSYS), and functions and variables that
 * may not be there at run time.
 */
#ifndef MIMIC_NEW_LIBC_H
#define MIMIC_NEW_LIBC_H

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* Of 2.34, whose programs may call ours; with an older one nothing stands behind them. */
int close_range(unsigned int first, unsigned int last, int flags);
void closefrom(int first);

/* Of 2.32. In a handler of signals, too. */
extern const char *strerrordesc_np(int error) __attribute__((weak));

static inline const char *mimic_error_description(int error)
{
	const char *description = strerrordesc_np ? strerrordesc_np(error) : NULL;

	return description ? description : "unknown error";
}

/* Of 2.35: where a thread's area of restartable sequences is, from its thread pointer on; no size: there is none. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* gcc before 11 has no __builtin_thread_pointer() for x86-64. */
static inline char *mimic_thread_pointer(void)
{
#if defined(__x86_64__)
	char *pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
#else
	return __builtin_thread_pointer();
#endif
}

#endif
