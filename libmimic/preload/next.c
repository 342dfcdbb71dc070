/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The functions behind ours, raw system calls, and the lock of the tables. */
#include <pthread.h>
#include <stdlib.h>

#include "preload.h"

static pthread_mutex_t lock_mutex = PTHREAD_MUTEX_INITIALIZER;
static THREAD_LOCAL bool is_inside;

void *mimic_preload_next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);
	struct text text;

	if (function)
		return function;
	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text, "the C library has no ");
	mimic_preload_text_add(&text, name);
	mimic_preload_text_write_line(&text);
	abort();
}

void mimic_preload_lock(struct mimic_preload_lock *lock)
{
	/* All but our two: libmimic's reads of program memory may fault under the lock. */
	uint64_t mask = ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1));

	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, (long)&lock->mask,
			sizeof(mask), 0, 0);
	pthread_mutex_lock(&lock_mutex);
	is_inside = true;
}

void mimic_preload_unlock(const struct mimic_preload_lock *lock)
{
	is_inside = false;
	pthread_mutex_unlock(&lock_mutex);
	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&lock->mask, 0,
			sizeof(lock->mask), 0, 0);
}

bool mimic_preload_is_inside(void)
{
	return is_inside;
}
