/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* make figures-virgo: the Virgo paper's rows from runs of `mimic sim --soc virgo`, beside the paper's values. */
#ifndef BENCH_FIGURES_VIRGO_H
#define BENCH_FIGURES_VIRGO_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/figures/common/common.h"

/* --- points.c: runs ---------------------------------------------------------------------- */

enum virgo_energy { ENERGY_CORE, ENERGY_MACS, ENERGY_UNIT, ENERGY_SHARED, ENERGY_MEMORY, VIRGO_ENERGIES };

/* The counts of a point. */
struct virgo_result {
	bool is_there;
	double cycles;			/* of its kernels, one by one */
	double elapsed;			/* from the first one's start to the last one's end, with the library's work */
	double macs;			/* of its products */
	double work;			/* of the units that multiply, with those of padding */
	double instructions;		/* of warps */
	double energy[VIRGO_ENERGIES];	/* nJ */
};

/* A command: of a design, with settings, a program of examples/virgo with arguments. */
struct virgo_point {
	const char *name, *design, *settings, *program, *arguments;
	const char *also;		/* words of variants that run it, too */
};

#define VIRGO_POINTS 96

struct virgo_runs {
	const char *build, *output;
	const char *name;		/* in front of those of the reports */
	const char *settings;		/* of all points, behind their own */
	unsigned int jobs;
	struct virgo_point points[VIRGO_POINTS];
	size_t point_count;
	struct virgo_result results[VIRGO_POINTS];
	struct table table;		/* holds the texts of points */
};

/* virgo_points.csv. 0, or -1 with the reason said. */
int virgo_runs_read(struct virgo_runs *runs, const char *folder);
/* The points that have one of the words `kinds`, with settings on top; nothing is run yet. NULL: the reason is said. */
struct virgo_runs *virgo_runs_variant(const struct virgo_runs *base, const char *kinds, const char *name, const char *settings);
/* All in one go, `jobs` of the first at a time. */
int virgo_runs_execute(struct virgo_runs *const *runs, size_t count);
/* NULL: there is no such point, or it has not been run. */
const struct virgo_result *virgo_result(const struct virgo_runs *runs, const char *point);
/* reports.c: the last phase. false: there is none, or not all of it. */
bool virgo_take_report(const char *path, struct virgo_result *result);

/* --- metrics.c: 0: a point is missing -------------------------------------------------------- */

#define VIRGO_SIZES 3
#define VIRGO_TABLE_DESIGNS 4

extern const char *const virgo_sizes[VIRGO_SIZES];		/* as points are named, and as people say */
extern const char *const virgo_designs[VIRGO_TABLE_DESIGNS];	/* of Table 2 */

/* The point "SIZE DESIGN". */
const struct virgo_result *virgo_gemm_result(const struct virgo_runs *runs, const char *size, const char *design);
double virgo_cycles(const struct virgo_runs *runs, const char *size, const char *design);
/* Of `units` multipliers, in percent. */
double virgo_utilisation(const struct virgo_result *result, double units);
/* nJ, of all parts. */
double virgo_energy(const struct virgo_result *result);
/* Of virgo-dma by that of tc-dma. */
double virgo_energy_ratio(const struct virgo_runs *runs, const char *size);
double virgo_power_ratio(const struct virgo_runs *runs, const char *size);
double virgo_instruction_ratio(const struct virgo_runs *runs, const char *size);
/*
 * Two units at once, and one of them in series, of points that begin with `prefix`: percent of all multipliers, from
 * the first start to the last end.
 */
double virgo_parallel(const struct virgo_runs *runs, const char *prefix);
double virgo_serial(const struct virgo_runs *runs, const char *prefix);
/* Points of percent that an activation of n FPU instructions costs; below 0: a point is missing. */
double virgo_swish_loss(const struct virgo_runs *runs, unsigned int n, const char *design);
#define VIRGO_SWISHES 3
extern const unsigned int virgo_swishes[VIRGO_SWISHES];

/* --- nulls.c: models without one mechanism ----------------------------------------------------- */

#define VIRGO_NULLS 16

struct virgo_null {
	const char *name;
	const char *moves;		/* designs whose cycles its mechanism is part of */
	bool is_gate;			/* gate 5 has it */
	bool is_slight;			/* its effect on each design is below that required of others */
	struct virgo_runs *runs;
};

