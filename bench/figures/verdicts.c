/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The value of each row of paper.csv in our runs and in those of its null model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/figures.h"

#define NO_BFS (1u << SPMV | 1u << SPMM | 1u << SDHP)
/* SPMM is the same with and without MAPLE's queues: it would hide a loss (M17) or make it smaller (M18). */
#define WITH_QUEUES (1u << SPMV | 1u << SDHP | 1u << BFS)

static const char *const trips[] = {
	"S trip 2", "S trip 6", "S trip 16", "S maple 2", "S trip 36", "S trip 50", "S trip 75", "S trip 100",
};
#define TRIPS (sizeof(trips) / sizeof(trips[0]))

/* --- values ------------------------------------------------------------------------------------ */

static double speedup(const struct runs *runs, unsigned int kernels, const char *before, const char *after)
{
	return metric_mean(runs, kernels, CYCLES, before, after);
}

double lowest_of_desc(const struct runs *runs)
{
	return fmin(metric_ratio(runs, SPMV, CYCLES, "S desc 2", "S maple 2"),
		    metric_ratio(runs, SDHP, CYCLES, "S desc 2", "S maple 2"));
}

/* The speedup over doall with more threads, relative to that with two. */
static double scaling(const struct runs *runs, unsigned int kernels, const char *doall, const char *maple)
{
	double two = speedup(runs, kernels, "S doall 2", "S maple 2");

	return two > 0 ? speedup(runs, kernels, doall, maple) / two : 0;
}

double lowest_scaling(const struct runs *runs, unsigned int kernels)
{
	return fmin(scaling(runs, kernels, "S doall 4", "S maple 4"), scaling(runs, kernels, "S doall 8", "S maple 8"));
}

double worst_step(const struct runs *runs, unsigned int kernels)
{
	double worst = 0;

	for (size_t i = 1; i < TRIPS; i++) {
		double step = speedup(runs, kernels, trips[i - 1], trips[i]);

		worst = fmax(worst, step > 0 ? step : INFINITY);
	}
	return worst;
}

bool is_falling(const struct runs *runs)
{
	for (unsigned int kernel = 0; kernel < KERNELS; kernel++) {
		if (worst_step(runs, 1u << kernel) > 1)
			return false;
	}
	return worst_step(runs, ALL_KERNELS) < 1;
}

double row_value(const struct runs *runs, unsigned int number)
{
	switch (number) {
	case 1: return speedup(runs, ALL_KERNELS, "F doall 2", "F maple 2");
	case 2: return speedup(runs, ALL_KERNELS, "F software 2", "F maple 2");
	case 3: return speedup(runs, NO_BFS, "F doall 1", "F lima 1");
	case 4: return metric_ratio(runs, SPMV, CYCLES, "F doall 1", "F lima 1");
	case 5: return speedup(runs, NO_BFS, "F prefetch 1", "F lima 1");
	case 6: return metric_mean(runs, NO_BFS, LOADS, "F prefetch 1", "F doall 1");
	case 7: return metric_mean(runs, NO_BFS, LOADS, "F lima 1", "F doall 1");
	case 8: return metric_mean(runs, NO_BFS, LATENCY, "F doall 1", "F lima 1");
	case 9: return speedup(runs, ALL_KERNELS, "S desc 2", "S maple 2");
	case 10: return speedup(runs, ALL_KERNELS, "S droplet 2", "S maple 2");
	case 11: return metric_ratio(runs, BFS, CYCLES, "S doall 2", "S maple 2");
	case 12: return metric_best(runs, BFS, "S doall 2", "S maple 2");
	case 13: return lowest_of_desc(runs);
	case 14: return lowest_scaling(runs, ALL_KERNELS);
	case 15: return metric_latency(&runs->measured[ROUND_TRIP]);
	case 16: return speedup(runs, ALL_KERNELS, "S trip 100", "S trip 2");
	case 17: return speedup(runs, WITH_QUEUES, "F queue 64", "F maple 2");
	case 18: return speedup(runs, WITH_QUEUES, "F maple 2", "F queue 16");
	default: return 0;
	}
}

/* --- verdicts ------------------------------------------------------------------------------------- */

static struct outcome outcome_of(const struct runs *runs, unsigned int number)
{
	return (struct outcome){ .value = row_value(runs, number), .is_falling = is_falling(runs) };
}

/* Why a row is not reproduced, as far as we know. docs/timing-maple.md says more. */
static const char *reason(const struct rows *rows, const char *id)
{
	char *const *fields = table_find(&rows->reasons, id);

	return fields ? fields[1] : "";
}

void rows_judge(struct rows *rows, const struct runs *runs, const struct nulls *nulls)
{
	struct runs all = *runs;

	all.is_all = true;
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->rows[i];
		const struct null_model *model = nulls_of_row(nulls, row->id);
		struct outcome ours = outcome_of(runs, row->number), null = { 0 };

		if (model)
			null = outcome_of(&model->runs, row->number);
		row->value = ours.value;
		row->value_of_all = row_value(&all, row->number);
		row->null = model ? model->name : "";
		row->value_of_small = row_value(&nulls->small, row->number);
		row->value_of_null = null.value;
		row->verdict = row_verdict(row, ours, null);
		row->why = "";
		if (row->verdict == IN_KIND || row->verdict == DEVIATES)
			row->why = reason(rows, row->id);
	}
}

/* Checked in after make figures-ranges, which takes longer than all else here. */
static int read_error_bars(struct rows *rows, const char *folder)
{
	struct table table;

	if (table_read(&table, folder, "error_bars.csv"))
		return -1;
	for (size_t i = 0; i < rows->count; i++)
		rows->rows[i].bar = bar_find(&table, rows->rows[i].id);
	return 0;
}

int rows_read(struct rows *rows, const char *folder)
{
	struct table table;

	if (table_read(&table, folder, "paper.csv") || table_read(&rows->reasons, folder, "reasons.csv"))
		return -1;
	for (rows->count = 0; rows->count < table.count && rows->count < ROWS_MAX; rows->count++) {
		char **fields = table.rows[rows->count], *end;
		struct row *row = &rows->rows[rows->count];

		*row = (struct row){ .id = fields[0], .where = fields[1], .workload = fields[2], .what = fields[4],
				     .paper = fields[5], .kind = fields[7], .ours = fields[8] };
		row->number = (unsigned int)atoi(row->id + 1);
		row->low = strtod(row->paper, &end);
		row->high = *end == '-' ? strtod(end + 1, NULL) : row->low;
	}
	return read_error_bars(rows, folder);
}
