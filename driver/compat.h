/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The one place for differences between kernels: each entry says which
 * change came in which version. 6.1, 6.12 and 7.3 are built and tested;
 * of a version between them that is named here only the headers were read, or
 * the history.
 */
#ifndef MIMIC_COMPAT_H
#define MIMIC_COMPAT_H

#ifdef CONFIG_X86_64
#include <asm/fsgsbase.h>
#include <asm/msr.h>
#endif
#include <linux/container_of.h>
#include <linux/device/class.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/version.h>
#include <linux/workqueue.h>

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

/* Before 7.1 this function was called zap_vma_ptes(). */
#if !MIMIC_KERNEL(7, 1)
static inline void zap_special_vma_range(struct vm_area_struct *vma, unsigned long address,
					 unsigned long size)
{
	zap_vma_ptes(vma, address, size);
}
#endif

/*
 * The hook of a notifier that is called after entries have changed and before the pages that
 * they led to are freed. RISC-V calls it from 7.0 on.
 */
#if MIMIC_KERNEL(6, 6)
#define mimic_invalidate_hook arch_invalidate_secondary_tlbs
#else
#define mimic_invalidate_hook invalidate_range
#endif
#if defined(CONFIG_RISCV) && !MIMIC_KERNEL(7, 0)
#define MIMIC_INVALIDATES_ONLY_RANGES
#endif

/* x86 has shadow stacks of user space from 6.6 on. */
#ifdef VM_SHADOW_STACK
#define MIMIC_VM_SHADOW_STACK VM_SHADOW_STACK
#else
#define MIMIC_VM_SHADOW_STACK VM_NONE
#endif

/* --- threads -------------------------------------------------------------- */

/* Arguments of a probe of sched_process_exit: since 6.16 also whether it is the last thread. */
#if MIMIC_KERNEL(6, 16)
#define MIMIC_EXIT_PROBE_ARGUMENTS void *unused, struct task_struct *task, bool group_dead
#else
#define MIMIC_EXIT_PROBE_ARGUMENTS void *unused, struct task_struct *task
#endif

#ifdef CONFIG_X86_64
/*
 * The bases of FS and GS that the program has now. current_save_fsgs() would copy
 * them into the task, but since 6.19 it is exported to KVM only. In the kernel the
 * processor holds the program's GS base where swapgs finds it.
 */
static inline u64 mimic_user_fs_base(void)
{
	return x86_fsbase_read_cpu();
}

static inline u64 mimic_user_gs_base(void)
{
	u64 base;

#if MIMIC_KERNEL(6, 16)		/* rdmsrl() has a new name. */
	rdmsrq(MSR_KERNEL_GS_BASE, base);
#else
	rdmsrl(MSR_KERNEL_GS_BASE, base);
#endif
	return base;
}
#endif

/* --- work ---------------------------------------------------------------- */

/* Of the kernel's workqueues the one of no processor. 7.3 warns of the name before 6.17. */
#if MIMIC_KERNEL(6, 17)
#define mimic_system_workqueue system_dfl_wq
#else
#define mimic_system_workqueue system_unbound_wq
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
#if MIMIC_KERNEL(7, 1)
#define mimic_uring_payload(command, type) io_uring_sqe_cmd((command)->sqe, type)
#elif MIMIC_KERNEL(6, 6)
#define mimic_uring_payload(command, type) ((const type *)io_uring_sqe_cmd((command)->sqe))
#else
#define mimic_uring_payload(command, type) ((const type *)(command)->cmd)
#endif

/* 6.18 took the second result away, that only long completions have. */
static inline void mimic_uring_done(struct io_uring_cmd *command, s32 result, unsigned int flags)
{
#if MIMIC_KERNEL(6, 18)
	io_uring_cmd_done(command, result, flags);
#else
	io_uring_cmd_done(command, result, 0, flags);
#endif
}

/*
 * The function that io_uring_cmd_complete_in_task() calls gets the command and flags; since 6.19
 * it gets the request, from which the command is taken, and the flags are always the same.
 */
#if MIMIC_KERNEL(6, 19)
#define MIMIC_URING_TASK_ARGUMENTS struct io_tw_req request, io_tw_token_t token
#define mimic_uring_task_command() io_uring_cmd_from_tw(request)
#define mimic_uring_task_flags() IO_URING_CMD_TASK_WORK_ISSUE_FLAGS
#else
#define MIMIC_URING_TASK_ARGUMENTS struct io_uring_cmd *command, unsigned int flags
#define mimic_uring_task_command() command
#define mimic_uring_task_flags() flags
#endif

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
