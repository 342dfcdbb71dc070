/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Statistics. A level times the cycles that it lasted is added before the level changes. */
#include "devices/virgo/time/internal.h"

static bool waits_for_fetch(const struct warp *warp)
{
	return warp->code && !warp->count && !warp->at_barrier && !warp->has_ended;
}

void virgo_time_count_until(struct virgo_timing *timing, uint64_t now)
{
	struct virgo_time_statistics *statistics = &timing->statistics;
	uint64_t passed = now - timing->counted_until;

	if (now <= timing->counted_until)
		return;
	for (unsigned int i = 0; i < timing->parameters.cluster_cores; i++) {
		const struct core *core = &timing->core[i];

		if (!core->running)
			continue;
		for (unsigned int number = 0; number < timing->parameters.cluster_warps; number++) {
			const struct warp *warp = &core->warp[number];

			statistics->stall_barrier += warp->at_barrier * passed;
			statistics->stall_fetch += waits_for_fetch(warp) * passed;
		}
	}
	timing->counted_until = now;
}

uint64_t virgo_time_macs(const struct virgo_time_parameters *parameters)
{
	const uint64_t dim = parameters->matrix_dim, others = parameters->matrix_dim_others;

	switch (parameters->cluster_design) {
	case VIRGO_DESIGN_TC:
	case VIRGO_DESIGN_TC_DMA:
		return 16 * parameters->cluster_cores;
	case VIRGO_DESIGN_HOPPER:
		return 32 * parameters->cluster_cores;
	default:
		return dim * dim + (parameters->matrix_units - 1) * others * others;
	}
}

/* A cycle offers the work of all units, also of those without a kernel: an idle unit's share is lost. */
void virgo_time_count_kernels(struct virgo_timing *timing, uint64_t now)
{
	struct virgo_time_parameters parameters;

	if (!timing->kernels || now <= timing->kernels_since)
		return;
	parameters = timing->parameters;
	parameters.cluster_design = timing->kernel_design;
	timing->statistics.kernel_time += now - timing->kernels_since;
	timing->statistics.kernel_macs_offered += (now - timing->kernels_since) * virgo_time_macs(&parameters);
	timing->kernels_since = now;
}

struct virgo_time_statistics *virgo_time_counted(struct virgo_timing *timing)
{
	return &timing->statistics;
}

void virgo_time_statistics(struct virgo_timing *timing, uint64_t now, struct virgo_time_statistics *statistics)
{
	virgo_time_advance(timing, now);
	virgo_time_count_until(timing, now);
	virgo_time_trace_banks(timing);
	virgo_time_count_kernels(timing, now);
	for (unsigned int i = 0; i < timing->parameters.cluster_cores; i++)
		virgo_time_core_count(&timing->core[i], now + 1);
	*statistics = timing->statistics;
	statistics->cycles = now;
	virgo_time_energy(timing, statistics);
}
