// SPDX-License-Identifier: GPL-2.0
/*
 * A page of a bound process that its device needs: brought in as the process itself would do it,
 * although it is a thread of the kernel's that does. That one's credentials have no say: a mapped
 * file was opened by the process, and is read with the rights that it was opened with. Its limits
 * have none: no VMA is made larger here, so a stack does not grow by a device. Charged is the
 * process's memory cgroup, and the thread has no priority over programs (accelerator/fault.c).
 */
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>

#include "compat.h"
#include "mimic_bus.h"

/*
 * By the file system's magic number: the kernel exports no test of secret memory. A shadow stack
 * has VM_WRITE, but only calls and returns write it; only we refuse other writers, as
 * hmm_range_fault() looks at the entry.
 */
bool mimic_vma_may_show(const struct vm_area_struct *vma, bool write)
{
	if (vma->vm_file && file_inode(vma->vm_file)->i_sb->s_magic == SECRETMEM_MAGIC)
		return false;
	return !write || !(vma->vm_flags & MIMIC_VM_SHADOW_STACK);
}
EXPORT_SYMBOL_GPL(mimic_vma_may_show);

/*
 * Would a window show it, once it is present? Not memory of devices, the kernel's
 * own, and pages that cannot be read (hmm_range_fault()): they would be faulted in for ever.
 */
static bool mimic_can_be_shown(const struct mimic_device_ops *ops, struct mm_struct *mm,
			       u64 address, bool write)
{
	const struct vm_area_struct *vma = vma_lookup(mm, address);

	if (!vma || !(vma->vm_flags & VM_READ))
		return false;
	if (vma->vm_flags & (VM_IO | VM_PFNMAP))
		return ops->is_memory && ops->is_memory(vma);
	return mimic_vma_may_show(vma, write);
}

static int mimic_fault_in(const struct mimic_device_ops *ops, struct mm_struct *mm, u64 address,
			  bool write)
{
	bool unlocked = false;
	int error = -EFAULT;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	if (mimic_can_be_shown(ops, mm, address, write))
		error = fixup_user_fault(mm, address, write ? FAULT_FLAG_WRITE : 0, &unlocked);
	mmap_read_unlock(mm);
	return error;
}

/*
 * Does a page of it come without waiting for another program? Of memory that no file system is
 * behind: file systems read a page while they are told not to wait (a file with MADV_RANDOM).
 */
static bool mimic_is_quick(struct vm_area_struct *vma)
{
	unsigned long magic;

	if (vma_is_anonymous(vma))
		return true;
	/* get_user_pages() brings in no page of a device. */
	if (!vma->vm_file || vma->vm_flags & VM_PFNMAP)
		return false;
	magic = file_inode(vma->vm_file)->i_sb->s_magic;
	return magic == TMPFS_MAGIC || magic == HUGETLBFS_MAGIC;
}

static int mimic_fault_in_nowait(const struct mimic_device_ops *ops, struct mm_struct *mm,
				 u64 address, bool write)
{
	unsigned int flags = FOLL_NOWAIT | (write ? FOLL_WRITE : 0);
	long got = -EFAULT;
	bool is_quick;

	if (!mmap_read_trylock(mm))
		return -EAGAIN;
	if (mimic_can_be_shown(ops, mm, address, write)) {
		is_quick = mimic_is_quick(vma_lookup(mm, address));
		if (!is_quick)
			flags |= FOLL_NOFAULT;
		got = mimic_get_page_remote(mm, address & PAGE_MASK, flags);
		/* Not there: that is no bad address yet. */
		if (!is_quick && got == -EFAULT)
			got = 0;
	}
	mmap_read_unlock(mm);
	if (got > 0)
		return 0;
	return got ? got : -EAGAIN;
}

bool mimic_binding_has_task(struct mimic_binding *binding)
{
	struct mm_struct *mm = mimic_binding_head(binding)->device->ops->get_mm(binding);
	bool has_task = mm;

	if (!mm)
		return false;
#ifdef CONFIG_MEMCG
	/* The kernel looks for another one when a task that owns the memory gives it up. */
	has_task = READ_ONCE(mm->owner);
#endif
	mmput_async(mm);
	return has_task;
}
EXPORT_SYMBOL_GPL(mimic_binding_has_task);

int mimic_binding_fault_in(struct mimic_binding *binding, u64 address, bool write, bool nowait)
{
	const struct mimic_device_ops *ops = mimic_binding_head(binding)->device->ops;
	struct mem_cgroup *memcg, *old;
	struct mm_struct *mm;
	int error;

	mm = ops->get_mm(binding);
	if (!mm)
		return -ESRCH;
	/* Page tables are charged to the task that allocates them: a thread of the kernel's. */
	memcg = get_mem_cgroup_from_mm(mm);
	old = set_active_memcg(memcg);
	if (nowait)
		error = mimic_fault_in_nowait(ops, mm, address, write);
	else
		error = mimic_fault_in(ops, mm, address, write);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	/* The last reference may be ours: the whole address space would go here. */
	mmput_async(mm);
	switch (error) {
	case 0:
	case -ENOMEM:
	case -EINTR:
	case -EAGAIN:
		return error;
	default:
		return -EFAULT;
	}
}
EXPORT_SYMBOL_GPL(mimic_binding_fault_in);
