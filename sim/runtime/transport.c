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

static struct mimic_device opened;
static uint8_t first_page;	/* the program's page 0 is this one of the device */
static bool is_open;

/* Number 0 of a kind that can be in virtual time, or its tile 0 by physical addresses. NULL: no such device. */
static const struct mimic_kind *kind_of(const char *name)
{
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);

	return kind && sim_device_is_there(kind) && (!*rest || !strcmp(rest, "0") || !strcmp(rest, "@0")) ? kind : NULL;
}

static int no_such_device(const char *name)
{
	char there[128] = "";
	size_t length = 0;

	for (unsigned int i = 0; i < mimic_kind_count() && length < sizeof(there); i++) {
		if (sim_device_is_there(mimic_kinds[i]))
			length += (size_t)snprintf(there + length, sizeof(there) - length, "%s%s0",
						   length ? " or " : "", mimic_kinds[i]->name);
	}
	return mimic_error(-ENODEV, "device '%.64s': in virtual time there is %s and no other; --soc says which", name, there);
}

static int transport_open(struct mimic_device **device, const char *name, const struct mimic_options *options)
{
	const struct mimic_kind *kind = kind_of(name);
	int error;

	(void)options;
	if (!kind)
		return no_such_device(name);
	if (is_open)
		return mimic_error(-EBUSY, "device '%.64s': %s is open already", name, opened.name);
	error = sim_device_open(kind);
	if (error)
		return error;
	is_open = true;
	first_page = kind->contexts ? (uint8_t)kind->contexts->first_page(0) : 0;
	opened = (struct mimic_device){ .transport = opened.transport };
	snprintf(opened.name, sizeof(opened.name), "%s0", kind->name);
	*device = &opened;
	return 0;
}

static void transport_close(struct mimic_device *device)
{
	struct sim_thread *self = sim_enter();

	mimic_memory_private_end(device);
	is_open = false;
	if (!self)
		return;
	sim_settle(self);
	sim_phases_device_resets();
	sim.time->power_on(sim.device, sim_time(self));
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

static int transport_access(struct mimic_device *device, struct mimic_access *access)
{
	struct mimic_access own = *access;
	struct sim_thread *self;
	int error = enter(&self);

	(void)device;
	if (error)
		return error;
	own.page = (uint8_t)(own.page + first_page);
	sim_device_access(self, &own);
	access->data = own.data;
	sim_leave();
	return 0;
}

static ssize_t transport_post(struct mimic_device *device, const struct mimic_access *pattern, const uint64_t *values,
			      size_t count)
{
	struct mimic_access access = *pattern;
	struct sim_thread *self;
	int error = enter(&self);

	(void)device;
	if (error)
		return error;
	access.is_write = 1;
	access.page = (uint8_t)(access.page + first_page);
	for (size_t i = 0; i < count; i++) {
		access.data = values[i];
		sim_device_access(self, &access);
	}
	sim_leave();
	return (ssize_t)count;
}

static ssize_t transport_load(struct mimic_device *device, const struct mimic_access *pattern, void *values,
			      size_t count)
{
	struct mimic_access access = *pattern;
	struct sim_thread *self;
	int error = enter(&self);

	(void)device;
	if (error)
		return error;
	access.is_write = 0;
	access.page = (uint8_t)(access.page + first_page);
	for (size_t i = 0; i < count; i++) {
		sim_device_access(self, &access);
		/* Little-endian: the low bytes are the answer. */
		memcpy((char *)values + i * access.size, &access.data, access.size);
	}
	sim_leave();
	return (ssize_t)count;
}

static ssize_t transport_counters(struct mimic_device *device, uint64_t *values, size_t count)
{
	struct mimic_model *model = sim.time->model(sim.device);
	struct sim_thread *self = sim_enter();
	ssize_t counters;

	(void)device;
	if (self)
		sim_settle(self);
	counters = (ssize_t)model->ops->counters(model, values, count);
	if (self)
		sim_leave();
	return counters;
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
	is_open = false;
	sim_self = NULL;
}

void sim_transport_begin(void)
{
	static const struct mimic_transport_ops ops = {
		.name = "sim",
		.open = transport_open,
		.close = transport_close,
		.access = transport_access,
		.post = transport_post,
		.load = transport_load,
		.counters = transport_counters,
		.memory_alloc = transport_memory_alloc,
		.memory_free = transport_memory_free,
		.memory_register = transport_memory_register,
		.memory_unregister = transport_memory_unregister,
		.after_fork = after_fork,
	};

	opened.transport = &ops;
	mimic_transport_register(&ops);
}
