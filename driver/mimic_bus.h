/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic_bus.ko, as those modules see it that bring devices: mimic.ko, whose devices a daemon
 * serves, and mimic_pci.ko, whose devices are functions of PCI. These operations keep the
 * promises that mimic.h makes to drivers.
 */
#ifndef MIMIC_BUS_DRIVER_H
#define MIMIC_BUS_DRIVER_H

#include <linux/kref.h>
#include <linux/mm_types.h>
#include <linux/workqueue.h>

#include "mimic.h"

/* Each is the function of mimic.h that ends with its name, unless it is described here. */
struct mimic_device_ops {
	struct module *owner;
	int (*read)(struct mimic_device *device, unsigned int page, unsigned int offset,
		    unsigned int size, u64 *value);
	int (*write)(struct mimic_device *device, unsigned int page, unsigned int offset,
		     unsigned int size, u64 value);
	/* May be NULL: it never dies. */
	int (*wait_for_daemon)(struct mimic_device *device);
	void (*post)(struct mimic_device *device, unsigned int number, bool is_write,
		     unsigned int page, unsigned int offset, unsigned int size, u64 value);
	int (*interrupt)(struct mimic_device *device, unsigned int line);
	/* A function driver comes or goes (NULL). Processes that have the device by it lose it. */
	void (*driven_by)(struct mimic_device *device, const struct mimic_driver *driver);
	/* A probe has ended with -EAGAIN: it is to be made again. May be NULL. */
	void (*probe_later)(struct mimic_device *device);
	/* Does its daemon or function answer? */
	bool (*is_served)(struct mimic_device *device);

	struct mimic_binding *(*bind)(struct mimic_device *device,
				      const struct mimic_binding_ops *ops, void *context);
	void (*put)(struct mimic_binding *binding);
	/* The last reference of mimic_binding_get() is gone. Must not sleep. */
	void (*free)(struct mimic_binding *binding);
	int (*check)(struct mimic_binding *binding);
	int (*mmap)(struct mimic_binding *binding, struct vm_area_struct *vma, unsigned int first,
		    unsigned int count);
	int (*mmap_memory)(struct mimic_binding *binding, struct vm_area_struct *vma,
			   unsigned long first);
	/* Device memory (mmap_memory()) that is no pages of the kernel's. May be NULL: none is. */
	bool (*is_memory)(const struct vm_area_struct *vma);
	void (*share_mapping)(struct mimic_binding *binding, struct file *file);
	/* The process's memory, as mmget(), for mmput_async(). NULL: it has the device no more. */
	struct mm_struct *(*get_mm)(struct mimic_binding *binding);
	void (*end)(struct mimic_binding *binding);
	int (*sync)(struct mimic_binding *binding, unsigned long start, unsigned long end);
	int (*connect)(struct mimic_binding *binding, struct file **file);
	/* These may be NULL: there are no lanes. */
	int (*lane)(struct mimic_binding *binding, struct accelerator_lane *lane);
	int (*lane_call)(struct mimic_binding *binding, const struct accelerator_lane_call *call);
	int (*mmap_lane)(struct mimic_binding *binding, struct vm_area_struct *vma);
	void (*end_lanes)(struct mimic_binding *binding);
};

/* The beginning of each struct mimic_binding; the rest is its module's. */
struct mimic_binding_head {
	struct kref kref;
	struct mimic_device *device;
	const struct mimic_binding_ops *ops;	/* the driver's, and its context */
	void *context;
	u32 number;
};

static inline struct mimic_binding_head *mimic_binding_head(struct mimic_binding *binding)
{
	return (struct mimic_binding_head *)binding;
}

extern struct bus_type mimic_bus;
/*
 * For the work that ends a binding, with the driver's put_context():
 * mimic_driver_unregister() waits for all of it.
 */
extern struct workqueue_struct *mimic_retire_workqueue;

/* false: as get_user_pages() refuses it: memfd_secret(), and to write a shadow stack. */
bool mimic_vma_may_show(const struct vm_area_struct *vma, bool write);

#endif
