/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The barrier of a kernel: a core reports when all its warps have arrived, and when all cores have, all warps go on. */
#include "devices/virgo/time/internal.h"

void virgo_time_barrier_arrive(struct core *core, struct warp *warp, uint64_t now)
{
	struct matrix_unit *unit = &core->timing->unit[core->unit];

	warp->at_barrier = true;
	warp->barrier_since = now;
	core->arrived++;
	if (core->arrived < core->started)
		return;
	unit->barrier.cores++;
	if (unit->barrier.cores == unit->cores)
		unit->barrier.opens = now + core->timing->parameters.cluster_barrier;
}

void virgo_time_barrier_step(struct matrix_unit *unit, uint64_t now)
{
	struct virgo_timing *timing = unit->timing;

	if (unit->barrier.opens > now)
		return;
	unit->barrier.opens = NEVER;
	unit->barrier.cores = 0;
	timing->statistics.barriers++;
	for (unsigned int i = unit->first_core; i < unit->first_core + unit->cores; i++) {
		struct core *core = &timing->core[i];

		core->arrived = 0;
		for (unsigned int number = 0; number < timing->parameters.cluster_warps; number++) {
			struct warp *warp = &core->warp[number];

			if (!warp->at_barrier)
				continue;
			warp->at_barrier = false;
			virgo_time_trace_warp_barrier(core, warp, now);
			virgo_time_unblock(core, warp, now);
		}
		core->next = earlier(core->next, now);
	}
}
