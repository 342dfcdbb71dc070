/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A crowd: more than two threads for each CPU that mimicd may run on use it at the same time. If all of them spun for their
 * answers, they would keep the CPUs from the daemon and from threads whose answers are there. And a thread that runs
 * while the daemon runs on another CPU would make thousands of accesses, while the others make one each.
 * If on the other hand all slept at once, each access would cost that a thread sleeps and is woken: several
 * times as much as the access. So
 * - lanes say for how long a thread spins at most (spin_most of mimic/lane.h): it sleeps soon;
 * - the daemon stays with a lane for some accesses, if its thread makes each soon after the one before;
 * - no lane has more than some accesses more than the mean, so threads that had no CPU have theirs afterwards;
 * - half of the shards have all clients, so that threads that have their turn have a CPU (placement.c).
 */
#ifndef MIMICD_CROWD_H
#define MIMICD_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmimic/base/wait.h"

struct mimicd_engine;
struct mimicd_lane;
struct mimicd_shard;

/* How long we wait for a thread's next access (one that sleeps on an idle CPU comes after 50 us), and stay with a lane in all. */
#define MIMICD_CROWD_STAY_NS 60000u
#define MIMICD_CROWD_TURN_NS 400000u

/* Of a lane. */
struct mimicd_crowd_member {
	uint32_t period;		/* the last one in which it had work */
	uint32_t account;		/* `served` is of this one */
	uint64_t served;		/* its accesses; of one that came later, those that it would have had */
};

/* Of a shard. */
struct mimicd_crowd {
	uint64_t until;			/* its lanes are a crowd; 0: they are not */
	uint64_t hurries_until;		/* threads do not come back soon: we do not stay */
	uint32_t spin_most;		/* as the lanes say */
	/* Lanes that have work are counted for a period. */
	uint64_t begun;
	uint32_t period;
	unsigned int lanes;
	unsigned int full_periods;	/* in a row: with more lanes than the CPUs can run */
	/* Accesses of all members, since the account was begun. */
	uint64_t account_begun;
	uint32_t account;
	uint32_t members;
	uint64_t served;
	uint64_t stays, stays_served;	/* how often we stayed, and for how many of them */
	/* For the other shards: lanes in a period, and until when that holds. */
	_Atomic unsigned int last;
	_Atomic uint64_t last_until;
};

/* A lane of the shard has work. */
void mimicd_crowd_count(struct mimicd_crowd *crowd, struct mimicd_crowd_member *member);
/* After a round in which there was work. */
void mimicd_crowd_look(struct mimicd_shard *shard);
/* A lane that is new in the shard is told for how long to spin. */
void mimicd_crowd_tell(const struct mimicd_crowd *crowd, struct mimicd_lane *lane);
/* Has any shard one now? By the holder of all of them. */
bool mimicd_crowd_is_anywhere(const struct mimicd_engine *engine);

/* Is the daemon to stay with a lane that it has served? */
bool mimicd_crowd_stays(const struct mimicd_shard *shard);
/* For how many accesses at most. */
unsigned int mimicd_crowd_allowance(struct mimicd_crowd *crowd, struct mimicd_crowd_member *member);
/* It has had so many. */
void mimicd_crowd_served(struct mimicd_crowd *crowd, struct mimicd_crowd_member *member, unsigned int accesses);
/* We have stayed with a lane whose thread could come back, and it did so often. */
static inline void mimicd_crowd_note_stay(struct mimicd_crowd *crowd, unsigned int accesses)
{
	crowd->stays++;
	crowd->stays_served += accesses;
}

#endif
