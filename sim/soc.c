/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "sim/soc_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int build_core(struct soc *soc, unsigned int index)
{
	const struct sim_parameters *parameters = &soc->parameters;
	struct soc_core *core = &soc->core[index];
	int status = 0;

	core->index = index;
	core->bit = 1ull << index;
	soc_translation_init(soc, core);
	core->coherent = parameters->l15_size ? &core->l15 : &core->l1;
	if (parameters->l15_size)
		status = mimic_cache_init(&core->l15, parameters->l15_size, parameters->l15_ways, parameters->l1_line);
	if (status)
		return status;
	return mimic_cache_init(&core->l1, parameters->l1_size, parameters->l1_ways, parameters->l1_line);
}

static int build(struct soc *soc)
{
	const struct sim_parameters *parameters = &soc->parameters;
	int status = mimic_cache_init(&soc->l2, parameters->l2_size, parameters->l2_ways, parameters->l2_line);

	if (!status) {
		size_t lines = (soc->l2.set_mask + 1) * soc->l2.room;

		soc->parts = (unsigned int)(parameters->l2_line / parameters->l1_line);
		while (1u << soc->directory_shift < offsetof(struct soc_directory, part) + soc->parts * sizeof(struct soc_part))
			soc->directory_shift++;
		soc->directory = calloc(lines, 1ul << soc->directory_shift);
		status = soc->directory ? 0 : -ENOMEM;
	}
	if (!status)
		status = mimic_slots_init(&soc->mshrs, (unsigned int)parameters->l2_mshrs);
	if (!status)
		status = mimic_page_table_init(&soc->page_table);
	for (unsigned int i = 0; i < soc->devices && !status; i++)
		status = mimic_cache_init(&soc->walk_caches[i], parameters->l1_size, parameters->l1_ways, parameters->l1_line);
	for (unsigned int i = 0; i < soc->cores && !status; i++)
		status = build_core(soc, i);
	mimic_dram_init(&soc->dram, parameters->dram_latency, parameters->dram_gap);
	return status;
}

struct soc *soc_create(const struct sim_parameters *parameters)
{
	struct soc *soc;
	char why[160];
	int status;

	if (sim_parameters_check(parameters, why, sizeof(why))) {
		errno = EINVAL;
		return NULL;
	}
	soc = aligned_alloc(HOST_LINE, sizeof(*soc));
	if (!soc)
		return NULL;
	memset(soc, 0, sizeof(*soc));
	soc->parameters = *parameters;
	soc->way = sim_parameters_way(parameters);
	soc->write_latency = parameters->l15_size ? parameters->l15_latency : parameters->l1_latency;
	soc->pipelined = parameters->core_pipelined_hits ? parameters->l1_latency : 0;
	soc->hit_ready = soc->pipelined ? 1 : parameters->l1_latency;
	soc->hit_clock = parameters->core_stall_on_use ? 1 : soc->hit_ready;
	soc->cores = (unsigned int)parameters->core_count;
	soc->devices = sim_parameters_devices(parameters);
	soc->next_event = UINT64_MAX;
	soc_choose_l1_miss(soc, false);
	soc_earliest_init(&soc->storing, soc->cores);
	status = build(soc);
	if (!status)
		return soc;
	soc_destroy(soc);
	errno = -status;
	return NULL;
}

void soc_destroy(struct soc *soc)
{
	if (!soc)
		return;
	for (unsigned int i = 0; i < soc->cores; i++) {
		mimic_cache_free(&soc->core[i].l1);
		mimic_cache_free(&soc->core[i].l15);
	}
	mimic_cache_free(&soc->l2);
	free(soc->directory);
	mimic_slots_free(&soc->mshrs);
	mimic_page_table_free(&soc->page_table);
	for (unsigned int i = 0; i < soc->devices; i++)
		mimic_cache_free(&soc->walk_caches[i]);
	soc_droplet_free(soc->droplet);
	free(soc);
}

void soc_schedule(struct soc *soc)
{
	uint64_t prefetch = soc_prefetch_next(soc), store = soc_earliest_time(&soc->storing);

	soc->next_event = store < prefetch ? store : prefetch;
}

void soc_run_events(struct soc *soc, uint64_t now)
{
	while (soc->next_event <= now && soc->next_event != UINT64_MAX) {
		uint64_t when = soc->next_event;

		if (when > soc->now)
			soc->now = when;
		/* Stores come before prefetches. */
		if (soc_earliest_time(&soc->storing) <= when)
			soc_store_buffer_begin(soc, &soc->core[soc_earliest_number(&soc->storing)], when);
		else
			soc_prefetch_begin(soc, when);
		soc_schedule(soc);
	}
}

uint64_t soc_device_read_memory(struct soc *soc, uint64_t address, unsigned int size, uint64_t now)
{
	uint64_t line = soc->parameters.l2_line, last = address + (size ? size - 1 : 0), ready = now;

	soc_catch_up(soc, now);
	mimic_dram_forget(&soc->dram, now);
	for (uint64_t at = address & ~(line - 1); at <= last; at += line) {
		ready = mimic_dram_transfer(&soc->dram, now);
		soc->counters.dram_lines++;
	}
	return ready;
}

static uint64_t access_l2(struct soc *soc, uint64_t address, unsigned int size, bool write, uint64_t now)
{
	uint64_t line = soc->parameters.l2_line, end = address + (size ? size : 1), last = now;

	soc_catch_up(soc, now);
	for (uint64_t at = address & ~(line - 1); at < end; at += line) {
		uint64_t ready = soc_l2_access(soc, at, write, now);

		if (ready > last)
			last = ready;
	}
	return last;
}

uint64_t soc_device_read_l2(struct soc *soc, uint64_t address, unsigned int size, uint64_t now)
{
	return access_l2(soc, address, size, false, now);
}

uint64_t soc_device_write(struct soc *soc, uint64_t address, unsigned int size, uint64_t now)
{
	return access_l2(soc, address, size, true, now);
}

void soc_device_prefetch(struct soc *soc, uint64_t address, uint64_t now)
{
	soc_catch_up(soc, now);
	soc_prefetch_add(soc, address, now + soc->parameters.l2_latency, false);
}

void soc_core_counters(const struct soc *soc, unsigned int core, struct soc_core_counters *counters)
{
	uint64_t quick = soc->core[core].quick_loads;

	*counters = soc->core[core].counters;
	counters->instructions += quick;
	counters->loads += quick;
	counters->l1_hits += quick;
	counters->load_cycles += quick * soc->parameters.l1_latency;
	counters->load_stalls += quick * (soc->hit_clock - 1);
}

void soc_counters(const struct soc *soc, struct soc_counters *counters)
{
	*counters = soc->counters;
}
