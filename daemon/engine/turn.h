/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The length of a turn, and which lane may go on: order words, waiting threads and devices, commands left. */
#ifndef MIMICD_TURN_H
#define MIMICD_TURN_H

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "libmimic/base/clock.h"

/*
 * A turn. Users have them one after the other, a user's programs within the user's, a program's lanes
 * within the program's: a user with more programs or more lanes makes nobody else wait longer.
 * An access is never broken off, so a turn may take a little longer, and a device may work for as
 * long as a tick in each.
 */
#define MIMICD_TURN_NS 100000u

static inline bool mimicd_turn_is_over(const struct mimicd_shard *shard)
{
	return mimic_now() >= shard->turn_end;
}

static inline bool mimicd_has_answers(enum mimic_command_kind kind)
{
	return kind != MIMIC_COMMAND_STORE;
}

static inline bool mimicd_is_store(enum mimic_command_kind kind)
{
	return kind == MIMIC_COMMAND_STORE || kind == MIMIC_COMMAND_STORE_ACKNOWLEDGED ||
	       kind == MIMIC_COMMAND_STORE_FOR_CREDIT;
}

/* Its thread waits in a trapped access, or its device does nothing because a person wants it so. */
bool mimicd_lane_is_blocked(const struct mimicd_lane *lane);

/* The lane that an order word names. NULL: it is gone. */
struct mimicd_lane *mimicd_lane_find_ordered(const struct mimicd_lane *lane, uint64_t word);
/* Are the commands done that the lane waits for by an order word? */
bool mimicd_lane_may_go_on(const struct mimicd_lane *lane);

/* Is there something on it that can be done now? */
bool mimicd_lane_has_work(struct mimicd_lane *lane);
/* Nothing is left on the lane that could have an effect. */
bool mimicd_lane_is_done(struct mimicd_lane *lane);

#endif
