/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Throttles users whose shared memory puts the engine's thread to sleep.
 *
 * Trust boundary: a page that is being punched out, or that lies on a disk, is waited for in the kernel by
 * the thread that touches it. Memory is made immutable against punches (memory_fix.h), but not everywhere,
 * and not against those that the kernel has let in before. So when the engine's thread has stood still, work
 * for users is timed for a while, and a user for whom the thread slept is throttled: its lanes and devices
 * wait 100 times as long as the thread slept; contexts of a device that others have, too, wait as for a page.
 */
#ifndef MIMICD_STALLS_H
#define MIMICD_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/user.h"

/* Less, within 10 ms, does not keep others from an answer within 2 ms (docs/security.md). */
#define MIMICD_STALL_NS 2000000u

/* Of one piece of work: a run of a lane, a tick of a device, an access of memory. */
struct mimicd_stall_clock {
	struct mimicd_user *user;	/* NULL: it is not timed */
	uint64_t begun;
	uint64_t counted;		/* the shard's sum then: a piece within this one has its own clock */
	struct mimicd_user *before;	/* of the piece around it */
	bool is_of_suspect;		/* switches and faults are known */
	long switches, faults;
};

void mimicd_stall_begin_timed(struct mimicd_stall_clock *clock, struct mimicd_user *user);
void mimicd_stall_end_timed(const struct mimicd_stall_clock *clock);
/* Is the user throttled? Then the loop runs again when that is over, and does the work that was put off. */
bool mimicd_stall_puts_off(struct mimicd_user *user);
/* An access of the slot's is put off: it fails, and waits as for a page. */
bool mimicd_stall_puts_off_access(struct mimicd_memory_slot *slot);

/* NULL: of nobody's. */
static inline bool mimicd_stall_is_looked_for(const struct mimicd_user *user)
{
	return __builtin_expect(user && user->shard->stalls_until && !user->is_exempt, 0);
}

static inline void mimicd_stall_begin(struct mimicd_stall_clock *clock, struct mimicd_user *user)
{
	clock->user = NULL;
	if (mimicd_stall_is_looked_for(user))
		mimicd_stall_begin_timed(clock, user);
}

/* false: it is put off. By the holder of the engine's lock. */
static inline bool mimicd_stall_begin_access(struct mimicd_stall_clock *clock, struct mimicd_memory_slot *slot)
{
	clock->user = NULL;
	if (!slot->memory || !mimicd_stall_is_looked_for(slot->memory->user))
		return true;
	if (slot->can_wait && mimicd_stall_puts_off_access(slot))
		return false;
	if (slot->memory->user != slot->memory->user->shard->stalls_user)
		mimicd_stall_begin_timed(clock, slot->memory->user);
	return true;
}

static inline void mimicd_stall_end(const struct mimicd_stall_clock *clock)
{
	if (__builtin_expect(clock->user != NULL, 0))
		mimicd_stall_end_timed(clock);
}

/* The thread reads the clock: `now`. Memory that users share may be the reason of a leap. */
void mimicd_stalls_look(struct mimicd_shard *shard, uint64_t now);
/* Users may no longer be throttled. */
void mimicd_stalls_go_on(struct mimicd_shard *shard);
/* Makes the accesses of one device again that were put off. false: there are none, of users that are not throttled. */
bool mimicd_stalls_resume(struct mimicd_shard *shard);

#endif
