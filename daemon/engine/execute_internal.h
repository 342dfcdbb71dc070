/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What engine.c and engine_round.c call of each other. */
#ifndef MIMICD_ENGINE_INTERNAL_H
#define MIMICD_ENGINE_INTERNAL_H

#include "daemon/clients/session.h"

static inline bool has_answers(enum mimic_command_kind kind)
{
	return kind != MIMIC_COMMAND_STORE;
}

static inline bool is_store(enum mimic_command_kind kind)
{
	return kind == MIMIC_COMMAND_STORE || kind == MIMIC_COMMAND_STORE_ACKNOWLEDGED;
}

/* Its thread waits in a trapped access, or its device does nothing because somebody wants it so. */
bool mimicd_engine_is_blocked(const struct mimicd_lane *lane);

/* Is what the lane waits for by an order word done? */
bool mimicd_engine_may_go_on(const struct mimicd_lane *lane);

/*
 * Executes commands of about `budget` words, or until others must have their turn;
 * `only_posted`: stops before the first that wants an answer, and no sooner. Returns
 * how many words it was.
 */
uint64_t mimicd_engine_run(struct mimicd_lane *lane, uint64_t budget, bool only_posted, uint64_t now);

#endif
