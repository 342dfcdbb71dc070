/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses whose bytes lie in two pages. Each page has a frame of its own, and the two need not lie beside each other. */
#include "sim/runtime/internal.h"

#define PAGE 4096u

/* false: one of the pages is a device's. */
static bool split(struct soc_parts *parts, uint64_t address, unsigned int size)
{
	parts->first_size = PAGE - (unsigned int)(address & (PAGE - 1));
	parts->second_size = size - parts->first_size;
	parts->first = sim_physical(address);
	parts->second = sim_physical(address + parts->first_size);
	return !SIM_IS_DEVICE(parts->first) && !SIM_IS_DEVICE(parts->second);
}

/* Where one of the two pages is a device's. */
static void make_device_parts(struct sim_thread *self, const struct soc_parts *parts, uint64_t address, enum sim_access access)
{
	sim_device_memory_access(self, address, parts->first_size, access);
	sim_device_memory_access(self, address + parts->first_size, parts->second_size, access);
}

void sim_make_load_across(struct sim_thread *self, uint64_t address, unsigned int size)
{
	struct soc_parts parts;

	sim_settle(self);
	if (!split(&parts, address, size)) {
		make_device_parts(self, &parts, address, SIM_load);
		return;
	}
	while (!soc_load_across(sim.soc, self->core, &parts))
		sim_settle(self);
}

void sim_make_store_across(struct sim_thread *self, uint64_t address, unsigned int size)
{
	struct soc_parts parts;

	sim_settle(self);
	if (!split(&parts, address, size)) {
		make_device_parts(self, &parts, address, SIM_store);
		return;
	}
	while (!soc_store_across(sim.soc, self->core, &parts))
		sim_settle(self);
}
