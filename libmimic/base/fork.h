/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Children that were made in another way than by fork(), of which pthread_atfork() does not hear. */
#ifndef LIBMIMIC_FORK_H
#define LIBMIMIC_FORK_H

/* In the child: its parent's devices are not its own. For the library of mimic run. */
#pragma GCC visibility push(default)
void mimic_fork_happened(void);
#pragma GCC visibility pop

#endif
