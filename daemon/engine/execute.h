/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What moves commands from the lanes through the models and answers back. */
#ifndef MIMICD_ENGINE_H
#define MIMICD_ENGINE_H

#include "daemon/clients/session.h"

/* Looks at every lane once, at jobs, the bus and busy devices. true: something was done. */
bool mimicd_engine_round(struct mimicd_server *server);
/* The lanes alone: what a worker does in the place of the engine's thread. */
bool mimicd_engine_round_lanes(struct mimicd_server *server);
/* Is there anything that a round would do? */
bool mimicd_engine_has_work(struct mimicd_server *server);

/* Executes what is posted on all lanes of a session, as far as it goes now. */
void mimicd_engine_drain(struct mimicd_session *session);
/* The same for one lane. */
void mimicd_engine_drain_lane(struct mimicd_lane *lane);

/* Takes the parked access of a lane back; it is tried again in a later round. */
void mimicd_engine_withdraw(struct mimicd_lane *lane);
/* Withdraws for good the command whose answers are due, or the next such one that is published. */
void mimicd_engine_cancel(struct mimicd_lane *lane);

/* Nothing is left on the lane that could have an effect. */
bool mimicd_engine_is_done(struct mimicd_lane *lane);

#endif
