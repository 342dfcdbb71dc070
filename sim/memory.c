/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The L2 and its requests to the L1s. It is inclusive: a line that leaves it leaves the L1s, too.
 * Where each L1 has an L1.5 behind it, the L2 knows the L1.5 only, and "L1" means it here: it holds all
 * lines of its L1, and a line that leaves it leaves the L1.
 * Lines of the L1s have the states of MESI. Of each line of the L2 `holders` has the cores whose L1 may have a part
 * of it, and `parts` the lines of an L1 in it that one may have, so that only these are searched.
 *
 * The L2 knows as much as a directory: to which L1 it has given a part alone (`owner`), not whether that
 * L1 has written it; and not that an L1 has replaced a clean line, because it does so silently.
 */
#include "sim/soc_internal.h"

#define NOBODY 0ull	/* of cores */
#define USUAL_L1_WAYS 4 /* of all presets, also of an L1.5 */
#define USUAL_L2_WAYS 8
#define CORES_OUT_OF_CACHE 8	/* so many do not fit into the first cache of the machine that runs this */

/* The caches that an access of a core goes through, as the compiler knows them (mimic_cache_with_ways()). */
struct caches {
	struct mimic_cache l1, coherent, l2;
};

/* State of a line in the other L1s, as the directory has it, and as the owner of a part answers. */
struct others {
	bool may_have;
	bool had_owner;
	bool modified;		/* the owner had written it */
	uint64_t ready;		/* of the owner's data */
};

/*
 * A line that leaves an L1.5 leaves the L1 before it. Its note says in which way of the L1 the line is, if it is
 * there. Lines of both have the same numbers.
 */
static void drop_before(struct soc_core *core, unsigned int way, uint64_t number)
{
	uint64_t *tags = mimic_cache_tags(&core->l1, number & core->l1.set_mask);

	if (tags[way] == number)
		mimic_cache_drop(&core->l1, mimic_cache_line(&core->l1, tags, way));
}

static void drop(struct soc_core *core, struct mimic_cache_line *line)
{
	if (core->coherent != &core->l1)
		drop_before(core, line->note, *mimic_cache_tag(core->coherent, line));
	mimic_cache_drop(core->coherent, line);
}

/* The owner had the line alone, and does not any more. */
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
 * The owner's line of a part; NULL: it was replaced. The owner was the last core that filled it,
 * so the way is known.
 */
static struct mimic_cache_line *owned(const struct soc *soc, const struct soc_directory *directory, unsigned int part,
				      uint64_t first)
{
	const struct soc_part *known = &directory->part[part];

	return mimic_cache_peek_way(soc->core[known->owner - 1].coherent, first + part * soc->parameters.l1_line,
				    known->way);
}

/* A part gets another owner, or none: the state at its owner, if that is not core number `self` - 1. */
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
 * The state in the L1s but `asking`, a core's bit, of these parts of a line of the L2, the first byte of which is at
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

/* Takes from the L1s the parts of a line of the L2 that makes room. true: some part was written. */
static inline bool take_parts(struct soc *soc, const struct soc_directory *directory, uint64_t first)
{
	bool modified = false;

	for (uint32_t left = directory->parts; left; left &= left - 1) {
		unsigned int part = (unsigned int)__builtin_ctz(left), owner = directory->part[part].owner;
		uint64_t at = first + part * soc->parameters.l1_line;

		/* A part with an owner is in no other L1. */
		if (owner) {
			modified |= take_back(&soc->core[owner - 1], owned(soc, directory, part, first));
			continue;
		}
		for (uint64_t holders = directory->holders; holders; holders &= holders - 1) {
			struct soc_core *core = &soc->core[__builtin_ctzll(holders)];

			modified |= take_back(core, mimic_cache_peek(core->coherent, at));
		}
	}
	return modified;
}

/* The line is to make room: the host's caches are asked for its parts in other L1s. */
static inline void prefetch_parts(const struct soc *soc, const struct soc_directory *directory,
				  uint64_t first)
{
	for (uint32_t left = directory->parts; left; left &= left - 1) {
		unsigned int part = (unsigned int)__builtin_ctz(left), owner = directory->part[part].owner;

		if (owner)
			mimic_cache_prefetch(soc->core[owner - 1].coherent, first + part * soc->parameters.l1_line);
	}
}

/* An MSHR and the channel for a miss that is known at `when`. When it has the MSHR; `*ready`: when its data
 * is there. */
