/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The counters of each interval of so many cycles (mimic sim --interval). */
#include <string.h>

#include "sim/runtime/internal.h"

static struct sim_phase begin;		/* of the open interval */
static uint64_t first;			/* when the first one began */

static char *array(void)
{
	return (char *)sim.setup + sim.setup->intervals;
}

static void add_cores(struct soc_core_counters *sum, const struct sim_phase *counted)
{
	for (unsigned int core = 0; core < sim.cores; core++) {
#define _(name, meaning) sum->name += counted->cores[core].counters.name;
		SOC_CORE_COUNTERS(_)
#undef _
	}
}

static void write_down(struct sim_interval *interval, const struct sim_phase *end)
{
	static struct sim_phase counted;

	memset(&counted, 0, sim_phase_size());
	sim_phases_add(&counted, &begin, end);
	interval->begin = begin.cycles - first;
	interval->cycles = counted.cycles;
	add_cores(&interval->cores, &counted);
	interval->soc = counted.soc;
	memcpy(interval->devices, counted.devices, sim.device_count * sizeof(interval->devices[0]));
}

static void end_interval(uint64_t now)
{
	static struct sim_phase end;

	sim_phases_look(&end, now);
	write_down((struct sim_interval *)(array() + sim.setup->interval_count++ * sim.setup->interval_size), &end);
	memcpy(&begin, &end, sim_phase_size());
}

static uint64_t next_after(uint64_t now)
{
	return now < SIM_NEVER - sim.setup->interval ? now + sim.setup->interval : SIM_NEVER;
}

void sim_intervals_begin(uint64_t now)
{
	sim.next_interval = SIM_NEVER;
	if (!sim.setup->interval)
		return;
	memset(array(), 0, sim.setup->interval_count * sim.setup->interval_size);
	sim.setup->interval_count = 0;
	sim.setup->lost_intervals = 0;
	first = now;
	sim_phases_look(&begin, now);
	sim.next_interval = next_after(now);
}

void sim_intervals_reach(uint64_t now)
{
	while (now >= sim.next_interval && sim.setup->interval_count < SIM_INTERVALS) {
		end_interval(sim.next_interval);
		sim.next_interval = next_after(sim.next_interval);
	}
	if (sim.setup->interval_count == SIM_INTERVALS)
		sim.next_interval = SIM_NEVER;
}

void sim_intervals_end(uint64_t now)
{
	if (!sim.setup->interval)
		return;
	if (now >= sim.next_interval)
		sim_intervals_reach(now);
	if (now <= begin.cycles)
		return;
	if (sim.setup->interval_count < SIM_INTERVALS)
		end_interval(now);
	else
		sim.setup->lost_intervals = (now - begin.cycles - 1) / sim.setup->interval + 1;
}
