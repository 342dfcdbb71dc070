/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Tests of DARE that run once on the embedded transport and once through a daemon of their own. */
#ifndef TESTS_DARE_TRANSPORTS_H
#define TESTS_DARE_TRANSPORTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above */
#include <cmocka.h>

#include "tests/lib/dare_context.h"

/* How the device is opened now: there are dare0 and dare1. */
extern const struct mimic_options *transport_options;

struct mimic_device *open_or_fail(const char *name);
/* 0 or -errno; it is not left open. */
int try_open(const char *name);

/* How many tests failed. */
int run_on_both_transports(const struct CMUnitTest *tests, size_t count);

#endif
