// SPDX-License-Identifier: GPL-2.0
/*
 * The nodes: /dev/NAMEn is one device, /dev/NAME any that is free. Their
 * answers are in docs/abi.md.
 *
 * A file is the opener's alone. In another process (after fork, or sent over a
 * socket) it can be closed; all else that reaches the device answers ENODEV.
 *
 * An eventfd counts the device's events, where it has some; else the faults that
 * poll tells of. If the driver says so (reads_events), read() waits for events, too, and
 * gives how often some have happened since the last read() of this file, as 8 bytes; poll
 * says EPOLLIN while there is something to read.
 *
 * poll: EPOLLPRI, a fault of an address that is not the process's has come since
 * the last INFO on this file; EPOLLERR and EPOLLHUP, the device is gone. A
 * program that wants a signal asks for it by O_ASYNC (fcntl(2)): SIGIO, or the
 * signal of F_SETSIG.
 */
#include <linux/compat.h>
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "internal.h"
#include "mimic/accelerator_ioctl.h"

/* --- open and release ----------------------------------------------------- */

static int accelerator_enter_minor(struct accelerator_nodes *nodes, unsigned int minor,
				   bool only_new, struct accelerator_context **context)
{
	struct accelerator *accelerator = accelerator_get(nodes, minor);
	int error;

	if (!accelerator)
		return -ENOENT;
	error = accelerator_context_enter(accelerator, only_new, context);
	accelerator_put(accelerator);
	return error;
}

/* A device without contexts that this process has already is not free. */
static int accelerator_enter_any(struct accelerator_nodes *nodes,
				 struct accelerator_context **context)
{
	int result = -ENOENT;
	unsigned int minor;
	int error;

	for (minor = 0; minor < ACCELERATOR_MINOR_ANY; minor++) {
		error = accelerator_enter_minor(nodes, minor, true, context);
		switch (error) {
		case -ENOENT:
			break;
		case -EBUSY:
			result = -EBUSY;
			break;
		case -EIO:
		case -ENODEV:	/* its daemon died, or it is going: perhaps the next one */
			if (result == -ENOENT)
				result = error;
			break;
		default:
			return error;
		}
	}
	return result;
}

/*
 * A register has 64 bits, which a program of 32 bits cannot load or store in one access; the bus
 * decodes no such code either. Better now than a SIGBUS later that nobody understands.
 */
static int accelerator_refuse_32bit(const struct file *file)
{
	if (!in_compat_syscall())
		return 0;
	pr_notice_once("%s[%d] cannot open %pD: programs of 32 bits cannot access registers of 64\n",
		       current->comm, task_tgid_nr(current), file);
	return -EOPNOTSUPP;
}

static int accelerator_open(struct inode *inode, struct file *file)
{
	struct accelerator_nodes *nodes =
		container_of(inode->i_cdev, struct accelerator_nodes, cdev);
	struct accelerator_file *opened;
	unsigned int minor = iminor(inode);
	struct accelerator_context *context;
	int error = accelerator_refuse_32bit(file);

	if (error)
		return error;
	opened = kzalloc(sizeof(*opened), GFP_KERNEL_ACCOUNT);
	if (!opened)
		return -ENOMEM;
	if (minor == ACCELERATOR_MINOR_ANY)
		error = accelerator_enter_any(nodes, &context);
	else
		error = accelerator_enter_minor(nodes, minor, false, &context);
	if (error) {
		kfree(opened);
		return error;
	}
	mimic_binding_share_mapping(context->binding, file);
	opened->context = context;
	opened->seen = atomic64_read(&context->unresolved);
	opened->events_read = atomic64_read(&context->events);
	spin_lock(&context->lock);
	list_add(&opened->link, &context->files);
	spin_unlock(&context->lock);
	file->private_data = opened;
	return 0;
}

/* The file had the device's eventfd, perhaps: then no interrupts are wanted any more. */
static void accelerator_end_events(struct accelerator_file *opened)
{
	struct accelerator *accelerator = opened->context->accelerator;

	mutex_lock(&accelerator->serving);
	if (opened->eventfd && accelerator->events &&
	    accelerator->contexts[0] == opened->context)
		accelerator_events_want(accelerator, 0);
	mutex_unlock(&accelerator->serving);
}

