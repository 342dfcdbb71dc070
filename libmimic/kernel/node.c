/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The nodes of the function drivers. Raw system calls: inside a program under `mimic run`
 * the C library's open() and stat() show the nodes that the preload library makes up, and
 * this library needs the real ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "libmimic/base/kinds.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/kernel/kernel.h"
#include "mimic/accelerator_ioctl.h"

#define NODES_MAX 255	/* minor 255 is the node without a number */

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
	/* Opening a pipe in the place of the node would wait. */
	if (!S_ISCHR(status.st_mode))
		return -ENOTTY;
	return (int)mimic_raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC | O_NOCTTY, 0,
				      0, 0);
}

static int node_ioctl(int node, unsigned long command, void *structure)
{
	return (int)mimic_raw_syscall(SYS_ioctl, node, (long)command, (long)structure, 0, 0, 0);
}

static int node_info(int node, const struct mimic_kind *kind, struct mimic_kernel_info *info)
{
	/* The descriptor may be the program's, which poll() is to tell of faults afterwards, too. */
	struct accelerator_info answer = { .size = sizeof(answer), .flags = ACCELERATOR_INFO_PEEK };
	int error = node_ioctl(node, ACCELERATOR_IOCTL_INFO(kind->ioctl_type), &answer);

	/* A driver that is older than the flag. */
	if (error == -EINVAL) {
		answer.flags = 0;
		error = node_ioctl(node, ACCELERATOR_IOCTL_INFO(kind->ioctl_type), &answer);
	}
	if (error)
		return error;
	*info = (struct mimic_kernel_info){ .version = answer.version, .index = answer.index };
	if (kind->contexts)
		info->context = answer.context;
	if (kind->memory_size)
		info->memory_size = answer.memory_size;
	return 0;
}

static int node_connect(int node, const struct mimic_kind *kind)
{
	struct accelerator_connect request = { .size = sizeof(request), .fd = -1 };
	int error = node_ioctl(node, ACCELERATOR_IOCTL_CONNECT(kind->ioctl_type), &request);

	return error ? error : request.fd;
}

/* Of a kind without events an eventfd would count faults. */
static int node_eventfd(int node, const struct mimic_kind *kind, int fd, uint64_t events)
{
	struct accelerator_eventfd request = { .size = sizeof(request), .fd = fd, .events = events };

	if (!kind->take_events)
		return -ENXIO;
	return node_ioctl(node, ACCELERATOR_IOCTL_EVENTFD(kind->ioctl_type), &request);
}

static int node_lane(int node, const struct mimic_kind *kind, struct accelerator_lane *lane)
{
	return node_ioctl(node, ACCELERATOR_IOCTL_LANE(kind->ioctl_type), lane);
}

static int node_lane_call(int node, const struct mimic_kind *kind, const struct accelerator_lane_call *call)
{
	struct accelerator_lane_call copy = *call;

	return node_ioctl(node, ACCELERATOR_IOCTL_LANE_CALL(kind->ioctl_type), &copy);
}

struct mimic_kernel_nodes mimic_kernel_nodes = {
	.directory = "/dev",
	.open = node_open,
	.info = node_info,
	.connect = node_connect,
	.eventfd = node_eventfd,
	.lane = node_lane,
	.lane_call = node_lane_call,
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

static bool is_node(const char *kind, const char *number)
{
	struct stat status;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s%s", mimic_kernel_nodes.directory, kind, number);
	return status_of(path, &status) == 0 && S_ISCHR(status.st_mode) && has_device(&status);
}

static bool has_nodes(const char *kind)
{
	char number[16];

	/* The driver's own, as long as it is loaded: most machines are asked for one node only. */
	if (!is_node(kind, ""))
		return false;
	for (unsigned int i = 0; i < NODES_MAX; i++) {
		snprintf(number, sizeof(number), "%u", i);
		if (is_node(kind, number))
			return true;
	}
	return false;
}

bool mimic_kernel_is_there(const char *kind)
{
	if (kind)
		return has_nodes(kind);
	for (size_t i = 0; i < mimic_kind_count(); i++) {
		if (has_nodes(mimic_kinds[i]->name))
			return true;
	}
	return false;
}
