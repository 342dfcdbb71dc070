/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Speedups with warm caches beside those with cold ones: each loop runs a second time, with the caches of the first. The figures
 * are of cold caches. Where all that a loop touches fits into them, there is little left to hide the second time.
 */
#include <math.h>
#include <string.h>

#include "bench/figures/figures.h"

/* So much is shown as a difference. */
#define DIFFERS 0.05

static double cold_of(const struct runs *runs, const struct data_set *set, const struct speedup *speedup)
{
	for (size_t i = 0; i < runs->set_count; i++) {
		if (runs->sets[i].kernel == set->kernel && strcmp(runs->sets[i].name, set->name) == 0)
			return speedup_of(runs, &runs->sets[i], speedup);
	}
	return 0;
}

int warm_write(const struct runs *warm, const struct runs *runs)
{
	FILE *file = figures_create(runs->output, "warm", "csv");

	if (!file)
		return -1;
	fputs("kernel,data set,in means,speedup,cold,warm\n", file);
	for (size_t set = 0; set < warm->set_count; set++) {
		for (size_t i = 0; i < SPEEDUPS; i++) {
			const struct data_set *data = &warm->sets[set];
			double cold = cold_of(runs, data, &speedups[i]), value = speedup_of(warm, data, &speedups[i]);

			if (cold > 0 && value > 0)
				fprintf(file, "%s,%s,%s,%s,%.3f,%.3f\n", kernel_names[data->kernel], data->name,
					data->is_in_means ? "yes" : "no", speedups[i].label, cold, value);
		}
	}
	return figures_finish(file);
}

static bool differs(double cold, double warm)
{
	return cold > 0 && warm > 0 && fabs(warm / cold - 1) > DIFFERS;
}

void warm_tell(const struct runs *warm, const struct runs *runs)
{
	unsigned int differ = 0, all = 0;

	puts("\nSpeedups with cold caches, which all above has, and when the loops run a second time, where these differ by more than 5 %:");
	for (size_t set = 0; set < warm->set_count; set++) {
		for (size_t i = 0; i < SPEEDUPS; i++) {
			const struct data_set *data = &warm->sets[set];
			double cold = cold_of(runs, data, &speedups[i]), value = speedup_of(warm, data, &speedups[i]);

			all += cold > 0 && value > 0;
			if (!differs(cold, value))
				continue;
			differ++;
			printf("%-5s %-20s %-18s cold %6.2f  warm %6.2f\n", kernel_names[data->kernel], data->name,
			       speedups[i].label, cold, value);
		}
	}
	printf("%u of %u speedups differ; larger data sets are not run a second time (warm.csv has all that are).\n", differ, all);
}
