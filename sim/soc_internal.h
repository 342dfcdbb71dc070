/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Shared by the files of the SoC. soc.c makes it, core.c is a core,
 * store_buffer.c its stores, mmio.c its accesses to devices, memory.c the caches and the memory behind
 * them, translation.c the TLB, prefetch.c the queue of prefetches into the L2, droplet.c a prefetcher.
 */
#ifndef MIMIC_SIM_SOC_INTERNAL_H
#define MIMIC_SIM_SOC_INTERNAL_H

#include "devices/soc/cache.h"
#include "devices/soc/dram.h"
#include "devices/soc/page_table.h"
#include "devices/soc/slots.h"
#include "sim/earliest.h"
#include "sim/soc.h"
#include "sim/tlb.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

#define SOC_CORES_MAX SIM_CORES_MAX
#define STORE_BUFFER_MAX 64
#define PREFETCHES_MAX 64	/* software prefetches on their way */
#define PREFETCH_QUEUE 256
#define HOST_LINE 64		/* of the caches of the machine that runs this */

struct pending_store {
	uint64_t address;	/* within one line */
	unsigned int size;
	unsigned int bytes;	/* of its aligned 8 bytes, a bit each; 0: it reaches into the next ones */
	uint64_t entered;
	uint64_t retired;	/* of one that has begun: when its place is free */
};

/* Positions count up for ever: [first, begun) are at work, [begun, end) wait. */
struct store_buffer {
	uint64_t first, begun, end;
	uint64_t next_begin;	/* not before that */
	uint64_t last_retired;
	uint64_t misses;
	struct pending_store entry[STORE_BUFFER_MAX];
	uint64_t miss_end[STORE_BUFFER_MAX];	/* a ring of core.store_misses */
};

/*
 * Where a walk's entries lie of which the upper two were in the L1 when a page of the same 2 MiB was walked.
 * It stays true, because tables do not move. Whether the lines are there is checked each time.
 */
struct soc_upper_levels {
	uint64_t above;		/* the number of the 2 MiB; UINT64_MAX: none */
	uint64_t leaf;		/* where the entries of the last level begin */
	struct mimic_cache_set root, middle;	/* in the L1 */
};

#define SOC_UPPER_LEVELS 4 /* that a core remembers */

/*
 * Members are in the order of use. With many cores each core's state has left the host's caches when it
 * runs again: the members for most accesses lie at the front, in few lines.
 */
struct soc_core {
	uint64_t clock;		/* behind its latest instruction */
	uint64_t ready;		/* the data that its next access waits for */
	uint64_t page;		/* the latest one that was translated */
	uint64_t quick_loads;	/* that core_load_quickly() has made: soc_core_counters() counts them */
	uint64_t page_mask;	/* the bits of an address that are its page; 0: nothing is translated */
	struct mimic_cache *coherent;	/* the one of the two whose lines have the states of MESI, and that stores write to */
	/* The walk of the page table */
	uint64_t walk_page;
	unsigned int walk_left;	/* reads; 0: there is none */
	unsigned int index;
	uint64_t bit;		/* 1 << index */
	bool ready_is_mmio;
	struct mimic_cache l1;
	struct mimic_cache l15;	/* of lines that the L1 has, and others; without one it is empty */
	struct soc_core_counters counters;
	struct soc_tlb tlb;
	struct soc_upper_levels upper[SOC_UPPER_LEVELS];	/* by the low bits of `above` */
	struct store_buffer stores;
	uint64_t prefetch_end[PREFETCHES_MAX];	/* a ring of core.prefetches */
	uint64_t prefetches;
	/* MMIO */
	unsigned int posted;	/* buffered stores that have not ended */
	uint64_t posted_end;	/* when the latest one did */
	bool waits_for_posted;
} __attribute__((aligned(HOST_LINE)));

struct prefetch {
	uint64_t address, when;
	bool is_index;		/* of DROPLET's: elements follow it */
};

struct prefetch_queue {
	struct prefetch entry[PREFETCH_QUEUE];	/* ascending by `when` */
	unsigned int count;
	uint64_t not_before;	/* no MSHR is free until then */
};

struct droplet;

/* The directory: the state of a line of the L2 in the L1s. */
struct soc_directory {
	uint64_t holders;	/* the cores whose L1 may have a part of it, a bit each */
	uint32_t parts;		/* the parts that they may have, a bit each; of the others nothing is known here */
	struct soc_part {
		uint8_t owner;	/* the core that has it alone, + 1; 0: none */
		uint8_t way;	/* of the coherent cache of the core that took it in last */
	} part[];
};

struct soc {
	struct sim_parameters parameters;
	uint64_t (*l1_miss)(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now);
	struct sim_way way;
	uint64_t write_latency;	/* of a store to a line that its core has */
	uint64_t pipelined;	/* latency of a load whose data the next access does not wait for */
	uint64_t hit_clock, hit_ready;	/* how far a load that hits takes its core's clock, and the begin of the next access */
	uint64_t next_event;	/* the next event that no call begins; UINT64_MAX: none */
	uint64_t now;		/* of the latest call or event */
	unsigned int cores;
	struct soc_earliest storing;	/* when each core's next store that waits can begin */
	struct mimic_cache l2;
	unsigned int parts;	/* lines of an L1 in one of the L2 */
	char *directory;	/* of each line of the L2 a struct soc_directory and its parts: 2^directory_shift bytes */
	unsigned int directory_shift;
	struct mimic_slots mshrs;
	struct mimic_dram dram;
	struct soc_counters counters;
	struct prefetch_queue prefetches;
	struct mimic_page_table page_table;
	struct droplet *droplet;	/* NULL: nothing to watch */
	struct soc_core core[SOC_CORES_MAX];
	unsigned int devices;
	struct mimic_cache walk_caches[SIM_DEVICES_MAX];	/* of the devices' walkers; their lines are never dirty */
};

