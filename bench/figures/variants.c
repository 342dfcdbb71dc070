/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Runs that differ from others: on fewer data sets, or with other settings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/figures.h"

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
	/* What is measured runs on F. */
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
