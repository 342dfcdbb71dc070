// SPDX-License-Identifier: GPL-2.0
/*
 * Which thread accesses a device: queues belong to threads, so the daemon must
 * hear of a thread's end. Modules have no hook there but a tracepoint.
 *
 * Every task of the machine passes that tracepoint, with preemption off: there a task
 * is looked up without a lock, in constant time, and the work at its end is left to a work item.
 *
 * Lifetimes: an entry belongs to its binding and is found by its task, under RCU; both it
 * and the binding stay for a grace period. The side that claims an entry (the tracepoint, or an
 * access of another thread) holds a reference to the binding from then on, and gives up both
 * when the daemon has heard of the end. An entry that nobody claimed goes with the binding.
 */
#include <linux/llist.h>
#include <linux/rhashtable.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "internal.h"

static const struct rhashtable_params table_parameters = {
	.key_len = sizeof(struct task_struct *),
	.key_offset = offsetof(struct mimic_thread, task),
	.head_offset = offsetof(struct mimic_thread, node),
	.automatic_shrinking = true,
};

/* By task: one entry for each binding that it accesses. Grows with its entries. */
static struct rhltable threads;
/* Claimed at the tracepoint. */
static LLIST_HEAD(ended_threads);
static DECLARE_WAIT_QUEUE_HEAD(end_was_heard);
static struct tracepoint *exit_tracepoint;

static struct mimic_thread *mimic_thread_find(const struct mimic_binding *binding)
{
	const struct task_struct *task = current;
	struct mimic_thread *thread, *found = NULL;
	struct rhlist_head *list, *entry;

	rcu_read_lock();
	list = rhltable_lookup(&threads, &task, table_parameters);
	rhl_for_each_entry_rcu(thread, entry, list, node) {
		if (thread->binding == binding)
			found = thread;
	}
	rcu_read_unlock();
	return found;
}

/* --- the end of a thread ---------------------------------------------------- */

/* true: the caller is to tell the daemon. Also at the tracepoint: a raw lock, of a few loads. */
static bool mimic_thread_claim(struct mimic_thread *thread)
{
	struct mimic_binding *binding = thread->binding;
	bool is_ours;

	raw_spin_lock(&binding->ending_lock);
	is_ours = !thread->is_claimed;
	thread->is_claimed = true;
	if (is_ours)
		WRITE_ONCE(binding->ending, binding->ending + 1);
	raw_spin_unlock(&binding->ending_lock);
	return is_ours;
}

static void mimic_thread_free(struct mimic_thread *thread)
{
	struct mimic_binding *binding = thread->binding;
	bool is_last;

	raw_spin_lock(&binding->ending_lock);
	WRITE_ONCE(binding->ending, binding->ending - 1);
	is_last = !binding->ending;
	raw_spin_unlock(&binding->ending_lock);
	if (is_last)
		wake_up_all(&end_was_heard);
	kfree_rcu(thread, rcu);
	mimic_binding_release(binding);
}

/* The daemon has heard of the end, or there is none any more. */
static void mimic_thread_gone_released(struct mimic_request *request)
{
	struct mimic_thread *thread = container_of(request, struct mimic_thread, gone);

	mimic_binding_put_number(thread->binding);
	mimic_thread_free(thread);
}

/* binding->threads_lock is held. */
static void mimic_thread_unlink(struct mimic_thread *thread)
{
	struct mimic_binding *binding = thread->binding;

	list_del(&thread->link);
	if (thread->is_foreign)
		WRITE_ONCE(binding->foreign_threads, binding->foreign_threads - 1);
	rhltable_remove(&threads, &thread->node, table_parameters);
}

/* It is claimed and unlinked. */
static void mimic_thread_tell(struct mimic_thread *thread)
{
	struct mimic_binding *binding = thread->binding;

	if (READ_ONCE(binding->gone)) {
		mimic_thread_free(thread);
		return;
	}
	mimic_binding_get_number(binding);
	thread->gone.body.binding = binding->head.number;
	thread->gone.body.thread = thread->number;
	mimic_request_post(binding->connection, &thread->gone);
}

static void mimic_threads_tell_ended(struct work_struct *work)
{
	struct mimic_thread *thread, *next;

	llist_for_each_entry_safe(thread, next, llist_del_all(&ended_threads), ended_link) {
		spin_lock(&thread->binding->threads_lock);
		mimic_thread_unlink(thread);
		spin_unlock(&thread->binding->threads_lock);
		mimic_thread_tell(thread);
	}
}

static DECLARE_WORK(tell_ended, mimic_threads_tell_ended);

/* Preemption is off, so on PREEMPT_RT no spinlock can be taken here, and nothing freed. */
static void mimic_thread_task_exits(MIMIC_EXIT_PROBE_ARGUMENTS)
{
	struct rhlist_head *list, *entry;
	struct mimic_thread *thread;
	bool is_any = false;

	rcu_read_lock();
	list = rhltable_lookup(&threads, &task, table_parameters);
	rhl_for_each_entry_rcu(thread, entry, list, node) {
		/* One without references is being freed, and its threads with it. */
		if (!kref_get_unless_zero(&thread->binding->head.kref))
			continue;
		if (mimic_thread_claim(thread)) {
			llist_add(&thread->ended_link, &ended_threads);
			is_any = true;
		} else {
			mimic_binding_release(thread->binding);
		}
	}
	rcu_read_unlock();
	if (is_any)
		queue_work(mimic_workqueue, &tell_ended);
}

