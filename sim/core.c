/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A core. An access begins when the data of the load before is there. Until then the core stalls;
 * with core.stall_on_use it executes other instructions.
 */
#include "sim/core_inline.h"

/* Answers a load from the core's own stores, and returns when its data is there. 0: the caches have to answer. */
static uint64_t load_stored(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size, uint64_t now)
{
	switch (soc_store_buffer_match(core, address, size, now)) {
	case STORE_COVERS:
		core->counters.l1_hits++;
		return now + soc->parameters.l1_latency;
	case STORE_OVERLAPS:
		soc_store_buffer_finish(soc, core);
		break;
	case STORE_NONE:
		break;
	}
	return 0;
}

/* Data of the line comes later, or is in no cache yet. */
static inline uint64_t load_late(struct soc *soc, struct soc_core *core, struct mimic_cache_line *line, uint64_t address,
			  unsigned int size, uint64_t now)
{
	uint64_t hit = now + soc->parameters.l1_latency;

	if (!store_buffer_is_empty(core, now)) {
		uint64_t stored = load_stored(soc, core, address, size, now);

		if (stored)
			return stored;
		line = mimic_cache_peek(&core->l1, address);
	}
	if (line) {
		core->counters.l1_hits++;
		return line->ready > hit ? line->ready : hit;
	}
	core->counters.l1_misses++;
	return soc_l1_miss(soc, core, address, now);
}

static inline uint64_t load_in_line(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size,
				    uint64_t now)
{
	struct mimic_cache_line *line = mimic_cache_find(&core->l1, address);
	uint64_t hit = now + soc->parameters.l1_latency;

	if (unlikely(!line || line->ready > hit))
		return load_late(soc, core, line, address, size, now);
	core->counters.l1_hits++;
	return hit;
}

/* The bytes of [address, address + size) in the line of its first byte. */
static inline unsigned int within_line(const struct soc *soc, uint64_t address, unsigned int size)
{
	uint64_t left = soc->parameters.l1_line - (address & (soc->parameters.l1_line - 1));

	return size <= left ? size : (unsigned int)left;
}

/* All lines of [address, address + size). When the last one's data is there. */
static uint64_t load_lines(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size, uint64_t now)
{
	uint64_t last = now;

	while (size) {
		unsigned int part = within_line(soc, address, size);
		uint64_t ready = load_in_line(soc, core, address, part, now);

		if (ready > last)
			last = ready;
		address += part;
		size -= part;
	}
	return last;
}

bool soc_load_slowly(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size)
{
	uint64_t now;

	if (!core_has_pages(soc, core, address, size, true))
		return false;
	now = core_begin_access(soc, core);
	core_end_memory_load(soc, core, now, load_lines(soc, core, address, size, now));
	return true;
}

bool soc_load_across(struct soc *soc, unsigned int number, const struct soc_parts *parts)
{
	struct soc_core *core = &soc->core[number];
	uint64_t now, first, second;

	if (!core_has_page(soc, core, parts->first, true) || !core_has_page(soc, core, parts->second, true))
		return false;
	now = core_begin_access(soc, core);
	first = load_lines(soc, core, parts->first, parts->first_size, now);
	second = load_lines(soc, core, parts->second, parts->second_size, now);
	core_end_memory_load(soc, core, now, first > second ? first : second);
	return true;
}

void soc_load_behind(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size)
{
	struct mimic_cache_line *line = mimic_cache_find_any(&core->l1, address);
	uint64_t now = core->clock, hit = now + soc->parameters.l1_latency;

	if (line && line->ready <= hit) {
		core->counters.instructions++;
		core->counters.l1_hits++;
		core_end_memory_load(soc, core, now, hit);
		return;
	}
	soc->now = now;
	core->counters.instructions++;
	core_end_memory_load(soc, core, now, load_late(soc, core, line, address, size, now));
}

bool soc_load(struct soc *soc, unsigned int number, uint64_t address, unsigned int size)
{
	return core_load(soc, &soc->core[number], address, size);
}

static void store_lines(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size)
{
	while (size) {
		unsigned int part = within_line(soc, address, size);

		soc_store_buffer_add(soc, core, address, part);
		address += part;
		size -= part;
	}
}

__attribute__((noinline))
static void store_slowly(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size)
{
	core_begin_access(soc, core);
	store_lines(soc, core, address, size);
	core->clock++;
}

