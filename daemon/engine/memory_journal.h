/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The memory port for models whose state lies in the journal's window (daemon/journal). */
#ifndef MIMICD_MEMORY_JOURNAL_H
#define MIMICD_MEMORY_JOURNAL_H

#include "daemon/engine/memory.h"

/* In an entry of the log: its client is the number of a binding. */
#define MIMICD_UNDO_OF_BINDING (1ull << 63)

/* As mimicd_memory_port(). */
void mimicd_memory_journal_port(struct mimic_memory *port, struct mimicd_memory_slot *slot);

#endif
