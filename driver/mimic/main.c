// SPDX-License-Identifier: GPL-2.0
/* The module, and /dev/mimic: the node that daemons open. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>

#include "internal.h"
#include "version.h"

struct workqueue_struct *mimic_workqueue;

static DEFINE_SPINLOCK(connections_lock);
static LIST_HEAD(connections);

bool mimic_mm_has_connection(struct mm_struct *mm)
{
	struct mimic_connection *connection;
	bool found = false;

	spin_lock(&connections_lock);
	list_for_each_entry(connection, &connections, link)
		found |= READ_ONCE(connection->mm) == mm;
	spin_unlock(&connections_lock);
	return found;
}

static int mimic_control_open(struct inode *inode, struct file *file)
{
	struct mimic_connection *connection;

	/* See mimic_bind(): a daemon is nobody's user. */
	if (mimic_mm_has_bindings(current->mm))
		return -EDEADLK;
	connection = mimic_connection_create(file);
	if (IS_ERR(connection))
		return PTR_ERR(connection);
	file->private_data = connection;
	spin_lock(&connections_lock);
	list_add(&connection->link, &connections);
	spin_unlock(&connections_lock);
	return nonseekable_open(inode, file);
}

static int mimic_control_release(struct inode *inode, struct file *file)
{
	struct mimic_connection *connection = file->private_data;

	spin_lock(&connections_lock);
	list_del(&connection->link);
	spin_unlock(&connections_lock);
	mimic_connection_close(connection);
	return 0;
}

static int mimic_control_flush(struct file *file, fl_owner_t id)
{
	/* 6.1 does not cancel a dying task's commands: this is called when its files go. */
	if (MIMIC_URING_NEEDS_FLUSH)
		mimic_uring_flush(file->private_data, id);
	return 0;
}

static ssize_t mimic_control_read(struct file *file, char __user *buffer, size_t size,
				  loff_t *offset)
{
	return mimic_channel_read(file->private_data, buffer, size, file->f_flags & O_NONBLOCK);
}

static ssize_t mimic_control_write(struct file *file, const char __user *buffer, size_t size,
				   loff_t *offset)
{
	return mimic_channel_write(file->private_data, buffer, size);
}

static __poll_t mimic_control_poll(struct file *file, poll_table *wait)
{
	return mimic_channel_poll(file->private_data, file, wait);
}

static int mimic_control_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (!vma->vm_pgoff)
		return mimic_channel_mmap(file->private_data, vma);
	if (vma->vm_pgoff < MIMIC_BUS_WINDOW(1) >> PAGE_SHIFT)
		return mimic_memory_mmap(file->private_data, vma);
	return mimic_window_mmap(file->private_data, vma);
}

