/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Accesses of shared memory that put the engine's thread to sleep.
 *
 * Trust boundary: a page that is being punched out, or that lies on a disk, is waited for in the kernel by the thread
 * that touches it. Memory is made immutable against punches (memory_fix.h), but not everywhere, and not
 * against those that the kernel has let in before. So when the engine's thread has stood still, accesses are
 * timed for a while, and a user whose memory makes the thread sleep is throttled: its devices wait as for
 * a page, 100 times as long as the thread slept.
 */
#ifndef MIMICD_STALLS_H
#define MIMICD_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/user.h"

/* A shorter one does not keep others from an answer within 2 ms (docs/security.md). */
#define MIMICD_STALL_NS 2000000u

/* Of one call of the memory port. */
struct mimicd_stall_clock {
	struct mimicd_user *user;	/* NULL: it is not timed */
	uint64_t begun;
	uint64_t waited;		/* the engine's count of waits for errands then */
	bool is_of_suspect;		/* these two are there */
	long switches, faults;
};

bool mimicd_stall_begin_timed(struct mimicd_stall_clock *clock, struct mimicd_memory_slot *slot);
void mimicd_stall_end_timed(const struct mimicd_stall_clock *clock);

/* false: its user is throttled. The access fails, and waits as for a page. By the holder of the engine's lock. */
static inline bool mimicd_stall_begin(struct mimicd_stall_clock *clock, struct mimicd_memory_slot *slot)
{
	const struct mimicd_memory *memory = slot->memory;

	clock->user = NULL;
	if (__builtin_expect(!memory || !memory->user || !memory->user->engine->stalls_until, 1))
		return true;
	return mimicd_stall_begin_timed(clock, slot);
}

static inline void mimicd_stall_end(const struct mimicd_stall_clock *clock)
{
	if (__builtin_expect(clock->user != NULL, 0))
		mimicd_stall_end_timed(clock);
}

/* The thread has been in one place for so long: an access may be why. */
void mimicd_stalls_look_for(struct mimicd_engine *engine, uint64_t took);
/* Accesses of users that are no longer throttled are made again. */
void mimicd_stalls_go_on(struct mimicd_engine *engine);

#endif
