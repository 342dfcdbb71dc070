/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Kernels of the modelled hardware in place of a library's code: the thread waits for the kernel as for a
 * load, and the library's accesses to the device afterwards take no time.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "libmimic/base/kinds.h"
#include "sim/run.h"
#include "sim/runtime/internal.h"

/* NULL: there is none of that name that is open. */
static struct sim_device *find(const char *name, unsigned int *number)
{
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);

	if (!kind || !mimic_kind_number(rest, number) || *number >= sim.device_count)
		return NULL;
	if (!sim.devices[*number].timed || sim.devices[*number].kind != kind)
		return NULL;
	return &sim.devices[*number];
}

static int wait_for_kernel(struct sim_thread *self, struct sim_channel *channel, const struct sim_operation *operation)
{
	channel->operations[channel->first] = *operation;
	channel->count = 1;
	sim_channel_arrives(self->core, SIM_NEVER);
	sim_block(self, SIM_WAIT_MMIO, channel, SIM_NEVER);
	return (int)self->answer;
}

static int run(struct sim_thread *self, struct sim_device *device, unsigned int number, unsigned int part,
	       const uint64_t *shape, size_t count)
{
	struct sim_channel *channel = &sim.channels[self->core];
	struct sim_operation operation = { .device = number, .access = { .owner = sim_owner_of(self), .size = 8 } };
	uint64_t next;
	int error;

	sim_settle(self);
	while (channel->count || !soc_mmio_may_begin(sim.soc, self->core, false))
		sim_block(self, SIM_WAIT_MMIO_ROOM, channel, SIM_NEVER);
	operation.issued = soc_mmio_begin(sim.soc, self->core, false);
	error = device->time->begin_kernel(device->timed, sim_owner_of(self), part, shape, count, operation.issued);
	if (error)
		return error;
	next = device->time->next(device->timed);
	if (next < sim.limit)
		sim.limit = next;
	return wait_for_kernel(self, channel, &operation);
}

SIM_EXPORT int mimic_sim_device_kernel(const char *name, unsigned int part, const uint64_t *shape, size_t count)
{
	struct sim_thread *self = sim_enter();
	struct sim_device *device;
	unsigned int number;
	int error = -ENOSYS;

	if (!self)
		return -ENOSYS;
	device = find(name, &number);
	if (device && device->time->begin_kernel)
		error = run(self, device, number, part, shape, count);
	self->is_free = !error;
	sim_leave();
	return error;
}

SIM_EXPORT void mimic_sim_device_kernel_end(const char *name, unsigned int part)
{
	struct sim_thread *self = sim_enter();
	struct sim_device *device;
	unsigned int number;

	if (!self)
		return;
	device = find(name, &number);
	if (device && self->is_free) {
		sim_settle(self);
		device->time->end_kernel(device->timed, part, core_now(self->on));
	}
	self->is_free = false;
	sim_leave();
}

bool sim_device_access_free(struct sim_thread *self, unsigned int number, struct mimic_access *access)
{
	struct sim_device *device = &sim.devices[number];
	uint64_t done;

	access->owner = sim_owner_of(self);
	sim_settle(self);
	return device->time->access(device->timed, access, core_now(self->on), &done);
}
