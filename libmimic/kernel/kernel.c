/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kernel transport: the open node binds the instance to this process, and
 * commands go by lanes to the daemon, on a session that the node gave. The
 * daemon reaches this process's memory through the kernel's mirror of it.
 */
#include "libmimic/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "libmimic/base/descriptor.h"
#include "libmimic/base/error.h"
#include "libmimic/base/kinds.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/daemon/device.h"
#include "libmimic/daemon/session.h"

#define PATH_SIZE 108
/* Above those that a program expects to be its own. */
#define DESCRIPTORS_FROM 200

struct kernel_device {
	struct daemon_device daemon;	/* first: the daemon transport's calls take it */
	struct kernel_device *next;
	int node;			/* -1 in the child of a fork */
	uint64_t memory_size;		/* of the device's own memory */
};

/* Open ones, under the table lock of device.c; and those of the process that forked us. */
static struct kernel_device *devices;
static struct kernel_device *forgotten;

static int no_kernel(void)
{
	return mimic_error(-ECONNREFUSED, "no kernel devices: is mimic.ko loaded and mimicd running?");
}

/* The name of a kind, or that and a number without leading 0. NULL: none of ours. */
static const struct mimic_kind *kind_of_node(const char *name)
{
	unsigned int number;
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);

	return kind && (!*rest || mimic_kind_number(rest, &number)) ? kind : NULL;
}

static int explain_node(int error, const struct mimic_kind *kind, const char *name, const char *path)
{
	bool is_any = strcmp(kind->name, name) == 0;

	switch (error) {
	case -EBUSY:
		if (is_any && kind->contexts)
			return mimic_error(error, "all contexts of all %s devices of the kernel are in use",
					   name);
		if (is_any)
			return mimic_error(error, "all %s devices of the kernel are in use", name);
		if (kind->contexts)
			return mimic_error(error, "%s: all its contexts are in use", path);
		return mimic_error(error, "%s: in use by another process", path);
	case -ENOENT:
		if (is_any || !mimic_kernel_is_there(kind->name))
			return no_kernel();
		return mimic_error(-ENODEV, "%s: there is no such device in the kernel", path);
	case -ENODEV:
	case -ENXIO:
	case -EIO:
		if (is_any && !mimic_kernel_is_there(kind->name))
			return no_kernel();
		return mimic_error(-ECONNREFUSED, "%s: no daemon serves it: is mimicd running?", path);
	case -ENOTTY:
		return mimic_error(-ECONNREFUSED, "%s: not a device of %s.ko", path, kind->name);
	case -EACCES:
	case -EPERM:
		return mimic_error(-EACCES, "%s: %s", path, strerror(-error));
	default:
		return mimic_error(error, "%s: %s", path, strerror(-error));
	}
}

