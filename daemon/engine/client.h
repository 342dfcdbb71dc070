/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that gets devices from the engine and gives them commands by lanes: its open
 * devices, its threads and their lanes, its memory. A front end embeds it in its session.
 */
#ifndef MIMICD_CLIENT_H
#define MIMICD_CLIENT_H

#include "daemon/engine/crowd.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/process.h"
#include "daemon/engine/program.h"
#include "daemon/engine/trace.h"
#include "daemon/engine/user.h"
#include "daemon/loop/loop.h"
#include "mimic/lane.h"
#include "mimic/protocol.h"

struct mimicd_client;
struct mimicd_engine;
struct mimicd_lane_record;

/* A device, or one of its contexts, that a client has open. */
struct mimicd_device_slot {
	struct mimicd_instance *instance;
	struct mimic_model *model;	/* the instance's */
	unsigned int context;
	uint8_t first_page;	/* the program's page 0 is this one of the device */
	uint8_t pages;		/* that the program has */
	unsigned int opens;
	bool lost;	/* removed, reset, or lost in a recovery: the client is told until it closes it, see mimic/lane.h */
	bool closed;	/* commands for it may still be in a lane: the number is not given away yet */
	bool closing;	/* the client waits for the answer to its last close */
	struct mimicd_instance *leaving;	/* that it was, until its jobs are back (leave.h) */
};

/* Of a client. */
struct mimicd_thread {
	uint64_t owner;		/* on devices that the client has from us */
	struct mimicd_owner *bound;	/* on those that its process has by a driver; NULL: no such client */
	uint32_t number;
	unsigned int lanes;
	struct mimicd_lane *parked;	/* the lane whose access waits in a device; a thread has one at most */
	bool gone;			/* to be freed with its last lane */
};

/* How far lanes of a client have been drained, by numbers from the highest; a turn may end in between. */
struct mimicd_drain {
	uint32_t lane;		/* that comes next, or is at work; 0: begin */
	uint64_t left;		/* words that it may still move */
};

/* A store that is not given to its device yet (credit.h). */
struct mimicd_credit_wait {
	uint64_t until;		/* 0: there is none */
	unsigned int left;	/* credits, when we last looked */
};

/* By which a thread gives commands. */
struct mimicd_lane {
	struct mimicd_client *client;
	struct mimicd_thread *thread;
	struct mimicd_lane *next;	/* of the client */
	uint32_t number;
	uint32_t level;
	struct mimic_lane *memory;	/* shared: the client may change any byte at any time */
	size_t size;
	/* The front end's memory, which a virtual machine shares: the program's processors are not ours. */
	bool is_lent;
	struct mimic_ring_end commands;
	struct mimic_ring_end responses;

	struct mimic_command command;	/* being executed while remaining != 0 */
	uint32_t remaining;
	struct mimicd_drain drain;	/* of the other lanes, before the next command, which has answers */
	uint64_t follows;	/* the order word that the next command waits for, 0: none */
	struct mimicd_device_slot *target;	/* NULL: closed meanwhile, or no such page; stores go nowhere, loads give 0 */
	bool parked;		/* its access waits in the device */
	struct mimicd_waiter waiter;	/* that access */
	bool withdrawn;		/* the command being executed gives no answers, has no effect */
	bool cancel_pending;	/* the same for the next one that has answers */
	bool retired;		/* no more commands come; posts are still done */
	bool running;		/* its commands are being executed, further up the stack */
	bool answered;		/* since the client was last notified */
	struct mimicd_crowd_member member;	/* its share, while many threads use the daemon */
	struct mimicd_credit_wait credit_wait;

	/* The rest is of a daemon that can be recovered (step.h). */
	struct mimicd_lane_record *record;	/* in the window; NULL: there is none */
	uint64_t unpublished;	/* answers in the ring that are shown after the commit */
	bool has_changed;	/* since then */
	struct mimicd_lane *next_changed;
	int fd;			/* of its memory; -1: it is not kept */
};

struct mimicd_client_ops {
	/* It is broken: the front end frees it. On the loop's thread, between two rounds. */
	void (*end)(struct mimicd_client *client);
	/* The others may be NULL. It ends when its jobs have come back: the loop is to hear no more of it until then. */
	void (*linger)(struct mimicd_client *client);
	/*
	 * The lane's program sleeps, and its answer or room is there. NULL: a futex in the lane's
	 * memory wakes it.
	 */
	void (*wake)(struct mimicd_lane *lane);
	/*
	 * The eventfd by which its programs wake us, and the source that the loop has for it. NULL: there is none; the client
	 * stays in the loop's shard.
	 */
	int (*kick)(struct mimicd_client *client, struct mimicd_source **source);
	/* A lane in lent memory is no more: all that was posted on it is done, or dropped. */
	void (*lane_gone)(struct mimicd_lane *lane);
	/* The program has made an access that drops translations (mimic_kind.is_flush). */
	void (*flushed)(struct mimicd_client *client);
};

