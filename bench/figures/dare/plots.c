/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A CSV for each of the paper's figures, and a plot of it, which reads just that CSV. */
#include <math.h>

#include "bench/figures/dare/dare.h"

#define COLUMNS_MAX 8	/* the last one ends them */

typedef double plot_value(const struct dare_runs *runs, unsigned int line, unsigned int column);
/* NULL: there are no more lines. */
typedef const char *plot_line(const struct dare_runs *runs, unsigned int line);

struct plot {
	const char *file, *title, *axis;
	const char *x;		/* of lines; NULL: bars */
	bool is_log;
	plot_line *line;
	const char *columns[COLUMNS_MAX];
	plot_value *value;	/* 0: there is none */
};

static const char *const kernel_names[] = { "SpMM", "SDDMM" };
static const char *const systems[] = { "nvr", "fre", "gsa", "full" };

static double quotient(double above, double below)
{
	return below > 0 ? above / below : 0;
}

/* --- Figure 1 ------------------------------------------------------------------------------------- */

static const char *sparse_line(const struct dare_runs *runs, unsigned int line)
{
	static const char *const names[] = { "B = 4", "B = 8", "B = 16" };

	(void)runs;
	return line < 3 ? names[line] : NULL;
}

static double sparse_runtime(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	char system[32];

	snprintf(system, sizeof(system), "sparse %u %s", 4u << line, column ? "oracle" : "base");
	return quotient(dare_mean_cycles(runs, system, DARE_SDDMM, (enum dare_block)(B4 + line)),
			dare_mean_cycles(runs, "gemm base", DARE_GEMM, B1));
}

static const char *nvr_line(const struct dare_runs *runs, unsigned int line)
{
	static const char *const names[] = { "GEMM", "GEMM 2x2", "SpMM B=1", "SpMM B=8", "SDDMM B=1", "SDDMM B=8" };

	(void)runs;
	return line < 6 ? names[line] : NULL;
}

static double nvr_performance(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	(void)column;
	if (line == 0)
		return dare_ratio(runs, DARE_GEMM, B1, dare_cycles, "gemm base", "gemm nvr");
	if (line == 1)
		return dare_ratio(runs, DARE_GEMM, B1, dare_cycles, "gemm 2x2 base", "gemm 2x2 nvr");
	return dare_speedup(runs, line < 4 ? DARE_SPMM : DARE_SDDMM, line % 2 ? B8 : B1, "nvr");
}

/* GEMM, then the data sets of means. */
static const struct dare_set *find_set(const struct dare_runs *runs, unsigned int line)
{
	for (size_t set = 0; set < runs->set_count; set++) {
		if (runs->sets[set].is_in_means && --line == 0)
			return &runs->sets[set];
	}
	return NULL;
}

static const char *set_line(const struct dare_runs *runs, unsigned int line)
{
	const struct dare_set *set = line ? find_set(runs, line) : NULL;

	return line ? set ? set->name : NULL : "GEMM";
}

/* Percent. An mma of SpMM at B = 1 has one element of K, the others 16. */
static double utilisation(const struct dare_result *result, enum dare_kernel kernel)
{
	return 100 * quotient(result->macs, result->mma * 256 * (kernel == DARE_SPMM ? 1 : 16));
}

static double set_utilisation(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	enum dare_kernel kernel = !line ? DARE_GEMM : column < 2 ? DARE_SPMM : DARE_SDDMM;
	const char *system = !line ? "gemm base" : column % 2 ? "gsa" : "base";
	const struct dare_result *results = dare_results(runs, system, kernel, B1);
	const struct dare_set *only = line ? find_set(runs, line) : NULL;

	for (size_t set = 0; results && set < runs->set_count; set++) {
		if (results[set].is_there && (!only || only == &runs->sets[set]))
			return line || !column ? utilisation(&results[set], kernel) : 0;
	}
	return 0;
}

/* --- Figure 3 ------------------------------------------------------------------------------------- */

