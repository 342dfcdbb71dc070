/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The L2 and what it asks of the L1s. It is inclusive: what leaves it leaves the L1s, too.
 * Where each L1 has an L1.5 behind it, that is what the L2 knows, and "L1" means it here: it holds all that its L1 holds,
 * and what leaves it leaves the L1.
 * Lines of the L1s have the states of MESI. Of each line of the L2 `holders` has the cores whose L1 may have a part
 * of it, and `parts` the lines of an L1 in it that one may have, so that nothing else has to be asked for.
 *
 * The L2 knows what a directory knows, and no more: to which L1 it has given a part alone (`owner`), not whether
 * that one has written; and not that an L1 has replaced a line that it had not written, because it does so without
 * a word.
 */
#include "sim/soc_internal.h"

#define NOBODY 0ull	/* of cores */
#define CORES_OUT_OF_CACHE 8	/* so many do not fit into the first cache of the machine that runs this */

static uint64_t core_bit(const struct soc_core *core)
{
	return 1ull << core->index;
}

/* What the L2 knows of the other L1s, and what it learns when it asks the owner of a part. */
struct others {
	bool may_have;
	bool had_owner;
	bool modified;		/* the owner had written it */
	uint64_t ready;		/* of what the owner had */
};

/* What leaves an L1.5 leaves the L1 before it. Its note says in which way of the L1 the line is, if it is there. */
static void drop_before(struct soc_core *core, const struct mimic_cache_line *line, uint64_t address)
{
	struct mimic_cache_line *before;

	if (core->coherent == &core->l1)
		return;
	before = mimic_cache_peek_way(&core->l1, address, line->note);
	if (before)
		mimic_cache_drop(&core->l1, before);
}

static void drop(struct soc_core *core, struct mimic_cache_line *line)
{
	drop_before(core, line, mimic_cache_address(core->coherent, line));
	mimic_cache_drop(core->coherent, line);
}

/* It had the line alone, and has it no longer so. */
static void take_ownership(struct mimic_cache_line *line, struct others *others)
{
	if (line->state < MIMIC_CACHE_EXCLUSIVE)
		return;
	others->ready = line->ready;
	others->modified |= line->state == MIMIC_CACHE_MODIFIED;
	line->state = MIMIC_CACHE_SHARED;
}

static unsigned int part_of(const struct soc *soc, uint64_t address)
{
	return (unsigned int)((address & (soc->parameters.l2_line - 1)) >> soc->core[0].l1.shift);
}

/*
 * A part that has an owner, as the owner has it; NULL: not any more. The owner was the last one that took it in,
 * so the way is known.
 */
static struct mimic_cache_line *owned(const struct soc *soc, const struct soc_directory *directory, unsigned int part,
				      uint64_t first)
{
	const struct soc_part *known = &directory->part[part];

	return mimic_cache_peek_way(soc->core[known->owner - 1].coherent, first + part * soc->parameters.l1_line,
				    known->way);
}

/* A part gets another owner, or none: what its owner says, if that is not core number `self` - 1. */
static void ask_owner(struct soc *soc, struct soc_directory *directory, unsigned int part, uint64_t first,
		      unsigned int self, struct others *others)
{
	unsigned int owner = directory->part[part].owner;
	struct mimic_cache_line *theirs;

	if (!owner)
		return;
	if (owner != self) {
		others->had_owner = true;
		theirs = owned(soc, directory, part, first);
		if (theirs)
			take_ownership(theirs, others);
	}
	directory->part[part].owner = 0;
}

/* These cores lose these parts. */
static void invalidate(struct soc *soc, uint64_t holders, uint64_t first, uint32_t parts)
{
	for (; holders; holders &= holders - 1) {
		struct soc_core *core = &soc->core[__builtin_ctzll(holders)];

		for (uint32_t left = parts; left; left &= left - 1) {
			uint64_t at = first + (uint64_t)__builtin_ctz(left) * soc->parameters.l1_line;
			struct mimic_cache_line *theirs = mimic_cache_peek(core->coherent, at);

			if (!theirs)
				continue;
			drop(core, theirs);
			soc->counters.invalidations++;
		}
	}
}

/*
 * What the L1s but `asking`, a core's bit, have of these parts of a line of the L2, the first byte of which is at
 * `first`. Only the owner of a part can have it alone: of a read, no other one needs to know.
 */
static struct others ask_others(struct soc *soc, struct soc_directory *directory, uint64_t asking,
				uint64_t first, uint32_t parts, bool write)
{
	uint64_t holders = directory->holders & ~asking;
	unsigned int self = asking ? (unsigned int)__builtin_ctzll(asking) + 1 : 0;
	struct others others = { .may_have = holders && (parts & directory->parts) };

	parts &= directory->parts;
	for (uint32_t left = parts; left; left &= left - 1)
		ask_owner(soc, directory, (unsigned int)__builtin_ctz(left), first, self, &others);
	if (write)
		invalidate(soc, holders, first, parts);
	return others;
}

