/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The transport "sim" of libmimic: a call of a library is one MMIO operation of the calling
 * thread's core, a batch of n is n of them. It takes all devices of the program.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/error.h"
#include "libmimic/base/kinds.h"
#include "libmimic/base/memory.h"
#include "libmimic/transport.h"
#include "sim/runtime/internal.h"

static const struct mimic_transport_ops transport;

struct handle {
	struct mimic_device device;
	uint8_t first_page;	/* the program's page 0 is this one of the device */
	bool is_open;
};

/* How a device is open: by its number, or by the physical addresses of the tile that it is on. */
enum way { BY_NUMBER, BY_TILE, WAYS };

/* By the devices' numbers. */
static struct handle handles[SIM_DEVICES][WAYS];

static unsigned int number_of(const struct mimic_device *device)
{
	return (unsigned int)((const struct handle *)device - handles[0]) / WAYS;
}

static bool is_open(unsigned int number)
{
	return handles[number][BY_NUMBER].is_open || handles[number][BY_TILE].is_open;
}

static unsigned int first_page_of(const struct mimic_device *device)
{
	return ((const struct handle *)device)->first_page;
}

static int no_such_kind(const char *name)
{
	unsigned int count = sim_parameters_devices(&sim.setup->parameters);
	char there[128] = "";
	size_t length = 0;

	for (unsigned int i = 0; i < mimic_kind_count() && length < sizeof(there); i++) {
		if (sim_device_is_there(mimic_kinds[i]))
			length += (size_t)snprintf(there + length, sizeof(there) - length, "%s%s0%s",
						   length ? " or " : "", mimic_kinds[i]->name, count > 1 ? " and on" : "");
	}
	return mimic_error(-ENODEV, "device '%.64s': in virtual time there is %s and no other; --soc says which", name, there);
}

static int find_any(const struct mimic_kind *kind, unsigned int count)
{
	for (unsigned int number = 0; number < count; number++)
		if (!is_open(number))
			return (int)number;
	return mimic_error(-EBUSY, "all %u %s devices are in use by this process", count, kind->name);
}

/*
 * The number that a name means, or -errno as of the embedded transport. Device N and the physical addresses
 * of tile N ("@N") are one device here, and may both be in use.
 */
static int find_number(const struct mimic_kind *kind, const char *name, const char *rest, enum way way)
{
	unsigned int count = sim_parameters_devices(&sim.setup->parameters), number;

	if (!*rest)
		return find_any(kind, count);
	if (!mimic_kind_number(rest + (way == BY_TILE), &number))
		return mimic_error(-ENOENT, "device '%.64s': a name is a kind (%s) and a number", name, mimic_kind_names());
	if (number >= count)
		return mimic_error(-ENODEV, "device '%.64s': in virtual time there %s %u; --devices %s:N makes it N", name,
				   count == 1 ? "is" : "are", count, kind->name);
	if (handles[number][way].is_open)
		return mimic_error(-EBUSY, "device '%.64s': it is open already", name);
	return (int)number;
}

static int transport_open(struct mimic_device **device, const char *name, const struct mimic_options *options)
{
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);
	struct handle *handle;
	enum way way;
	int number, error;

	(void)options;
	if (!kind || !sim_device_is_there(kind))
		return no_such_kind(name);
	way = *rest == '@' && kind->private_count ? BY_TILE : BY_NUMBER;
	number = find_number(kind, name, rest, way);
	if (number < 0)
		return number;
	error = sim_device_open(kind, (unsigned int)number);
	if (error)
		return error;
	handle = &handles[number][way];
	*handle = (struct handle){ .device = { .transport = &transport }, .is_open = true };
	handle->first_page = kind->contexts ? (uint8_t)kind->contexts->first_page(0) : 0;
	snprintf(handle->device.name, sizeof(handle->device.name), "%s%s%d", kind->name,
		 way == BY_TILE ? "@" : "", number);
	*device = &handle->device;
	return 0;
}

static void transport_close(struct mimic_device *device)
{
	struct sim_device *timed = &sim.devices[number_of(device)];
	struct sim_thread *self = sim_enter();
	bool is_last;

	mimic_memory_private_end(device);
	((struct handle *)device)->is_open = false;
	is_last = !is_open(number_of(device));
	if (is_last)
		sim_frames_forget_device(number_of(device));
	if (!self)
		return;
	if (is_last) {
		sim_settle(self);
		sim_phases_device_resets(number_of(device));
		timed->time->power_on(timed->timed, sim_time(self));
	}
	sim_leave();
}

/* 0 with sim_leave() to be called; -ENODEV: no thread of virtual time. */
static int enter(struct sim_thread **self)
{
	*self = sim_enter();
	if (*self)
		return 0;
	return sim_self ? -EDEADLK : -ENODEV;
}

