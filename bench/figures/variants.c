/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Runs that differ from others: on fewer data sets, or with other settings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/figures.h"

/* Points of at most so many seconds of a processor are run with warm caches, too. */
#define SECONDS_OF_WARM 0.3

int runs_small(struct runs *small, const struct runs *runs)
{
	unsigned int kernels = 0;

	*small = *runs;
	small->sets = calloc(KERNELS, sizeof(*small->sets));
	if (!small->sets)
		return figures_error("%s", strerror(ENOMEM));
	small->set_count = 0;
	for (size_t i = 0; i < runs->set_count; i++) {
		const struct data_set *set = &runs->sets[i];

		if (!set->is_for_nulls || kernels >> set->kernel & 1)
			continue;
		kernels |= 1u << set->kernel;
		small->sets[small->set_count] = *set;
		small->sets[small->set_count++].is_in_means = true;	/* there are no others */
	}
	for (unsigned int i = 0; i < KERNELS; i++) {
		if (!(kernels >> i & 1))
			return figures_error("datasets.csv: no data set of %s that is there is one for null models", kernel_names[i]);
	}
	return runs_allocate(small);
}

int runs_variant(struct runs *variant, const struct runs *base, const char *name, const char *settings,
		 const char *systems)
{
	size_t length = strlen(systems);

	*variant = *base;
	variant->name = name;
	variant->same = base;
	variant->systems = calloc(base->system_count, sizeof(*variant->systems));
	if (!variant->systems)
		return figures_error("%s", strerror(ENOMEM));
	/* Measured points run on F. */
	if (strncmp("F", systems, length) == 0)
		variant->settings = settings;
	for (size_t i = 0; i < base->system_count; i++) {
		const struct system *old = &base->systems[i];
		char *all;

		variant->systems[i] = *old;
		if (!*settings || strncmp(old->name, systems, length) != 0)
			continue;
		/* Of a key that comes twice the last one is taken. */
		if (asprintf(&all, "%s %s", old->settings, settings) < 0)
			return figures_error("%s", strerror(ENOMEM));
		variant->systems[i].settings = all;
	}
	return runs_allocate(variant);
}

static bool is_in_a_speedup(const struct system *system)
{
	for (size_t i = 0; i < SPEEDUPS; i++) {
		if (strcmp(system->name, speedups[i].before) == 0 || strcmp(system->name, speedups[i].after) == 0)
			return true;
	}
	return false;
}

int runs_warm(struct runs *warm, const struct runs *runs)
{
	*warm = *runs;
	warm->name = "warm-";
	warm->same = runs;	/* the measured runs */
	warm->sets = calloc(runs->set_count + 1, sizeof(*warm->sets));
	warm->systems = calloc(runs->system_count + 1, sizeof(*warm->systems));
	if (!warm->sets || !warm->systems)
		return figures_error("%s", strerror(ENOMEM));
	warm->set_count = warm->system_count = 0;
	for (size_t i = 0; i < runs->set_count; i++) {
		if (runs->sets[i].seconds <= SECONDS_OF_WARM)
			warm->sets[warm->set_count++] = runs->sets[i];
	}
	for (size_t i = 0; i < runs->system_count; i++) {
		if (!is_in_a_speedup(&runs->systems[i]))
			continue;
		warm->systems[warm->system_count] = runs->systems[i];
		warm->systems[warm->system_count++].is_warm = true;
	}
	return runs_allocate(warm);
}