static inline uint64_t fetch(struct soc *soc, uint64_t when, uint64_t *ready)
{
	uint64_t begin = when;

	mimic_dram_forget(&soc->dram, soc->now);
	if (mimic_slots_all_free(&soc->mshrs, soc->now)) {
		*ready = mimic_dram_transfer(&soc->dram, begin);
		mimic_slots_take_first(&soc->mshrs, begin, *ready);
	} else {
		mimic_slots_forget(&soc->mshrs, soc->now);
		begin = mimic_slots_free_at(&soc->mshrs, when);
		*ready = mimic_dram_transfer(&soc->dram, begin);
		mimic_slots_take(&soc->mshrs, begin, *ready);
		soc->counters.mshr_stalls += begin - when;
	}
	soc->counters.dram_lines++;
	return begin;
}

/* The set does not have the line, as is known at `when`. Returns its way. */
__attribute__((noinline)) static uint64_t l2_fill(struct soc *soc, const struct mimic_cache_set *set,
						  uint64_t when)
{
	uint64_t order = *set->order, way = mimic_cache_last_way(&soc->l2, order), begin, ready;
	const struct mimic_cache_line *line = mimic_cache_line(&soc->l2, set->tags, way);
	struct soc_directory *directory = soc_directory(soc, set->tags, way);

	__builtin_prefetch(directory);
	if (soc->cores >= CORES_OUT_OF_CACHE && line->state != MIMIC_CACHE_INVALID)
		prefetch_parts(soc, directory, set->tags[way] << soc->l2.shift);
	begin = fetch(soc, when, &ready);
	if (line->state != MIMIC_CACHE_INVALID) {
		bool modified = take_parts(soc, directory, set->tags[way] << soc->l2.shift);

		if (modified || line->state == MIMIC_CACHE_MODIFIED) {
			mimic_dram_transfer(&soc->dram, begin);
			soc->counters.write_backs++;
		}
	}
	mimic_cache_replace(&soc->l2, set, order, MIMIC_CACHE_SHARED, ready);
	directory->holders = 0;
	directory->parts = 0;
	return way;
}

/* The way of the set's line at the L2 (`l2`: as its ways are known), which is asked at `now`; `*ready`: when
 * its data is there. */
