/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ioctls of /dev/dare and /dev/dareN, as dare.ko offers them. docs/abi.md has
 * the nodes.
 *
 * Each open of a node is one context of the device: its registers are page 0 of
 * the file, and there is no other page. The context is the opener's until the
 * file is closed and its last mapping is gone.
 *
 * Every structure starts with its size; reserved fields are 0 (EINVAL).
 */
#ifndef MIMIC_DARE_IOCTL_H
#define MIMIC_DARE_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DARE_ABI_VERSION 1

struct dare_info {
	__u32 size;
	__u32 version;		/* out: DARE_ABI_VERSION */
	__u32 index;		/* out: N of dareN */
	__u32 pages;		/* out: that this file has: 1 */
	__u64 identify;		/* out: the device's IDENTIFY register */
	__u64 faults;		/* out: page faults of this context that the driver served */
	__u64 unresolved;	/* out: those of addresses that are not the process's */
	__u64 shootdowns;	/* out: flushes of this context that were posted to the device */
	__u32 context;		/* out: its number; a session names it "dareN/CONTEXT" (docs/protocol.md) */
	__u32 contexts;		/* out: how many the device has */
	__u64 reserved[3];
};

/* Counts up by one at each fault of an address that is not the process's. */
struct dare_eventfd {
	__u32 size;
	__s32 fd;		/* an eventfd; -1: none any more */
	__u64 reserved[2];
};

struct dare_connect {
	__u32 size;
	__s32 fd;		/* out: a connected socket of docs/protocol.md, close-on-exec */
	__u64 reserved[2];
};

#define DARE_IOCTL 0xb8

/*
 * open: EBUSY, all contexts are in use, or sessions of the daemon's socket have
 * the device; EIO, no daemon serves it.
 *
 * Any ioctl: ENODEV, the device is gone, its daemon died since the open, or the
 * caller is not the process that opened it; EFAULT; EINVAL, E2BIG for the
 * structure.
 *
 * CONNECT: EIO, the daemon died; EMFILE; or what the daemon says.
 */
#define DARE_IOCTL_INFO		_IOWR(DARE_IOCTL, 0, struct dare_info)
#define DARE_IOCTL_EVENTFD	_IOW(DARE_IOCTL, 1, struct dare_eventfd)
#define DARE_IOCTL_CONNECT	_IOWR(DARE_IOCTL, 2, struct dare_connect)

#endif
