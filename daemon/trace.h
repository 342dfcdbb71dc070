/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Traces of sessions: what a session's devices do is written into a spool that its program
 * has given us. The program has the memory, and may do anything to it; we look at nothing
 * in it but where the next chunk is, and that is checked (libmimic/trace_spool.c).
 */
#ifndef MIMICD_TRACE_H
#define MIMICD_TRACE_H

#include <stdbool.h>

#include "libmimic/trace_spool.h"

struct mimicd_instance;
struct mimicd_session;

struct mimicd_trace {
	struct mimic_spool spool;	/* no header: the session has none */
};

/* The spool is a sealed memfd. -EALREADY, -EINVAL, -EPERM, -ENOMEM; *why may say more. */
int mimicd_trace_start(struct mimicd_session *session, int fd, const char **why);
/* The session has the device now, or a context of it. */
void mimicd_trace_open(struct mimicd_session *session, struct mimicd_instance *instance);
/* It has the device no more, or one context less. */
void mimicd_trace_close(struct mimicd_instance *instance);
/* The session ends. It has no device any more. */
void mimicd_trace_end(struct mimicd_session *session);

#endif
