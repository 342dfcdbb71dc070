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

/* An option behind the path. */
static bool cut_off(char *path, const char *option, bool *is_set)
{
	size_t length = strlen(path), rest = strlen(option);

	if (length <= rest || strcmp(path + length - rest, option))
		return false;
	path[length - rest] = 0;
	*is_set = true;
	return true;
}

int mimicd_vfio_listener_parse(struct mimicd_vfio_listener *listener, const char *text)
{
	static const char suffix[] = ".sock";
	const char *equals = strchr(text, '='), *path = text, *name = text;
	size_t length;

	listener->fd = -1;
	if (equals && !memchr(text, '/', (size_t)(equals - text)))
		path = equals + 1;
	listener->path = strdup(path);
	if (!listener->path)
		return -ENOMEM;
	while (cut_off(listener->path, ",msi", &listener->has_msi) ||
	       cut_off(listener->path, ",rings", &listener->has_rings))
		;
	if (path == text) {
		name = strrchr(listener->path, '/') ? strrchr(listener->path, '/') + 1 : listener->path;
		length = strlen(name);
		if (length > strlen(suffix) && !strcmp(name + length - strlen(suffix), suffix))
			length -= strlen(suffix);
	} else {
		length = (size_t)(equals - text);
	}
	if (!length || length >= sizeof(listener->device))
		return -EINVAL;
	memcpy(listener->device, name, length);
	return 0;
}

static void accept_machine(void *context)
{
	struct mimicd_vfio_listener *listener = context;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (listener->function) {
		mimicd_machine_create(listener->function, fd);
		return;
	}
	mimicd_log(MIMICD_LOG_WARNING, "%s: a virtual machine does not get %s: it was removed", listener->path,
		   listener->device);
	close(fd);
}

int mimicd_vfio_listener_open(struct mimicd_vfio_listener *listener)
{
	struct stat status;
	char *path;

	listener->fd = mimicd_listen(listener->path, SOCK_STREAM, false, &status);
	if (listener->fd < 0)
		return listener->fd;
	listener->file_device = status.st_dev;
	listener->inode = status.st_ino;
	path = realpath(listener->path, NULL);
	if (!path)
		return -errno;
	free(listener->path);
	listener->path = path;
	listener->source = (struct mimicd_source){ accept_machine, listener };
	return mimicd_loop_watch(listener->vfio->engine->loop, listener->fd, EPOLLIN, &listener->source);
}

/* The path may be another daemon's by now. */
void mimicd_vfio_listener_close(struct mimicd_vfio_listener *listener)
{
	struct stat status;

	if (listener->fd >= 0) {
		mimicd_loop_forget(listener->vfio->engine->loop, listener->fd);
		close(listener->fd);
		if (!lstat(listener->path, &status) && status.st_dev == listener->file_device &&
		    status.st_ino == listener->inode)
			unlink(listener->path);
	}
	free(listener->path);
}
