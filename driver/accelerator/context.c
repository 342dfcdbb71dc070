// SPDX-License-Identifier: GPL-2.0
/* A process's context of a device: how it is made, which events it gets, how it ends. */
#include <linux/eventfd.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "compat.h"
#include "internal.h"

/* context->lock is held. */
static void accelerator_signal_eventfds(struct accelerator_context *context)
{
	struct accelerator_file *file;

	list_for_each_entry(file, &context->files, link) {
		if (file->eventfd)
			mimic_eventfd_signal(file->eventfd);
	}
}

void accelerator_context_events(struct accelerator_context *context, bool is_counted)
{
	if (is_counted) {
		spin_lock(&context->lock);
		accelerator_signal_eventfds(context);
		spin_unlock(&context->lock);
	}
	if (context->accelerator->driver->reads_events) {
		atomic64_inc(&context->events);
		wake_up_poll(&context->wait, EPOLLIN | EPOLLRDNORM);
	}
}

void accelerator_context_fault(struct accelerator_context *context)
{
	struct accelerator_file *file;

	spin_lock(&context->lock);
	if (!context->accelerator->driver->events)
		accelerator_signal_eventfds(context);
	list_for_each_entry(file, &context->files, link)
		kill_fasync(&file->fasync, SIGIO, POLL_PRI);
	spin_unlock(&context->lock);
	wake_up_poll(&context->wait, EPOLLPRI);
}

static void accelerator_context_set_gone(struct accelerator_context *context)
{
	struct accelerator_file *file;

	WRITE_ONCE(context->gone, true);
	spin_lock(&context->lock);
	list_for_each_entry(file, &context->files, link)
		kill_fasync(&file->fasync, SIGIO, POLL_HUP);
	spin_unlock(&context->lock);
	wake_up_poll(&context->wait, EPOLLERR | EPOLLHUP);
}

static void accelerator_binding_gone(struct mimic_binding *binding)
{
	struct accelerator *accelerator = mimic_binding_context(binding);
	unsigned int i;

	spin_lock(&accelerator->lock);
	for (i = 0; i < ACCELERATOR_CONTEXTS_MAX; i++) {
		struct accelerator_context *context = accelerator->contexts[i];

		if (context && context->binding == binding)
			accelerator_context_set_gone(context);
	}
	spin_unlock(&accelerator->lock);
}

/* The device may have one flush for all of its TLB: many that are due at once are one. */
static void accelerator_post_flushes(struct mimic_binding *binding, unsigned long start,
				     unsigned long end)
{
	struct accelerator *accelerator = mimic_binding_context(binding);
	unsigned int i;

	spin_lock(&accelerator->lock);
	for (i = 0; i < ACCELERATOR_CONTEXTS_MAX; i++) {
		struct accelerator_context *context = accelerator->contexts[i];

		if (!context || context->binding != binding)
			continue;
		atomic64_inc(&accelerator->shootdowns);
		atomic64_inc(&context->shootdowns);
		accelerator->driver->flush(accelerator, i, start, end);
	}
	spin_unlock(&accelerator->lock);
}

/*
 * Others may have the pages when this returns, so the device must have forgotten them: a
 * flush that is only on its way would let it read and write them. One that does not come to an end
 * is counted, and no more: the bus has taken the memory from the device's reach already. In silicon
 * nothing has: there a device that does not flush must be reset here, before this returns.
 */
static void accelerator_shootdown(struct mimic_binding *binding, unsigned long start,
				  unsigned long end)
{
	struct accelerator *accelerator = mimic_binding_context(binding);

	if (!accelerator->driver->flush)
		return;
	accelerator_post_flushes(binding, start, end);
	if (mimic_binding_sync(binding, start, end))
		atomic64_inc(&accelerator->timeouts);
}

static void accelerator_binding_get(void *context)
{
	struct accelerator *accelerator = context;

	kref_get(&accelerator->references);
}

static void accelerator_binding_put(void *context)
{
	accelerator_put(context);
}

