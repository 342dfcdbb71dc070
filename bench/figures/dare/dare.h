/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* make figures-dare: the DARE paper's rows from runs of `mimic sim --soc dare`, beside the paper's values. */
#ifndef BENCH_FIGURES_DARE_H
#define BENCH_FIGURES_DARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/figures/common/common.h"

/* --- points.c: runs ---------------------------------------------------------------------- */

enum dare_kernel { DARE_SPMM, DARE_SDDMM, DARE_GEMM, DARE_KERNELS };

/* Block sizes are numbered: B = 1 << number. gemm has no blocks, and is B1. */
enum dare_block { B1, B2, B4, B8, B16, DARE_BLOCKS };

#define DARE_SETS 16
#define DARE_SYSTEMS 160

struct dare_set {
	const char *name;
	char **arguments, **small;	/* of the program, NULL at the end */
	char **nulls;			/* those of null models and ranges; empty: they do not run it */
	bool is_in_means;
	bool is_instead;		/* the file is not there: a generated one stands in */
	bool is_extra;			/* run for itself, in no row and no gate */
};

/* Which data sets a system runs, and whether the small ones. SIZE_PLOTS: as SIZE_SMALL, but in no null model and no range. */
enum dare_size { SIZE_MEANS, SIZE_SMALL, SIZE_PLOTS, SIZE_EXTRA, SIZE_NAMED };

struct dare_system {
	const char *name, *mode, *settings, *form;	/* settings: KEY=VALUE, or --OPTION=VALUE of the program */
	bool kernel[DARE_KERNELS], block[DARE_BLOCKS];
	enum dare_size size;
	const char *set;		/* of SIZE_NAMED */
};

/* The counts of a point. */
struct dare_result {
	bool is_there;
	double cycles, mma, macs;
	double demanded, stored, prefetched;	/* rows */
	double redundant;			/* of the prefetched ones */
	double misses;				/* of the demanded ones */
	/* Sums of cycles of the demanded ones until the answer: since it was the LSU's next row, since its instruction issued. */
	double latency, since_issue;
	double energy;				/* nJ */
};

struct dare_runs {
	const char *build, *data, *output;
	const char *name;		/* in front of those of the reports */
	const struct dare_runs *same;	/* commands that are the same there are not run again; NULL: none */
	unsigned int jobs;
	struct dare_set sets[DARE_SETS];
	size_t set_count;
	struct dare_system systems[DARE_SYSTEMS];
	size_t system_count;
	/* By system, kernel, block, set. */
	struct dare_result results[DARE_SYSTEMS][DARE_KERNELS][DARE_BLOCKS][DARE_SETS];
	unsigned int missing;			/* sets whose file is not there */
	struct table set_table, system_table;	/* hold the texts of both */
	char *instead;				/* holds modes and forms that a variant has in place of others */
};

/* 0, or -1 with the reason said. */
int dare_runs_read(struct dare_runs *runs, const char *folder);
/* All in one go, `jobs` of the first at a time. */
int dare_runs_execute(struct dare_runs *const *runs, size_t count);
/* Is there such a point? */
bool dare_is_point(const struct dare_runs *runs, const struct dare_system *system, enum dare_kernel kernel,
		   enum dare_block block, const struct dare_set *set);
/* reports.c: the last phase, which is the kernel. false: there is none, or not all of it. */
bool dare_take_report(const char *path, struct dare_result *result);
/* The results of the system of that name with one block size. NULL: there is no such system. */
const struct dare_result *dare_results(const struct dare_runs *runs, const char *system, enum dare_kernel kernel,
				       enum dare_block block);

/* --- variants.c: runs that differ from others ------------------------------------------------- */

/* The same on the data sets of null models; nothing is run yet. NULL: the reason is said. */
struct dare_runs *dare_runs_small(const struct dare_runs *runs);

/*
 * Settings on top, on systems of some modes ("": all), behind their own; those with -- in front are options of the program.
 * "OLD=NEW ..." replaces modes and forms.
 */
struct dare_change {
	const char *name;	/* of the reports */
	const char *modes, *settings, *instead;
};

struct dare_runs *dare_runs_variant(const struct dare_runs *base, const struct dare_change *change);

/* --- metrics.c -------------------------------------------------------------------------------- */

typedef double dare_metric(const struct dare_result *result);

double dare_cycles(const struct dare_result *result);
/* nJ, of all parts; with the parameters of the section energy (docs/timing-dare.md). */
double dare_energy(const struct dare_result *result);
double dare_energy_delay(const struct dare_result *result);
/* Of a demanded row, from the issue of its instruction: with all of its wait for the port. */
double dare_latency(const struct dare_result *result);

/* The geometric mean over the data sets of the metric of one system by that of another; 0 if a point is missing. */
double dare_ratio(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block, dare_metric *metric,
		  const char *above, const char *below);
/* The geometric mean of a system's cycles, over the data sets that are there; 0: there are none. */
double dare_mean_cycles(const struct dare_runs *runs, const char *system, enum dare_kernel kernel, enum dare_block block);
/* How many times faster a system is than base. */
double dare_speedup(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block, const char *system);
/* The faster one of fre and full. */
const char *dare_chosen(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block);
/* Used MACs of each mma, of one system by that of another: the largest over data sets. */
double dare_best_filling(const struct dare_runs *runs, enum dare_kernel kernel, const char *above, const char *below);

