// SPDX-License-Identifier: GPL-2.0
/*
 * A binding: one process that has one device. Its address space is one of the function's: ROOT and
 * MODE of the bus page are where the process's page tables are, and the device walks them.
 *
 * The device keeps translations, and drops them when the kernel says that an entry has changed,
 * by the driver's shootdown(), before the entry's page is freed. If a flush has had
 * no effect, the space is shown to the device anew, which makes it forget, too.
 *
 * Lifetimes are those of mimic.ko's bindings: with the last file, or with the process's memory
 * if that goes first, the binding retires. A work item takes the notifier away, which waits for
 * changes of the process's memory and so is nothing that a close() may wait for.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "internal.h"

static unsigned int user_bindings = 256;
module_param(user_bindings, uint, 0644);
MODULE_PARM_DESC(user_bindings, "devices of one user's processes at once, dead ones included; for others than root");

static LIST_HEAD(bindings);	/* all that there are, as those of a user are counted */
static DEFINE_SPINLOCK(bindings_lock);
static atomic_t binding_count = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(bindings_gone);

/* A binding of a process that has ended stays while a thread waits for a page for it. */
static int mimic_pci_count(struct mimic_binding *binding)
{
	unsigned int count = 0, most = READ_ONCE(user_bindings);
	struct mimic_binding *other;

	if (capable(CAP_SYS_RESOURCE))
		most = UINT_MAX;
	binding->user = current_uid();
	spin_lock(&bindings_lock);
	list_for_each_entry(other, &bindings, counted)
		count += uid_eq(other->user, binding->user);
	if (count < most)
		list_add(&binding->counted, &bindings);
	spin_unlock(&bindings_lock);
	return count < most ? 0 : -EMFILE;
}

static void mimic_pci_uncount(struct mimic_binding *binding)
{
	spin_lock(&bindings_lock);
	list_del(&binding->counted);
	spin_unlock(&bindings_lock);
}

/* --- its end -------------------------------------------------------------------- */

static void mimic_pci_do_free(struct work_struct *work)
{
	struct mimic_binding *binding = container_of(work, struct mimic_binding, free);

	if (binding->inode)
		iput(binding->inode);
	if (binding->lost_page)
		__free_page(binding->lost_page);
	put_device(&binding->device->device.dev);
	mimic_pci_uncount(binding);
	kfree(binding);
	if (atomic_dec_and_test(&binding_count))
		wake_up_all(&bindings_gone);
}

void mimic_pci_free(struct mimic_binding *binding)
{
	queue_work(mimic_retire_workqueue, &binding->free);
}

/* Its notifier is there no more, or never was. */
static void mimic_pci_give_up(struct mimic_binding *binding)
{
	struct mm_struct *mm = binding->mm;

	mutex_lock(&binding->calls_lock);
	binding->calls_over = true;
	mutex_unlock(&binding->calls_lock);
	if (binding->head.ops->put_context)
		binding->head.ops->put_context(binding->head.context);
	spin_lock(&binding->mm_lock);
	WRITE_ONCE(binding->mm, NULL);
	spin_unlock(&binding->mm_lock);
	mmdrop(mm);
	mimic_binding_release(binding);
}

static void mimic_pci_do_retire(struct work_struct *work)
{
	struct mimic_binding *binding = container_of(work, struct mimic_binding, retire);

	mmu_notifier_unregister(&binding->notifier, binding->mm);
	mimic_pci_give_up(binding);
}

/* It is gone. */
static void mimic_pci_retire(struct mimic_binding *binding)
{
	if (!xchg(&binding->retires, true))
		queue_work(mimic_retire_workqueue, &binding->retire);
}

