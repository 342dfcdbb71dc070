// SPDX-License-Identifier: GPL-2.0
/* A process that has the device: how it comes to be, what it is told, how it ends. */
#include <linux/eventfd.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "compat.h"
#include "maple.h"
#include "trace_maple.h"

void maple_user_event(struct maple_user *user)
{
	struct maple_file *file;

	spin_lock(&user->lock);
	list_for_each_entry(file, &user->files, link) {
		if (file->eventfd)
			mimic_eventfd_signal(file->eventfd);
		kill_fasync(&file->fasync, SIGIO, POLL_PRI);
	}
	spin_unlock(&user->lock);
	wake_up_poll(&user->wait, EPOLLPRI);
}

static void set_gone(struct maple_user *user)
{
	struct maple_file *file;

	WRITE_ONCE(user->gone, true);
	spin_lock(&user->lock);
	list_for_each_entry(file, &user->files, link)
		kill_fasync(&file->fasync, SIGIO, POLL_HUP);
	spin_unlock(&user->lock);
	wake_up_poll(&user->wait, EPOLLERR | EPOLLHUP);
}

static void binding_gone(struct mimic_binding *binding)
{
	struct maple *maple = mimic_binding_context(binding);

	spin_lock(&maple->lock);
	if (maple->user && maple->user->binding == binding)
		set_gone(maple->user);
	spin_unlock(&maple->lock);
}

static const struct mimic_binding_ops binding_ops = {
	.shootdown = maple_shootdown,
	.gone = binding_gone,
};

/* --- coming and going ----------------------------------------------------- */

static struct maple_user *create_user(struct maple *maple)
{
	struct maple_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	if (!user)
		return NULL;
	kref_get(&maple->references);
	user->maple = maple;
	user->process = get_pid(task_tgid(current));
	init_waitqueue_head(&user->wait);
	spin_lock_init(&user->lock);
	INIT_LIST_HEAD(&user->files);
	return user;
}

static void free_user(struct maple_user *user)
{
	put_pid(user->process);
	maple_put(user->maple);
	kfree(user);
}

/* maple->serving is held. */
static void set_user(struct maple *maple, struct maple_user *user)
{
	spin_lock(&maple->lock);
	maple->user = user;
	spin_unlock(&maple->lock);
}

/*
 * The user of a binding, one more file of it. Threads of one process may open at
 * once: whoever comes here first brings the user, as `fresh`. It takes the place of
 * one whose process has ended, whose files somebody else has kept.
 */
static struct maple_user *enter(struct maple *maple, struct mimic_binding *binding,
				struct maple_user *fresh)
{
	struct maple_user *user;

	mutex_lock(&maple->serving);
	if (!maple->user || maple->user->binding != binding) {
		fresh->binding = binding;
		set_user(maple, fresh);
	}
	user = maple->user;
	user->open_files++;
	mutex_unlock(&maple->serving);
	return user;
}

int maple_user_enter(struct maple *maple, bool only_new, struct maple_user **user)
{
	struct maple_user *fresh = create_user(maple);
	struct mimic_binding *binding;

	if (!fresh)
		return -ENOMEM;
	binding = mimic_bind(maple->device, &binding_ops, maple);
	if (IS_ERR(binding)) {
		free_user(fresh);
		return PTR_ERR(binding);
	}
	*user = enter(maple, binding, fresh);
	if (*user != fresh) {
		free_user(fresh);
		if (!only_new)
			return 0;
		maple_user_leave(*user);
		return -EBUSY;
	}
	trace_maple_open(maple->device->index, pid_nr(fresh->process));
	/* Did it end before gone() could find the user? */
	if (mimic_binding_check(binding))
		set_gone(fresh);
	maple_faults_watch(maple);
	return 0;
}

void maple_user_leave(struct maple_user *user)
{
	struct mimic_binding *binding = user->binding;
	struct maple *maple = user->maple;
	bool is_last;

	mutex_lock(&maple->serving);
	is_last = !--user->open_files;
	if (is_last && maple->user == user)
		set_user(maple, NULL);
	mutex_unlock(&maple->serving);
	mimic_binding_put(binding);
	if (!is_last)
		return;
	trace_maple_release(maple->device->index, pid_nr(user->process));
	/* Only now: the bus may have called with `maple` until the binding was put. */
	free_user(user);
}
