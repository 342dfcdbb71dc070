/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * accelerator.ko: code that drivers of devices on mimic's bus share. A driver gives a
 * struct accelerator_driver; it gets nodes, files with their calls, the service
 * of page faults and events, shootdowns, and counters in sysfs.
 *
 * A context is one process's part of a device, with its pages. A device
 * without contexts of its own is one: all files of a process are of the same, and
 * no other process gets one. Of a device that has some, each file is another one.
 *
 * Locks, outermost first:
 *
 *   nodes->lock            mutex: which devices there are; nothing is waited for under it
 *   accelerator->serving   mutex: one at a time reads and resolves the device's faults, takes its
 *                          events, or changes whose its contexts are. Held while registers are
 *                          accessed, and over a process's mmap_lock, which is only tried for
 *   accelerator->lock      spinlock: whose the contexts are, for callbacks of the bus and for
 *                          readers of attributes; whether the watch may be armed
 *   context->lock          spinlock: the context's files and their eventfds
 *
 * The spinlocks are taken in process context only. The shootdown callback runs
 * under locks of the memory management: it takes accelerator->lock alone, and waits for the
 * device's flush without it, perhaps under `serving`, which no answer needs.
 *
 * Lifetimes: a file holds its binding, its struct accelerator_context, that one
 * its struct accelerator, and that one the bus device. So a file outlives the
 * removal of its device and then finds it gone. Interrupt, watch and the bus's
 * callbacks use accelerator->contexts[] without a reference, under one of its
 * locks: a context's last file takes both to take it out, and only then gives up
 * binding and context. The thread of a slow fault (accelerator/slow.c) has references
 * of its own to the structures, and finds out under `serving` whether they still
 * mean anything.
 */
#ifndef ACCELERATOR_H
#define ACCELERATOR_H

#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "mimic.h"

#define ACCELERATOR_MINORS 256
#define ACCELERATOR_MINOR_ANY 255	/* /dev/NAME without a number */
#define ACCELERATOR_CONTEXTS_MAX 15
#define ACCELERATOR_SOURCES_MAX 8	/* of faults, in one context */

struct accelerator;
struct accelerator_context;

/* A page fault of the device, as its registers say it. */
struct accelerator_fault {
	u64 word;		/* of the register, to tell whether it is the same again; 0: none */
	u64 address;
	unsigned int context;	/* whose address it is */
	unsigned int source;	/* the driver's; one of the context's sources */
	bool writes;
	bool may_read_only;	/* not said: where it cannot be written, reading will do */
};

/* The nodes of one driver. */
struct accelerator_nodes {
	struct mutex lock;	/* see above */
	/* By minor; each entry holds its own. */
	struct accelerator *accelerators[ACCELERATOR_MINOR_ANY];
	struct class *class;
	struct cdev cdev;
	dev_t numbers;
};

/*
 * A driver's description of its device. Only name, pages, ioctl_type, abi_version,
 * harmless_register, size and identify() are required; a device that lacks one of the others
 * leaves it 0 or NULL.
 *
 * The calls that get an accelerator are serialised for it, and may sleep, unless
 * they say otherwise.
 */
struct accelerator_driver {
	const char *name;	/* of the kind, the nodes and the driver */
	unsigned int pages;	/* the device has at least so many */
	unsigned int ioctl_type;	/* of its ioctls (mimic/accelerator_ioctl.h) */
	unsigned int abi_version;	/* that INFO gives */
	/* How many accesses may have to wait for each other (struct mimic_driver). */
	unsigned int waiters;
	/* Programs map the first so many pages. 0: all. */
	unsigned int program_pages;
	/* Each file has a context of its own: one page, from this one on. */
	unsigned int first_context_page;
	/* The page of a file where the device's memory begins. */
	unsigned int memory_page;
	/*
	 * The events that an eventfd can count, by bit; not for devices with contexts. An eventfd
	 * of a device without events counts faults of bad addresses.
	 */
	u64 events;
	/* read() of a file waits for events, and poll tells of them: accelerator/file.c. */
	bool reads_events;
	/* Milliseconds, a module parameter: see accelerator/fault.c. NULL or 0: no watch. */
	const unsigned int *watch_ms;
	const struct attribute_group *attributes;	/* of its own, in sysfs */
	/* For regmap's debugfs files: they must not read others, and need one. */
	unsigned int harmless_register;
	size_t size;		/* of the structure that begins with struct accelerator */

	/* Is it ours? Fills in identify and, if it has contexts, context_count. */
	int (*identify)(struct accelerator *accelerator);
	/* The driver has a device: a line in the log. Not serialised. */
	void (*announce)(const struct accelerator *accelerator);
	/* The state is as after power-on. */
	void (*reset)(struct accelerator *accelerator);
	/*
	 * Devices without contexts, if they have registers for it: all that the last process has
	 * left goes; and the device reaches this address space from now on. Neither comes where the
	 * device is as after power-on anyway, or is about to be gone.
	 */
	int (*clear)(struct accelerator *accelerator);
	int (*enter)(struct accelerator *accelerator, u32 address_space);
	/* The context is an address space's now, fresh; 0: nobody's. Devices with contexts. */
	int (*attach)(struct accelerator *accelerator, unsigned int context, u32 address_space);

