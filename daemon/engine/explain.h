/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Says in words why the thread of a lane waits. */
#ifndef MIMICD_EXPLAIN_H
#define MIMICD_EXPLAIN_H

#include "devices/text.h"

struct mimicd_lane;

/* Adds nothing if the lane has no command that is not over. */
void mimicd_lane_explain(struct mimicd_lane *lane, struct mimic_text *text);

#endif
