/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel transport, for the rest of mimic and for tests. The transport
 * itself is in transport.h, the calls of the nodes in include/mimic/accelerator_ioctl.h.
 */
#ifndef LIBMIMIC_KERNEL_H
#define LIBMIMIC_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct accelerator_lane;
struct accelerator_lane_call;
struct mimic_kind;

/* The description that a node gives of itself. */
struct mimic_kernel_info {
	uint32_t version;	/* of its ioctls */
	uint32_t index;		/* in the name of the node, after the kind */
	uint32_t context;	/* of a device that has some: the one that this node is */
	uint64_t memory_size;	/* of a device that has some */
};

/*
 * The requests to a node; each returns -errno on failure. A test puts functions
 * of its own here, because no module can be loaded where most tests run.
 */
struct mimic_kernel_nodes {
	const char *directory;		/* "/dev" */
	int (*open)(const char *path);	/* a descriptor; -ENOTTY: no character device */
	int (*info)(int node, const struct mimic_kind *kind, struct mimic_kernel_info *info);
	int (*connect)(int node, const struct mimic_kind *kind);	/* a connected socket */
	int (*eventfd)(int node, const struct mimic_kind *kind, int fd, uint64_t events);
	/* Where connect() gives -EOPNOTSUPP: as the ioctls LANE and LANE_CALL. */
	int (*lane)(int node, const struct mimic_kind *kind, struct accelerator_lane *lane);
	int (*lane_call)(int node, const struct mimic_kind *kind, const struct accelerator_lane_call *call);
};

extern struct mimic_kernel_nodes mimic_kernel_nodes;

#pragma GCC visibility push(default)

/*
 * Is there any node of this kind (its name; NULL: any kind) that a driver stands behind?
 * Opens none: an open would take the device from a program that wants it at that moment.
 * For the preload library, too.
 */
bool mimic_kernel_is_there(const char *kind);
/* Do two open nodes of a kind lead to the same device, and the same context of it? */
bool mimic_kernel_is_same_part(const struct mimic_kind *kind, int node, int other);

#pragma GCC visibility pop

/* The device's name ("maple0") of a node that is open. 0 or -errno; -EPROTO: its driver is of another version. */
int mimic_kernel_node_name(const struct mimic_kind *kind, int node, char *name, size_t size);
struct mimic_device;
/* As the transport's open(), of a node that the caller has open. The descriptor stays the caller's. */
int mimic_kernel_open_node(struct mimic_device **opened, const struct mimic_kind *kind, int node);
/* The descriptor that the device has of its own. *is_inherited: does the driver map its pages in a child, too? */
int mimic_kernel_node_of(const struct mimic_device *device, bool *is_inherited);

/*
 * libmimic/kernel/lanes.c: the session of a device whose nodes have lanes. *generation: the session's, which is
 * begun if no node of this kind and number has one. -errno with a text.
 */
int mimic_kernel_lanes_get(int node, const struct mimic_kind *kind, unsigned int index, const char *path,
			   uint32_t *generation);
/* The node is about to be closed; `other` is another one of the device, -1: there is none, and the session ends. */
void mimic_kernel_lanes_leave(uint32_t generation, int node, int other);

/* libmimic/kernel/memory.c: the daemon reaches all of the program; these only check and keep count. */
void *mimic_kernel_memory_alloc(size_t size);
int mimic_kernel_memory_free(void *address);
int mimic_kernel_memory_register(void *address, size_t size);
int mimic_kernel_memory_unregister(void *address, size_t size);
void mimic_kernel_memory_after_fork(void);

#endif
