// SPDX-License-Identifier: GPL-2.0
/*
 * A daemon's window onto the memory of a bound process: page table entries that
 * mirror the process's own, entered on touch, taken away before the process's
 * change. No page is pinned; what is not present there is not present here.
 */
#include <linux/hmm.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "internal.h"
#include "trace.h"

#define ADDRESS_PAGES (1ul << (MIMIC_BUS_WINDOW_SHIFT - PAGE_SHIFT))

static const struct vm_operations_struct window_ops;

/* What is looked at: a page of the window, and whether it is to be written. */
struct view {
	struct mimic_binding *binding;
	struct vm_area_struct *vma;
	unsigned long page;
	bool write;
};

static u64 mimic_window_address(const struct view *view)
{
	unsigned long offset = view->vma->vm_pgoff +
			       ((view->page - view->vma->vm_start) >> PAGE_SHIFT);

	return (u64)(offset & (ADDRESS_PAGES - 1)) << PAGE_SHIFT;
}

static int mimic_window_do_nothing(pte_t *pte, unsigned long address, void *unused)
{
	return 0;
}

/* So that nothing has to be allocated while window_lock is held: a reclaim would want it. */
static int mimic_window_make_tables(const struct view *view)
{
	return apply_to_page_range(view->vma->vm_mm, view->page, PAGE_SIZE, mimic_window_do_nothing,
				   NULL);
}

/* The process's page as it is now, without bringing it in. Its mmap_lock is held. */
static int mimic_window_look_up(struct mimic_binding *binding, u64 address, unsigned long sequence,
				unsigned long *entry)
{
	struct hmm_range range = {
		.notifier = &binding->notifier,
		.notifier_seq = sequence,
		.start = address,
		.end = address + PAGE_SIZE,
		.hmm_pfns = entry,
	};
	int error;

	*entry = 0;
	error = hmm_range_fault(&range);
	if (error)
		return error;
	return *entry & HMM_PFN_VALID ? 0 : -EFAULT;
}

/* -EAGAIN: the process has changed it meanwhile. */
static int mimic_window_enter(const struct view *view, unsigned long entry, unsigned long sequence,
			      vm_fault_t *result)
{
	struct mimic_binding *binding = view->binding;
	unsigned long flags = view->vma->vm_flags;
	struct page *page = hmm_pfn_to_page(entry);
	int error = 0;

	if (!view->write)
		flags &= ~VM_WRITE;
	mutex_lock(&binding->window_lock);
	if (READ_ONCE(binding->gone)) {
		error = -EFAULT;
	} else if (mmu_interval_read_retry(&binding->notifier, sequence)) {
		error = -EAGAIN;
	} else {
		/*
		 * Written through us, and nobody else would notice: not even a page of
		 * MADV_FREE, which is not swap-backed, may be dropped then. A file's page
		 * is dirty already where the process may write it, and its filesystem
		 * might sleep here on a writeback that waits for window_lock.
		 */
		if (view->write && (PageAnon(page) || folio_test_swapbacked(page_folio(page))))
			set_page_dirty(page);
		/* Not the VMA's own protection: with pfn_mkwrite that one never writes. */
		*result = vmf_insert_pfn_prot(view->vma, view->page, page_to_pfn(page),
					      vm_get_page_prot(flags));
	}
	mutex_unlock(&binding->window_lock);
	return error;
}

/*
 * Makes the entry, or says why not. The mmap_lock of the process is held, so its
 * own changes wait; what comes without that lock (reclaim, migration) ends soon.
 */
static vm_fault_t mimic_window_fill(const struct view *view)
{
	struct mimic_binding *binding = view->binding;
	vm_fault_t result = VM_FAULT_SIGBUS;
	unsigned long entry, sequence;
	u64 address = mimic_window_address(view);
	int error;

	do {
		sequence = mmu_interval_read_begin(&binding->notifier);
		error = mimic_window_look_up(binding, address, sequence, &entry);
		if (!error && view->write && !(entry & HMM_PFN_WRITE))
			error = -EFAULT;
		if (!error)
			error = mimic_window_enter(view, entry, sequence, &result);
	} while ((error == -EBUSY || error == -EAGAIN) && !fatal_signal_pending(current));
	if (error == -EBUSY || error == -EAGAIN)
		return VM_FAULT_NOPAGE;
	trace_mimic_window(binding->number, address, view->write, error);
	return error ? VM_FAULT_SIGBUS : result;
}

/*
 * The daemon's mmap_lock is held and the process's is taken. So ours goes first;
 * then both the other way round, ours only tried for. A process that changes its
 * memory all the time would else keep the daemon here for ever, and with it all its
 * programs. The result is returned when the fault comes again.
 */
