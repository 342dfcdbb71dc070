/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* make figures: the MAPLE paper's figures from runs of `mimic sim`, beside the paper's values. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/figures/common/common.h"
#include "tools/sim/point.h"

/* --- points.c: runs ---------------------------------------------------------------------- */

enum kernel { SPMV, SPMM, SDHP, BFS, KERNELS };
#define ALL_KERNELS ((1u << KERNELS) - 1)
extern const char *const kernel_names[KERNELS];

struct data_set {
	enum kernel kernel;
	const char *name;
	char **arguments;	/* of the program, NULL at the end */
	bool is_in_means;	/* else it is run and reported, and no row or gate sees it */
	bool is_for_nulls;	/* the one of its kernel that null models run */
	double seconds;		/* of a processor, for a point: about */
};

struct system {
	const char *name, *soc, *settings, *form, *threads;
	bool is_alone;		/* one thread: not for BFS, which Figures 9 to 11 have not */
	bool is_for_means;	/* runs no data set that is in no mean */
	bool is_warm;		/* its loops run twice, and only the second time counts */
};

struct result {
	bool is_there;
	struct sim_point point;
};

/* Latencies that a program measures, on the FPGA's system. */
enum measured { ROUND_TRIP, L2_ACCESS, DRAM_ACCESS, MEASURED };

struct runs {
	const char *build, *data, *output;
	const char *name;	/* in front of those of the reports */
	unsigned int jobs;
	struct data_set *sets;
	size_t set_count;
	struct system *systems;
	size_t system_count;
	struct result *results;	/* by set, then system */
	struct result measured[MEASURED];
	const char *settings;	/* of the measured runs */
	const struct runs *same;	/* commands that are the same there are not run again; NULL: none */
	char **saved;		/* files of inputs.c, NULL at the end */
	unsigned int missing;	/* data sets whose file is not there */
	bool is_all;		/* means are over those, too, that datasets.csv keeps out of them */
};

/* 0, or -1 with the reason said. */
int runs_read(struct runs *runs, const char *folder);
int runs_allocate(struct runs *runs);
/* All in one go, `jobs` of the first at a time. */
int runs_execute(struct runs *const *runs, size_t count);
const struct result *runs_result(const struct runs *runs, const struct data_set *set, const char *system);

/* --- inputs.c: generated inputs, made once for all points --------------------------------- */

/* Before variants of `runs` are made, which then have the same files. 0, or -1 with the reason said. */
int inputs_save(struct runs *runs);
void inputs_remove(const struct runs *runs);

/* --- variants.c ---------------------------------------------------------------------------- */

/* The same on the data sets that null models run, one of each kernel; nothing is run yet. */
int runs_small(struct runs *small, const struct runs *runs);
/*
 * The same with more settings on the systems whose names begin with `systems`. Results that do not
 * differ from those of `base` are taken from there. `name` stays the caller's.
 */
int runs_variant(struct runs *variant, const struct runs *base, const char *name, const char *settings,
		 const char *systems);
/* The systems of `speedups` with warm caches, on the data sets whose points are short. */
int runs_warm(struct runs *warm, const struct runs *runs);

/* --- metrics.c: values computed of them ----------------------------------------------------- */

enum metric {
	CYCLES, LOADS, LATENCY,
	BOOKKEEPING,		/* instructions that are no accesses */
	L1_SHARE,		/* of accesses to memory, those that hit the L1 */
};

/*
 * The geometric mean over the data sets of a kernel of `metric` of one system by that of
 * another; 0 if there is none, or if a point is missing.
 */
double metric_ratio(const struct runs *runs, enum kernel kernel, enum metric metric, const char *above,
		    const char *below);
/* The geometric mean of such over kernels: those whose bit (1 << kernel) is set. 0 if one of them is. */
double metric_mean(const struct runs *runs, unsigned int kernels, enum metric metric, const char *above,
		   const char *below);
/* The largest over the data sets of a kernel. */
double metric_best(const struct runs *runs, enum kernel kernel, const char *above, const char *below);
/* Cycles from issue to data, over all loads. */
double metric_latency(const struct result *result);
/* Of accesses to memory, those that hit the L1: over all data sets of a kernel together. 0: a point is missing. */
double metric_l1_share(const struct runs *runs, enum kernel kernel, const char *system);

/* --- nulls.c: wrong models, each without one part of the model ---------------------------------- */

#define NULLS_MAX 16

