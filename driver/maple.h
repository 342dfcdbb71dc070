/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the files of maple.ko share.
 *
 * Locks, outermost first:
 *
 *   maple_instances_lock   mutex: which instances there are; nothing is waited for under it
 *   maple->serving         mutex: one at a time reads and resolves the device's faults, or
 *                          changes whose they are. Held while registers are accessed, and
 *                          over a process's mmap_lock
 *   maple->lock            spinlock: may the watch be armed; maple->user for who only looks
 *   user->lock             spinlock: the process's files and their eventfds; process context only
 *
 * The shootdown callback runs under locks of the memory management: it takes
 * none of these.
 *
 * Lifetimes: a file holds its binding, the binding its struct maple_user, that
 * one its struct maple, and that one the bus device. So a file outlives the
 * removal of its device and then finds it gone. Interrupt and watch stop in
 * remove() before it lets its own reference go. They use maple->user without a
 * reference, under `serving`, which its last file takes to leave.
 */
#ifndef MAPLE_DRIVER_H
#define MAPLE_DRIVER_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "mimic.h"
#include "mimic/maple_registers.h"

#define MAPLE_MINORS 256
#define MAPLE_MINOR_ANY 255	/* /dev/maple */

struct maple {
	struct kref references;
	struct mimic_device *device;
	struct regmap *regmap;	/* until remove() */
	struct device *node;
	u64 identify;
	int irq;

	struct mutex serving;	/* see above */
	struct maple_user *user;	/* under serving: has the device; changed under lock, too */
	bool silent;		/* under serving: the last register access had no answer */
	unsigned long due_until;	/* under serving: an interrupt may come late, until then */
	unsigned int postponed;	/* under serving: looks at one fault, for want of memory */
	unsigned int stuck_rounds;	/* under serving: of the watch, with a fault that stays */
	u64 last_bad;		/* under serving: the fault that was answered as bad last */
	unsigned int bad_rounds;	/* under serving: of the watch, with nothing after it */

	spinlock_t lock;	/* see above */
	bool removed;		/* under lock */
	struct delayed_work watch;

	/* Each is a file in sysfs. */
	atomic64_t interrupts;
	atomic64_t spurious;	/* interrupts without a fault */
	atomic64_t faults;	/* served: the page is there */
	atomic64_t unresolved;	/* of addresses that are not the process's */
	atomic64_t polled;	/* found before, or without, their interrupt */
	atomic64_t shootdowns;	/* flushes posted to the device's TLB */
	atomic64_t timeouts;	/* register accesses that had no answer in time */
};

/* A process that uses the device: the context of its binding. */
struct maple_user {
	struct maple *maple;	/* counted */
	struct mimic_binding *binding;	/* while it has files */
	unsigned int open_files;	/* under maple->serving */
	struct pid *process;	/* counted */
	atomic64_t faults;
	atomic64_t unresolved;
	atomic64_t shootdowns;
	bool gone;

	wait_queue_head_t wait;
	spinlock_t lock;	/* see above */
	struct list_head files;	/* under lock */
};

/* --- maple_main.c --------------------------------------------------------- */

/* The instance of a minor number, counted, or NULL. */
struct maple *maple_get(unsigned int minor);
void maple_put(struct maple *maple);
bool maple_is_paper(const struct maple *maple);

/* --- maple_file.c --------------------------------------------------------- */

extern const struct file_operations maple_file_operations;

/* An address that is not the process's: tells whoever wanted to know. */
void maple_user_event(struct maple_user *user);

/* --- maple_fault.c -------------------------------------------------------- */

int maple_faults_start(struct maple *maple);
void maple_faults_stop(struct maple *maple);
/* A file of the user has come, or goes: then its binding may be put. */
void maple_faults_enter(struct maple_user *user, struct mimic_binding *binding);
void maple_faults_leave(struct maple_user *user);
void maple_shootdown(struct maple_user *user, unsigned long start, unsigned long end);
/* One 64-bit register of the device. */
int maple_register_read(struct maple *maple, unsigned int page, unsigned int offset, u64 *value);

/* --- maple_sysfs.c -------------------------------------------------------- */

extern const struct attribute_group *maple_attribute_groups[];

#endif
