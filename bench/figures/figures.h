/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* make figures: the MAPLE paper's figures from runs of `mimic sim`, beside what the paper says. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/sim/point.h"

/* --- table.c: CSV files of ours --------------------------------------------------------- */

#define FIELDS_MAX 9

struct table {
	char *(*rows)[FIELDS_MAX];	/* without the header; a field that is not there is "" */
	size_t count;
};

/* '#' begins a comment line. 0, or -1 with the reason said. All of it stays until the end. */
int table_read(struct table *table, const char *folder, const char *name);

/* --- points.c: runs ---------------------------------------------------------------------- */

enum kernel { SPMV, SPMM, SDHP, BFS, KERNELS };
extern const char *const kernel_names[KERNELS];

struct data_set {
	enum kernel kernel;
	const char *name;
	char **arguments;	/* of the program, NULL at the end */
	bool is_in_means;	/* else it is run and reported, and no row or gate sees it */
};

struct system {
	const char *name, *soc, *settings, *form, *threads;
	bool is_alone;		/* one thread: not for BFS, which Figures 9 to 11 have not */
};

struct result {
	bool is_there;
	struct sim_point point;
};

struct runs {
	const char *build, *data, *output;
	unsigned int jobs;
	struct data_set *sets;
	size_t set_count;
	struct system *systems;
	size_t system_count;
	struct result *results;	/* by set, then system */
	struct result round_trip;
	unsigned int missing;	/* data sets whose file is not there */
	bool is_all;		/* means are over those, too, that datasets.csv keeps out of them */
};

/* 0, or -1 with the reason said. */
int runs_read(struct runs *runs, const char *folder);
int runs_execute(struct runs *runs);
const struct result *runs_result(const struct runs *runs, const struct data_set *set, const char *system);

/* --- metrics.c: what is computed of them ---------------------------------------------------- */

enum metric { CYCLES, LOADS, LATENCY };

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

/* --- verdicts.c: the rows of the paper -------------------------------------------------------- */

#define ROWS_MAX 32

struct row {
	const char *id, *where, *workload, *what, *paper, *kind;	/* the paper's words */
	const char *ours;	/* what we take for it */
	double low, high;	/* the paper's value; a range, or the same twice; 0: a shape */
	double value;		/* ours; 0: none */
	double value_of_all;	/* with the data sets that are in no mean */
	const char *verdict;	/* "reproduced", "in kind", "deviates", "no data" */
	const char *why;	/* unless reproduced */
};

struct rows {
	struct row rows[ROWS_MAX];
	size_t count;
	struct table reasons;
};

struct gate {
	const char *text;
	bool is_open;		/* holds */
	char seen[160];
};
#define GATES_MAX 12

int rows_read(struct rows *rows, const char *folder);
void rows_judge(struct rows *rows, const struct runs *runs);
/* The orderings and shapes that must come out, whatever the numbers are. How many there are. */
size_t gates_check(struct gate *gates, const struct runs *runs);

/* --- plots.c ------------------------------------------------------------------------------------- */

/* CSV and SVG of each figure. 0, or -1 with the reason said. */
int plots_write(const struct runs *runs, const struct rows *rows);

/* --- main.c: "figures: ..." on standard error. -1. */
int figures_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
