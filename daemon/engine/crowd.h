/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A crowd: more threads use the daemon at the same time than there are CPUs for them. A thread that then spun for
 * its answer would keep the CPU from the daemon, and from threads whose answers are there; and in its time slice it would
 * make thousands of accesses, while the others sleep. So the lanes say it (no_spin of mimic/lane.h), and a thread
 * that waits sleeps at once. All then have their turns by the daemon's rounds.
 */
#ifndef MIMICD_CROWD_H
#define MIMICD_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mimicd_lane;
struct mimicd_shard;

/* Of a shard. */
struct mimicd_crowd {
	uint64_t begun;			/* the period in which lanes are counted */
	uint32_t period;		/* its number */
	unsigned int lanes;		/* that had work in it */
	bool is_there;			/* as the lanes say */
	/* For the other shards: lanes in a period, and until when that holds. */
	_Atomic unsigned int last;
	_Atomic uint64_t last_until;
};

/* A lane of the shard has work. */
void mimicd_crowd_count(struct mimicd_crowd *crowd, struct mimicd_lane *lane);
/* After a round in which there was work. */
void mimicd_crowd_look(struct mimicd_shard *shard);
/* A lane that is new in the shard. */
void mimicd_crowd_tell(const struct mimicd_crowd *crowd, struct mimicd_lane *lane);

#endif
