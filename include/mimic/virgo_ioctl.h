/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ioctls of /dev/virgo and /dev/virgoN. mimic/accelerator_ioctl.h describes them; a Virgo has
 * memory and events. docs/abi.md has the nodes.
 *
 * A cluster belongs to one process. Its registers are pages 0 and 1 of the file, its shared memory
 * begins at VIRGO_SHARED_OFFSET (mimic/virgo_registers.h); both are mapped MAP_SHARED. The memory is
 * all zeros when a process opens the cluster that did not have it. open: EBUSY, another process has
 * the cluster; EIO, no daemon serves it.
 *
 * EVENTFD: the driver stores EVENT_ENABLE for it, so a program that stores to that register itself
 * changes which events are counted.
 */
#ifndef MIMIC_VIRGO_IOCTL_H
#define MIMIC_VIRGO_IOCTL_H

#include "mimic/accelerator_ioctl.h"

#define VIRGO_ABI_VERSION 1

struct virgo_info {
	ACCELERATOR_INFO_FIELDS
	__u64 shared_size;	/* out: bytes of shared memory, from VIRGO_SHARED_OFFSET on */
	__u64 flags;		/* ACCELERATOR_INFO_PEEK or 0 */
	__u64 reserved[2];
};

struct virgo_eventfd {
	ACCELERATOR_EVENTFD_FIELDS
	__u64 events;		/* VIRGO_EVENT_*; 0: none any more */
	__u64 reserved[1];
};

struct virgo_connect {
	ACCELERATOR_CONNECT_FIELDS
};

#define VIRGO_IOCTL 0xb9

#define VIRGO_IOCTL_INFO	_IOWR(VIRGO_IOCTL, 0, struct virgo_info)
#define VIRGO_IOCTL_EVENTFD	_IOW(VIRGO_IOCTL, 1, struct virgo_eventfd)
#define VIRGO_IOCTL_CONNECT	_IOWR(VIRGO_IOCTL, 2, struct virgo_connect)

#endif
