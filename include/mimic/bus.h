/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * /dev/mimic: how a daemon puts devices on the emulated bus of mimic.ko and
 * serves them. docs/bus.md has the rules.
 *
 * Every ioctl takes one structure that starts with its size. Kernel and daemon
 * may be of different builds: a field that the other side does not know must be
 * 0 (E2BIG if it is not, or the structure is larger than a page), reserved fields
 * must be 0 (EINVAL), and so is a structure that is too small.
 */
#ifndef MIMIC_BUS_H
#define MIMIC_BUS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MIMIC_BUS_NODE "/dev/mimic"
#define MIMIC_BUS_VERSION 1

#define MIMIC_BUS_KIND_MAX 16	/* with its final 0 */
#define MIMIC_BUS_PROGRAM_MAX 16
#define MIMIC_BUS_PAGES_MAX 16
#define MIMIC_BUS_INTERRUPTS_MAX 8
#define MIMIC_BUS_DEVICES_MAX 32
#define MIMIC_BUS_SLOTS 1024
/*
 * How many accesses of programs to one device have a slot at once; more wait for
 * one. It is above the number that can block in a device for long, so that blocked
 * threads do not stop others of the same program. A device that several processes may
 * have at once has MIMIC_BUS_PAGE_SLOTS for each page. The last slots are for other requests.
 */
#define MIMIC_BUS_DEVICE_SLOTS 24
#define MIMIC_BUS_PAGE_SLOTS 4
#define MIMIC_BUS_FREE_SLOTS 64
/*
 * For all devices together: where a device blocks more threads than that, at a barrier
 * for example, they take these slots, too (struct mimic_driver). Further threads wait for a slot.
 */
#define MIMIC_BUS_SPARE_SLOTS 128

/*
 * Where to mmap: the slots, a window onto the memory of a binding's process, and the
 * memory of a device. A window's offset is MIMIC_BUS_WINDOW(binding) + the process's address; it may
 * be mapped in parts, whole pages, shared. A page that is not present in the process is
 * not present in the window: touching it raises SIGBUS here and changes nothing
 * there.
 */
#define MIMIC_BUS_SLOTS_OFFSET 0ull
#define MIMIC_BUS_WINDOW_SHIFT 47
#define MIMIC_BUS_WINDOW(binding) ((__u64)(binding) << MIMIC_BUS_WINDOW_SHIFT)
#define MIMIC_BUS_BINDINGS_MAX 0xffff	/* numbers 1 to this */
/*
 * And the memory of a device, from REGISTER on: by its number, in whole pages, shared.
 * It is ordinary memory, and stays there for as long as it is mapped, even after the
 * device is gone. ENOENT: no device of this daemon, or one without memory; EINVAL: more
 * than there is.
 */
#define MIMIC_BUS_MEMORY(device) ((1ull << 46) + (__u64)(device) * MIMIC_BUS_MEMORY_MAX)
#define MIMIC_BUS_MEMORY_MAX (1u << 20)

/* _(value, NAME, meaning); every request is answered */
#define MIMIC_BUS_REQUESTS(_) \
	_(1, OPEN, "a process takes the device, or, if its driver shares it, joins others that have it; status 0 or -errno, which its open() returns") \
	_(2, CLOSE, "the process has given the device back, or is gone; as after power-on, its contexts if it is shared") \
	_(3, ACCESS, "one load or store; data is the store's value and the load's answer") \
	_(4, THREAD_GONE, "a thread that made accesses has ended: its roles are free") \
	_(5, CONNECT, "the process wants a session; fd is the socket to hand to it")

enum mimic_bus_request_kind {
#define _(value, name, meaning) MIMIC_BUS_REQUEST_##name = value,
	MIMIC_BUS_REQUESTS(_)
#undef _
};

/*
 * A request, as it lies in a slot and as read() gives it. Accesses that the
 * function driver makes have binding 0 and thread 0.
 */
struct mimic_bus_request {
	__u32 slot;
	__u32 kind;
	__u32 device;		/* as REGISTER gave it */
	__u32 binding;		/* a process that has the device open; 0: the driver itself */
	__u32 thread;		/* unique in the binding, never used again; 0: none */
	__u32 offset;		/* of an access: bytes from the start of the page */
	__u8 page;
	__u8 size;		/* 1, 2, 4 or 8 */
	__u8 is_write;
	__u8 posted;		/* no thread waits for the answer, but it must be given */
	__u32 process;		/* OPEN: unique for the address space, on all devices; never used again */
	__u64 data;
	__s32 pid;		/* OPEN: the process's; ACCESS: the thread's. In the daemon's own namespace, 0: not in it */
	__u32 uid;		/* OPEN: in the daemon's user namespace */
	char program[MIMIC_BUS_PROGRAM_MAX];	/* OPEN: its name, for people */
};

