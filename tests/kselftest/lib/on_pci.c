/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/on_pci.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool on_pci(const char *name)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/sys/bus/mimic/devices/%s", name);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return false;
	path[length] = 0;
	return strstr(path, "/pci");
}
