/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/credit.h"

#include "daemon/engine/current.h"

/* Without progress of the thread that makes room, which loads a word in a microsecond if it is at it. */
#define PATIENCE_NS 50000u

static unsigned int credits_of(const struct mimicd_lane *lane, unsigned int *most)
{
	struct mimic_access store;

	mimicd_lane_access(lane, &store);
	return lane->target->instance->kind->credits->left(lane->target->model, &store, most);
}

uint64_t mimicd_credit_left(const struct mimicd_lane *lane)
{
	unsigned int most;

	if (lane->command.kind != MIMIC_COMMAND_STORE_FOR_CREDIT || !lane->target ||
	    !lane->target->instance->kind->credits)
		return 0;
	return credits_of(lane, &most);
}

bool mimicd_credit_is_awaited(struct mimicd_lane *lane, uint64_t now)
{
	struct mimicd_credit_wait *wait = &lane->credit_wait;
	unsigned int most, left;

	if (lane->command.kind != MIMIC_COMMAND_STORE_FOR_CREDIT || !lane->target->instance->kind->credits)
		return false;
	left = credits_of(lane, &most);
	if (!most || left >= most / 2 || (wait->until && left <= wait->left && now >= wait->until)) {
		wait->until = 0;
		return false;
	}
	if (!wait->until || left > wait->left)
		*wait = (struct mimicd_credit_wait){ now + PATIENCE_NS, left };
	return true;
}
