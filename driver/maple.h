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
 *   maple->lock            spinlock: whose the device is, for callbacks of the bus and who only
 *                          looks; may the watch be armed
 *   user->lock             spinlock: the process's files and their eventfds
 *
 * The spinlocks are taken in process context only. The shootdown callback runs
 * under locks of the memory management: it takes maple->lock alone.
 *
 * Lifetimes: a file holds its binding, its struct maple_user, that one its
 * struct maple, and that one the bus device. So a file outlives the removal of
 * its device and then finds it gone. Interrupt, watch and the bus's callbacks
 * use maple->user without a reference, under one of its locks: its last file
 * takes both to make it NULL, and only then gives up binding and user.
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
	struct maple_user *user;	/* has the device; changed under both serving and lock */
	bool silent;		/* under serving: the last register access had no answer */
	unsigned long due_until;	/* under serving: an interrupt may come late, until then */
	bool has_more;		/* under serving: the watch goes on with what a run left */
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

/* A process that has the device open. */
struct maple_user {
	struct maple *maple;	/* counted */
	struct mimic_binding *binding;	/* the files' */
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

/* --- maple_user.c --------------------------------------------------------- */

struct maple_file {
	struct maple_user *user;	/* one of its open_files */
	struct list_head link;		/* user->files */
	struct eventfd_ctx *eventfd;	/* under user->lock */
	struct fasync_struct *fasync;
	s64 seen;	/* unresolved faults that INFO has told of */
};

/*
 * The current process opens the device: `user` gets to be its user. With `only_new`
 * a device that it has already is -EBUSY. 0 or -errno, as mimic_bind().
 */
int maple_user_enter(struct maple *maple, bool only_new, struct maple_user **user);
void maple_user_leave(struct maple_user *user);
/* An address that is not the process's: tells whoever wanted to know. */
void maple_user_event(struct maple_user *user);

/* --- maple_fault.c -------------------------------------------------------- */

int maple_faults_start(struct maple *maple);
void maple_faults_stop(struct maple *maple);
/* The watch: looks for faults whose interrupt got lost while a process has the device. */
void maple_faults_watch(struct maple *maple);
void maple_shootdown(struct mimic_binding *binding, unsigned long start, unsigned long end);
/* One 64-bit register of the device. */
int maple_register_read(struct maple *maple, unsigned int page, unsigned int offset, u64 *value);

/* --- maple_sysfs.c -------------------------------------------------------- */

extern const struct attribute_group *maple_attribute_groups[];

#endif
