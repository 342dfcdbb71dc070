/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Traces of programs: events of a program's devices are written into a spool that it
 * has given us. The program has the memory, and may do anything to it; we read nothing
 * in it but where the next chunk is, and that is checked (libmimic/base/spool.c).
 */
#ifndef MIMICD_TRACE_H
#define MIMICD_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/engine/memory.h"
#include "libmimic/base/spool.h"

struct mimicd_engine;
struct mimicd_instance;

/* Of a client. */
struct mimicd_trace {
	struct mimic_spool spool;	/* no header: the client has none */
	struct mimicd_memory *memory;	/* of the client, for its quotas and its holes */
	struct mimicd_range mapping;	/* of the spool */
};

/* The spool is a sealed memfd. -EALREADY, -EINVAL, -EPERM, -ENOMEM, -EDQUOT, -ENOSPC; *why may say more. */
int mimicd_trace_start(struct mimicd_trace *trace, struct mimicd_memory *memory, int fd, const char **why);
/*
 * The same of all devices that programs have by a driver, until the client ends. -EBUSY:
 * another client does; -EOPNOTSUPP: no bus shows devices to drivers.
 */
int mimicd_trace_bindings_start(struct mimicd_engine *engine, struct mimicd_trace *trace,
				struct mimicd_memory *memory, int fd, const char **why);
/* A process has the device by a driver now. Over: mimicd_trace_close(). */
void mimicd_trace_bound(struct mimicd_instance *instance, pid_t pid);
/* The client has the device now, or a context of it; `is_alone`: no other client has a part. */
void mimicd_trace_open(struct mimicd_trace *trace, struct mimicd_instance *instance, pid_t pid,
		       bool is_alone);
/* It has the device no more, or one context less. */
void mimicd_trace_close(struct mimicd_instance *instance);
/* The client ends. It has no device any more, but those that are bound may write into its spool. */
void mimicd_trace_end(struct mimicd_engine *engine, struct mimicd_trace *trace);

#endif
