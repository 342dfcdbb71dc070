/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A CSV for each figure, and a plot of it, which reads just that CSV. */

#include "bench/figures/figures.h"

#define NO_BFS (1u << SPMV | 1u << SPMM | 1u << SDHP)
#define SERIES_MAX 9	/* the last one ends it */

/* One colour of bars, or one line: a ratio of two systems. */
struct series {
	const char *label, *above, *below;
	double paper;		/* its geometric mean there; 0: not in the text */
};

struct figure {
	const char *file, *title, *axis;
	unsigned int kernels;
	enum metric metric;
	struct series series[SERIES_MAX];
};

static const struct figure bars[] = {
	{ "fig08", "Figure 8: decoupling, F, 2 threads", "speedup over doall", ALL_KERNELS, CYCLES, {
		{ "software", "F doall 2", "F software 2", 1.51 / 2.27 }, { "MAPLE", "F doall 2", "F maple 2", 1.51 } } },
	{ "fig09", "Figure 9: prefetching, F, 1 thread", "speedup over none", NO_BFS, CYCLES, {
		{ "software", "F doall 1", "F prefetch 1", 1.73 / 2.35 }, { "LIMA", "F doall 1", "F lima 1", 1.73 } } },
	{ "fig10", "Figure 10: load instructions, F, 1 thread", "of those without prefetching", NO_BFS, LOADS, {
		{ "software", "F prefetch 1", "F doall 1", 2.0 }, { "LIMA", "F lima 1", "F doall 1", 1.0 } } },
	{ "fig11", "Figure 11: average load latency, F, 1 thread", "of that without prefetching", NO_BFS, LATENCY, {
		{ "software", "F prefetch 1", "F doall 1", 0 }, { "LIMA", "F lima 1", "F doall 1", 1 / 1.85 } } },
	{ "fig12", "Figure 12: S, 2 threads (paper: MAPLE 1.72 of DeSC, 1.82 of DROPLET)", "speedup over doall", ALL_KERNELS, CYCLES, {
		{ "MAPLE", "S doall 2", "S maple 2", 0 }, { "DeSC", "S doall 2", "S desc 2", 0 },
		{ "DROPLET", "S doall 2", "S droplet 2", 0 } } },
	{ "fig13", "Figure 13: threads that share one MAPLE, S (paper: they keep the speedup)", "speedup over doall", ALL_KERNELS, CYCLES, {
		{ "2 threads", "S doall 2", "S maple 2", 0 }, { "4 threads", "S doall 4", "S maple 4", 0 },
		{ "8 threads", "S doall 8", "S maple 8", 0 } } },
	{ "fig15", "Figure 15: round trip from core to MAPLE in cycles, S (paper: falls)", "speedup over doall", ALL_KERNELS, CYCLES, {
		{ "2", "S doall 2", "S trip 2", 0 }, { "6", "S doall 2", "S trip 6", 0 },
		{ "16", "S doall 2", "S trip 16", 0 }, { "26", "S doall 2", "S maple 2", 0 },
		{ "36", "S doall 2", "S trip 36", 0 }, { "50", "S doall 2", "S trip 50", 0 },
		{ "75", "S doall 2", "S trip 75", 0 }, { "100", "S doall 2", "S trip 100", 0 } } },
	{ "queues", "Section 5.3: words in a queue, F", "performance, of 32 words", ALL_KERNELS & ~(1u << SPMM), CYCLES, {
		{ "8", "F maple 2", "F queue 8", 0 }, { "16", "F maple 2", "F queue 16", 0.925 },
		{ "32", "F maple 2", "F maple 2", 1 }, { "64", "F maple 2", "F queue 64", 1 } } },
};
#define BARS (sizeof(bars) / sizeof(bars[0]))

static void print_line(FILE *file, const struct runs *runs, const struct figure *figure, const char *label,
		       unsigned int kernels)
{
	fputs(label, file);
	for (const struct series *series = figure->series; series->label; series++)
		fprintf(file, ",%.4f", metric_mean(runs, kernels, figure->metric, series->above, series->below));
	fputc('\n', file);
}

static bool has_paper(const struct figure *figure)
{
	for (const struct series *series = figure->series; series->label; series++) {
		if (series->paper > 0)
			return true;
	}
	return false;
}

static int write_csv(const struct runs *runs, const struct figure *figure)
{
	FILE *file = figures_create(runs->output, figure->file, "csv");

	if (!file)
		return -1;
	fputs("kernel", file);
	for (const struct series *series = figure->series; series->label; series++)
		fprintf(file, ",%s", series->label);
	fputc('\n', file);
	for (unsigned int kernel = 0; kernel < KERNELS; kernel++) {
		if (figure->kernels >> kernel & 1)
			print_line(file, runs, figure, kernel_names[kernel], 1u << kernel);
	}
	print_line(file, runs, figure, "geomean", figure->kernels);
	if (has_paper(figure)) {
		fputs("paper", file);
		for (const struct series *series = figure->series; series->label; series++) {
			if (series->paper > 0)
				fprintf(file, ",%.4f", series->paper);
			else
				fputc(',', file);
		}
		fputc('\n', file);
	}
	return figures_finish(file);
}