static inline uint64_t l2_look_up(struct soc *soc, const struct mimic_cache *l2,
				  const struct mimic_cache_set *set, uint64_t now, uint64_t *ready)
{
	uint64_t way = mimic_cache_use_in(l2, set), known = now + soc->parameters.l2_latency, there;

	if (way != MIMIC_CACHE_NO_WAY) {
		soc->counters.l2_hits++;
	} else {
		soc->counters.l2_misses++;
		way = l2_fill(soc, set, known);
	}
	there = mimic_cache_line(l2, set->tags, way)->ready;
	*ready = there > known ? there : known;
	return way;
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

/* A dirty line is replaced, and the L2 is told. */
__attribute__((noinline)) static void write_back(struct soc *soc, uint64_t address)
{
	struct mimic_cache_line *behind = mimic_cache_peek(&soc->l2, address);

	if (!behind)
		return;
	behind->state = MIMIC_CACHE_MODIFIED;
	soc_directory_of(soc, behind)->part[part_of(soc, address)].owner = 0;
}

/*
 * The last line of the set's order makes room. `refilled`: the set of the L1 that is filled next, NULL if
 * none is; a line that is replaced then in any case need not be dropped before. An L1.5 with as many ways has
 * no fewer sets, so that this is the set of the line that it loses, too.
 */
static inline void l1_evict(struct soc *soc, struct soc_core *core, const struct caches *caches,
			    const struct mimic_cache_set *set, uint64_t order,
			    const struct mimic_cache_set *refilled)
{
	uint64_t way = mimic_cache_last_way(&caches->coherent, order), number = set->tags[way];
	const struct mimic_cache_line *line = mimic_cache_line(&caches->coherent, set->tags, way);

	if (line->state == MIMIC_CACHE_INVALID)
		return;
	if (refilled) {
		if (refilled->tags[line->note] == number &&
		    mimic_cache_last_way(&caches->l1, *refilled->order) != line->note)
			drop_before(core, line->note, number);
	} else if (core->coherent != &core->l1) {
		drop_before(core, line->note, number);
	}
	if (unlikely(line->state == MIMIC_CACHE_MODIFIED))
		write_back(soc, number << caches->coherent.shift);
}

/*
 * The state in which a core gets a part of a line of the L2 that others have, too, or had:
 * MIMIC_CACHE_SHARED or MIMIC_CACHE_EXCLUSIVE.
 */
__attribute__((noinline)) static enum mimic_cache_state ask(struct soc *soc, struct soc_core *core,
							    struct mimic_cache_line *line, uint64_t address,
							    bool write, uint64_t *ready)
{
	uint64_t first = address & ~(soc->parameters.l2_line - 1);
	struct others others = ask_others(soc, soc_directory_of(soc, line), core->bit, first,
					  1u << part_of(soc, address), write);

	*ready = forward(soc, line, &others, *ready);
	return others.may_have ? MIMIC_CACHE_SHARED : MIMIC_CACHE_EXCLUSIVE;
}

/*
 * The line that a core's coherent cache lacks, or has and may not write (`mine`), from the L2, `at_l2`
 * being its set there. Inlined: each caller has its caches, `mine`, `write` and `refilled` (l1_evict()).
 * Returns the line in the cache; `*ready`: when its data is there.
 */
static inline __attribute__((always_inline)) struct mimic_cache_line *miss(
	struct soc *soc, struct soc_core *core, const struct caches *caches, struct mimic_cache_line *mine,
	const struct mimic_cache_set *at_l2, uint64_t address, bool write,
	const struct mimic_cache_set *refilled, uint64_t now, uint64_t *ready)
{
	uint64_t asked = now + soc->parameters.l1_latency;
	uint64_t way = l2_look_up(soc, &caches->l2, at_l2, asked, ready);
	struct soc_directory *directory = soc_directory(soc, at_l2->tags, way);
	unsigned int part = part_of(soc, address);
	enum mimic_cache_state state = MIMIC_CACHE_EXCLUSIVE;

	/* Else no other core is the owner, and this one becomes it. */
	if (unlikely(directory->holders & ~core->bit))
		state = ask(soc, core, mimic_cache_line(&caches->l2, at_l2->tags, way), address, write,
			    ready);
	directory->holders |= core->bit;
	directory->parts |= 1u << part;
	if (write)
		state = MIMIC_CACHE_MODIFIED;
	if (mine) {
		unsigned int note = mine->note;

		mimic_cache_fill(&caches->coherent, mine, address, state, *ready);
		mine->note = note & 15;
	} else {
		struct mimic_cache_set set = mimic_cache_set_of(&caches->coherent, address);
		uint64_t order = *set.order;

		l1_evict(soc, core, caches, &set, order, refilled);
		mine = mimic_cache_replace(&caches->coherent, &set, order, state, *ready);
	}
	directory->part[part] = (struct soc_part){
		.owner = (uint8_t)(state == MIMIC_CACHE_SHARED ? 0 : core->index + 1),
		.way = (uint8_t)mimic_cache_way_of(&caches->coherent, mine),
	};
	if (unlikely(soc->droplet))
		soc_droplet_demand(soc, core->index, address, asked);
	return mine;
}

uint64_t soc_take_line(struct soc *soc, struct soc_core *core, struct mimic_cache_line *mine, uint64_t address, uint64_t now)
{
	struct caches caches = { .l1 = core->l1, .coherent = *core->coherent, .l2 = soc->l2 };
	struct mimic_cache_set at_l2 = mimic_cache_set_of(&caches.l2, address);
	uint64_t ready;

	miss(soc, core, &caches, mine, &at_l2, address, true, NULL, now, &ready);
	return ready;
}

/* --- a load that misses in the L1, by the caches behind it --------------------------------- */

static inline __attribute__((always_inline)) uint64_t from_l2(struct soc *soc, struct soc_core *core,
							      const struct caches *caches, uint64_t address,
							      uint64_t now)
{
	struct mimic_cache_set at_l2 = mimic_cache_set_of(&caches->l2, address);
	uint64_t ready;

	mimic_cache_prefetch_set(&caches->l2, &at_l2);
	miss(soc, core, caches, NULL, &at_l2, address, false, NULL, now, &ready);
	return ready;
}

/* `drops`: a line that leaves the L1.5 is dropped from the L1 even where it is replaced there at once. */
static inline __attribute__((always_inline)) uint64_t from_l15(struct soc *soc, struct soc_core *core,
							       const struct caches *caches, bool drops,
							       uint64_t address, uint64_t now)
{
	struct mimic_cache_set at_l2 = mimic_cache_set_of(&caches->l2, address);
	struct mimic_cache_set set = mimic_cache_set_of(&caches->l1, address);
	struct mimic_cache_line *line, *mine;
	uint64_t ready;

	mimic_cache_prefetch_set(&caches->l2, &at_l2);
	line = mimic_cache_find_any(&caches->coherent, address);
	if (!line) {
		line = miss(soc, core, caches, NULL, &at_l2, address, false, drops ? NULL : &set, now,
			    &ready);
	} else {
		core->counters.l15_hits++;
		ready = now + soc->parameters.l1_latency + soc->parameters.l15_latency;
		if (line->ready > ready)
			ready = line->ready;
	}
	/* The replaced line is written through already. */
	mine = mimic_cache_replace(&caches->l1, &set, *set.order, MIMIC_CACHE_SHARED, ready);
	line->note = mimic_cache_way_of(&caches->l1, mine) & 15;
	return ready;
}

static uint64_t from_any_l2(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now)
{
	struct caches caches = { .l1 = core->l1, .coherent = core->l1, .l2 = soc->l2 };

	return from_l2(soc, core, &caches, address, now);
}

static uint64_t from_any_l15(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now)
{
	struct caches caches = { .l1 = core->l1, .coherent = core->l15, .l2 = soc->l2 };

	return from_l15(soc, core, &caches, true, address, now);
}

static uint64_t from_usual_l2(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now)
{
	struct caches caches = {
		.l1 = mimic_cache_with_ways(&core->l1, USUAL_L1_WAYS),
		.coherent = mimic_cache_with_ways(&core->l1, USUAL_L1_WAYS),
		.l2 = mimic_cache_with_ways(&soc->l2, USUAL_L2_WAYS),
	};

	return from_l2(soc, core, &caches, address, now);
}

static uint64_t from_usual_l15(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now)
{
	struct caches caches = {
		.l1 = mimic_cache_with_ways(&core->l1, USUAL_L1_WAYS),
		.coherent = mimic_cache_with_ways(&core->l15, USUAL_L1_WAYS),
		.l2 = mimic_cache_with_ways(&soc->l2, USUAL_L2_WAYS),
	};

	return from_l15(soc, core, &caches, false, address, now);
}

void soc_choose_l1_miss(struct soc *soc, bool any)
{
	const struct sim_parameters *parameters = &soc->parameters;
	bool has_l15 = parameters->l15_size != 0;

	if (!any && parameters->l1_ways == USUAL_L1_WAYS && parameters->l2_ways == USUAL_L2_WAYS &&
	    (!has_l15 || parameters->l15_ways == USUAL_L1_WAYS))
		soc->l1_miss = has_l15 ? from_usual_l15 : from_usual_l2;
	else
		soc->l1_miss = has_l15 ? from_any_l15 : from_any_l2;
}

uint64_t soc_l2_access(struct soc *soc, uint64_t address, bool write, uint64_t now)
{
	struct mimic_cache_set set = mimic_cache_set_of(&soc->l2, address);
	uint64_t ready, way = l2_look_up(soc, &soc->l2, &set, now, &ready);
	struct mimic_cache_line *line = mimic_cache_line(&soc->l2, set.tags, way);
	uint64_t first = address & ~(soc->parameters.l2_line - 1);
	struct others others = ask_others(soc, soc_directory(soc, set.tags, way), NOBODY, first,
					  UINT32_MAX >> (32 - soc->parts), write);

	ready = forward(soc, line, &others, ready);
	if (write)
		line->state = MIMIC_CACHE_MODIFIED;
	return ready;
}

uint64_t soc_l2_prefetch(struct soc *soc, uint64_t address, uint64_t now)
{
	struct mimic_cache_line *line = mimic_cache_peek(&soc->l2, address);
	struct mimic_cache_set set;

	if (line)
		return line->ready > now ? line->ready : now;
	soc->counters.prefetched++;
	set = mimic_cache_set_of(&soc->l2, address);
	return mimic_cache_line(&soc->l2, set.tags, l2_fill(soc, &set, now))->ready;
}

/* Is it, or a part of it in an L1, not yet written to memory? */
static bool is_dirty(const struct soc *soc, const struct mimic_cache_line *line)
{
	const struct soc_directory *directory = soc_directory_of(soc, line);
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