static vm_fault_t mimic_window_wait_for_process(struct vm_fault *vmf, struct view *view)
{
	struct mimic_binding *binding = view->binding;
	struct mm_struct *ours = view->vma->vm_mm;

	if (!(vmf->flags & FAULT_FLAG_ALLOW_RETRY) || vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_NOPAGE;
	mimic_binding_get(binding);
	release_fault_lock(vmf);
	if (mmap_read_lock_killable(binding->mm))
		goto out;
	if (mmap_read_trylock(ours)) {
		view->vma = vma_lookup(ours, view->page);
		if (view->vma && view->vma->vm_ops == &window_ops &&
		    view->vma->vm_private_data == binding && !mimic_window_make_tables(view) &&
		    mimic_window_fill(view) == VM_FAULT_SIGBUS) {
			WRITE_ONCE(binding->refused_page, view->page);
			WRITE_ONCE(binding->refused_task, current);
		}
		mmap_read_unlock(ours);
	}
	mmap_read_unlock(binding->mm);
out:
	mimic_binding_release(binding);
	return VM_FAULT_RETRY;
}

/* Did this thread's fault find, a moment ago and without the lock, that nothing is there? */
static bool mimic_window_was_refused(const struct view *view)
{
	struct mimic_binding *binding = view->binding;

	if (READ_ONCE(binding->refused_task) != current ||
	    READ_ONCE(binding->refused_page) != view->page)
		return false;
	WRITE_ONCE(binding->refused_task, NULL);
	return true;
}

static vm_fault_t mimic_window_fault(struct vm_fault *vmf)
{
	struct view view = {
		.binding = vmf->vma->vm_private_data,
		.vma = vmf->vma,
		.page = vmf->address & PAGE_MASK,
		.write = vmf->flags & FAULT_FLAG_WRITE,
	};
	struct mm_struct *mm = view.binding->mm;
	vm_fault_t result;

	if (READ_ONCE(view.binding->gone) || mimic_window_was_refused(&view))
		return VM_FAULT_SIGBUS;
	if (mimic_window_make_tables(&view))
		return VM_FAULT_OOM;
	if (!mmget_not_zero(mm))
		return VM_FAULT_SIGBUS;
	if (mmap_read_trylock(mm)) {
		result = mimic_window_fill(&view);
		mmap_read_unlock(mm);
	} else {
		result = mimic_window_wait_for_process(vmf, &view);
	}
	/* If that let the lock go, the VMA may be gone, and the binding with it. */
	mmput_async(mm);
	return result;
}

/*
 * A write to an entry that was made for reading. Taken away, it comes back as a
 * fault for writing, which looks whether the process itself may write there.
 */
static vm_fault_t mimic_window_mkwrite(struct vm_fault *vmf)
{
	zap_vma_ptes(vmf->vma, vmf->address & PAGE_MASK, PAGE_SIZE);
	return VM_FAULT_NOPAGE;
}

static void mimic_window_opened(struct vm_area_struct *vma)
{
	mimic_binding_get(vma->vm_private_data);
}

static void mimic_window_closed(struct vm_area_struct *vma)
{
	mimic_binding_release(vma->vm_private_data);
}

static const struct vm_operations_struct window_ops = {
	.open = mimic_window_opened,
	.close = mimic_window_closed,
	.fault = mimic_window_fault,
	.pfn_mkwrite = mimic_window_mkwrite,
};

int mimic_window_mmap(struct mimic_connection *connection, struct vm_area_struct *vma)
{
	u32 number = vma->vm_pgoff / ADDRESS_PAGES;
	struct mimic_binding *binding;

	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	/* Not the next binding's as well. */
	if (vma_pages(vma) > ADDRESS_PAGES - vma->vm_pgoff % ADDRESS_PAGES)
		return -EINVAL;
	if (current->mm != connection->mm)
		return -EPERM;
	binding = mimic_binding_find(connection, number);
	if (!binding)
		return -ENOENT;
	if (!(binding->device->device.capabilities & MIMIC_BUS_WINDOW_ACCESS)) {
		mimic_binding_release(binding);
		return -EPERM;
	}
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = binding;
	vma->vm_ops = &window_ops;
	/* Before the first entry: from here on invalidations look for them. */
	WRITE_ONCE(binding->has_window, true);
	return 0;
}

static void mimic_window_zap(struct mimic_binding *binding, unsigned long start, unsigned long end)
{
	if (!READ_ONCE(binding->has_window))
		return;
	/*
	 * unmap_mapping_range() takes locks of the daemon's mapping of the classes
	 * of those that our caller holds of the process's. The two cannot meet: a
	 * daemon is never bound, and has no windows onto a daemon (mimic_bind()).
	 */
	lockdep_off();
	unmap_mapping_range(binding->connection->inode->i_mapping,
			    MIMIC_BUS_WINDOW(binding->number) + start, end - start, 1);
	lockdep_on();
}

bool mimic_window_invalidate(struct mmu_interval_notifier *notifier,
			     const struct mmu_notifier_range *range, unsigned long sequence)
{
	struct mimic_binding *binding = container_of(notifier, struct mimic_binding, notifier);
	unsigned long end = min(range->end, 1ul << MIMIC_BUS_WINDOW_SHIFT);

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&binding->window_lock);
	mmu_interval_set_seq(notifier, sequence);
	mutex_unlock(&binding->window_lock);
	if (range->start >= end)
		return true;
	/* Also if it is gone: mimic_window_close() may not have come to its entries yet. */
	mimic_window_zap(binding, range->start, end);
	if (READ_ONCE(binding->gone))
		return true;
	trace_mimic_shootdown(binding->number, range->start, end);
	if (binding->ops->shootdown)
		binding->ops->shootdown(binding, range->start, end);
	return true;
}

void mimic_window_close(struct mimic_binding *binding)
{
	/* A fault that enters a page from now on sees that the binding is gone. */
	mutex_lock(&binding->window_lock);
	mutex_unlock(&binding->window_lock);
	mimic_window_zap(binding, 0, 1ul << MIMIC_BUS_WINDOW_SHIFT);
	WRITE_ONCE(binding->has_window, false);
}
