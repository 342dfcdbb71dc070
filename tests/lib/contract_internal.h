/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the parts of the contract harness; not for cases. */
#ifndef TESTS_CONTRACT_INTERNAL_H
#define TESTS_CONTRACT_INTERNAL_H

#include "tests/lib/contract_harness.h"

void contract_use_bus(const struct bus *bus);

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