static const char *block_line(const struct dare_runs *runs, unsigned int line)
{
	static const char *const names[DARE_BLOCKS] = { "1", "2", "4", "8", "16" };

	(void)runs;
	return line < DARE_BLOCKS ? names[line] : NULL;
}

/* All data sets together. */
static struct dare_result sum_of(const struct dare_runs *runs, const char *system, enum dare_kernel kernel, unsigned int block)
{
	const struct dare_result *results = dare_results(runs, system, kernel, (enum dare_block)block);
	struct dare_result sum = { 0 };

	for (size_t set = 0; results && set < runs->set_count; set++) {
		sum.cycles += results[set].cycles;
		sum.demanded += results[set].demanded;
		sum.prefetched += results[set].prefetched;
		sum.redundant += results[set].redundant;
		sum.misses += results[set].misses;
		sum.latency += results[set].latency;
		sum.since_issue += results[set].since_issue;
	}
	return sum;
}

static double redundancy(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	struct dare_result base = sum_of(runs, "base", DARE_SDDMM, line), nvr = sum_of(runs, "nvr", DARE_SDDMM, line);

	if (column == 0)
		return quotient(base.misses, base.demanded);
	if (column == 1)
		return quotient(nvr.redundant, nvr.prefetched);
	return quotient(nvr.demanded + nvr.prefetched, nvr.cycles);
}

static double latency(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	struct dare_result sum = sum_of(runs, column % 2 ? "nvr" : "base", DARE_SDDMM, line);

	return quotient(column < 2 ? sum.since_issue : sum.latency, sum.demanded);
}

/* --- Figures 5, 6, 7, 9 ------------------------------------------------------------------------------- */

static const char *benchmark_line(const struct dare_runs *runs, unsigned int line)
{
	static const char *const names[] = { "SpMM1", "SpMM2", "SpMM4", "SpMM8", "SpMM16",
					     "SDDMM1", "SDDMM2", "SDDMM4", "SDDMM8", "SDDMM16" };

	(void)runs;
	return line < 2 * DARE_BLOCKS ? names[line] : NULL;
}

static double over_base(const struct dare_runs *runs, unsigned int line, unsigned int column, dare_metric *metric)
{
	enum dare_kernel kernel = line < DARE_BLOCKS ? DARE_SPMM : DARE_SDDMM;
	enum dare_block block = (enum dare_block)(line % DARE_BLOCKS);

	return dare_ratio(runs, kernel, block, metric, "base", column < 4 ? systems[column] : dare_chosen(runs, kernel, block));
}

static double performance(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	return over_base(runs, line, column, dare_cycles);
}

static double efficiency(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	return over_base(runs, line, column, dare_energy);
}

static double by_energy(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	return over_base(runs, line, column, dare_energy_delay);
}

static const char *latency_line(const struct dare_runs *runs, unsigned int line)
{
	static const char *const names[DARE_LATENCIES] = { "10", "20", "30", "40", "50", "60", "70", "80", "90", "100" };

	(void)runs;
	return line < DARE_LATENCIES ? names[line] : NULL;
}

static double robustness(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	return dare_efficiency_at(runs, line, column % 2 ? "static" : "fre", column < 2 ? dare_energy : dare_energy_delay);
}

static double over_base_of_1(const struct dare_runs *runs, unsigned int line, unsigned int column, enum dare_kernel kernel)
{
	const char *system = column ? systems[column - 1] : "base";

	return quotient(dare_mean_cycles(runs, "base", kernel, B1), dare_mean_cycles(runs, system, kernel, (enum dare_block)line));
}

static double spmm_by_block(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	return over_base_of_1(runs, line, column, DARE_SPMM);
}

static double sddmm_by_block(const struct dare_runs *runs, unsigned int line, unsigned int column)
{
	return over_base_of_1(runs, line, column, DARE_SDDMM);
}

/* --- files --------------------------------------------------------------------------------------------- */

#define SYSTEMS { "NVR", "FRE", "GSA", "full", "DARE", NULL }

