/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Trace events of a cluster in time: kernels, warps, engines of the units, banks. */
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

/* --- banks ------------------------------------------------------------------------------------------- */

#define GAP 8u		/* cycles; each grant by itself would be millions of events */

static void end_run(struct virgo_timing *timing, enum bank_port port, unsigned int bank)
{
	struct bank_run *run = &timing->run[port][bank];

	if (!run->grants)
		return;
	switch (port) {
	case BANK_PORT_READ:
		MIMIC_TRACE_AT(timing->trace, run->begin, run->last + 1, bank_reads, 0ull, bank, 0ull, run->grants, 0ull, 0ull);
		break;
	case BANK_PORT_WRITE:
		MIMIC_TRACE_AT(timing->trace, run->begin, run->last + 1, bank_writes, 0ull, bank, 0ull, run->grants, 0ull, 0ull);
		break;
	default:
		MIMIC_TRACE_AT(timing->trace, run->begin, run->last + 1, bank_dma, 0ull, bank, 0ull, run->grants, 0ull, 0ull);
	}
	run->grants = 0;
}

void virgo_time_trace_grant(struct virgo_timing *timing, enum bank_port port, unsigned int bank, uint64_t now)
{
	struct bank_run *run = &timing->run[port][bank];

	if (!mimic_trace_is_on(timing->trace))
		return;
	if (run->grants && now > run->last + GAP)
		end_run(timing, port, bank);
	if (!run->grants)
		run->begin = now;
	run->last = now;
	run->grants++;
}

void virgo_time_trace_banks(struct virgo_timing *timing)
{
	for (unsigned int bank = 0; bank < timing->parameters.shared_banks; bank++)
		for (enum bank_port port = 0; port < BANK_PORTS; port++)
			end_run(timing, port, bank);
}
