/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads of the program at the registers of a cluster in time: their statistics. */
#ifndef MIMIC_VIRGO_TIME_PROGRAM_H
#define MIMIC_VIRGO_TIME_PROGRAM_H

#include "devices/virgo/time/timing.h"
#include "mimic/access.h"

enum virgo_program_wait {
	VIRGO_WAIT_BARRIER,
	VIRGO_WAIT_QUEUE,	/* a store, for room in a unit's queue */
	VIRGO_WAIT_UNIT,	/* a load of FENCE or WAIT_LOOPS */
};

struct virgo_program_thread {
	uint64_t owner;
	uint64_t since;
	enum virgo_program_wait wait;
};

struct virgo_program {
	struct virgo_program_thread waiting[VIRGO_TIME_THREADS_MAX];
	unsigned int count;
};

/* Cycles between the answer of this access and the thread that goes on; access may be NULL. */
uint64_t virgo_program_delay(const struct mimic_access *access, uint64_t barrier_cycles);
/* The access has come. */
void virgo_program_count(struct virgo_time_statistics *statistics, const struct mimic_access *access);
/* It waits from `now` on; and goes on. */
void virgo_program_waits(struct virgo_program *program, const struct mimic_access *access, uint64_t now);
void virgo_program_goes_on(struct virgo_program *program, struct virgo_time_statistics *statistics, uint64_t owner,
			   uint64_t now);

#endif
