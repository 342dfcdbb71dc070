/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ioctls of /dev/maple and /dev/mapleN, as maple.ko offers them. docs/abi.md
 * has the nodes, the mmap offsets and the states of an instance.
 *
 * Every structure starts with its size; reserved fields are 0 (EINVAL).
 */
#ifndef MIMIC_MAPLE_IOCTL_H
#define MIMIC_MAPLE_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MAPLE_ABI_VERSION 1

struct maple_info {
	__u32 size;
	__u32 version;		/* out: MAPLE_ABI_VERSION */
	__u32 index;		/* out: N of mapleN */
	__u32 pages;		/* out */
	__u64 identify;		/* out: the device's IDENTIFY register, 0 in the artifact profile */
	__u64 faults;		/* out: page faults of the device that the driver served for this process */
	__u64 unresolved;	/* out: those of addresses that are not the process's */
	__u64 shootdowns;	/* out: flushes that were posted to the device */
	__u64 reserved[4];
};

/* Counts up by one at each fault of an address that is not the process's. */
struct maple_eventfd {
	__u32 size;
	__s32 fd;		/* an eventfd; -1: none any more */
	__u64 reserved[2];
};

struct maple_connect {
	__u32 size;
	__s32 fd;		/* out: a connected socket of docs/protocol.md, close-on-exec */
	__u64 reserved[2];
};

#define MAPLE_IOCTL 0xb7

/*
 * Any of them: ENODEV, the device is gone, its daemon died since the open, or
 * the caller is not the process that opened it; EFAULT; EINVAL, E2BIG for the
 * structure.
 *
 * CONNECT: EIO, the daemon died; EMFILE; or what the daemon says.
 */
#define MAPLE_IOCTL_INFO	_IOWR(MAPLE_IOCTL, 0, struct maple_info)
#define MAPLE_IOCTL_EVENTFD	_IOW(MAPLE_IOCTL, 1, struct maple_eventfd)
#define MAPLE_IOCTL_CONNECT	_IOWR(MAPLE_IOCTL, 2, struct maple_connect)

#endif
