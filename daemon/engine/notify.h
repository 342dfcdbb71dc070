/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_LANE_NOTIFY_H
#define MIMICD_LANE_NOTIFY_H

#include "daemon/engine/client.h"

/* Wakes the lane's program if it sleeps for an answer, or for room, that is there. */
void mimicd_lane_notify(struct mimicd_lane *lane);

#endif