/* --- an access ---------------------------------------------------------------- */

/*
 * Is a thread of the current process ending that has not passed the tracepoint? This is
 * cheap to know: as many threads are between the first and the last step of their exit as
 * `nr_threads` has more than `live`. Both grow under siglock, and under it `nr_threads`
 * does not fall: so an exit that was begun before the call is seen. A leader that has
 * ended stays until its process does; it has passed the tracepoint long ago. Of tasks of
 * another thread group with the same memory nothing is known.
 */
static bool mimic_threads_may_end(const struct mimic_binding *binding)
{
	/* The caller's own is there as long as it runs. */
	struct sighand_struct *sighand = rcu_dereference_protected(current->sighand, true);
	struct signal_struct *signal = current->signal;
	bool may_end;

	if (READ_ONCE(binding->foreign_threads) || READ_ONCE(binding->signal) != signal)
		return true;
	if (READ_ONCE(signal->nr_threads) == 1)
		return false;
	spin_lock_irq(&sighand->siglock);
	may_end = signal->nr_threads - !!READ_ONCE(current->group_leader->exit_state) !=
		  atomic_read(&signal->live);
	spin_unlock_irq(&sighand->siglock);
	return may_end;
}

/*
 * The tracepoint comes after the moment at which a thread that joins it goes on. The
 * joining thread must find the roles free, so it looks for itself. An unclaimed thread
 * has not passed the tracepoint, so its task is there.
 */
static void mimic_threads_end_exiting(struct mimic_binding *binding)
{
	struct mimic_thread *thread, *next;
	LIST_HEAD(ended);

	spin_lock(&binding->threads_lock);
	list_for_each_entry_safe(thread, next, &binding->threads, link) {
		if (READ_ONCE(thread->is_claimed) ||
		    !(READ_ONCE(thread->task->flags) & PF_EXITING) || !mimic_thread_claim(thread))
			continue;
		mimic_binding_get(binding);
		mimic_thread_unlink(thread);
		list_add(&thread->link, &ended);
	}
	spin_unlock(&binding->threads_lock);
	list_for_each_entry_safe(thread, next, &ended, link)
		mimic_thread_tell(thread);
}

/* binding->threads_lock is held. */
static int mimic_thread_link(struct mimic_thread *thread)
{
	struct mimic_binding *binding = thread->binding;
	int error = rhltable_insert(&threads, &thread->node, table_parameters);

	if (error)
		return error;
	if (list_empty(&binding->threads))
		WRITE_ONCE(binding->signal, current->signal);
	thread->is_foreign = binding->signal != current->signal;
	if (thread->is_foreign)
		WRITE_ONCE(binding->foreign_threads, binding->foreign_threads + 1);
	thread->number = ++binding->last_thread;
	list_add(&thread->link, &binding->threads);
	return 0;
}

static struct mimic_thread *mimic_thread_create(struct mimic_binding *binding)
{
	struct mimic_thread *thread = kzalloc(sizeof(*thread), GFP_KERNEL_ACCOUNT);
	int error;

	if (!thread)
		return NULL;
	thread->task = current;
	thread->binding = binding;
	mimic_request_init(&thread->gone, MIMIC_BUS_REQUEST_THREAD_GONE,
			   &binding->device->device);
	thread->gone.release = mimic_thread_gone_released;
	spin_lock(&binding->threads_lock);
	error = mimic_thread_link(thread);
	spin_unlock(&binding->threads_lock);
	if (!error)
		return thread;
	kfree(thread);
	return NULL;
}

struct mimic_thread *mimic_thread_current(struct mimic_binding *binding)
{
	struct mimic_thread *thread;

	if (mimic_threads_may_end(binding))
		mimic_threads_end_exiting(binding);
	/* Only this thread makes its entry, and nobody removes it while it runs. */
	thread = mimic_thread_find(binding);
	return thread ? thread : mimic_thread_create(binding);
}

int mimic_threads_settle(struct mimic_binding *binding)
{
	if (!READ_ONCE(binding->ending))
		return 0;
	return wait_event_interruptible(end_was_heard, !READ_ONCE(binding->ending));
}

/* --- coming and going ----------------------------------------------------------- */

/* Nobody has a reference: no thread is claimed, and none will be. */
void mimic_threads_drop(struct mimic_binding *binding)
{
	struct mimic_thread *thread, *next;

	spin_lock(&binding->threads_lock);
	list_for_each_entry_safe(thread, next, &binding->threads, link) {
		mimic_thread_unlink(thread);
		kfree_rcu(thread, rcu);
	}
	spin_unlock(&binding->threads_lock);
}

/* The kernel exports no tracepoint by its symbol, but all by name. */
static void mimic_threads_look_for_exit(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "sched_process_exit"))
		exit_tracepoint = tracepoint;
}

int mimic_threads_init(void)
{
	int error;

	for_each_kernel_tracepoint(mimic_threads_look_for_exit, NULL);
	if (!exit_tracepoint)
		return -ENOENT;
	error = rhltable_init(&threads, &table_parameters);
	if (error)
		return error;
	error = tracepoint_probe_register(exit_tracepoint, mimic_thread_task_exits, NULL);
	if (error)
		rhltable_destroy(&threads);
	return error;
}

/* No binding is left, so no thread. */
void mimic_threads_exit(void)
{
	tracepoint_probe_unregister(exit_tracepoint, mimic_thread_task_exits, NULL);
	tracepoint_synchronize_unregister();
	rhltable_destroy(&threads);
}
