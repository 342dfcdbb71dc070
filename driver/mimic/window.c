// SPDX-License-Identifier: GPL-2.0
/*
 * A daemon's window onto the memory of a bound process: page table entries that
 * mirror the process's own, entered on touch, taken away before the process's
 * change. No page is pinned; a page that is not present there is not present here.
 * changes.c knows the ranges that are being changed.
 *
 * The daemon does not wait for the process, which may hold its mmap_lock as long as it likes: a
 * tenth of a second at most, then the page is absent, and the device's page fault waits instead.
 *
 * Lock order: the daemon's mmap_lock, the process's (only tried for, or the other way round),
 * window.lock, window.changes_lock. A notifier takes the last two and then zaps.
 */
#include <linux/delay.h>
#include <linux/hmm.h>
#include <linux/lockdep.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "internal.h"
#include "trace.h"
#include "window.h"

#define ADDRESS_PAGES (1ul << (MIMIC_BUS_WINDOW_SHIFT - PAGE_SHIFT))
/* Looks at a page that is being changed, and how long after each other. */
#define LOOKS_MAX 10
#define LOOK_USECS 50
/* How long the daemon waits for the process's mmap_lock. */
#define FILL_JIFFIES (HZ / 10)
/*
 * How long a change waits for the device, and how long none waits for a device of the same daemon
 * after one that did so in vain.
 */
#define SYNC_JIFFIES (HZ / 10)
#define QUIET_JIFFIES (10 * HZ)

static const struct vm_operations_struct window_ops;
static struct workqueue_struct *fill_workqueue;

/* One fill that waits for the process's mmap_lock. The fault and the work item refer to it. */
struct mimic_fill {
	struct work_struct work;
	refcount_t users;
	bool is_done;
	struct mimic_binding *binding;	/* counted */
	const struct mm_struct *daemon;	/* whose `page` it is, for comparing */
	unsigned long page;
	bool write;
	bool is_refused;	/* there is nothing */
};

/* --- an entry -------------------------------------------------------------------- */

static u64 mimic_window_address(const struct mimic_view *view)
{
	unsigned long offset = view->vma->vm_pgoff +
			       ((view->page - view->vma->vm_start) >> PAGE_SHIFT);

	return (u64)(offset & (ADDRESS_PAGES - 1)) << PAGE_SHIFT;
}

/* The process's page as it is now, without bringing it in. Its mmap_lock is held. */
static int mimic_window_look_up(struct mimic_view *view, unsigned long *entry)
{
	/*
	 * Never inserted: hmm_range_fault() wants one to compare its sequence number, which
	 * stays. The view says whether the page has changed (is_stale).
	 */
	struct mmu_interval_notifier no_notifier = { .mm = view->mm };
	struct hmm_range range = {
		.notifier = &no_notifier,
		.start = view->address,
		.end = view->address + PAGE_SIZE,
		.hmm_pfns = entry,
	};
	const struct vm_area_struct *vma = vma_lookup(view->mm, view->address);
	int error;

	*entry = 0;
	if (!vma || !mimic_vma_may_show(vma, view->write))
		return -EFAULT;
	error = hmm_range_fault(&range);
	if (error)
		return error;
	if (!(*entry & HMM_PFN_VALID) || (view->write && !(*entry & HMM_PFN_WRITE)))
		return -EFAULT;
	return 0;
}

/* window.lock is held. From here on a change of it waits for the device. */
static void mimic_window_note_seen(struct mimic_window *window, u64 address)
{
	WRITE_ONCE(window->seen_start, min(window->seen_start, address));
	WRITE_ONCE(window->seen_end, max(window->seen_end, address + PAGE_SIZE));
}