/* A part of a line that leaves the L2 leaves the L1. true: it was written. */
static bool take_back(struct soc_core *core, struct mimic_cache_line *theirs)
{
	bool modified;

	if (!theirs)
		return false;
	modified = theirs->state == MIMIC_CACHE_MODIFIED;
	drop(core, theirs);
	return modified;
}

/* A line of the L2 makes room. */
static void l2_evict(struct soc *soc, struct mimic_cache_line *line, uint64_t now)
{
	const struct soc_directory *directory = soc_directory(soc, line);
	uint64_t first = mimic_cache_address(&soc->l2, line);
	bool modified = line->state == MIMIC_CACHE_MODIFIED;

	for (uint32_t left = directory->parts; left; left &= left - 1) {
		unsigned int part = (unsigned int)__builtin_ctz(left), owner = directory->part[part].owner;
		uint64_t at = first + part * soc->parameters.l1_line;

		/* What has an owner nobody else has. */
		if (owner) {
			modified |= take_back(&soc->core[owner - 1], owned(soc, directory, part, first));
			continue;
		}
		for (uint64_t holders = directory->holders; holders; holders &= holders - 1) {
			struct soc_core *core = &soc->core[__builtin_ctzll(holders)];

			modified |= take_back(core, mimic_cache_peek(core->coherent, at));
		}
	}
	if (!modified)
		return;
	mimic_dram_transfer(&soc->dram, now);
	soc->counters.write_backs++;
}

/* The line is to make room: the host's caches are asked for what the L2 knows of it, and for its parts in other L1s. */
static inline void prefetch_parts(const struct soc *soc, const struct mimic_cache_line *line)
{
	const struct soc_directory *directory = soc_directory(soc, line);
	uint64_t first = mimic_cache_address(&soc->l2, line);

	__builtin_prefetch(directory);
	if (soc->cores < CORES_OUT_OF_CACHE)
		return;
	for (uint32_t left = line->state == MIMIC_CACHE_INVALID ? 0 : directory->parts; left; left &= left - 1) {
		unsigned int part = (unsigned int)__builtin_ctz(left), owner = directory->part[part].owner;

		if (owner)
			mimic_cache_prefetch(soc->core[owner - 1].coherent, first + part * soc->parameters.l1_line);
	}
}

/* The miss is known at `when`. */
static struct mimic_cache_line *l2_fill(struct soc *soc, uint64_t address, uint64_t when)
{
	struct mimic_cache_line *line = mimic_cache_victim(&soc->l2, address);
	struct soc_directory *directory;
	uint64_t begin = when, ready;

	prefetch_parts(soc, line);
	mimic_dram_forget(&soc->dram, soc->now);
	if (mimic_slots_all_free(&soc->mshrs, soc->now)) {
		ready = mimic_dram_transfer(&soc->dram, begin);
		mimic_slots_take_first(&soc->mshrs, begin, ready);
	} else {
		mimic_slots_forget(&soc->mshrs, soc->now);
		begin = mimic_slots_free_at(&soc->mshrs, when);
		ready = mimic_dram_transfer(&soc->dram, begin);
		mimic_slots_take(&soc->mshrs, begin, ready);
	}
	soc->counters.mshr_stalls += begin - when;
	soc->counters.dram_lines++;
	if (line->state != MIMIC_CACHE_INVALID)
		l2_evict(soc, line, begin);
	mimic_cache_fill(&soc->l2, line, address, MIMIC_CACHE_SHARED, ready);
	directory = soc_directory(soc, line);
	directory->holders = 0;
	directory->parts = 0;
	return line;
}

/* The line at the L2, which is asked at `now`; `*ready`: when its data is there. */
static struct mimic_cache_line *l2_look_up(struct soc *soc, uint64_t address, uint64_t now, uint64_t *ready)
{
	struct mimic_cache_line *line = mimic_cache_find_any(&soc->l2, address);
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
	if (!others->had_owner)
		return ready;
	if (others->modified)
		line->state = MIMIC_CACHE_MODIFIED;
	soc->counters.l2_forwards++;
	if (others->ready > ready)
		ready = others->ready;
	return ready + soc->parameters.l2_forward;
}

/* A line makes room, and says so if it was written. */
static void l1_evict(struct soc *soc, struct soc_core *core, struct mimic_cache_line *line)
{
	struct mimic_cache_line *behind;
	uint64_t address;

	if (line->state == MIMIC_CACHE_INVALID)
		return;
	address = mimic_cache_address(core->coherent, line);
	drop_before(core, line, address);
	if (line->state != MIMIC_CACHE_MODIFIED)
		return;
	behind = mimic_cache_peek(&soc->l2, address);
	if (!behind)
		return;
	behind->state = MIMIC_CACHE_MODIFIED;
	soc_directory(soc, behind)->part[part_of(soc, address)].owner = 0;
}

