/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The emulated bus, as a function driver sees it: devices and drivers, their
 * registers, their interrupts, and the processes that use them.
 *
 * A driver is written as for the silicon: it probes, reads registers by regmap,
 * maps pages to user space, serves page faults of the device, passes shootdowns
 * on. Only the names here would change.
 */
#ifndef MIMIC_DRIVER_H
#define MIMIC_DRIVER_H

#include <linux/device.h>
#include <linux/module.h>
#include <linux/mm_types.h>
#include <linux/regmap.h>
#include <linux/types.h>

struct accelerator_lane;
struct accelerator_lane_call;
struct mimic_binding;
struct mimic_device_ops;

struct mimic_device {
	struct device dev;	/* dev.release frees it */
	char kind[16];
	int index;		/* in its name, after the kind: N of KINDN */
	u32 id;			/* number in the daemon's requests */
	u32 pages;
	u32 interrupts;
	u32 capabilities;	/* MIMIC_BUS_* */
	u32 memory_size;	/* whole pages; 0: none. May be another one after reset() */
	const struct mimic_device_ops *ops;	/* of the module that brought it: mimic_bus.h */
};

#define to_mimic_device(d) container_of_const(d, struct mimic_device, dev)

struct mimic_driver {
	struct device_driver driver;
	const char *kind;	/* of the devices that it drives */
	/*
	 * Several processes may have the device at once, each by a binding of its own:
	 * the driver tells the device whose memory each of its contexts reaches
	 * (mimic_binding_number()). Else one process has it at a time.
	 */
	bool is_shared;
	/*
	 * How many accesses may have to wait in one device at the same time, for each other: a
	 * barrier's threads. The bus gives them slots beyond a device's share while it has some.
	 * 0: that share is enough. Not for shared devices.
	 */
	unsigned int waiters;
	int (*probe)(struct mimic_device *device);
	void (*remove)(struct mimic_device *device);
	/*
	 * The daemon died and another has taken the device over: its state is as
	 * after power-on. -EAGAIN: it has died, too, or does not answer yet; called again then.
	 * Other errors count for nothing. May be NULL.
	 */
	int (*reset)(struct mimic_device *device);
};

int __mimic_driver_register(struct mimic_driver *driver, struct module *owner);
#define mimic_driver_register(driver) __mimic_driver_register(driver, THIS_MODULE)
void mimic_driver_unregister(struct mimic_driver *driver);

/*
 * As get_device() and put_device(); and the module that brought the device is not unloaded.
 * false: it is about to be.
 */
bool mimic_device_get(struct mimic_device *device);
void mimic_device_put(struct mimic_device *device);

/*
 * One access to a register, as the driver's own. May sleep. 0; -EIO: no daemon
 * serves the device; -EINTR: a fatal signal; -ETIMEDOUT: no answer in a second; -EAGAIN: the same,
 * and its daemon has died in that time or before, but another one is to go on. Whether the access
 * had its effect is not known: make it again.
 */
int mimic_device_read(struct mimic_device *device, unsigned int page, unsigned int offset,
		      unsigned int size, u64 *value);
int mimic_device_write(struct mimic_device *device, unsigned int page, unsigned int offset,
		       unsigned int size, u64 value);

/*
 * After -EAGAIN: until a daemon serves the device again, or none will. Killable, and may take
 * minutes: not under a lock. 0; -EIO; -EINTR.
 */
int mimic_device_wait_for_daemon(struct mimic_device *device);

/*
 * A store, or a load whose answer does not matter, that nobody waits for. Never
 * sleeps, allocates nothing, always succeeds: a post of the same number that the
 * daemon has not taken yet does for both, so it suits accesses that may be done
 * once for many. Register and value belong to the number.
 */
#define MIMIC_DEVICE_POSTS 16
void mimic_device_post(struct mimic_device *device, unsigned int number, bool is_write,
		       unsigned int page, unsigned int offset, unsigned int size, u64 value);

/*
 * A regmap over all pages: register = page * 4096 + offset, values of 32 bits;
 * regmap_raw_read and _write of 8 bytes at a multiple of 8 are one access of 64
 * bits. Not for atomic context.
 */
struct regmap *devm_mimic_regmap(struct mimic_device *device, const struct regmap_config *config);

/* The Linux interrupt number of a line, or -errno. For threaded handlers. */
int mimic_device_interrupt(struct mimic_device *device, unsigned int line);

/*
 * A process that uses the device. Callbacks come from mimic_bind() to put_context(), which may
 * be some time after the last mimic_binding_put(), as that waits for nothing. So a context
 * must count its users; and mimic_driver_unregister() waits for the last call.
 *
 * gone() may come from the daemon's own system call, so it must not wait for an
 * answer of the daemon.
 */
struct mimic_binding_ops {
	/* A new binding has the context; it has it no more, and there are no calls any more. */
	void (*get_context)(void *context);
	void (*put_context)(void *context);
	/*
	 * Translations of [start, end) of the process are gone: pass it on to the device's TLB, by
	 * mimic_device_post(), and wait for that in mimic_binding_sync(), for nothing else. It
	 * may run under any lock of the memory management, spinlocks included where the device is
	 * a function of PCI: mimic_binding_sync() does not sleep then, and nothing else may.
	 */
	void (*shootdown)(struct mimic_binding *binding, unsigned long start, unsigned long end);
	/* The process ended, or the device or its daemon went away: no access any more. Sleeps. */
	void (*gone)(struct mimic_binding *binding);
};