static const struct plot plots[] = {
	{ "fig01a", "Figure 1a: SDDMM with 5 % of the blocks, runtime (paper: 0.5; oracle up to 1.8 times faster)", "of dense GEMM", NULL,
	  false, sparse_line, { "SDDMM", "oracle", NULL }, sparse_runtime },
	{ "fig01b", "Figure 1b: NVR (paper: below 1 on GEMM and SpMM)", "performance over base", NULL, false, nvr_line,
	  { "NVR", NULL }, nvr_performance },
	{ "fig01c", "Figure 1c: PE utilisation, B = 1 (paper: up to 14.4 times as high)", "percent", NULL, false, set_line,
	  { "SpMM", "SpMM densified", "SDDMM", "SDDMM densified", NULL }, set_utilisation },
	{ "fig03a", "Figure 3a: NVR on SDDMM", "share", "block size", true, block_line,
	  { "miss rate of base", "redundant prefetches", "port taken", NULL }, redundancy },
	{ "fig03b", "Figure 3b: mean latency of a demanded row, SDDMM", "cycles", "block size", true, block_line,
	  { "base from issue", "NVR from issue", "base as the next row", "NVR as the next row", NULL }, latency },
	{ "fig05", "Figure 5: performance, by kernel and B", "over base", NULL, false, benchmark_line, SYSTEMS, performance },
	{ "fig06", "Figure 6: energy efficiency (1 / energy), by kernel and B", "over base", NULL, false, benchmark_line, SYSTEMS, efficiency },
	{ "fig06b", "Figure 6, taken as performance by energy", "over base", NULL, false, benchmark_line, SYSTEMS, by_energy },
	{ "fig07", "Figure 7: SDDMM, B = 8, over LLC latency", "energy efficiency over base", "cycles", false, latency_line,
	  { "dynamic", "static", "dynamic by energy", "static by energy", NULL }, robustness },
	{ "fig09a", "Figure 9: SpMM by block size", "performance over base with B = 1", "block size", true, block_line,
	  { "base", "NVR", "FRE", "GSA", "full", NULL }, spmm_by_block },
	{ "fig09b", "Figure 9: SDDMM by block size", "performance over base with B = 1", "block size", true, block_line,
	  { "base", "NVR", "FRE", "GSA", "full", NULL }, sddmm_by_block },
};

static int write_csv(const struct dare_runs *runs, const struct plot *plot)
{
	FILE *file = figures_create(runs->output, plot->file, "csv");
	const char *name;

	if (!file)
		return -1;
	fputs(plot->x ? plot->x : "benchmark", file);
	for (unsigned int column = 0; plot->columns[column]; column++)
		fprintf(file, ",%s", plot->columns[column]);
	for (unsigned int line = 0; (name = plot->line(runs, line)); line++) {
		fprintf(file, "\n%s", name);
		for (unsigned int column = 0; plot->columns[column]; column++)
			fprintf(file, ",%.4f", plot->value(runs, line, column));
	}
	fputc('\n', file);
	return figures_finish(file);
}

static int write_plot(const struct dare_runs *runs, const struct plot *plot)
{
	const struct chart chart = {
		plot->x ? CHART_LINES : CHART_BARS, .title = plot->title, .across = plot->x, .up = plot->axis, .is_log = plot->is_log,
	};

	return write_csv(runs, plot) || figures_plot(runs->output, plot->file, &chart) ? -1 : 0;
}

/* --- Figure 8 ----------------------------------------------------------------------------------------- */

static const unsigned int riqs[] = { 8, 16, 32, 64, 128 }, vmrs[] = { 1, 2, 4, 8, 16, 32 };
#define RIQS (sizeof(riqs) / sizeof(riqs[0]))
#define VMRS (sizeof(vmrs) / sizeof(vmrs[0]))

static double grid_performance(const struct dare_runs *runs, size_t riq, size_t vmr, enum dare_kernel kernel, enum dare_block block)
{
	char system[32];

	snprintf(system, sizeof(system), "grid %u %u %s", riqs[riq], vmrs[vmr], block == B1 ? "full" : "fre");
	return quotient(1, dare_mean_cycles(runs, system, kernel, block));
}