/* --- gates.c: dare_gates.csv ------------------------------------------------------------------- */

#define DARE_GATES 15
/* "grows" (D19, D20, gate 15); dare_paper.csv says when this was chosen. */
#define DARE_GROWTH 1.01
/* True: it holds. `seen` gets the observed values. */
bool dare_gate(const struct dare_runs *runs, unsigned int number, char *seen, size_t size);
/* All of them. */
void dare_gates(struct gate *gates, const struct table *texts, const struct dare_runs *runs);
/* Energy efficiency of static and dynamic thresholds at LLC latency `step` * 10 + 10, over base. */
double dare_efficiency_at(const struct dare_runs *runs, unsigned int step, const char *mode, dare_metric *metric);
#define DARE_LATENCIES 10

/* --- nulls.c: wrong models, each without one part of the model ---------------------------------- */

#define DARE_NULLS 16

struct dare_null {
	const char *name;
	struct dare_runs *runs;
};

struct dare_nulls {
	struct dare_null models[DARE_NULLS];
	size_t count;
	struct table table;		/* dare_null_models.csv */
	struct table rows;		/* which ones are of which row */
	struct dare_runs *small;	/* the model itself, on their data sets */
};

/* dare_null_models.csv and dare_nulls.csv. 0, or -1 with the reason said. */
int dare_nulls_read(struct dare_nulls *nulls, const struct dare_runs *runs, const char *folder);
/* The runs themselves and all that null models need. */
int dare_nulls_execute(struct dare_nulls *nulls, struct dare_runs *runs);
/* Null models of a row, from number `*next` on, which is moved; NULL: no more. */
const struct dare_null *dare_nulls_next(const struct dare_nulls *nulls, const char *id, size_t *next);
/* How many null models pass every gate that the model passes on the same data sets. */
unsigned int dare_nulls_check(const struct dare_nulls *nulls, const struct table *gates);

/* --- values.c: the values of a row in runs ------------------------------------------------------- */

struct dare_outcome {
	double value;		/* 0: nothing is compared, or there is no data */
	double second;		/* of energy: performance by energy; else a second value, or 0 */
	bool is_shape;		/* a shape holds */
};

struct dare_outcome dare_row_value(const struct dare_runs *runs, unsigned int number);

/* --- rows.c: the paper's rows and their verdicts --------------------------------------------------- */

struct dare_row {
	const char *id, *where, *workload, *what, *paper, *kind, *ours;	/* the paper's words, and our measurement for it */
	unsigned int number;
	double low, high;
	struct dare_outcome value;
	struct dare_outcome small, null;	/* on the data sets of null models: ours, and the null model's */
	const char *null_name;	/* the first null model that gets the row, else the first; "": none */
	struct bar bar;		/* of dare_error_bars.csv */
	const char *verdict;
	const char *why;	/* of one that is not reproduced */
	char *const *shape;	/* of dare_shapes.csv; NULL: none */
	bool is_fitted;		/* choices were made after results on it had been seen */
};

#define DARE_ROWS_MAX 32

struct dare_rows {
	struct dare_row rows[DARE_ROWS_MAX];
	size_t count;
	struct table table, reasons, bars, shapes;	/* hold their texts */
};

/* 0, or -1 with the reason said. */
int dare_rows_read(struct dare_rows *rows, const char *folder);
/* It is as the paper says. */
bool dare_row_holds(const struct dare_row *row, const struct dare_outcome *outcome);
/* `nulls`: NULL: none were run. */
void dare_rows_judge(struct dare_rows *rows, const struct dare_runs *runs, const struct dare_nulls *nulls);

/* --- effects.c: the effects of each range ------------------------------------------------------------- */

/* The model with one parameter at an end of its range. */
struct dare_end {
	const char *parameter, *settings;
	const struct dare_runs *runs;
};

/*
 * effects.csv: each row's change at each end; shapes.csv: at how many ends a row's statement is as in the model itself.
 * `ends` begins with the model itself, which `count` has, too. 0, or -1 with the reason said.
 */
int dare_effects_write(const struct dare_rows *rows, const struct dare_end *ends, size_t count, const char *commit);
/* The comment lines of a table that is checked in: its origin. The caller frees it. NULL: no memory. */
char *dare_ranges_head(const char *what, const struct dare_runs *model, const char *commit);

/* --- ranges.c --------------------------------------------------------------------------------------- */

/*
 * Both ends of all ranges of `folder`/dare_ranges.csv, into error_bars.csv, ends.csv, effects.csv and shapes.csv. 0, or -1 with
 * the reason said.
 */
int dare_ranges_run(const struct dare_runs *runs, const struct dare_rows *rows, const char *folder, const char *commit);

/* --- plots.c: CSV and SVG of each figure of the paper, and speedups of each data set -------------------- */

/* 0, or -1 with the reason said. */
int dare_plots_write(const struct dare_runs *runs);

/* --- output.c --------------------------------------------------------------------------------------- */

void dare_print_rows(const struct dare_rows *rows);
/* Says which data the numbers leave out. */
void dare_print_data(const struct dare_runs *runs, const struct dare_nulls *nulls);
/* table.csv, and nulls.csv: each row on each of its null models. 0, or -1 with the reason said. */
int dare_write_rows(const struct dare_rows *rows, const struct dare_runs *runs, const struct dare_nulls *nulls);

#endif
