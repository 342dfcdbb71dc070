/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The clients that one thread of the engine serves in turns, with their lanes and devices. A client and all
 * devices that it has belong to one shard, and so do clients that share a device. The first shard is the
 * loop's.
 */
#ifndef MIMICD_SHARD_H
#define MIMICD_SHARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/engine/crowd.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"

struct mimicd_engine;
struct mimicd_instance;
struct mimicd_lane;
struct mimicd_user;

struct mimicd_shard {
	struct mimicd_engine *engine;
	struct mimicd_user *users;	/* that have clients here, or had them */
	struct mimicd_instance *devices;	/* not private ones; by `next_of_shard` */

	/* Every lane of every client, close together for looking whether there is work. */
	struct mimicd_lane **lanes;
	unsigned int lane_count;
	unsigned int lane_capacity;
	int cpu;			/* as published in the lanes */

	unsigned int nesting;		/* lanes that are being executed, one by an order of the other */
	uint64_t calls;			/* of models, counted from 1: bytes read ahead are of one */
	uint64_t now;			/* time of the last work, for spinning */
	struct mimic_recent recent;	/* for models that ask for the time themselves */
	unsigned int untimed;		/* commands for such models since then */
	unsigned int idle_rounds;	/* in a row; counted as far as one needs to know */
	uint64_t seen;			/* when its thread, awake, last looked at the clock */
	uint64_t stalls_until;		/* work for users is timed (stalls.h); 0: it is not */
	uint64_t stalls_counted;	/* time of that in all, and of waits for errands */
	struct mimicd_user *stalls_user;	/* for whom something is done that is timed; NULL: for nobody */
	bool resumes;			/* a user is no longer throttled whose accesses were put off */
	uint64_t turn_end;		/* when others must have their turn, see turn.h */
	uint64_t crowded_until;		/* a client shares our CPU: do not spin */
	struct mimic_yield yields;
	struct mimicd_crowd crowd;
	bool busy;			/* a device has work that goes on without a command */
	struct mimicd_lane *changed_lanes;	/* by the step of its thread (step.h), whosever lanes they are */

	/* The rest is of those beside the loop's (shards.h). */
	pthread_t thread;
	pthread_mutex_t lock;
	_Atomic uint32_t wanted;	/* by the loop's thread */
	atomic_bool is_owed;		/* the loop's thread had it, and lets a round pass before it wants it again */
	int epoll_fd;			/* eventfds of clients, and the next one */
	int wake_fd;
	bool sleeps;
	uint64_t due;			/* when users may no longer be throttled; 0: none is */
	uint64_t slept_until;		/* that, when it fell asleep */
	unsigned int clients;		/* that were placed here (placement.h) */
};

void mimicd_shard_init(struct mimicd_shard *shard, struct mimicd_engine *engine);
/* No client is left. */
void mimicd_shard_destroy(struct mimicd_shard *shard);

/* Room for so many lanes more. 0 or -ENOMEM. */
int mimicd_shard_make_room(struct mimicd_shard *shard, unsigned int lanes);
/* There is room for it. */
void mimicd_shard_add_lane(struct mimicd_shard *shard, struct mimicd_lane *lane);
void mimicd_shard_remove_lane(struct mimicd_shard *shard, const struct mimicd_lane *lane);
/* The loop's thread is to free a client or a lane of the shard. */
void mimicd_shard_call_reap(struct mimicd_shard *shard);
/* A device that is in no shard. */
void mimicd_shard_add_device(struct mimicd_shard *shard, struct mimicd_instance *instance);
void mimicd_shard_remove_device(struct mimicd_instance *instance);

/* Is there anything that the two below would do? */
bool mimicd_shard_has_work(struct mimicd_shard *shard);
/* Serves each lane once. true: something was done. */
bool mimicd_shard_round(struct mimicd_shard *shard);
/* Serves work that needs no command: devices that are busy, accesses that were put off. */
bool mimicd_shard_go_on(struct mimicd_shard *shard);
/* Users may no longer be throttled (wakes.h). */
void mimicd_shard_wake_again(struct mimicd_shard *shard);

/* For programs that are about to wait: where the thread runs (true: it has moved), and whether it must be woken. */
bool mimicd_shard_publish_cpu(struct mimicd_shard *shard);
void mimicd_shard_publish_sleep(struct mimicd_shard *shard, bool sleeps);
/* Does a program that has a lane here run on that CPU? */
bool mimicd_shard_needs_cpu(const struct mimicd_shard *shard, int cpu);

/* By the holder of the shard. A user of it is throttled until then: its thread is to look again. */
static inline void mimicd_shard_note_due(struct mimicd_shard *shard, uint64_t due)
{
	if (!shard->due || due < shard->due)
		shard->due = due;
}

#endif
