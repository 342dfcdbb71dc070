/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/stalls.h"

#include <sys/resource.h>

#include "daemon/engine/client.h"
#include "libmimic/base/clock.h"

/* All sleeps for a user are less than 1 % of the time. The longest known punch is some 10 s. */
#define PAUSE 100u
#define PAUSE_NS_MAX 3600000000000u
/* Sleeps that are so near to each other count as one. */
#define NEAR_NS 10000000u

static uint64_t pause_after(uint64_t took)
{
	return PAUSE * took < PAUSE_NS_MAX ? PAUSE * took : PAUSE_NS_MAX;
}

static void later(uint64_t *time, uint64_t than)
{
	if (*time < than)
		*time = than;
}

void mimicd_stalls_look(struct mimicd_shard *shard, uint64_t now)
{
	uint64_t took = now - shard->seen;

	if (now >= shard->stalls_until)
		shard->stalls_until = 0;
	/* Longer than the pause: the first sleep behind it is seen at once. */
	if (took >= MIMICD_STALL_NS)
		later(&shard->stalls_until, now + 2 * pause_after(took));
	shard->seen = now;
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

void mimicd_stall_begin_timed(struct mimicd_stall_clock *clock, struct mimicd_user *user)
{
	struct mimicd_shard *shard = user->shard;

	clock->begun = mimic_now();
	clock->user = user;
	clock->counted = shard->stalls_counted;
	clock->before = shard->stalls_user;
	shard->stalls_user = user;
	clock->is_of_suspect = clock->begun < user->throttles[MIMICD_STALL].suspect_until &&
			       count(&clock->switches, &clock->faults);
}

/*
 * It may be that other programs had the processor. A page for which the thread has slept counts as a fault, and the sleep
 * as a switch of the thread's own will. The system call for these is made for suspects only.
 */
void mimicd_stall_end_timed(const struct mimicd_stall_clock *clock)
{
	struct mimicd_user *user = clock->user;
	struct mimicd_shard *shard = user->shard;
	struct mimicd_wake_throttle *throttle = &user->throttles[MIMICD_STALL];
	uint64_t now = mimic_now(), took = now - clock->begun - (shard->stalls_counted - clock->counted);
	long switches, faults;

	shard->stalls_user = clock->before;
	shard->stalls_counted += took;
	if (clock->is_of_suspect && !(count(&switches, &faults) && switches != clock->switches && faults != clock->faults))
		return;
	if (clock->begun - user->stall_begun > NEAR_NS) {
		user->stall_begun = clock->begun;
		user->stall_ns = 0;
	}
	user->stall_ns += took;
	if (user->stall_ns < MIMICD_STALL_NS)
		return;
	took = user->stall_ns;
	user->stall_ns = 0;
	later(&shard->stalls_until, now + 2 * pause_after(took));
	later(&throttle->suspect_until, now + 2 * pause_after(took));
	if (clock->is_of_suspect)
		later(&throttle->until, now + pause_after(took));
}

bool mimicd_stall_puts_off(struct mimicd_user *user)
{
	if (!mimicd_wakes_throttled(user, MIMICD_STALL))
		return false;
	user->is_stalled = true;
	return true;
}

bool mimicd_stall_puts_off_access(struct mimicd_memory_slot *slot)
{
	if (!mimicd_stall_puts_off(slot->memory->user))
		return false;
	slot->is_stalled = slot->waits = true;
	return true;
}

/* --- afterwards ------------------------------------------------------------------------ */

void mimicd_stalls_go_on(struct mimicd_shard *shard)
{
	for (struct mimicd_user *user = shard->users; user; user = user->next) {
		if (user->is_stalled && !mimicd_wakes_throttled(user, MIMICD_STALL))
			shard->resumes = true;
	}
}

static struct mimicd_memory_slot *slot_of(const struct mimicd_device_slot *device)
{
	struct mimicd_instance *instance = device->instance;

	return instance->contexts ? &instance->contexts[device->context].memory : &instance->memory;
}

static bool resume_client(struct mimicd_client *client)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		struct mimicd_instance *instance = client->devices[i].instance;
		struct mimicd_memory_slot *slot = instance ? slot_of(&client->devices[i]) : NULL;

		if (!slot || !slot->is_stalled)
			continue;
		slot->is_stalled = false;
		mimicd_client_retry_device(client, instance);
		return true;
	}
	return false;
}

bool mimicd_stalls_resume(struct mimicd_shard *shard)
{
	struct mimicd_user *user = shard->users;

	for (; user; user = user->next) {
		if (!user->is_stalled || mimicd_wakes_throttled(user, MIMICD_STALL))
			continue;
		for (struct mimicd_client *client = user->clients; client; client = client->next_of_user) {
			if (resume_client(client))
				return true;
		}
		user->is_stalled = false;
		/* Devices whose ticks were left out. */
		shard->busy = true;
	}
	shard->resumes = false;
	return false;
}
