/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The small interface behind which the transports stand. libmimic/device.c
 * turns the public calls of mimic.h into these; embedded.c, daemon_client.c and
 * kernel.c fill it.
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
};

struct mimic_transport_ops {
	const char *name;
	int (*open)(struct mimic_device **device, const char *name,
		    const struct mimic_options *options);
	void (*close)(struct mimic_device *device);	/* the last user is gone */
	int (*access)(struct mimic_device *device, struct mimic_access *access);
	ssize_t (*post)(struct mimic_device *device, const struct mimic_access *pattern,
			const uint64_t *values, size_t count);
	ssize_t (*load)(struct mimic_device *device, const struct mimic_access *pattern,
			void *values, size_t count);
	ssize_t (*counters)(struct mimic_device *device, uint64_t *values, size_t count);
	const char *(*report)(struct mimic_device *device);	/* NULL: reports go elsewhere */
	void *(*memory_alloc)(struct mimic_device *device, size_t size);
	int (*memory_free)(struct mimic_device *device, void *address);
	int (*memory_register)(struct mimic_device *device, void *address, size_t size);
	int (*memory_unregister)(struct mimic_device *device, void *address, size_t size);
	/* This thread ends: everything it owns is given back. NULL: nothing to do. */
	void (*thread_gone)(void);
	/* In the child of a fork: forget everything without a word to anybody. */
	void (*after_fork)(void);
};

extern const struct mimic_transport_ops mimic_embedded_transport;
extern const struct mimic_transport_ops mimic_daemon_transport;
extern const struct mimic_transport_ops mimic_kernel_transport;

/* Sets the text that mimic_error_text() returns, and returns `error`. */
int mimic_error(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Nanoseconds of the monotonic clock: the device's `now` in functional mode. */
uint64_t mimic_now(void);

#endif
