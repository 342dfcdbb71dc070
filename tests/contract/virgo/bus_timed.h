/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Virgo in virtual time as a way of the contract. */
#ifndef TESTS_VIRGO_BUS_TIMED_H
#define TESTS_VIRGO_BUS_TIMED_H

#include "tests/contract/harness.h"

extern const struct bus virgo_bus_timed;

#endif
