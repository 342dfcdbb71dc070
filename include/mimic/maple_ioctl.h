/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ioctls of /dev/maple and /dev/mapleN. mimic/accelerator_ioctl.h describes them; a MAPLE has
 * neither contexts nor memory nor events. docs/abi.md has the nodes.
 */
#ifndef MIMIC_MAPLE_IOCTL_H
#define MIMIC_MAPLE_IOCTL_H

#include "mimic/accelerator_ioctl.h"

#define MAPLE_ABI_VERSION 1

/* identify: 0 in the artifact profile. */
struct maple_info {
	ACCELERATOR_INFO_FIELDS
	__u64 unused;
	__u64 flags;		/* ACCELERATOR_INFO_PEEK or 0 */
	__u64 reserved[2];
};

struct maple_eventfd {
	ACCELERATOR_EVENTFD_FIELDS
	__u64 reserved[2];
};

struct maple_connect {
	ACCELERATOR_CONNECT_FIELDS
};

#define MAPLE_IOCTL 0xb7

#define MAPLE_IOCTL_INFO	_IOWR(MAPLE_IOCTL, 0, struct maple_info)
#define MAPLE_IOCTL_EVENTFD	_IOW(MAPLE_IOCTL, 1, struct maple_eventfd)
#define MAPLE_IOCTL_CONNECT	_IOWR(MAPLE_IOCTL, 2, struct maple_connect)

#endif