struct mimicd_client {
	struct mimicd_engine *engine;
	struct mimicd_shard *shard;	/* of which its lanes and devices are */
	bool is_placed;		/* not by chance: it counts there (placement.h) */
	bool has_moved_on;	/* its devices or needs have changed: its place may be another one */
	const struct mimicd_client_ops *ops;
	struct mimicd_client *next;	/* of the engine */
	struct mimicd_user *user;
	struct mimicd_client *next_of_user;	/* in the shard */
	struct mimicd_program program;
	struct mimicd_process *process;	/* that has its devices by a driver; NULL: it has them from us */
	bool is_shown;		/* in lists: it has introduced itself */
	atomic_bool broken;	/* to be ended when the current round is over */

	struct mimicd_device_slot devices[MIMIC_SESSION_DEVICES];
	unsigned int private_devices;
	struct mimicd_thread *threads[MIMIC_SESSION_THREADS + 1];	/* by number, from 1 */
	struct mimicd_lane *lanes;	/* by numbers, the highest first */
	struct mimicd_lane *turn;	/* the one whose turn comes next; NULL: the first */
	struct mimicd_drain drain;	/* of all lanes, for a message or a trap */
	unsigned int tick_turn;		/* the device that goes on next by itself, by its number */
	unsigned int lane_count;
	uint32_t last_lane;
	uint64_t commands;	/* executed, for `mimic list` */
	struct mimicd_memory memory;
	struct mimicd_trace trace;
	uint64_t number;	/* of a daemon that can be recovered: no other client ever has it */
	bool has_changed;	/* it differs from its record (step.h) */
};

/* The owner of its accesses. A client of a process that has devices by a driver has no others. */
static inline uint64_t mimicd_thread_owner(const struct mimicd_thread *thread)
{
	return thread->bound ? thread->bound->number : thread->owner;
}

/*
 * It has nothing yet. The program's uid and pid are filled in; the pidfd, taken over until
 * mimicd_client_destroy(), says when it ends (negative: not known). 0 or -ENOMEM; after either,
 * mimicd_client_destroy().
 */
int mimicd_client_init(struct mimicd_client *client, struct mimicd_engine *engine,
		       const struct mimicd_client_ops *ops, int pidfd);
/* It has nothing of ours: it only inspects, or has not begun. */
bool mimicd_client_only_inspects(const struct mimicd_client *client);

/* Ends it when it is safe to do so; says why in one log line. */
void mimicd_client_break(struct mimicd_client *client, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same without a word: the ordinary end of every client. */
void mimicd_client_leave(struct mimicd_client *client);

/* One of its devices makes accesses to memory again that had to wait; all of them do. */
void mimicd_client_retry_device(struct mimicd_client *client, struct mimicd_instance *instance);
void mimicd_client_retry(struct mimicd_memory *memory);

/* --- client_devices.c ------------------------------------------------------------ */

/*
 * Opens by name; *number is the device's at this client.
 * -ENOENT, -ENODEV, -EBUSY, -EMFILE (limits), -EDQUOT, -ENOMEM. -EINPROGRESS: it leaves (leave.h); ask again when
 * jobs have come back.
 */
int mimicd_client_open(struct mimicd_client *client, const char *name, uint32_t *number);
/*
 * One open less; the last one gives the device back as after power-on. -ENODEV. A device that was
 * lost counts as open. -EAGAIN: this turn is over and earlier posts are not done; ask again. -EINPROGRESS:
 * it is done, but for a job that still runs; ask again when jobs have come back.
 */
int mimicd_client_close(struct mimicd_client *client, uint32_t number);
/*
 * For a front end that says which devices its clients have: this one, or one context of it, has that number
 * from now on, with the pages of programs. 0; -EDQUOT, -ENOSPC. It ends by mimicd_client_detach*().
 */
int mimicd_client_give(struct mimicd_client *client, uint32_t number, struct mimicd_instance *instance,
		       unsigned int context);
/* A device as a client had it from the daemon before (recover.h). */
struct mimicd_adopted_slot {
	uint32_t number;
	struct mimicd_instance *instance;	/* NULL: it is gone, and the client has not closed it */
	unsigned int context;
	uint64_t address_space;
	unsigned int opens;
	bool lost, closed, closing;
};

/* The client, which has nothing of that number, has that device; its model is asked nothing. 0; -EDQUOT, -ENOSPC. */
int mimicd_client_adopt(struct mimicd_client *client, const struct mimicd_adopted_slot *adopted);
/* From now on the client's accesses to the device fail, until it closes the device. */
void mimicd_client_lose(struct mimicd_client *client, struct mimicd_instance *instance);
/* The client loses the device and has it no more, if it had it; the device itself is left alone. */
void mimicd_client_detach(struct mimicd_client *client, struct mimicd_instance *instance);
/* The same for one context of it. */
void mimicd_client_detach_context(struct mimicd_client *client, struct mimicd_instance *instance,
				  unsigned int context);

/* It has ended. false: jobs of its devices still run; ask again when jobs have come back. */
bool mimicd_client_stops(struct mimicd_client *client);
/* Gives back all that it has. It stops first, or others wait for its jobs. */
void mimicd_client_destroy(struct mimicd_client *client);

#endif
