/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The n-th allocation of a call fails, for each n until the call gets by. Needs a kernel with
 * CONFIG_FAULT_INJECTION (make check-kernel-debug).
 */
#ifndef MIMIC_TESTS_FAIL_NTH_H
#define MIMIC_TESTS_FAIL_NTH_H

#include <stdbool.h>

#define FAIL_NTH_MOST 400	/* allocations of one call; a call that never gets by is a failure */

/* The function that is called while the n-th allocation fails. 0 or -errno. */
typedef long (*fail_nth_call)(void *argument);

/* Does this kernel inject failures? Then also where an allocation may sleep. */
bool fail_nth_is_possible(void);
/* The calling thread's file, which counts its allocations; -1 and errno. */
int fail_nth_open(void);
/* Of the file's thread. false: that cannot be. */
bool fail_nth_arm(int fd, int n);
bool fail_nth_disarm(int fd);
/* Has the failure not come yet? Then there were fewer allocations. */
bool fail_nth_is_armed(int fd);
/*
 * `fd` is of the thread whose allocations fail. Returns how many calls failed an allocation; -1: it never
 * got by, -2: it failed with nothing injected. Each call that succeeded is followed by `undo`, if there is one.
 */
int fail_nth_sweep_of(int fd, fail_nth_call call, void (*undo)(void *argument), void *argument);
/* The same with allocations of the thread that calls. */
int fail_nth_sweep(fail_nth_call call, void (*undo)(void *argument), void *argument);

#endif