static int write_plot(const struct runs *runs, const struct figure *figure)
{
	const struct chart chart = { CHART_BARS, .title = figure->title, .up = figure->axis };

	return figures_plot(runs->output, figure->file, &chart);
}

static int write_points(const struct runs *runs)
{
	FILE *file = figures_create(runs->output, "points", "csv");

	if (!file)
		return -1;
	fputs("kernel,data set,system,cycles,instructions,loads,load_cycles,uncosted,l2_misses,dram_lines,command report\n",
	      file);
	for (size_t set = 0; set < runs->set_count; set++) {
		for (size_t system = 0; system < runs->system_count; system++) {
			const struct result *result = &runs->results[set * runs->system_count + system];
			const struct sim_point *point = &result->point;

			if (!result->is_there)
				continue;
			fprintf(file, "%s,%s,%s,%llu,%llu,%llu,%llu,%llu,%llu,%llu,points/%02zu-%02zu.json\n",
				kernel_names[runs->sets[set].kernel], runs->sets[set].name, runs->systems[system].name,
				(unsigned long long)point->cycles, (unsigned long long)point->cores.instructions,
				(unsigned long long)point->cores.loads, (unsigned long long)point->cores.load_cycles,
				(unsigned long long)point->uncosted, (unsigned long long)point->soc.l2_misses,
				(unsigned long long)point->soc.dram_lines, set, system);
		}
	}
	return figures_finish(file);
}

const struct speedup speedups[SPEEDUPS] = {
	{ "F MAPLE / doall", "F doall 2", "F maple 2" }, { "F software / doall", "F doall 2", "F software 2" },
	{ "F LIMA / none", "F doall 1", "F lima 1" }, { "F prefetch / none", "F doall 1", "F prefetch 1" },
	{ "S MAPLE / doall", "S doall 2", "S maple 2" }, { "S DeSC / doall", "S doall 2", "S desc 2" },
	{ "S DROPLET / doall", "S doall 2", "S droplet 2" },
};

double speedup_of(const struct runs *runs, const struct data_set *set, const struct speedup *speedup)
{
	const struct result *before = runs_result(runs, set, speedup->before);
	const struct result *after = runs_result(runs, set, speedup->after);

	if (!before || !after || !before->is_there || !after->is_there)
		return 0;
	return (double)before->point.cycles / (double)after->point.cycles;
}

/* Speedups of each data set, which a mean hides, for docs and people. */
static int write_sets(const struct runs *runs)
{
	FILE *file = figures_create(runs->output, "datasets", "csv");

	if (!file)
		return -1;
	fputs("kernel,data set,in means", file);
	for (size_t i = 0; i < SPEEDUPS; i++)
		fprintf(file, ",%s", speedups[i].label);
	fputc('\n', file);
	for (size_t set = 0; set < runs->set_count; set++) {
		fprintf(file, "%s,%s,%s", kernel_names[runs->sets[set].kernel], runs->sets[set].name,
			runs->sets[set].is_in_means ? "yes" : "no");
		for (size_t i = 0; i < SPEEDUPS; i++) {
			double value = speedup_of(runs, &runs->sets[set], &speedups[i]);

			if (value > 0)
				fprintf(file, ",%.3f", value);
			else
				fputc(',', file);
		}
		fputc('\n', file);
	}
	return figures_finish(file);
}

static int write_rows(const struct runs *runs, const struct rows *rows)
{
	FILE *file = figures_create(runs->output, "table", "csv");

	if (!file)
		return -1;
	fputs("id,where,workload,compared,ours,paper,mimic,ratio,verdict,of all data sets,null model,of its data sets,"
	      "of the null model,lowest by assumptions,highest by assumptions,why\n", file);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->rows[i];
		double middle = (row->low + row->high) / 2;

		fprintf(file, "%s,\"%s\",\"%s\",\"%s\",\"%s\",%s,%.3f,", row->id, row->where, row->workload, row->what,
			row->ours, row->paper, row->value);
		if (middle > 0)
			fprintf(file, "%.3f", row->value / middle);
		fprintf(file, ",%s,%.3f,%s,%.3f,%.3f,%.3f,%.3f,\"%s\"\n", verdict_name(row->verdict), row->value_of_all, row->null,
			row->value_of_small, row->value_of_null, row->bar.low, row->bar.high, row->why);
	}
	return figures_finish(file);
}

int plots_write(const struct runs *runs, const struct rows *rows)
{
	if (write_points(runs) || write_sets(runs) || write_rows(runs, rows))
		return -1;
	for (size_t i = 0; i < BARS; i++) {
		if (write_csv(runs, &bars[i]) || write_plot(runs, &bars[i]))
			return -1;
	}
	return 0;
}