/* Inlined: each caller has its `mine` and `write`. */
static inline __attribute__((always_inline)) uint64_t miss(struct soc *soc, struct soc_core *core,
							    struct mimic_cache_line *mine, uint64_t address,
							    bool write, uint64_t now)
{
	const struct sim_parameters *parameters = &soc->parameters;
	uint64_t at_l2 = now + parameters->l1_latency, ready;
	struct mimic_cache_line *line = l2_look_up(soc, address, at_l2, &ready);
	struct soc_directory *directory = soc_directory(soc, line);
	uint64_t first = address & ~(parameters->l2_line - 1);
	unsigned int part = part_of(soc, address), note = mine ? mine->note : 0;
	enum mimic_cache_state state = MIMIC_CACHE_EXCLUSIVE;

	/* Else no other core is the owner, and this one becomes it. */
	if (unlikely(directory->holders & ~core_bit(core))) {
		struct others others = ask_others(soc, directory, core_bit(core), first, 1u << part, write);

		if (others.may_have)
			state = MIMIC_CACHE_SHARED;
		ready = forward(soc, line, &others, ready);
	}
	directory->holders |= core_bit(core);
	directory->parts |= 1u << part;
	if (write)
		state = MIMIC_CACHE_MODIFIED;
	if (!mine) {
		mine = mimic_cache_victim(core->coherent, address);
		l1_evict(soc, core, mine);
	}
	directory->part[part] = (struct soc_part){
		.owner = (uint8_t)(state == MIMIC_CACHE_SHARED ? 0 : core->index + 1),
		.way = (uint8_t)mimic_cache_way_of(core->coherent, mine),
	};
	mimic_cache_fill(core->coherent, mine, address, state, ready);
	if (note)
		mine->note = note;
	if (soc->droplet)
		soc_droplet_demand(soc, core->index, address, at_l2);
	return ready;
}

uint64_t soc_take_line(struct soc *soc, struct soc_core *core, struct mimic_cache_line *mine, uint64_t address, uint64_t now)
{
	return miss(soc, core, mine, address, true, now);
}

uint64_t soc_l1_miss(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now)
{
	uint64_t ready = now + soc->parameters.l1_latency + soc->parameters.l15_latency;
	struct mimic_cache_line *line, *mine;

	mimic_cache_prefetch(&soc->l2, address);
	if (core->coherent == &core->l1)
		return miss(soc, core, NULL, address, false, now);
	line = mimic_cache_find_any(&core->l15, address);
	if (!line) {
		ready = miss(soc, core, NULL, address, false, now);
		line = mimic_cache_latest(&core->l15, address);
	} else {
		core->counters.l15_hits++;
		if (line->ready > ready)
			ready = line->ready;
	}
	/* What it replaces is written through already. */
	mine = mimic_cache_victim(&core->l1, address);
	mimic_cache_fill(&core->l1, mine, address, MIMIC_CACHE_SHARED, ready);
	line->note = mimic_cache_way_of(&core->l1, mine) & 15;
	return ready;
}

uint64_t soc_l2_access(struct soc *soc, uint64_t address, bool write, uint64_t now)
{
	uint64_t ready;
	struct mimic_cache_line *line = l2_look_up(soc, address, now, &ready);
	uint64_t first = address & ~(soc->parameters.l2_line - 1);
	struct others others = ask_others(soc, soc_directory(soc, line), NOBODY, first, UINT32_MAX >> (32 - soc->parts),
					  write);

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

/* Is it, or a part of it in an L1, not yet written to memory? */
static bool is_dirty(const struct soc *soc, const struct mimic_cache_line *line)
{
	const struct soc_directory *directory = soc_directory(soc, line);
	uint64_t first = mimic_cache_address(&soc->l2, line);

	if (line->state == MIMIC_CACHE_MODIFIED)
		return true;
	for (uint32_t left = directory->parts; left; left &= left - 1) {
		unsigned int part = (unsigned int)__builtin_ctz(left);
		const struct mimic_cache_line *theirs;

		if (!directory->part[part].owner)
			continue;
		theirs = owned(soc, directory, part, first);
		if (theirs && theirs->state == MIMIC_CACHE_MODIFIED)
			return true;
	}
	return false;
}

uint64_t soc_dirty_lines(const struct soc *soc)
{
	uint64_t count = 0;

	for (uint64_t set = 0; set <= soc->l2.set_mask; set++) {
		const struct mimic_cache_line *line = mimic_cache_line(&soc->l2, mimic_cache_tags(&soc->l2, set), 0);

		for (unsigned int way = 0; way < soc->l2.ways; way++)
			count += line[way].state != MIMIC_CACHE_INVALID && is_dirty(soc, &line[way]);
	}
	return count;
}
