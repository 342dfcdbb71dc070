/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The functions behind ours, raw system calls, and the lock of the tables. */
#include <pthread.h>
#include <stdlib.h>

#include "preload.h"

static pthread_mutex_t lock_mutex = PTHREAD_MUTEX_INITIALIZER;
static THREAD_LOCAL bool is_inside;

void *preload_next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);
	struct text text;

	if (function)
		return function;
	text_start(&text);
	text_add(&text, "the C library has no ");
	text_add(&text, name);
	text_write_line(&text);
	abort();
}

long preload_syscall(long number, long a, long b, long c, long d, long e, long f)
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

void preload_lock(struct preload_lock *lock)
{
	/* All but our two: libmimic's reads of program memory may fault under the lock. */
	uint64_t mask = ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1));

	preload_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, (long)&lock->mask,
			sizeof(mask), 0, 0);
	pthread_mutex_lock(&lock_mutex);
	is_inside = true;
}

void preload_unlock(const struct preload_lock *lock)
{
	is_inside = false;
	pthread_mutex_unlock(&lock_mutex);
	preload_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&lock->mask, 0,
			sizeof(lock->mask), 0, 0);
}

bool preload_is_inside(void)
{
	return is_inside;
}
