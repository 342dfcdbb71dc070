/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shared memory whose pages are not there.
 *
 * Trust boundary: the first access to a page of a memfd makes the page, at the cost of the process that
 * accesses it. So a memfd must have all of its pages when a client shares it, and mimicd fills no hole that
 * the client punches later: the kernel reports it by SIGBUS (userfaultfd), reads and writes of the range then
 * go to pages that are thrown away, and the client ends.
 */
#ifndef MIMICD_HOLES_H
#define MIMICD_HOLES_H

#include <stddef.h>

#include "daemon/loop/loop.h"

struct mimicd_memory;
struct mimicd_watched;

struct mimicd_holes {
	int fd;			/* of userfaultfd; -1: the kernel has none */
	int wake_fd;		/* eventfd: a client has touched a hole */
	struct mimicd_source source;
};

/* Before threads that reach memory of clients, and before mimic_probe_install_handlers(). 0 or -errno. */
int mimicd_holes_create(struct mimicd_holes *holes, struct mimicd_loop *loop);
void mimicd_holes_destroy(struct mimicd_holes *holes);

/*
 * A mapping of the client's; memory->has_hole is set when a hole of it was touched. NULL in
 * *watched: there is no userfaultfd. 0 or -ENOMEM.
 */
int mimicd_holes_watch(struct mimicd_holes *holes, struct mimicd_memory *memory, void *start, size_t size,
		       struct mimicd_watched **watched);
/* Before it is unmapped. No device reaches it any more. NULL is allowed. */
void mimicd_holes_forget(struct mimicd_watched *watched);

#endif
