/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The L2 and what it asks of the L1s. It is inclusive: what leaves it leaves the L1s, too.
 * Lines of the L1s have the states of MESI. Of each line of the L2 `holders` has the cores whose L1 may have a part
 * of it, and `parts` the lines of an L1 in it that one may have, so that nothing else has to be asked for.
 */
#include "sim/soc_internal.h"

#define NOBODY 0ull	/* of cores */

static uint64_t *holders_of(const struct soc *soc, const struct mimic_cache_line *line)
{
	return &soc->holders[line - soc->l2.lines];
}

static uint64_t core_bit(const struct soc_core *core)
{
	return 1ull << core->index;
}

/* What the other L1s had of one of their lines. */
struct others {
	bool any;
	bool modified;
	uint64_t ready;		/* of the modified one */
};

static void take_from(struct soc *soc, struct soc_core *owner, struct mimic_cache_line *line, bool write,
		      struct others *others)
{
	others->any = true;
	if (line->state == MIMIC_CACHE_MODIFIED) {
		others->modified = true;
		others->ready = line->ready;
	}
	if (!write) {
		line->state = MIMIC_CACHE_SHARED;
		return;
	}
	mimic_cache_drop(&owner->l1, line);
	soc->counters.invalidations++;
}

static uint32_t part_bit(const struct soc *soc, uint64_t address)
{
	return 1u << ((address & (soc->parameters.l2_line - 1)) >> soc->core[0].l1.shift);
}

/* What the L1s but `asking`, a core's bit, have of these parts of a line of the L2, the first byte of which is at `first`. */
static struct others ask_others(struct soc *soc, const struct mimic_cache_line *line, uint64_t asking,
				uint64_t first, uint32_t parts, bool write)
{
	struct others others = { 0 };
	uint64_t holders = *holders_of(soc, line) & ~asking;

	for (; holders; holders &= holders - 1) {
		struct soc_core *core = &soc->core[__builtin_ctzll(holders)];

		for (uint32_t left = parts & line->parts; left; left &= left - 1) {
			uint64_t at = first + (uint64_t)__builtin_ctz(left) * soc->parameters.l1_line;
			struct mimic_cache_line *theirs = mimic_cache_peek(&core->l1, at);

			if (theirs)
				take_from(soc, core, theirs, write, &others);
		}
	}
	return others;
}

/* A line of the L2 makes room. */
static void l2_evict(struct soc *soc, struct mimic_cache_line *line, uint64_t now)
{
	uint64_t first = mimic_cache_address(&soc->l2, line);
	bool modified = line->state == MIMIC_CACHE_MODIFIED;

	for (uint64_t holders = *holders_of(soc, line); holders; holders &= holders - 1) {
		struct mimic_cache *l1 = &soc->core[__builtin_ctzll(holders)].l1;

		for (uint32_t left = line->parts; left; left &= left - 1) {
			uint64_t at = first + (uint64_t)__builtin_ctz(left) * soc->parameters.l1_line;
			struct mimic_cache_line *theirs = mimic_cache_peek(l1, at);

			if (!theirs)
				continue;
			modified |= theirs->state == MIMIC_CACHE_MODIFIED;
			mimic_cache_drop(l1, theirs);
		}
	}
	if (!modified)
		return;
	mimic_dram_transfer(&soc->dram, now);
	soc->counters.write_backs++;
}

/* The miss is known at `when`. */
static struct mimic_cache_line *l2_fill(struct soc *soc, uint64_t address, uint64_t when)
{
	struct mimic_cache_line *line = mimic_cache_victim(&soc->l2, address);
	uint64_t begin, ready;

