/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the parts of the contract harness; not for cases. */
#ifndef TESTS_CONTRACT_INTERNAL_H
#define TESTS_CONTRACT_INTERNAL_H

#include "tests/lib/contract.h"

void contract_use_bus(const struct bus *bus);

/*
 * Threads that each do one access at a time, on request. `perform` does it;
 * `prepare` runs first on each new thread and may be NULL.
 */
void bus_threads_start(void (*prepare)(void),
		       void (*perform)(struct mimic_access *access, bool watched));
void bus_threads_begin(enum bus_thread who, const struct mimic_access *access, bool watched);
bool bus_threads_is_over(enum bus_thread who, unsigned int patience, uint64_t *answer);
void bus_threads_sleep(unsigned int milliseconds);
void bus_threads_end(enum bus_thread who);
void bus_threads_stop(void);

#endif
