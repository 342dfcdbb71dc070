// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that take long: another program brings them (FUSE, userfaultfd), or a disk. A
 * kernel thread of its own faults each of them in, so that no lock is held and no other
 * page waits.
 *
 * Why a thread, and no work item: while it waits it holds the process's memory (mm_users). So
 * the memory outlives the process, and everything that waits for its end waits, as long as
 * the page does not come. The wait can only be ended by a fatal signal to the task that waits,
 * which is this thread: it is killed when the context's last file is closed, when the device
 * goes, and when no task of the process is left, which is checked every LOOK_JIFFIES.
 *
 * Not even a fatal signal ends a FUSE server's unanswered read. Then the thread stays, and
 * the process's memory with it, as for any task in that place; but the process that has ended
 * has the device no more. How many there can be is bounded by the bindings that a user may have:
 * each such thread keeps one.
 *
 * Lifetimes: a thread has references to its context (with it, the accelerator), the binding and
 * this module, and gives them up at its end. It finds out under `serving` whether the context is
 * still the device's.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "internal.h"

/* How long a process may be dead before its slow pages are given up. */
#define LOOK_JIFFIES (HZ / 5)

/* The wait is over. accelerator->serving is held. */
static void accelerator_slow_end(struct accelerator_slow *slow, int result)
{
	bool is_cancelled = slow->is_cancelled;
	struct accelerator_context *context = slow->context;
	struct accelerator *accelerator = context->accelerator;

	slow->state = ACCELERATOR_SLOW_DONE;
	slow->result = result;
	put_task_struct(slow->task);
	slow->task = NULL;
	slow->is_cancelled = false;
	if (!is_cancelled && !READ_ONCE(accelerator->removed) &&
	    accelerator->contexts[context->number] == context)
		accelerator_faults_serve_late(accelerator);
	/* If the fault is gone, by a reset: the result is not for another one to come. */
	if (slow->state == ACCELERATOR_SLOW_DONE)
		slow->state = ACCELERATOR_SLOW_NONE;
}

static int accelerator_slow_run(void *data)
{
	struct accelerator_slow *slow = data;
	struct accelerator_context *context = slow->context;
	struct mimic_binding *binding = context->binding;
	struct accelerator *accelerator = context->accelerator;
	int result = -EINTR;
	bool has_more;

	/* Kernel threads ignore signals. One that came before this call is in is_cancelled. */
	allow_signal(SIGKILL);
	if (!READ_ONCE(slow->is_cancelled))
		result = accelerator_fault_in(context, &slow->fault, false);
	disallow_signal(SIGKILL);
	flush_signals(current);

	mutex_lock(&accelerator->serving);
	accelerator_slow_end(slow, result);
	has_more = accelerator->has_more;
	mutex_unlock(&accelerator->serving);
	if (has_more)
		accelerator_faults_go_on(accelerator);
	mimic_binding_release(binding);
	accelerator_context_put(context);
	module_put_and_kthread_exit(0);
}

int accelerator_slow_begin(struct accelerator_slow *slow, const struct accelerator_fault *fault)
{
	struct accelerator *accelerator = slow->context->accelerator;
	struct task_struct *task;

	task = kthread_create(accelerator_slow_run, slow, "%s-page",
			      dev_name(&accelerator->device->dev));
	if (IS_ERR(task))
		return -ENOMEM;
	slow->state = ACCELERATOR_SLOW_RUNS;
	slow->fault = *fault;
	slow->task = get_task_struct(task);
	kref_get(&slow->context->references);
	mimic_binding_get(slow->context->binding);
	/* The caller runs in this module: it has a reference. */
	__module_get(THIS_MODULE);
	wake_up_process(task);
	schedule_delayed_work(&accelerator->look, LOOK_JIFFIES);
	return 0;
}

bool accelerator_slow_runs(const struct accelerator_context *context)
{
	unsigned int i;

	for (i = 0; i < ACCELERATOR_SOURCES_MAX; i++) {
		if (context->slow[i].state == ACCELERATOR_SLOW_RUNS)
			return true;
	}
	return false;
}

void accelerator_slow_cancel(struct accelerator_context *context)
{
	unsigned int i;

	for (i = 0; i < ACCELERATOR_SOURCES_MAX; i++) {
		struct accelerator_slow *slow = &context->slow[i];

		if (slow->state != ACCELERATOR_SLOW_RUNS || slow->is_cancelled)
			continue;
		/* Before the signal, which is lost where it is not allowed yet. */
		WRITE_ONCE(slow->is_cancelled, true);
		send_sig(SIGKILL, slow->task, 1);
	}
}

/* A context with slow pages whose process has ended: its binding, counted. NULL: none. */
static struct mimic_binding *accelerator_find_ended(struct accelerator *accelerator, bool *runs)
{
	struct mimic_binding *ended = NULL;
	unsigned int i;

	mutex_lock(&accelerator->serving);
	for (i = 0; i < ACCELERATOR_CONTEXTS_MAX && !ended; i++) {
		struct accelerator_context *context = accelerator->contexts[i];

		if (!context || READ_ONCE(context->gone) || !accelerator_slow_runs(context))
			continue;
		*runs = true;
		if (mimic_binding_has_task(context->binding))
			continue;
		accelerator_slow_cancel(context);
		ended = context->binding;
		mimic_binding_get(ended);
	}
	mutex_unlock(&accelerator->serving);
	return ended;
}

static void accelerator_slow_look(struct work_struct *work)
{
	struct accelerator *accelerator =
		container_of(to_delayed_work(work), struct accelerator, look);
	struct mimic_binding *ended;
	bool runs = false;

	while ((ended = accelerator_find_ended(accelerator, &runs))) {
		mimic_binding_end(ended);
		mimic_binding_release(ended);
	}
	spin_lock(&accelerator->lock);
	if (runs && !accelerator->removed)
		schedule_delayed_work(&accelerator->look, LOOK_JIFFIES);
	spin_unlock(&accelerator->lock);
}

void accelerator_slow_start(struct accelerator *accelerator)
{
	INIT_DELAYED_WORK(&accelerator->look, accelerator_slow_look);
}

void accelerator_slow_stop(struct accelerator *accelerator)
{
	unsigned int i;

	mutex_lock(&accelerator->serving);
	for (i = 0; i < ACCELERATOR_CONTEXTS_MAX; i++) {
		if (accelerator->contexts[i])
			accelerator_slow_cancel(accelerator->contexts[i]);
	}
	mutex_unlock(&accelerator->serving);
	cancel_delayed_work_sync(&accelerator->look);
}
