/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Traces of sessions: what a session's devices do is written into a spool that its program
 * has given us. The program has the memory, and may do anything to it; we look at nothing
 * in it but where the next chunk is, and that is checked (libmimic/base/spool.c).
 */
#ifndef MIMICD_TRACE_H
#define MIMICD_TRACE_H

#include <stdbool.h>

#include "libmimic/base/spool.h"

struct mimicd_instance;
struct mimicd_client;

struct mimicd_trace {
	struct mimic_spool spool;	/* no header: the session has none */
};

/* The spool is a sealed memfd. -EALREADY, -EINVAL, -EPERM, -ENOMEM; *why may say more. */
int mimicd_trace_start(struct mimicd_client *client, int fd, const char **why);
/*
 * The same of all devices that programs have through the kernel, until the session ends.
 * For root and our own user; -EPERM. -EBUSY: another session does; -EOPNOTSUPP: no kernel.
 */
int mimicd_trace_bus_start(struct mimicd_client *client, int fd, const char **why);
/* A process has the device through the kernel now. Give up: mimicd_trace_close(). */
void mimicd_trace_bound(struct mimicd_instance *instance, pid_t pid);
/* The session has the device now, or a context of it. */
void mimicd_trace_open(struct mimicd_client *client, struct mimicd_instance *instance);
/* It has the device no more, or one context less. */
void mimicd_trace_close(struct mimicd_instance *instance);
/* The session ends. It has no device any more, but those of the bus may write into its spool. */
void mimicd_trace_end(struct mimicd_client *client);

#endif
