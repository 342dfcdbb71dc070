/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* make figures-dare: the DARE paper's rows from runs of `mimic sim --soc dare`, beside what the paper says. */
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
#define DARE_SYSTEMS 96

struct dare_set {
	const char *name;
	char **arguments, **small;	/* of the program, NULL at the end */
	bool is_in_means;
};

enum dare_size { SIZE_MEANS, SIZE_SMALL, SIZE_NAMED };

struct dare_system {
	const char *name, *mode, *settings, *form;
	bool kernel[DARE_KERNELS], block[DARE_BLOCKS];
	enum dare_size size;
	const char *set;		/* of SIZE_NAMED */
};

/* What a point has counted. */
struct dare_result {
	bool is_there;
	double cycles, mma, macs;
	double demanded, stored, prefetched;	/* rows */
	double redundant;			/* of the prefetched ones */
	double misses, latency;			/* of the demanded ones; the sum of cycles */
	double energy;				/* nJ */
};

struct dare_runs {
	const char *build, *data, *output;
	unsigned int jobs;
	struct dare_set sets[DARE_SETS];
	size_t set_count;
	struct dare_system systems[DARE_SYSTEMS];
	size_t system_count;
	/* By system, kernel, block, set. */
	struct dare_result results[DARE_SYSTEMS][DARE_KERNELS][DARE_BLOCKS][DARE_SETS];
	unsigned int missing;			/* sets whose file is not there */
	struct table set_table, system_table;	/* hold the texts of both */
};

/* 0, or -1 with the reason said. */
int dare_runs_read(struct dare_runs *runs, const char *folder);
int dare_runs_execute(struct dare_runs *runs);
/* What the systems of that name have in one block size. NULL: there is no such system. */
const struct dare_result *dare_results(const struct dare_runs *runs, const char *system, enum dare_kernel kernel,
				       enum dare_block block);

/* --- metrics.c -------------------------------------------------------------------------------- */

typedef double dare_metric(const struct dare_result *result);

double dare_cycles(const struct dare_result *result);
/* nJ, of all parts; with the parameters of the section energy (docs/timing.md). */
double dare_energy(const struct dare_result *result);
double dare_energy_delay(const struct dare_result *result);
/* Of a demanded row, with the wait for the port. */
double dare_latency(const struct dare_result *result);

/* The geometric mean over the data sets of the metric of one system by that of another; 0 if a point is missing. */
double dare_ratio(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block, dare_metric *metric,
		  const char *above, const char *below);
/* How many times faster a system is than base. */
double dare_speedup(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block, const char *system);
/* The faster one of fre and full. */
const char *dare_chosen(const struct dare_runs *runs, enum dare_kernel kernel, enum dare_block block);
/* Used MACs of each mma, of one system by that of another: the largest over data sets. */
double dare_best_filling(const struct dare_runs *runs, enum dare_kernel kernel, const char *above, const char *below);

/* --- rows.c, gates.c --------------------------------------------------------------------------- */

struct dare_row {
	const char *id, *what, *paper, *kind;
	double low, high;
	double value;		/* 0: nothing is compared, or there is no data */
	double second;		/* of energy: performance by energy; else a second value, or 0 */
	const char *verdict;
};

#define DARE_ROWS_MAX 32

struct dare_rows {
	struct dare_row rows[DARE_ROWS_MAX];
	size_t count;
	struct table table;	/* holds their texts */
};

/* 0, or -1 with the reason said. */
int dare_rows_read(struct dare_rows *rows, const char *folder);
void dare_rows_judge(struct dare_rows *rows, const struct dare_runs *runs);

#define DARE_GATES 14
/* True: it holds. `seen` gets what was seen. */
bool dare_gate(const struct dare_runs *runs, unsigned int number, char *seen, size_t size);
/* Energy efficiency of static and dynamic thresholds at LLC latency `step` * 10 + 10, over base. */
double dare_efficiency_at(const struct dare_runs *runs, unsigned int step, const char *mode, dare_metric *metric);
#define DARE_LATENCIES 10

#endif
