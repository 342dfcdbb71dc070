/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/dare/streams/measure.h"

#include <stddef.h>
#include <time.h>

#include <mimic/sim.h>

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t now_cycles(void)
{
	return mimic_sim_cycles ? mimic_sim_cycles() : 0;
}

void measure_begin(struct measure *measure, const char *phase)
{
	if (mimic_sim_phase_begin)
		mimic_sim_phase_begin(phase);
	measure->cycles = now_cycles();
	measure->seconds = now_seconds();
}

void measure_end(struct measure *measure)
{
	measure->seconds = now_seconds() - measure->seconds;
	measure->cycles = now_cycles() - measure->cycles;
	if (mimic_sim_phase_end)
		mimic_sim_phase_end();
}
