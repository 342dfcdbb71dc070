/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Loads and stores of memory that a device has, and that the program has mapped: the device says when each is over. */
#include "sim/runtime/internal.h"

static struct sim_channel *wait_for_room(struct sim_thread *self)
{
	struct sim_channel *channel = &sim.channels[self->core];

	while (channel->count || !soc_mmio_may_begin(sim.soc, self->core, false))
		sim_block(self, SIM_WAIT_MMIO_ROOM, channel, SIM_NEVER);
	return channel;
}

/* A bank of it is not free. */
static void wait_for_device(struct sim_thread *self, struct sim_channel *channel, const struct sim_operation *operation)
{
	channel->operations[channel->first] = *operation;
	channel->count = 1;
	sim_channel_arrives(self->core, SIM_NEVER);
	sim_block(self, SIM_WAIT_MMIO, channel, SIM_NEVER);
}

static void access_memory(struct sim_thread *self, unsigned int number, uint64_t offset, unsigned int size, bool is_store)
{
	struct sim_device *device = &sim.devices[number];
	const struct mimic_time_memory_access access = {
		.owner = sim_owner_of(self), .offset = offset, .size = size, .is_store = is_store,
	};
	struct sim_operation operation = {
		.access = { .owner = access.owner, .size = (uint8_t)size, .is_write = is_store }, .device = number, .is_memory = true,
	};
	struct sim_channel *channel = wait_for_room(self);
	uint64_t over, next;
	bool is_over;

	operation.issued = soc_device_memory_begin(sim.soc, self->core, is_store);
	if (operation.issued > sim.now)
		sim.now = operation.issued;
	is_over = device->time->memory(device->timed, &access, operation.issued, &over);
	next = device->time->next(device->timed);
	if (next < sim.limit)
		sim.limit = next;
	if (is_over)
		soc_device_memory_end(sim.soc, self->core, is_store, operation.issued, over);
	else
		wait_for_device(self, channel, &operation);
}

void sim_device_memory_access(struct sim_thread *self, uint64_t address, unsigned int size, enum sim_access access)
{
	unsigned int number;
	uint64_t offset;

	if (!sim_frame_device_memory(address & ~4095ull, &number, &offset))
		return;
	offset += address & 4095;
	if (access != SIM_store)
		access_memory(self, number, offset, size, false);
	if (access == SIM_load)
		return;
	sim_settle(self);
	access_memory(self, number, offset, size, true);
}
