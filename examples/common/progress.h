/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One line that says how far a program is, on a terminal only. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include <stdint.h>

/* Cheap: it looks at the clock before it prints. From any thread. */
void progress_show(const char *what, uint64_t done, uint64_t total);
/* Removes the line. */
void progress_clear(void);

#endif
