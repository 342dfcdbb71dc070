/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A cluster of libmimic: how it is opened and reached. */
#include <string.h>

#include "internal.h"
#include "libmimic/mimic.h"

static int post(void *port, unsigned int unit, const uint64_t *values, size_t count)
{
	const struct mimic_access pattern = {
		.page = VIRGO_PAGE_UNITS,
		.offset = (uint16_t)VIRGO_UNIT_OFFSET(unit, STREAM),
		.size = 8,
		.is_write = 1,
	};
	ssize_t posted = mimic_device_post(port, &pattern, values, count);

	return posted < 0 ? virgo_device_error((int)posted) : 0;
}

static int load(void *port, unsigned int page, unsigned int offset, uint64_t *value)
{
	struct mimic_access access = { .page = (uint8_t)page, .offset = (uint16_t)offset, .size = 8 };
	int error = mimic_device_access(port, &access);

	*value = access.data;
	return error ? virgo_device_error(error) : 0;
}

static int store(void *port, unsigned int page, unsigned int offset, uint64_t value)
{
	struct mimic_access access = {
		.page = (uint8_t)page, .offset = (uint16_t)offset, .size = 8, .is_write = 1,
		.data = value,
	};
	int error = mimic_device_access(port, &access);

	return error ? virgo_device_error(error) : 0;
}

static int shared(void *port, void **memory, size_t *size)
{
	int error = mimic_device_memory(port, memory, size);

	return error ? virgo_device_error(error) : 0;
}

static int set_eventfd(void *port, int fd, uint64_t events)
{
	int error = mimic_device_eventfd(port, fd, events);

	return error ? virgo_device_error(error) : 0;
}

static void *allocate(void *port, size_t size)
{
	void *memory = mimic_memory_alloc(port, size);

	if (!memory)
		virgo_device_error(-errno);
	return memory;
}

static int release(void *port, void *memory)
{
	int error = mimic_memory_free(port, memory);

	return error ? virgo_device_error(error) : 0;
}

static int share_memory(void *port, void *memory, size_t size)
{
	int error = mimic_memory_register(port, memory, size);

	return error ? virgo_device_error(error) : 0;
}

static int unshare_memory(void *port, void *memory, size_t size)
{
	int error = mimic_memory_unregister(port, memory, size);

	return error ? virgo_device_error(error) : 0;
}

static const char *device_name(void *port)
{
	return mimic_device_name(port);
}

static const char *device_transport(void *port)
{
	return mimic_device_transport(port);
}

static void close_device(void *port)
{
	mimic_device_close(port);
}

static const struct virgo_port_ops device_ops = {
	.post = post,
	.load = load,
	.store = store,
	.shared = shared,
	.eventfd = set_eventfd,
	.alloc = allocate,
	.free = release,
	.share = share_memory,
	.unshare = unshare_memory,
	.name = device_name,
	.transport = device_transport,
	.close = close_device,
};

static int parse_transport(const char *name, enum mimic_transport *transport)
{
	static const struct {
		const char *name;
		enum mimic_transport transport;
	} transports[] = {
		{ "auto", MIMIC_TRANSPORT_AUTO },
		{ "kernel", MIMIC_TRANSPORT_KERNEL },
		{ "daemon", MIMIC_TRANSPORT_DAEMON },
		{ "embedded", MIMIC_TRANSPORT_EMBEDDED },
	};

	*transport = MIMIC_TRANSPORT_AUTO;
	if (!name)
		return 0;
	for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
		if (strcmp(name, transports[i].name) != 0)
			continue;
		*transport = transports[i].transport;
		return 0;
	}
	return virgo_fail(-EINVAL, "transport \"%s\": not one of auto, kernel, daemon, embedded", name);
}

int virgo_open(struct virgo **result, const struct virgo_options *options)
{
	const struct virgo_options defaults = { 0 };
	struct mimic_options device_options = { 0 };
	struct mimic_device *device;
	int error;

	if (!result)
		return virgo_fail(-EINVAL, "virgo_open: no place for the handle");
	*result = NULL;
	if (!options)
		options = &defaults;
	if (options->device && strncmp(options->device, "virgo", 5) != 0)
		return virgo_fail(-EINVAL, "device \"%s\": not a Virgo", options->device);
	error = parse_transport(options->transport, &device_options.transport);
	if (error)
		return error;
	device_options.socket_path = options->socket_path;
	device_options.config_path = options->config_path;
	error = mimic_device_open(&device, options->device ? options->device : "virgo",
				  &device_options);
	if (error)
		return virgo_device_error(error);
	return virgo_open_port(result, &device_ops, device);
}
