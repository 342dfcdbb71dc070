/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The nodes of the function drivers. Raw system calls: inside a program under `mimic run`
 * the C library's open() and stat() show /dev/maple0 as the preload library
 * makes it up, and this library looks for the real one.
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
#include "mimic/dare_ioctl.h"
#include "mimic/maple_ioctl.h"
#include "mimic/virgo_ioctl.h"

#define NODES_MAX 255	/* minor 255 is /dev/maple */

/* The drivers' ioctls differ in their type; their structures are laid out alike. */
union info {
	struct maple_info maple;
	struct dare_info dare;
	struct virgo_info virgo;
};

_Static_assert(sizeof(struct maple_info) == sizeof(union info), "one layout");
_Static_assert(sizeof(struct dare_info) == sizeof(union info), "one layout");
_Static_assert(sizeof(struct virgo_info) == sizeof(union info), "one layout");
_Static_assert(offsetof(struct maple_info, reserved) == offsetof(struct dare_info, context), "one layout");
_Static_assert(offsetof(struct virgo_info, shared_size) == offsetof(struct dare_info, context), "one layout");
_Static_assert(sizeof(struct maple_connect) == sizeof(struct dare_connect), "one layout");
_Static_assert(sizeof(struct virgo_connect) == sizeof(struct dare_connect), "one layout");

static const struct {
	uint32_t version;
	unsigned long info, connect;
	unsigned long eventfd;	/* of events; 0: the kind has none */
} calls[MIMIC_KINDS_MAX] = {	/* in the order of devices/kinds.def */
	{ MAPLE_ABI_VERSION, MAPLE_IOCTL_INFO, MAPLE_IOCTL_CONNECT, 0 },
	{ DARE_ABI_VERSION, DARE_IOCTL_INFO, DARE_IOCTL_CONNECT, 0 },
	{ VIRGO_ABI_VERSION, VIRGO_IOCTL_INFO, VIRGO_IOCTL_CONNECT, VIRGO_IOCTL_EVENTFD },
};

uint32_t mimic_kernel_version(const struct mimic_kind *kind)
{
	return calls[mimic_kind_index(kind)].version;
}

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

static int node_info(int node, const struct mimic_kind *kind, struct mimic_kernel_info *info)
{
	union info answer = { .dare.size = sizeof(answer) };
	int error = (int)mimic_raw_syscall(SYS_ioctl, node, (long)calls[mimic_kind_index(kind)].info, (long)&answer, 0,
					   0, 0);

	if (error)
		return error;
	*info = (struct mimic_kernel_info){ .version = answer.dare.version, .index = answer.dare.index };
	if (kind->contexts)
		info->context = answer.dare.context;
	if (kind->memory_size)
		info->memory_size = answer.virgo.shared_size;
	return 0;
}

static int node_connect(int node, const struct mimic_kind *kind)
{
	struct dare_connect request = { .size = sizeof(request), .fd = -1 };
	int error = (int)mimic_raw_syscall(SYS_ioctl, node, (long)calls[mimic_kind_index(kind)].connect, (long)&request,
					   0, 0, 0);

	return error ? error : request.fd;
}

static int node_eventfd(int node, const struct mimic_kind *kind, int fd, uint64_t events)
{
	struct virgo_eventfd request = { .size = sizeof(request), .fd = fd, .events = events };

	if (!calls[mimic_kind_index(kind)].eventfd)
		return -ENXIO;
	return (int)mimic_raw_syscall(SYS_ioctl, node, (long)calls[mimic_kind_index(kind)].eventfd, (long)&request, 0,
				      0, 0);
}

struct mimic_kernel_nodes mimic_kernel_nodes = {
	.directory = "/dev",
	.open = node_open,
	.info = node_info,
	.connect = node_connect,
	.eventfd = node_eventfd,
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
