/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The time that it takes to wake programs.
 *
 * Trust boundary: a wake-up calls all watches of the descriptor, in our thread, and a program chooses
 * their number: 100,000 watches of one eventfd, or of a program's end of a socket, take 50 ms. So each
 * wake-up is timed, and a user with a slow one is throttled: others have the time before its next one.
 */
#ifndef MIMICD_WAKES_H
#define MIMICD_WAKES_H

#include <stdbool.h>
#include <stdint.h>

struct mimicd_engine;
struct mimicd_user;

enum mimicd_wake {
	MIMICD_WAKE_EVENT,	/* an eventfd */
	MIMICD_WAKE_MESSAGE,	/* the other end of a socket: we send, or take the bytes that it has sent */
	MIMICD_WAKE_LANE,	/* a futex */
	MIMICD_WAKE_FILE,	/* a file of the state filesystem that is polled */
	MIMICD_STALL,		/* no wake-up: work for the user, in which the thread slept (stalls.h) */
	MIMICD_WAKES
};

/* Of a user, for each of these. */
struct mimicd_wake_throttle {
	uint64_t until;		/* 0: it is not throttled */
	uint64_t suspect_until;	/* one has lasted long: was that work, or did others have the processor? */
};

/* Of one wake-up. */
struct mimicd_wake_clock {
	uint64_t begun;
	uint64_t work;		/* our thread's processor time then; 0: not looked at */
};

void mimicd_wake_begin(struct mimicd_wake_clock *clock, struct mimicd_user *user, enum mimicd_wake what);
/* Returns how long it was. */
uint64_t mimicd_wake_end(const struct mimicd_wake_clock *clock, struct mimicd_user *user, enum mimicd_wake what);

/* Processor time of this thread. */
uint64_t mimicd_wakes_work_now(void);
/*
 * A message of the user had us work for so long. If that is longer than others are to wait, the user is
 * throttled as after a slow wake-up, but for a shorter time: honest programs ask for such texts, too.
 */
void mimicd_wakes_note_work(struct mimicd_user *user, enum mimicd_wake what, uint64_t work);
/* The same however short it was: the user can have it again and again, as a wait for one of its jobs. */
void mimicd_wakes_note_wait(struct mimicd_user *user, enum mimicd_wake what, uint64_t wait);

/*
 * The user may have no such wake-up now. When it may have one again, the loop runs, and each module that has
 * put something off for this reason is called.
 */
bool mimicd_wakes_throttled(struct mimicd_user *user, enum mimicd_wake what);
/* Has the time come? If not, the loop runs when it has. */
bool mimicd_wakes_is_due(struct mimicd_engine *engine, uint64_t due);
/* Is the user throttled, or suspect, for any kind of wake-up? */
bool mimicd_wakes_any_throttled(const struct mimicd_user *user);

#endif
