/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The functions of each access, for a caller that makes some 20 million of them a second: the hooks of the run-time.
 * sim/soc.h describes them, as functions.
 */
#ifndef MIMIC_SIM_CORE_INLINE_H
#define MIMIC_SIM_CORE_INLINE_H

#include "sim/soc_internal.h"

static inline uint64_t core_now(const struct soc_core *core)
{
	return core->ready > core->clock ? core->ready : core->clock;
}

static inline void core_execute(const struct soc *soc, struct soc_core *core, uint64_t instructions)
{
	instructions *= soc->parameters.core_instruction;
	core->clock += instructions;
	core->counters.instructions += instructions;
}

/* Of these instructions some take so many cycles more. */
static inline void core_execute_longer(const struct soc *soc, struct soc_core *core, uint64_t cycles)
{
	cycles *= soc->parameters.core_instruction;
	core->clock += cycles;
	core->counters.pipeline_stalls += cycles;
}

/* The core will access this address soon: prefetches the model's data for it into the host's caches. */
static inline void core_prefetch(const struct soc_core *core, uint64_t address)
{
	mimic_cache_prefetch(&core->l1, address);
	mimic_cache_prefetch(core->coherent, address);
	__builtin_prefetch(&core->tlb.page[core->tlb.guess[address >> MIMIC_TLB_PAGE_SHIFT & (SOC_TLB_GUESSES - 1)]]);
}

/* Does the access lie in one line of the L1? */
static inline bool core_is_in_line(const struct soc *soc, uint64_t address, unsigned int size)
{
	return (address & (soc->parameters.l1_line - 1)) + size <= soc->parameters.l1_line;
}

/* Behind a load of memory: where hits are pipelined, the next access does not wait for one. */
static inline void core_end_memory_load(struct soc *soc, struct soc_core *core, uint64_t begun, uint64_t ready)
{
	core_end_load(soc, core, begun, ready, ready - begun <= soc->pipelined ? begun + 1 : ready, false);
}

static inline bool core_load(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size)
{
	if (!core_has_page(soc, core, address, true))
		return false;
	core_wait_for_data(core);
	if (unlikely(core->clock >= soc->next_event || !core_is_in_line(soc, address, size)))
		return soc_load_slowly(soc, core, address, size);
	soc_load_behind(soc, core, address, size);
	return true;
}

/*
 * core_load() in two steps, for the most frequent case. First: an aligned word, its page in the TLB, and no
 * event before it. false: call core_load(); no state has changed that it would not change first.
 */
static inline bool core_load_begins_quickly(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size)
{
	if (unlikely((address ^ core->page) & core->page_mask)) {
		if (unlikely(!soc_tlb_hits_by_guess(&core->tlb, address)))
			return false;
		core->page = address & core->page_mask;
	}
	core_wait_for_data(core);
	return !unlikely(core->clock >= soc->next_event || address & (size - 1));
}

/* Then: its line is the latest used of its L1 set. false: call soc_load_behind(); no state has changed. */
static inline bool core_load_ends_quickly(struct soc *soc, struct soc_core *core, uint64_t address)
{
	uint64_t number = address >> core->l1.shift, set = number & core->l1.set_mask;
	uint64_t *tags = mimic_cache_tags(&core->l1, set), way = core->l1.orders[set] & 15;

	if (unlikely(tags[way] != number ||
		     mimic_cache_line(&core->l1, tags, way)->ready > core->clock + soc->parameters.l1_latency))
		return false;
	core->quick_loads++;
	core->ready = core->clock + soc->hit_ready;
	core->ready_is_mmio = false;
	core->clock += soc->hit_clock;
	return true;
}

#endif
