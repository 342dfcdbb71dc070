// SPDX-License-Identifier: GPL-2.0
/*
 * A binding: one process that has one device, alone or, if the device is shared,
 * beside others. It lasts from the process's first open to the release of its
 * last file, and ends early with the process's memory, the device, its driver, or
 * the daemon: then it is "gone".
 *
 * Lifetimes. With the last file, or with the process's memory if that goes first (another
 * process may keep a file for as long as it likes), the binding retires: a work item takes the
 * notifiers away, which waits for changes of the process's memory and so is nothing that a close()
 * may wait for, and gives up all that costs something: the device's memory, the process's
 * (binding->mm), the driver's context. Its number is free when the daemon has answered CLOSE, too.
 * Only the structure is left, for files, windows and requests that still point to it.
 * A driver's unregistration waits for the work.
 */
#include <linux/cred.h>
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "internal.h"

/* Each of them has a notifier, a number of the bus, and its device's state for a process. */
static unsigned int user_bindings = 256;
module_param(user_bindings, uint, 0644);
MODULE_PARM_DESC(user_bindings, "devices and contexts of one user at once, dead ones included; for others than root");

/* A race that a test wants to be sure of (test_end_races.c). */
static unsigned int test_delay_ms;
module_param(test_delay_ms, uint, 0600);
MODULE_PARM_DESC(test_delay_ms, "for tests, a wait at each of these: before a driver hears of its daemon's end, while it hears of it, before it hears of another daemon, at the end of an access that fails");

