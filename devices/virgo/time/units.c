/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The units of a core: each takes one ready instruction in a cycle, in turn for the warps; ALUs those of a pair of warps. */
#include "devices/virgo/time/internal.h"

enum unit_kind virgo_time_unit_of(enum operation operation)
{
	switch (operation) {
	case OP_ALU:
	case OP_BRANCH:
	case OP_BRANCH_BUSY:
		return UNIT_ALU;
	case OP_FPU:
		return UNIT_FPU;
	case OP_WMMA:
	case OP_DECOUPLED:
		return UNIT_TENSOR;
	case OP_CSR:
	case OP_COMMAND:
	case OP_BARRIER:
	case OP_DECOUPLED_WAIT:
		return UNIT_SFU;
	default:
		return UNIT_LSU;
	}
}

/* The instruction has left its warp; its result is there at `time`. */
static void finish(struct warp *warp, const struct instruction *instruction, uint64_t time)
{
	warp->queued--;
	warp->busy_until = later(warp->busy_until, time);
	if (instruction->to)
		warp->free_at[instruction->to] = time;
}

static void take(struct core *core, struct warp *warp, enum unit_kind unit)
{
	warp->has_dispatch[unit] = false;
	core->did = true;
}

/* --- ALU, FPU --------------------------------------------------------------------------------------------- */

static void do_alu(struct core *core, struct warp *warp, uint64_t now)
{
	const struct virgo_time_parameters *parameters = parameters_of(core);
	const struct instruction instruction = warp->dispatch[UNIT_ALU];

	take(core, warp, UNIT_ALU);
	switch (instruction.operation) {
	case OP_BRANCH_BUSY:
		if (warp->was_busy)
			virgo_time_stream_again(warp);
		/* fall through */
	case OP_BRANCH:
		finish(warp, &instruction, now + parameters->simt_branch);
		virgo_time_unblock(core, warp, now + parameters->simt_branch);
		return;
	default:
		finish(warp, &instruction, now + parameters->simt_alu);
	}
}

/* The ALUs of a core work for the warps of one group, which are as many as there are ALUs. */
static void step_alus(struct core *core, uint64_t now)
{
	const unsigned int warps = (unsigned int)parameters_of(core)->cluster_warps;
	const unsigned int alus = (unsigned int)parameters_of(core)->simt_alus;
	const unsigned int groups = (warps + alus - 1) / alus;
	bool has_worked = false;

	for (unsigned int i = 0; i < groups && !has_worked; i++) {
		unsigned int group = (core->next_of_unit[UNIT_ALU] + i) % groups;

		for (unsigned int warp = group * alus; warp < (group + 1) * alus && warp < warps; warp++) {
			if (!core->warp[warp].has_dispatch[UNIT_ALU])
				continue;
			do_alu(core, &core->warp[warp], now);
			has_worked = true;
		}
		if (has_worked)
			core->next_of_unit[UNIT_ALU] = (group + 1) % groups;
	}
}

static void do_fpu(struct core *core, unsigned int number, uint64_t now)
{
	struct warp *warp = &core->warp[number];
	const struct instruction instruction = warp->dispatch[UNIT_FPU];

	take(core, warp, UNIT_FPU);
	finish(warp, &instruction, now + parameters_of(core)->simt_fpu);
}

/* --- LSU, SFU, tensor core --------------------------------------------------------------------------------- */

static void do_lsu(struct core *core, unsigned int number, uint64_t now)
{
	struct warp *warp = &core->warp[number];

	(void)now;
	if (virgo_time_lsu_take(core, number, &warp->dispatch[UNIT_LSU]))
		take(core, warp, UNIT_LSU);
}

static void do_sfu(struct core *core, unsigned int number, uint64_t now)
{
	const struct virgo_time_parameters *parameters = parameters_of(core);
	struct warp *warp = &core->warp[number];
	const struct instruction instruction = warp->dispatch[UNIT_SFU];

	if (instruction.operation == OP_DECOUPLED_WAIT && !virgo_time_decoupled_is_over(core, now))
		return;
	take(core, warp, UNIT_SFU);
	finish(warp, &instruction, now + parameters->simt_branch);
	if (instruction.operation == OP_BARRIER) {
		virgo_time_barrier_arrive(core, warp, now);
		return;
	}
	if (instruction.operation == OP_COMMAND)
		virgo_time_kernel_request(core, &instruction, now);
	virgo_time_unblock(core, warp, now + parameters->simt_branch);
}

/* A pair of micro-operations starts in every second cycle: one is taken in each. */
static void do_tensor(struct core *core, unsigned int number, uint64_t now)
{
	const uint64_t latency = parameters_of(core)->tensor_latency;
	struct warp *warp = &core->warp[number];
	const struct instruction instruction = warp->dispatch[UNIT_TENSOR];

	if (instruction.operation == OP_DECOUPLED) {
		if (!virgo_time_decoupled_take(core, &instruction))
			return;
		take(core, warp, UNIT_TENSOR);
		finish(warp, &instruction, now + 1);
		return;
	}
	take(core, warp, UNIT_TENSOR);
	core->timing->statistics.tensor_macs += 2 * instruction.lanes;
	warp->queued--;
	if (!instruction.to)
		return;
	warp->busy_until = later(warp->busy_until, now + latency);
	for (unsigned int i = 0; i < 8; i++)
		warp->free_at[instruction.to + i] = now + latency;
}

typedef void do_unit(struct core *core, unsigned int warp, uint64_t now);

static void step_unit(struct core *core, enum unit_kind unit, do_unit *function, uint64_t now)
{
	const unsigned int warps = (unsigned int)parameters_of(core)->cluster_warps;
	const bool in_turn = unit != UNIT_TENSOR || !parameters_of(core)->tensor_oldest;

	for (unsigned int i = 0; i < warps; i++) {
		unsigned int number = in_turn ? (core->next_of_unit[unit] + i) % warps : i;

		if (!core->warp[number].has_dispatch[unit])
			continue;
		function(core, number, now);
		/* One that a unit cannot take yet does not stand in the way of others. */
		if (core->warp[number].has_dispatch[unit])
			continue;
		core->next_of_unit[unit] = (number + 1) % warps;
		return;
	}
}

void virgo_time_units_step(struct core *core, uint64_t now)
{
	step_alus(core, now);
	step_unit(core, UNIT_FPU, do_fpu, now);
	step_unit(core, UNIT_LSU, do_lsu, now);
	step_unit(core, UNIT_SFU, do_sfu, now);
	step_unit(core, UNIT_TENSOR, do_tensor, now);
}
