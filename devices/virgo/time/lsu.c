/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The load/store unit of a core: a queue in order. The access at its head is granted by the
 * shared memory, word by word where lanes do not lie as the memory's sub-banks do, or is
 * sent to the L1, line by line. A head that is refused waits, and nothing passes it.
 */
#include "devices/virgo/time/internal.h"

bool virgo_time_has_place(const uint64_t *places, unsigned int count, uint64_t now)
{
	for (unsigned int i = 0; i < count; i++)
		if (places[i] <= now)
			return true;
	return false;
}

bool virgo_time_reserve(uint64_t *places, unsigned int count, uint64_t now, uint64_t until)
{
	for (unsigned int i = 0; i < count; i++) {
		if (places[i] > now)
			continue;
		places[i] = until;
		return true;
	}
	return false;
}

bool virgo_time_lsu_take(struct core *core, unsigned int warp, const struct instruction *instruction)
{
	struct lsu *lsu = &core->lsu;
	struct lsu_entry *entry;

	if (lsu->count >= parameters_of(core)->lsu_queue)
		return false;
	entry = &lsu->queue[(lsu->first + lsu->count++) % VIRGO_TIME_QUEUE_MAX];
	entry->instruction = *instruction;
	entry->warp = (uint8_t)warp;
	entry->has_begun = false;
	entry->back = 0;
	return true;
}

static uint64_t lane_address(const struct instruction *instruction, unsigned int lane)
{
	return instruction->address + (uint64_t)((int64_t)(lane / instruction->group) * instruction->far) +
	       (uint64_t)(lane % instruction->group) * WORD;
}

/* The head is over, its data there at `back`. */
static void end_head(struct core *core, uint64_t back)
{
	struct lsu *lsu = &core->lsu;
	struct lsu_entry *entry = &lsu->queue[lsu->first];
	struct warp *warp = &core->warp[entry->warp];

	warp->queued--;
	warp->busy_until = later(warp->busy_until, back);
	if (entry->instruction.to)
		warp->free_at[entry->instruction.to] = back;
	lsu->last_answer = later(lsu->last_answer, back);
	lsu->first = (lsu->first + 1) % VIRGO_TIME_QUEUE_MAX;
	lsu->count--;
	core->did = true;
}

/* Does it keep a place among those that are outstanding? Then it is over. */
static bool end_outstanding(struct core *core, uint64_t now, uint64_t back)
{
	struct lsu *lsu = &core->lsu;

	if (!virgo_time_reserve(lsu->outstanding, (unsigned int)parameters_of(core)->lsu_outstanding, now, back))
		return false;
	end_head(core, back);
	return true;
}

/* --- shared memory --------------------------------------------------------------------------------------------- */

/* Lane n reads and writes words of sub-bank n at once; all others go through a port of one word. */
static void begin_shared(struct core *core, struct lsu_entry *entry)
{
	const struct instruction *instruction = &entry->instruction;
	const unsigned int words = (unsigned int)parameters_of(core)->shared_words;
	struct virgo_time_statistics *statistics = &core->timing->statistics;

	entry->banks = 0;
	entry->unaligned = 0;
	for (unsigned int lane = 0; lane < instruction->lanes; lane++) {
		uint32_t address = (uint32_t)lane_address(instruction, lane);

		if (address / WORD % words == lane % words)
			entry->banks |= (uint16_t)(1u << virgo_time_bank(core->timing, address));
		else
			entry->unaligned++;
	}
	if (instruction->operation == OP_STORE_SHARED)
		statistics->shared_writes += instruction->lanes;
	else
		statistics->shared_reads += instruction->lanes;
	statistics->shared_unaligned += entry->unaligned;
}

