/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "examples/bus/template_daemon.h"

#define REQUESTS_AT_ONCE 16
/* How long a stop may go unnoticed if its signal comes just before the sleep. */
#define SLEEP_MS 100

/* Functional mode: a cycle is a nanosecond. */
static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* --- requests of the model ----------------------------------------------- */

/* The program that waited may be gone: the kernel then drops the answer, but wants it for its slot. */
static void answer(struct template_daemon *daemon, uint32_t slot, int status, uint64_t data)
{
	struct mimic_bus_answer text = { .slot = slot, .status = status, .data = data, .fd = -1 };

	if (write(daemon->fd, &text, sizeof(text)) != sizeof(text))
		daemon->error = -errno;
}

/* An owner is its slot and 1: no two accesses in the model have the same, and 0 is none. */
static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct template_daemon *daemon = context;

	daemon->is_parked[owner - 1] = false;
	answer(daemon, (uint32_t)owner - 1, 0, data);
}

static void interrupt(void *context)
{
	struct template_daemon *daemon = context;
	struct mimic_bus_interrupt line = { .size = sizeof(line), .device = daemon->device };

	if (ioctl(daemon->fd, MIMIC_BUS_INTERRUPT, &line))
		daemon->error = -errno;
}

/* --- requests of the kernel ---------------------------------------------- */

static void serve_access(struct template_daemon *daemon, const struct mimic_bus_request *request)
{
	struct mimic_access access = {
		.owner = request->slot + 1,
		.data = request->data,
		.offset = request->offset,
		.page = request->page,
		.size = request->size,
		.is_write = request->is_write,
	};

	if (daemon->model->ops->access(daemon->model, &access, now()) == MIMIC_DONE)
		answer(daemon, request->slot, 0, access.data);
	else
		daemon->is_parked[request->slot] = true;
}

/* The thread has a signal to handle. If its access still waits, it had no effect yet. */
static void take_back(struct template_daemon *daemon, uint32_t slot)
{
	if (!daemon->is_parked[slot])
		return;
	daemon->is_parked[slot] = false;
	daemon->model->ops->cancel(daemon->model, slot + 1, now());
	answer(daemon, slot, MIMIC_BUS_TAKEN_BACK, 0);
}

static void serve_request(struct template_daemon *daemon, const struct mimic_bus_request *request)
{
	if (!request->size && request->kind == MIMIC_BUS_REQUEST_ACCESS) {
		take_back(daemon, request->slot);
		return;
	}
	switch (request->kind) {
	case MIMIC_BUS_REQUEST_OPEN:
	case MIMIC_BUS_REQUEST_THREAD_GONE:
		answer(daemon, request->slot, 0, 0);
		break;
	case MIMIC_BUS_REQUEST_CLOSE:
		daemon->model->ops->power_on(daemon->model, now());
		answer(daemon, request->slot, 0, 0);
		break;
	case MIMIC_BUS_REQUEST_ACCESS:
		serve_access(daemon, request);
		break;
	default:	/* CONNECT: there is no other way to this device */
		answer(daemon, request->slot, -EOPNOTSUPP, 0);
		break;
	}
}

/* Everything that is there. 0 or -errno. */
static int serve_all(struct template_daemon *daemon)
{
	struct mimic_bus_request requests[REQUESTS_AT_ONCE];
	ssize_t size, i;

	for (;;) {
		size = read(daemon->fd, requests, sizeof(requests));
		if (size < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		for (i = 0; i < size / (ssize_t)sizeof(requests[0]); i++)
			serve_request(daemon, &requests[i]);
	}
}

int template_daemon_serve(struct template_daemon *daemon, const volatile sig_atomic_t *stop)
{
	struct pollfd node = { .fd = daemon->fd, .events = POLLIN };
	int error = 0;

	while (!*stop && !error) {
		/* While the device works its time passes: no sleep. */
		if (poll(&node, 1, daemon->model->ops->busy(daemon->model) ? 0 : SLEEP_MS) < 0 &&
		    errno != EINTR)
			return -errno;
		error = serve_all(daemon);
		daemon->model->ops->tick(daemon->model, now());
		if (!error)
			error = daemon->error;
	}
	return error;
}

/* --- coming and going ---------------------------------------------------- */

static int register_device(struct template_daemon *daemon, int index)
{
	struct mimic_bus_register device = {
		.size = sizeof(device),
		.kind = "template",
		.index = index,
		.pages = TEMPLATE_PAGE_COUNT,
		.interrupts = 1,
		.capabilities = MIMIC_BUS_TRAPS,	/* and no access to the memory of programs */
	};

	if (ioctl(daemon->fd, MIMIC_BUS_REGISTER, &device))
		return -errno;
	daemon->device = device.device;
	daemon->index = device.index;
	return 0;
}

int template_daemon_open(struct template_daemon *daemon, int index)
{
	struct mimic_host host = {
		.context = daemon,
		.complete = complete,
		.interrupt = interrupt,
	};
	struct template_config config;
	int error;

	memset(daemon, 0, sizeof(*daemon));
	template_config_default(&config);
	daemon->model = template_model_create(&config, &host);
	if (!daemon->model)
		return -errno;
	daemon->fd = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	error = daemon->fd < 0 ? -errno : register_device(daemon, index);
	if (!error)
		return 0;
	if (daemon->fd >= 0)
		close(daemon->fd);
	template_model_destroy(daemon->model);
	return error;
}

void template_daemon_close(struct template_daemon *daemon)
{
	struct mimic_bus_unregister device = { .size = sizeof(device), .device = daemon->device };

	/* Without this the node stays, and the next daemon takes it over. */
	ioctl(daemon->fd, MIMIC_BUS_UNREGISTER, &device);
	close(daemon->fd);
	template_model_destroy(daemon->model);
}
