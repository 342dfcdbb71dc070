/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command of a lane that is being executed: its access, and the values of a store. */
#ifndef MIMICD_CURRENT_H
#define MIMICD_CURRENT_H

#include "daemon/engine/client.h"

/* Its access, but for the data. */
void mimicd_lane_access(const struct mimicd_lane *lane, struct mimic_access *pattern);
/* Copies payload out of the ring: the model's copy cannot change under it. */
void mimicd_lane_copy_payload(struct mimicd_lane *lane, uint64_t *values, uint64_t count);
/*
 * The same of a single store and those behind it in the ring that are the same, up to `limit`: a program's own stores
 * come so, and one call of the model fetches what all of them point to. Returns how many; 0 or -EPROTO.
 */
int64_t mimicd_lane_copy_singles(struct mimicd_lane *lane, uint64_t *values, uint64_t limit);

#endif