static int accelerator_release(struct inode *inode, struct file *file)
{
	struct accelerator_file *opened = file->private_data;
	struct accelerator_context *context = opened->context;

	if (context->accelerator->driver->events)
		accelerator_end_events(opened);
	spin_lock(&context->lock);
	list_del(&opened->link);
	spin_unlock(&context->lock);
	if (opened->eventfd)
		eventfd_ctx_put(opened->eventfd);
	accelerator_context_leave(context);
	kfree(opened);
	return 0;
}

/* --- read, write, mmap, poll ------------------------------------------------ */

static bool accelerator_has_events(const struct accelerator_file *opened)
{
	return atomic64_read(&opened->context->events) != READ_ONCE(opened->events_read);
}

static bool accelerator_is_over(const struct accelerator_file *opened)
{
	return mimic_binding_check(opened->context->binding);
}

static s64 accelerator_take_count(struct accelerator_file *opened)
{
	struct accelerator_context *context = opened->context;
	s64 count;

	spin_lock(&context->lock);
	count = atomic64_read(&context->events) - opened->events_read;
	WRITE_ONCE(opened->events_read, opened->events_read + count);
	spin_unlock(&context->lock);
	return count;
}

static ssize_t accelerator_read_events(struct accelerator_file *opened, char __user *buffer,
				       size_t size, bool nonblock)
{
	s64 count;

	if (size < sizeof(count))
		return -EINVAL;
	do {
		if (!nonblock &&
		    wait_event_interruptible(opened->context->wait,
					     accelerator_has_events(opened) ||
					     accelerator_is_over(opened)))
			return -ERESTARTSYS;
		if (accelerator_is_over(opened))
			return -ENODEV;
		/* None, if another thread was faster. */
		count = accelerator_take_count(opened);
	} while (!count && !nonblock);
	if (!count)
		return -EAGAIN;
	return copy_to_user(buffer, &count, sizeof(count)) ? -EFAULT : sizeof(count);
}

/* Without events to read the device is its pages: a file without contents. */
static ssize_t accelerator_file_read(struct file *file, char __user *buffer, size_t size,
				     loff_t *position)
{
	struct accelerator_file *opened = file->private_data;

	if (!opened->context->accelerator->driver->reads_events)
		return 0;
	return accelerator_read_events(opened, buffer, size, file->f_flags & O_NONBLOCK);
}

static ssize_t accelerator_file_write(struct file *file, const char __user *buffer, size_t size,
				      loff_t *position)
{
	return -EPERM;
}

static unsigned int accelerator_file_pages(const struct accelerator *accelerator)
{
	if (accelerator->driver->first_context_page)
		return 1;
	return accelerator->driver->program_pages ?: accelerator->device->pages;
}

static int accelerator_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct accelerator_file *opened = file->private_data;
	const struct accelerator_context *context = opened->context;
	const struct accelerator *accelerator = context->accelerator;
	unsigned int memory_page = accelerator->driver->memory_page;

	if (vma->vm_pgoff >= MIMIC_LANES_PAGE)
		return mimic_binding_mmap_lane(context->binding, vma);
	if (memory_page && vma->vm_pgoff >= memory_page)
		return mimic_binding_mmap_memory(context->binding, vma, memory_page);
	return mimic_binding_mmap(context->binding, vma,
				  accelerator->driver->first_context_page + context->number,
				  accelerator_file_pages(accelerator));
}

static __poll_t accelerator_poll(struct file *file, poll_table *wait)
{
	struct accelerator_file *opened = file->private_data;
	struct accelerator_context *context = opened->context;
	__poll_t events = 0;

	poll_wait(file, &context->wait, wait);
	if (atomic64_read(&context->unresolved) != READ_ONCE(opened->seen))
		events |= EPOLLPRI;
	if (READ_ONCE(context->gone))
		events |= EPOLLERR | EPOLLHUP;
	else if (accelerator_has_events(opened))
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}

static int accelerator_fasync(int fd, struct file *file, int on)
{
	struct accelerator_file *opened = file->private_data;

	return fasync_helper(fd, file, on, &opened->fasync);
}