/* A structure that starts with its size, of a program of any build. */
static int mimic_control_get_argument(void *argument, size_t size, const void __user *user)
{
	u32 user_size;

	if (get_user(user_size, (const u32 __user *)user))
		return -EFAULT;
	if (user_size < size)
		return -EINVAL;
	if (user_size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(argument, size, user, user_size);
}

static int mimic_control_put_argument(const void *argument, size_t size, void __user *user)
{
	return copy_to_user(user, argument, size) ? -EFAULT : 0;
}

static long mimic_control_info(void __user *user)
{
	struct mimic_bus_info argument;
	int error = mimic_control_get_argument(&argument, sizeof(argument), user);

	if (error)
		return error;
	if (memchr_inv(argument.reserved, 0, sizeof(argument.reserved)))
		return -EINVAL;
	argument = (struct mimic_bus_info){
		.size = sizeof(argument),
		.version = MIMIC_BUS_VERSION,
		.slots = MIMIC_BUS_SLOTS,
		.slot_size = sizeof(struct mimic_bus_slot),
		.slots_size = PAGE_ALIGN(MIMIC_BUS_SLOTS_SIZE),
	};
	return mimic_control_put_argument(&argument, sizeof(argument), user);
}

static long mimic_control_register(struct mimic_connection *connection, void __user *user)
{
	struct mimic_bus_register argument;
	int error = mimic_control_get_argument(&argument, sizeof(argument), user);

	/* A device that a successor only registers again must not go because this fails. */
	if (!error)
		error = mimic_control_put_argument(&argument, sizeof(argument), user);
	if (error)
		return error;
	argument.size = sizeof(argument);
	error = mimic_device_register(connection, &argument);
	if (error)
		return error;
	error = mimic_control_put_argument(&argument, sizeof(argument), user);
	if (error)
		mimic_device_unregister(connection, argument.device);
	return error;
}

static long mimic_control_unregister(struct mimic_connection *connection, void __user *user)
{
	struct mimic_bus_unregister argument;
	int error = mimic_control_get_argument(&argument, sizeof(argument), user);

	if (error)
		return error;
	if (memchr_inv(argument.reserved, 0, sizeof(argument.reserved)))
		return -EINVAL;
	return mimic_device_unregister(connection, argument.device);
}

static long mimic_control_interrupt(struct mimic_connection *connection, void __user *user)
{
	struct mimic_bus_interrupt argument;
	int error = mimic_control_get_argument(&argument, sizeof(argument), user);

	if (error)
		return error;
	if (memchr_inv(argument.reserved, 0, sizeof(argument.reserved)))
		return -EINVAL;
	return mimic_device_raise(connection, argument.device, argument.line);
}

static long mimic_control_commit(struct mimic_connection *connection, void __user *user)
{
	struct mimic_bus_commit argument;
	int error = mimic_control_get_argument(&argument, sizeof(argument), user);

	if (error)
		return error;
	if (memchr_inv(argument.reserved, 0, sizeof(argument.reserved)))
		return -EINVAL;
	return mimic_channel_commit(connection, argument.slot);
}

static long mimic_control_keep(struct mimic_connection *connection, void __user *user)
{
	struct mimic_bus_keep argument;
	int error = mimic_control_get_argument(&argument, sizeof(argument), user);

	if (!error && memchr_inv(argument.reserved, 0, sizeof(argument.reserved)))
		error = -EINVAL;
	if (!error)
		error = mimic_connection_keep(connection, &argument);
	memzero_explicit(&argument, sizeof(argument));
	return error;
}

static long mimic_control_take_over(struct mimic_connection *connection, void __user *user)
{
	struct mimic_bus_take_over argument;
	int error = mimic_control_get_argument(&argument, sizeof(argument), user);

	if (error)
		return error;
	if (argument.flags || memchr_inv(argument.reserved, 0, sizeof(argument.reserved)))
		return -EINVAL;
	/* As in mimic_control_open(). */
	if (mimic_mm_has_bindings(current->mm))
		return -EDEADLK;
	error = mimic_connection_take_over(connection, argument.token);
	if (error)
		return error;
	argument.size = sizeof(argument);
	argument.devices = mimic_devices_inherit(connection);
	/* It has taken over all the same, and may ask nothing but how many there are. */
	return mimic_control_put_argument(&argument, sizeof(argument), user);
}

static long mimic_control_fault_in(struct mimic_connection *connection, void __user *user)
{
	struct mimic_bus_fault_in argument;
	int error = mimic_control_get_argument(&argument, sizeof(argument), user);

	if (error)
		return error;
	if (argument.writes > 1 ||
	    memchr_inv(argument.reserved, 0, sizeof(argument.reserved)))
		return -EINVAL;
	return mimic_window_fault_in(connection, &argument);
}

static long mimic_control_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct mimic_connection *connection = file->private_data;
	void __user *user = (void __user *)argument;

	switch (command) {
	case MIMIC_BUS_INFO:
		return mimic_control_info(user);
	case MIMIC_BUS_REGISTER:
		return mimic_control_register(connection, user);
	case MIMIC_BUS_UNREGISTER:
		return mimic_control_unregister(connection, user);
	case MIMIC_BUS_INTERRUPT:
		return mimic_control_interrupt(connection, user);
	case MIMIC_BUS_COMMIT:
		return mimic_control_commit(connection, user);
	case MIMIC_BUS_KEEP:
		return mimic_control_keep(connection, user);
	case MIMIC_BUS_TAKE_OVER:
		return mimic_control_take_over(connection, user);
	case MIMIC_BUS_FAULT_IN:
		return mimic_control_fault_in(connection, user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = mimic_control_open,
	.release = mimic_control_release,
	.flush = mimic_control_flush,
	.read = mimic_control_read,
	.write = mimic_control_write,
	.poll = mimic_control_poll,
	.mmap = mimic_control_mmap,
	.unlocked_ioctl = mimic_control_ioctl,
	.uring_cmd = mimic_uring_command,
};

static struct miscdevice control = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mimic",
	.fops = &control_fops,
	.mode = 0600,
};

static int __init mimic_init(void)
{
	int error;

	mimic_workqueue = alloc_workqueue("mimic", WQ_UNBOUND, 0);
	if (!mimic_workqueue)
		return -ENOMEM;
	error = mimic_threads_init();
	if (error)
		goto workqueue;
	error = mimic_windows_init();
	if (error)
		goto threads;
	error = mimic_memories_init();
	if (error)
		goto windows;
	error = misc_register(&control);
	if (!error)
		return 0;
	mimic_memories_exit();
windows:
	mimic_windows_exit();
threads:
	mimic_threads_exit();
workqueue:
	destroy_workqueue(mimic_workqueue);
	return error;
}

static void __exit mimic_exit(void)
{
	misc_deregister(&control);
	/* Closed connections have notifiers still, and those go through the devices. */
	flush_workqueue(mimic_workqueue);
	mimic_devices_remove_all();
	mimic_windows_exit();
	mimic_bindings_exit();
	mimic_devices_exit();
	mimic_memories_exit();
	mimic_threads_exit();
	destroy_workqueue(mimic_workqueue);
}

module_init(mimic_init);
module_exit(mimic_exit);

MODULE_DESCRIPTION("Emulated bus for accelerators that a daemon models");
MODULE_LICENSE("GPL");
MODULE_VERSION(MIMIC_DRIVER_VERSION);
