/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The ioctls of device nodes: /dev/NAME0, /dev/NAME1, ..., and /dev/NAME for any that is free.
 * accelerator.ko answers them for the driver of each device, and `mimic run` for devices that ask
 * for it (struct mimic_kind). docs/abi.md has the nodes, their pages and the offsets for mmap.
 *
 *	struct accelerator_info info = { .size = sizeof(info) };
 *
 *	ioctl(node, ACCELERATOR_IOCTL_INFO(NAME_IOCTL), &info);
 *
 * A header of the device, include/mimic/NAME_ioctl.h or _registers.h, has NAME_IOCTL, the type in its
 * ioctls' numbers, and NAME_ABI_VERSION. Types of different devices should differ: a call that is
 * meant for another device then fails.
 *
 * Every structure begins with its size, which the program fills in. A structure of a later version is
 * longer. Bytes beyond the structure that the driver knows have to be 0 (E2BIG), and reserved fields have to
 * be 0 (EINVAL). "out" fields are written by the driver, and may have any value before.
 *
 * The calls return 0, or -1 with errno:
 *
 *	ENODEV	the device is gone, its daemon has died since the open, or the caller is not the process
 *		that opened the node
 *	ENOTTY	no such call; the type is another device's
 *	EFAULT	the structure is not there
 *	EINVAL	its size is too small, or a reserved field is not 0
 *	E2BIG	it is longer than the driver knows, and the bytes beyond are not 0
 */
#ifndef MIMIC_ACCELERATOR_IOCTL_H
#define MIMIC_ACCELERATOR_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * INFO: the properties of the node, and counts of its faults.
 *
 * poll() says EPOLLPRI from a fault that is counted in `unresolved` until the next INFO on the same
 * open of the node. An INFO with the flag ACCELERATOR_INFO_PEEK does not end that: a library uses it on a
 * descriptor of the program's own. Other flags are EINVAL, and so is this one on an older driver.
 */
#define ACCELERATOR_INFO_PEEK 1

#define ACCELERATOR_IOCTL_INFO(type) _IOWR(type, 0, struct accelerator_info)

/* Structures of one device alone, below and in its header, begin with these fields. */
#define ACCELERATOR_INFO_FIELDS \
	__u32 size; \
	__u32 version;		/* out: of the device's interface, NAME_ABI_VERSION */ \
	__u32 index;		/* out: N of NAMEN */ \
	__u32 pages;		/* out: of registers that the program can map */ \
	__u64 identify;		/* out: the device's IDENTIFY register; 0: it has none */ \
	__u64 faults;		/* out: page faults of the device that the driver has served for this */ \
				/* process or, if the device has contexts, for this context */ \
	__u64 unresolved;	/* out: those of addresses that are not the process's */ \
	__u64 shootdowns;	/* out: flushes of the device's TLB that the driver has posted for it */

struct accelerator_info {
	ACCELERATOR_INFO_FIELDS
	union {
		/* A device with contexts: each open of a node is one, a part of the device for itself. */
		struct {
			__u32 context;		/* out: its number; a session names it "NAMEN/CONTEXT" */
			__u32 contexts;		/* out: how many the device has */
		};
		/* A device with memory that programs map. */
		__u64 memory_size;		/* out: bytes */
		/* Any other device: reserved. */
		__u64 unused;
	};
	__u64 flags;		/* ACCELERATOR_INFO_PEEK or 0 */
	__u64 reserved[2];
};

/*
 * EVENTFD: an eventfd that counts events of the device for the program. The program may close its own
 * descriptor of it afterwards. fd -1: none any more.
 *
 * A device without events: counts up by one at each fault of an address that is not the process's.
 * Each open of a node may have one. `events` is reserved.
 *
 * A device with events: counts up by one each time one or more of `events` have happened since the
 * last time, and clears them in the device. Other events stay. Events before the call
 * count, too. A device has one: another EVENTFD takes its place, and it ends with the open on which it
 * was set. events 0: none any more.
 *
 *	EBADF	fd is no descriptor
 *	EINVAL	fd is no eventfd; there is no such event
 *	EIO, ETIMEDOUT	a device with events: its daemon does not answer
 */
