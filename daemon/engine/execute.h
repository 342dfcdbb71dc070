/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What moves commands from the lanes through the models and answers back. */
#ifndef MIMICD_EXECUTE_H
#define MIMICD_EXECUTE_H

#include "daemon/clients/session.h"

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
