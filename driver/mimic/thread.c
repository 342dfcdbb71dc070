// SPDX-License-Identifier: GPL-2.0
/*
 * Which thread accesses a device: queues belong to threads, so the daemon must
 * hear of a thread's end. Modules have no hook there but a tracepoint.
 */
#include <linux/hashtable.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "internal.h"

static DEFINE_SPINLOCK(mimic_threads_lock);
static DEFINE_HASHTABLE(threads, 8);
static DECLARE_WAIT_QUEUE_HEAD(end_was_heard);
static struct tracepoint *exit_tracepoint;

static unsigned long mimic_thread_key(const struct task_struct *task)
{
	return (unsigned long)task >> L1_CACHE_SHIFT;
}

static struct mimic_thread *mimic_thread_find(const struct mimic_binding *binding)
{
	struct mimic_thread *thread;

	hash_for_each_possible(threads, thread, node, mimic_thread_key(current)) {
		if (thread->task == current && thread->binding == binding)
			return thread;
	}
	return NULL;
}

/* The daemon has heard of the end, or there is none any more. */
static void mimic_thread_gone_released(struct mimic_request *request)
{
	struct mimic_thread *thread = container_of(request, struct mimic_thread, gone);
	struct mimic_binding *binding = thread->binding;

	if (atomic_dec_and_test(&binding->ending))
		wake_up_all(&end_was_heard);
	kfree(thread);
	mimic_binding_release(binding);
}

/* mimic_threads_lock is held. */
static void mimic_thread_ended(struct mimic_thread *thread)
{
	struct mimic_binding *binding = thread->binding;

	hash_del(&thread->node);
	list_del(&thread->link);
	if (READ_ONCE(binding->gone)) {
		kfree(thread);
		return;
	}
	thread->gone.body.binding = binding->number;
	thread->gone.body.thread = thread->number;
	mimic_binding_get(binding);
	atomic_inc(&binding->ending);
	mimic_request_post(binding->connection, &thread->gone);
}

/*
 * The tracepoint comes after the moment at which a thread that joins it goes on. What
 * that one does next must find the roles free, so it looks for itself. mimic_threads_lock
 * is held: a thread that is still listed has not passed the tracepoint, so its task is there.
 */
static void mimic_threads_end_exiting(struct mimic_binding *binding)
{
	struct mimic_thread *thread, *next;

	list_for_each_entry_safe(thread, next, &binding->threads, link) {
		if (READ_ONCE(thread->task->flags) & PF_EXITING)
			mimic_thread_ended(thread);
	}
}

struct mimic_thread *mimic_thread_current(struct mimic_binding *binding)
{
	struct mimic_thread *thread;

	/* Only this thread makes its entry, and nobody removes it while it runs. */
	spin_lock(&mimic_threads_lock);
	mimic_threads_end_exiting(binding);
	thread = mimic_thread_find(binding);
	spin_unlock(&mimic_threads_lock);
	if (thread)
		return thread;
	thread = kzalloc(sizeof(*thread), GFP_KERNEL_ACCOUNT);
	if (!thread)
		return NULL;
	thread->task = current;
	thread->binding = binding;
	mimic_request_init(&thread->gone, MIMIC_BUS_REQUEST_THREAD_GONE,
			   &binding->device->device);
	thread->gone.release = mimic_thread_gone_released;
	spin_lock(&mimic_threads_lock);
	thread->number = ++binding->last_thread;
	hash_add(threads, &thread->node, mimic_thread_key(current));
	list_add(&thread->link, &binding->threads);
	spin_unlock(&mimic_threads_lock);
	return thread;
}

int mimic_threads_settle(struct mimic_binding *binding)
{
	if (!atomic_read(&binding->ending))
		return 0;
	return wait_event_interruptible(end_was_heard, !atomic_read(&binding->ending));
}

static void mimic_thread_task_exits(void *unused, struct task_struct *task)
{
	struct mimic_thread *thread;
	struct hlist_node *next;

	spin_lock(&mimic_threads_lock);
	hash_for_each_possible_safe(threads, thread, next, node, mimic_thread_key(task)) {
		if (thread->task == task)
			mimic_thread_ended(thread);
	}
	spin_unlock(&mimic_threads_lock);
}

void mimic_threads_drop(struct mimic_binding *binding)
{
	struct mimic_thread *thread, *next;

	spin_lock(&mimic_threads_lock);
	list_for_each_entry_safe(thread, next, &binding->threads, link) {
		hash_del(&thread->node);
		list_del(&thread->link);
		kfree(thread);
	}
	spin_unlock(&mimic_threads_lock);
}

/* The kernel exports no tracepoint by its symbol, but all by name. */
static void mimic_threads_look_for_exit(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "sched_process_exit"))
		exit_tracepoint = tracepoint;
}

int mimic_threads_init(void)
{
	for_each_kernel_tracepoint(mimic_threads_look_for_exit, NULL);
	if (!exit_tracepoint)
		return -ENOENT;
	return tracepoint_probe_register(exit_tracepoint, mimic_thread_task_exits, NULL);
}

void mimic_threads_exit(void)
{
	tracepoint_probe_unregister(exit_tracepoint, mimic_thread_task_exits, NULL);
	tracepoint_synchronize_unregister();
}
