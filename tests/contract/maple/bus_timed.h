/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A MAPLE in virtual time as a way of the contract: a thread's next access comes as soon
 * as its core could send it, even while the device still works.
 */
#ifndef TESTS_BUS_TIMED_H
#define TESTS_BUS_TIMED_H

#include "tests/contract/harness.h"

extern const struct bus bus_timed;
/* With a TLB that walks before memory. */
extern const struct bus bus_timed_walks;

#endif
