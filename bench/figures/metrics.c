/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <math.h>

#include "bench/figures/figures.h"

double metric_latency(const struct result *result)
{
	const struct soc_core_counters *cores = &result->point.cores;

	return result->is_there && cores->loads ? (double)cores->load_cycles / (double)cores->loads : 0;
}

static double share_of(double hits, double misses)
{
	return hits + misses > 0 ? hits / (hits + misses) : 0;
}

static double value_of(const struct result *result, enum metric metric)
{
	const struct sim_point *point = &result->point;

	switch (metric) {
	case CYCLES:
		return (double)point->cycles;
	case LOADS:
		return (double)point->cores.loads;
	case LATENCY:
		return metric_latency(result);
	case BOOKKEEPING:
		/* An access is one instruction, and an atomic a load and a store: hence not below 0. */
		return fmax(0, (double)point->cores.instructions - (double)point->cores.loads -
			       (double)point->cores.stores - (double)point->cores.mmio_stores);
	case L1_SHARE:
		return share_of((double)point->cores.l1_hits, (double)point->cores.l1_misses);
	}
	return 0;
}

/* 0: one of the two is not there. */
static double set_ratio(const struct runs *runs, const struct data_set *set, enum metric metric, const char *above,
			const char *below)
{
	const struct result *a = runs_result(runs, set, above), *b = runs_result(runs, set, below);

	if (!a || !b || !a->is_there || !b->is_there || value_of(b, metric) == 0)
		return 0;
	return value_of(a, metric) / value_of(b, metric);
}

static bool counts(const struct runs *runs, const struct data_set *set, enum kernel kernel)
{
	return set->kernel == kernel && (set->is_in_means || runs->is_all);
}

double metric_ratio(const struct runs *runs, enum kernel kernel, enum metric metric, const char *above,
		    const char *below)
{
	double sum = 0;
	unsigned int count = 0;

	for (size_t i = 0; i < runs->set_count; i++) {
		double ratio;

		if (!counts(runs, &runs->sets[i], kernel))
			continue;
		ratio = set_ratio(runs, &runs->sets[i], metric, above, below);
		/* Sweeps have no points of data sets that are in no mean. */
		if (ratio <= 0 && !runs->sets[i].is_in_means)
			continue;
		if (ratio <= 0)
			return 0;
		sum += log(ratio);
		count++;
	}
	return count ? exp(sum / count) : 0;
}

double metric_mean(const struct runs *runs, unsigned int kernels, enum metric metric, const char *above,
		   const char *below)
{
	double sum = 0;
	unsigned int count = 0;

	for (unsigned int kernel = 0; kernel < KERNELS; kernel++) {
		double ratio;

		if (!(kernels >> kernel & 1))
			continue;
		ratio = metric_ratio(runs, (enum kernel)kernel, metric, above, below);
		if (ratio <= 0)
			return 0;
		sum += log(ratio);
		count++;
	}
	return count ? exp(sum / count) : 0;
}

double metric_best(const struct runs *runs, enum kernel kernel, const char *above, const char *below)
{
	double best = 0;

	for (size_t i = 0; i < runs->set_count; i++) {
		if (counts(runs, &runs->sets[i], kernel))
			best = fmax(best, set_ratio(runs, &runs->sets[i], CYCLES, above, below));
	}
	return best;
}

double metric_l1_share(const struct runs *runs, enum kernel kernel, const char *system)
{
	double hits = 0, misses = 0;

	for (size_t i = 0; i < runs->set_count; i++) {
		const struct result *result = runs_result(runs, &runs->sets[i], system);

		if (!counts(runs, &runs->sets[i], kernel))
			continue;
		if (!result || !result->is_there)
			return 0;
		hits += (double)result->point.cores.l1_hits;
		misses += (double)result->point.cores.l1_misses;
	}
	return share_of(hits, misses);
}
