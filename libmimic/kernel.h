/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel transport, for the rest of mimic and for tests. The transport
 * itself is in transport.h, the nodes are in include/mimic/maple_ioctl.h.
 */
#ifndef LIBMIMIC_KERNEL_H
#define LIBMIMIC_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "mimic/maple_ioctl.h"

/*
 * What is asked of a node; each returns -errno on failure. A test puts functions
 * of its own here, because no module can be loaded where most tests run.
 */
struct mimic_kernel_nodes {
	const char *directory;		/* "/dev" */
	int (*open)(const char *path);	/* a descriptor; -ENOTTY: no character device */
	int (*info)(int node, struct maple_info *info);
	int (*connect)(int node);	/* a connected socket */
};

extern struct mimic_kernel_nodes mimic_kernel_nodes;

#pragma GCC visibility push(default)

/*
 * Is there any /dev/mapleN that a driver stands behind? Opens none: an open
 * would take the instance from somebody who wants it at that moment. For the
 * preload library, too.
 */
bool mimic_kernel_is_there(void);

#pragma GCC visibility pop

/* kernel_memory.c: the daemon reaches all of the program; these only check and keep count. */
void *mimic_kernel_memory_alloc(size_t size);
int mimic_kernel_memory_free(void *address);
int mimic_kernel_memory_register(void *address, size_t size);
int mimic_kernel_memory_unregister(void *address, size_t size);
void mimic_kernel_memory_after_fork(void);

#endif
