/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Moves commands from the lanes through the models, and the answers back. */
#ifndef MIMICD_EXECUTE_H
#define MIMICD_EXECUTE_H

#include "daemon/engine/client.h"
#include "daemon/engine/notify.h"

/*
 * Executes commands of about `budget` words, or until the turn is over (turn.h);
 * `only_posted`: stops before the first that wants an answer. Returns how many words it was.
 */
uint64_t mimicd_lane_run(struct mimicd_lane *lane, uint64_t budget, bool only_posted, uint64_t now);

/* Executes the commands of a lane, as far as it goes now, for one turn. */
void mimicd_lane_drain(struct mimicd_lane *lane);
/* The same for all lanes of a client. false: the turn was over before; to be called again. */
bool mimicd_lanes_drain(struct mimicd_client *client);

/* The access of the command that is being executed waits in the device. */
void mimicd_lane_park(struct mimicd_lane *lane);
/* Takes the parked access of a lane back; it is tried again in a later round. */
void mimicd_lane_withdraw(struct mimicd_lane *lane);
/* Withdraws for good the command whose answers are due, or the next such one that is published. */
void mimicd_lane_cancel(struct mimicd_lane *lane);

#endif
