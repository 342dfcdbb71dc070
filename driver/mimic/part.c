// SPDX-License-Identifier: GPL-2.0
/*
 * A mapping of a window: a part of it, or all of it; and the page tables that it has.
 *
 * Removing entries leaves the page tables, and the kernel frees those no sooner than the mapping
 * goes. A process that touches a byte in each 2 MB would have the daemon pay for as many tables as
 * its address space has room for. So they are counted, and a part that has its share is mapped once
 * more in its own place, which frees them; entries come back as they are touched.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "internal.h"
#include "window.h"

/*
 * A page's table and the two above it, which its part may have to itself, and one more: a thread
 * that has just given its part's back gets on.
 */
#define TABLES_MIN 4u

static unsigned int window_tables = 1024;
module_param(window_tables, uint, 0644);
MODULE_PARM_DESC(window_tables, "page tables of the daemon's that show one process's memory, about; then they are made anew");

static int mimic_part_do_nothing(pte_t *pte, unsigned long address, void *unused)
{
	return 0;
}

/*
 * Makes the tables before window.lock is taken: a reclaim wants that lock, so nothing may be
 * allocated with it. Tables that another thread makes or frees meanwhile falsify the count: for a
 * bound it is near enough.
 */
int mimic_part_make_tables(const struct mimic_view *view)
{
	struct mimic_part *part = view->vma->vm_private_data;
	struct mm_struct *mm = view->vma->vm_mm;
	unsigned long before = mm_pgtables_bytes(mm);
	int error = apply_to_page_range(mm, view->page, PAGE_SIZE, mimic_part_do_nothing, NULL);
	long more = mm_pgtables_bytes(mm) - before;

	if (more > 0)
		atomic_add(more >> PAGE_SHIFT, &part->tables);
	return error;
}

/* Each part has the same share. One that had more, when there were fewer parts, is full. */
bool mimic_part_is_full(const struct mimic_part *part)
{
	unsigned int parts = max(atomic_read(&part->binding->window.parts), 1);
	unsigned int most = max(READ_ONCE(window_tables) / parts, TABLES_MIN);

	return atomic_read(&part->tables) >= most;
}

/*
 * The part is mapped in its own place once more, as if the daemon did it: under its mmap_lock, so
 * that its other threads see one mapping or the other. Only a daemon that unmaps memory that
 * another of its threads is just reading would notice. The thread's own access only: in the
 * middle of a system call there may be locks.
 */
bool mimic_part_may_renew(const struct vm_fault *vmf)
{
	return vmf->flags & FAULT_FLAG_USER && vmf->flags & FAULT_FLAG_ALLOW_RETRY &&
	       !(vmf->flags & (FAULT_FLAG_RETRY_NOWAIT | FAULT_FLAG_REMOTE)) &&
	       current->mm == vmf->vma->vm_mm;
}

/* The mapping that was there, or the new one. */
static bool mimic_part_is_mapped(const struct file *file, unsigned long start, unsigned long size,
				 unsigned long offset)
{
	const struct vm_area_struct *vma;
	bool is_mapped;

	mmap_read_lock(current->mm);
	vma = vma_lookup(current->mm, start);
	is_mapped = vma && vma->vm_file == file && vma->vm_start == start &&
		    vma->vm_end == start + size && vma->vm_pgoff == offset >> PAGE_SHIFT;
	mmap_read_unlock(current->mm);
	return is_mapped;
}

vm_fault_t mimic_part_renew(struct vm_fault *vmf)
{
	const struct vm_area_struct *vma = vmf->vma;
	struct mimic_part *part = vma->vm_private_data;
	struct mimic_binding *binding = part->binding;
	unsigned long start = vma->vm_start, size = vma->vm_end - vma->vm_start;
	unsigned long offset = vma->vm_pgoff << PAGE_SHIFT;
	unsigned long prot = (vma->vm_flags & VM_READ ? PROT_READ : 0) |
			     (vma->vm_flags & VM_WRITE ? PROT_WRITE : 0);
	struct file *file = get_file(vma->vm_file);
	/* Of several threads that found it full one does it. */
	bool is_first = atomic_xchg(&part->tables, 0);
	long error = 0;

	/* The old mapping goes first, and with it the part that has the number of the new one. */
	mimic_binding_get(binding);
	mimic_binding_get_number(binding);
	release_fault_lock(vmf);
	if (is_first)
		error = vm_mmap(file, start, size, prot, MAP_SHARED | MAP_FIXED, offset);
	if (IS_ERR_VALUE(error))
		pr_warn_ratelimited("a window cannot be mapped anew: %ld\n", error);
	/* The daemon's next mapping could come to lie there, and the device would reach that. */
	if (IS_ERR_VALUE(error) && !mimic_part_is_mapped(file, start, size, offset))
		send_sig(SIGKILL, current, 1);
	mimic_binding_put_number(binding);
	mimic_binding_release(binding);
	fput(file);
	return VM_FAULT_RETRY;
}

/* The binding and its number are the part's. NULL: no memory. */
struct mimic_part *mimic_part_create(struct mimic_binding *binding)
{
	struct mimic_part *part = kzalloc(sizeof(*part), GFP_KERNEL_ACCOUNT);

	if (!part)
		return NULL;
	refcount_set(&part->users, 1);
	part->binding = binding;
	atomic_inc(&binding->window.parts);
	return part;
}

/* It has been cut in two, or is being moved. */
void mimic_part_opened(struct vm_area_struct *vma)
{
	struct mimic_part *part = vma->vm_private_data;

	refcount_inc(&part->users);
}

void mimic_part_closed(struct vm_area_struct *vma)
{
	struct mimic_part *part = vma->vm_private_data;

	if (!refcount_dec_and_test(&part->users))
		return;
	atomic_dec(&part->binding->window.parts);
	mimic_binding_put_number(part->binding);
	mimic_binding_release(part->binding);
	kfree(part);
}
