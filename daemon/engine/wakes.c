/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/wakes.h"

#include <time.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/user.h"
#include "libmimic/base/clock.h"

/* Some hundred watches: no honest program has so many of one descriptor. turn.h bounds shorter work. */
#define SLOW_NS 200000u
/* No other of its kind for so many times as long as the slow one took: a user has less than 1 % in all. */
#define PAUSE 500u
/* And no longer: a virtual machine may have stood still meanwhile. */
#define PAUSE_NS_MAX 30000000000u
/* The same of work for a message: one such is waited for in less than one of 100 cases. */
#define SLOW_WORK_NS 2000000u
#define WORK_PAUSE 100u

uint64_t mimicd_wakes_work_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/*
 * The clock of a thread's work takes a system call, so only a suspect's wake-ups are timed by it. The other one goes on
 * while another program has the processor, such as the one that has been woken.
 */
/* A thread that is held up by wake-ups of lanes, or by stalls, is one shard's. The rest is the loop's thread's. */
static bool is_of_shard(enum mimicd_wake what)
{
	return what == MIMICD_WAKE_LANE || what == MIMICD_STALL;
}

static struct mimicd_wake_throttle *throttle_of(struct mimicd_user *user, enum mimicd_wake what)
{
	if (is_of_shard(what))
		return &user->throttles[what];
	return &user->home->throttles[what];
}

void mimicd_wake_begin(struct mimicd_wake_clock *clock, struct mimicd_user *user, enum mimicd_wake what)
{
	clock->begun = mimic_now();
	clock->work = clock->begun < throttle_of(user, what)->suspect_until ? mimicd_wakes_work_now() : 0;
}

uint64_t mimicd_wake_end(const struct mimicd_wake_clock *clock, struct mimicd_user *user, enum mimicd_wake what)
{
	struct mimicd_wake_throttle *throttle = throttle_of(user, what);
	uint64_t now = mimic_now(), took = now - clock->begun, work;

	if (took < SLOW_NS || user->is_exempt)
		return took;
	/* Longer than the pause: the time of the first one behind it is our thread's at once. */
	if (throttle->suspect_until < now + 2 * PAUSE * took)
		throttle->suspect_until = now + 2 * PAUSE * took;
	work = clock->work ? mimicd_wakes_work_now() - clock->work : 0;
	if (work >= SLOW_NS)
		throttle->until = now + (PAUSE * work < PAUSE_NS_MAX ? PAUSE * work : PAUSE_NS_MAX);
	return took;
}

void mimicd_wakes_note_wait(struct mimicd_user *user, enum mimicd_wake what, uint64_t wait)
{
	struct mimicd_wake_throttle *throttle = throttle_of(user, what);
	uint64_t until = mimic_now() + WORK_PAUSE * wait;

	if (!user->is_exempt && throttle->until < until)
		throttle->until = until;
}

void mimicd_wakes_note_work(struct mimicd_user *user, enum mimicd_wake what, uint64_t work)
{
	if (work >= SLOW_WORK_NS)
		mimicd_wakes_note_wait(user, what, work);
}

bool mimicd_wakes_is_due(struct mimicd_engine *engine, uint64_t due)
{
	if (mimic_now() >= due)
		return true;
	if (!engine->wakes_due || due < engine->wakes_due) {
		mimicd_timer_arm(&engine->wake_timer, due);
		engine->wakes_due = due;
	}
	return false;
}

static bool is_due(struct mimicd_user *user, enum mimicd_wake what, uint64_t due)
{
	if (!is_of_shard(what) || user->home == user)
		return mimicd_wakes_is_due(user->engine, due);
	if (mimic_now() >= due)
		return true;
	mimicd_shard_note_due(user->shard, due);
	return false;
}

bool mimicd_wakes_throttled(struct mimicd_user *user, enum mimicd_wake what)
{
	uint64_t *until = &throttle_of(user, what)->until;

	if (!*until)
		return false;
	if (!is_due(user, what, *until))
		return true;
	*until = 0;
	return false;
}

bool mimicd_wakes_any_throttled(const struct mimicd_user *user)
{
	uint64_t now = mimic_now();

	for (unsigned int i = 0; i < MIMICD_WAKES; i++) {
		if (user->throttles[i].until > now || user->throttles[i].suspect_until > now)
			return true;
	}
	return false;
}