/* -EAGAIN: the process has changed it meanwhile. */
static int mimic_window_enter(const struct mimic_view *view, unsigned long entry,
			      vm_fault_t *result)
{
	struct mimic_binding *binding = view->binding;
	unsigned long flags = view->vma->vm_flags;
	struct page *page = hmm_pfn_to_page(entry);
	int error = 0;

	if (!view->write)
		flags &= ~VM_WRITE;
	mutex_lock(&binding->window.lock);
	if (READ_ONCE(binding->gone)) {
		error = -EFAULT;
	} else if (READ_ONCE(view->is_stale)) {
		/* Marked under window.lock: a later change finds the entry and zaps it. */
		error = -EAGAIN;
	} else {
		/*
		 * Written through us, which the kernel would not notice otherwise: not even a
		 * page of MADV_FREE, which is not swap-backed, may be dropped then. A file's page
		 * is dirty already where the process may write it, and its filesystem might sleep
		 * here on a writeback that waits for window.lock.
		 */
		if (view->write && (PageAnon(page) || folio_test_swapbacked(page_folio(page))))
			set_page_dirty(page);
		mimic_window_note_seen(&binding->window, view->address);
		/* Not the VMA's own protection: with pfn_mkwrite that one never writes. */
		*result = vmf_insert_pfn_prot(view->vma, view->page, page_to_pfn(page),
					      vm_get_page_prot(flags));
	}
	mutex_unlock(&binding->window.lock);
	return error;
}

/* Once. -EAGAIN, -EBUSY: it is being changed. */
static int mimic_window_look(struct mimic_view *view, vm_fault_t *result)
{
	unsigned long entry;
	int error;

	if (!mimic_view_begin(view))
		return -EAGAIN;
	error = mimic_window_look_up(view, &entry);
	if (!error)
		error = mimic_window_enter(view, entry, result);
	mimic_view_end(view);
	return error;
}

/*
 * Makes the entry, or says why not. The mmap_lock of the process is held. A page that is being
 * changed all the time is absent: the daemon has others to serve.
 */
static vm_fault_t mimic_window_fill(struct mimic_view *view)
{
	vm_fault_t result = VM_FAULT_SIGBUS;
	unsigned int looks;
	int error;

	view->address = mimic_window_address(view);
	for (looks = 0; looks < LOOKS_MAX; looks++) {
		error = mimic_window_look(view, &result);
		if ((error != -EAGAIN && error != -EBUSY) ||
		    atomic_read(&view->binding->window.syncs))
			break;
		usleep_range_state(LOOK_USECS, 2 * LOOK_USECS, TASK_INTERRUPTIBLE);
	}
	trace_mimic_window(view->binding->head.number, view->address, view->write, error);
	return error ? VM_FAULT_SIGBUS : result;
}

/* --- a process that holds its mmap_lock ------------------------------------------- */

static void mimic_fill_put(struct mimic_fill *fill)
{
	if (!refcount_dec_and_test(&fill->users))
		return;
	mimic_binding_release(fill->binding);
	kfree(fill);
}

/* NULL: it is no window. */
static struct mimic_binding *mimic_window_of(const struct vm_area_struct *vma)
{
	const struct mimic_part *part = vma->vm_private_data;

	return vma->vm_ops == &window_ops ? part->binding : NULL;
}

/* Acquire: the entry, or is_refused, is there, too. */
static bool mimic_fill_is_done(const struct mimic_fill *fill)
{
	/* Pairs with the release in mimic_fill_work(). */
	return smp_load_acquire(&fill->is_done);
}

/* The process's mmap_lock is held, the daemon's not: the window may be another one by now. */
static void mimic_fill_look(struct mimic_fill *fill, struct mm_struct *mm)
{
	struct mimic_binding *binding = fill->binding;
	struct mm_struct *ours = mimic_connection_get_mm(binding->connection);
	struct mimic_view view = {
		.binding = binding, .mm = mm, .page = fill->page, .write = fill->write,
	};

	if (!ours)
		return;
	if (ours == fill->daemon && mmap_read_trylock(ours)) {
		view.vma = vma_lookup(ours, view.page);
		if (view.vma && mimic_window_of(view.vma) == binding &&
		    !mimic_part_make_tables(&view))
			fill->is_refused = mimic_window_fill(&view) == VM_FAULT_SIGBUS;
		mmap_read_unlock(ours);
	}
	mmput_async(ours);
}

/* Queues for the lock: a thread that only tries for it may never get it. */
static void mimic_fill_work(struct work_struct *work)
{
	struct mimic_fill *fill = container_of(work, struct mimic_fill, work);
	struct mimic_binding *binding = fill->binding;
	struct mm_struct *mm = mimic_binding_get_mm(binding);

	if (mm) {
		mmap_read_lock(mm);
		mimic_fill_look(fill, mm);
		mmap_read_unlock(mm);
		mmput_async(mm);
	}
	clear_bit_unlock(0, &binding->window.is_filling);
	/* Release: a thread that sees the flag sees the entry, or is_refused. */
	smp_store_release(&fill->is_done, true);
	wake_up_all(&binding->window.wait);
	mimic_fill_put(fill);
}