/* The bytes that write() takes: the answer of the request in `slot`. */
struct mimic_bus_answer {
	__u32 slot;
	__s32 status;		/* 0, -errno, or MIMIC_BUS_TAKEN_BACK */
	__u64 data;
	__s32 fd;		/* CONNECT only; else -1. The daemon keeps its own copy */
	__u32 reserved;
};

/*
 * The status of an access that was cancelled before it had any effect: the
 * thread handles its signal and makes it again.
 */
#define MIMIC_BUS_TAKEN_BACK (-512)

/* Shared memory: a header page, then MIMIC_BUS_SLOTS slots. */
struct mimic_bus_header {
	/* The kernel sets a slot's bit when a request is in it; the process that clears it takes the request. */
	__u64 pending[MIMIC_BUS_SLOTS / 64];
	/* The same for requests that should be cancelled; the bit's clearing means nothing but "seen". */
	__u64 cancelled[MIMIC_BUS_SLOTS / 64];
	/* The kernel's: another number after each bit that it has set, so that the daemon polls one word. */
	__u32 doorbell;
	__u8 padding[60];
	/*
	 * The daemon's: 1 before it sleeps (then a full fence, then a last read of
	 * the bits), 0 while it polls the bits. 1 at first.
	 */
	__u32 sleeping;
	/* The CPU that it runs on, -1: unknown. A thread that waits there does not spin. */
	__s32 cpu;
};

struct mimic_bus_slot {
	struct mimic_bus_request request;	/* the kernel's */
	__u32 waiter_sleeps;	/* the kernel's: after answering, COMMIT (or write) */
	/* The daemon's, `answered` last (release). */
	__s32 status;
	__u64 data;
	__s32 fd;
	__u32 answered;		/* the kernel makes it 0 before it sets the pending bit */
	/*
	 * The kernel's: of this request, by which a successor knows it again (TAKE_OVER). Each request
	 * that is put into a slot of this connection has another one, never 0.
	 */
	__u64 serial;
	__u8 padding[32];
};

#define MIMIC_BUS_HEADER_SIZE 4096u
#define MIMIC_BUS_SLOTS_SIZE \
	(MIMIC_BUS_HEADER_SIZE + MIMIC_BUS_SLOTS * sizeof(struct mimic_bus_slot))

/* The abilities of a device, for REGISTER. */
#define MIMIC_BUS_TRAPS (1u << 0)	/* its pages may be mapped by programs */
#define MIMIC_BUS_WINDOW_ACCESS (1u << 1)	/* it reads and writes the memory of its processes */

struct mimic_bus_info {
	__u32 size;
	__u32 version;		/* out: MIMIC_BUS_VERSION */
	__u32 slots;		/* out */
	__u32 slot_size;	/* out */
	__u64 slots_size;	/* out: of the mapping, whole pages */
	__u64 reserved[4];
};

struct mimic_bus_register {
	__u32 size;
	__u32 flags;		/* 0 */
	char kind[MIMIC_BUS_KIND_MAX];	/* drivers match it: letters, digits, '-'; "maple" */
	__s32 index;		/* N of mapleN; -1: the lowest that is free. out: the one given */
	__u32 pages;		/* 1 to MIMIC_BUS_PAGES_MAX */
	__u32 interrupts;	/* 0 to MIMIC_BUS_INTERRUPTS_MAX */
	__u32 capabilities;
	__u32 device;		/* out: its number in requests and the other ioctls */
	__u32 void_pages;	/* bit N: page N decodes nothing: loads give 0, stores are dropped, the daemon is not asked */
	__u32 memory_size;	/* bytes that programs map, whole pages, up to MIMIC_BUS_MEMORY_MAX; 0: none */
	__u32 reserved[5];
};

struct mimic_bus_unregister {
	__u32 size;
	__u32 device;
	__u64 reserved[2];
};

struct mimic_bus_interrupt {
	__u32 size;
	__u32 device;
	__u32 line;
	__u32 reserved[3];
};

struct mimic_bus_commit {
	__u32 size;
	__u32 slot;
	__u64 reserved[2];
};

#define MIMIC_BUS_TOKEN_SIZE 16
#define MIMIC_BUS_KEEP_MAX 3600000u	/* milliseconds */

struct mimic_bus_keep {
	__u32 size;
	__u32 milliseconds;	/* 0: as before the first KEEP; up to MIMIC_BUS_KEEP_MAX */
	__u8 token[MIMIC_BUS_TOKEN_SIZE];	/* a secret of the daemon and its successor */
	__u64 reserved[2];
};

struct mimic_bus_take_over {
	__u32 size;
	__u32 flags;		/* 0 */
	__u8 token[MIMIC_BUS_TOKEN_SIZE];
	__u32 devices;		/* out: how many this connection has */
	__u32 reserved[5];
};

