// SPDX-License-Identifier: GPL-2.0
/*
 * The nodes: /dev/mapleN is one instance, /dev/maple any that is free. What they
 * answer is in docs/abi.md.
 *
 * A file is the opener's alone. In another process (after fork, or sent over a
 * socket) it can be closed; all else that reaches the device answers ENODEV.
 *
 * poll: EPOLLPRI, a fault of an address that is not the process's has come since
 * the last INFO on this file; EPOLLERR and EPOLLHUP, the device is gone. A
 * program that wants a signal asks for it by O_ASYNC (fcntl(2)): SIGIO, or what
 * F_SETSIG says.
 */
#include <linux/eventfd.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "maple.h"
#include "mimic/maple_ioctl.h"

/* --- open and release ----------------------------------------------------- */

static int enter_minor(unsigned int minor, bool only_new, struct maple_user **user)
{
	struct maple *maple = maple_get(minor);
	int error;

	if (!maple)
		return -ENOENT;
	error = maple_user_enter(maple, only_new, user);
	maple_put(maple);
	return error;
}

/* An instance that this process has already is not free. */
static int enter_any(struct maple_user **user)
{
	int result = -ENOENT;
	unsigned int minor;
	int error;

	for (minor = 0; minor < MAPLE_MINOR_ANY; minor++) {
		error = enter_minor(minor, true, user);
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

static int maple_open(struct inode *inode, struct file *file)
{
	struct maple_file *maple_file = kzalloc(sizeof(*maple_file), GFP_KERNEL_ACCOUNT);
	unsigned int minor = iminor(inode);
	struct maple_user *user;
	int error;

	if (!maple_file)
		return -ENOMEM;
	if (minor == MAPLE_MINOR_ANY)
		error = enter_any(&user);
	else
		error = enter_minor(minor, false, &user);
	if (error) {
		kfree(maple_file);
		return error;
	}
	maple_file->user = user;
	maple_file->seen = atomic64_read(&user->unresolved);
	spin_lock(&user->lock);
	list_add(&maple_file->link, &user->files);
	spin_unlock(&user->lock);
	file->private_data = maple_file;
	return 0;
}

static int maple_release(struct inode *inode, struct file *file)
{
	struct maple_file *maple_file = file->private_data;
	struct maple_user *user = maple_file->user;

	spin_lock(&user->lock);
	list_del(&maple_file->link);
	spin_unlock(&user->lock);
	if (maple_file->eventfd)
		eventfd_ctx_put(maple_file->eventfd);
	maple_user_leave(user);
	kfree(maple_file);
	return 0;
}

/* --- calls that move no data ---------------------------------------------- */

/* The device is its pages: a file without contents. */
static ssize_t maple_read(struct file *file, char __user *buffer, size_t size, loff_t *position)
{
	return 0;
}

static ssize_t maple_write(struct file *file, const char __user *buffer, size_t size,
			   loff_t *position)
{
	return -EPERM;
}

static int maple_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct maple_file *maple_file = file->private_data;

	return mimic_binding_mmap(maple_file->user->binding, vma);
}

static __poll_t maple_poll(struct file *file, poll_table *wait)
{
	struct maple_file *maple_file = file->private_data;
	struct maple_user *user = maple_file->user;
	__poll_t events = 0;

	poll_wait(file, &user->wait, wait);
	if (atomic64_read(&user->unresolved) != READ_ONCE(maple_file->seen))
		events |= EPOLLPRI;
	if (READ_ONCE(user->gone))
		events |= EPOLLERR | EPOLLHUP;
	return events;
}

static int maple_fasync(int fd, struct file *file, int on)
{
	struct maple_file *maple_file = file->private_data;

	return fasync_helper(fd, file, on, &maple_file->fasync);
}

/* --- ioctls --------------------------------------------------------------- */

/*
 * The structure at `from`, which starts with its size: `size` bytes are known
 * here, all of them since the first version. What a newer program has behind
 * them must be 0.
 */
static int get_structure(void *structure, u32 size, const void __user *from)
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

static bool is_clear(const u64 *reserved, size_t size)
{
	return !memchr_inv(reserved, 0, size);
}

static int maple_ioctl_info(struct maple_file *maple_file, void __user *argument)
{
	struct maple_user *user = maple_file->user;
	struct maple *maple = user->maple;
	struct maple_info info;
	int error;

	error = get_structure(&info, sizeof(info), argument);
	if (error)
		return error;
	if (!is_clear(info.reserved, sizeof(info.reserved)))
		return -EINVAL;
	info.version = MAPLE_ABI_VERSION;
	info.index = maple->device->index;
	info.pages = maple->device->pages;
	info.identify = READ_ONCE(maple->identify);
	info.faults = atomic64_read(&user->faults);
	info.unresolved = atomic64_read(&user->unresolved);
	info.shootdowns = atomic64_read(&user->shootdowns);
	/* Not the size: it is the program's, and may be more. */
	if (copy_to_user(argument + sizeof(info.size), &info.version,
			 sizeof(info) - sizeof(info.size)))
		return -EFAULT;
	WRITE_ONCE(maple_file->seen, info.unresolved);
	return 0;
}

static int maple_ioctl_eventfd(struct maple_file *maple_file, const void __user *argument)
{
	struct maple_user *user = maple_file->user;
	struct eventfd_ctx *context = NULL;
	struct maple_eventfd wanted;
	int error;

	error = get_structure(&wanted, sizeof(wanted), argument);
	if (error)
		return error;
	if (!is_clear(wanted.reserved, sizeof(wanted.reserved)) || wanted.fd < -1)
		return -EINVAL;
	if (wanted.fd >= 0)
		context = eventfd_ctx_fdget(wanted.fd);
	if (IS_ERR(context))
		return PTR_ERR(context);
	spin_lock(&user->lock);
	swap(maple_file->eventfd, context);
	spin_unlock(&user->lock);
	if (context)
		eventfd_ctx_put(context);
	return 0;
}

static int maple_ioctl_connect(struct maple_file *maple_file, void __user *argument)
{
	s32 __user *to = argument + offsetof(struct maple_connect, fd);
	struct maple_connect wanted;
	int error, fd;

	error = get_structure(&wanted, sizeof(wanted), argument);
	if (error)
		return error;
	if (!is_clear(wanted.reserved, sizeof(wanted.reserved)))
		return -EINVAL;
	/* Before there is a descriptor that the program would not know of. */
	if (put_user(-1, to))
		return -EFAULT;
	fd = mimic_binding_connect(maple_file->user->binding);
	if (fd < 0)
		return fd;
	if (!put_user(fd, to))
		return 0;
	close_fd(fd);
	return -EFAULT;
}

/*
 * The size in the command's number is that of the program's structure: it grows
 * with the versions, and the structure says it, too.
 */
#define WITHOUT_SIZE(command) ((command) & ~(IOCSIZE_MASK))

static long maple_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct maple_file *maple_file = file->private_data;
	int error;

	error = mimic_binding_check(maple_file->user->binding);
	if (error)
		return error;
	switch (WITHOUT_SIZE(command)) {
	case WITHOUT_SIZE(MAPLE_IOCTL_INFO):
		return maple_ioctl_info(maple_file, (void __user *)argument);
	case WITHOUT_SIZE(MAPLE_IOCTL_EVENTFD):
		return maple_ioctl_eventfd(maple_file, (const void __user *)argument);
	case WITHOUT_SIZE(MAPLE_IOCTL_CONNECT):
		return maple_ioctl_connect(maple_file, (void __user *)argument);
	}
	return -ENOTTY;
}

const struct file_operations maple_file_operations = {
	.owner = THIS_MODULE,
	.open = maple_open,
	.release = maple_release,
	.llseek = noop_llseek,	/* to anywhere in a file without contents */
	.read = maple_read,
	.write = maple_write,
	.mmap = maple_mmap,
	.poll = maple_poll,
	.fasync = maple_fasync,
	.unlocked_ioctl = maple_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
