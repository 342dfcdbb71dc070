/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A SIMT core: one instruction is fetched in a cycle, in turn for the warps; each warp
 * issues in order when its registers are free, and passes on by way of the operand stages to
 * the dispatch buffers of the units, one for each warp and unit.
 */
#include <string.h>

#include "devices/virgo/time/internal.h"

#define WMMA_MICRO_OPS 32	/* of 8 x 8 x 8: 4 sets of 4 steps of 2 */
#define WMMA_OPERANDS 16	/* registers of A and B, from FLOAT(0) on */
#define WMMA_RESULTS 8

void virgo_time_core_reset(struct core *core)
{
	memset(core->warp, 0, sizeof(core->warp));
	memset(&core->lsu, 0, sizeof(core->lsu));
	memset(&core->decoupled, 0, sizeof(core->decoupled));
	memset(core->next_of_unit, 0, sizeof(core->next_of_unit));
	core->next_fetch = core->arrived = core->started = core->running = 0;
	core->tensor_free = 0;
	core->next = NEVER;
}

void virgo_time_unblock(struct core *core, struct warp *warp, uint64_t time)
{
	warp->is_blocked = false;
	warp->fetch_at = later(warp->fetch_at, time);
	core->next = earlier(core->next, later(time, core->timing->now + 1));
}

/* --- fetch ------------------------------------------------------------------------------------------ */

/* Is the next instruction not known, or not allowed, until this one is resolved? */
static bool blocks(unsigned int operation)
{
	switch (operation) {
	case OP_BRANCH:
	case OP_BRANCH_BUSY:
	case OP_CSR:
	case OP_COMMAND:
	case OP_BARRIER:
	case OP_DECOUPLED_WAIT:
		return true;
	default:
		return false;
	}
}

static void count_instruction(struct virgo_time_statistics *statistics, const struct instruction *instruction)
{
	statistics->warp_instructions++;
	statistics->lane_instructions += instruction->lanes;
	switch (instruction->operation) {
	case OP_ALU:
		statistics->alu++;
		return;
	case OP_FPU:
		statistics->fpu++;
		return;
	case OP_WMMA:
	case OP_DECOUPLED:
		statistics->wmma++;
		return;
	case OP_LOAD:
	case OP_LOAD_SHARED:
		statistics->loads++;
		return;
	case OP_STORE:
	case OP_STORE_SHARED:
		statistics->stores++;
		return;
	case OP_LOAD_BUSY:
		statistics->polls++;
		statistics->mmio++;
		return;
	case OP_STORE_UNIT:
		statistics->mmio++;
		return;
	default:
		statistics->control++;
	}
}

static bool may_fetch(const struct core *core, const struct warp *warp)
{
	return warp->code && !warp->has_ended && !warp->is_blocked && warp->count < parameters_of(core)->simt_buffer;
}

static void fetch_for(struct core *core, struct warp *warp, uint64_t now)
{
	const uint64_t delay = parameters_of(core)->simt_fetch;
	unsigned int at = (warp->first + warp->count) % BUFFER_MAX;

	core->did = true;
	if (!virgo_time_stream_next(core, warp, &warp->buffer[at])) {
		warp->has_ended = true;
		return;
	}
	warp->ready[at] = warp->fetch_at = now + delay;
	warp->count++;
	warp->is_blocked = blocks(warp->buffer[at].operation);
	count_instruction(&core->timing->statistics, &warp->buffer[at]);
}

static void fetch(struct core *core, uint64_t now)
{
	const unsigned int warps = (unsigned int)parameters_of(core)->cluster_warps;

	for (unsigned int i = 0; i < warps; i++) {
		unsigned int number = (core->next_fetch + i) % warps;
		struct warp *warp = &core->warp[number];

		if (!may_fetch(core, warp) || warp->fetch_at > now)
			continue;
		fetch_for(core, warp, now);
		core->next_fetch = (number + 1) % warps;
		return;
	}
}

