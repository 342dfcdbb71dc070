/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Events of devices, told to programs by an eventfd of theirs. */
#ifndef MIMICD_EVENTS_H
#define MIMICD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/signaller.h"
#include "libmimic/base/kinds.h"

/* Of a device. */
struct mimicd_device_events {
	struct mimicd_events *events;
	const struct mimic_kind *kind;
	struct mimic_model *model;
	uint64_t wanted;		/* 0: nobody wants to know */
	int fd;				/* only meaningful while `wanted` */
	bool raised;			/* it is in the list of those that have raised it */
	struct mimicd_device_events *next;
};

/* Of the engine. */
struct mimicd_events {
	struct mimicd_signaller signaller;
	struct mimicd_device_events *raised;
};

/*
 * The program wants to know of `wanted`; the descriptor stays the caller's. 0 or
 * fd -1: of none any more. -ENXIO: the kind has no events; -EINVAL: that is no
 * eventfd, or there are no such events; -EMFILE; -ENOSYS, -EAGAIN: the kernel gives no asynchronous I/O.
 */
int mimicd_events_set(struct mimicd_device_events *device, int fd, uint64_t wanted);
/* The model's interrupt was raised. Inside of its calls: the program is told later. */
void mimicd_events_raise(struct mimicd_device_events *device);
/* Tells the programs of devices that have raised it. */
void mimicd_events_deliver(struct mimicd_events *events);
/* No program has the device any more. */
void mimicd_events_forget(struct mimicd_device_events *device);
void mimicd_events_destroy(struct mimicd_events *events);

#endif
