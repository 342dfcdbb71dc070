/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Code that the figures of all papers share: tables, gates, null models, verdicts, files. */
#ifndef BENCH_FIGURES_COMMON_H
#define BENCH_FIGURES_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/figures/common/chart.h"
#include "tools/common/jobs.h"

/* --- error.c: "figures: ..." on standard error. -1. */
int figures_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The command that failed, and the first line of its standard error. */
void figures_tell_failure(const struct job *job);

/* --- options.c ---------------------------------------------------------------------------- */

struct figures_options {
	const char *build, *tables, *output;
	const char *data;	/* NULL: there is none */
	unsigned int jobs;
	bool is_of_ranges;
	const char *commit;	/* whose model ranges are of */
};

/* 0, or the exit status behind a line on standard error. */
int figures_options(struct figures_options *options, int argc, char **argv);

/* --- table.c: CSV files of ours ----------------------------------------------------------- */

#define FIELDS_MAX 9

struct table {
	char *(*rows)[FIELDS_MAX];	/* without the header; a field that is not there is "" */
	size_t count;
};

/* '#' begins a comment line. 0, or -1 with the reason said. All of it stays until the end. */
int table_read(struct table *table, const char *folder, const char *name);
/* The row whose first field is `id`; NULL: there is none. */
char *const *table_find(const struct table *table, const char *id);
/* Words between blanks, NULL at the end, with room for `extra` more; the text is cut. NULL: no memory. */
char **table_words(char *text, size_t extra);
/* "base fre" has fre, as a word between blanks. */
bool table_has_word(const char *list, const char *word);
/* A word that is no option is a file in `data`, which may be NULL: its path replaces it. false: it is not there. */
bool table_find_file(const char *data, char **word);

/* --- batch.c: points, each a command of its own that writes a report ------------------------- */

#define BATCH_WORDS 64

/* Takes a result of a report. false: it is not there, or not whole. */
typedef bool batch_take(const char *report, void *result);

struct point_batch {
	const char *output;
	struct job *jobs;
	void **results;		/* of each job */
	char **reports;
	size_t count, room, done, failed;
	size_t tell_every;	/* points, for how many of them progress is told once */
	batch_take *take;
};

/* 0, or -1 with the reason said. */
int batch_begin(struct point_batch *batch, const char *output, size_t room, batch_take *take);
/* One more, whose files have that name: its command, empty yet. NULL: the reason is said. */
char **batch_add(struct point_batch *batch, const char *name, void *result);
/* Where the one that was added last has to write. */
char *batch_report(const struct point_batch *batch);
/* Behind the words that a command has. */
void batch_words(char **command, char *const *words);
/* All, `jobs` at a time. 0, or -1 with the reason said: they could not be run. How many failed is in it. */
int batch_run(struct point_batch *batch, const char *what, unsigned int jobs);

/* --- files.c ------------------------------------------------------------------------------ */

/* A folder in the output's. 0, or -1 with the reason said. */
int figures_folder(const char *output, const char *name);
/* A file there, to be written. NULL: the reason is said. */
FILE *figures_create(const char *output, const char *name, const char *suffix);
int figures_finish(FILE *file);
/* Draws NAME.svg of NAME.csv: bars, a group for each line; lines over its first column; or a map of 0 to 1. */
int figures_plot(const char *output, const char *name, const struct chart *chart);

/* --- gates.c: required results, and null models, which must not have all of them ------------ */

struct gate {
	const char *text;
	bool is_open;		/* holds */
	char seen[160];
};

/* Prints each. How many are closed. */
int gates_tell(const struct gate *gates, size_t count);
/* Prints the head of the list of null models: which gates the model itself does not pass on their data sets. */
void nulls_tell(const struct gate *own, size_t count);
/* Prints which gates are closed to a null model that are open to the model. false: none is. */
bool null_tell(const char *name, const struct gate *own, const struct gate *gates, size_t count);

/* --- verdict.c ---------------------------------------------------------------------------- */

enum verdict {
	REPRODUCED,		/* the paper's number, and the null model does not get it */
	CONSISTENT,		/* as the paper says, but the null model gets it, too */
	IN_KIND, DEVIATES, NO_DATA, VERDICTS
};

/* The conditions that a verdict depends on. */
struct judgement {
	bool is_there;		/* else there is no data */
	bool holds;		/* the paper's statement */
	bool is_near;		/* the paper gives something that can be reproduced, and this is it */
	bool is_in_kind;
	bool has_null;		/* a null model with data */
	bool null_holds;	/* the paper's statement is true of one, too */
};

enum verdict verdict_of(struct judgement judgement);
const char *verdict_name(enum verdict verdict);

/* --- bars.c: error bars ------------------------------------------------------------------- */

/* The lowest and the highest of a row's values by its value; 0: it has none. */
struct bar {
	double low, high;
};

/* The table's rows: id, value, lowest, lowest with, highest, highest with. */
struct bar bar_find(const struct table *table, const char *id);
/* "-25% +20%"; "": there is none. */
void bar_print(char *text, size_t size, struct bar bar);

/* One end of a range: runs with these settings on these systems ("": on all). */
struct range_end {
	const char *settings, *systems;
};

/* All rows as they are and at each end of each range. */
struct range_values {
	size_t row_count, end_count;
	char *head;		/* comment lines of error_bars.csv */
	const char **ids;	/* of rows */
	struct range_end *ends;
	double *values;
};

/* 0, or -1: no memory. */
int bars_allocate(struct range_values *values);
/* `end`: 0: as it is, else `ends[end - 1]`. */
double *bars_value(const struct range_values *values, size_t end, size_t row);
/* error_bars.csv, the lowest and the highest of each row, and ends.csv, all. 0, or -1 with the reason said. */
int bars_write(const char *output, const struct range_values *values);

#endif
