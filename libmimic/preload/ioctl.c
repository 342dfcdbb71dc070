/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * ioctl: nodes of kinds that ask for it answer as their driver does
 * (mimic/accelerator_ioctl.h). Others have none here, and CONNECT is of the kernel: ENOTTY.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mimic/accelerator_ioctl.h"
#include "preload.h"

/* By a system call: an address that the program made up is an answer, no fault. */
static int copy_in(void *to, const void *from, size_t size)
{
	struct iovec ours = { to, size }, its = { (void *)from, size };

	return mimic_raw_syscall(SYS_process_vm_readv, getpid(), (long)&ours, 1, (long)&its, 1, 0) ==
	       (long)size ? 0 : -EFAULT;
}

static int copy_out(void *to, const void *from, size_t size)
{
	struct iovec ours = { (void *)from, size }, its = { to, size };

	return mimic_raw_syscall(SYS_process_vm_writev, getpid(), (long)&ours, 1, (long)&its, 1, 0) ==
	       (long)size ? 0 : -EFAULT;
}

/* A structure that begins with its size. A longer one is a later version's: unknown fields must be 0. */
static int get_structure(void *structure, uint32_t size, const char *from)
{
	char rest[64];
	uint32_t its_size, done;
	int error = copy_in(&its_size, from, sizeof(its_size));

	if (error)
		return error;
	if (its_size < size)
		return -EINVAL;
	if (its_size > PAGE_BYTES)
		return -E2BIG;
	error = copy_in(structure, from, size);
	for (done = size; !error && done < its_size;) {
		uint32_t piece = its_size - done < sizeof(rest) ? its_size - done : (uint32_t)sizeof(rest);
		uint32_t i;

		error = copy_in(rest, from + done, piece);
		for (i = 0; !error && i < piece; i++)
			error = rest[i] ? -E2BIG : 0;
		done += piece;
	}
	return error;
}

static bool is_clear(const __u64 *reserved, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (reserved[i])
			return false;
	return true;
}

/* Of the register that has the role; 0 if there is none on a page that the program can reach. */
static int load(struct mimic_device *device, const struct mimic_kind *kind, enum mimic_role role, __u64 *value)
{
	struct mimic_access access = { .size = 8 };
	int error = 0;

	if (mimic_register_of_role(kind, role, &access) && access.page < kind->pages)
		error = mimic_device_access(device, &access);
	*value = access.data;
	return error;
}

static int node_info(struct holder *holder, char *argument)
{
	struct mimic_device *device = atomic_load(&holder->device);
	const struct mimic_kind *kind = holder->node.device_kind;
	struct accelerator_info info;
	unsigned int index = 0;
	const char *number;
	int error = get_structure(&info, sizeof(info), argument);

	if (!error && (!is_clear(info.reserved, 2) || info.flags & ~(__u64)ACCELERATOR_INFO_PEEK ||
		       (!kind->memory_size && info.unused)))
		error = -EINVAL;
	if (!error)
		error = load(device, kind, MIMIC_ROLE_IDENTIFY, &info.identify);
	if (!error)
		error = load(device, kind, MIMIC_ROLE_FAULT_COUNT, &info.unresolved);
	if (!error)
		error = load(device, kind, MIMIC_ROLE_MEMORY_SIZE, &info.memory_size);
	if (error)
		return error;
	mimic_kind_of_device(mimic_device_name(device), &number);
	mimic_kind_number(number, &index);
	info.version = kind->ioctl_version;
	info.index = index;
	info.pages = kind->pages;
	/* There is no driver that would serve faults, or shoot translations down. */
	info.faults = 0;
	info.shootdowns = 0;
	/* Not the size: it is the program's, and may be more. */
	return copy_out(argument + sizeof(info.size), &info.version, sizeof(info) - sizeof(info.size));
}

/* A device has one, on whichever open it was set last. */
static void remember_eventfd(struct holder *holder, bool is_set)
{
	struct mimic_device *device = atomic_load(&holder->device);
	unsigned int i;

	for (i = HOLDER_TILES; i < HOLDER_COUNT; i++)
		if (atomic_load(&mimic_preload_holders[i].device) == device)
			mimic_preload_holders[i].has_eventfd = false;
	holder->has_eventfd = is_set;
}

static int node_eventfd(struct holder *holder, const char *argument)
{
	struct accelerator_eventfd wanted;
	int error = get_structure(&wanted, sizeof(wanted), argument);

	if (error)
		return error;
	if (!is_clear(wanted.reserved, 1) || wanted.fd < -1)
		return -EINVAL;
	error = mimic_device_eventfd(atomic_load(&holder->device), wanted.fd, wanted.events);
	if (!error)
		remember_eventfd(holder, wanted.fd >= 0 && wanted.events);
	return error;
}

/* The size in the command's number is that of the program's structure, which grows with the versions. */
static bool is_command(unsigned long command, unsigned long wanted)
{
	return ((uint32_t)command & ~(uint32_t)IOCSIZE_MASK) == ((uint32_t)wanted & ~(uint32_t)IOCSIZE_MASK);
}

/* With the lock. */
static int node_ioctl(struct holder *holder, unsigned long command, char *argument)
{
	const struct mimic_kind *kind = holder->node.device_kind;

	if (holder->node.kind != NODE_DEVICE || !kind->has_emulated_ioctls)
		return -ENOTTY;
	if (atomic_load(&holder->inherited))
		return -ENODEV;
	if (is_command(command, ACCELERATOR_IOCTL_INFO(kind->ioctl_type)))
		return node_info(holder, argument);
	/* An eventfd of a kind without events counts page faults, which only a driver sees. */
	if (kind->take_events && is_command(command, ACCELERATOR_IOCTL_EVENTFD(kind->ioctl_type)))
		return node_eventfd(holder, argument);
	return -ENOTTY;
}

EXPORT int ioctl(int descriptor, unsigned long command, ...)
{
	struct mimic_preload_lock lock;
	struct holder *holder;
	int result = -ENOTTY;
	char *argument;
	va_list list;

	va_start(list, command);
	argument = va_arg(list, char *);
	va_end(list);
	if (mimic_preload_is_inside() || !mimic_preload_files_holder(descriptor))
		return NEXT(ioctl)(descriptor, command, argument);
	mimic_preload_threads_attach();
	mimic_preload_lock(&lock);
	holder = mimic_preload_files_holder(descriptor);
	if (holder)
		result = node_ioctl(holder, command, argument);
	mimic_preload_unlock(&lock);
	if (!result)
		return 0;
	errno = -result;
	return -1;
}
