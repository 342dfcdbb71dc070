/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Set-up and tear-down of tests that have one DARE host, with something in its memory. */
#ifndef TESTS_DARE_SETUP_H
#define TESTS_DARE_SETUP_H

#include "tests/lib/dare_host.h"

extern struct dare_host *host;

int host_start(void **state);
int host_start_walking(void **state);
/* A page that is not there stalls the context. */
int host_start_stalling(void **state);
int host_start_stalling_identity(void **state);
int host_stop(void **state);

/* At most a matrix register. */
void assert_zero(const void *bytes, size_t size);

#endif
