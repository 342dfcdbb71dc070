/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A core's accesses to a device: when they arrive there, and when it has the answer. The
 * way there is half of the round trip without the device's own pipe, the way back the rest.
 * A device that is a part of the core has no way, and takes operations at their dispatch.
 */
#include "devices/soc/interconnect.h"
#include "sim/soc_internal.h"

bool soc_mmio_may_begin(struct soc *soc, unsigned int number, bool is_store)
{
	struct soc_core *core = &soc->core[number];

	/* A device sees the accesses of a core in their order. */
	if (core->posted < (is_store ? soc->parameters.core_mmio_stores : 1))
		return true;
	core_wait_for_data(core);
	core->waits_for_posted = true;
	return false;
}

uint64_t soc_mmio_begin(struct soc *soc, unsigned int number, bool is_store)
{
	struct soc_core *core = &soc->core[number];
	uint64_t now = core_begin_access(soc, core);

	if (is_store)
		core->counters.mmio_stores++;
	else
		core->counters.mmio_loads++;
	core->clock = now + !soc->way.is_none;
	if (is_store && !soc->parameters.core_mmio_acknowledged)
		core->posted++;
	return now;
}

/* Cycles of the hops behind the first, which the round trip holds. A core and a device are never in one tile. */
static uint64_t further_hops(const struct soc *soc, unsigned int core, unsigned int device)
{
	unsigned int width = (unsigned int)soc->parameters.noc_width;

	if (!width)
		return 0;
	return soc->parameters.noc_hop * (mimic_mesh_hops(width, core, soc->cores + device) - 1);
}

/* May be negative: a round trip that is shorter than the device's pipe. */
static uint64_t way(const struct soc *soc, unsigned int core, unsigned int device, bool is_store)
{
	const struct sim_way *way = &soc->way;

	return way->cycles + (way->has_hops ? further_hops(soc, core, device) : 0) -
	       (is_store ? way->store_pipe : way->load_pipe);
}

static uint64_t way_there(const struct soc *soc, unsigned int core, unsigned int device)
{
	uint64_t both = way(soc, core, device, false);

	return (int64_t)both > 0 ? both / 2 : 0;
}

uint64_t soc_mmio_arrival(const struct soc *soc, unsigned int core, unsigned int device, uint64_t issued)
{
	uint64_t free = soc->core[core].posted_end;

	return (issued > free ? issued : free) + way_there(soc, core, device);
}

static void end_posted(struct soc_core *core, uint64_t back)
{
	core->posted--;
	core->posted_end = back;
	if (!core->waits_for_posted)
		return;
	core->waits_for_posted = false;
	if (back <= core->clock)
		return;
	core->counters.mmio_stalls += back - core->clock;
	core->clock = back;
}

uint64_t soc_mmio_end(struct soc *soc, unsigned int number, unsigned int device, bool is_store, uint64_t issued,
		      uint64_t answered)
{
	struct soc_core *core = &soc->core[number];
	uint64_t back = answered + way(soc, number, device, is_store) - way_there(soc, number, device);

	/* A round trip that is shorter than the device's pipe. */
	if (soc->way.is_none)
		back = answered;
	else if (back <= issued || back > UINT64_MAX / 2)
		back = issued + 1;
	if (!is_store) {
		core_end_load(soc, core, issued, back, back, true);
	} else if (!soc->parameters.core_mmio_acknowledged) {
		end_posted(core, back);
	} else {
		core->ready = back;
		core->ready_is_mmio = true;
		core_wait_for_data(core);
	}
	return back;
}

bool soc_mmio_may_post(const struct soc *soc)
{
	const struct sim_parameters *parameters = &soc->parameters;

	return soc->way.is_none && parameters->core_mmio_acknowledged && !parameters->core_instruction &&
	       !parameters->core_branch_taken && !parameters->core_branch_missed && !parameters->core_multiply;
}

void soc_mmio_posted(struct soc *soc, unsigned int number, uint64_t count, uint64_t end)
{
	struct soc_core *core = &soc->core[number];

	core_begin_access(soc, core);
	core->counters.instructions += count - 1;
	core->counters.mmio_stores += count;
	core->ready = end;
	core->ready_is_mmio = true;
	core_wait_for_data(core);
	soc_catch_up(soc, core->clock);
}

uint64_t soc_device_memory_begin(struct soc *soc, unsigned int number, bool is_store)
{
	struct soc_core *core = &soc->core[number];
	uint64_t now = core_begin_access(soc, core);

	core->counters.stores += is_store;
	core->clock = now + 1;
	return now;
}

uint64_t soc_device_memory_end(struct soc *soc, unsigned int number, bool is_store, uint64_t issued, uint64_t over)
{
	struct soc_core *core = &soc->core[number];

	if (!is_store) {
		core_end_load(soc, core, issued, over, over, false);
		return over;
	}
	core->ready = over;
	core->ready_is_mmio = false;
	core_wait_for_data(core);
	return over;
}
