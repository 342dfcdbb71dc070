/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/turn.h"

bool mimicd_lane_is_blocked(const struct mimicd_lane *lane)
{
	if (lane->thread->bound && lane->thread->bound->trap)
		return true;
	return lane->remaining && lane->target && lane->target->instance->injection.hangs;
}

struct mimicd_lane *mimicd_lane_find_ordered(const struct mimicd_lane *lane, uint64_t word)
{
	struct mimicd_lane *other = lane->client->lanes;

	while (other && other->number % MIMIC_LANE_NUMBERS != mimic_lane_order_lane(word))
		other = other->next;
	return other;
}

bool mimicd_lane_may_go_on(const struct mimicd_lane *lane)
{
	const struct mimicd_lane *other = mimicd_lane_find_ordered(lane, lane->follows);

	return !other || other == lane ||
	       mimic_lane_order_distance(lane->follows, other->commands.position) <= 0;
}

bool mimicd_lane_has_work(struct mimicd_lane *lane)
{
	if (lane->parked || lane->client->broken || mimicd_lane_is_blocked(lane))
		return false;
	if (lane->thread->parked && !(lane->level >= lane->thread->parked->level &&
				      !lane->thread->parked->retired))
		return false;
	if (lane->follows && !mimicd_lane_may_go_on(lane))
		return false;
	if (lane->remaining && !mimicd_is_store(lane->command.kind))
		return true;
	return mimic_ring_level(&lane->commands, 1) != 0;
}

bool mimicd_lane_is_done(struct mimicd_lane *lane)
{
	struct mimic_command command;
	uint64_t word;

	if (lane->parked || (lane->remaining && !lane->retired))
		return false;
	if (mimic_ring_level(&lane->commands, 1) <= 0)
		return true;
	if (!lane->retired)
		return false;
	/* The answers of the command have no reader any more, and no command comes after it. */
	if (lane->remaining)
		return mimicd_has_answers(lane->command.kind);
	word = mimic_ring_get(&lane->commands, 0);
	if (mimic_lane_is_order(word))
		return false;
	return !mimic_command_unpack(word, &command) || mimicd_has_answers(command.kind);
}
