/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The files of a daemon with a state filesystem, and maple0 of it. For cmocka programs. */
#ifndef TESTS_STATE_MOUNTED_H
#define TESTS_STATE_MOUNTED_H

#include <stdbool.h>

#include "tests/lib/daemon_device.h"
#include "tests/lib/state_mount.h"

extern struct state_mount mounted;

/* They do nothing where nothing can be mounted; STATE_TEST leaves the test out there. */
int mounted_setup(void **state);
int mounted_teardown(void **state);
#define STATE_TEST(name) \
	static void name##_or_skip(void **unused) { if (!state_can_mount()) skip(); else name(unused); }
#define STATE_ENTRY(name) { #name, name##_or_skip, mounted_setup, mounted_teardown, NULL },

/* Says which file it was when it fails. */
void assert_file(const char *file, const char *expected);
/* Below devices/. */
bool is_there(const char *format, ...) __attribute__((format(printf, 1, 2)));
int open_file(const char *file, int flags);

#endif