/*
 * Binds the device to the calling process: the one binding that it has, or a
 * new one, counted. Only a new one takes `ops` and `context`. ERR_PTR: -EBUSY,
 * another process has it, and it is not shared; -EIO, no daemon; -EINTR; -ENOMEM;
 * -ENODEV; -EMFILE, the user has as many as he may; or the daemon's error.
 */
struct mimic_binding *mimic_bind(struct mimic_device *device, const struct mimic_binding_ops *ops,
				 void *context);
void mimic_binding_put(struct mimic_binding *binding);
void *mimic_binding_context(struct mimic_binding *binding);
/*
 * The process's address space, as the device knows it: not 0, and no other one's as
 * long as the binding lives. When that is gone the device reaches nothing by it.
 */
u32 mimic_binding_number(const struct mimic_binding *binding);

/* Is the caller the bound process, and all of it still there? 0 or -ENODEV. */
int mimic_binding_check(struct mimic_binding *binding);

/*
 * For file_operations.mmap: the file is `count` pages of the device, from page
 * `first` on. -EINVAL: not shared, executable, beyond the last page; -ENODEV. The
 * file that is mapped must hold the binding until its release.
 */
int mimic_binding_mmap(struct mimic_binding *binding, struct vm_area_struct *vma,
		       unsigned int first, unsigned int count);

/*
 * Memory of the device, for file_operations.mmap: it begins at page `first` of the file.
 * The process has it as long as it has the device; a child of it has not, and gets SIGBUS.
 * When the device is taken from the process its mapping becomes memory of its own, zeroed.
 * The memory is zeroed when a process binds the device that did not have it. -EINVAL:
 * as above, or not all of it memory; -ENODEV. The file must hold the binding until its
 * release, and must have been given to mimic_binding_share_mapping() in its open: then all
 * files of the device are one for the memory management.
 */
int mimic_binding_mmap_memory(struct mimic_binding *binding, struct vm_area_struct *vma,
			      unsigned long first);
void mimic_binding_share_mapping(struct mimic_binding *binding, struct file *file);

/*
 * Makes the page of `address` present in the bound process, writable if
 * `write`. May sleep; takes its mmap_lock for reading. 0; -EFAULT: there is no
 * such memory, or none that a window shows; -ESRCH: the process has ended;
 * -ENOMEM: not now; -EINTR: a fatal signal; -EAGAIN, only with `nowait`: it would
 * have to wait for the process's lock, or for another program that brings the page (FUSE,
 * userfaultfd), which may take as long as it likes.
 */
int mimic_binding_fault_in(struct mimic_binding *binding, u64 address, bool write, bool nowait);
/*
 * Is there a task that has the process's memory? While a thread waits in
 * mimic_binding_fault_in() the memory outlives them all. Then mimic_binding_end() is due: as if the
 * memory had gone.
 */
bool mimic_binding_has_task(struct mimic_binding *binding);
void mimic_binding_end(struct mimic_binding *binding);

/*
 * For a thread that may run longer than the last mimic_binding_put() waits for: the
 * structure stays, no more than that.
 */
void mimic_binding_get(struct mimic_binding *binding);
void mimic_binding_release(struct mimic_binding *binding);

/*
 * For shootdown(): until the device has done the posts to it. 0: it has, or
 * need not be, as [start, end) is outside of all that it has ever seen, from the lowest address to
 * the highest. -ETIMEDOUT: it has not after a tenth of a second; no shootdown waits for this daemon
 * in the next ten seconds. On the bus that is no danger: it has taken the memory from the device's
 * reach before shootdown() is called, so that no entry of the TLB matters.
 */
int mimic_binding_sync(struct mimic_binding *binding, unsigned long start, unsigned long end);

/* Asks the daemon for a session of this process: 0 and a file, which is the caller's; or -errno. */
int mimic_binding_connect(struct mimic_binding *binding, struct file **file);

/*
 * Lanes, where a session is not to be had: the calls LANE and LANE_CALL of
 * mimic/accelerator_ioctl.h for the bound process, which is the caller. -EOPNOTSUPP: the device has
 * none. They are the binding's, and end with it.
 */
int mimic_binding_lane(struct mimic_binding *binding, struct accelerator_lane *lane);
int mimic_binding_lane_call(struct mimic_binding *binding,
			    const struct accelerator_lane_call *call);
/*
 * For file_operations.mmap: lanes are at this page of the file and behind it, where `offset` of
 * LANE says. The file must have been given to mimic_binding_share_mapping() in its open. A lane
 * that has ended becomes memory of the process's own.
 */
#define MIMIC_LANES_PAGE 0x1000000ul
int mimic_binding_mmap_lane(struct mimic_binding *binding, struct vm_area_struct *vma);
/*
 * No file is open any more: the lanes end, and commands that are still in them have no effect
 * on the driver's next steps. The binding goes on.
 */
void mimic_binding_end_lanes(struct mimic_binding *binding);

#endif
