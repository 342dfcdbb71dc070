/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* make figures-virgo-ranges: how far each row moves over the ranges of assumptions (virgo_ranges.csv), one parameter at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/virgo/virgo.h"

struct ranges {
	struct virgo_runs **runs;	/* the model itself, then two for each line of virgo_ranges.csv at most */
	size_t count;
};

/* Empty settings: the end is the preset's own value. */
static int add_end(struct ranges *ranges, const struct virgo_runs *runs, const char *settings, bool is_model)
{
	struct virgo_runs *variant;
	char *name;

	if (!*settings && !is_model)
		return 0;
	if (asprintf(&name, "range-%zu-", ranges->count) < 0)
		return figures_error("%s", strerror(ENOMEM));
	variant = virgo_runs_variant(runs, "ranges", name, settings);
	if (variant)
		ranges->runs[ranges->count++] = variant;
	return variant ? 0 : -1;
}

static int read_ranges(struct ranges *ranges, const struct virgo_runs *runs, const char *folder)
{
	struct table table;

	if (table_read(&table, folder, "virgo_ranges.csv"))
		return -1;
	ranges->runs = calloc(2 * table.count + 1, sizeof(struct virgo_runs *));
	if (!ranges->runs)
		return figures_error("%s", strerror(ENOMEM));
	if (add_end(ranges, runs, "", true))
		return -1;
	for (size_t i = 0; i < table.count; i++) {
		if (add_end(ranges, runs, table.rows[i][1], false) || add_end(ranges, runs, table.rows[i][2], false))
			return -1;
	}
	return 0;
}

/* Those whose points are run, and which are numbers of their own. */
static bool has_bar(const struct virgo_row *row, const struct virgo_runs *model)
{
	return row->count == 1 && virgo_row_value(model, row->number).values[0] > 0;
}

static char *head(const char *commit)
{
	char *text;

	if (asprintf(&text, "# How far each row moves over the ranges of virgo_ranges.csv. make figures-virgo shows the lowest and the highest beside its\n"
			    "# verdicts, as shares of mimic. V05 to V12, V16, V17 and V23 were not run: of Table 2 it is 256 x 256 x 256 only. Made by make figures-virgo-ranges; the model is that of commit %s.\n",
		     commit) < 0)
		return NULL;
	return text;
}

static int write_values(const struct ranges *ranges, const struct virgo_rows *rows, const char *commit)
{
	struct range_values values = { .end_count = ranges->count - 1, .head = head(commit) };
	size_t column = 0;

	for (size_t row = 0; row < rows->count; row++)
		values.row_count += has_bar(&rows->rows[row], ranges->runs[0]);
	if (!values.head || bars_allocate(&values))
		return figures_error("%s", strerror(ENOMEM));
	for (size_t row = 0; row < rows->count; row++) {
		if (!has_bar(&rows->rows[row], ranges->runs[0]))
			continue;
		values.ids[column] = rows->rows[row].id;
		for (size_t end = 0; end < ranges->count; end++)
			*bars_value(&values, end, column) = virgo_row_value(ranges->runs[end], rows->rows[row].number).values[0];
		column++;
	}
	for (size_t i = 1; i < ranges->count; i++)
		values.ends[i - 1] = (struct range_end){ ranges->runs[i]->settings, "" };
	return bars_write(ranges->runs[0]->output, &values);
}

int virgo_ranges_run(const struct virgo_runs *runs, const struct virgo_rows *rows, const char *folder, const char *commit)
{
	struct ranges ranges = { 0 };

	if (read_ranges(&ranges, runs, folder) || virgo_runs_execute(ranges.runs, ranges.count) || write_values(&ranges, rows, commit))
		return -1;
	printf("%s has the lowest and the highest value of each row over the ranges of virgo_ranges.csv in error_bars.csv, and all rows at\n"
	       "each end in ends.csv.\n", runs->output);
	return 0;
}
