/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What each access needs, for a caller that makes some 20 million of them a second: the hooks of the run-time.
 * sim/soc.h has the same as functions, and says what they do.
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
	struct mimic_cache_line *line;
	uint64_t hit;

	if (!core_has_page(soc, core, address, true))
		return false;
	core_wait_for_data(core);
	if (unlikely(core->clock >= soc->next_event || !core_is_in_line(soc, address, size)))
		return soc_load_slowly(soc, core, address, size);
	line = mimic_cache_find(&core->l1, address);
	hit = core->clock + soc->parameters.l1_latency;
	if (!line || line->ready > hit) {
		soc_load_that_waits(soc, core, line, address, size);
		return true;
	}
	core->counters.instructions++;
	core->counters.l1_hits++;
	core_end_memory_load(soc, core, core->clock, hit);
	return true;
}

#endif
