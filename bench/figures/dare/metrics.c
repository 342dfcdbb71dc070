/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <math.h>

#include "bench/figures/dare/dare.h"

double dare_cycles(const struct dare_result *result)
{
	return result->cycles;
}

double dare_energy(const struct dare_result *result)
{
	return result->energy;
}

double dare_energy_delay(const struct dare_result *result)
{
	return dare_energy(result) * dare_cycles(result);
}

double dare_latency(const struct dare_result *result)
{
	return result->since_issue / result->demanded;
}

double dare_ratio(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block, dare_metric *metric,
		  const char *above, const char *below)
{
	const struct dare_result *a = dare_results(runs, above, kernel, block);
	const struct dare_result *b = dare_results(runs, below, kernel, block);
	unsigned int count = 0;
	double sum = 0;

	for (size_t set = 0; a && b && set < runs->set_count; set++) {
		if (a[set].is_there != b[set].is_there)
			return 0;
		if (!a[set].is_there)
			continue;
		if (metric(&b[set]) <= 0)
			return 0;
		sum += log(metric(&a[set]) / metric(&b[set]));
		count++;
	}
	return count ? exp(sum / count) : 0;
}

double dare_speedup(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block, const char *system)
{
	return dare_ratio(runs, kernel, block, dare_cycles, "base", system);
}

const char *dare_chosen(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block)
{
	return dare_speedup(runs, kernel, block, "full") > dare_speedup(runs, kernel, block, "fre") ? "full" : "fre";
}

double dare_best_filling(const struct dare_runs *runs, enum dare_kernel kernel, const char *above, const char *below)
{
	const struct dare_result *a = dare_results(runs, above, kernel, B1), *b = dare_results(runs, below, kernel, B1);
	double best = 0;

	for (size_t set = 0; a && b && set < runs->set_count; set++) {
		if (a[set].is_there && b[set].is_there)
			best = fmax(best, a[set].macs / a[set].mma / (b[set].macs / b[set].mma));
	}
	return best;
}

double dare_mean_cycles(const struct dare_runs *runs, const char *system, enum dare_kernel kernel, enum dare_block block)
{
	const struct dare_result *results = dare_results(runs, system, kernel, block);
	unsigned int count = 0;
	double sum = 0;

	for (size_t set = 0; results && set < runs->set_count; set++) {
		if (results[set].is_there) {
			sum += log(results[set].cycles);
			count++;
		}
	}
	return count ? exp(sum / count) : 0;
}