static const struct mimic_binding_ops binding_ops = {
	.get_context = accelerator_binding_get,
	.put_context = accelerator_binding_put,
	.shootdown = accelerator_shootdown,
	.gone = accelerator_binding_gone,
};

/* --- coming and going ----------------------------------------------------- */

static struct accelerator_context *accelerator_context_create(struct accelerator *accelerator)
{
	struct accelerator_context *context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!context)
		return NULL;
	for (i = 0; i < ACCELERATOR_SOURCES_MAX; i++)
		context->slow[i].context = context;
	kref_get(&accelerator->references);
	context->accelerator = accelerator;
	kref_init(&context->references);
	context->process = get_pid(task_tgid(current));
	init_waitqueue_head(&context->wait);
	spin_lock_init(&context->lock);
	INIT_LIST_HEAD(&context->files);
	return context;
}

static void accelerator_context_free(struct kref *references)
{
	struct accelerator_context *context =
		container_of(references, struct accelerator_context, references);

	put_pid(context->process);
	accelerator_put(context->accelerator);
	kfree(context);
}

void accelerator_context_put(struct accelerator_context *context)
{
	kref_put(&context->references, accelerator_context_free);
}

/* accelerator->serving is held. */
static void accelerator_set_context(struct accelerator *accelerator, unsigned int number,
				    struct accelerator_context *context)
{
	/* The device is as after power-on then: it is told of none. */
	accelerator->events = 0;
	spin_lock(&accelerator->lock);
	accelerator->contexts[number] = context;
	spin_unlock(&accelerator->lock);
}

/*
 * A place that no process has. One whose process has ended is free, although another
 * process may have kept its files. accelerator->serving is held.
 */
static int accelerator_find_free_context(const struct accelerator *accelerator,
					 unsigned int *number)
{
	unsigned int i;

	for (i = 0; i < accelerator->context_count; i++) {
		const struct accelerator_context *context = accelerator->contexts[i];

		if (context && !READ_ONCE(context->gone))
			continue;
		*number = i;
		return 0;
	}
	return -EBUSY;
}

/* Nothing that a process leaves is the next one's. accelerator->serving is held. */
static int accelerator_clear(struct accelerator *accelerator)
{
	int error = 0;

	if (accelerator->is_used && accelerator->driver->clear)
		error = accelerator->driver->clear(accelerator);
	accelerator->is_used = error;
	return error;
}

/* The device is the context's process's. accelerator->serving is held. */
static int accelerator_start_context(struct accelerator *accelerator,
				     struct accelerator_context *context)
{
	int error;

	accelerator_set_context(accelerator, 0, NULL);
	error = accelerator_clear(accelerator);
	if (!error && accelerator->driver->enter)
		error = accelerator->driver->enter(accelerator,
						   mimic_binding_number(context->binding));
	if (error)
		return error;
	accelerator->is_used = true;
	accelerator_set_context(accelerator, 0, context);
	return 0;
}

/*
 * All files of a process are of one context; threads of it may open at once, and
 * the first one that comes here brings the context. It takes the place of one whose process
 * has ended. accelerator->serving is held.
 */
static int accelerator_join_context(struct accelerator *accelerator,
				    struct accelerator_context *fresh,
				    struct accelerator_context **context)
{
	struct accelerator_context *current_one = accelerator->contexts[0];
	int error;

	if (!current_one || current_one->binding != fresh->binding) {
		current_one = fresh;
		error = accelerator_start_context(accelerator, fresh);
		if (error)
			return error;
	}
	current_one->open_files++;
	*context = current_one;
	return 0;
}

/*
 * A context for this file alone. Before attach() an access of another one's mapping
 * cannot come: the place is free. accelerator->serving is held.
 */
static int accelerator_take_context(struct accelerator *accelerator,
				    struct accelerator_context *fresh,
				    struct accelerator_context **context)
{
	unsigned int number;
	int error = accelerator_find_free_context(accelerator, &number);

	if (error)
		return error;
	accelerator_set_context(accelerator, number, NULL);
	error = accelerator->driver->attach(accelerator, number,
					    mimic_binding_number(fresh->binding));
	if (error)
		return error;
	fresh->number = number;
	fresh->open_files = 1;
	accelerator_set_context(accelerator, number, fresh);
	*context = fresh;
	return 0;
}

