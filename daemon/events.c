/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/events.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/instance.h"
#include "daemon/server.h"
#include "libmimic/base/clock.h"

/* A request of one byte of /dev/null, over at once: only its end matters, which signals `fd`. */
static int submit(struct mimicd_server *server, int fd, unsigned int operation)
{
	static char byte;
	struct iocb request = {
		.aio_lio_opcode = (uint16_t)operation,
		.aio_fildes = (uint32_t)server->events.null_fd,
		.aio_buf = (uintptr_t)&byte,
		.aio_nbytes = sizeof(byte),
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = (uint32_t)fd,
	};
	struct iocb *requests[] = { &request };
	struct io_event event;

	if (syscall(SYS_io_submit, server->events.context, 1L, requests) != 1)
		return -errno;
	syscall(SYS_io_getevents, server->events.context, 1L, 1L, &event, NULL);
	return 0;
}

/*
 * A write to what is open for reading only fails with EBADF, but not before the
 * kernel has looked at the eventfd, which stays as it is.
 */
static int check(struct mimicd_server *server, int fd)
{
	int error = submit(server, fd, IOCB_CMD_PWRITE);

	return error == -EBADF ? 0 : -EINVAL;
}

static int prepare(struct mimicd_server *server)
{
	struct mimicd_events *events = &server->events;
	int error;

	if (events->context)
		return 0;
	events->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (events->null_fd < 0)
		return -errno;
	if (!syscall(SYS_io_setup, 1U, &events->context))
		return 0;
	error = -errno;
	close(events->null_fd);
	return error;
}

static void forget(struct mimicd_instance *instance)
{
	if (!instance->events.wanted)
		return;
	close(instance->events.fd);
	instance->events.wanted = 0;
}

int mimicd_events_set(struct mimicd_instance *instance, int fd, uint64_t events)
{
	const struct mimic_kind *kind = instance->kind;
	int copy, error;

	if (!kind->enable_events)
		return -ENXIO;
	if (events & ~kind->events)
		return -EINVAL;
	if (fd < 0 || !events) {
		forget(instance);
		kind->enable_events(instance->model, 0, mimic_now());
		return 0;
	}
	error = prepare(instance->server);
	if (!error)
		error = check(instance->server, fd);
	if (error)
		return error;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	forget(instance);
	instance->events.fd = copy;
	instance->events.wanted = events;
	kind->enable_events(instance->model, events, mimic_now());
	return 0;
}

void mimicd_events_raise(struct mimicd_instance *instance)
{
	struct mimicd_events *events = &instance->server->events;

	if (instance->events.raised || !instance->events.wanted)
		return;
	instance->events.raised = true;
	instance->events.next = events->raised;
	events->raised = instance;
}

void mimicd_events_deliver(struct mimicd_server *server)
{
	while (server->events.raised) {
		struct mimicd_instance *instance = server->events.raised;

		server->events.raised = instance->events.next;
		instance->events.raised = false;
		if (instance->events.wanted && instance->kind->take_events(instance->model, mimic_now()))
			submit(server, instance->events.fd, IOCB_CMD_PREAD);
	}
}

void mimicd_events_forget(struct mimicd_instance *instance)
{
	struct mimicd_instance **link = &instance->server->events.raised;

	forget(instance);
	if (!instance->events.raised)
		return;
	while (*link != instance)
		link = &(*link)->events.next;
	*link = instance->events.next;
	instance->events.raised = false;
}

void mimicd_events_destroy(struct mimicd_server *server)
{
	if (!server->events.context)
		return;
	syscall(SYS_io_destroy, server->events.context);
	close(server->events.null_fd);
	server->events.context = 0;
}
