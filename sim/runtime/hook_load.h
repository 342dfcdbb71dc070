/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A hook of an aligned load of up to 8 bytes: the code of most loads is inlined into the hook. */
#ifndef MIMIC_SIM_HOOK_LOAD_H
#define MIMIC_SIM_HOOK_LOAD_H

#include "sim/runtime/internal.h"

/* Code that is seldom needed is in functions that a hook ends with, so that the hook has no registers to save. All end with sim_leave(). */
void sim_hook_load_from_new_place(struct sim_thread *self, uint64_t address, unsigned int size, uintptr_t pc);
void sim_hook_load_slowly(struct sim_thread *self, uint64_t address, unsigned int size);
void sim_hook_load_behind(struct soc_core *core, uint64_t physical, unsigned int size);

static inline __attribute__((always_inline)) void sim_hook_load(const volatile void *address, unsigned int size,
								      uintptr_t pc)
{
	struct sim_thread *self = sim_enter();
	const struct sim_place_cost *place = sim_place_entry(pc);
	uint64_t physical;

	if (!self)
		return;
	/* The program's own access follows. */
	__builtin_prefetch((const void *)address);
	if (sim_unlikely(place->pc != pc)) {
		sim_hook_load_from_new_place(self, (uintptr_t)address, size, pc);
		return;
	}
	sim_charge(self, place);
	physical = sim_physical_at_once(self, (uintptr_t)address);
	if (sim_unlikely(!physical || !core_load_begins_quickly(sim.soc, self->on, physical, size))) {
		sim_hook_load_slowly(self, (uintptr_t)address, size);
		return;
	}
	if (sim_unlikely(!core_load_ends_quickly(sim.soc, self->on, physical))) {
		sim_hook_load_behind(self->on, physical, size);
		return;
	}
	sim_leave();
}

#endif
