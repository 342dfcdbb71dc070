/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * make figures-dare-ranges: how far each row moves over the ranges of omitted parameters (dare_ranges.csv), one
 * parameter of the hardware or of the code at a time, on the data sets of null models.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

struct ranges {
	struct dare_runs **runs;	/* the model itself, then two for each line of dare_ranges.csv at most */
	struct dare_end *ends;		/* the same */
	size_t count;			/* of both */
};

static void add_runs(struct ranges *ranges, const char *parameter, const char *settings, struct dare_runs *runs)
{
	ranges->runs[ranges->count] = runs;
	ranges->ends[ranges->count++] = (struct dare_end){ parameter, settings, runs };
}

/* Empty settings: the end is the preset's own value. */
static int add_end(struct ranges *ranges, const char *parameter, const char *settings)
{
	struct dare_change change = { .modes = "", .settings = settings, .instead = "" };
	struct dare_runs *runs;
	char *name;

	if (!*settings)
		return 0;
	if (asprintf(&name, "range-%zu-", ranges->count) < 0)
		return figures_error("%s", strerror(ENOMEM));
	change.name = name;
	runs = dare_runs_variant(ranges->runs[0], &change);
	if (runs)
		add_runs(ranges, parameter, settings, runs);
	return runs ? 0 : -1;
}

static int read_ranges(struct ranges *ranges, const struct dare_runs *runs, const char *folder)
{
	struct dare_runs *model;
	struct table table;

	if (table_read(&table, folder, "dare_ranges.csv"))
		return -1;
	ranges->runs = calloc(2 * table.count + 1, sizeof(struct dare_runs *));
	ranges->ends = calloc(2 * table.count + 1, sizeof(*ranges->ends));
	if (!ranges->runs || !ranges->ends)
		return figures_error("%s", strerror(ENOMEM));
	model = dare_runs_small(runs);
	if (!model)
		return -1;
	/* These are in plots only. */
	for (size_t i = 0; i < model->system_count; i++) {
		struct dare_system *system = &model->systems[i];

		if (system->size == SIZE_PLOTS)
			memset(system->kernel, 0, sizeof(system->kernel));
	}
	add_runs(ranges, "as it is", "", model);
	for (size_t i = 0; i < table.count; i++) {
		if (add_end(ranges, table.rows[i][0], table.rows[i][1]) || add_end(ranges, table.rows[i][0], table.rows[i][2]))
			return -1;
	}
	return 0;
}

static bool has_number(const struct dare_row *row)
{
	return *row->paper && row->number < 23;
}

static int write_values(const struct ranges *ranges, const struct dare_rows *rows, const char *commit)
{
	struct range_values values = { .row_count = 0, .end_count = ranges->count - 1 };
	size_t column = 0;

	values.head = dare_ranges_head("How far each row moves over the ranges of dare_ranges.csv. make figures-dare shows the lowest\n"
				       "# and the highest beside its verdicts, as shares of mimic. Shapes have none: dare_shapes.csv.",
				       ranges->runs[0], commit);
	for (size_t row = 0; row < rows->count; row++)
		values.row_count += has_number(&rows->rows[row]);
	if (!values.head || bars_allocate(&values))
		return figures_error("%s", strerror(ENOMEM));
	for (size_t row = 0; row < rows->count; row++) {
		if (!has_number(&rows->rows[row]))
			continue;
		values.ids[column] = rows->rows[row].id;
		for (size_t end = 0; end < ranges->count; end++)
			*bars_value(&values, end, column) = dare_row_value(ranges->runs[end], rows->rows[row].number).value;
		column++;
	}
	for (size_t i = 1; i < ranges->count; i++)
		values.ends[i - 1] = (struct range_end){ ranges->ends[i].settings, "" };
	return bars_write(ranges->runs[0]->output, &values);
}

int dare_ranges_run(const struct dare_runs *runs, const struct dare_rows *rows, const char *folder, const char *commit)
{
	struct ranges ranges = { 0 };

	if (read_ranges(&ranges, runs, folder) || dare_runs_execute(ranges.runs, ranges.count))
		return -1;
	if (write_values(&ranges, rows, commit) || dare_effects_write(rows, ranges.ends, ranges.count, commit))
		return -1;
	printf("%s has the lowest and the highest value of each row over the ranges of dare_ranges.csv in error_bars.csv,\n"
	       "all rows at each end in ends.csv, the moves of rows there in effects.csv, and in shapes.csv how often shapes hold.\n", runs->output);
	return 0;
}