#define ACCELERATOR_IOCTL_EVENTFD(type) _IOW(type, 1, struct accelerator_eventfd)

#define ACCELERATOR_EVENTFD_FIELDS \
	__u32 size; \
	__s32 fd;		/* an eventfd; -1: none any more */

struct accelerator_eventfd {
	ACCELERATOR_EVENTFD_FIELDS
	__u64 events;
	__u64 reserved[1];
};

/*
 * CONNECT: a connected socket to the daemon, close-on-exec, on which a program speaks
 * docs/protocol.md. It belongs to the process that has the node open. Drivers only.
 *
 *	EIO	the daemon has died
 *	EMFILE	the process has no descriptor left
 *	other	an error of the daemon
 */
#define ACCELERATOR_IOCTL_CONNECT(type) _IOWR(type, 2, struct accelerator_connect)

#define ACCELERATOR_CONNECT_FIELDS \
	__u32 size; \
	__s32 fd;		/* out */ \
	__u64 reserved[2];

struct accelerator_connect {
	ACCELERATOR_CONNECT_FIELDS
};

/*
 * LANE: memory by which one thread of the process gives the device commands without a trap: a lane, laid out as
 * mimic/lane.h says, which the program maps at `offset` of the node (whole pages, MAP_SHARED, readable and writable;
 * a child of a fork does not have it). Devices in commands are numbers: of a device with contexts the node's context,
 * else 0. Devices that are PCI functions of a virtual machine may have lanes (docs/pci.md); for others there is CONNECT.
 * Lanes belong to the process, not to one open of a node of this device, and end with the last open; a mapping
 * keeps its open of the node alive. When a lane has ended its mapping is ordinary memory of the process.
 *
 *	EOPNOTSUPP	the device has none
 *	EMFILE		all are in use, by this process or others
 *	ENOENT		no such thread
 */
#define ACCELERATOR_IOCTL_LANE(type) _IOWR(type, 3, struct accelerator_lane)

struct accelerator_lane {
	__u32 size;
	__u32 thread;		/* as an earlier lane's was; 0: of a thread that has none yet. out: its number */
	__u32 level;		/* 0; 1 to 7: for signal handlers that interrupt the lane below */
	__u32 lane;		/* out: its number, for LANE_CALL and for order words */
	__u64 offset;		/* out */
	__u32 command_words;	/* out: of its rings */
	__u32 response_words;	/* out */
	__u64 reserved[2];
};

/*
* LANE_CALL: requests of a lane's thread to the driver.
 *
 *	ENOENT		no such lane or thread
 *	EINVAL		no such call
 *	ETIMEDOUT, EINTR	WAIT
 */
#define ACCELERATOR_IOCTL_LANE_CALL(type) _IOW(type, 4, struct accelerator_lane_call)

enum accelerator_lane_calls {
	ACCELERATOR_LANE_KICK = 0,	/* the lanes have new words, and daemon_sleeping was set */
	ACCELERATOR_LANE_WAIT = 1,	/* returns when the lane's client_sleeping is not `value`, or after `nanoseconds` */
	ACCELERATOR_LANE_CANCEL = 2,	/* the lane's command whose answers are due is cancelled */
	ACCELERATOR_LANE_CLOSE = 3,	/* no more commands come on the lane; its thread stays, with its roles */
	ACCELERATOR_LANE_THREAD_END = 4,	/* `number` is a thread's: its lanes are closed, its roles are free */
};

struct accelerator_lane_call {
	__u32 size;
	__u32 call;
	__u32 number;		/* of a lane, or of a thread */
	__u32 value;		/* WAIT only, else reserved */
	__u64 nanoseconds;	/* likewise */
	__u64 reserved[1];
};

#endif
