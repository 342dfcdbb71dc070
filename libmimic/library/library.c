/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/library/library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static __thread char error_text[400];

/* --- error texts ------------------------------------------------------------------ */

void mimic_library_set_text(const char *format, va_list arguments)
{
	vsnprintf(error_text, sizeof(error_text), format, arguments);
}

static int __attribute__((format(printf, 2, 3), cold)) fail(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	mimic_library_set_text(format, arguments);
	va_end(arguments);
	return error;
}

int mimic_library_error(int error)
{
	const char *text = mimic_error_text();

	if (text[0] != '\0')
		return fail(error, "%s", text);
	return fail(error, "the device answered: %s", strerror(-error));
}

const char *mimic_library_text(void)
{
	return error_text;
}

/* --- opening ---------------------------------------------------------------------- */

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
	return fail(-EINVAL, "transport \"%s\": not one of auto, kernel, daemon, embedded", name);
}

int mimic_library_open(struct mimic_device **device, const struct mimic_library_kind *kind,
		       const struct mimic_library_options *options)
{
	struct mimic_options device_options = {
		.socket_path = options->socket_path,
		.config_path = options->config_path,
	};
	const char *name = options->device ? options->device : kind->name;
	int error;

	if (strncmp(name, kind->name, strlen(kind->name)) != 0)
		return fail(-EINVAL, "device \"%s\": not a %s", name, kind->title);
	error = parse_transport(options->transport, &device_options.transport);
	if (error)
		return error;
	return mimic_library_result(mimic_device_open(device, name, &device_options));
}

int mimic_library_identify(struct mimic_device *device, const struct mimic_library_kind *kind,
			   uint64_t *identity)
{
	unsigned int version;
	int error = mimic_library_load(device, kind->page, kind->offset, 8, identity);

	if (error)
		return error;
	version = (*identity >> 24) & 0xff;
	if (*identity >> 32 != kind->magic)
		return fail(-EPROTO, "%s: it is no %s: it identifies itself as 0x%llx",
			    mimic_device_name(device), kind->title, (unsigned long long)*identity);
	if (version != kind->version)
		return fail(-EPROTO, "%s: register version %u, this library knows %u",
			    mimic_device_name(device), version, kind->version);
	return 0;
}

/* --- registers and memory --------------------------------------------------------- */

int mimic_library_load(struct mimic_device *device, unsigned int page, unsigned int offset,
		       unsigned int size, uint64_t *value)
{
	struct mimic_access access = {
		.page = (uint8_t)page, .offset = offset, .size = (uint8_t)size,
	};
	int error = mimic_device_access(device, &access);

	*value = access.data;
	return mimic_library_result(error);
}

int mimic_library_store(struct mimic_device *device, unsigned int page, unsigned int offset,
			uint64_t value)
{
	struct mimic_access access = {
		.page = (uint8_t)page, .offset = offset, .size = 8, .is_write = 1,
		.data = value,
	};

	return mimic_library_result(mimic_device_access(device, &access));
}

void *mimic_library_alloc(struct mimic_device *device, size_t size)
{
	void *memory = mimic_memory_alloc(device, size);

	if (!memory) {
		const int error = errno;

		mimic_library_error(-error);
		errno = error;
	}
	return memory;
}