static DEFINE_XARRAY_FLAGS(numbers, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static DEFINE_SPINLOCK(bindings_lock);	/* innermost */
static LIST_HEAD(bindings);
static DECLARE_WAIT_QUEUE_HEAD(bindings_gone);
static u32 last_process;

static void mimic_binding_free(struct work_struct *work)
{
	struct mimic_binding *binding = container_of(work, struct mimic_binding, free);

	mimic_threads_drop(binding);
	spin_lock(&bindings_lock);
	list_del(&binding->link);
	spin_unlock(&bindings_lock);
	mimic_memory_forget(binding);
	mimic_connection_put(binding->connection);
	put_device(&binding->device->device.dev);
	kfree_rcu(binding, rcu);
	wake_up_all(&bindings_gone);
}

void mimic_binding_schedule_free(struct mimic_binding *binding)
{
	queue_work(mimic_workqueue, &binding->free);
}

struct mimic_binding *mimic_binding_find(struct mimic_connection *connection, u32 number)
{
	struct mimic_binding *binding;

	xa_lock(&numbers);
	binding = xa_load(&numbers, number);
	if (binding && binding->connection != connection)
		binding = NULL;
	/* A binding with a number has references. */
	if (binding && atomic_inc_not_zero(&binding->number_users))
		mimic_binding_get(binding);
	else
		binding = NULL;
	xa_unlock(&numbers);
	return binding;
}

/* The caller knows that it is not free: there is no CLOSE yet, or another user. */
void mimic_binding_get_number(struct mimic_binding *binding)
{
	atomic_inc(&binding->number_users);
}

void mimic_binding_put_number(struct mimic_binding *binding)
{
	if (atomic_dec_and_test(&binding->number_users))
		xa_erase(&numbers, binding->head.number);
}

struct mm_struct *mimic_binding_get_mm(struct mimic_binding *binding)
{
	struct mm_struct *mm;

	spin_lock(&binding->mm_lock);
	mm = binding->mm;
	if (mm && !mmget_not_zero(mm))
		mm = NULL;
	spin_unlock(&binding->mm_lock);
	return mm;
}

struct mm_struct *mimic_binding_get_living_mm(struct mimic_binding *binding)
{
	return READ_ONCE(binding->gone) ? NULL : mimic_binding_get_mm(binding);
}

bool mimic_mm_has_bindings(struct mm_struct *mm)
{
	struct mimic_binding *binding;
	bool found = false;

	spin_lock(&bindings_lock);
	list_for_each_entry(binding, &bindings, link)
		found |= READ_ONCE(binding->mm) == mm && !READ_ONCE(binding->gone);
	spin_unlock(&bindings_lock);
	return found;
}

/* Enters the binding, with the number of its process, which other bindings of that have, too. */
static int mimic_binding_enter(struct mimic_binding *binding)
{
	unsigned int count = 0, most = READ_ONCE(user_bindings);
	struct mimic_binding *other;

	if (capable(CAP_SYS_RESOURCE))
		most = UINT_MAX;
	spin_lock(&bindings_lock);
	list_for_each_entry(other, &bindings, link) {
		if (READ_ONCE(other->mm) == binding->mm)
			binding->process = other->process;
		count += uid_eq(other->user, binding->user);
	}
	if (count >= most) {
		spin_unlock(&bindings_lock);
		return -EMFILE;
	}
	if (!binding->process)
		binding->process = ++last_process;
	list_add(&binding->link, &bindings);
	spin_unlock(&bindings_lock);
	return 0;
}

/* --- its end -------------------------------------------------------------- */

/* The connection's lock is held. */
static void mimic_binding_close_answered(struct mimic_request *request)
{
	struct mimic_binding *binding = container_of(request, struct mimic_binding, close);

	WRITE_ONCE(binding->device->closing, false);
	wake_up_all(&binding->device->changed);
	mimic_binding_put_number(binding);
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
	mimic_binding_get_number(binding);
	mimic_request_post(binding->connection, &binding->close);
	return true;
}

static void mimic_binding_disabled(struct mimic_binding *binding)
{
	mimic_window_close(binding);
	if (binding->head.ops->gone)
		binding->head.ops->gone(binding);
}

void mimic_binding_test_delay(void)
{
	unsigned int delay = READ_ONCE(test_delay_ms);

	if (delay)
		msleep(delay);
}

/*
 * Beside the process's own end, with which the driver's context goes, and the driver, and the
 * structure that the context is: so the calls are over, or they are waited for.
 */
void mimic_binding_taken_away(struct mimic_binding *binding)
{
	mimic_binding_test_delay();
	mutex_lock(&binding->calls_lock);
	if (!binding->calls_over) {
		mimic_binding_test_delay();
		mimic_binding_disabled(binding);
		mimic_memory_take_away(binding);
	}
	mutex_unlock(&binding->calls_lock);
}

static const struct mmu_interval_notifier_ops refusal_ops = {
	.invalidate = mimic_window_may_change,
};

/* Its notifiers are there no more, or never were. */
static void mimic_binding_give_up(struct mimic_binding *binding)
{
	struct mm_struct *mm = binding->mm;

	mutex_lock(&binding->calls_lock);
	binding->calls_over = true;
	mutex_unlock(&binding->calls_lock);
	if (binding->head.ops->put_context)
		binding->head.ops->put_context(binding->head.context);
	mimic_memory_unbind(binding);
	spin_lock(&binding->mm_lock);
	WRITE_ONCE(binding->mm, NULL);
	spin_unlock(&binding->mm_lock);
	mmdrop(mm);
	mimic_binding_put_number(binding);
	mimic_binding_release(binding);
}

static void mimic_binding_do_retire(struct work_struct *work)
{
	struct mimic_binding *binding = container_of(work, struct mimic_binding, retire);

	/* Without notifiers no entry may be left, and none come: it is gone. */
	mimic_window_close(binding);
	/* Without any lock: both wait for notifiers that run now. */
	mmu_interval_notifier_remove(&binding->refusal);
	mmu_notifier_unregister(&binding->notifier, binding->mm);
	mimic_binding_give_up(binding);
}

/* It is gone. */
static void mimic_binding_retire(struct mimic_binding *binding)
{
	if (!xchg(&binding->retires, true))
		queue_work(mimic_retire_workqueue, &binding->retire);
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

void mimic_binding_do_end(struct mimic_binding *binding)
{
	bool disabled;

	mutex_lock(&binding->device->lock);
	disabled = mimic_binding_leave_device(binding);
	mutex_unlock(&binding->device->lock);
	if (disabled)
		mimic_binding_disabled(binding);
}

/* The process's memory is being taken down: by its exit, or its exec. */
static void mimic_binding_process_ended(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct mimic_binding *binding = container_of(notifier, struct mimic_binding, notifier);

	mimic_binding_do_end(binding);
	mimic_binding_retire(binding);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = mimic_binding_process_ended,
	.invalidate_range_start = mimic_window_change_begins,
	.invalidate_range_end = mimic_window_change_ends,
};

void mimic_binding_leave(struct mimic_binding *binding)
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
	/* It has not retired before: its notifiers, and so the driver's context, are there. */
	if (disabled)
		mimic_binding_disabled(binding);
	mimic_binding_retire(binding);
	mimic_binding_release(binding);
}

/* --- its beginning -------------------------------------------------------- */

static struct mimic_binding *mimic_binding_allocate(struct mimic_bus_device *device,
						    struct mimic_connection *connection)
{
	struct mimic_binding *binding = kzalloc(sizeof(*binding), GFP_KERNEL_ACCOUNT);
	int error;

	if (!binding)
		return ERR_PTR(-ENOMEM);
	kref_init(&binding->head.kref);
	mimic_window_init(binding);
	mutex_init(&binding->calls_lock);
	spin_lock_init(&binding->mm_lock);
	spin_lock_init(&binding->threads_lock);
	raw_spin_lock_init(&binding->ending_lock);
	INIT_LIST_HEAD(&binding->threads);
	INIT_LIST_HEAD(&binding->device_link);
	INIT_WORK(&binding->free, mimic_binding_free);
	INIT_WORK(&binding->retire, mimic_binding_do_retire);
	atomic_set(&binding->number_users, 1);
	binding->head.device = &device->device;
	binding->device = device;
	binding->connection = connection;
	binding->mm = current->mm;
	binding->user = current_uid();
	binding->notifier.ops = &notifier_ops;
	mimic_request_init(&binding->close, MIMIC_BUS_REQUEST_CLOSE, &device->device);
	binding->close.release = mimic_binding_close_answered;
	error = mimic_binding_enter(binding);
	if (error) {
		kfree(binding);
		return ERR_PTR(error);
	}
	mmgrab(binding->mm);
	get_device(&device->device.dev);
	kref_get(&connection->kref);
	/* Last: from here on it can be found. */
	error = xa_alloc(&numbers, &binding->head.number, binding,
			 XA_LIMIT(1, MIMIC_BUS_BINDINGS_MAX), GFP_KERNEL);
	if (error < 0) {
		mmdrop(binding->mm);
		mimic_binding_release(binding);
		return ERR_PTR(error == -EBUSY ? -ENOSPC : error);
	}
	binding->close.body.binding = binding->head.number;
	return binding;
}

static int mimic_binding_add_notifiers(struct mimic_binding *binding)
{
	int error = mmu_notifier_register(&binding->notifier, binding->mm);

	/* A signal: nothing has been done, the open is made again. */
	if (error)
		return error == -EINTR ? -ERESTARTNOINTR : error;
	/* As far as a window's offset has bits for addresses. */
	error = mmu_interval_notifier_insert(&binding->refusal, binding->mm, 0,
					     (1ul << MIMIC_BUS_WINDOW_SHIFT) - PAGE_SIZE,
					     &refusal_ops);
	if (error)
		mmu_notifier_unregister(&binding->notifier, binding->mm);
	return error;
}

static int mimic_binding_ask_daemon(struct mimic_binding *binding)
{
	struct mimic_connection *connection = binding->connection;
	struct mimic_request request;

	mimic_request_init(&request, MIMIC_BUS_REQUEST_OPEN, &binding->device->device);
	request.body.binding = binding->head.number;
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
		/* Of all files, together. */
		binding->users = 1;
		mimic_binding_get(binding);
	}
	mutex_unlock(&device->lock);
	return error;
}

