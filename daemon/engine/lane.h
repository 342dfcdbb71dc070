/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes, by which a client's threads give commands, and those threads. */
#ifndef MIMICD_LANE_H
#define MIMICD_LANE_H

#include "daemon/engine/instance.h"
#include "daemon/engine/process.h"
#include "mimic/lane.h"

struct mimicd_client;
struct mimicd_device_slot;

struct mimicd_thread {
	uint64_t owner;		/* on devices that the client has from us */
	struct mimicd_owner *bound;	/* on those that its process has by a driver; NULL: no such client */
	uint32_t number;
	unsigned int lanes;
	struct mimicd_lane *parked;	/* the lane whose access waits in a device; a thread has one at most */
	bool gone;			/* to be freed with its last lane */
};

struct mimicd_lane {
	struct mimicd_client *client;
	struct mimicd_thread *thread;
	struct mimicd_lane *next;	/* of the client */
	uint32_t number;
	uint32_t level;
	struct mimic_lane *memory;	/* shared: the client may change any byte at any time */
	size_t size;
	struct mimic_ring_end commands;
	struct mimic_ring_end responses;

	struct mimic_command command;	/* being executed while remaining != 0 */
	uint32_t remaining;
	uint64_t follows;	/* the order word that the next command waits for, 0: none */
	struct mimicd_device_slot *target;	/* NULL: closed meanwhile, or no such page; stores go nowhere, loads give 0 */
	bool parked;		/* its access waits in the device */
	struct mimicd_waiter waiter;	/* that access */
	bool withdrawn;		/* the command being executed gives no answers, has no effect */
	bool cancel_pending;	/* the same for the next one that has answers */
	bool retired;		/* no more commands come; what is posted is still done */
	bool running;		/* its commands are being executed, further up the stack */
	bool answered;		/* since the client was last notified */
};

/*
 * A lane of the thread of that number, or (0) of a new one, whose number among the
 * kernel's threads is `tid` (0: not known). *fd is the lane's memory, for the client.
 * -EINVAL, -ENOENT, -EMFILE, -ENOMEM.
 */
int mimicd_lane_create(struct mimicd_client *client, uint32_t thread, uint32_t level, pid_t tid,
		       struct mimicd_lane **lane, int *fd);
/* The owner of the lane's accesses. */
uint64_t mimicd_lane_owner(const struct mimicd_lane *lane);
struct mimicd_lane *mimicd_lane_find(struct mimicd_client *client, uint32_t number);
/* No more commands come. It is freed when what was posted is done. */
void mimicd_lane_retire(struct mimicd_lane *lane);
void mimicd_lane_destroy(struct mimicd_lane *lane);
/* The client ends. Its lanes are gone, its devices are still there. */
void mimicd_threads_leave(struct mimicd_client *client);
/* -ENOENT, or 0; the thread's roles are free when what it posted is done. */
int mimicd_thread_end(struct mimicd_client *client, uint32_t number);
/* Frees what is retired and done. */
void mimicd_lanes_reap(struct mimicd_client *client);

#endif
