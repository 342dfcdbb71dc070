/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/wakes.h"

#include <time.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/user.h"
#include "libmimic/base/clock.h"

/* Some hundred watches: no honest program has so many of one descriptor. Turns (turn.h) bound what is shorter. */
#define SLOW_NS 200000u
/* Wake-ups of one kind rest so many times as long as the slow one took: all kinds of a user have less than 1 %. */
#define REST 500u

static uint64_t work_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/*
 * The clock of a thread's work takes a system call, so it is looked at only when there is doubt. The other one goes on
 * while another program has the processor, such as the one that has been woken.
 */
void mimicd_wake_begin(struct mimicd_wake_clock *clock, const struct mimicd_user *user, enum mimicd_wake what)
{
	clock->begun = mimic_now();
	clock->work = clock->begun < user->rests[what].doubt_until ? work_now() : 0;
}

uint64_t mimicd_wake_end(const struct mimicd_wake_clock *clock, struct mimicd_user *user, enum mimicd_wake what)
{
	struct mimicd_wake_rest *rest = &user->rests[what];
	uint64_t now = mimic_now(), took = now - clock->begun, work;

	if (took < SLOW_NS)
		return took;
	/* Longer than the rest: one that is slow again behind it is not doubted. */
	if (rest->doubt_until < now + 2 * REST * took)
		rest->doubt_until = now + 2 * REST * took;
	work = clock->work ? work_now() - clock->work : 0;
	if (work >= SLOW_NS)
		rest->until = now + REST * work;
	return took;
}

bool mimicd_wakes_rest(struct mimicd_user *user, enum mimicd_wake what)
{
	struct mimicd_engine *engine = user->engine;
	uint64_t until = user->rests[what].until;

	if (!until)
		return false;
	if (mimic_now() >= until) {
		user->rests[what].until = 0;
		return false;
	}
	if (!engine->wakes_due || until < engine->wakes_due) {
		mimicd_timer_arm(&engine->wake_timer, until);
		engine->wakes_due = until;
	}
	return true;
}

bool mimicd_wakes_any_rest(const struct mimicd_user *user)
{
	uint64_t now = mimic_now();

	for (unsigned int i = 0; i < MIMICD_WAKES; i++) {
		if (user->rests[i].until > now || user->rests[i].doubt_until > now)
			return true;
	}
	return false;
}
