// SPDX-License-Identifier: GPL-2.0
/*
 * A binding: one process that has one device, alone or, if the device is shared,
 * beside others. It lasts from the process's first open to the release of its
 * last file, and ends early with the process's memory, the device, its driver, or
 * the daemon: then it is "gone", and what is left of it waits for the files to be
 * closed.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "internal.h"

static DEFINE_XARRAY_ALLOC1(numbers);
static DEFINE_SPINLOCK(bindings_lock);	/* innermost */
static LIST_HEAD(bindings);
static u32 last_process;

void mimic_binding_get(struct mimic_binding *binding)
{
	kref_get(&binding->kref);
}
EXPORT_SYMBOL_GPL(mimic_binding_get);

static void mimic_binding_free(struct work_struct *work)
{
	struct mimic_binding *binding = container_of(work, struct mimic_binding, free);

	mimic_threads_drop(binding);
	mimic_memory_unbind(binding);
	xa_erase(&numbers, binding->number);
	spin_lock(&bindings_lock);
	list_del(&binding->link);
	spin_unlock(&bindings_lock);
	mmdrop(binding->mm);
	mimic_connection_put(binding->connection);
	put_device(&binding->device->device.dev);
	kfree_rcu(binding, rcu);
}

static void mimic_binding_schedule_free(struct kref *kref)
{
	queue_work(mimic_workqueue, &container_of(kref, struct mimic_binding, kref)->free);
}

void mimic_binding_release(struct mimic_binding *binding)
{
	kref_put(&binding->kref, mimic_binding_schedule_free);
}
EXPORT_SYMBOL_GPL(mimic_binding_release);

struct mimic_binding *mimic_binding_find(struct mimic_connection *connection, u32 number)
{
	struct mimic_binding *binding;

	xa_lock(&numbers);
	binding = xa_load(&numbers, number);
	if (binding && (binding->connection != connection || !kref_get_unless_zero(&binding->kref)))
		binding = NULL;
	xa_unlock(&numbers);
	return binding;
}

bool mimic_mm_has_bindings(struct mm_struct *mm)
{
	struct mimic_binding *binding;
	bool found = false;

	spin_lock(&bindings_lock);
	list_for_each_entry(binding, &bindings, link)
		found |= binding->mm == mm && !READ_ONCE(binding->gone);
	spin_unlock(&bindings_lock);
	return found;
}

/* Enters the binding; what it has in common with others of its process is theirs. */
static void mimic_binding_enter(struct mimic_binding *binding)
{
	struct mimic_binding *other;

	spin_lock(&bindings_lock);
	list_for_each_entry(other, &bindings, link) {
		if (other->mm == binding->mm)
			binding->process = other->process;
	}
	if (!binding->process)
		binding->process = ++last_process;
	list_add(&binding->link, &bindings);
	spin_unlock(&bindings_lock);
}

/* --- its end -------------------------------------------------------------- */

/* The connection's lock is held. */
static void mimic_binding_close_answered(struct mimic_request *request)
{
	struct mimic_binding *binding = container_of(request, struct mimic_binding, close);

	WRITE_ONCE(binding->device->closing, false);
	wake_up_all(&binding->device->closed);
	mimic_binding_release(binding);
}

bool mimic_binding_disable(struct mimic_binding *binding)
{
	if (binding->gone)
		return false;
	WRITE_ONCE(binding->gone, true);
	if (!binding->device->is_shared)
		WRITE_ONCE(binding->device->closing, true);
	mimic_binding_get(binding);
	mimic_request_post(binding->connection, &binding->close);
	return true;
}

void mimic_binding_disabled(struct mimic_binding *binding)
{
	mimic_window_close(binding);
	if (binding->ops->gone)
		binding->ops->gone(binding);
}

/*
 * device->lock is held. The device is nobody's, and its CLOSE on the way, in one
 * step: the next open finds `closing` and waits. true: as of mimic_binding_disable().
 */
static bool mimic_binding_leave_device(struct mimic_binding *binding)
{
	list_del_init(&binding->device_link);
	return mimic_binding_disable(binding);
}