struct null_model {
	const char *name, *settings, *form;
	struct runs runs;
};

struct nulls {
	struct null_model models[NULLS_MAX];
	size_t count;
	struct table rows;	/* which one is of which row */
	struct runs small;	/* the model itself, on the data sets that null models run */
};

/* null_models.csv and nulls.csv. 0, or -1 with the reason said. */
int nulls_read(struct nulls *nulls, const struct runs *runs, const char *folder);
/* NULL: the row has none. */
const struct null_model *nulls_of_row(const struct nulls *nulls, const char *id);
/*
 * How many null models pass every gate that the model passes on the same data sets: then the
 * gates say nothing about the part that is missing. Each is printed with the reason.
 */
unsigned int nulls_check(const struct nulls *nulls);

/* --- judge.c: verdicts --------------------------------------------------------------------------- */

/* 32 entries lose less than this of 64 (M17). */
#define NO_LOSS 0.99

struct row {
	unsigned int number;	/* of its id */
	const char *id, *where, *workload, *what, *paper, *kind;	/* the paper's words */
	const char *ours;	/* our measurement for it */
	double low, high;	/* the paper's value; a range, or the same twice; 0: a shape */
	double value;		/* ours; 0: none */
	double value_of_all;	/* with the data sets that are in no mean */
	const char *null;	/* its null model */
	double value_of_small;	/* with the data sets that null models run */
	double value_of_null;	/* the null model's, with the same */
	struct bar bar;		/* of error_bars.csv */
	enum verdict verdict;
	const char *why;	/* in kind, or deviates */
};

/* A row in some runs. */
struct outcome {
	double value;		/* 0: none */
	bool is_falling;	/* the shape of M16 */
};

/* It is as the paper says: its number, or within its "at most", "at least" or shape. */
bool row_holds(const struct row *row, struct outcome outcome);
/* A null model hits if the paper's statement holds of it, or if it is near value_of_small. */
enum verdict row_verdict(const struct row *row, struct outcome ours, struct outcome null);

/* --- verdicts.c: the rows of the paper -------------------------------------------------------- */

#define ROWS_MAX 32

struct rows {
	struct row rows[ROWS_MAX];
	size_t count;
	struct table reasons;
};

int rows_read(struct rows *rows, const char *folder);
void rows_judge(struct rows *rows, const struct runs *runs, const struct nulls *nulls);
/* Ours for a row of the paper; 0: none. */
double row_value(const struct runs *runs, unsigned int number);
/* M13: the lower of the two kernels. */
double lowest_of_desc(const struct runs *runs);
/* M14: the lower one of four and eight threads. 0: not both are there. */
double lowest_scaling(const struct runs *runs, unsigned int kernels);
/* The worst step to a longer round trip, as a ratio: below 1 each is slower. INFINITY: a step is missing. */
double worst_step(const struct runs *runs, unsigned int kernels);
/* M16: no kernel gets faster by a longer round trip, and their mean gets slower with each. */
bool is_falling(const struct runs *runs);

/* --- gates.c ------------------------------------------------------------------------------------- */

#define GATES_MAX 12

/* The orderings and shapes that must come out, for any numbers. How many there are. */
size_t gates_check(struct gate *gates, const struct runs *runs);

/* --- plots.c ------------------------------------------------------------------------------------- */

/* The speedup that is printed for each data set: cycles of one system by those of another. */
struct speedup {
	const char *label, *before, *after;
};

#define SPEEDUPS 7
extern const struct speedup speedups[SPEEDUPS];

/* 0: a point is not there. */
double speedup_of(const struct runs *runs, const struct data_set *set, const struct speedup *speedup);

/* CSV and SVG of each figure. 0, or -1 with the reason said. */
int plots_write(const struct runs *runs, const struct rows *rows);

/* --- warm.c: figures with warm caches beside those with cold ones ------------------------------- */

/* warm.csv. 0, or -1 with the reason said. */
int warm_write(const struct runs *warm, const struct runs *runs);
/* Those that differ. */
void warm_tell(const struct runs *warm, const struct runs *runs);

/* --- ranges.c ------------------------------------------------------------------------------------ */

/*
 * Runs both ends of all ranges of `folder`/ranges.csv and writes error_bars.csv, which says that the model is of `commit`,
 * and ends.csv. 0, or -1 with the reason said.
 */
int ranges_run(const struct runs *runs, const struct rows *rows, const char *folder, const char *commit);

#endif
