/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Taking a context of a device, and giving it back. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "libmimic/mimic.h"

static __thread char error_text[320];

int dare_fail(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error_text, sizeof(error_text), format, arguments);
	va_end(arguments);
	return error;
}

int dare_device_error(int error)
{
	const char *text = mimic_error_text();

	if (text[0] != '\0')
		return dare_fail(error, "%s", text);
	return dare_fail(error, "the device answered: %s", strerror(-error));
}

const char *dare_error_text(void)
{
	return error_text;
}

static int post(void *port, const uint64_t *values, size_t count)
{
	const struct mimic_access pattern = { .offset = DARE_STREAM, .size = 8, .is_write = 1 };
	ssize_t posted = mimic_device_post(port, &pattern, values, count);

	return posted < 0 ? dare_device_error((int)posted) : 0;
}

static int load(void *port, unsigned int offset, uint64_t *value)
{
	struct mimic_access access = { .offset = offset, .size = 8 };
	int error = mimic_device_access(port, &access);

	*value = access.data;
	return error ? dare_device_error(error) : 0;
}

static int store(void *port, unsigned int offset, uint64_t value)
{
	struct mimic_access access = { .offset = offset, .size = 8, .is_write = 1, .data = value };
	int error = mimic_device_access(port, &access);

	return error ? dare_device_error(error) : 0;
}

static void *allocate(void *port, size_t size)
{
	void *memory = mimic_memory_alloc(port, size);

	if (!memory)
		dare_device_error(-errno);
	return memory;
}

static int release(void *port, void *memory)
{
	int error = mimic_memory_free(port, memory);

	return error ? dare_device_error(error) : 0;
}

static int share_memory(void *port, void *memory, size_t size)
{
	int error = mimic_memory_register(port, memory, size);

	return error ? dare_device_error(error) : 0;
}

static int unshare_memory(void *port, void *memory, size_t size)
{
	int error = mimic_memory_unregister(port, memory, size);

	return error ? dare_device_error(error) : 0;
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

static const struct dare_port_ops device_ops = {
	.post = post,
	.load = load,
	.store = store,
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
	return dare_fail(-EINVAL, "transport \"%s\": not one of auto, kernel, daemon, embedded", name);
}

static int identify(struct dare *dare)
{
	uint64_t identity;
	unsigned int version;
	int error = dare->ops->load(dare->port, DARE_IDENTIFY, &identity);

	if (error)
		return error;
	version = (identity >> 24) & 0xff;
	if (identity >> 32 != DARE_MAGIC)
		return dare_fail(-EPROTO, "%s: it is no DARE: it identifies itself as 0x%llx",
				 dare_device_name(dare), (unsigned long long)identity);
	if (version != DARE_VERSION)
		return dare_fail(-EPROTO, "%s: register version %u, this library knows %u",
				 dare_device_name(dare), version, DARE_VERSION);
	return 0;
}

int dare_open_port(struct dare **result, const struct dare_port_ops *ops, void *port)
{
	struct dare *dare = calloc(1, sizeof(*dare));
	int error;

	*result = NULL;
	if (!dare) {
		ops->close(port);
		return dare_fail(-ENOMEM, "dare_open: out of memory");
	}
	dare->ops = ops;
	dare->port = port;
	error = identify(dare);
	if (error) {
		dare_close(dare);
		return error;
	}
	*result = dare;
	return 0;
}

int dare_open(struct dare **result, const struct dare_options *options)
{
	const struct dare_options defaults = { 0 };
	struct mimic_options device_options = { 0 };
	struct mimic_device *device;
	int error;

	if (!result)
		return dare_fail(-EINVAL, "dare_open: no place for the handle");
	*result = NULL;
	if (!options)
		options = &defaults;
	if (options->device && strncmp(options->device, "dare", 4) != 0)
		return dare_fail(-EINVAL, "device \"%s\": not a DARE", options->device);
	error = parse_transport(options->transport, &device_options.transport);
	if (error)
		return error;
	device_options.socket_path = options->socket_path;
	device_options.config_path = options->config_path;
	error = mimic_device_open(&device, options->device ? options->device : "dare",
				  &device_options);
	if (error)
		return dare_device_error(error);
	return dare_open_port(result, &device_ops, device);
}

void dare_close(struct dare *dare)
{
	if (!dare)
		return;
	if (dare->workspace)
		dare->ops->free(dare->port, dare->workspace);
	dare->ops->close(dare->port);
	free(dare);
}

const char *dare_transport(const struct dare *dare)
{
	return dare->ops->transport(dare->port);
}

const char *dare_device_name(const struct dare *dare)
{
	return dare->ops->name(dare->port);
}