struct virgo_nulls {
	struct virgo_null models[VIRGO_NULLS];
	size_t count;
	struct table table;		/* virgo_null_models.csv */
	struct table rows;		/* which ones are of which row */
};

/* virgo_null_models.csv and virgo_nulls.csv. 0, or -1 with the reason said. */
int virgo_nulls_read(struct virgo_nulls *nulls, const struct virgo_runs *runs, const char *folder);
/* Null models of a row, from number `*next` on, which is moved; NULL: no more. */
const struct virgo_null *virgo_nulls_next(const struct virgo_nulls *nulls, const char *id, size_t *next);
/* By how much the cycles of a design change without it, at 256 x 256 x 256, in percent. false: a point is missing. */
bool virgo_null_change(const struct virgo_null *null, const struct virgo_runs *runs, const char *design, double *change);
bool virgo_null_moves(const struct virgo_null *null, const char *design);

/* --- gates.c: virgo_gates.csv ------------------------------------------------------------------- */

#define VIRGO_GATES 10

struct virgo_rows;

struct virgo_view {
	const struct virgo_runs *runs;	/* nothing fitted */
	const struct virgo_runs *fits;	/* with fitted parameters */
	const struct virgo_nulls *nulls;
	const struct virgo_rows *rows;	/* of plots; else NULL */
};

/* True: it holds. `seen` gets the observed values. */
bool virgo_gate(const struct virgo_view *view, unsigned int number, char *seen, size_t size);
/* All of them. */
void virgo_gates(struct gate *gates, const struct table *texts, const struct virgo_view *view);

/* --- rows.c: the paper's rows and their verdicts --------------------------------------------------- */

#define VIRGO_VALUES 4

/* A row in some runs. */
struct virgo_outcome {
	double values[VIRGO_VALUES];	/* 0: there is no data */
	bool is_shape;			/* a shape holds */
};

/* values.c */
struct virgo_outcome virgo_row_value(const struct virgo_runs *runs, unsigned int number);

struct virgo_row {
	const char *id, *where, *workload, *what, *paper, *unit, *kind, *ours;	/* the paper's words, and our measurement for it */
	unsigned int number, count;	/* of values */
	double values[VIRGO_VALUES];	/* the paper's */
	struct virgo_outcome value, fitted;
	struct virgo_outcome null;
	const char *null_name;		/* the first null model that gets the row, else the first; "": none */
	struct bar bar;			/* of virgo_error_bars.csv */
	const char *verdict, *fitted_verdict;
	const char *why;		/* of one that is not reproduced */
	const char *note;		/* the basis of its value */
};

#define VIRGO_ROWS_MAX 32

struct virgo_rows {
	struct virgo_row rows[VIRGO_ROWS_MAX];
	size_t count;
	struct table table, reasons, bars;	/* hold their texts */
};

/* 0, or -1 with the reason said. */
int virgo_rows_read(struct virgo_rows *rows, const char *folder);
/* It is as the paper says. */
bool virgo_row_holds(const struct virgo_row *row, const struct virgo_outcome *outcome);
/* Ours by the paper's, of a reduction the remainders of both; 0: one of them is not there. */
double virgo_row_ratio(const struct virgo_row *row, const struct virgo_outcome *outcome, unsigned int which);
void virgo_rows_judge(struct virgo_rows *rows, const struct virgo_view *view);

/* --- ranges.c --------------------------------------------------------------------------------------- */

/*
 * Both ends of all ranges of `folder`/virgo_ranges.csv, into error_bars.csv and ends.csv. 0, or -1 with the reason
 * said.
 */
int virgo_ranges_run(const struct virgo_runs *runs, const struct virgo_rows *rows, const char *folder, const char *commit);

/* --- plots.c ---------------------------------------------------------------------------------------- */

/* 0, or -1 with the reason said. */
int virgo_plots_write(const struct virgo_view *view);

/* --- output.c --------------------------------------------------------------------------------------- */

/* `fits`: the settings of fitted parameters. */
void virgo_print_rows(const struct virgo_rows *rows, const char *fits);
/* Cycles without each mechanism. */
void virgo_print_nulls(const struct virgo_view *view);
/* table.csv, nulls.csv (each row on each of its null models) and mechanisms.csv. 0, or -1 with the reason said. */
int virgo_write_rows(const struct virgo_rows *rows, const struct virgo_view *view);

#endif
