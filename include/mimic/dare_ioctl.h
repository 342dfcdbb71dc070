/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ioctls of /dev/dare and /dev/dareN. mimic/accelerator_ioctl.h describes them; a DARE has
 * contexts. docs/abi.md has the nodes.
 *
 * Each open of a node is one context of the device: its registers are page 0 of the file, and there
 * is no other page. The context is the opener's until the file is closed and its last mapping is
 * gone. open: EBUSY, all contexts are in use, or sessions of the daemon's socket have the device;
 * EIO, no daemon serves it.
 */
#ifndef MIMIC_DARE_IOCTL_H
#define MIMIC_DARE_IOCTL_H

#include "mimic/accelerator_ioctl.h"

#define DARE_ABI_VERSION 1

/* pages: 1. */
struct dare_info {
	ACCELERATOR_INFO_FIELDS
	__u32 context;		/* out: its number; a session names it "dareN/CONTEXT" (docs/protocol.md) */
	__u32 contexts;		/* out: how many the device has */
	__u64 flags;		/* ACCELERATOR_INFO_PEEK or 0 */
	__u64 reserved[2];
};

struct dare_eventfd {
	ACCELERATOR_EVENTFD_FIELDS
	__u64 reserved[2];
};

struct dare_connect {
	ACCELERATOR_CONNECT_FIELDS
};

#define DARE_IOCTL 0xb8

#define DARE_IOCTL_INFO		_IOWR(DARE_IOCTL, 0, struct dare_info)
#define DARE_IOCTL_EVENTFD	_IOW(DARE_IOCTL, 1, struct dare_eventfd)
#define DARE_IOCTL_CONNECT	_IOWR(DARE_IOCTL, 2, struct dare_connect)

#endif