/* It is nobody's, and not the device's. */
static void mimic_binding_discard(struct mimic_binding *binding)
{
	WRITE_ONCE(binding->gone, true);
	mimic_binding_retire(binding);
}

/*
 * With its notifiers, which want the process's mmap_lock: other processes do not wait for
 * that one, so the device is not open yet.
 */
static struct mimic_binding *mimic_binding_create(struct mimic_bus_device *device,
						  const struct mimic_binding_ops *ops,
						  void *context)
{
	struct mimic_connection *connection = mimic_device_connection(device);
	struct mimic_binding *binding;
	int error;

	if (!connection)
		return ERR_PTR(-EIO);
	binding = mimic_binding_allocate(device, connection);
	mimic_connection_put(connection);
	if (IS_ERR(binding))
		return binding;
	binding->head.ops = ops;
	binding->head.context = context;
	if (ops->get_context)
		ops->get_context(context);
	error = mimic_binding_add_notifiers(binding);
	if (!error)
		return binding;
	binding->gone = true;
	mimic_binding_give_up(binding);
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

/* device->is_opening is ours. */
static int mimic_binding_open(struct mimic_bus_device *device, struct mimic_binding *binding)
{
	int error;

	/*
	 * The last binding's CLOSE comes first, because an open gets a fresh device. Of a shared
	 * device the contexts have to be fresh, which is the driver's task.
	 */
	if (wait_event_state(device->changed, !READ_ONCE(device->closing),
			     (TASK_KILLABLE | TASK_FREEZABLE)))
		error = -EINTR;
	else
		error = mimic_memory_bind(binding);
	if (!error)
		error = mimic_binding_make_current(device, binding);
	if (error) {
		mimic_binding_discard(binding);
		return error;
	}
	error = mimic_binding_ask_daemon(binding);
	if (error)
		mimic_binding_leave(binding);
	return error;
}

/* The one that the process has, or `fresh`, NULL where it had one. NULL: it has it no more. */
static struct mimic_binding *mimic_binding_join_or_open(struct mimic_bus_device *device,
							struct mimic_binding *fresh)
{
	struct mimic_binding *binding = mimic_binding_join(device);
	int error;

	if (binding) {
		if (fresh)
			mimic_binding_discard(fresh);
		return binding;
	}
	if (!fresh)
		return NULL;
	error = mimic_binding_open(device, fresh);
	return error ? ERR_PTR(error) : fresh;
}

static bool mimic_device_begin_open(struct mimic_bus_device *device)
{
	return !xchg(&device->is_opening, true);
}

static void mimic_device_end_open(struct mimic_bus_device *device)
{
	/* Pairs with the xchg() of the next one. */
	smp_store_release(&device->is_opening, false);
	wake_up_all(&device->changed);
}

/* 0: a new binding is to be made. 1: the process has one, or is about to. Or -errno. */
static int mimic_binding_is_there(struct mimic_bus_device *device)
{
	struct mimic_binding *binding;

	mutex_lock(&device->lock);
	binding = mimic_binding_find_current(device);
	mutex_unlock(&device->lock);
	return IS_ERR(binding) ? PTR_ERR(binding) : !!binding;
}

static struct mimic_binding *mimic_binding_try(struct mimic_bus_device *device,
					       const struct mimic_binding_ops *ops, void *context)
{
	struct mimic_binding *binding, *fresh = NULL;
	int is_there = mimic_binding_is_there(device);

	if (is_there < 0)
		return ERR_PTR(is_there);
	if (!is_there)
		fresh = mimic_binding_create(device, ops, context);
	if (IS_ERR(fresh))
		return fresh;
	if (wait_event_state(device->changed, mimic_device_begin_open(device),
			     (TASK_KILLABLE | TASK_FREEZABLE))) {
		if (fresh)
			mimic_binding_discard(fresh);
		return ERR_PTR(-EINTR);
	}
	binding = mimic_binding_join_or_open(device, fresh);
	mimic_device_end_open(device);
	return binding;
}

struct mimic_binding *mimic_binding_begin(struct mimic_device *public,
					  const struct mimic_binding_ops *ops, void *context)
{
	struct mimic_bus_device *device = to_bus_device(public);
	struct mimic_binding *binding;

	if (!current->mm)
		return ERR_PTR(-EINVAL);
	/* A daemon that waits for itself; a window onto a process that has windows. */
	if (mimic_mm_has_connection(current->mm))
		return ERR_PTR(-EDEADLK);
	do {
		binding = mimic_binding_try(device, ops, context);
	} while (!binding);
	return binding;
}

/* --- calls of drivers ----------------------------------------------------- */

int mimic_binding_is_current(struct mimic_binding *binding)
{
	return READ_ONCE(binding->mm) == current->mm && !READ_ONCE(binding->gone) ? 0 : -ENODEV;
}

int mimic_binding_ask_for_session(struct mimic_binding *binding, struct file **file)
{
	struct mimic_request request;
	int error = mimic_binding_is_current(binding);

	if (error)
		return error;
	mimic_request_init(&request, MIMIC_BUS_REQUEST_CONNECT, &binding->device->device);
	request.body.binding = binding->head.number;
	error = mimic_request_run(binding->connection, &request, false, MAX_SCHEDULE_TIMEOUT);
	/* A daemon may send one with an error, too. */
	if (error && request.file)
		fput(request.file);
	if (!error && !request.file)
		error = -EIO;
	*file = request.file;
	return error;
}

/*
 * No file is open, no connection has a notifier (mimic_exit()), and no device is there. But a
 * thread may be in a fault whose mapping another one has taken away, and the file with it: all
 * requests have ended, so it comes out, and releases its binding. Then it has some instructions
 * left to do here.
 */
void mimic_bindings_exit(void)
{
	flush_workqueue(mimic_retire_workqueue);
	wait_event(bindings_gone, list_empty_careful(&bindings));
	synchronize_rcu_tasks();
	/* Bindings are freed by work, which work queues; all of it is code of this module. */
	drain_workqueue(mimic_workqueue);
	xa_destroy(&numbers);
}