static int accelerator_enter_context(struct accelerator *accelerator,
				     struct accelerator_context *fresh,
				     struct accelerator_context **context)
{
	int error;

	mutex_lock(&accelerator->serving);
	if (READ_ONCE(accelerator->removed))
		error = -ENODEV;
	else if (accelerator->driver->attach)
		error = accelerator_take_context(accelerator, fresh, context);
	else
		error = accelerator_join_context(accelerator, fresh, context);
	mutex_unlock(&accelerator->serving);
	return error;
}

/*
 * Operations that a process has left are cleared before the device sees the memory of another
 * process: they would go on there.
 */
static void accelerator_clear_left(struct accelerator *accelerator)
{
	const struct accelerator_context *context;

	if (accelerator->driver->attach)
		return;
	mutex_lock(&accelerator->serving);
	context = accelerator->contexts[0];
	/* If it fails it is tried again when the context starts. */
	if (!READ_ONCE(accelerator->removed) && (!context || READ_ONCE(context->gone)))
		accelerator_clear(accelerator);
	mutex_unlock(&accelerator->serving);
}

int accelerator_context_enter(struct accelerator *accelerator, bool only_new,
			      struct accelerator_context **context)
{
	struct accelerator_context *fresh = accelerator_context_create(accelerator);
	int error;

	if (!fresh)
		return -ENOMEM;
	accelerator_clear_left(accelerator);
	fresh->binding = mimic_bind(accelerator->device, &binding_ops, accelerator);
	if (IS_ERR(fresh->binding)) {
		error = PTR_ERR(fresh->binding);
		accelerator_context_put(fresh);
		return error;
	}
	do {
		error = accelerator_enter_context(accelerator, fresh, context);
	} while (error == -EAGAIN && accelerator_may_try_again(accelerator, &error));
	if (error) {
		mimic_binding_put(fresh->binding);
		accelerator_context_put(fresh);
		return error;
	}
	if (*context != fresh) {
		accelerator_context_put(fresh);
		if (!only_new)
			return 0;
		accelerator_context_leave(*context);
		return -EBUSY;
	}
	if (accelerator->driver->opened)
		accelerator->driver->opened(fresh);
	/* Did it end before gone() could find the context? */
	if (mimic_binding_check(fresh->binding))
		accelerator_context_set_gone(fresh);
	accelerator_faults_watch(accelerator);
	return 0;
}

/*
 * The place is free. If the device cannot be told, no harm is done: it reaches no memory
 * by a binding that is gone, and for the next process that takes the place it is told again.
 * accelerator->serving is held.
 */
static void accelerator_vacate_context(struct accelerator_context *context)
{
	struct accelerator *accelerator = context->accelerator;

	if (accelerator->contexts[context->number] != context)
		return;
	accelerator_set_context(accelerator, context->number, NULL);
	if (READ_ONCE(accelerator->removed))
		return;
	if (accelerator->driver->attach)
		accelerator->driver->attach(accelerator, context->number, 0);
	else if (!READ_ONCE(context->gone))
		/* A process that has ended does not wait: the next one's open does. */
		accelerator_clear(accelerator);
}

void accelerator_context_leave(struct accelerator_context *context)
{
	struct mimic_binding *binding = context->binding;
	struct accelerator *accelerator = context->accelerator;
	bool is_last;

	mutex_lock(&accelerator->serving);
	is_last = !--context->open_files;
	if (is_last) {
		accelerator_slow_cancel(context);
		/* Before the device is cleared: nothing of it comes afterwards. */
		if (!accelerator->driver->attach)
			mimic_binding_end_lanes(binding);
		accelerator_vacate_context(context);
	}
	mutex_unlock(&accelerator->serving);
	mimic_binding_put(binding);
	if (!is_last)
		return;
	if (accelerator->driver->released)
		accelerator->driver->released(context);
	accelerator_context_put(context);
}
