/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_CALL_FILTER_H
#define MIMICD_CALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* A sanitizer makes other system calls than mimicd: at the end, its search for leaks stops all threads. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MIMICD_CALLS_ARE_KNOWN false
#else
#define MIMICD_CALLS_ARE_KNOWN true
#endif

struct mimicd_call_list {
	const unsigned int *numbers;	/* SYS_... */
	size_t count;
};

/*
 * From now on system calls that are in none of these lists fail with EPERM, on all threads. Privileges to come must
 * have been given up (PR_SET_NO_NEW_PRIVS). 0 or -errno; -E2BIG: the lists are too long.
 */
int mimicd_call_filter_enter(const struct mimicd_call_list *lists, size_t count);

#endif