/* NULL: no memory, or one is waiting already. */
static struct mimic_fill *mimic_fill_start(const struct mimic_view *view)
{
	struct mimic_binding *binding = view->binding;
	struct mimic_fill *fill;

	if (test_and_set_bit_lock(0, &binding->window.is_filling))
		return NULL;
	fill = kzalloc(sizeof(*fill), GFP_KERNEL_ACCOUNT);
	if (!fill) {
		clear_bit_unlock(0, &binding->window.is_filling);
		return NULL;
	}
	INIT_WORK(&fill->work, mimic_fill_work);
	refcount_set(&fill->users, 2);
	mimic_binding_get(binding);
	WRITE_ONCE(binding->window.fills_since, jiffies);
	fill->binding = binding;
	fill->daemon = view->vma->vm_mm;
	fill->page = view->page;
	fill->write = view->write;
	queue_work(fill_workqueue, &fill->work);
	return fill;
}

/*
 * The daemon's mmap_lock is held and the process's is taken. So ours goes first; then a
 * work item takes both the other way round, ours only tried for. A process that changes its
 * memory all the time would else keep the daemon here for ever, and with it all its
 * programs. One that does not let go has no page now, nor has one that waits for the device, as it
 * may be us that it waits for. The result is returned when the fault comes again.
 */
