/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What a trace shows of a cluster in time: kernels, warps, engines of the units, banks. */
#include "devices/virgo/time/internal.h"

void virgo_time_trace(struct virgo_timing *timing, struct mimic_trace_source *source)
{
	timing->trace = source ? source : &timing->no_trace;
}

/* Warps are counted over all cores. */
static unsigned int number_of(const struct core *core, const struct warp *warp)
{
	return core->number * (unsigned int)parameters_of(core)->cluster_warps + (unsigned int)(warp - core->warp);
}

void virgo_time_trace_warp_barrier(struct core *core, const struct warp *warp, uint64_t now)
{
	MIMIC_TRACE_AT(core->timing->trace, warp->barrier_since, now, warp_barrier, 0ull, number_of(core, warp), 0ull, 0u,
		       0ull, 0ull);
}

void virgo_time_trace_wmma(struct core *core, const struct warp *warp, uint64_t now)
{
	MIMIC_TRACE_AT(core->timing->trace, warp->wmma_since, now + 1, warp_wmma, 0ull, number_of(core, warp), 0ull, 0u, 0ull,
		       0ull);
}

void virgo_time_trace_fence(struct core *core, const struct lsu_entry *entry, uint64_t now)
{
	const struct warp *warp = &core->warp[entry->warp];

	/* Behind a fence its warp may wait at a barrier: one of the two is shown at a time. */
	if (now > entry->since && !warp->at_barrier)
		MIMIC_TRACE_AT(core->timing->trace, entry->since, now, warp_fence, 0ull, number_of(core, warp), 0ull, 0u, 0ull,
			       0ull);
}

void virgo_time_trace_operation(struct matrix_unit *unit, const struct engine *engine,
				const struct virgo_time_operation *operation, uint64_t now)
{
	struct mimic_trace_source *trace = unit->timing->trace;

	switch (operation->engine) {
	case VIRGO_ENGINE_LOAD:
		MIMIC_TRACE_AT(trace, engine->since, now, engine_load, 0ull, unit->number, operation->writes.first,
			       operation->requests, 0ull, 0ull);
		return;
	case VIRGO_ENGINE_EXECUTE:
		MIMIC_TRACE_AT(trace, engine->since, now, engine_multiply, 0ull, unit->number, operation->a_base,
			       operation->passes, operation->b_base, 0ull);
		return;
	default:
		MIMIC_TRACE_AT(trace, engine->since, now, engine_store, 0ull, unit->number, 0ull, operation->moved_rows, 0ull,
			       operation->requests);
	}
}

void virgo_time_trace_kernel(struct matrix_unit *unit, uint64_t now)
{
	const struct virgo_time_kernel *kernel = &unit->kernel;

	MIMIC_TRACE_AT(unit->timing->trace, unit->began, now, kernel, 0ull, unit->number, kernel->m, kernel->design, kernel->n,
		       kernel->k);
}