	/* A device that reaches memory of programs has these three. */
	/*
	 * The oldest fault that waits; word 0: none. `is_fresh`: an interrupt has come,
	 * and nothing was served since.
	 */
	int (*read_fault)(struct accelerator *accelerator, bool is_fresh,
			  struct accelerator_fault *fault);
	/* The device goes on. result: 0, the page is there; else its address is bad. */
	int (*resolve)(struct accelerator *accelerator, const struct accelerator_fault *fault,
		       int result);
	/*
	 * Posts a flush of the context's translations; mimic_binding_sync() waits for it then.
	 * Not serialised; must not sleep.
	 */
	void (*flush)(struct accelerator *accelerator, unsigned int context, unsigned long start,
		      unsigned long end);
	/*
	 * The page takes long: faults of other contexts, and other sources, are to be read
	 * first. Without it the device must have one user only, and shows the same fault until
	 * it is resolved.
	 */
	int (*postpone)(struct accelerator *accelerator, const struct accelerator_fault *fault);
	/* A round of the watch is over. */
	void (*watched)(struct accelerator *accelerator, bool has_served);

	/*
	 * Drivers with events. These raise the interrupt from now on; NULL: all always do. And
	 * those of them that have happened, which the device then forgets.
	 */
	int (*enable_events)(struct accelerator *accelerator, u64 events);
	int (*take_events)(struct accelerator *accelerator, u64 events, u64 *happened);

	/* A process has the context, or has it no more: tracepoints. Not serialised. */
	void (*opened)(const struct accelerator_context *context);
	void (*released)(const struct accelerator_context *context);

	/* accelerator.ko's own. */
	struct mimic_driver bus;
	struct accelerator_nodes nodes;
};

struct accelerator {
	struct kref references;
	struct accelerator_driver *driver;
	struct mimic_device *device;
	struct regmap *regmap;	/* until remove() */
	struct device *node;
	u64 identify;
	int irq;

	struct mutex serving;	/* see above */
	unsigned int context_count;	/* under serving */
	/* Whose each is; changed under both serving and lock. */
	struct accelerator_context *contexts[ACCELERATOR_CONTEXTS_MAX];
	bool is_used;		/* under serving: by a process, and not cleared since */
	bool silent;		/* under serving: the last register access had no answer */
	unsigned long due_until;	/* under serving: an interrupt may come late, until then */
	bool has_more;		/* under serving: a run left faults, with which the watch goes on */
	unsigned int postponed;	/* under serving: looks at one fault, for want of memory */
	u64 events;		/* under serving: that the eventfd counts; 0: there is none */
	unsigned int stuck_rounds;	/* under serving: of the watch, with a fault that stays */

	spinlock_t lock;	/* see above */
	bool removed;		/* under lock */
	struct delayed_work watch;
	struct delayed_work look;	/* accelerator/slow.c */

	atomic_t raised;	/* interrupts, as they came */
	unsigned int handled;	/* under serving: of these, the ones whose faults were looked for */

	/* Each is a file in sysfs. */
	atomic64_t interrupts;
	atomic64_t spurious;	/* interrupts without a fault */
	atomic64_t faults;	/* served: the page is there */
	atomic64_t unresolved;	/* of addresses that are not the process's */
	atomic64_t polled;	/* found before, or without, their interrupt */
	atomic64_t shootdowns;	/* flushes posted to the device's TLB */
	atomic64_t timeouts;	/* register accesses and flushes that had no answer in time */
};

enum accelerator_slow_state {
	ACCELERATOR_SLOW_NONE,
	ACCELERATOR_SLOW_RUNS,
	ACCELERATOR_SLOW_DONE,	/* its result is there */
};

/* A fault whose page is long in coming: a thread brings it. */
struct accelerator_slow {
	struct accelerator_context *context;
	enum accelerator_slow_state state;	/* under serving, as the following fields */
	struct task_struct *task;	/* counted, while it runs */
	bool is_cancelled;		/* read without */
	struct accelerator_fault fault;
	int result;
};

/* The state that a process has at a device. */
struct accelerator_context {
	struct accelerator *accelerator;	/* counted */
	struct mimic_binding *binding;	/* the files' */
	struct kref references;	/* of its files, together, and of the threads of slow faults */
	unsigned int number;	/* its place in contexts[] */
	unsigned int open_files;	/* under serving */
	struct accelerator_slow slow[ACCELERATOR_SOURCES_MAX];	/* by the fault's source */
	struct pid *process;	/* counted */
	atomic64_t faults;
	atomic64_t unresolved;
	atomic64_t shootdowns;
	atomic64_t events;	/* times that some were taken for read() */
	bool gone;

	wait_queue_head_t wait;
	spinlock_t lock;	/* see above */
	struct list_head files;	/* under lock */
};

/* --- calls of drivers ------------------------------------------------------- */

/* All that a driver's module does when it is loaded and unloaded. */
#define module_accelerator_driver(driver) \
	module_driver(driver, accelerator_driver_register, accelerator_driver_unregister)

#define accelerator_driver_register(driver) __accelerator_driver_register(driver, THIS_MODULE)
int __accelerator_driver_register(struct accelerator_driver *driver, struct module *owner);
void accelerator_driver_unregister(struct accelerator_driver *driver);

/* One 64-bit register of the device. */
int accelerator_read(struct accelerator *accelerator, unsigned int page, unsigned int offset,
		     u64 *value);
int accelerator_write(struct accelerator *accelerator, unsigned int page, unsigned int offset,
		      u64 value);

#endif
