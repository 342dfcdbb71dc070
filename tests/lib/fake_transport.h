/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A transport of libmimic to a device that the test owns: no thread, no ring, no socket.
 * Libraries open it by the name of its kind and use it as any other. An interpreter of DARE's
 * instructions (fake_dare.h) or a bare model of Virgo (fake_virgo.h) answers.
 */
#ifndef TESTS_FAKE_TRANSPORT_H
#define TESTS_FAKE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mimic/access.h"

struct fake_device {
	const char *kind;		/* "dare" */
	/* One access. It is complete when this returns; access->data is a load's answer. */
	void (*access)(struct fake_device *device, struct mimic_access *access);
	/* The device's own memory; size 0: it has none. */
	int memory_file;
	size_t memory_size;
	/* Memory that the library allocates or registers. NULL with errno; 0 or -errno. */
	void *(*alloc)(struct fake_device *device, size_t size);
	int (*free)(struct fake_device *device, void *memory);
	int (*share)(struct fake_device *device, void *memory, size_t size);
	int (*unshare)(struct fake_device *device, void *memory, size_t size);

	unsigned int handles;		/* opens less closes */
	size_t posts, values;		/* calls of post, and the values that came with them */
	int fd;				/* of the last mimic_device_eventfd(), and its events */
	uint64_t events;
	/* Set by the test. */
	int post_error;			/* answer of the next posts, if not 0 */
	bool alloc_fails;
	void (*on_post)(struct fake_device *device);	/* before a post; may be NULL */
};

/* From now on all devices of its kind that are opened are this one, and there are no others. NULL ends this. */
void fake_transport_offer(struct fake_device *device);

#endif