	mimic_slots_forget(&soc->mshrs, soc->now);
	mimic_dram_forget(&soc->dram, soc->now);
	begin = mimic_slots_free_at(&soc->mshrs, when);
	ready = mimic_dram_transfer(&soc->dram, begin);
	mimic_slots_take(&soc->mshrs, begin, ready);
	soc->counters.mshr_stalls += begin - when;
	soc->counters.dram_lines++;
	if (line->state != MIMIC_CACHE_INVALID)
		l2_evict(soc, line, begin);
	mimic_cache_fill(&soc->l2, line, address, MIMIC_CACHE_SHARED, ready);
	*holders_of(soc, line) = 0;
	return line;
}

/* The line at the L2, which is asked at `now`; `*ready`: when its data is there. */
static struct mimic_cache_line *l2_look_up(struct soc *soc, uint64_t address, uint64_t now, uint64_t *ready)
{
	struct mimic_cache_line *line = mimic_cache_find(&soc->l2, address);
	uint64_t known = now + soc->parameters.l2_latency;

	if (line) {
		soc->counters.l2_hits++;
	} else {
		soc->counters.l2_misses++;
		line = l2_fill(soc, address, known);
	}
	*ready = line->ready > known ? line->ready : known;
	return line;
}

static uint64_t forward(struct soc *soc, struct mimic_cache_line *line, const struct others *others, uint64_t ready)
{
	if (!others->modified)
		return ready;
	line->state = MIMIC_CACHE_MODIFIED;
	soc->counters.l2_forwards++;
	if (others->ready > ready)
		ready = others->ready;
	return ready + soc->parameters.l2_forward;
}

static void l1_evict(struct soc *soc, struct soc_core *core, struct mimic_cache_line *line)
{
	struct mimic_cache_line *behind;

	if (line->state != MIMIC_CACHE_MODIFIED)
		return;
	behind = mimic_cache_peek(&soc->l2, mimic_cache_address(&core->l1, line));
	if (behind)
		behind->state = MIMIC_CACHE_MODIFIED;
}

uint64_t soc_l1_miss(struct soc *soc, struct soc_core *core, struct mimic_cache_line *mine, uint64_t address,
		     bool write, uint64_t now)
{
	const struct sim_parameters *parameters = &soc->parameters;
	uint64_t at_l2 = now + parameters->l1_latency, ready;
	struct mimic_cache_line *line = l2_look_up(soc, address, at_l2, &ready);
	uint64_t first = address & ~(parameters->l2_line - 1);
	uint32_t part = part_bit(soc, address);
	struct others others = ask_others(soc, line, core_bit(core), first, part, write);
	enum mimic_cache_state state = others.any ? MIMIC_CACHE_SHARED : MIMIC_CACHE_EXCLUSIVE;

	ready = forward(soc, line, &others, ready);
	*holders_of(soc, line) |= core_bit(core);
	line->parts |= part;
	if (write)
		state = MIMIC_CACHE_MODIFIED;
	if (!mine) {
		mine = mimic_cache_victim(&core->l1, address);
		l1_evict(soc, core, mine);
	}
	mimic_cache_fill(&core->l1, mine, address, state, ready);
	if (soc->droplet)
		soc_droplet_demand(soc, core->index, address, at_l2);
	return ready;
}

uint64_t soc_l2_access(struct soc *soc, uint64_t address, bool write, uint64_t now)
{
	uint64_t ready;
	struct mimic_cache_line *line = l2_look_up(soc, address, now, &ready);
	uint64_t first = address & ~(soc->parameters.l2_line - 1);
	struct others others = ask_others(soc, line, NOBODY, first, UINT32_MAX, write);

	ready = forward(soc, line, &others, ready);
	if (write)
		line->state = MIMIC_CACHE_MODIFIED;
	return ready;
}

uint64_t soc_l2_prefetch(struct soc *soc, uint64_t address, uint64_t now)
{
	struct mimic_cache_line *line = mimic_cache_peek(&soc->l2, address);

	if (line)
		return line->ready > now ? line->ready : now;
	soc->counters.prefetched++;
	return l2_fill(soc, address, now)->ready;
}
