/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The processes that do the work (kill_work.h) while mimicd is killed. */
#ifndef TESTS_SOAK_KILL_PROGRAMS_H
#define TESTS_SOAK_KILL_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/soak/kill_times.h"
#include "tests/soak/kill_work.h"

#define KILL_LONGEST 5u

struct kill_stall {
	const char *program;
	const char *step;	/* whose answer ended it */
	uint64_t nanoseconds;
};

/* The reason why programs take their time to the answer that is waited for. */
enum kill_phase {
	KILL_STARTS,	/* nothing that is reported */
	KILL_CALM,	/* nobody kills mimicd */
	KILL_STALLS,
};

struct kill_program {
	const struct kill_work *work;
	struct kill_slot *slot;
	pid_t pid;		/* -1: it has ended, and was waited for */
	struct kill_times stalls;
	struct kill_times waits;	/* as long as it takes to its next answer while mimicd is let alone */
	const struct kill_result *expected;	/* of its variants */
};

struct kill_programs {
	struct kill_program *program;
	unsigned int count;
	const char *transport;	/* by which they reach the daemon; NULL: its socket */
	const char *broken;	/* the work that is made to give one wrong result; NULL: none */
	enum kill_phase phase;
	struct kill_stall longest[KILL_LONGEST];
	char error[800];	/* the reason, after false */
};

/* One of each work, or of those that `only` names ("maple,dare"; NULL: all); with what an undisturbed device gives. */
bool kill_programs_make(struct kill_programs *programs, const char *only, unsigned int kills, unsigned int calm);
bool kill_programs_start(struct kill_programs *programs, const char *socket);
/* false: one has failed or ended. */
bool kill_programs_are_well(struct kill_programs *programs);
/*
 * Waits until each has had an answer after `when`, and adds its stall, or its wait, since then. A program that is dead or
 * has none in so long is an error.
 */
bool kill_programs_await(struct kill_programs *programs, uint64_t when, unsigned int milliseconds);
/* Lets each complete its round. false: one does not end, or has complete none. */
bool kill_programs_stop(struct kill_programs *programs, unsigned int milliseconds);
/* Ends those that are still there. */
void kill_programs_end(struct kill_programs *programs);
uint64_t kill_programs_rounds(const struct kill_programs *programs);

#endif
