/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The nodes of maple.ko. Raw system calls: inside a program under `mimic run`
 * the C library's open() and stat() show /dev/maple0 as the preload library
 * makes it up, and this library looks for the real one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "libmimic/kernel.h"
#include "libmimic/raw_syscall.h"

#define NODES_MAX 255	/* minor 255 is /dev/maple */

static int status_of(const char *path, struct stat *status)
{
	return (int)mimic_raw_syscall(SYS_newfstatat, AT_FDCWD, (long)path, (long)status, 0, 0, 0);
}

static int node_open(const char *path)
{
	struct stat status;
	int error = status_of(path, &status);

	if (error)
		return error;
	/* Opening a pipe that somebody put there would wait. */
	if (!S_ISCHR(status.st_mode))
		return -ENOTTY;
	return (int)mimic_raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC | O_NOCTTY, 0,
				      0, 0);
}

static int node_info(int node, struct maple_info *info)
{
	*info = (struct maple_info){ .size = sizeof(*info) };
	return (int)mimic_raw_syscall(SYS_ioctl, node, MAPLE_IOCTL_INFO, (long)info, 0, 0, 0);
}

static int node_connect(int node)
{
	struct maple_connect request = { .size = sizeof(request), .fd = -1 };
	int error = (int)mimic_raw_syscall(SYS_ioctl, node, MAPLE_IOCTL_CONNECT, (long)&request, 0, 0, 0);

	return error ? error : request.fd;
}

struct mimic_kernel_nodes mimic_kernel_nodes = {
	.directory = "/dev",
	.open = node_open,
	.info = node_info,
	.connect = node_connect,
};

/* A node that mknod left behind has no device. */
static bool has_device(const struct stat *status)
{
	struct stat ignored;
	char path[64];

	if (status_of("/sys/dev/char", &ignored))
		return true;	/* no sysfs to ask */
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u", major(status->st_rdev), minor(status->st_rdev));
	return status_of(path, &ignored) == 0;
}

static bool is_node(const char *number)
{
	struct stat status;
	char path[128];

	snprintf(path, sizeof(path), "%s/maple%s", mimic_kernel_nodes.directory, number);
	return status_of(path, &status) == 0 && S_ISCHR(status.st_mode) && has_device(&status);
}

bool mimic_kernel_is_there(void)
{
	char number[16];

	/* The driver's own, as long as it is loaded: most machines are asked for one node only. */
	if (!is_node(""))
		return false;
	for (unsigned int i = 0; i < NODES_MAX; i++) {
		snprintf(number, sizeof(number), "%u", i);
		if (is_node(number))
			return true;
	}
	return false;
}
