/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory that this process shares with mimicd. */
#ifndef LIBMIMIC_DAEMON_MEMORY_H
#define LIBMIMIC_DAEMON_MEMORY_H

#include <stddef.h>
#include <stdint.h>

void *mimic_daemon_memory_alloc(uint32_t generation, size_t size);
int mimic_daemon_memory_free(uint32_t generation, void *address);
int mimic_daemon_memory_register(uint32_t generation, void *address, size_t size);
int mimic_daemon_memory_unregister(uint32_t generation, void *address, size_t size);

/* To a daemon that does not know our ranges yet. */
int mimic_daemon_memory_announce(uint32_t generation);
/* In a child: its writes are its own from now on. */
void mimic_daemon_memory_after_fork(void);

#endif
