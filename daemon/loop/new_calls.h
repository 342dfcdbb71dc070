/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * System calls that are newer than glibc 2.31, the oldest that mimic is compiled with: their numbers, the same on all
 * architectures. A kernel without the call answers ENOSYS.
 */
#ifndef MIMICD_NEW_CALLS_H
#define MIMICD_NEW_CALLS_H

#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#endif