/* --- issue ------------------------------------------------------------------------------------------- */

static uint64_t wmma_ready(const struct warp *warp, const struct instruction *instruction)
{
	uint64_t ready = 0;

	if (warp->micro_ops)
		return 0;
	for (unsigned int i = 0; i < WMMA_OPERANDS; i++)
		ready = later(ready, warp->free_at[FLOAT(i)]);
	for (unsigned int i = 0; i < WMMA_RESULTS; i++)
		ready = later(ready, warp->free_at[instruction->to + i]);
	return ready;
}

static bool is_alone(unsigned int operation)
{
	return operation == OP_CSR || operation == OP_COMMAND;
}

/* When the oldest instruction may issue, as far as registers are concerned; NEVER: that is not known yet. */
static uint64_t operands_ready(const struct warp *warp)
{
	const struct instruction *instruction = &warp->buffer[warp->first];
	uint64_t ready;

	if (instruction->operation == OP_WMMA)
		return wmma_ready(warp, instruction);
	ready = later(warp->free_at[instruction->from[0]], warp->free_at[instruction->from[1]]);
	ready = later(ready, warp->free_at[instruction->to]);
	if (is_alone(instruction->operation))
		ready = warp->queued ? NEVER : later(ready, warp->busy_until);
	return ready;
}

static void stage(struct warp *warp, const struct instruction *instruction, uint64_t now)
{
	unsigned int at = (warp->stage_first + warp->stage_count++) % OPERAND_STAGES;

	warp->stage[at] = *instruction;
	warp->issued[at] = now;
	warp->queued++;
}

static void pop(struct warp *warp)
{
	warp->first = (warp->first + 1) % BUFFER_MAX;
	warp->count--;
}

static void issue_micro_op(struct core *core, struct warp *warp, uint64_t now)
{
	struct instruction instruction = warp->buffer[warp->first];

	if (!warp->micro_ops) {
		warp->wmma_since = now;
		for (unsigned int i = 0; i < WMMA_RESULTS; i++)
			warp->free_at[instruction.to + i] = NEVER;
	}
	warp->micro_ops++;
	/* The last one frees the results. */
	if (warp->micro_ops < WMMA_MICRO_OPS)
		instruction.to = 0;
	stage(warp, &instruction, now);
	core->timing->statistics.micro_ops++;
	if (warp->micro_ops == WMMA_MICRO_OPS) {
		virgo_time_trace_wmma(core, warp, now);
		warp->micro_ops = 0;
		pop(warp);
	}
}

static void issue(struct core *core, struct warp *warp, uint64_t now)
{
	struct virgo_time_statistics *statistics = &core->timing->statistics;
	const struct instruction *instruction = &warp->buffer[warp->first];

	if (!warp->count || warp->ready[warp->first] > now)
		return;
	if (operands_ready(warp) > now) {
		statistics->stall_operands++;
		return;
	}
	if (warp->stage_count == OPERAND_STAGES - 1) {
		statistics->stall_dispatch++;
		return;
	}
	core->did = true;
	if (instruction->operation == OP_WMMA) {
		issue_micro_op(core, warp, now);
		return;
	}
	stage(warp, instruction, now);
	if (instruction->to)
		warp->free_at[instruction->to] = NEVER;
	pop(warp);
}

/* --- dispatch ------------------------------------------------------------------------------------------ */

static void dispatch(struct core *core, struct warp *warp, uint64_t now)
{
	const struct virgo_time_parameters *parameters = parameters_of(core);
	const struct instruction *instruction = &warp->stage[warp->stage_first];
	enum unit_kind unit;

	if (!warp->stage_count || now + 1 < warp->issued[warp->stage_first] + parameters->simt_operands)
		return;
	unit = virgo_time_unit_of(instruction->operation);
	if (warp->has_dispatch[unit] || now < warp->dispatched[unit] + parameters->simt_dispatch)
		return;
	warp->dispatch[unit] = *instruction;
	warp->has_dispatch[unit] = true;
	warp->dispatched[unit] = now;
	warp->stage_first = (warp->stage_first + 1) % OPERAND_STAGES;
	warp->stage_count--;
	core->did = true;
}