/* device->lock is held. true: the driver is to hear of it. */
static bool mimic_pci_disable(struct mimic_binding *binding)
{
	struct mimic_pci_device *device = binding->device;
	u32 number = binding->head.number;

	list_del_init(&binding->link);
	if (binding->gone)
		return false;
	spin_lock(&binding->change_lock);
	WRITE_ONCE(binding->gone, true);
	mimic_pci_set_space(device, number, 0, MIMIC_PCI_MODE_NONE);
	spin_unlock(&binding->change_lock);
	clear_bit(number - 1, device->spaces);
	return true;
}

static void mimic_pci_disabled(struct mimic_binding *binding)
{
	if (binding->head.ops->gone)
		binding->head.ops->gone(binding);
}

void mimic_pci_end(struct mimic_binding *binding)
{
	bool disabled;

	mutex_lock(&binding->device->lock);
	disabled = mimic_pci_disable(binding);
	/* No thread of the process is there to see them. */
	mimic_pci_lanes_gone(binding);
	mutex_unlock(&binding->device->lock);
	if (disabled)
		mimic_pci_disabled(binding);
}

void mimic_pci_put(struct mimic_binding *binding)
{
	struct mimic_pci_device *device = binding->device;
	bool last, disabled = false;

	mutex_lock(&device->lock);
	last = !--binding->users;
	if (last) {
		disabled = mimic_pci_disable(binding);
		/* A mapping would hold the file. */
		mimic_pci_lanes_gone(binding);
	}
	mutex_unlock(&device->lock);
	if (!last)
		return;
	if (disabled)
		mimic_pci_disabled(binding);
	mimic_pci_retire(binding);
	mimic_binding_release(binding);
}

/* One of the processes that have it loses it. false: there is none. */
static bool mimic_pci_detach_binding(struct mimic_pci_device *device)
{
	struct mimic_binding *binding;
	bool disabled = false;

	mutex_lock(&device->lock);
	binding = list_first_entry_or_null(&device->bindings, struct mimic_binding, link);
	if (binding) {
		mimic_binding_get(binding);
		disabled = mimic_pci_disable(binding);
	}
	mutex_unlock(&device->lock);
	if (!binding)
		return false;
	/* Beside the process's own end, with which the driver's context goes. */
	mutex_lock(&binding->calls_lock);
	if (disabled && !binding->calls_over) {
		mimic_pci_disabled(binding);
		mimic_pci_take_mappings(binding);
	}
	mutex_unlock(&binding->calls_lock);
	mutex_lock(&device->lock);
	mimic_pci_lanes_gone(binding);
	mutex_unlock(&device->lock);
	mimic_binding_release(binding);
	return true;
}

void mimic_pci_detach_bindings(struct mimic_pci_device *device)
{
	while (mimic_pci_detach_binding(device))
		cond_resched();
}

/* --- changes of the process's memory ------------------------------------------------ */

/* The process's memory is being taken down: by its exit, or its exec. */
static void mimic_pci_process_ended(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct mimic_binding *binding = container_of(notifier, struct mimic_binding, notifier);

	mimic_pci_end(binding);
	mimic_pci_retire(binding);
}

/*
 * Entries have changed, and their pages are not freed yet. Spin locks of the memory management
 * may be held.
 */
static void mimic_pci_invalidate(struct mmu_notifier *notifier, struct mm_struct *mm,
				 unsigned long start, unsigned long end)
{
	struct mimic_binding *binding = container_of(notifier, struct mimic_binding, notifier);

	if (!READ_ONCE(binding->gone) && binding->head.ops->shootdown)
		binding->head.ops->shootdown(binding, start, end);
}

/* Shows the process's tables to the device, which drops older translations. change_lock is held. */
static void mimic_pci_show_space(struct mimic_binding *binding)
{
	u64 root = virt_to_phys(binding->mm->pgd);

	if (binding->gone)
		return;
	/* While they change: tables without an entry. */
	if (binding->changes)
		root = page_to_phys(ZERO_PAGE(0));
	mimic_pci_set_space(binding->device, binding->head.number, root,
			    mimic_pci_page_table_mode());
}

