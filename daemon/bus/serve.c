/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Executes the kernel's requests. */
#include <errno.h>
#include <unistd.h>

#include "daemon/bus/binding.h"
#include "daemon/bus/internal.h"

static int do_open(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	struct mimicd_bus_function *function = mimicd_bus_function_find(bus, body->device);

	return function ? mimicd_bus_binding_open(function, body) : -ENODEV;
}

static int do_close(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	struct mimicd_bus_binding *binding = mimicd_bus_binding_find(bus, body->binding);

	/* An OPEN that failed, or that its process did not wait for, may be closed too. */
	if (binding)
		mimicd_bus_binding_close(binding);
	return 0;
}

static int do_thread_gone(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	struct mimicd_bus_binding *binding = mimicd_bus_binding_find(bus, body->binding);

	if (binding)
		mimicd_bus_binding_thread_gone(binding, body->thread);
	return 0;
}

static int do_connect(struct mimicd_bus *bus, const struct mimic_bus_request *body, int *fd)
{
	struct mimicd_bus_binding *binding = mimicd_bus_binding_find(bus, body->binding);

	return binding ? mimicd_front_ends_connect(bus->engine, &binding->binding, fd) : -ENODEV;
}

void mimicd_bus_serve(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	int status;
	int fd = -1;

	switch (body->kind) {
	case MIMIC_BUS_REQUEST_ACCESS:
		status = mimicd_bus_access(bus, body);
		if (!status)
			return;		/* it is answered, or will be */
		break;
	case MIMIC_BUS_REQUEST_OPEN:
		status = do_open(bus, body);
		break;
	case MIMIC_BUS_REQUEST_CLOSE:
		status = do_close(bus, body);
		break;
	case MIMIC_BUS_REQUEST_THREAD_GONE:
		status = do_thread_gone(bus, body);
		break;
	case MIMIC_BUS_REQUEST_CONNECT:
		status = do_connect(bus, body, &fd);
		break;
	default:
		status = -EOPNOTSUPP;
		break;
	}
	mimicd_bus_answer(bus, body->slot, status, 0, fd);
	if (fd >= 0)
		close(fd);
}
