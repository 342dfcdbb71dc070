/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Verdicts on the rows of dare_paper.csv: on values from our runs, and from those of the rows' null models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

/* "reproduced" is within so much of the paper's value. */
#define NEAR 0.10
/* "in kind" is on the paper's side of 1, and within a factor of so much. */
#define FAR 2.0

static bool is_near(double value, double paper)
{
	return fabs(value / paper - 1) <= NEAR;
}

static bool is_on_side(double value, double paper)
{
	return (value > 1) == (paper > 1) && value <= paper * FAR && value >= paper / FAR;
}

static bool is_kind(const struct dare_row *row, const char *kind)
{
	return strcmp(row->kind, kind) == 0;
}

bool dare_row_holds(const struct dare_row *row, const struct dare_outcome *outcome)
{
	if (outcome->value <= 0)
		return false;
	if (is_kind(row, "shape"))
		return outcome->is_shape;
	if (is_kind(row, "range"))
		return is_near(outcome->value, row->low) && is_near(outcome->second, row->high);
	if (is_kind(row, "below"))
		return outcome->value < row->high;
	if (is_kind(row, "crossover"))
		return outcome->value == row->low;
	/* "up to": the largest of the paper's, against the largest of ours. */
	if (is_kind(row, "at most") && outcome->value > row->high)
		return false;
	return is_near(outcome->value, row->low);
}

static bool is_in_kind(const struct dare_row *row, const struct dare_outcome *outcome)
{
	if (dare_row_holds(row, outcome))
		return true;
	if (is_kind(row, "shape") || is_kind(row, "below"))
		return false;
	if (is_kind(row, "range"))
		return is_on_side(outcome->second, row->high);
	if (is_kind(row, "at most") && outcome->value > row->high)
		return is_near(outcome->value, row->high);
	return is_on_side(outcome->value, row->low);
}

/* The row's null model is the first that gets it, else the first one. */
static void find_null(struct dare_row *row, const struct dare_nulls *nulls)
{
	const struct dare_null *model;
	size_t next = 0;

	row->null_name = "";
	row->null = row->small = (struct dare_outcome){ 0 };
	if (!nulls)
		return;
	row->small = dare_row_value(nulls->small, row->number);
	while (!dare_row_holds(row, &row->null) && (model = dare_nulls_next(nulls, row->id, &next))) {
		struct dare_outcome outcome = dare_row_value(model->runs, row->number);

		if (*row->null_name && !dare_row_holds(row, &outcome))
			continue;
		row->null = outcome;
		row->null_name = model->name;
	}
}

static const char *judge(const struct dare_row *row)
{
	if (is_kind(row, "parameters"))
		return "a parameter";
	if (row->number == 23 || row->number == 24)
		return "not simulated";
	return verdict_name(verdict_of((struct judgement){
		.is_there = row->value.value > 0, .holds = dare_row_holds(row, &row->value),
		/* A shape has no number that could be reproduced. */
		.is_near = dare_row_holds(row, &row->value) && !is_kind(row, "shape"),
		.is_in_kind = is_in_kind(row, &row->value), .has_null = row->null.value > 0,
		.null_holds = dare_row_holds(row, &row->null),
	}));
}

void dare_rows_judge(struct dare_rows *rows, const struct dare_runs *runs, const struct dare_nulls *nulls)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct dare_row *row = &rows->rows[i];

		row->value = dare_row_value(runs, row->number);
		find_null(row, nulls);
		row->verdict = judge(row);
	}
}

static void read_row(struct dare_rows *rows, struct dare_row *row, char *const *fields)
{
	char *const *reason = table_find(&rows->reasons, fields[0]);
	char *end;

	*row = (struct dare_row){
		.id = fields[0], .where = fields[1], .workload = fields[2], .what = fields[4], .paper = fields[5],
		.kind = fields[7], .ours = fields[8], .number = (unsigned int)atoi(fields[0] + 1),
		.low = strtod(fields[5], &end), .bar = bar_find(&rows->bars, fields[0]), .verdict = "", .null_name = "",
		.shape = table_find(&rows->shapes, fields[0]), .why = reason ? reason[1] : "", .is_fitted = reason && strcmp(reason[2], "yes") == 0,
	};
	row->high = *end == '-' ? strtod(end + 1, NULL) : row->low;
}

int dare_rows_read(struct dare_rows *rows, const char *folder)
{
	if (table_read(&rows->table, folder, "dare_paper.csv") || table_read(&rows->reasons, folder, "dare_reasons.csv") ||
	    table_read(&rows->bars, folder, "dare_error_bars.csv") || table_read(&rows->shapes, folder, "dare_shapes.csv"))
		return -1;
	for (rows->count = 0; rows->count < rows->table.count && rows->count < DARE_ROWS_MAX; rows->count++)
		read_row(rows, &rows->rows[rows->count], rows->table.rows[rows->count]);
	return 0;
}
