/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device of mimicd, reached by lanes: code that the daemon transport and the kernel
 * transport have in common. They differ in how the session is made, and in how the
 * daemon reaches the program's memory.
 */
#ifndef LIBMIMIC_DAEMON_DEVICE_H
#define LIBMIMIC_DAEMON_DEVICE_H

#include "libmimic/base/descriptor.h"
#include "libmimic/transport.h"

struct daemon_device {
	struct mimic_device base;
	uint32_t generation;	/* of the session (libmimic/daemon/session.h) */
	uint8_t number;
	uint32_t counters;
	uint32_t posts_stores;	/* enum mimic_posts, by the daemon's parameters */
	struct mimic_descriptor memory;	/* the device's; none: it has none, or it is the kernel's to map */
	size_t memory_size;
	/*
	 * Where the last post of any thread ended, by the part of the device (mimic_kind.order): an
	 * order word (mimic/lane.h), 0: none yet.
	 */
	_Atomic uint64_t last_post[MIMIC_KIND_ORDERS];
	/*
	 * The lane that posted first (0: none yet), and its last posts, until one in last_post comes behind
	 * them (order.c).
	 */
	_Atomic uint32_t first_lane;
	_Atomic uint64_t first_lane_post[MIMIC_KIND_ORDERS];
};

static inline struct daemon_device *mimic_daemon_device(struct mimic_device *device)
{
	return (struct daemon_device *)device;
}

/* OPEN on the session of `generation`. Fills `device` in but for its transport. -errno with a text. */
int mimic_daemon_device_open(struct daemon_device *device, uint32_t generation, const char *name);
/* CLOSE. The session's count of devices goes down if it still is this device's session. */
void mimic_daemon_device_close(struct daemon_device *device);

/* As in struct mimic_transport_ops, on any device that begins with a struct daemon_device. */
int mimic_daemon_device_access(struct mimic_device *device, struct mimic_access *access);
bool mimic_daemon_keeps_vectors(const struct mimic_device *device);
ssize_t mimic_daemon_device_post(struct mimic_device *device, const struct mimic_access *pattern,
				 const uint64_t *values, size_t count);
ssize_t mimic_daemon_device_load(struct mimic_device *device, const struct mimic_access *pattern,
				 void *values, size_t count);
ssize_t mimic_daemon_device_load_pieces(struct mimic_device *device, const struct mimic_access *pattern,
					size_t count, mimic_take take, void *context);
ssize_t mimic_daemon_device_counters(struct mimic_device *device, uint64_t *values, size_t count);

#endif