void mimic_pci_refresh_space(struct mimic_binding *binding)
{
	spin_lock(&binding->change_lock);
	if (!binding->gone) {
		mimic_pci_set_space(binding->device, binding->head.number, 0, MIMIC_PCI_MODE_NONE);
		mimic_pci_show_space(binding);
	}
	spin_unlock(&binding->change_lock);
}

/*
 * Where the kernel says only that a change begins and has ended: an access of the device in
 * between is a page fault, until it is over.
 */
static int __maybe_unused mimic_pci_change_begins(struct mmu_notifier *notifier,
						  const struct mmu_notifier_range *range)
{
	struct mimic_binding *binding = container_of(notifier, struct mimic_binding, notifier);

	spin_lock(&binding->change_lock);
	if (!binding->changes++)
		mimic_pci_show_space(binding);
	spin_unlock(&binding->change_lock);
	mimic_pci_invalidate(notifier, range->mm, range->start, range->end);
	return 0;
}

static void __maybe_unused mimic_pci_change_ends(struct mmu_notifier *notifier,
						 const struct mmu_notifier_range *range)
{
	struct mimic_binding *binding = container_of(notifier, struct mimic_binding, notifier);

	spin_lock(&binding->change_lock);
	/* The first one may have begun before there was a notifier. */
	if (binding->changes && !--binding->changes)
		mimic_pci_show_space(binding);
	spin_unlock(&binding->change_lock);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = mimic_pci_process_ended,
	/* One kind or the other: the kernel refuses both. */
#ifdef MIMIC_INVALIDATES_ONLY_RANGES
	.invalidate_range_start = mimic_pci_change_begins,
	.invalidate_range_end = mimic_pci_change_ends,
#else
	.mimic_invalidate_hook = mimic_pci_invalidate,
#endif
};

/*
 * A flush that was not ready, or was dropped, is counted by the device, as programs' accesses are:
 * then the space is shown anew. Callers that come meanwhile wait for that.
 */
int mimic_pci_sync(struct mimic_binding *binding, unsigned long start, unsigned long end)
{
	u64 not_ready;

	spin_lock(&binding->change_lock);
	if (mimic_pci_settle(binding->device, &not_ready) && not_ready != binding->not_ready) {
		mimic_pci_show_space(binding);
		binding->not_ready = not_ready;
	}
	spin_unlock(&binding->change_lock);
	return 0;
}

/* --- its beginning -------------------------------------------------------------------- */

static struct mimic_binding *mimic_pci_create(struct mimic_pci_device *device,
					      const struct mimic_binding_ops *ops, void *context)
{
	struct mimic_binding *binding = kzalloc(sizeof(*binding), GFP_KERNEL_ACCOUNT);
	int error;

	if (!binding)
		return ERR_PTR(-ENOMEM);
	error = mimic_pci_count(binding);
	if (error) {
		kfree(binding);
		return ERR_PTR(error);
	}
	kref_init(&binding->head.kref);
	binding->head.device = &device->device;
	binding->head.ops = ops;
	binding->head.context = context;
	spin_lock_init(&binding->mm_lock);
	spin_lock_init(&binding->change_lock);
	mutex_init(&binding->calls_lock);
	INIT_LIST_HEAD(&binding->link);
	INIT_WORK(&binding->retire, mimic_pci_do_retire);
	INIT_WORK(&binding->free, mimic_pci_do_free);
	binding->gone = true;	/* as yet */
	binding->device = device;
	get_device(&device->device.dev);
	atomic_inc(&binding_count);
	binding->mm = current->mm;
	mmgrab(binding->mm);
	if (ops->get_context)
		ops->get_context(context);
	binding->notifier.ops = &notifier_ops;
	error = mmu_notifier_register(&binding->notifier, binding->mm);
	if (!error)
		return binding;
	mimic_pci_give_up(binding);
	/* A signal: nothing has been done, the open is made again. */
	return ERR_PTR(error == -EINTR ? -ERESTARTNOINTR : error);
}

