/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A daemon with devices for virtual machines, and one machine's side of a device's socket. For cmocka programs. */
#ifndef TESTS_VFIO_FIXTURE_H
#define TESTS_VFIO_FIXTURE_H

#include "tests/lib/vfio_guest.h"

extern struct served vfio_served;	/* the program's setup starts it */
extern struct guest vfio_guest;	/* each test starts it */

/* The teardown of the program, which gets the daemon's exit status, and that of each test. */
int vfio_fixture_end(void **state);
int vfio_fixture_end_guest(void **state);

#endif
