/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/stalls.h"

#include <sys/resource.h>

#include "daemon/engine/client.h"
#include "daemon/engine/program.h"
#include "libmimic/base/clock.h"

/* All stalls of a user are less than 1 % of the time. */
#define PAUSE 100u
#define PAUSE_NS_MAX 30000000000u

static uint64_t pause_after(uint64_t took)
{
	return PAUSE * took < PAUSE_NS_MAX ? PAUSE * took : PAUSE_NS_MAX;
}

void mimicd_stalls_look_for(struct mimicd_engine *engine, uint64_t took)
{
	/* Longer than the pause: the first stall behind it is seen at once. */
	uint64_t until = mimic_now() + 2 * pause_after(took);

	if (engine->stalls_until < until)
		engine->stalls_until = until;
}

/* false: this kernel does not count by threads. */
static bool count(long *switches, long *faults)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return false;
	*switches = usage.ru_nvcsw;
	*faults = usage.ru_minflt + usage.ru_majflt;
	return true;
}

bool mimicd_stall_begin_timed(struct mimicd_stall_clock *clock, struct mimicd_memory_slot *slot)
{
	struct mimicd_user *user = slot->memory->user;
	struct mimicd_engine *engine = user->engine;

	clock->begun = mimic_now();
	if (clock->begun >= engine->stalls_until) {
		engine->stalls_until = 0;
		return true;
	}
	if (!slot->can_wait || mimicd_may_manage(user->uid))
		return true;
	if (mimicd_wakes_throttled(user, MIMICD_STALL)) {
		user->is_stalled = slot->waits = true;
		return false;
	}
	clock->user = user;
	clock->waited = engine->waited_ns;
	clock->is_of_suspect = clock->begun < user->throttles[MIMICD_STALL].suspect_until &&
			       count(&clock->switches, &clock->faults);
	return true;
}

/*
 * It may be that other programs had the processor. A page for which the thread has slept counts as a fault, and the sleep
 * as a switch of the thread's own will. The system call for these is made for suspects only.
 */
void mimicd_stall_end_timed(const struct mimicd_stall_clock *clock)
{
	struct mimicd_user *user = clock->user;
	struct mimicd_wake_throttle *throttle = &user->throttles[MIMICD_STALL];
	uint64_t now = mimic_now(), took = now - clock->begun - (user->engine->waited_ns - clock->waited);
	long switches, faults;

	if (took < MIMICD_STALL_NS)
		return;
	mimicd_stalls_look_for(user->engine, took);
	if (throttle->suspect_until < now + 2 * pause_after(took))
		throttle->suspect_until = now + 2 * pause_after(took);
	if (clock->is_of_suspect && count(&switches, &faults) && switches != clock->switches && faults != clock->faults)
		throttle->until = now + pause_after(took);
}

void mimicd_stalls_go_on(struct mimicd_engine *engine)
{
	for (struct mimicd_user *user = engine->users; user; user = user->next) {
		if (!user->is_stalled || mimicd_wakes_throttled(user, MIMICD_STALL))
			continue;
		user->is_stalled = false;
		for (struct mimicd_client *client = user->clients; client; client = client->next_of_user)
			mimicd_client_retry(&client->memory);
	}
}