/* device->lock is held. The one that the process has; NULL: none, and it may have one. */
static struct mimic_binding *mimic_pci_find_current(struct mimic_pci_device *device)
{
	struct mimic_binding *binding;

	if (!device->has_driver)
		return ERR_PTR(-ENODEV);
	list_for_each_entry(binding, &device->bindings, link) {
		if (binding->mm == current->mm)
			return binding;
	}
	return device->is_shared || list_empty(&device->bindings) ? NULL : ERR_PTR(-EBUSY);
}

/* device->lock is held. Clears the data that the last process has left in the device's memory. */
static int mimic_pci_enter(struct mimic_pci_device *device, struct mimic_binding *binding)
{
	unsigned long space = find_first_zero_bit(device->spaces, MIMIC_PCI_SPACES);
	u64 not_ready;

	if (space == MIMIC_PCI_SPACES)
		return -EBUSY;
	set_bit(space, device->spaces);
	binding->head.number = space + 1;
	/* Of all files, together. */
	binding->users = 1;
	mimic_binding_get(binding);
	list_add_tail(&binding->link, &device->bindings);
	if (device->memory && !device->is_shared) {
		/* Not to come behind it: a store that is posted and may write there. */
		mimic_pci_settle(device, &not_ready);
		memset_io(device->memory, 0, device->device.memory_size);
	}
	spin_lock(&binding->change_lock);
	WRITE_ONCE(binding->gone, false);
	mimic_pci_show_space(binding);
	spin_unlock(&binding->change_lock);
	return 0;
}

/* `fresh`, or the one that the process has, once more; ERR_PTR: -errno. NULL: `fresh` is wanted. */
static struct mimic_binding *mimic_pci_join(struct mimic_pci_device *device,
					    struct mimic_binding *fresh)
{
	struct mimic_binding *binding;
	int error;

	mutex_lock(&device->lock);
	binding = mimic_pci_find_current(device);
	if (!IS_ERR_OR_NULL(binding)) {
		binding->users++;
	} else if (!binding && fresh) {
		error = mimic_pci_enter(device, fresh);
		binding = error ? ERR_PTR(error) : fresh;
	}
	mutex_unlock(&device->lock);
	return binding;
}

struct mimic_binding *mimic_pci_bind(struct mimic_device *public,
				     const struct mimic_binding_ops *ops, void *context)
{
	struct mimic_pci_device *device = to_pci_device(public);
	struct mimic_binding *binding, *fresh;

	if (!current->mm)
		return ERR_PTR(-EINVAL);
	if (!mimic_pci_is_served(public))
		return ERR_PTR(-EIO);
	binding = mimic_pci_join(device, NULL);
	if (binding)
		return binding;
	/* Without the lock: registering wants the process's mmap_lock. */
	fresh = mimic_pci_create(device, ops, context);
	if (IS_ERR(fresh))
		return fresh;
	binding = mimic_pci_join(device, fresh);
	if (binding != fresh)
		mimic_pci_retire(fresh);
	return binding;
}

/* --- calls of drivers ------------------------------------------------------------------ */

int mimic_pci_check(struct mimic_binding *binding)
{
	return READ_ONCE(binding->mm) == current->mm && !READ_ONCE(binding->gone) ? 0 : -ENODEV;
}

struct mm_struct *mimic_pci_get_mm(struct mimic_binding *binding)
{
	struct mm_struct *mm;

	if (READ_ONCE(binding->gone))
		return NULL;
	spin_lock(&binding->mm_lock);
	mm = binding->mm;
	if (mm && !mmget_not_zero(mm))
		mm = NULL;
	spin_unlock(&binding->mm_lock);
	return mm;
}

/* No device is there any more. */
void mimic_pci_bindings_exit(void)
{
	wait_event(bindings_gone, !atomic_read(&binding_count));
	/* The last one's work has some instructions left. */
	flush_workqueue(mimic_retire_workqueue);
}
