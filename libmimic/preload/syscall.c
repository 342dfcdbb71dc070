/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * syscall(), the function of the C library: programs use it for calls that have
 * a wrapper of ours. A `syscall` instruction of the program's own is out of reach.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/new_libc.h"
#include "patch.h"
#include "preload.h"

static long result_of(long result)
{
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

static long pass(long number, const long *a)
{
	return result_of(mimic_raw_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

/* From now on a system call that the program does not know of may end it. */
static void before_filter(void)
{
	mimic_preload_patch_stop();
	mimic_preload_signals_filtered();
}

/* Strict seccomp ends a program that reads a clock, too: mimic reads none from here on. */
static long become_strict(long number, const long *a)
{
	long result;

	mimic_clock_is_forbidden(true);
	result = pass(number, a);
	if (result)
		mimic_clock_is_forbidden(false);
	return result;
}

EXPORT int prctl(int option, ...)
{
	long a[6] = { option };
	va_list list;
	int i;

	va_start(list, option);
	for (i = 1; i < 5; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (option == PR_SET_SECCOMP)
		before_filter();
	if (option == PR_SET_SECCOMP && a[1] == SECCOMP_MODE_STRICT)
		return (int)become_strict(SYS_prctl, a);
	if (option == PR_SET_TSC)
		mimic_clock_is_forbidden(a[1] == PR_TSC_SIGSEGV);
	return (int)pass(SYS_prctl, a);
}

static long change_mask(const long *a)
{
	sigset_t set;
	sigset_t old;
	int result;
	int i;

	sigemptyset(&set);
	for (i = 1; a[1] && i <= 64; i++)
		if (*(const uint64_t *)a[1] >> (i - 1) & 1)
			sigaddset(&set, i);
	result = sigprocmask((int)a[0], a[1] ? &set : NULL, &old);
	if (result)
		return result;
	if (a[2])
		*(uint64_t *)a[2] = 0;
	for (i = 1; a[2] && i <= 64; i++)
		if (sigismember(&old, i) == 1)
			*(uint64_t *)a[2] |= 1ull << (i - 1);
	return 0;
}

EXPORT long syscall(long number, ...)
{
	long a[6];
	va_list list;
	int i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	switch (number) {
#ifdef SYS_fork
	case SYS_fork:
		return result_of(mimic_preload_fork_by_call(number, a));
#endif
	case SYS_clone:
		/* With a stack it comes back on another one than ours: no program can use that. */
		if (a[0] & (CLONE_VM | CLONE_VFORK) || a[1])
			return pass(number, a);
		return result_of(mimic_preload_fork_by_call(number, a));
#ifdef SYS_open
	case SYS_open:
		return open((const char *)a[0], (int)a[1], (mode_t)a[2]);
#endif
	case SYS_openat:
		return openat((int)a[0], (const char *)a[1], (int)a[2], (mode_t)a[3]);
	case SYS_close:
		return close((int)a[0]);
	case SYS_close_range:
		return close_range((unsigned int)a[0], (unsigned int)a[1], (int)a[2]);
	case SYS_mmap:
		return (long)mmap((void *)a[0], (size_t)a[1], (int)a[2], (int)a[3], (int)a[4], a[5]);
	case SYS_munmap:
		return munmap((void *)a[0], (size_t)a[1]);
	case SYS_mprotect:
		return mprotect((void *)a[0], (size_t)a[1], (int)a[2]);
	case SYS_mremap:
		return (long)mremap((void *)a[0], (size_t)a[1], (size_t)a[2], (int)a[3], (void *)a[4]);
	case SYS_ioctl:
		return ioctl((int)a[0], (unsigned long)a[1], a[2]);
	case SYS_prctl:
		return prctl((int)a[0], a[1], a[2], a[3], a[4]);
	case SYS_seccomp:
		before_filter();
		return a[0] == SECCOMP_SET_MODE_STRICT ? become_strict(number, a) : pass(number, a);
	case SYS_rt_sigprocmask:
		return a[3] == 8 ? change_mask(a) : pass(number, a);
	default:
		return pass(number, a);
	}
}