void mimic_binding_end(struct mimic_binding *binding)
{
	bool disabled;

	mutex_lock(&binding->device->lock);
	disabled = mimic_binding_leave_device(binding);
	mutex_unlock(&binding->device->lock);
	if (disabled)
		mimic_binding_disabled(binding);
}
EXPORT_SYMBOL_GPL(mimic_binding_end);

/* The process's memory is being taken down: by its exit, or its exec. */
static void mimic_binding_process_ended(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	mimic_binding_end(container_of(notifier, struct mimic_binding, end_notifier));
}

static const struct mmu_notifier_ops end_notifier_ops = {
	.release = mimic_binding_process_ended,
};

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = mimic_window_invalidate,
};

/* Without any lock: both wait for notifiers that run now. */
static void mimic_binding_remove_notifiers(struct mimic_binding *binding)
{
	mmu_interval_notifier_remove(&binding->notifier);
	mmu_notifier_unregister(&binding->end_notifier, binding->mm);
}

void mimic_binding_put(struct mimic_binding *binding)
{
	struct mimic_bus_device *device = binding->device;
	bool last, disabled = false;

	mutex_lock(&device->lock);
	last = !--binding->users;
	if (last)
		disabled = mimic_binding_leave_device(binding);
	mutex_unlock(&device->lock);
	if (!last)
		return;
	if (disabled)
		mimic_binding_disabled(binding);
	mimic_binding_remove_notifiers(binding);
	mimic_binding_release(binding);
}
EXPORT_SYMBOL_GPL(mimic_binding_put);

/* --- its beginning -------------------------------------------------------- */

static struct mimic_binding *mimic_binding_allocate(struct mimic_bus_device *device,
						    struct mimic_connection *connection)
{
	struct mimic_binding *binding = kzalloc(sizeof(*binding), GFP_KERNEL_ACCOUNT);
	int error;

	if (!binding)
		return ERR_PTR(-ENOMEM);
	kref_init(&binding->kref);
	mutex_init(&binding->window_lock);
	spin_lock_init(&binding->threads_lock);
	raw_spin_lock_init(&binding->ending_lock);
	INIT_LIST_HEAD(&binding->threads);
	INIT_LIST_HEAD(&binding->device_link);
	INIT_WORK(&binding->free, mimic_binding_free);
	binding->device = device;
	binding->connection = connection;
	binding->mm = current->mm;
	binding->end_notifier.ops = &end_notifier_ops;
	mimic_request_init(&binding->close, MIMIC_BUS_REQUEST_CLOSE, &device->device);
	binding->close.release = mimic_binding_close_answered;
	error = xa_alloc(&numbers, &binding->number, binding,
			 XA_LIMIT(1, MIMIC_BUS_BINDINGS_MAX), GFP_KERNEL);
	if (error < 0) {
		kfree(binding);
		return ERR_PTR(error == -EBUSY ? -ENOSPC : error);
	}
	binding->close.body.binding = binding->number;
	mmgrab(binding->mm);
	get_device(&device->device.dev);
	kref_get(&connection->kref);
	mimic_binding_enter(binding);
	return binding;
}

static int mimic_binding_add_notifiers(struct mimic_binding *binding)
{
	int error = mmu_notifier_register(&binding->end_notifier, binding->mm);

	if (error)
		return error;
	/* As far as a window's offset has bits for addresses. */
	error = mmu_interval_notifier_insert(&binding->notifier, binding->mm, 0,
					     (1ul << MIMIC_BUS_WINDOW_SHIFT) - PAGE_SIZE,
					     &notifier_ops);
	if (error)
		mmu_notifier_unregister(&binding->end_notifier, binding->mm);
	return error;
}

