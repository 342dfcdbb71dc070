/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A store for a daemon that can be recovered (daemon/recovery/store.h), for tests in which no other daemon takes
 * over: it closes all that it gets.
 */
#ifndef TESTS_LOST_STORE_H
#define TESTS_LOST_STORE_H

#include <stdbool.h>

/* For daemons of this process, by a thread of it. */
bool lost_store_start(void);

#endif