/* -EBUSY: an access that takes no time would have to wait. */
static int make_access(struct sim_thread *self, unsigned int number, struct mimic_access *access)
{
	if (self->is_free)
		return sim_device_access_free(self, number, access) ? 0 : -EBUSY;
	sim_device_access(self, number, access);
	return 0;
}

static int transport_access(struct mimic_device *device, struct mimic_access *access)
{
	struct mimic_access own = *access;
	struct sim_thread *self;
	int error = enter(&self);

	if (error)
		return error;
	own.page = (uint8_t)(own.page + first_page_of(device));
	error = make_access(self, number_of(device), &own);
	access->data = own.data;
	sim_leave();
	return error;
}

static ssize_t transport_post(struct mimic_device *device, const struct mimic_access *pattern, const uint64_t *values,
			      size_t count)
{
	struct mimic_access access = *pattern;
	struct sim_thread *self;
	int error = enter(&self);

	if (error)
		return error;
	access.is_write = 1;
	access.page = (uint8_t)(access.page + first_page_of(device));
	for (size_t i = 0; i < count && !error;) {
		if (!self->is_free)
			i += sim_device_post(self, number_of(device), &access, values + i, count - i);
		if (i == count)
			break;
		access.data = values[i++];
		error = make_access(self, number_of(device), &access);
	}
	sim_leave();
	return error ? error : (ssize_t)count;
}

static ssize_t transport_load(struct mimic_device *device, const struct mimic_access *pattern, void *values,
			      size_t count)
{
	struct mimic_access access = *pattern;
	struct sim_thread *self;
	int error = enter(&self);

	if (error)
		return error;
	access.is_write = 0;
	access.page = (uint8_t)(access.page + first_page_of(device));
	for (size_t i = 0; i < count && !error; i++) {
		error = make_access(self, number_of(device), &access);
		/* Little-endian: the low bytes are the answer. */
		memcpy((char *)values + i * access.size, &access.data, access.size);
	}
	sim_leave();
	return error ? error : (ssize_t)count;
}

static ssize_t transport_counters(struct mimic_device *device, uint64_t *values, size_t count)
{
	const struct sim_device *timed = &sim.devices[number_of(device)];
	struct mimic_model *model = timed->time->model(timed->timed);
	struct sim_thread *self = sim_enter();
	ssize_t counters;

	if (self)
		sim_settle(self);
	counters = (ssize_t)model->ops->counters(model, values, count);
	if (self)
		sim_leave();
	return counters;
}

static int transport_device_memory(struct mimic_device *device, struct mimic_memory_file *file)
{
	const struct sim_device *timed = &sim.devices[number_of(device)];

	if (!timed->memory_size)
		return -ENXIO;
	*file = (struct mimic_memory_file){ .fd = timed->memory_fd, .size = timed->memory_size };
	return 0;
}

/* Its pages are distinguished from others by that. */
static void transport_memory_mapped(struct mimic_device *device, uintptr_t address, size_t size, uint64_t offset)
{
	const struct sim_device *timed = &sim.devices[number_of(device)];

	for (size_t at = 0; timed->time->memory && at < size; at += MIMIC_PAGE_SIZE)
		sim_frame_is_device_memory(address + at, number_of(device), offset + at);
}

static void *transport_memory_alloc(struct mimic_device *device, size_t size)
{
	return mimic_memory_private_alloc(device, size);
}

static int transport_memory_free(struct mimic_device *device, void *address)
{
	return mimic_memory_private_free(device, address);
}

static int transport_memory_register(struct mimic_device *device, void *address, size_t size)
{
	return mimic_memory_private_register(device, address, size);
}

static int transport_memory_unregister(struct mimic_device *device, void *address, size_t size)
{
	return mimic_memory_private_unregister(device, address, size);
}

static void after_fork(void)
{
	for (unsigned int number = 0; number < SIM_DEVICES; number++)
		for (unsigned int way = 0; way < WAYS; way++)
			handles[number][way].is_open = false;
	sim_self = NULL;
}

static const struct mimic_transport_ops transport = {
	.name = "sim",
	.open = transport_open,
	.close = transport_close,
	.access = transport_access,
	.post = transport_post,
	.load = transport_load,
	.counters = transport_counters,
	.device_memory = transport_device_memory,
	.memory_mapped = transport_memory_mapped,
	.memory_alloc = transport_memory_alloc,
	.memory_free = transport_memory_free,
	.memory_register = transport_memory_register,
	.memory_unregister = transport_memory_unregister,
	.after_fork = after_fork,
};

void sim_transport_begin(void)
{
	mimic_transport_register(&transport);
}