static int mimic_binding_ask_daemon(struct mimic_binding *binding)
{
	struct mimic_connection *connection = binding->connection;
	struct mimic_request request;

	mimic_request_init(&request, MIMIC_BUS_REQUEST_OPEN, &binding->device->device);
	request.body.binding = binding->number;
	request.body.process = binding->process;
	request.body.pid = pid_nr_ns(task_tgid(current), connection->pid_namespace);
	request.body.uid = from_kuid_munged(connection->user_namespace, current_uid());
	get_task_comm(request.body.program, current->group_leader);
	return mimic_request_run(connection, &request, false, MAX_SCHEDULE_TIMEOUT);
}

static int mimic_binding_make_current(struct mimic_bus_device *device,
				      struct mimic_binding *binding)
{
	int error = 0;

	mutex_lock(&device->lock);
	if (device->gone || !device->has_driver) {
		error = -ENODEV;
	} else {
		list_add_tail(&binding->device_link, &device->bindings);
		binding->users = 1;
	}
	mutex_unlock(&device->lock);
	return error;
}

/* device->open_lock is held. */
static struct mimic_binding *mimic_binding_create(struct mimic_bus_device *device,
						  const struct mimic_binding_ops *ops,
						  void *context)
{
	struct mimic_connection *connection = mimic_device_connection(device);
	struct mimic_binding *binding;
	int error;

	if (!connection)
		return ERR_PTR(-EIO);
	/*
	 * The last one's CLOSE comes first, as a fresh device is what an open gets. Of a
	 * shared one, contexts are what has to be fresh, and that is the driver's.
	 */
	if (wait_event_killable(device->closed, !READ_ONCE(device->closing))) {
		mimic_connection_put(connection);
		return ERR_PTR(-EINTR);
	}
	binding = mimic_binding_allocate(device, connection);
	mimic_connection_put(connection);
	if (IS_ERR(binding))
		return binding;
	binding->ops = ops;
	binding->context = context;
	error = mimic_memory_bind(binding);
	if (error)
		goto free;
	error = mimic_binding_add_notifiers(binding);
	if (error)
		goto free;
	error = mimic_binding_make_current(device, binding);
	if (error)
		goto notifiers;
	error = mimic_binding_ask_daemon(binding);
	if (!error)
		return binding;
	mimic_binding_put(binding);
	return ERR_PTR(error);

notifiers:
	binding->gone = true;
	mimic_binding_remove_notifiers(binding);
free:
	binding->gone = true;
	mimic_binding_release(binding);
	return ERR_PTR(error);
}

/* device->lock is held. NULL: a new one is to be made. */
static struct mimic_binding *mimic_binding_find_current(const struct mimic_bus_device *device)
{
	struct mimic_binding *binding;

	if (device->gone || !device->has_driver)
		return ERR_PTR(-ENODEV);
	list_for_each_entry(binding, &device->bindings, device_link) {
		if (binding->mm == current->mm)
			return binding;
	}
	return device->is_shared || list_empty(&device->bindings) ? NULL : ERR_PTR(-EBUSY);
}

/* The binding of this process, once more; NULL: it has none, and may have one. */
static struct mimic_binding *mimic_binding_join(struct mimic_bus_device *device)
{
	struct mimic_binding *binding;

	mutex_lock(&device->lock);
	binding = mimic_binding_find_current(device);
	if (!IS_ERR_OR_NULL(binding))
		binding->users++;
	mutex_unlock(&device->lock);
	return binding;
}

struct mimic_binding *mimic_bind(struct mimic_device *public, const struct mimic_binding_ops *ops,
				 void *context)
{
	struct mimic_bus_device *device = to_bus_device(public);
	struct mimic_binding *binding;

	if (!current->mm)
		return ERR_PTR(-EINVAL);
	/* A daemon that waits for itself; a window onto a process that has windows. */
	if (mimic_mm_has_connection(current->mm))
		return ERR_PTR(-EDEADLK);
	if (mutex_lock_killable(&device->open_lock))
		return ERR_PTR(-EINTR);
	binding = mimic_binding_join(device);
	if (!binding)
		binding = mimic_binding_create(device, ops, context);
	mutex_unlock(&device->open_lock);
	return binding;
}
EXPORT_SYMBOL_GPL(mimic_bind);

/* --- what a driver asks --------------------------------------------------- */

