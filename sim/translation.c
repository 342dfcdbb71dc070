/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A core's data TLB, its walks of the page table, and those of a device. A walk reads one entry in each of the
 * three tables through the core's own L1, one after the other, as CVA6's page-table walker
 * does (core/cva6_mmu in its source: the walker is a port of the data cache). The core does
 * nothing meanwhile (assumption).
 *
 * The program's pages count as lying in its address space in the order of their frames,
 * so that an address is its own translation here: only the time of the translation is modelled.
 */
#include "sim/soc_internal.h"

_Static_assert(MIMIC_PAGE_TABLE_LEVELS == 3, "walk() has a case for each");

#define PAGE_MASK (~((1ull << MIMIC_TLB_PAGE_SHIFT) - 1))
#define UPPER_SHIFT \
	(MIMIC_TLB_PAGE_SHIFT + MIMIC_PAGE_TABLE_INDEX_BITS) /* the range of a table of the last level */
#define LEAF_MASK (((1ull << MIMIC_PAGE_TABLE_INDEX_BITS) - 1) * MIMIC_PAGE_TABLE_ENTRY)

/* Reads an entry at the core's clock, which moves on to when its data is there. false: it came from behind the L1. */
static inline __attribute__((always_inline)) bool read_entry(struct soc *soc, struct soc_core *core, uint64_t entry,
							     bool is_any)
{
	struct mimic_cache_line *line;
	uint64_t now = core->clock, hit = now + soc->parameters.l1_latency;

	soc_catch_up(soc, now);
	line = is_any ? mimic_cache_find_any(&core->l1, entry) : mimic_cache_find(&core->l1, entry);
	if (line) {
		core->clock = line->ready > hit ? line->ready : hit;
		return core->clock == hit;
	}
	core->counters.walk_misses++;
	core->clock = soc_l1_miss(soc, core, entry, now);
	return false;
}

static inline __attribute__((always_inline)) bool read_level(struct soc *soc, struct soc_core *core, uint64_t page,
							     unsigned int level)
{
	core->walk_left = level;
	/* Of the last level there are many lines. */
	return read_entry(soc, core, mimic_page_table_entry(&soc->page_table, page, level), level == 0);
}

static struct soc_upper_levels *upper_levels(struct soc_core *core, uint64_t page)
{
	return &core->upper[(page >> UPPER_SHIFT) % SOC_UPPER_LEVELS];
}

/* A walk of this page is over: its tables have places. */
static void remember_upper_levels(struct soc *soc, struct soc_core *core, uint64_t page)
{
	struct soc_upper_levels *upper = upper_levels(core, page);

	if (upper->above == page >> UPPER_SHIFT)
		return;
	upper->above = page >> UPPER_SHIFT;
	upper->leaf = mimic_page_table_entry(&soc->page_table, page >> UPPER_SHIFT << UPPER_SHIFT, 0);
	upper->root = mimic_cache_set_of(&core->l1, mimic_page_table_entry(&soc->page_table, page, 2));
	upper->middle = mimic_cache_set_of(&core->l1, mimic_page_table_entry(&soc->page_table, page, 1));
}

/*
 * Whether two reads, of the root's entry and then of the middle one's, both hit and leave the L1 as it is:
 * each is the latest used one of its set, or they are the latest two of one set, which then have the same
 * order again. Their data is there: only walks read these lines, and the one that fetched them has waited for
 * it.
 */
static inline bool upper_levels_hit(const struct soc_upper_levels *upper)
{
	const struct mimic_cache_set *root = &upper->root, *middle = &upper->middle;
	bool is_one_set = root->order == middle->order && root->number != middle->number;

	return root->tags[*root->order >> (is_one_set ? 4 : 0) & 15] == root->number &&
	       middle->tags[*middle->order & 15] == middle->number;
}

static inline void count_walk(struct soc_core *core, uint64_t begun, bool is_load)
{
	core->counters.walk_cycles += core->clock - begun;
	if (is_load)
		core->counters.load_cycles += core->clock - begun;
}