/* Of the line in this way of a set of the L2. */
static inline struct soc_directory *soc_directory(const struct soc *soc, const uint64_t *tags, uint64_t way)
{
	return (struct soc_directory *)(soc->directory +
					(mimic_cache_index(&soc->l2, tags, way) << soc->directory_shift));
}

/* The same of a line that is not empty. */
static inline struct soc_directory *soc_directory_of(const struct soc *soc,
						     const struct mimic_cache_line *line)
{
	const uint64_t *tags =
		mimic_cache_tags(&soc->l2, *mimic_cache_tag(&soc->l2, line) & soc->l2.set_mask);

	return soc_directory(soc, tags, mimic_cache_way_of(&soc->l2, line));
}

/* Runs all events up to `now`. */
void soc_run_events(struct soc *soc, uint64_t now);
void soc_schedule(struct soc *soc);

static inline void soc_catch_up(struct soc *soc, uint64_t now)
{
	if (unlikely(now >= soc->next_event))
		soc_run_events(soc, now);
	soc->now = now;
}

/* core.c */
static inline void core_wait_for_data(struct soc_core *core)
{
	uint64_t stall;

	if (core->ready <= core->clock)
		return;
	stall = core->ready - core->clock;
	if (core->ready_is_mmio)
		core->counters.mmio_stalls += stall;
	else
		core->counters.load_stalls += stall;
	core->clock = core->ready;
}

/* Any load, after the events up to then. false: see soc_load(). */
bool soc_load_slowly(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size);
/* A load within a line, after its translation, with no event before it. */
void soc_load_behind(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size);

/* When the next access, which is an instruction, begins. */
static inline uint64_t core_begin_access(struct soc *soc, struct soc_core *core)
{
	core_wait_for_data(core);
	soc_catch_up(soc, core->clock);
	core->counters.instructions++;
	return core->clock;
}

/* `ready`: its data is there; `next`: the next access may begin. */
static inline void core_end_load(struct soc *soc, struct soc_core *core, uint64_t begun, uint64_t ready, uint64_t next,
				 bool is_mmio)
{
	core->counters.loads++;
	core->counters.load_cycles += ready - begun;
	core->clock = begun + 1;
	core->ready = next;
	core->ready_is_mmio = is_mmio;
	if (!soc->parameters.core_stall_on_use)
		core_wait_for_data(core);
}

/* translation.c */
void soc_translation_init(const struct soc *soc, struct soc_core *core);
/* Is the page in the TLB? If not, its walk has made its next reads. */
bool soc_translate(struct soc *soc, struct soc_core *core, uint64_t address, bool is_load);

/* The same, where it is most often the page of the access before. */
static inline bool core_has_page(struct soc *soc, struct soc_core *core, uint64_t address, bool is_load)
{
	if (__builtin_expect(!((address ^ core->page) & core->page_mask), 1))
		return true;
	return soc_translate(soc, core, address, is_load);
}

/* Of an access that may reach into the next page. */
static inline bool core_has_pages(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size,
				  bool is_load)
{
	return core_has_page(soc, core, address, is_load) &&
	       core_has_page(soc, core, address + size - 1, is_load);
}

/* memory.c. The address is within one line of an L1, and not there. When the data is there. */
static inline uint64_t soc_l1_miss(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now)
{
	return soc->l1_miss(soc, core, address, now);
}

/* The functions for this SoC. `any`: the general ones, even if its caches have as many ways as presets. */
void soc_choose_l1_miss(struct soc *soc, bool any);
/* A line for a store: not in the core's coherent cache, or `mine`, shared. When the core may write it. */
uint64_t soc_take_line(struct soc *soc, struct soc_core *core, struct mimic_cache_line *mine, uint64_t address, uint64_t now);
/* The same for a requester without an L1. */
uint64_t soc_l2_access(struct soc *soc, uint64_t address, bool write, uint64_t now);
/* A line into the L2 at `now`; its MSHR is free. When it is there. */
uint64_t soc_l2_prefetch(struct soc *soc, uint64_t address, uint64_t now);

/* store_buffer.c */
/* A store within one line enters at the core's clock, which moves on if there is no room. */
void soc_store_buffer_add(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size);
void soc_store_buffer_begin(struct soc *soc, struct soc_core *core, uint64_t now);
/* Completes all stores, before their time if necessary. Returns when the last one retired. */
uint64_t soc_store_buffer_finish(struct soc *soc, struct soc_core *core);
enum store_match { STORE_NONE, STORE_COVERS, STORE_OVERLAPS };
/* Do stores that have not retired at `now` hold all, some or none of these bytes? */
enum store_match soc_store_buffer_match(const struct soc_core *core, uint64_t address, unsigned int size,
					uint64_t now);

static inline bool store_buffer_is_empty(const struct soc_core *core, uint64_t now)
{
	return core->stores.begun == core->stores.end && core->stores.last_retired <= now;
}

/* prefetch.c */
void soc_prefetch_add(struct soc *soc, uint64_t address, uint64_t when, bool is_index);
uint64_t soc_prefetch_next(const struct soc *soc);
void soc_prefetch_begin(struct soc *soc, uint64_t now);

/* droplet.c */
/* A core asked the L2 for this address at `now`. */
void soc_droplet_demand(struct soc *soc, unsigned int core, uint64_t address, uint64_t now);
/* A line of indices is in the L2 at `ready`. */
void soc_droplet_arrived(struct soc *soc, uint64_t address, uint64_t ready);
void soc_droplet_free(struct droplet *droplet);

#endif
