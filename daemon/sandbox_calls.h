/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_SANDBOX_CALLS_H
#define MIMICD_SANDBOX_CALLS_H

#include <stdbool.h>

/*
 * From now on system calls that mimicd has no use for fail with EPERM, on all threads. `mounts`: it
 * will have to unmount. 0 or -errno.
 */
int mimicd_sandbox_filter_calls(bool mounts);

#endif