static int write_grid(const struct dare_runs *runs, const char *name, enum dare_kernel kernel, enum dare_block block)
{
	FILE *file = figures_create(runs->output, name, "csv");
	double lowest = INFINITY, highest = 0;

	if (!file)
		return -1;
	for (size_t i = 0; i < RIQS * VMRS; i++) {
		double value = grid_performance(runs, i % RIQS, i / RIQS, kernel, block);

		lowest = fmin(lowest, value);
		highest = fmax(highest, value);
	}
	fputs("VMR by RIQ", file);
	for (size_t riq = 0; riq < RIQS; riq++)
		fprintf(file, ",%u", riqs[riq]);
	for (size_t i = 0; i < RIQS * VMRS; i++) {
		if (i % RIQS == 0)
			fprintf(file, "\n%u", vmrs[i / RIQS]);
		fprintf(file, ",%.4f", quotient(grid_performance(runs, i % RIQS, i / RIQS, kernel, block) - lowest, highest - lowest));
	}
	fputc('\n', file);
	return figures_finish(file);
}

static int write_grids(const struct dare_runs *runs)
{
	for (int number = 0; number < 4; number++) {
		enum dare_kernel kernel = number % 2 ? DARE_SDDMM : DARE_SPMM;
		enum dare_block block = number < 2 ? B1 : B8;
		char name[16], title[80];

		snprintf(name, sizeof(name), "fig08%c", 'a' + number);
		snprintf(title, sizeof(title), "Figure 8: %s, B = %d (%s), lowest 0, highest 1", kernel_names[kernel], 1 << block,
			 number < 2 ? "full" : "fre");
		if (write_grid(runs, name, kernel, block) ||
		    figures_plot(runs->output, name, &(struct chart){ CHART_MAP, title, "RIQ", "VMR", false }))
			return -1;
	}
	return 0;
}

/* --- data sets ------------------------------------------------------------------------------------------- */

static void print_sets(FILE *file, const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block, const char *prefix)
{
	char name[32];

	for (size_t set = 0; set < runs->set_count; set++) {
		const struct dare_result *base;

		snprintf(name, sizeof(name), "%sbase", prefix);
		base = dare_results(runs, name, kernel, block);
		if (!base || !base[set].is_there)
			continue;
		fprintf(file, "%s,%d,%s,%s", kernel_names[kernel], 1 << block, runs->sets[set].name, runs->sets[set].is_in_means ? "yes" : "no");
		for (int i = 0; i < 4; i++) {
			const struct dare_result *result;

			snprintf(name, sizeof(name), "%s%s", prefix, systems[i]);
			result = dare_results(runs, name, kernel, block);
			fprintf(file, ",%.3f", result && result[set].is_there ? base[set].cycles / result[set].cycles : 0);
		}
		fputc('\n', file);
	}
}

/* Speedups of each data set, also of those that are in no mean. */
static int write_sets(const struct dare_runs *runs)
{
	FILE *file = figures_create(runs->output, "datasets", "csv");

	if (!file)
		return -1;
	fputs("kernel,B,data set,in means,NVR,FRE,GSA,full\n", file);
	for (int kernel = DARE_SPMM; kernel <= DARE_SDDMM; kernel++) {
		for (int block = 0; block < DARE_BLOCKS; block++) {
			print_sets(file, runs, (enum dare_kernel)kernel, (enum dare_block)block, "");
			print_sets(file, runs, (enum dare_kernel)kernel, (enum dare_block)block, "extra ");
		}
	}
	return figures_finish(file);
}

int dare_plots_write(const struct dare_runs *runs)
{
	for (size_t i = 0; i < sizeof(plots) / sizeof(plots[0]); i++) {
		if (write_plot(runs, &plots[i]))
			return -1;
	}
	return write_grids(runs) || write_sets(runs) ? -1 : 0;
}
