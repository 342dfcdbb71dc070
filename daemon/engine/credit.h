/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Credits (mimic_kind.credits) of a lane's thread, which asks for them by MIMIC_COMMAND_STORE_FOR_CREDIT. */
#ifndef MIMICD_CREDIT_H
#define MIMICD_CREDIT_H

#include "daemon/engine/client.h"

/* For the answer to the lane's current command. */
uint64_t mimicd_credit_left(const struct mimicd_lane *lane);
/*
 * Less than half of the queue is free, and another thread may be making room: the store is given to the device
 * when half is, or when nothing has become free for a while. If it were given at once, each word that is
 * consumed would let in one store, wake one thread and fetch one word from the program's memory.
 */
bool mimicd_credit_is_awaited(struct mimicd_lane *lane, uint64_t now);

#endif
