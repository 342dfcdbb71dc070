/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device at a socket. */
#include "daemon/vfio/function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/loop/listen.h"
#include "daemon/loop/log.h"

static struct mimicd_vfio_function *function_of(struct mimicd_function *function)
{
	return (struct mimicd_vfio_function *)function;
}

static int raise_interrupt(struct mimicd_function *function)
{
	struct mimicd_machine *machine = function_of(function)->machine;

	if (!machine)
		return -ENOTCONN;
	return mimicd_interrupt_raise(machine, MIMIC_PCI_STATUS_DEVICE, MIMIC_PCI_VECTOR_DEVICE);
}

/* Its machine sees the device go: loads give all ones, as with hardware that is pulled out. */
static void remove_function(struct mimicd_function *function)
{
	mimicd_vfio_function_remove(function_of(function));
}

static const struct mimicd_function_ops function_ops = {
	.transport = "pci",
	.interrupt = raise_interrupt,
	.remove = remove_function,
};

static void accept_machine(void *context)
{
	mimicd_connection_accept(context);
}

static int listen_at(struct mimicd_vfio_function *function, const char *path)
{
	struct stat status;

	function->listen_fd = mimicd_listen(path, SOCK_STREAM, false, &status);
	if (function->listen_fd < 0)
		return function->listen_fd;
	function->file_device = status.st_dev;
	function->inode = status.st_ino;
	/* Absolute: the daemon may change its directory. */
	function->path = realpath(path, NULL);
	if (!function->path)
		return -errno;
	function->listen_source = (struct mimicd_source){ accept_machine, function };
	return mimicd_loop_watch(function->vfio->engine->loop, function->listen_fd, EPOLLIN,
				 &function->listen_source);
}

/* The path may be another daemon's by now. */
static void stop_listening(struct mimicd_vfio_function *function)
{
	struct stat status;

	if (function->listen_fd < 0)
		return;
	mimicd_loop_forget(function->vfio->engine->loop, function->listen_fd);
	close(function->listen_fd);
	if (function->path && !lstat(function->path, &status) && status.st_dev == function->file_device &&
	    status.st_ino == function->inode)
		unlink(function->path);
}

int mimicd_vfio_function_add(struct mimicd_vfio *vfio, struct mimicd_instance *instance,
			     const struct mimicd_vfio_socket *socket)
{
	struct mimicd_vfio_function *function = calloc(1, sizeof(*function));
	int error;

	if (!function)
		return -ENOMEM;
	function->vfio = vfio;
	function->has_msi = socket->has_msi;
	function->function.ops = &function_ops;
	error = listen_at(function, socket->path);
	if (error < 0) {
		stop_listening(function);
		free(function->path);
		free(function);
		return error;
	}
	function->next = vfio->functions;
	vfio->functions = function;
	mimicd_instance_add_function(instance, &function->function);
	mimicd_log(MIMICD_LOG_INFO, "%s: %s waits for a virtual machine, as PCI function %04x:%04x",
		   function->path, instance->name, MIMIC_PCI_VENDOR, mimicd_vfio_device_number(instance->kind->name));
	return 0;
}

void mimicd_vfio_function_remove(struct mimicd_vfio_function *function)
{
	struct mimicd_vfio_function **link = &function->vfio->functions;

	if (function->machine)
		mimicd_machine_end(function->machine);
	stop_listening(function);
	mimicd_instance_remove_function(function->function.instance, &function->function);
	while (*link != function)
		link = &(*link)->next;
	*link = function->next;
	/* Machines that have ended, and an event of the socket that is there already, still name it. */
	function->next = function->vfio->gone;
	function->vfio->gone = function;
}

void mimicd_vfio_functions_free(struct mimicd_vfio *vfio)
{
	while (vfio->gone) {
		struct mimicd_vfio_function *function = vfio->gone;

		vfio->gone = function->next;
		free(function->path);
		free(function);
	}
}
