/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/fake_transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/error.h"
#include "libmimic/transport.h"

/* One for each open, although the device behind may be the same. */
struct handle {
	struct mimic_device device;
	struct fake_device *fake;
};

static struct fake_device *offered;
static const struct mimic_transport_ops ops;

static struct fake_device *fake_of(struct mimic_device *device)
{
	return ((struct handle *)device)->fake;
}

static int transport_open(struct mimic_device **device, const char *name,
			  const struct mimic_options *options)
{
	struct handle *handle;

	(void)options;
	if (strncmp(name, offered->kind, strlen(offered->kind)) != 0)
		return mimic_error(-ENODEV, "device '%.64s': the test has a %s", name, offered->kind);
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return -ENOMEM;
	handle->device.transport = &ops;
	snprintf(handle->device.name, sizeof(handle->device.name), "%s0", offered->kind);
	handle->fake = offered;
	handle->fake->handles++;
	*device = &handle->device;
	return 0;
}

static void transport_close(struct mimic_device *device)
{
	fake_of(device)->handles--;
	free(device);
}

static int transport_access(struct mimic_device *device, struct mimic_access *access)
{
	fake_of(device)->access(fake_of(device), access);
	return 0;
}

static ssize_t transport_post(struct mimic_device *device, const struct mimic_access *pattern,
			      const uint64_t *values, size_t count)
{
	struct fake_device *fake = fake_of(device);
	struct mimic_access access = *pattern;

	fake->posts++;
	fake->values += count;
	if (fake->on_post)
		fake->on_post(fake);
	if (fake->post_error)
		return mimic_error(fake->post_error, "posts fail here");
	access.is_write = 1;
	for (size_t i = 0; i < count; i++) {
		access.data = values[i];
		fake->access(fake, &access);
	}
	return (ssize_t)count;
}

static ssize_t transport_load(struct mimic_device *device, const struct mimic_access *pattern,
			      void *values, size_t count)
{
	struct mimic_access access = *pattern;

	access.is_write = 0;
	for (size_t i = 0; i < count; i++) {
		transport_access(device, &access);
		/* Little-endian: the low bytes are the answer. */
		memcpy((char *)values + i * access.size, &access.data, access.size);
	}
	return (ssize_t)count;
}

/* The libraries read the registers of counters that DARE and Virgo have. */
static ssize_t transport_counters(struct mimic_device *device, uint64_t *values, size_t count)
{
	(void)device;
	(void)values;
	(void)count;
	return -ENXIO;
}

static int transport_memory(struct mimic_device *device, struct mimic_memory_file *file)
{
	const struct fake_device *fake = fake_of(device);

	if (!fake->memory_size)
		return -ENXIO;
	*file = (struct mimic_memory_file){ .fd = fake->memory_file, .size = fake->memory_size };
	return 0;
}

static int transport_eventfd(struct mimic_device *device, int fd, uint64_t events)
{
	fake_of(device)->fd = fd;
	fake_of(device)->events = events;
	return 0;
}

static void *transport_alloc(struct mimic_device *device, size_t size)
{
	struct fake_device *fake = fake_of(device);

	if (!fake->alloc_fails)
		return fake->alloc(fake, size);
	mimic_error(-ENOMEM, "no memory here");
	errno = ENOMEM;
	return NULL;
}

static int transport_free(struct mimic_device *device, void *memory)
{
	return fake_of(device)->free(fake_of(device), memory);
}

static int transport_register(struct mimic_device *device, void *memory, size_t size)
{
	return fake_of(device)->share(fake_of(device), memory, size);
}

static int transport_unregister(struct mimic_device *device, void *memory, size_t size)
{
	return fake_of(device)->unshare(fake_of(device), memory, size);
}

static void after_fork(void)
{
}

static const struct mimic_transport_ops ops = {
	.name = "test",
	.open = transport_open,
	.close = transport_close,
	.access = transport_access,
	.post = transport_post,
	.load = transport_load,
	.counters = transport_counters,
	.device_memory = transport_memory,
	.device_eventfd = transport_eventfd,
	.memory_alloc = transport_alloc,
	.memory_free = transport_free,
	.memory_register = transport_register,
	.memory_unregister = transport_unregister,
	.after_fork = after_fork,
};

void fake_transport_offer(struct fake_device *device)
{
	offered = device;
	mimic_transport_register(device ? &ops : NULL);
}
