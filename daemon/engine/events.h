/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Events of devices, told to programs by an eventfd of theirs. */
#ifndef MIMICD_EVENTS_H
#define MIMICD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/signaller.h"
#include "libmimic/base/kinds.h"

struct mimicd_closer;
struct mimicd_user;

/* Of a device. */
struct mimicd_device_events {
	struct mimicd_events *events;
	const struct mimic_kind *kind;
	struct mimic_model *model;
	uint64_t wanted;		/* 0: no event is wanted */
	/* Only meaningful while `wanted`. */
	int fd;
	uint64_t kept;			/* its number in the store of a daemon that can be recovered */
	struct mimicd_user *user;	/* of the program */
	bool raised;			/* it is in a list of those that have raised it */
	struct mimicd_device_events *next;
};

/* Of the engine. */
struct mimicd_events {
	struct mimicd_signaller signaller;
	struct mimicd_closer *closer;
	struct mimicd_device_events *raised, **last;
	struct mimicd_device_events *throttled;	/* have raised it, and their users are throttled */
	uint64_t turn;
	bool goes_on;			/* users have used up their turns, and have more */
};

/*
 * A program of the user wants to know of `wanted`; the descriptor stays the caller's. 0 or
 * fd -1: of none any more. -ENXIO: the kind has no events; -EINVAL: that is no
 * eventfd, or there are no such events; -EMFILE; -ENOSYS, -EAGAIN: the kernel gives no asynchronous I/O.
 */
int mimicd_events_set(struct mimicd_device_events *device, struct mimicd_user *user, int fd, uint64_t wanted);
/* The model's interrupt was raised. Inside of its calls: the program is told later. */
void mimicd_events_raise(struct mimicd_device_events *device);
/* Tells the programs of devices that have raised it, a turn for each user. true: there is more. */
bool mimicd_events_deliver(struct mimicd_events *events);
/* A user may no longer be throttled (wakes.h). */
void mimicd_events_go_on(struct mimicd_events *events);
/* No program has the device any more. */
void mimicd_events_forget(struct mimicd_device_events *device);
void mimicd_events_destroy(struct mimicd_events *events);

#endif
