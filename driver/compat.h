/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The one place for differences between kernels: the rest of the driver is
 * written for 6.12, and this makes 6.1 look like it. These two are built and
 * tested; the versions named are those that brought each change.
 */
#ifndef MIMIC_COMPAT_H
#define MIMIC_COMPAT_H

#include <linux/container_of.h>
#include <linux/device/class.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/version.h>

#define MIMIC_KERNEL(major, minor) \
	(LINUX_VERSION_MAJOR * 256 + LINUX_VERSION_PATCHLEVEL >= (major) * 256 + (minor))

#if MIMIC_KERNEL(6, 8)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

/* --- memory -------------------------------------------------------------- */

#if !MIMIC_KERNEL(6, 3)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#if !MIMIC_KERNEL(6, 6)
/* Without locks per VMA, a fault always holds the mmap lock. */
static inline void release_fault_lock(struct vm_fault *vmf)
{
	mmap_read_unlock(vmf->vma->vm_mm);
}
#else
/* A VMA with map_pages may fault without the mmap lock. */
#define MIMIC_FAULT_UNDER_VMA_LOCK
#endif

/* One page as get_user_pages() brings it in, without a reference: 1; 0, not now; -errno. */
static inline long mimic_get_page_remote(struct mm_struct *mm, unsigned long address,
					 unsigned int flags)
{
#if MIMIC_KERNEL(6, 5)
	return get_user_pages_remote(mm, address, 1, flags, NULL, NULL);
#else
	return get_user_pages_remote(mm, address, 1, flags, NULL, NULL, NULL);
#endif
}

/* x86 has shadow stacks of user space from 6.6 on. */
#ifdef VM_SHADOW_STACK
#define MIMIC_VM_SHADOW_STACK VM_SHADOW_STACK
#else
#define MIMIC_VM_SHADOW_STACK VM_NONE
#endif

/* --- the device model ---------------------------------------------------- */

#if MIMIC_KERNEL(6, 4)
#define mimic_class_create(name) class_create(name)
#else
#define mimic_class_create(name) class_create(THIS_MODULE, name)
#endif

/* For the prototypes of callbacks, const where the kernel has it: class.devnode, bus_type.uevent */
#if MIMIC_KERNEL(6, 3)
#define mimic_const_device const
#else
#define mimic_const_device
#endif

/* bus_type.match */
#if MIMIC_KERNEL(6, 11)
#define mimic_const_driver const
#else
#define mimic_const_driver
#endif

#ifndef container_of_const	/* 6.2, and late releases of 6.1 */
#define container_of_const(pointer, type, member) container_of(pointer, type, member)
#endif

/* --- eventfd ------------------------------------------------------------- */

static inline void mimic_eventfd_signal(struct eventfd_ctx *context)
{
#if MIMIC_KERNEL(6, 8)
	eventfd_signal(context);
#else
	eventfd_signal(context, 1);
#endif
}

/* --- io_uring commands --------------------------------------------------- */

/* The SQE's command bytes: shared with the program, so read each field once. */
static inline const void *mimic_uring_payload(const struct io_uring_cmd *command)
{
#if MIMIC_KERNEL(6, 6)
	return io_uring_sqe_cmd(command->sqe);
#else
	return command->cmd;
#endif
}

/*
 * Is this no command, but the cancelling of one whose ring or task ends? Older
 * kernels leave that to file_operations.flush.
 */
#define MIMIC_URING_NEEDS_FLUSH (!MIMIC_KERNEL(6, 7))

static inline bool mimic_uring_is_cancel(unsigned int issue_flags)
{
#if MIMIC_KERNEL(6, 7)
	return issue_flags & IO_URING_F_CANCEL;
#else
	return false;
#endif
}

static inline void mimic_uring_mark_cancelable(struct io_uring_cmd *command,
					       unsigned int issue_flags)
{
#if MIMIC_KERNEL(6, 7)
	io_uring_cmd_mark_cancelable(command, issue_flags);
#endif
}

#endif
