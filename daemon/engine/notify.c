/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Wakes programs that sleep for an answer, or for room in a ring. */
#include "daemon/engine/notify.h"

#include "daemon/engine/engine.h"
#include "daemon/loop/closer.h"
#include "libmimic/base/wait.h"

/*
 * The kernel goes through all that wait for any futex of the same hash value, and those may be any user's: a user that
 * is throttled need not have made them slow. So threads beside the loop go on with its wake-ups.
 */
static void wake_by_futex(struct mimicd_lane *lane)
{
	struct mimicd_user *user = lane->client->user;
	struct mimicd_wake_clock clock;

	if (mimicd_wakes_throttled(user, MIMICD_WAKE_LANE)) {
		mimicd_closer_wake(user->engine->loop->closer, user->uid, &lane->memory->client_sleeping);
		return;
	}
	mimicd_wake_begin(&clock, user, MIMICD_WAKE_LANE);
	mimic_futex_wake(&lane->memory->client_sleeping, 1, MIMIC_FUTEX_SHARED);
	mimicd_wake_end(&clock, user, MIMICD_WAKE_LANE);
}

/* They have much to do for the user already; it is asked again later. */
static bool must_wait(struct mimicd_lane *lane)
{
	struct mimicd_user *user = lane->client->user;

	return !lane->client->ops->wake && mimicd_wakes_throttled(user, MIMICD_WAKE_LANE) &&
	       mimicd_closer_backlog(user->engine->loop->closer, user->uid) > MIMICD_CLOSER_BACKLOG / 2;
}

void mimicd_lane_notify(struct mimicd_lane *lane)
{
	uint32_t sleeping;
	uint64_t used;

	/* The step's commit does it. */
	if (lane->has_changed)
		return;
	/* Pairs with the fence of the client between its flag and its last reading of the rings. */
	mimic_lane_fence();
	sleeping = atomic_load_explicit(&lane->memory->client_sleeping, memory_order_relaxed);
	if (sleeping == MIMIC_LANE_AWAKE || lane->retired)
		return;
	if (sleeping == MIMIC_LANE_WAITS_FOR_ANSWER && !lane->answered)
		return;
	if (sleeping == MIMIC_LANE_WAITS_FOR_ROOM) {
		used = atomic_load_explicit(&lane->commands.ring->head, memory_order_relaxed) -
		       lane->commands.position;
		/* Each wake-up costs us microseconds: once per half a ring, not once per chunk. */
		if (used > (lane->commands.mask + 1) / 2)
			return;
	}
	if (must_wait(lane))
		return;
	lane->answered = false;
	atomic_store_explicit(&lane->memory->client_sleeping, MIMIC_LANE_AWAKE, memory_order_relaxed);
	if (lane->client->ops->wake)
		lane->client->ops->wake(lane);
	else
		wake_by_futex(lane);
}