static vm_fault_t mimic_window_wait_for_process(struct vm_fault *vmf, const struct mimic_view *view)
{
	struct mimic_binding *binding = view->binding;
	struct mimic_fill *fill;
	unsigned long end;
	bool is_refused;

	if (!(vmf->flags & FAULT_FLAG_ALLOW_RETRY) || vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_NOPAGE;
	mimic_binding_get(binding);
	fill = mimic_fill_start(view);
	release_fault_lock(vmf);
	if (fill) {
		wait_event_interruptible_timeout(binding->window.wait,
						 mimic_fill_is_done(fill) ||
						 atomic_read(&binding->window.syncs), FILL_JIFFIES);
		is_refused = !mimic_fill_is_done(fill) || fill->is_refused;
		mimic_fill_put(fill);
	} else {
		/* Another thread's look waits for the same lock. */
		schedule_timeout_interruptible(1);
		end = READ_ONCE(binding->window.fills_since) + FILL_JIFFIES;
		is_refused = time_after(jiffies, end);
	}
	if (is_refused) {
		WRITE_ONCE(binding->window.refused_page, view->page);
		WRITE_ONCE(binding->window.refused_task, current);
	}
	mimic_binding_release(binding);
	return VM_FAULT_RETRY;
}

/* Did this thread's fault find, a moment ago and without the lock, that nothing is there? */
static bool mimic_window_was_refused(const struct mimic_view *view)
{
	struct mimic_window *window = &view->binding->window;

	if (READ_ONCE(window->refused_task) != current ||
	    READ_ONCE(window->refused_page) != view->page)
		return false;
	WRITE_ONCE(window->refused_task, NULL);
	return true;
}

/* --- the mapping -------------------------------------------------------------------- */

static vm_fault_t mimic_window_fault(struct vm_fault *vmf)
{
	struct mimic_part *part = vmf->vma->vm_private_data;
	struct mimic_view view = {
		.binding = part->binding,
		.vma = vmf->vma,
		.page = vmf->address & PAGE_MASK,
		.write = vmf->flags & FAULT_FLAG_WRITE,
	};
	struct mm_struct *mm;
	vm_fault_t result;

	if (READ_ONCE(view.binding->gone) || mimic_window_was_refused(&view))
		return VM_FAULT_SIGBUS;
	if (mimic_part_is_full(part) && mimic_part_may_renew(vmf))
		return mimic_part_renew(vmf);
	if (mimic_part_make_tables(&view))
		return VM_FAULT_OOM;
	mm = mimic_binding_get_mm(view.binding);
	if (!mm)
		return VM_FAULT_SIGBUS;
	view.mm = mm;
	if (mmap_read_trylock(mm)) {
		result = mimic_window_fill(&view);
		mmap_read_unlock(mm);
	} else if (atomic_read(&view.binding->window.syncs)) {
		result = VM_FAULT_SIGBUS;
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
	zap_special_vma_range(vmf->vma, vmf->address & PAGE_MASK, PAGE_SIZE);
	return VM_FAULT_NOPAGE;
}

static const struct vm_operations_struct window_ops = {
	.open = mimic_part_opened,
	.close = mimic_part_closed,
	.fault = mimic_window_fault,
	.pfn_mkwrite = mimic_window_mkwrite,
};

/* Before the first entry: from here on changes look for them. */
static bool mimic_window_map(struct mimic_window *window)
{
	bool may_map;

	raw_spin_lock(&window->changes_lock);
	may_map = !window->is_refused;
	if (may_map)
		WRITE_ONCE(window->is_mapped, true);
	raw_spin_unlock(&window->changes_lock);
	return may_map;
}

/* A part for the mapping; it has the binding, and as long as it has, the number is no other's. */
static int mimic_window_add_part(struct mimic_binding *binding, struct vm_area_struct *vma)
{
	struct mimic_part *part;

	if (!(binding->device->device.capabilities & MIMIC_BUS_WINDOW_ACCESS))
		return -EPERM;
	/* One that was mapped before may be once more, although it will show nothing. */
	if (!mimic_window_map(&binding->window) && !READ_ONCE(binding->gone))
		return -ENOENT;
	part = mimic_part_create(binding);
	if (!part)
		return -ENOMEM;
	vma->vm_private_data = part;
	return 0;
}

int mimic_window_mmap(struct mimic_connection *connection, struct vm_area_struct *vma)
{
	u32 number = vma->vm_pgoff / ADDRESS_PAGES;
	struct mimic_binding *binding;
	int error;

	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	/* Not the next binding's as well. */
	if (vma_pages(vma) > ADDRESS_PAGES - vma->vm_pgoff % ADDRESS_PAGES)
		return -EINVAL;
	if (current->mm != READ_ONCE(connection->mm))
		return -EPERM;
	binding = mimic_binding_find(connection, number);
	if (!binding)
		return -ENOENT;
	error = mimic_window_add_part(binding, vma);
	if (error) {
		mimic_binding_put_number(binding);
		mimic_binding_release(binding);
		return error;
	}
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_ops = &window_ops;
	return 0;
}

int mimic_window_fault_in(struct mimic_connection *connection,
			  const struct mimic_bus_fault_in *wanted)
{
	struct mimic_binding *binding;
	int error = -EPERM;

	if (current->mm != READ_ONCE(connection->mm))
		return -EPERM;
	binding = mimic_binding_find(connection, wanted->binding);
	if (!binding)
		return -ENOENT;
	if (binding->device->device.capabilities & MIMIC_BUS_WINDOW_ACCESS)
		error = mimic_binding_fault_in(binding, wanted->address, wanted->writes, true);
	mimic_binding_put_number(binding);
	mimic_binding_release(binding);
	return error;
}

static void mimic_window_zap(struct mimic_binding *binding, unsigned long start, unsigned long end)
{
	if (!READ_ONCE(binding->window.is_mapped))
		return;
	/*
	 * unmap_mapping_range() takes locks of the daemon's mapping of the classes
	 * of those that our caller holds of the process's. The two cannot meet: a
	 * daemon is never bound, and has no windows onto a daemon (mimic_bind()).
	 */
	lockdep_off();
	unmap_mapping_range(binding->connection->inode->i_mapping,
			    MIMIC_BUS_WINDOW(binding->head.number) + start, end - start, 1);
	lockdep_on();
}

/*
 * The core asks here first, before mimic_window_change_begins(), which must not fail. Only a call
 * that must not block (the OOM reaper's) can be refused, and is where there may be entries:
 * to zap them sleeps. The reaper then leaves that memory to the process's own end, which is near:
 * it has been killed. For the same reason one without a window gets none any more, as that would
 * have to know of this change; to note it here would not do, as there is no end of a change that
 * another notifier refuses.
 */
bool mimic_window_may_change(struct mmu_interval_notifier *refusal,
			     const struct mmu_notifier_range *range, unsigned long sequence)
{
	struct mimic_window *window =
		&container_of(refusal, struct mimic_binding, refusal)->window;
	bool may_change;

	mmu_interval_set_seq(refusal, sequence);
	if (mmu_notifier_range_blockable(range))
		return true;
	raw_spin_lock(&window->changes_lock);
	may_change = !window->is_mapped;
	if (may_change)
		window->is_refused = true;
	raw_spin_unlock(&window->changes_lock);
	return may_change;
}

int mimic_window_change_begins(struct mmu_notifier *notifier,
			       const struct mmu_notifier_range *range)
{
	struct mimic_binding *binding = container_of(notifier, struct mimic_binding, notifier);
	unsigned long end = min(range->end, 1ul << MIMIC_BUS_WINDOW_SHIFT);

	/* There is no window, and will be none: mimic_window_may_change(). */
	if (!mmu_notifier_range_blockable(range))
		return 0;
	mutex_lock(&binding->window.lock);
	mimic_changes_begin(&binding->window, range);
	mutex_unlock(&binding->window.lock);
	if (range->start >= end)
		return 0;
	/* Also if it is gone: mimic_window_close() may not have come to its entries yet. */
	mimic_window_zap(binding, range->start, end);
	if (READ_ONCE(binding->gone))
		return 0;
	trace_mimic_shootdown(binding->head.number, range->start, end);
	if (binding->head.ops->shootdown)
		binding->head.ops->shootdown(binding, range->start, end);
	return 0;
}

/*
 * May the device have seen any of it, ever? It has seen some between the lowest address and the
 * highest. No time is noted: it has seen before all that it still translates.
 */
static bool mimic_window_was_seen(const struct mimic_window *window, u64 start, u64 end)
{
	return start < READ_ONCE(window->seen_end) && end > READ_ONCE(window->seen_start);
}

/*
 * The wait is short: the daemon may be waiting for a lock that our caller holds. After a wait in
 * vain no change waits for a while, whichever process makes the change, or a program with many
 * bindings could have one process wait after the other. A thread of the daemon that reclaims
 * memory does not wait: it would wait for itself. For a dead daemon none waits, though its
 * successor will flush: the windows have gone with its memory.
 */
int mimic_window_sync(struct mimic_binding *binding, unsigned long start, unsigned long end)
{
	struct mimic_window *window = &binding->window;
	int error;

	if (!mimic_window_was_seen(window, start, end) ||
	    current->mm == READ_ONCE(binding->connection->mm) ||
	    READ_ONCE(binding->connection->is_unserved) ||
	    time_before(jiffies, READ_ONCE(binding->connection->quiet_until)))
		return 0;
	atomic_inc(&window->syncs);
	wake_up_all(&window->wait);
	error = mimic_device_wait_for_posts(binding->device, SYNC_JIFFIES);
	atomic_dec(&window->syncs);
	if (error)
		WRITE_ONCE(binding->connection->quiet_until, jiffies + QUIET_JIFFIES);
	return error;
}

void mimic_window_change_ends(struct mmu_notifier *notifier,
			      const struct mmu_notifier_range *range)
{
	struct mimic_binding *binding = container_of(notifier, struct mimic_binding, notifier);

	if (mmu_notifier_range_blockable(range))
		mimic_changes_end(&binding->window, range);
}

void mimic_window_close(struct mimic_binding *binding)
{
	/* A fault that enters a page from now on sees that the binding is gone. */
	mutex_lock(&binding->window.lock);
	mutex_unlock(&binding->window.lock);
	mimic_window_zap(binding, 0, 1ul << MIMIC_BUS_WINDOW_SHIFT);
	WRITE_ONCE(binding->window.is_mapped, false);
}

void mimic_window_init(struct mimic_binding *binding)
{
	mutex_init(&binding->window.lock);
	raw_spin_lock_init(&binding->window.changes_lock);
	INIT_LIST_HEAD(&binding->window.views);
	binding->window.seen_start = U64_MAX;
	init_waitqueue_head(&binding->window.wait);
}

int mimic_windows_init(void)
{
	fill_workqueue = alloc_workqueue("mimic_window", WQ_UNBOUND, 0);
	return fill_workqueue ? 0 : -ENOMEM;
}

void mimic_windows_exit(void)
{
	destroy_workqueue(fill_workqueue);
}