/* --- cycles ---------------------------------------------------------------------------------------------- */

static uint64_t warp_next(const struct core *core, const struct warp *warp, uint64_t now)
{
	uint64_t next = NEVER, ready;

	if (!warp->code)
		return NEVER;
	/* Its end is seen when its last result is there. */
	if (warp->has_ended && !warp->count && !warp->queued)
		return later(warp->busy_until, now + 1);
	if (may_fetch(core, warp))
		next = later(warp->fetch_at, now + 1);
	if (warp->count) {
		ready = later(operands_ready(warp), warp->ready[warp->first]);
		if (ready != NEVER)
			next = earlier(next, later(ready, now + 1));
	}
	if (warp->stage_count)
		next = earlier(next, now + 1);
	for (unsigned int unit = 0; unit < UNIT_KINDS; unit++)
		if (warp->has_dispatch[unit])
			next = earlier(next, now + 1);
	return next;
}

/* A kernel ends when its stores are acknowledged. */
static uint64_t lsu_next(const struct lsu *lsu, uint64_t now)
{
	if (!lsu->count)
		return lsu->last_answer > now ? lsu->last_answer : NEVER;
	if (lsu->queue[lsu->first].instruction.operation == OP_FENCE)
		return later(lsu->last_answer, now + 1);
	return now + 1;
}

static uint64_t core_next(const struct core *core, uint64_t now)
{
	uint64_t next = earlier(lsu_next(&core->lsu, now), core->decoupled.count ? now + 1 : NEVER);

	for (unsigned int i = 0; i < parameters_of(core)->cluster_warps && next > now + 1; i++)
		next = earlier(next, warp_next(core, &core->warp[i], now));
	return next;
}

/*
 * Cycles before `now` in which it did not step, as nothing could happen: all waits went on. An
 * instruction that is decoded and did not issue waits for a register: for room it would have stepped.
 */
void virgo_time_core_count(struct core *core, uint64_t now)
{
	struct virgo_time_statistics *statistics = &core->timing->statistics;
	const struct lsu *lsu = &core->lsu;
	const uint64_t from = core->counted_until;

	if (from >= now)
		return;
	for (unsigned int i = 0; i < parameters_of(core)->cluster_warps; i++) {
		const struct warp *warp = &core->warp[i];

		if (warp->count && warp->ready[warp->first] < now)
			statistics->stall_operands += now - later(from, warp->ready[warp->first]);
	}
	if (lsu->count) {
		statistics->lsu_waits += now - from;
		statistics->fence_waits += now - from;
	}
	core->counted_until = now;
}

/* A warp has ended when all that it has issued is over, too. */
static void look_for_ends(struct core *core, uint64_t now)
{
	for (unsigned int i = 0; i < parameters_of(core)->cluster_warps; i++) {
		struct warp *warp = &core->warp[i];

		if (!warp->code || !warp->has_ended || warp->count || warp->queued || warp->busy_until > now)
			continue;
		warp->code = NULL;
		core->running--;
		core->timing->something_ended = true;
	}
}

void virgo_time_core_step(struct core *core, uint64_t now)
{
	const unsigned int warps = (unsigned int)parameters_of(core)->cluster_warps;

	virgo_time_core_count(core, now);
	core->counted_until = now + 1;
	core->did = false;
	core->next = NEVER;
	virgo_time_lsu_step(core, now);
	virgo_time_decoupled_step(core, now);
	virgo_time_units_step(core, now);
	for (unsigned int i = 0; i < warps; i++)
		dispatch(core, &core->warp[i], now);
	for (unsigned int i = 0; i < warps; i++)
		issue(core, &core->warp[i], now);
	fetch(core, now);
	look_for_ends(core, now);
	core->next = core->did ? now + 1 : earlier(core->next, core_next(core, now));
}
