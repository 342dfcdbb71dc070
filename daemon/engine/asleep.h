/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_ASLEEP_H
#define MIMICD_ASLEEP_H

#include <stdbool.h>

/*
 * Does that thread of mimicd sleep in the kernel (a page fault that a program serves itself), or is it gone? false: it
 * runs, or waits for a processor.
 */
bool mimicd_thread_is_asleep(int tid);

#endif