static inline void fill_tlb(struct soc_core *core, uint64_t page)
{
	core->counters.walks++;
	soc_tlb_fill(&core->tlb, page);
	core->page = page;
}

/* Begins a walk, in the fastest case. false: another case; no state has changed. */
static inline bool walk_quickly(struct soc *soc, struct soc_core *core, uint64_t page, bool is_load)
{
	const struct soc_upper_levels *upper = upper_levels(core, page);
	uint64_t begun = core->clock;

	if (upper->above != page >> UPPER_SHIFT || begun + soc->parameters.l1_latency >= soc->next_event ||
	    !upper_levels_hit(upper))
		return false;
	core->clock += 2 * soc->parameters.l1_latency;
	core->walk_left = 0;
	read_entry(soc, core, upper->leaf + (page >> (MIMIC_TLB_PAGE_SHIFT - 3) & LEAF_MASK), true);
	count_walk(core, begun, is_load);
	fill_tlb(core, page);
	return true;
}

/*
 * The next reads of the walk: up to one that takes longer than a hit, because others
 * go on meanwhile; a hit affects no other core. The last read fills the TLB.
 */
__attribute__((noinline))
static void walk(struct soc *soc, struct soc_core *core, bool is_load)
{
	uint64_t page = core->walk_page, begun = core->clock;

	/* Each level by its number, which the compiler then knows. */
	switch (core->walk_left) {
	case 3:
		if (!read_level(soc, core, page, 2))
			break;
		/* fall through */
	case 2:
		if (!read_level(soc, core, page, 1))
			break;
		/* fall through */
	default:
		read_level(soc, core, page, 0);
	}
	count_walk(core, begun, is_load);
	if (core->walk_left)
		return;
	fill_tlb(core, page);
	remember_upper_levels(soc, core, page);
}

bool soc_translate(struct soc *soc, struct soc_core *core, uint64_t address, bool is_load)
{
	uint64_t page = address & PAGE_MASK;

	/* While a walk is on its way, no other one of this core has filled its page in. */
	if (soc_tlb_hits(&core->tlb, address)) {
		core->page = page;
		return true;
	}
	core_wait_for_data(core);
	if (!core->walk_left || core->walk_page != page) {
		core->counters.tlb_misses++;
		core->walk_page = page;
		if (walk_quickly(soc, core, page, is_load))
			return false;
		core->walk_left = MIMIC_PAGE_TABLE_LEVELS;
	}
	walk(soc, core, is_load);
	return false;
}

void soc_translation_init(const struct soc *soc, struct soc_core *core)
{
	soc_tlb_init(&core->tlb, (unsigned int)soc->parameters.core_tlb_entries);
	core->page = PAGE_MASK;	/* no program has this one */
	core->page_mask = soc->parameters.core_translation ? PAGE_MASK : 0;
	for (unsigned int i = 0; i < SOC_UPPER_LEVELS; i++)
		core->upper[i].above = UINT64_MAX;
}

/* --- a device's walker --------------------------------------------------------------- */

struct device_walk {
	struct soc *soc;
	struct mimic_cache *cache;
};

static uint64_t read_entry_of_device(void *context, uint64_t entry, uint64_t now)
{
	const struct device_walk *walk = context;
	struct soc *soc = walk->soc;
	uint64_t latency = sim_parameters_walk_cache(&soc->parameters), hit = now + latency, ready;
	struct mimic_cache_line *line;

	if (!latency)
		return soc_l2_access(soc, entry, false, now);
	line = mimic_cache_find(walk->cache, entry);
	if (line)
		return line->ready > hit ? line->ready : hit;
	ready = soc_l2_access(soc, entry, false, hit);
	line = mimic_cache_victim(walk->cache, entry);
	mimic_cache_fill(walk->cache, line, entry, MIMIC_CACHE_SHARED, ready);
	return ready;
}

uint64_t soc_device_walk(struct soc *soc, unsigned int device, uint64_t address, uint64_t now)
{
	struct device_walk walk = { soc, &soc->walk_caches[device] };

	soc_catch_up(soc, now);
	return mimic_page_table_walk(&soc->page_table, address, now, read_entry_of_device, &walk);
}