/* --- ioctls --------------------------------------------------------------- */

int accelerator_get_structure(void *structure, u32 size, const void __user *from)
{
	u32 its_size;

	if (get_user(its_size, (const u32 __user *)from))
		return -EFAULT;
	if (its_size < size)
		return -EINVAL;
	if (its_size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(structure, size, from, its_size);
}

bool accelerator_is_clear(const void *reserved, size_t size)
{
	return !memchr_inv(reserved, 0, size);
}

static int accelerator_ioctl_info(struct accelerator_file *opened, void __user *argument)
{
	const struct accelerator_context *context = opened->context;
	struct accelerator *accelerator = context->accelerator;
	bool has_contexts = accelerator->driver->first_context_page;
	bool has_memory = accelerator->driver->memory_page;
	struct accelerator_info info;
	int error;

	error = accelerator_get_structure(&info, sizeof(info), argument);
	if (error)
		return error;
	if (!accelerator_is_clear(info.reserved, sizeof(info.reserved)) ||
	    info.flags & ~(u64)ACCELERATOR_INFO_PEEK ||
	    (!has_contexts && !has_memory && info.unused))
		return -EINVAL;
	info.version = accelerator->driver->abi_version;
	info.index = accelerator->device->index;
	info.pages = accelerator_file_pages(accelerator);
	info.identify = READ_ONCE(accelerator->identify);
	info.faults = atomic64_read(&context->faults);
	info.unresolved = atomic64_read(&context->unresolved);
	info.shootdowns = atomic64_read(&context->shootdowns);
	if (has_contexts) {
		info.context = context->number;
		info.contexts = READ_ONCE(accelerator->context_count);
	} else {
		info.memory_size = has_memory ? accelerator->device->memory_size : 0;
	}
	/* Not the size: it is the program's, and may be more. */
	if (copy_to_user(argument + sizeof(info.size), &info.version,
			 sizeof(info) - sizeof(info.size)))
		return -EFAULT;
	if (!(info.flags & ACCELERATOR_INFO_PEEK))
		WRITE_ONCE(opened->seen, info.unresolved);
	return 0;
}

/* The caller puts the eventfd that was there before. */
static void accelerator_swap_eventfd(struct accelerator_file *opened, struct eventfd_ctx **event)
{
	spin_lock(&opened->context->lock);
	swap(opened->eventfd, *event);
	spin_unlock(&opened->context->lock);
}

/* Of one of the context's files that has one. NULL: none has. */
static struct eventfd_ctx *accelerator_take_eventfd(struct accelerator_context *context)
{
	struct eventfd_ctx *event = NULL;
	struct accelerator_file *file;

	spin_lock(&context->lock);
	list_for_each_entry(file, &context->files, link) {
		event = file->eventfd;
		file->eventfd = NULL;
		if (event)
			break;
	}
	spin_unlock(&context->lock);
	return event;
}

/*
 * A device has one eventfd for events, on whichever file it was set last. It is there
 * before the device is told of it: events that have happened already raise the interrupt then.
 */
static int accelerator_try_events(struct accelerator_file *opened, struct eventfd_ctx **event,
				  u64 events)
{
	struct accelerator *accelerator = opened->context->accelerator;
	struct eventfd_ctx *old;
	int error;

	mutex_lock(&accelerator->serving);
	while ((old = accelerator_take_eventfd(opened->context)))
		eventfd_ctx_put(old);
	accelerator_swap_eventfd(opened, event);
	if (accelerator->contexts[0] == opened->context)
		error = accelerator_events_want(accelerator, events);
	else
		error = -ENODEV;
	if (error) {
		/* Another process may have the device by now. */
		if (accelerator->contexts[0] == opened->context)
			accelerator->events = 0;
		accelerator_swap_eventfd(opened, event);
	}
	mutex_unlock(&accelerator->serving);
	return error;
}

static int accelerator_set_events(struct accelerator_file *opened, struct eventfd_ctx *event,
				  u64 events)
{
	struct accelerator *accelerator = opened->context->accelerator;
	int error;

	do {
		error = accelerator_try_events(opened, &event, events);
	} while (error == -EAGAIN && accelerator_may_try_again(accelerator, &error));
	if (error && event)
		eventfd_ctx_put(event);
	return error;
}

static int accelerator_ioctl_eventfd(struct accelerator_file *opened, const void __user *argument)
{
	u64 known = opened->context->accelerator->driver->events;
	struct eventfd_ctx *event = NULL;
	struct accelerator_eventfd wanted;
	int error;

	error = accelerator_get_structure(&wanted, sizeof(wanted), argument);
	if (error)
		return error;
	if (!accelerator_is_clear(wanted.reserved, sizeof(wanted.reserved)) || wanted.fd < -1 ||
	    wanted.events & ~known)
		return -EINVAL;
	if (wanted.fd >= 0 && (wanted.events || !known))
		event = eventfd_ctx_fdget(wanted.fd);
	if (IS_ERR(event))
		return PTR_ERR(event);
	if (known)
		return accelerator_set_events(opened, event, event ? wanted.events : 0);
	accelerator_swap_eventfd(opened, &event);
	if (event)
		eventfd_ctx_put(event);
	return 0;
}

/* The number is told before it is a descriptor: until then nothing has to be taken back. */
static int accelerator_install(struct file *session, s32 __user *to)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);

	if (fd < 0)
		return fd;
	if (put_user(fd, to)) {
		put_unused_fd(fd);
		return -EFAULT;
	}
	fd_install(fd, session);
	return 0;
}

