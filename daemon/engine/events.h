/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Events of devices, told to programs by an eventfd of theirs. */
#ifndef MIMICD_EVENTS_H
#define MIMICD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/signaller.h"

struct mimicd_instance;
struct mimicd_engine;

/* Of an instance. All 0: nobody wants to know. */
struct mimicd_instance_events {
	int fd;			/* only meaningful while `wanted` */
	uint64_t wanted;
	bool raised;		/* in the server's list of those to look at */
	struct mimicd_instance *next;
};

/* Of the server. */
struct mimicd_events {
	struct mimicd_signaller signaller;
	struct mimicd_instance *raised;
};

/*
 * The program wants to know of `events`; the descriptor stays the caller's. 0 or
 * fd -1: of none any more. -ENXIO: the kind has no events; -EINVAL: that is no
 * eventfd, or there are no such events; -EMFILE; -ENOSYS, -EAGAIN: the kernel gives no asynchronous I/O.
 */
int mimicd_events_set(struct mimicd_instance *instance, int fd, uint64_t events);
/* The model's interrupt was raised. Inside of its calls: the look comes later. */
void mimicd_events_raise(struct mimicd_instance *instance);
/* Looks at the devices that have raised it, and tells the programs. */
void mimicd_events_deliver(struct mimicd_engine *engine);
/* The device is nobody's any more. */
void mimicd_events_forget(struct mimicd_instance *instance);
void mimicd_events_destroy(struct mimicd_engine *engine);

#endif