bool soc_store_across(struct soc *soc, unsigned int number, const struct soc_parts *parts)
{
	struct soc_core *core = &soc->core[number];

	if (!core_has_page(soc, core, parts->first, false) || !core_has_page(soc, core, parts->second, false))
		return false;
	core_begin_access(soc, core);
	core->counters.stores++;
	store_lines(soc, core, parts->first, parts->first_size);
	store_lines(soc, core, parts->second, parts->second_size);
	core->clock++;
	return true;
}

bool soc_store(struct soc *soc, unsigned int number, uint64_t address, unsigned int size)
{
	struct soc_core *core = &soc->core[number];
	struct mimic_cache_line *line;

	if (!core_has_pages(soc, core, address, size, false))
		return false;
	core_wait_for_data(core);
	core->counters.stores++;
	line = mimic_cache_peek(core->coherent, address);
	/* With nothing before it, a store that hits need not wait in the buffer. */
	if (unlikely(!line || line->state < MIMIC_CACHE_EXCLUSIVE || line->ready > core->clock ||
		     !store_buffer_is_empty(core, core->clock) || core->clock >= soc->next_event ||
		     within_line(soc, address, size) != size)) {
		store_slowly(soc, core, address, size);
		return true;
	}
	mimic_cache_use(core->coherent, line);
	line->state = MIMIC_CACHE_MODIFIED;
	core->counters.instructions++;
	core->counters.l1_hits++;
	core->clock++;
	return true;
}

/* The core's stores come first, then it has the line for itself. */
static void atomic_in_page(struct soc *soc, struct soc_core *core, uint64_t address)
{
	uint64_t begun = core_begin_access(soc, core), now = begun, ready;
	uint64_t stored = soc_store_buffer_finish(soc, core);
	struct mimic_cache_line *line;

	if (stored > now)
		now = stored;
	ready = now + soc->parameters.l1_latency;
	if (core->coherent != &core->l1)
		ready += soc->parameters.l15_latency;
	line = mimic_cache_find(core->coherent, address);
	if (line && line->state >= MIMIC_CACHE_EXCLUSIVE) {
		core->counters.l1_hits++;
		line->state = MIMIC_CACHE_MODIFIED;
		if (line->ready > ready)
			ready = line->ready;
	} else {
		core->counters.l1_misses++;
		ready = soc_take_line(soc, core, line, address, now);
	}
	core->counters.stores++;
	core_end_load(soc, core, begun, ready, ready, false);
	core_wait_for_data(core);
}

bool soc_atomic(struct soc *soc, unsigned int number, uint64_t address, unsigned int size)
{
	struct soc_core *core = &soc->core[number];

	if (!core_has_pages(soc, core, address, size, true))
		return false;
	atomic_in_page(soc, core, address);
	return true;
}

/* A prefetch with a queue entry of its own, for which it waits. */
static void prefetch_in_place(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now)
{
	uint64_t *place = &core->prefetch_end[core->prefetches % soc->parameters.core_prefetches];
	bool is_there = mimic_cache_peek(&core->l1, address) != NULL;

	if (!is_there && *place > now) {
		core->counters.load_stalls += *place - now;
		now = *place;
	}
	core->counters.loads++;
	core->clock = now + 1;
	if (is_there) {
		core->counters.load_cycles += load_in_line(soc, core, address, 1, now) - now;
		return;
	}
	core->counters.l1_misses++;
	*place = soc_l1_miss(soc, core, address, now);
	core->counters.load_cycles += *place - now;
	core->prefetches++;
}

/* One whose page is not in the TLB walks as a load does: where prefetches are loads into x0, they are loads. */
bool soc_prefetch(struct soc *soc, unsigned int number, uint64_t address)
{
	struct soc_core *core = &soc->core[number];
	uint64_t now;

	if (!core_has_page(soc, core, address, true))
		return false;
	now = core_begin_access(soc, core);
	core->counters.prefetches++;
	if (soc->parameters.core_prefetches)
		prefetch_in_place(soc, core, address, now);
	else
		core_end_memory_load(soc, core, now, load_in_line(soc, core, address, 1, now));
	return true;
}

void soc_execute(struct soc *soc, unsigned int core, uint64_t instructions)
{
	core_execute(soc, &soc->core[core], instructions);
}

void soc_execute_longer(struct soc *soc, unsigned int core, uint64_t cycles)
{
	core_execute_longer(soc, &soc->core[core], cycles);
}

uint64_t soc_now(const struct soc *soc, unsigned int core)
{
	return core_now(&soc->core[core]);
}

void soc_sleep_until(struct soc *soc, unsigned int number, uint64_t time)
{
	struct soc_core *core = &soc->core[number];

	core_wait_for_data(core);
	if (time <= core->clock)
		return;
	core->counters.sleeps += time - core->clock;
	core->clock = time;
}
