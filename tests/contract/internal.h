/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the parts of the contract harness; not for cases. */
#ifndef TESTS_CONTRACT_INTERNAL_H
#define TESTS_CONTRACT_INTERNAL_H

#include "tests/contract/harness.h"

#define EXIT_FAILED 1

/* The ways that every device has; the last one has no program. */
extern const struct contract_way contract_ways[];

/* The run of one process of a contract's program. */
struct contract_run {
	const struct contract_way *way;
	char name[64];			/* of the way, behind the device's title */
	const char *pattern;		/* a part of the names of cases; NULL: all */
	unsigned int profile;		/* 0: this is the outermost process */
	unsigned int number;		/* of the next case in the output */
	struct contract_exception exception;
	bool thins_sweeps;
};

unsigned int contract_count_cases(unsigned int profile, const struct contract_run *run);
/* All cases of the run's profile. 0, or EXIT_FAILED if one failed. */
int contract_run_cases(const struct contract_run *run);

void contract_use_way(const struct contract_way *way);
/* On this way a load that is not answered is made again (struct contract_way). */
bool loads_are_repeated(void);

/* One thing for a thread to do. */
struct bus_work {
	struct mimic_access access;	/* or the pattern of `values` */
	bool watched;
	const uint64_t *values;		/* to be stored, if there is a count */
	size_t count;
	void (*call)(void *argument);	/* this instead, if not NULL */
	void *argument;
};

/* Threads that each do one thing at a time, on request; `perform` does it. */
void bus_threads_start(void (*perform)(enum bus_thread who, struct bus_work *work));
void bus_threads_begin(enum bus_thread who, const struct mimic_access *access, bool watched);
void bus_threads_post(enum bus_thread who, const struct mimic_access *pattern, const uint64_t *values,
		      size_t count);
void bus_threads_call(enum bus_thread who, void (*function)(void *), void *argument);
bool bus_threads_is_over(enum bus_thread who, unsigned int patience, uint64_t *answer);
void bus_threads_sleep(unsigned int milliseconds);
void bus_threads_end(enum bus_thread who);
void bus_threads_stop(void);

#endif
