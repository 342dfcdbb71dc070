/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Parameters that do not fit each other, or that there is no room for. */
#include "devices/virgo/time/internal.h"
#include "devices/virgo/virgo_model.h"

#define RULE(condition, text) do { if (!(condition)) return text; } while (0)

static bool is_power(uint64_t value)
{
	return value && !(value & (value - 1));
}

static const char *check_cores(const struct virgo_time_parameters *p)
{
	RULE(p->cluster_design < VIRGO_DESIGNS, "cluster.design: 0 to 4");
	RULE(p->cluster_cores && p->cluster_cores <= VIRGO_TIME_CORES_MAX, "cluster.cores: 1 to 16");
	RULE(p->cluster_warps && p->cluster_warps <= VIRGO_TIME_WARPS_MAX, "cluster.warps: 1 to 16");
	RULE(p->cluster_lanes >= 4 && p->cluster_lanes <= VIRGO_TIME_LANES_MAX && is_power(p->cluster_lanes),
	     "cluster.lanes: 4, 8 or 16");
	RULE(p->simt_buffer && p->simt_buffer <= BUFFER_MAX, "simt.buffer: 1 to 32");
	RULE(p->simt_operands && p->simt_operands <= OPERAND_STAGES, "simt.operands: 1 to 4");
	RULE(p->simt_fetch && p->simt_dispatch && p->simt_alus, "simt.fetch, dispatch and alus: not 0");
	RULE(p->simt_alus <= p->cluster_warps, "simt.alus: not more than cluster.warps");
	RULE(p->lsu_queue && p->lsu_queue <= VIRGO_TIME_QUEUE_MAX, "lsu.queue: 1 to 64");
	RULE(p->lsu_outstanding && p->lsu_outstanding <= VIRGO_TIME_REQUESTS_MAX, "lsu.outstanding: 1 to 64");
	RULE(p->lsu_merged && p->lsu_merged <= VIRGO_TIME_REQUESTS_MAX, "lsu.merged: 1 to 64");
	return NULL;
}

static const char *check_memories(const struct virgo_time_parameters *p)
{
	RULE(p->shared_banks, "shared.banks: there has to be one");
	RULE(p->shared_banks <= VIRGO_TIME_BANKS_MAX && is_power(p->shared_banks), "shared.banks: 1, 2, 4, 8 or 16");
	RULE(is_power(p->shared_size) && p->shared_size >= 4096 && p->shared_size <= 1u << 30,
	     "shared.size: a power of two from 4096 to 1 GiB");
	RULE(is_power(p->shared_words) && p->shared_words <= 32, "shared.words: 1, 2, 4, 8, 16 or 32");
	RULE(is_power(p->dcache_line) && p->dcache_line >= 16 && p->dcache_line <= 256, "dcache.line: 16 to 256, a power of two");
	RULE(p->dcache_banks && p->dcache_banks <= VIRGO_TIME_BANKS_MAX, "dcache.banks: 1 to 16");
	RULE(p->dcache_mshrs && p->dcache_mshrs <= VIRGO_TIME_REQUESTS_MAX, "dcache.mshrs: 1 to 64");
	RULE(p->dcache_ways && p->dcache_ways <= 64, "dcache.ways: 1 to 64");
	RULE(p->dcache_size >= p->dcache_line * p->dcache_banks * p->dcache_ways, "dcache.size: less than a set of each bank");
	RULE(p->dcache_size <= 1u << 24, "dcache.size: at most 16 MiB");
	RULE(is_power(p->bus_beat) && p->bus_beat >= 8 && p->bus_beat <= 64, "bus.beat: 8, 16, 32 or 64");
	RULE(p->bus_interval, "bus.interval: not 0");
	RULE(p->bus_latency < WRITES_AHEAD / 2, "bus.latency: less than 2048");
	RULE(is_power(p->dma_request) && p->dma_request >= p->bus_beat && p->dma_request <= 1024,
	     "dma.request: a power of two from bus.beat to 1024");
	RULE(p->dma_outstanding && p->dma_outstanding <= VIRGO_TIME_REQUESTS_MAX, "dma.outstanding: 1 to 64");
	RULE(p->dma_outstanding * (p->dma_request / p->bus_beat) <= WRITES_AHEAD / 2,
	     "dma.outstanding: more than 2048 beats of requests");
	return NULL;
}

static bool is_dim(uint64_t dim)
{
	return is_power(dim) && dim >= 4 && dim <= 32;
}

