/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A second device of a daemon of the tests, /dev/maple20; and what sysfs says of the first. */
#ifndef KSELFTEST_ANOTHER_DEVICE_H
#define KSELFTEST_ANOTHER_DEVICE_H

#include "tests/kselftest/lib/fake_daemon.h"

#define ANOTHER_DEVICE "/dev/maple20"

/* For fake_daemon_call(), without an argument: its number, or -errno. */
long another_device_register(struct fake_self *self, void *unused);
/* For fake_daemon_call(): a uint32_t, its number. 0 or -errno. */
long another_device_unregister(struct fake_self *self, void *device);

/* `served` of the daemon's first device: '1' or '0'; '?': it cannot be read. */
int first_device_is_served(const struct fake_daemon *daemon);

#endif
