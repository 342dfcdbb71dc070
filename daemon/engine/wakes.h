/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What it takes to wake programs.
 *
 * Trust boundary: the kernel calls all that watch what we wake, in our thread, and how many
 * those are is the program's choice: 100,000 watches of one eventfd, or of a program's end of a socket,
 * take 50 ms. So we look at the clock, and a user with a slow wake-up rests: others have the time
 * before the next one.
 */
#ifndef MIMICD_WAKES_H
#define MIMICD_WAKES_H

#include <stdbool.h>
#include <stdint.h>

struct mimicd_user;

enum mimicd_wake {
	MIMICD_WAKE_EVENT,	/* an eventfd */
	MIMICD_WAKE_MESSAGE,	/* the other end of a socket: we send, or take what it has sent */
	MIMICD_WAKE_LANE,	/* a futex */
	MIMICD_WAKE_FILE,	/* a file of the state filesystem that is polled */
	MIMICD_WAKES
};

/* Of a user, for each of these. */
struct mimicd_wake_rest {
	uint64_t until;		/* 0: none */
	uint64_t doubt_until;	/* one has lasted long: was that work, or did others have the processor? */
};

/* Of one wake-up. */
struct mimicd_wake_clock {
	uint64_t begun;
	uint64_t work;		/* our thread's processor time then; 0: not looked at */
};

void mimicd_wake_begin(struct mimicd_wake_clock *clock, const struct mimicd_user *user, enum mimicd_wake what);
/* Returns how long it was. */
uint64_t mimicd_wake_end(const struct mimicd_wake_clock *clock, struct mimicd_user *user, enum mimicd_wake what);

/* No such wake-up of the user now. The loop wakes when there may be one: whoever has put something off looks again. */
bool mimicd_wakes_rest(struct mimicd_user *user, enum mimicd_wake what);
/* Is there any rest that has not ended? */
bool mimicd_wakes_any_rest(const struct mimicd_user *user);

#endif