static int accelerator_ioctl_connect(struct accelerator_file *opened, void __user *argument)
{
	s32 __user *to = argument + offsetof(struct accelerator_connect, fd);
	struct accelerator_connect wanted;
	struct file *session;
	int error;

	error = accelerator_get_structure(&wanted, sizeof(wanted), argument);
	if (error)
		return error;
	if (!accelerator_is_clear(wanted.reserved, sizeof(wanted.reserved)))
		return -EINVAL;
	/* Before the daemon makes a session that nobody would know of. */
	if (put_user(-1, to))
		return -EFAULT;
	error = mimic_binding_connect(opened->context->binding, &session);
	if (error)
		return error;
	error = accelerator_install(session, to);
	if (error)
		fput(session);
	return error;
}

/*
 * The size in the command's number is that of the program's structure: it grows
 * with the versions, and the structure says it, too.
 */
static bool accelerator_is_command(unsigned int command, unsigned int wanted)
{
	return (command & ~IOCSIZE_MASK) == (wanted & ~IOCSIZE_MASK);
}

static long accelerator_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct accelerator_file *opened = file->private_data;
	unsigned int type = opened->context->accelerator->driver->ioctl_type;
	int error;

	error = mimic_binding_check(opened->context->binding);
	if (error)
		return error;
	if (accelerator_is_command(command, ACCELERATOR_IOCTL_INFO(type)))
		return accelerator_ioctl_info(opened, (void __user *)argument);
	if (accelerator_is_command(command, ACCELERATOR_IOCTL_EVENTFD(type)))
		return accelerator_ioctl_eventfd(opened, (const void __user *)argument);
	if (accelerator_is_command(command, ACCELERATOR_IOCTL_CONNECT(type)))
		return accelerator_ioctl_connect(opened, (void __user *)argument);
	if (accelerator_is_command(command, ACCELERATOR_IOCTL_LANE(type)))
		return accelerator_ioctl_lane(opened, (void __user *)argument);
	if (accelerator_is_command(command, ACCELERATOR_IOCTL_LANE_CALL(type)))
		return accelerator_ioctl_lane_call(opened, (const void __user *)argument);
	return -ENOTTY;
}

const struct file_operations accelerator_file_operations = {
	.owner = THIS_MODULE,
	.open = accelerator_open,
	.release = accelerator_release,
	.llseek = noop_llseek,	/* to anywhere in a file without contents */
	.read = accelerator_file_read,
	.write = accelerator_file_write,
	.mmap = accelerator_mmap,
	.poll = accelerator_poll,
	.fasync = accelerator_fasync,
	.unlocked_ioctl = accelerator_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