static bool is_in_tile(const struct virgo_time_parameters *p, uint64_t dim)
{
	return dim <= p->matrix_tile_m && dim <= p->matrix_tile_n && dim <= p->matrix_tile_k;
}

static const char *check_arrays(const struct virgo_time_parameters *p)
{
	RULE(is_dim(p->matrix_dim), "matrix.dim: 4, 8, 16 or 32");
	RULE(is_in_tile(p, p->matrix_dim), "matrix.dim: the array is larger than the tile");
	if (p->matrix_units == 1)
		return NULL;
	RULE(is_dim(p->matrix_dim_others), "matrix.dim_others: 4, 8, 16 or 32");
	RULE(is_in_tile(p, p->matrix_dim_others), "matrix.dim_others: the array is larger than the tile");
	return NULL;
}

static const char *check_units(const struct virgo_time_parameters *p)
{
	uint64_t buffer = p->shared_size / (p->matrix_units ? p->matrix_units : 1) / 4;

	RULE(p->matrix_units && p->matrix_units <= VIRGO_UNITS_MAX, "matrix.units: 1 to 8");
	RULE(p->matrix_units == 1 || p->matrix_units <= p->cluster_cores, "matrix.units: each needs a core that drives it");
	RULE(is_power(p->matrix_tile_m) && is_power(p->matrix_tile_n) && is_power(p->matrix_tile_k),
	     "matrix.tile_m, tile_n and tile_k: powers of two");
	RULE(p->matrix_tile_m <= 1024 && p->matrix_tile_n <= 1024 && p->matrix_tile_k <= 1024,
	     "matrix.tile_m, tile_n and tile_k: at most 1024");
	RULE(p->matrix_tile_m * p->matrix_tile_k * WORD <= buffer && p->matrix_tile_n * p->matrix_tile_k * WORD <= buffer,
	     "matrix.tile_k: A's or B's tile is larger than its quarter of the unit's shared memory");
	RULE(is_power(p->matrix_accumulator), "matrix.accumulator: a power of two");
	RULE(p->matrix_tile_m * p->matrix_tile_n * WORD <= p->matrix_accumulator,
	     "matrix.accumulator: less than the tile of C");
	RULE(p->matrix_type < VIRGO_TYPES, "matrix.type: 0 int8, 1 fp16, 2 fp32");
	RULE(p->matrix_queue >= 4 && p->matrix_queue <= VIRGO_MAX_QUEUE, "matrix.queue: 4 to 64");
	RULE(p->matrix_loops && p->matrix_move, "matrix.loops and move: not 0");
	return check_arrays(p);
}

/* Warps of the tensor cores' kernels have 16 x 8 each, and go 8 deep. */
static const char *check_tensor(const struct virgo_time_parameters *p)
{
	uint64_t warps = p->cluster_cores * p->cluster_warps;

	RULE(p->cluster_lanes == 8, "cluster.lanes: the tensor core has 8");
	RULE(p->matrix_tile_m >= 16 && p->matrix_tile_n >= 8 && p->matrix_tile_k >= 8,
	     "matrix.tile_m, tile_n and tile_k: less than the 16, 8 and 8 of a warp of tensor cores");
	RULE(warps * 16 * 8 == p->matrix_tile_m * p->matrix_tile_n, "matrix.tile_m: warps of 16 x 8 do not make the tile of C");
	return NULL;
}

static const char *check_design(const struct virgo_time_parameters *p)
{
	RULE(p->matrix_units == 1 || p->cluster_design == VIRGO_DESIGN_VIRGO_DMA, "matrix.units: only virgo-dma has several");
	if (p->cluster_design == VIRGO_DESIGN_TC || p->cluster_design == VIRGO_DESIGN_TC_DMA)
		return check_tensor(p);
	RULE(p->cluster_design != VIRGO_DESIGN_VIRGO ||
	     (p->matrix_tile_n >= p->cluster_lanes && p->matrix_tile_k >= p->cluster_lanes),
	     "matrix.tile_n and tile_k: less than the lanes that copy a line");
	RULE(p->cluster_design != VIRGO_DESIGN_HOPPER ||
	     (p->matrix_tile_m >= 16 && p->matrix_tile_n >= 16 && p->matrix_tile_k >= 16),
	     "matrix.tile_m, tile_n and tile_k: less than the 16 of an operation of hopper");
	return NULL;
}

const char *virgo_time_check(const struct virgo_time_parameters *parameters)
{
	const char *wrong = check_cores(parameters);

	if (!wrong)
		wrong = check_memories(parameters);
	if (!wrong)
		wrong = check_units(parameters);
	return wrong ? wrong : check_design(parameters);
}