static void close_descriptor(int fd)
{
	mimic_descriptor_note(fd, false);
	mimic_raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Opens the node of that name. The descriptor or -errno. */
static int open_node(const struct mimic_kind *kind, const char *name, const char *path,
		     struct mimic_kernel_info *info)
{
	int node = mimic_kernel_nodes.open(path);
	int error;

	if (node < 0)
		return explain_node(node, kind, name, path);
	error = mimic_kernel_nodes.info(node, kind, info);
	if (error)
		error = explain_node(error, kind, name, path);
	else if (info->version != kind->ioctl_version)
		error = mimic_error(-EPROTO, "%s: %s.ko speaks version %u, this library %u", path,
				    kind->name, info->version, kind->ioctl_version);
	if (error) {
		close_descriptor(node);
		return error;
	}
	return node;
}

/* The session of this process; the first node makes it. -EOPNOTSUPP, without a text: the node leads to no socket. */
static int get_session(const struct mimic_kind *kind, int node, const char *path)
{
	struct daemon_session *session = &mimic_daemon_sessions[DAEMON_SESSION_KERNEL];
	uint32_t generation = atomic_load(&session->generation);
	int fd;

	if (generation && mimic_daemon_session_is_alive(generation))
		return 0;
	fd = mimic_kernel_nodes.connect(node, kind);
	if (fd == -EOPNOTSUPP)
		return fd;
	if (fd < 0)
		return mimic_error(fd, "%s: no session with the daemon: %s", path, strerror(-fd));
	return mimic_daemon_session_adopt(fd, path);
}

/*
 * A session without a device has no process behind it that the kernel knows: the
 * next device gets a new one. So it does after a session that is dead.
 */
static void end_unused_session(void)
{
	struct daemon_session *session = &mimic_daemon_sessions[DAEMON_SESSION_KERNEL];

	if (!session->devices || atomic_load(&session->dead))
		mimic_daemon_session_end(DAEMON_SESSION_KERNEL);
}

/* By lanes of the node: its session has no messages by which devices are opened. */
static int open_by_lanes(struct kernel_device *device, const struct mimic_kind *kind, const char *path,
			 const struct mimic_kernel_info *info)
{
	struct daemon_device *daemon = &device->daemon;
	int error = mimic_kernel_lanes_get(device->node, kind, info->index, path, &daemon->generation);

	if (error)
		return error;
	daemon->number = kind->contexts ? (uint8_t)info->context : 0;
	daemon->counters = (uint32_t)kind->counter_count;
	daemon->memory.fd = -1;
	snprintf(daemon->base.name, sizeof(daemon->base.name), "%s%u", kind->name, info->index);
	mimic_daemon_session_of(daemon->generation)->devices++;
	return 0;
}

/* Checks the device of the node: the session's commands and the node's pages are to reach the same registers. */
static int open_device(struct kernel_device *device, const struct mimic_kind *kind, const char *path,
		       const struct mimic_kernel_info *info)
{
	char name[sizeof(device->daemon.base.name)];
	int error = get_session(kind, device->node, path);

	if (error == -EOPNOTSUPP)
		return open_by_lanes(device, kind, path, info);
	if (error)
		return error;
	if (kind->contexts)
		snprintf(name, sizeof(name), "%s%u/%u", kind->name, info->index, info->context);
	else
		snprintf(name, sizeof(name), "%s%u", kind->name, info->index);
	error = mimic_daemon_device_open(&device->daemon,
					 mimic_daemon_sessions[DAEMON_SESSION_KERNEL].generation, name);
	if (error)
		end_unused_session();
	return error;
}

/* The descriptor becomes the device's, or is closed. */
static int make_device(struct mimic_device **opened, const struct mimic_kind *kind, int node, const char *path,
		       const struct mimic_kernel_info *info)
{
	struct kernel_device *device = calloc(1, sizeof(*device));
	int error = -ENOMEM;

	if (device) {
		device->daemon.base.transport = &mimic_kernel_transport;
		device->node = node;
		device->memory_size = info->memory_size;
		error = open_device(device, kind, path, info);
	}
	if (error) {
		close_descriptor(node);
		free(device);
		return error;
	}
	mimic_descriptor_note(node, true);
	device->next = devices;
	devices = device;
	*opened = &device->daemon.base;
	return 0;
}

static int kernel_open(struct mimic_device **opened, const char *name,
		       const struct mimic_options *options)
{
	const struct mimic_kind *kind = kind_of_node(name);
	struct mimic_kernel_info info = { 0 };
	char path[PATH_SIZE];
	int node;

	(void)options;
	if (!kind)
		return mimic_error(-ENOENT, "device '%.64s': there are %s, and these with a number",
				   name, mimic_kind_names());
	snprintf(path, sizeof(path), "%s/%s", mimic_kernel_nodes.directory, name);
	node = open_node(kind, name, path, &info);
	return node < 0 ? node : make_device(opened, kind, node, path, &info);
}

int mimic_kernel_node_name(const struct mimic_kind *kind, int node, char *name, size_t size)
{
	struct mimic_kernel_info info = { 0 };
	int error = mimic_kernel_nodes.info(node, kind, &info);

	if (error)
		return error;
	snprintf(name, size, "%s%u", kind->name, info.index);
	return info.version == kind->ioctl_version ? 0 : -EPROTO;
}

bool mimic_kernel_is_same_part(const struct mimic_kind *kind, int node, int other)
{
	struct mimic_kernel_info here = { 0 }, there = { 0 };

	return !mimic_kernel_nodes.info(node, kind, &here) && !mimic_kernel_nodes.info(other, kind, &there) &&
	       here.index == there.index && here.context == there.context;
}

int mimic_kernel_node_of(const struct mimic_device *base, bool *is_inherited)
{
	const struct kernel_device *device = (const struct kernel_device *)base;

	/* mimic.ko's pages are in a child, too, and answer it with bus errors; mimic_pci.ko's are not. */
	*is_inherited = mimic_daemon_session_kind(device->daemon.generation) < DAEMON_SESSION_NODES;
	return device->node;
}

int mimic_kernel_open_node(struct mimic_device **opened, const struct mimic_kind *kind, int node)
{
	struct mimic_kernel_info info = { 0 };
	char path[PATH_SIZE];
	int error = mimic_kernel_nodes.info(node, kind, &info);
	int own;

	if (error)
		return error;
	own = (int)mimic_raw_syscall(SYS_fcntl, node, F_DUPFD_CLOEXEC, DESCRIPTORS_FROM, 0, 0, 0);
	if (own < 0)
		return own;
	snprintf(path, sizeof(path), "%s/%s%u", mimic_kernel_nodes.directory, kind->name, info.index);
	return make_device(opened, kind, own, path, &info);
}

/* Another node of the same session speaks for it from now on. */
static void leave_lanes(const struct kernel_device *device)
{
	const struct kernel_device *other = devices;

	while (other && other->daemon.generation != device->daemon.generation)
		other = other->next;
	mimic_kernel_lanes_leave(device->daemon.generation, device->node, other ? other->node : -1);
}

static void kernel_close(struct mimic_device *base)
{
	struct kernel_device *device = (struct kernel_device *)base;
	struct kernel_device **link = &devices;

	while (*link != device)
		link = &(*link)->next;
	*link = device->next;
	mimic_daemon_device_close(&device->daemon);
	if (mimic_daemon_session_kind(device->daemon.generation) >= DAEMON_SESSION_NODES)
		leave_lanes(device);
	else
		end_unused_session();
	/* Last: it takes the instance away from the session. */
	close_descriptor(device->node);
	free(device);
}

/* No message is sent, but the program gets the error, as elsewhere, if there is no daemon for the memory. */
static bool is_alive(struct mimic_device *device)
{
	return mimic_daemon_session_is_alive(mimic_daemon_device(device)->generation);
}

/* Its node is the file: mappings of it are the program's as long as the device is. */
static int kernel_device_memory(struct mimic_device *base, struct mimic_memory_file *file)
{
	const struct kernel_device *device = (const struct kernel_device *)base;

	*file = (struct mimic_memory_file){ device->node, base->kind->memory_offset, device->memory_size };
	return 0;
}

static int kernel_device_eventfd(struct mimic_device *base, int fd, uint64_t events)
{
	const struct kernel_device *device = (const struct kernel_device *)base;
	int error = mimic_kernel_nodes.eventfd(device->node, base->kind, fd, events);

	/* As where a message to the daemon would not have come through. */
	return error == -ENODEV || error == -EIO ? -ENOTCONN : error;
}

static void *kernel_alloc(struct mimic_device *device, size_t size)
{
	if (is_alive(device))
		return mimic_kernel_memory_alloc(size);
	errno = ENOTCONN;
	return NULL;
}

static int kernel_free(struct mimic_device *device, void *address)
{
	(void)device;
	return mimic_kernel_memory_free(address);
}

static int kernel_register(struct mimic_device *device, void *address, size_t size)
{
	return is_alive(device) ? mimic_kernel_memory_register(address, size) : -ENOTCONN;
}

static int kernel_unregister(struct mimic_device *device, void *address, size_t size)
{
	(void)device;
	return mimic_kernel_memory_unregister(address, size);
}

/* Sessions and lanes are the daemon transport's to forget. */
static void kernel_after_fork(void)
{
	struct kernel_device *device;

	/* Our copies of the nodes answer nothing, and would keep the parent's instances taken. */
	while ((device = devices)) {
		devices = device->next;
		close_descriptor(device->node);
		device->node = -1;
		device->next = forgotten;
		forgotten = device;
	}
	mimic_kernel_memory_after_fork();
}

const struct mimic_transport_ops mimic_kernel_transport = {
	.name = "kernel",
	.open = kernel_open,
	.close = kernel_close,
	.access = mimic_daemon_device_access,
	.post = mimic_daemon_device_post,
	.load = mimic_daemon_device_load,
	.load_pieces = mimic_daemon_device_load_pieces,
	.counters = mimic_daemon_device_counters,
	.device_memory = kernel_device_memory,
	.device_eventfd = kernel_device_eventfd,
	.memory_alloc = kernel_alloc,
	.memory_free = kernel_free,
	.memory_register = kernel_register,
	.memory_unregister = kernel_unregister,
	.keeps_vectors = mimic_daemon_keeps_vectors,
	.after_fork = kernel_after_fork,
};
