/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The L1 data cache of a core: banks side by side, written through, lines only allocated by loads, and in
 * the next way of a set in turn. A line on its way is a line that is there later.
 */
#include <errno.h>
#include <stdlib.h>

#include "devices/virgo/time/internal.h"

static unsigned int logarithm(uint64_t value)
{
	return 63u - (unsigned int)__builtin_clzll(value);
}

int virgo_time_l1_create(struct l1 *l1, const struct virgo_time_parameters *parameters)
{
	const uint64_t lines = parameters->dcache_size / parameters->dcache_line;

	l1->sets = (unsigned int)(lines / parameters->dcache_banks / parameters->dcache_ways);
	l1->line_shift = logarithm(parameters->dcache_line);
	l1->lines = calloc(lines, sizeof(*l1->lines));
	l1->next_way = calloc(lines / parameters->dcache_ways, 1);
	return l1->lines && l1->next_way ? 0 : -ENOMEM;
}

void virgo_time_l1_destroy(struct l1 *l1)
{
	free(l1->lines);
	free(l1->next_way);
}

unsigned int virgo_time_l1_bank(const struct core *core, uint64_t address)
{
	return (unsigned int)((address >> core->l1.line_shift) % parameters_of(core)->dcache_banks);
}

static unsigned int set_of(const struct core *core, uint64_t address)
{
	const struct l1 *l1 = &core->l1;
	const unsigned int banks = (unsigned int)parameters_of(core)->dcache_banks;

	return virgo_time_l1_bank(core, address) * l1->sets +
	       (unsigned int)((address >> l1->line_shift) / banks % l1->sets);
}

static struct l1_line *find(const struct core *core, unsigned int set, uint64_t tag)
{
	const unsigned int ways = (unsigned int)parameters_of(core)->dcache_ways;
	struct l1_line *line = &core->l1.lines[(size_t)set * ways];

	for (unsigned int way = 0; way < ways; way++)
		if (line[way].tag == tag)
			return &line[way];
	return NULL;
}

static unsigned int beats_of(const struct virgo_time_parameters *parameters)
{
	return (unsigned int)((parameters->dcache_line + parameters->bus_beat - 1) / parameters->bus_beat);
}

static uint64_t miss(struct core *core, unsigned int set, uint64_t tag, uint64_t address, uint64_t now)
{
	const struct virgo_time_parameters *parameters = parameters_of(core);
	struct l1 *l1 = &core->l1;
	uint64_t *mshr = l1->mshr[virgo_time_l1_bank(core, address)];
	struct l1_line *line;
	uint64_t back;

	if (!virgo_time_has_place(mshr, (unsigned int)parameters->dcache_mshrs, now))
		return NEVER;
	core->timing->statistics.l1_misses++;
	back = virgo_time_bus_read(core->timing, beats_of(parameters), now);
	virgo_time_reserve(mshr, (unsigned int)parameters->dcache_mshrs, now, back);
	line = &l1->lines[set * parameters->dcache_ways + l1->next_way[set]];
	*line = (struct l1_line){ .tag = tag, .ready = back };
	l1->next_way[set] = (uint8_t)((l1->next_way[set] + 1) % parameters->dcache_ways);
	return back;
}

uint64_t virgo_time_l1_load(struct core *core, uint64_t address, uint64_t now)
{
	const struct virgo_time_parameters *parameters = parameters_of(core);
	unsigned int set = set_of(core, address);
	uint64_t tag = (address >> core->l1.line_shift) + 1;
	const struct l1_line *line;
	uint64_t back;

	if (!parameters->dcache_enabled) {
		core->timing->statistics.l1_accesses++;
		core->timing->statistics.l1_misses++;
		return virgo_time_bus_read(core->timing, beats_of(parameters), now);
	}
	line = find(core, set, tag);
	if (line)
		back = later(line->ready, now + parameters->dcache_latency);
	else
		back = miss(core, set, tag, address, now);
	if (back != NEVER)
		core->timing->statistics.l1_accesses++;
	return back;
}

uint64_t virgo_time_l1_store(struct core *core, uint64_t address, uint64_t now)
{
	(void)address;
	core->timing->statistics.l1_accesses++;
	return virgo_time_bus_write(core->timing, 1, now);
}
