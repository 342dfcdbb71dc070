/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Verdicts on the rows of virgo_paper.csv: on values from our runs, and from those of the rows' null models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/virgo/virgo.h"

/* "reproduced" is within so much of the paper's value. */
#define NEAR 0.10
/* "in kind" is within a factor of so much. */
#define FAR 2.0

static bool is_kind(const struct virgo_row *row, const char *kind)
{
	return strcmp(row->kind, kind) == 0;
}

/* A reduction is compared by the remainder: 71 % and 77 % are not near each other, as 29 % and 23 % are not. */
double virgo_row_ratio(const struct virgo_row *row, const struct virgo_outcome *outcome, unsigned int which)
{
	double ours = outcome->values[which], paper = row->values[which];

	if (outcome->values[which] == 0 || row->values[which] == 0)
		return 0;
	return strcmp(row->unit, "reduction") == 0 ? (100 - ours) / (100 - paper) : ours / paper;
}

static bool is_within(const struct virgo_row *row, const struct virgo_outcome *outcome, double low, double high)
{
	for (unsigned int i = 0; i < row->count; i++) {
		double ratio = virgo_row_ratio(row, outcome, i);

		if (ratio < low || ratio > high)
			return false;
	}
	return row->count > 0;
}

bool virgo_row_holds(const struct virgo_row *row, const struct virgo_outcome *outcome)
{
	if (is_kind(row, "shape"))
		return outcome->is_shape;
	/* The largest of the paper's against the largest of ours. */
	if (is_kind(row, "at most") && outcome->values[0] > row->values[0])
		return false;
	return is_within(row, outcome, 1 - NEAR, 1 + NEAR);
}

/* The row's null model is the first that gets it, else the first one. */
static void find_null(struct virgo_row *row, const struct virgo_nulls *nulls)
{
	const struct virgo_null *model;
	size_t next = 0;

	row->null_name = "";
	row->null = (struct virgo_outcome){ 0 };
	while (!virgo_row_holds(row, &row->null) && (model = virgo_nulls_next(nulls, row->id, &next))) {
		struct virgo_outcome outcome = virgo_row_value(model->runs, row->number);

		if (*row->null_name && !virgo_row_holds(row, &outcome))
			continue;
		row->null = outcome;
		row->null_name = model->name;
	}
}

static const char *judge(const struct virgo_row *row, const struct virgo_outcome *outcome)
{
	bool holds = virgo_row_holds(row, outcome);

	if (is_kind(row, "parameters"))
		return "a parameter";
	if (is_kind(row, "follows"))
		return outcome->values[0] == 0 ? verdict_name(NO_DATA) : "follows the cycles";
	return verdict_name(verdict_of((struct judgement){
		.is_there = outcome->values[0] != 0, .holds = holds,
		/* A shape has no number that could be reproduced. */
		.is_near = holds && !is_kind(row, "shape"),
		/* A value that a fitted factor decides is near or not, and never "in kind". */
		.is_in_kind = holds || (strcmp(row->unit, "reduction") && !is_kind(row, "shape") && is_within(row, outcome, 1 / FAR, FAR)),
		.has_null = row->null.values[0] != 0, .null_holds = virgo_row_holds(row, &row->null),
	}));
}

void virgo_rows_judge(struct virgo_rows *rows, const struct virgo_view *view)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct virgo_row *row = &rows->rows[i];

		row->value = virgo_row_value(view->runs, row->number);
		row->fitted = virgo_row_value(view->fits, row->number);
		find_null(row, view->nulls);
		row->verdict = judge(row, &row->value);
		row->fitted_verdict = judge(row, &row->fitted);
	}
}

/* "36.1 / 57.2 / 48.5 / 84.5" */
static void read_values(struct virgo_row *row)
{
	const char *text = row->paper;
	char *end;

	while (row->count < VIRGO_VALUES) {
		double value = strtod(text, &end);

		if (end == text)
			break;
		row->values[row->count++] = value;
		text = end + strspn(end, " /");
	}
}

static void read_row(struct virgo_rows *rows, struct virgo_row *row, char *const *fields)
{
	char *const *reason = table_find(&rows->reasons, fields[0]);

	*row = (struct virgo_row){
		.id = fields[0], .where = fields[1], .workload = fields[2], .what = fields[4], .paper = fields[5], .unit = fields[6],
		.kind = fields[7], .ours = fields[8], .number = (unsigned int)atoi(fields[0] + 1), .bar = bar_find(&rows->bars, fields[0]),
		.verdict = "", .fitted_verdict = "", .null_name = "", .why = reason ? reason[1] : "", .note = reason ? reason[2] : "",
	};
	read_values(row);
}

int virgo_rows_read(struct virgo_rows *rows, const char *folder)
{
	if (table_read(&rows->table, folder, "virgo_paper.csv") || table_read(&rows->reasons, folder, "virgo_reasons.csv") ||
	    table_read(&rows->bars, folder, "virgo_error_bars.csv"))
		return -1;
	for (rows->count = 0; rows->count < rows->table.count && rows->count < VIRGO_ROWS_MAX; rows->count++)
		read_row(rows, &rows->rows[rows->count], rows->table.rows[rows->count]);
	return 0;
}