struct mimic_bus_fault_in {
	__u32 size;
	__u32 binding;
	__u64 address;		/* in the process */
	__u32 writes;		/* 1: the page is to be written as well; 0 */
	__u32 reserved[3];
};

#define MIMIC_BUS_IOCTL 0xb6

/*
 * INFO: EFAULT.
 *
 * REGISTER: a new device, or one of the same kind, index, pages, interrupts,
 * capabilities and inert pages that a dead daemon left behind. Its memory is allocated
 * here, and cleared for each process that takes the device; a device that a dead daemon left behind
 * keeps its memory, unless its size is another now. EEXIST: that index is in use, or
 * was left behind with other properties; ENOSPC: too many devices; EINVAL: a
 * field is out of range. Returns when the function driver has probed it or there
 * is none; the probe makes accesses, so serve them from another thread, or
 * REGISTER first and serve then: probing goes on in the background.
 *
 * UNREGISTER: programs that have it open get SIGBUS for accesses and ENODEV for
 * calls. ENOENT: no such device of this daemon.
 *
 * INTERRUPT: raises a line, edge triggered. ENOENT; EINVAL: no such line.
 *
 * COMMIT: the answer of a slot is in the shared memory and its waiter sleeps.
 * EINVAL: no such slot. A slot without a request is not an error: the waiter may
 * have seen the answer by itself.
 *
 * KEEP: from now on, when the daemon dies while another process has this file, its devices,
 * bindings and requests stay for `milliseconds`, until a successor takes them over that knows the
 * token. Programs wait meanwhile. Called again it replaces the time and the token. EPERM:
 * the caller is not the process that serves; EINVAL: the time is out of range.
 *
 * TAKE_OVER: the caller is the daemon of this file from now on, instead of one that has died. The
 * KEEP of that one holds until the successor's own. All requests in slots that have no complete
 * answer are pending again, with their serial; one that no thread waits for any more is
 * cancelled as well. The slots may be mapped before; windows and memory of devices
 * after it. REGISTER of a device that this connection has gives its number, and
 * changes nothing (EEXIST: the device has other properties). EBUSY: the daemon is alive, or its
 * memory is not yet gone; EACCES: another token; ENODEV: nothing is kept (no KEEP, or the
 * time is over); EPERM: another pid or user namespace than that of the process that opened the
 * file; EDEADLK: the caller has devices of the bus open.
 *
 * FAULT_IN: brings in the page of a binding's process, as its own access would, so that the
 * window shows it. It is for a daemon whose device does not ask for the page by a page fault: a
 * successor that puts back what its predecessor has changed. It does not wait. EAGAIN: the page
 * is on its way, or the process changes its memory: try again, and not for ever; EFAULT: a device
 * cannot use this address; ENOENT: no such binding of this daemon; ESRCH: the process has ended;
 * EPERM: the caller is not the process that serves, or the device has no WINDOW_ACCESS;
 * ENOMEM.
 */
#define MIMIC_BUS_INFO		_IOWR(MIMIC_BUS_IOCTL, 0, struct mimic_bus_info)
#define MIMIC_BUS_REGISTER	_IOWR(MIMIC_BUS_IOCTL, 1, struct mimic_bus_register)
#define MIMIC_BUS_UNREGISTER	_IOW(MIMIC_BUS_IOCTL, 2, struct mimic_bus_unregister)
#define MIMIC_BUS_INTERRUPT	_IOW(MIMIC_BUS_IOCTL, 3, struct mimic_bus_interrupt)
#define MIMIC_BUS_COMMIT	_IOW(MIMIC_BUS_IOCTL, 4, struct mimic_bus_commit)
#define MIMIC_BUS_KEEP		_IOW(MIMIC_BUS_IOCTL, 5, struct mimic_bus_keep)
#define MIMIC_BUS_TAKE_OVER	_IOWR(MIMIC_BUS_IOCTL, 6, struct mimic_bus_take_over)
#define MIMIC_BUS_FAULT_IN	_IOW(MIMIC_BUS_IOCTL, 7, struct mimic_bus_fault_in)

/*
 * io_uring passthrough (IORING_OP_URING_CMD), struct mimic_bus_command in the
 * SQE. FETCH completes with the number of a slot that has a request, or the
 * lowest of several such slots: read the pending bits. A
 * completion is a hint; taking a request is clearing its bit. COMMIT_AND_FETCH
 * commits `slot` (as COMMIT), then is a FETCH. -ENODEV: the node is closing, or the daemon has died.
 */
#define MIMIC_BUS_COMMAND_FETCH 1
#define MIMIC_BUS_COMMAND_COMMIT_AND_FETCH 2

struct mimic_bus_command {
	__u32 slot;
	__u32 reserved;
};

#endif
