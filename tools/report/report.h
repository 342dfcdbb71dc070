/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic report: run.json (docs/report.md), read and checked, becomes a page of HTML. */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/plot/plot.h"

#define REPORT_FORMAT "mimic-run"
#define REPORT_VERSION 1
#define REPORT_MESSAGE_SIZE 512

/* --- read.c: the contents of a run.json. Texts may have any characters ----------- */

struct report_counter {
	const char *name;
	uint64_t value;
};

/* A counter over time: since the first sample. */
struct report_growth {
	const char *name;
	uint64_t *values;
};

struct report_queue {
	const char *name;
	uint64_t size;
	uint64_t *levels;
};

struct report_samples {
	size_t count;		/* of each array below; 0: the run was not sampled */
	double *seconds;	/* ascending */
	struct report_queue *queues;
	size_t queue_count;
	struct report_growth *growths;
	size_t growth_count;
};

struct report_run {
	const char *program, *kind, *device, *kernel, *form, *variant, *transport, *input, *size;
	const char *against, *error;	/* "": not said, as all of these */
	char *arguments;		/* in one line */
	bool verified;
	double seconds;
	uint64_t amount;		/* of work; 0: not said */
	const char *unit;
	struct report_counter *counters;
	size_t counter_count;
	struct report_samples samples;
};

struct report {
	struct json_object *root;	/* has the texts */
	const char *mimic, *date, *program;
	char *arguments;
	const char *system, *processor;
	uint64_t processors, memory;
	double seconds;
	struct report_run *runs;
	size_t run_count;
};

/*
 * `name` is the file's, for messages. NULL: the mistake, and its field, is in
 * message, which has REPORT_MESSAGE_SIZE bytes.
 */
struct report *report_read(const char *name, const char *text, size_t size, char *message);
void report_free(struct report *report);

/* A number as a cell of a table. */
void report_table_number(FILE *out, uint64_t value);

/* --- tools/report/series.c: samples, put together so that a plot can show them ------------------------ */

#define REPORT_POINTS_MAX 64

struct report_point {
	double from, to;		/* seconds */
	double mean, most;
};

struct report_series {
	struct report_point points[REPORT_POINTS_MAX];
	size_t count;
	double most;			/* of all */
	double mean;			/* over time */
};

/* A level holds until the next sample. */
void report_levels(const struct report_samples *samples, const uint64_t *levels, struct report_series *series);
/* The events that a counter counted in a second. */
void report_rates(const struct report_samples *samples, const uint64_t *values, struct report_series *series);
/* In percent, of two that grow: 100 x part / (part + rest); where neither does, there is no point. */
void report_shares(const struct report_samples *samples, const uint64_t *part, const uint64_t *rest,
		   struct report_series *series);
/* NULL: it has none of this name. */
const uint64_t *report_growth_of(const struct report_samples *samples, const char *name);

/* --- plot.c ------------------------------------------------------------------------------- */

struct report_line {
	const char *name;
	char note[64];			/* behind the name, in the legend */
	struct report_series series;
	bool has_band;			/* up to the most */
};

struct report_plot {
	const char *title;
	const char *unit;		/* of its values */
	double seconds;			/* how long the axis of time is; in cycles, where these are */
	bool is_in_cycles;
	double end;			/* of the values; 0: as far as needed */
	struct report_line *lines;
	size_t line_count;
};

void report_plot(FILE *out, const struct report_plot *plot);

/* --- the parts of the page ------------------------------------------------------------------------- */

/* Runs of one kernel with one input, which can be compared. */
struct report_group {
	const struct report_run **runs;
	size_t count;
	unsigned int number;		/* of the page */
};

/* A bar for each run that says how much it did. */
void report_bars(FILE *out, const struct report_group *group);
/* A kind of device, as its makers write it. */
const char *report_kind_name(const char *kind);
/* The rate in a second; 0: not said. */
double report_rate(const struct report_run *run);

void report_group(FILE *out, const struct report_group *group);
void report_counters(FILE *out, const struct report_group *group);
/* Of a run with samples. */
void report_over_time(FILE *out, const struct report_run *run);

void report_page(FILE *out, const struct report *report);
/* The frame around the content. The title is "program, date". */
void report_page_begin(FILE *out, const char *program, const char *date);
void report_page_end(FILE *out);

/* --- timed.c, timed_page.c: runs in virtual time ------------------------------------------------------- */

#define REPORT_CAUSES 7
extern const char *const report_causes[REPORT_CAUSES];

/* The counters of a device in a phase: by report_device_columns(). */
#define REPORT_DEVICE_COLUMNS 128
struct report_device {
	const char *kind;
	char name[32];
	uint64_t *values;
};

/* A phase of a run. */
struct report_timed_row {
	char *phase;
	char *label;			/* the point of a sweep; "": there is one run only */
	uint64_t cycles;		/* from begin to end */
	uint64_t causes[REPORT_CAUSES];	/* cycles of all cores */
	struct report_device *devices;	/* of a sweep: all of a kind together */
	size_t device_count;
};

/* A part of the run, by its cycles. */
struct report_timed_interval {
	uint64_t begin, cycles;
	uint64_t causes[REPORT_CAUSES];	/* cycles of all cores */
};

struct report_timed {
	char *title, *about;
	uint64_t instruction;			/* cycles that an instruction takes: 0 or 1 */
	struct report_timed_interval *intervals;	/* in order; NULL: there are none */
	size_t interval_count;
	struct json_object *device_intervals;	/* the same, with the devices' counts in each; or NULL */
	struct report_timed_row *rows;
	size_t count;
	size_t failed;			/* points of a sweep that have no numbers */
};

/*
 * The text ends with a NUL and is changed. NULL: `message` is the mistake; if it is "", the text is
 * neither a report of mimic sim nor a CSV of mimic sweep, and as it was.
 */
struct report_timed *report_timed_read(const char *name, char *text, size_t size, char *message);
void report_timed_free(struct report_timed *timed);
void report_timed_page(FILE *out, const struct report_timed *timed);
/* Over the run's cycles: the share of each cause in the cores' cycles. */
void report_timed_plot(FILE *out, const struct report_timed *timed);

/* --- timed_devices.c ------------------------------------------------------------------------------------ */

struct report_device_column {
	const char *kind, *name;
	char part[32];			/* its object in the JSON, and the prefix of its name in a CSV */
};

/* How many there are, of all kinds. */
unsigned int report_device_columns(struct report_device_column columns[REPORT_DEVICE_COLUMNS]);
/* NULL: no memory. Its values are 0. */
struct report_device *report_device_add(struct report_timed_row *row, const char *kind, const char *name);
/* Each device of a phase of a JSON. false: no memory. */
bool report_devices_take(struct report_timed_row *row, struct json_object *phase);
void report_devices_free(struct report_timed_row *row);
/* A table for each kind, without columns that are 0 everywhere. */
void report_devices_tables(FILE *out, const struct report_timed *timed, const char *phase);
/* The values that kinds show over time, of an array of intervals. */
void report_devices_plots(FILE *out, struct json_object *intervals);

#endif
