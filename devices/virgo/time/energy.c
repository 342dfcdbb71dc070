/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Energy by events. Only ratios mean something: constants are of other technologies and sizes, and one factor
 * for the cores' pipelines is a parameter (docs/timing-virgo.md).
 */
#include "devices/virgo/time/internal.h"

void virgo_time_energy(const struct virgo_timing *timing, struct virgo_time_statistics *statistics)
{
	const struct virgo_time_parameters *p = &timing->parameters;
	uint64_t macs = statistics->matrix_macs + statistics->tensor_macs;
	uint64_t core = statistics->warp_instructions * p->joule_instruction +
			(statistics->lane_instructions + statistics->micro_ops * p->cluster_lanes) * p->joule_lane +
			statistics->micro_ops * p->joule_micro_op;

	statistics->energy_core = core / 100 * p->joule_core_factor;
	statistics->energy_threads = statistics->thread_instructions * (p->joule_instruction + p->cluster_lanes * p->joule_lane) /
				     100 * p->joule_core_factor;
	statistics->energy_mac = macs * p->joule_mac;
	statistics->energy_unit = statistics->matrix_macs * p->joule_array_mac + statistics->tensor_macs * p->joule_tensor_mac +
				  statistics->accumulator_rows * p->joule_accumulator_row;
	statistics->energy_shared = (statistics->shared_reads + statistics->shared_writes) * p->joule_shared_word +
				    statistics->shared_unaligned * p->joule_crossbar_word;
	statistics->energy_memory = statistics->l1_accesses * p->joule_l1 + statistics->l2_requests * p->joule_l2;
}
