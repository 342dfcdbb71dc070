/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DARE in virtual time as a way of the contract. A modelled SoC has one context, so each of
 * the process's handles has a device of its own, with the clock that they share.
 */
#ifndef TESTS_DARE_BUS_TIMED_H
#define TESTS_DARE_BUS_TIMED_H

#include "tests/contract/harness.h"

extern const struct bus dare_bus_timed;

/* Is it the way that the cases are on? */
bool dare_bus_is_timed(void);

#endif
