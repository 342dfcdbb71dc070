/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The embedded devices of this process, looked at from a thread of their own. Each takes
 * the lock of the instance for as long as a copy takes, and gives up after a second: a
 * signal handler that left a section by siglongjmp() has it for ever.
 */
#ifndef LIBMIMIC_EMBEDDED_STATE_H
#define LIBMIMIC_EMBEDDED_STATE_H

#include <stdbool.h>

/* Text as mimicd's of LIST; free() it. NULL: no memory. */
char *mimic_embedded_state_list(void);
/*
 * By the name that the list shows. 0, -ENOENT (no such kind), -ENODEV (it is not open),
 * -EBUSY (its lock is not to be had), -ENOMEM.
 */
int mimic_embedded_state_text(const char *name, bool with_bytes, char **text);
int mimic_embedded_state_reset(const char *name);
int mimic_embedded_state_clear_counters(const char *name);

#endif
