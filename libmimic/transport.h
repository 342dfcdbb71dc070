/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The small interface behind which the transports stand. libmimic/device/device.c
 * turns the public calls of mimic.h into these; embedded/embedded.c, daemon/client.c
 * and kernel/kernel.c fill it in.
 */
#ifndef MIMIC_TRANSPORT_H
#define MIMIC_TRANSPORT_H

#include "devices/kind.h"
#include "libmimic/mimic.h"

struct mimic_device {
	const struct mimic_transport_ops *transport;
	const struct mimic_kind *kind;
	char name[32];
	unsigned int users;		/* opens less closes; under the device table's lock */
	unsigned int generation;	/* fork generation it was opened in */
	void *memory;			/* its own, mapped; NULL: not asked for yet. Under that lock */
	size_t memory_size;
	/* Never NULL. *report is not NULL while transport->report() has something to say. */
	const char *const _Atomic *report;
};

/* A file that holds a device's memory. The descriptor is the transport's, good until the device's close. */
struct mimic_memory_file {
	int fd;
	uint64_t offset;
	size_t size;
};

/* Answers of loads, packed: good until it returns. It must not use the device. */
typedef void (*mimic_take)(void *context, const void *values, size_t count);

struct mimic_transport_ops {
	const char *name;
	int (*open)(struct mimic_device **device, const char *name,
		    const struct mimic_options *options);
	void (*close)(struct mimic_device *device);	/* the last user is gone */
	int (*access)(struct mimic_device *device, struct mimic_access *access);
	/* A program's own store: as access, but may be posted (mimic_kind.posts_stores). NULL: as access. */
	int (*store)(struct mimic_device *device, struct mimic_access *store);
	ssize_t (*post)(struct mimic_device *device, const struct mimic_access *pattern,
			const uint64_t *values, size_t count);
	ssize_t (*load)(struct mimic_device *device, const struct mimic_access *pattern,
			void *values, size_t count);
	/* As mimic_device_load_pieces(). NULL: by load(). */
	ssize_t (*load_pieces)(struct mimic_device *device, const struct mimic_access *pattern, size_t count,
			       mimic_take take, void *context);
	ssize_t (*counters)(struct mimic_device *device, uint64_t *values, size_t count);
	/* Of kinds that have memory, or events. NULL: -ENXIO, and so for all other kinds. */
	int (*device_memory)(struct mimic_device *device, struct mimic_memory_file *file);
	/* The program has `size` bytes of that memory, from `offset` on, at this address. NULL: nothing is to be done. */
	void (*memory_mapped)(struct mimic_device *device, uintptr_t address, size_t size, uint64_t offset);
	int (*device_eventfd)(struct mimic_device *device, int fd, uint64_t events);
	const char *(*report)(struct mimic_device *device);	/* NULL: reports go elsewhere */
	/* As mimic_device_keeps_vectors(). NULL: no. */
	bool (*keeps_vectors)(const struct mimic_device *device);
	void *(*memory_alloc)(struct mimic_device *device, size_t size);
	int (*memory_free)(struct mimic_device *device, void *address);
	int (*memory_register)(struct mimic_device *device, void *address, size_t size);
	int (*memory_unregister)(struct mimic_device *device, void *address, size_t size);
	/* This thread ends: everything it owns is given back. NULL: nothing to do. */
	void (*thread_gone)(void);
	/* In the child of a fork: drop all state, send no message. */
	void (*after_fork)(void);
};

extern const struct mimic_transport_ops mimic_embedded_transport;
extern const struct mimic_transport_ops mimic_daemon_transport;
extern const struct mimic_transport_ops mimic_kernel_transport;

#pragma GCC visibility push(default)
/* For a caller that maps a device's memory itself: the preload library. As mimic_device_memory(). */
int mimic_device_memory_file(struct mimic_device *device, struct mimic_memory_file *file);

/* The caller has mapped `size` bytes of that memory, from `offset` on. */
void mimic_device_memory_mapped(struct mimic_device *device, uintptr_t address, size_t size, uint64_t offset);

/*
 * A device of the kernel's, whose node the caller has open, and keeps. As mimic_device_open(), without a
 * text. *own: the device's own descriptor of the node. *is_inherited: a child of a fork keeps the mapped pages, too.
 */
int mimic_device_open_node(struct mimic_device **device, const struct mimic_kind *kind, int node, int *own,
			   bool *is_inherited);

/*
 * An access by an instruction of the program, for the preload library. As
 * mimic_device_access(), but a store may take effect later, where no program can tell.
 */
int mimic_device_plain_access(struct mimic_device *device, struct mimic_access *access);

/*
 * As mimic_device_load(), for the libraries: takes the answers piece by piece, while the device, if it is another
 * process's, goes on. If the call fails, the pieces that were taken are the first of the answers.
 */
ssize_t mimic_device_load_pieces(struct mimic_device *device, const struct mimic_access *pattern, size_t count,
				 mimic_take take, void *context);

/* Do its accesses keep the program's vector registers? See libmimic/base/vectors.h. */
bool mimic_device_keeps_vectors(const struct mimic_device *device);

/* From now on this transport opens all devices, for every name of a transport: libmimic-sim's. */
void mimic_transport_register(const struct mimic_transport_ops *ops);
#pragma GCC visibility pop

#endif
