/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* /dev/mapleN and the answers of maple.ko. */
#ifndef MIMIC_TESTS_MAPLE_DEVICE_H
#define MIMIC_TESTS_MAPLE_DEVICE_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fake_daemon.h"
#include "memory.h"
#include "mimic/maple_ioctl.h"

/* The process's own counters; all 1s where the call failed. */
static inline struct maple_info maple_device_info(int fd)
{
	struct maple_info info = { .size = sizeof(info) };

	if (ioctl(fd, MAPLE_IOCTL_INFO, &info))
		info.faults = info.unresolved = info.shootdowns = ~0ull;
	return info;
}

/* A counter in sysfs. */
static inline unsigned long maple_device_count(const struct fake_daemon *daemon, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/mimic/devices/maple%d/%s", daemon->control->index, name);
	return memory_number(path);
}

#endif
