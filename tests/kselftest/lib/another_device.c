/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/another_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

long another_device_register(struct fake_self *self, void *unused)
{
	struct mimic_bus_register wanted = {
		.size = sizeof(wanted), .kind = "maple", .index = 20, .pages = 5, .interrupts = 1,
	};

	(void)unused;
	return ioctl(self->fd, MIMIC_BUS_REGISTER, &wanted) ? -errno : (long)wanted.device;
}

long another_device_unregister(struct fake_self *self, void *device)
{
	struct mimic_bus_unregister wanted = { .size = sizeof(wanted), .device = *(uint32_t *)device };

	return ioctl(self->fd, MIMIC_BUS_UNREGISTER, &wanted) ? -errno : 0;
}

int first_device_is_served(const struct fake_daemon *daemon)
{
	char path[80], value = '?';
	int file;

	snprintf(path, sizeof(path), "/sys/bus/mimic/devices/maple%d/served", daemon->control->index);
	file = open(path, O_RDONLY);
	if (file < 0 || read(file, &value, 1) != 1)
		value = '?';
	if (file >= 0)
		close(file);
	return value;
}
