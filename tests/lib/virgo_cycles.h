/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Programs for a Virgo cluster in time (devices/virgo/time/timing.h), an instruction a call. */
#ifndef MIMIC_TESTS_VIRGO_CYCLES_H
#define MIMIC_TESTS_VIRGO_CYCLES_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "devices/virgo/time/internal.h"

#define LANES 8u
#define LINE 32u /* of shared memory and of the L1 */
#define BANK 0x4000u /* bytes of a bank of shared memory */
#define MEMORY 0x10000000u /* an address of memory */

/* The paper's cluster, as the facts of its parameters are written down; nothing is fitted. */
static const struct virgo_time_parameters paper_parameters = {
	.cluster_design = VIRGO_DESIGN_VIRGO_DMA,
	.cluster_cores = 4,
	.cluster_warps = 8,
	.cluster_lanes = LANES,
	.cluster_barrier = 6,
	.simt_fetch = 6,
	.simt_buffer = 32,
	.simt_operands = 3,
	.simt_dispatch = 2,
	.simt_alus = 2,
	.simt_alu = 6,
	.simt_fpu = 9,
	.simt_branch = 4,
	.tensor_latency = 5,
	.tensor_oldest = 1,
	.lsu_queue = 32,
	.lsu_outstanding = 32,
	.lsu_latency = 11,
	.lsu_mmio = 12,
	.lsu_merged = 16,
	.shared_size = 65536,
	.shared_banks = 4,
	.shared_words = 8,
	.shared_conflicts = 1,
	.shared_unaligned = 1,
	.dcache_enabled = 1,
	.dcache_size = 16384,
	.dcache_ways = 4,
	.dcache_banks = 8,
	.dcache_line = LINE,
	.dcache_mshrs = 16,
	.dcache_latency = 4,
	.bus_beat = 32,
	.bus_interval = 1,
	.bus_latency = 45,
	.dma_request = 64,
	.dma_outstanding = 16,
	.matrix_units = 1,
	.matrix_dim = 8,
	.matrix_dim_others = 4,
	.matrix_accumulator = 16384,
	.matrix_tile_m = 64,
	.matrix_tile_n = 64,
	.matrix_tile_k = 64,
	.matrix_fill = 18,
	.matrix_drain = 28,
	.matrix_move = 1,
	.matrix_loops = 2,
	.matrix_queue = 64,
	.kernel_reloads = 1,
	.kernel_double_buffer = 1,
	.joule_instruction = 63000,
	.joule_lane = 6000,
	.joule_micro_op = 20000,
	.joule_core_factor = 100,
	.joule_mac = 4600,
	.joule_array_mac = 1000,
	.joule_tensor_mac = 1000,
	.joule_shared_word = 2500,
	.joule_crossbar_word = 1000,
	.joule_accumulator_row = 56000,
	.joule_l1 = 40000,
	.joule_l2 = 280000,
};

