/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ioctls of /dev/virgo and /dev/virgoN, as virgo.ko offers them. docs/abi.md has
 * the nodes.
 *
 * A cluster belongs to one process. Its registers are pages 0 and 1 of the file,
 * its shared memory begins at VIRGO_SHARED_OFFSET (mimic/virgo_registers.h); both
 * are mapped MAP_SHARED. The memory is all zeros when a process opens the cluster
 * that did not have it.
 *
 * Every structure starts with its size; reserved fields are 0 (EINVAL).
 */
#ifndef MIMIC_VIRGO_IOCTL_H
#define MIMIC_VIRGO_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VIRGO_ABI_VERSION 1

struct virgo_info {
	__u32 size;
	__u32 version;		/* out: VIRGO_ABI_VERSION */
	__u32 index;		/* out: N of virgoN */
	__u32 pages;		/* out: of registers */
	__u64 identify;		/* out: the device's IDENTIFY register */
	__u64 faults;		/* out: page faults of the units that the driver served for this process */
	__u64 unresolved;	/* out: those of addresses that are not the process's */
	__u64 shootdowns;	/* out: flushes that were posted to the device */
	__u64 shared_size;	/* out: bytes of shared memory, from VIRGO_SHARED_OFFSET on */
	__u64 reserved[3];
};

/*
 * Counts up by one each time one or more of `events` (VIRGO_EVENT_*) have happened
 * since the last time, and clears them in the device. Other bits of EVENT_STATUS are
 * left alone. A cluster has one: another EVENTFD takes its place, and it ends with
 * the file that it was set on. The driver stores EVENT_ENABLE for it, so a program
 * that stores to that register itself changes what is counted.
 */
struct virgo_eventfd {
	__u32 size;
	__s32 fd;		/* an eventfd; -1: none any more */
	__u64 events;		/* 0: none any more */
	__u64 reserved[1];
};

struct virgo_connect {
	__u32 size;
	__s32 fd;		/* out: a connected socket of docs/protocol.md, close-on-exec */
	__u64 reserved[2];
};

#define VIRGO_IOCTL 0xb9

/*
 * open: EBUSY, another process has the cluster; EIO, no daemon serves it.
 *
 * Any ioctl: ENODEV, the device is gone, its daemon died since the open, or the
 * caller is not the process that opened it; EFAULT; EINVAL, E2BIG for the
 * structure.
 *
 * EVENTFD: EBADF, EINVAL, no eventfd; EINVAL, there is no such event; EIO,
 * ETIMEDOUT, the daemon does not answer.
 *
 * CONNECT: EIO, the daemon died; EMFILE; or what the daemon says.
 */
#define VIRGO_IOCTL_INFO	_IOWR(VIRGO_IOCTL, 0, struct virgo_info)
#define VIRGO_IOCTL_EVENTFD	_IOW(VIRGO_IOCTL, 1, struct virgo_eventfd)
#define VIRGO_IOCTL_CONNECT	_IOWR(VIRGO_IOCTL, 2, struct virgo_connect)

#endif