void *mimic_binding_context(struct mimic_binding *binding)
{
	return binding->context;
}
EXPORT_SYMBOL_GPL(mimic_binding_context);

u32 mimic_binding_number(const struct mimic_binding *binding)
{
	return binding->number;
}
EXPORT_SYMBOL_GPL(mimic_binding_number);

int mimic_binding_check(struct mimic_binding *binding)
{
	return binding->mm == current->mm && !READ_ONCE(binding->gone) ? 0 : -ENODEV;
}
EXPORT_SYMBOL_GPL(mimic_binding_check);

/*
 * Would a window show it, once it is present? Not memory of devices, the kernel's
 * own, and what cannot be read (hmm_range_fault()): it would be faulted in for ever.
 */
static bool mimic_can_be_shown(struct mm_struct *mm, u64 address)
{
	struct vm_area_struct *vma = vma_lookup(mm, address);

	return vma && vma->vm_flags & VM_READ && !(vma->vm_flags & (VM_IO | VM_PFNMAP));
}

static int mimic_fault_in(struct mm_struct *mm, u64 address, bool write)
{
	bool unlocked = false;
	int error = -EFAULT;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	if (mimic_can_be_shown(mm, address))
		error = fixup_user_fault(mm, address, write ? FAULT_FLAG_WRITE : 0, &unlocked);
	mmap_read_unlock(mm);
	return error;
}

/*
 * Does a page of it come without waiting for anybody? Of memory that no file system of somebody's
 * is behind: others read a page while they are told not to wait (a file with MADV_RANDOM).
 */
static bool mimic_is_quick(struct vm_area_struct *vma)
{
	unsigned long magic;

	if (vma_is_anonymous(vma))
		return true;
	if (!vma->vm_file)
		return false;
	magic = file_inode(vma->vm_file)->i_sb->s_magic;
	return magic == TMPFS_MAGIC || magic == HUGETLBFS_MAGIC;
}

static int mimic_fault_in_nowait(struct mm_struct *mm, u64 address, bool write)
{
	unsigned int flags = FOLL_NOWAIT | (write ? FOLL_WRITE : 0);
	long got = -EFAULT;
	bool is_quick;

	if (!mmap_read_trylock(mm))
		return -EAGAIN;
	if (mimic_can_be_shown(mm, address)) {
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

bool mimic_binding_has_task(const struct mimic_binding *binding)
{
#ifdef CONFIG_MEMCG
	/* The kernel looks for another one when a task that owns the memory gives it up. */
	return READ_ONCE(binding->mm->owner);
#else
	return true;
#endif
}
EXPORT_SYMBOL_GPL(mimic_binding_has_task);

int mimic_binding_fault_in(struct mimic_binding *binding, u64 address, bool write, bool nowait)
{
	struct mem_cgroup *memcg, *old;
	struct mm_struct *mm = binding->mm;
	int error;

	if (READ_ONCE(binding->gone) || !mmget_not_zero(mm))
		return -ESRCH;
	/* Page tables are charged to the task that allocates them: a thread of the kernel's. */
	memcg = get_mem_cgroup_from_mm(mm);
	old = set_active_memcg(memcg);
	if (nowait)
		error = mimic_fault_in_nowait(mm, address, write);
	else
		error = mimic_fault_in(mm, address, write);
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

int mimic_binding_connect(struct mimic_binding *binding, struct file **file)
{
	struct mimic_request request;
	int error = mimic_binding_check(binding);

	if (error)
		return error;
	mimic_request_init(&request, MIMIC_BUS_REQUEST_CONNECT, &binding->device->device);
	request.body.binding = binding->number;
	error = mimic_request_run(binding->connection, &request, false, MAX_SCHEDULE_TIMEOUT);
	/* A daemon may send one with an error, too. */
	if (error && request.file)
		fput(request.file);
	if (!error && !request.file)
		error = -EIO;
	*file = request.file;
	return error;
}
EXPORT_SYMBOL_GPL(mimic_binding_connect);

void mimic_bindings_destroy(void)
{
	xa_destroy(&numbers);
}
