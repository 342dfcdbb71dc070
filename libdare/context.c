/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Taking a context of a device, and giving it back. */
#include <stdarg.h>
#include <stdlib.h>

#include "internal.h"
#include "profile.h"

static const struct mimic_library_kind kind = {
	.name = "dare", .title = "DARE", .offset = DARE_IDENTIFY,
	.magic = DARE_MAGIC, .version = DARE_VERSION,
};

int dare_fail(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	mimic_library_set_text(format, arguments);
	va_end(arguments);
	return error;
}

const char *dare_error_text(void)
{
	return mimic_library_text();
}

/* The device is closed if this fails. */
static int make_handle(struct dare **result, struct mimic_device *device)
{
	struct dare *dare = calloc(1, sizeof(*dare));
	uint64_t identity;
	int error;

	if (!dare) {
		mimic_device_close(device);
		return dare_fail(-ENOMEM, "dare_open: out of memory");
	}
	dare->device = device;
	error = mimic_library_identify(device, &kind, &identity);
	if (!error)
		error = dare_profile_from_environment(dare);
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
	struct mimic_device *device;
	int error;

	if (!result)
		return dare_fail(-EINVAL, "dare_open: no place for the handle");
	*result = NULL;
	if (!options)
		options = &defaults;
	error = mimic_library_open(&device, &kind, &(struct mimic_library_options){
		options->device, options->transport, options->socket_path, options->config_path,
	});
	return error ? error : make_handle(result, device);
}

void dare_close(struct dare *dare)
{
	if (!dare)
		return;
	if (dare->workspace)
		mimic_memory_free(dare->device, dare->workspace);
	mimic_device_close(dare->device);
	free(dare);
}

const char *dare_transport(const struct dare *dare)
{
	return mimic_device_transport(dare->device);
}

const char *dare_device_name(const struct dare *dare)
{
	return mimic_device_name(dare->device);
}
