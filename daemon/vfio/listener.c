/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/vfio/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/loop/listen.h"
#include "daemon/loop/log.h"

/* Behind the path, the last one first. 1: it was one, and is cut off; 0: none; -EINVAL with *why, -ENOMEM. */
static int take_option(struct mimicd_vfio_listener *listener, char *path, const char **why)
{
	static const char memory[] = ",memory=";
	char *option = strrchr(path, ',');

	if (!option)
		return 0;
	if (!strcmp(option, ",msi")) {
		listener->has_msi = true;
	} else if (!strcmp(option, ",rings")) {
		listener->has_rings = true;
	} else if (!strncmp(option, memory, strlen(memory))) {
		if (listener->memory.path)
			*why = "memory= stands there twice";
		else if (!option[strlen(memory)])
			*why = "memory= names no path";
		else
			listener->memory.path = strdup(option + strlen(memory));
		if (*why)
			return -EINVAL;
		if (!listener->memory.path)
			return -ENOMEM;
	} else if (strstr(path, memory)) {
		*why = "behind memory=PATH there is something other than ,msi and ,rings";
		return -EINVAL;
	} else {
		return 0;
	}
	*option = 0;
	return 1;
}

/* The device's name, where the file is named by it. */
static size_t name_of_file(const char *path, const char **name)
{
	static const char suffix[] = ".sock";
	size_t length;

	*name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	length = strlen(*name);
	if (length > strlen(suffix) && !strcmp(*name + length - strlen(suffix), suffix))
		length -= strlen(suffix);
	return length;
}

int mimicd_vfio_listener_parse(struct mimicd_vfio_listener *listener, const char *text, const char **why)
{
	const char *equals = strchr(text, '='), *path = text, *name = text;
	size_t length;
	int error;

	listener->registers.fd = listener->memory.fd = -1;
	/* Not one in a path, nor that of memory=. */
	if (equals && strcspn(text, "/,") > (size_t)(equals - text))
		path = equals + 1;
	listener->registers.path = strdup(path);
	if (!listener->registers.path)
		return -ENOMEM;
	do {
		error = take_option(listener, listener->registers.path, why);
	} while (error > 0);
	if (error)
		return error;
	if (path == text)
		length = name_of_file(listener->registers.path, &name);
	else
		length = (size_t)(equals - text);
	if (!length || length >= sizeof(listener->device))
		return -EINVAL;
	memcpy(listener->device, name, length);
	if (listener->memory.path && !strcmp(listener->memory.path, listener->registers.path)) {
		*why = "memory= names the path of the registers";
		return -EINVAL;
	}
	return 0;
}

/* -1: no machine is there, or the device is not. */
static int accept_machine(struct mimicd_vfio_listener *listener, struct mimicd_vfio_socket *at)
{
	int fd = accept4(at->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 || listener->function)
		return fd;
	mimicd_log(MIMICD_LOG_WARNING, "%s: a virtual machine does not get %s: it was removed", at->path,
		   listener->device);
	mimicd_connection_turn_away(listener->vfio->engine->loop, fd);
	return -1;
}

static void accept_registers(void *context)
{
	struct mimicd_vfio_listener *listener = context;
	int fd = accept_machine(listener, &listener->registers);

	if (fd >= 0)
		mimicd_machine_create(listener->function, fd);
}

static void accept_memory(void *context)
{
	struct mimicd_vfio_listener *listener = context;
	int fd = accept_machine(listener, &listener->memory);

	if (fd >= 0)
		mimicd_memory_function_create(listener->function, fd);
}

static int open_socket(struct mimicd_vfio_socket *opened, struct mimicd_loop *loop)
{
	struct stat status;
	char *path;

	opened->fd = mimicd_listen(opened->path, SOCK_STREAM, false, &status);
	if (opened->fd < 0)
		return opened->fd;
	opened->file_device = status.st_dev;
	opened->inode = status.st_ino;
	path = realpath(opened->path, NULL);
	if (!path)
		return -errno;
	free(opened->path);
	opened->path = path;
	return mimicd_loop_watch(loop, opened->fd, EPOLLIN, &opened->source);
}

int mimicd_vfio_listener_open(struct mimicd_vfio_listener *listener)
{
	struct mimicd_loop *loop = listener->vfio->engine->loop;
	int error;

	listener->registers.source = (struct mimicd_source){ accept_registers, listener };
	listener->memory.source = (struct mimicd_source){ accept_memory, listener };
	error = open_socket(&listener->registers, loop);
	return error || !listener->memory.path ? error : open_socket(&listener->memory, loop);
}

/* The path may be another daemon's by now. */
static void close_socket(struct mimicd_vfio_socket *closed, struct mimicd_loop *loop)
{
	struct stat status;

	if (closed->fd >= 0) {
		mimicd_loop_forget(loop, closed->fd);
		close(closed->fd);
		if (!lstat(closed->path, &status) && status.st_dev == closed->file_device &&
		    status.st_ino == closed->inode)
			unlink(closed->path);
	}
	free(closed->path);
}

void mimicd_vfio_listener_close(struct mimicd_vfio_listener *listener)
{
	struct mimicd_loop *loop = listener->vfio->engine->loop;

	close_socket(&listener->registers, loop);
	close_socket(&listener->memory, loop);
}