static void step_shared(struct core *core, struct lsu_entry *entry, uint64_t now)
{
	const bool is_write = entry->instruction.operation == OP_STORE_SHARED;
	struct virgo_timing *timing = core->timing;

	for (unsigned int bank = 0; entry->banks >> bank; bank++) {
		if (!(entry->banks >> bank & 1))
			continue;
		if (is_write ? virgo_time_shared_write(timing, bank, now) : virgo_time_shared_read(timing, bank, now))
			entry->banks &= (uint16_t)~(1u << bank);
	}
	if (entry->unaligned)
		entry->unaligned -= (uint8_t)virgo_time_shared_port(timing, is_write, entry->unaligned, now);
	if (!entry->banks && !entry->unaligned)
		end_outstanding(core, now, now + timing->parameters.lsu_latency);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static struct line *find_line(struct lsu_entry *entry, uint64_t address)
{
	for (unsigned int i = 0; i < entry->line_count; i++)
		if (entry->line[i].address == address)
			return &entry->line[i];
	return NULL;
}

/* Lanes in one line are one request. */
static void begin_memory(struct core *core, struct lsu_entry *entry)
{
	const uint64_t mask = ~(parameters_of(core)->dcache_line - 1);

	entry->line_count = 0;
	for (unsigned int lane = 0; lane < entry->instruction.lanes; lane++) {
		uint64_t address = lane_address(&entry->instruction, lane) & mask;
		struct line *line = find_line(entry, address);

		if (line)
			line->is_merged = true;
		else
			entry->line[entry->line_count++] = (struct line){ .address = address };
	}
	entry->unsent = (uint16_t)((1u << entry->line_count) - 1);
}

/* false: the cache cannot take it now. */
static bool send_line(struct core *core, struct lsu_entry *entry, const struct line *line, uint64_t now)
{
	const unsigned int merged = (unsigned int)parameters_of(core)->lsu_merged;
	struct lsu *lsu = &core->lsu;
	uint64_t back;

	if (line->is_merged && !virgo_time_has_place(lsu->merged, merged, now))
		return false;
	if (entry->instruction.operation == OP_STORE)
		back = virgo_time_l1_store(core, line->address, now);
	else
		back = virgo_time_l1_load(core, line->address, now);
	if (back == NEVER)
		return false;
	if (line->is_merged)
		virgo_time_reserve(lsu->merged, merged, now, back);
	back += parameters_of(core)->lsu_latency;
	entry->back = later(entry->back, back);
	return true;
}

/* One merged request a cycle; lanes that are alone go together if their banks differ. */
static void step_memory(struct core *core, struct lsu_entry *entry, uint64_t now)
{
	uint32_t banks = 0;

	for (unsigned int i = 0; i < entry->line_count; i++) {
		const struct line *line = &entry->line[i];
		uint32_t bank = 1u << virgo_time_l1_bank(core, line->address);

		if (!(entry->unsent >> i & 1) || (banks & bank) || (banks && line->is_merged))
			continue;
		banks |= bank;
		if (send_line(core, entry, line, now)) {
			entry->unsent &= (uint16_t)~(1u << i);
			core->did = true;
		}
		if (line->is_merged)
			break;
	}
	if (!entry->unsent)
		end_outstanding(core, now, entry->back);
}

/* --- the head ------------------------------------------------------------------------------------------------------ */

static void begin(struct core *core, struct lsu_entry *entry)
{
	entry->has_begun = true;
	switch (entry->instruction.operation) {
	case OP_LOAD_SHARED:
	case OP_STORE_SHARED:
		begin_shared(core, entry);
		return;
	case OP_LOAD:
	case OP_STORE:
		begin_memory(core, entry);
		return;
	default:
		return;
	}
}

static void step_head(struct core *core, struct lsu_entry *entry, uint64_t now)
{
	const struct virgo_time_parameters *parameters = parameters_of(core);

	switch (entry->instruction.operation) {
	case OP_FENCE:
		if (core->lsu.last_answer > now) {
			core->timing->statistics.fence_waits++;
			return;
		}
		virgo_time_trace_fence(core, entry, now);
		end_head(core, now);
		return;
	case OP_LOAD_BUSY:
		core->warp[entry->warp].was_busy = virgo_time_unit_is_busy(&core->timing->unit[core->unit]);
		end_outstanding(core, now, now + parameters->lsu_latency + parameters->lsu_mmio);
		return;
	case OP_STORE_UNIT:
		if (end_outstanding(core, now, now + parameters->lsu_mmio))
			virgo_time_kernel_request(core, &entry->instruction, now);
		return;
	case OP_LOAD_SHARED:
	case OP_STORE_SHARED:
		step_shared(core, entry, now);
		return;
	default:
		step_memory(core, entry, now);
	}
}

void virgo_time_lsu_step(struct core *core, uint64_t now)
{
	struct lsu *lsu = &core->lsu;
	struct lsu_entry *entry = &lsu->queue[lsu->first];
	unsigned int count = lsu->count;

	if (!count)
		return;
	if (!entry->has_begun) {
		entry->since = now;
		begin(core, entry);
	}
	step_head(core, entry, now);
	if (lsu->count == count)
		core->timing->statistics.lsu_waits++;
}
