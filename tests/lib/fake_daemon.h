/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A daemon that is a thread of the test, for one program at a time, that has each device: it is away when the
 * test says so, and replies twice. A load answers how many loads there were before.
 */
#ifndef TESTS_FAKE_DAEMON_H
#define TESTS_FAKE_DAEMON_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/lib/daemon_fixture.h"

#define FAKE_DAEMON_LANES 16

struct fake_daemon {
	/* As its HELLO says; set before fake_daemon_start(). */
	uint32_t recovery_seconds;
	uint32_t pid;
	uint32_t spin_microseconds;	/* 0: as a daemon's by default */
	/* Changed at any time. */
	atomic_bool away;		/* it reads neither messages nor lanes */
	atomic_bool silent;		/* loads stay in their lanes */
	atomic_uint spin_most;		/* as lanes say that are made from now on */
	atomic_uint copies;		/* of each reply but HELLO's, beyond the first */
	/* Its own. */
	char directory[64];
	char socket[96];
	int listener, client, event;
	struct raw_lane lanes[FAKE_DAEMON_LANES];
	int files[FAKE_DAEMON_LANES];	/* of the lanes, until the program goes */
	atomic_uint lane_count;
	uint64_t loads;
	atomic_bool stops;
	pthread_t thread;
};

/* false: no socket. */
bool fake_daemon_start(struct fake_daemon *daemon);
/* Hangs up. */
void fake_daemon_end(struct fake_daemon *daemon);

#endif