/* "section.key=number" */
static inline void cluster_set(struct virgo_time_parameters *parameters, const char *change)
{
	const size_t length = strcspn(change, "=");
	bool is_known = false;

#define _(section, key) \
	if (!strncmp(change, #section "." #key "=", length + 1)) { \
		parameters->section##_##key = strtoull(change + length + 1, NULL, 10); \
		is_known = true; \
	}
	VIRGO_TIME_PARAMETERS(_)
#undef _
	assert_true(is_known);
}

struct cluster {
	struct virgo_timing *timing;
	struct code *code; /* where the next instruction goes */
};

/* Changed by "section.key=number" texts up to a NULL. */
static inline struct cluster cluster_begin(const char *change, ...)
{
	struct virgo_time_parameters parameters = paper_parameters;
	struct cluster cluster;
	char why[128] = "";
	va_list changes;

	va_start(changes, change);
	for (; change; change = va_arg(changes, const char *))
		cluster_set(&parameters, change);
	va_end(changes);
	cluster.timing = virgo_time_create(&parameters, why, sizeof(why));
	assert_string_equal(why, "");
	assert_non_null(cluster.timing);
	cluster.code = &cluster.timing->code[0][0].part[PART_TILE_BEGIN];
	return cluster;
}

/* The instructions that follow are of this warp. */
static inline void of_warp(struct cluster *cluster, unsigned int core, unsigned int warp)
{
	cluster->code = &cluster->timing->code[core][warp].part[PART_TILE_BEGIN];
}

static inline struct instruction *put(struct cluster *cluster, enum operation operation, unsigned int to,
				      unsigned int from)
{
	struct instruction *instruction = &virgo_time_code_add(cluster->code, operation, LANES)->instruction;

	instruction->to = (uint8_t)to;
	instruction->from[0] = (uint8_t)from;
	return instruction;
}

static inline void alu(struct cluster *cluster, unsigned int to, unsigned int from)
{
	put(cluster, OP_ALU, to, from);
}

static inline void fpu(struct cluster *cluster, unsigned int to, unsigned int from)
{
	put(cluster, OP_FPU, to, from);
}

/* Lanes side by side from `address` on. */
static inline struct instruction *access_line(struct cluster *cluster, enum operation operation,
					      unsigned int to, uint64_t address)
{
	struct instruction *instruction = put(cluster, operation, to, 0);

	instruction->address = address;
	return instruction;
}

/* Each lane `far` bytes behind the one before it. */
static inline struct instruction *access_apart(struct cluster *cluster, enum operation operation,
					       unsigned int to, uint64_t address, int far)
{
	struct instruction *instruction = access_line(cluster, operation, to, address);

	instruction->group = 1;
	instruction->far = far;
	return instruction;
}

/* One thread alone. */
static inline struct instruction *access_word(struct cluster *cluster, enum operation operation,
					      unsigned int to, uint64_t address)
{
	struct instruction *instruction = access_line(cluster, operation, to, address);

	instruction->lanes = 1;
	return instruction;
}

/* Warps that have instructions begin in cycle `now`: the first one is fetched in the next cycle. */
static inline void cluster_start(struct cluster *cluster, uint64_t now)
{
	struct matrix_unit *unit = &cluster->timing->unit[0];
	const struct virgo_time_parameters *parameters = &cluster->timing->parameters;

	unit->kernel =
		(struct virgo_time_kernel){ .design = (enum virgo_time_design)parameters->cluster_design,
					    .m = parameters->matrix_tile_m,
					    .n = parameters->matrix_tile_n,
					    .k = parameters->matrix_tile_k };
	unit->cores = (unsigned int)parameters->cluster_cores;
	virgo_time_start_code(cluster->timing, unit, now);
}

/* To the end, if there is one. */
static inline void cluster_finish(struct cluster *cluster)
{
	while (virgo_time_next(cluster->timing) != NEVER)
		virgo_time_advance(cluster->timing, virgo_time_next(cluster->timing));
}

static inline void cluster_run(struct cluster *cluster)
{
	cluster_start(cluster, 0);
	cluster_finish(cluster);
	assert_false(virgo_time_is_running(cluster->timing, 0));
}

/* The cycle from which on the register can be read. */
static inline uint64_t register_at(const struct cluster *cluster, unsigned int core, unsigned int warp,
				   unsigned int number)
{
	return cluster->timing->core[core].warp[warp].free_at[number];
}

/* The cycle of the last answer to the core's LSU. */
static inline uint64_t answered_at(const struct cluster *cluster, unsigned int core)
{
	return cluster->timing->core[core].lsu.last_answer;
}

static inline struct virgo_time_statistics cluster_statistics(const struct cluster *cluster)
{
	struct virgo_time_statistics statistics;

	virgo_time_statistics(cluster->timing, cluster->timing->now, &statistics);
	return statistics;
}

/* The instructions of an operation at the end of a tile. */
static inline unsigned int count_at_tile_end(const struct cluster *cluster, unsigned int core, unsigned int warp,
					     enum operation operation)
{
	const struct code *end = &cluster->timing->code[core][warp].part[PART_TILE_END];
	unsigned int found = 0;

	for (unsigned int i = 0; i < end->count; i++)
		found += end->item[i].instruction.operation == operation;
	return found;
}

static inline void cluster_end(struct cluster *cluster)
{
	virgo_time_destroy(cluster->timing);
}

#endif
