/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * make figures-dare-ranges: how far each row moves over the ranges of what the paper does not say (dare_ranges.csv), one
 * parameter at a time, on the data sets of null models.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

struct ranges {
	struct dare_runs **runs;	/* as it is, then two for each line of dare_ranges.csv at most */
	const char **settings;		/* of all but the first */
	size_t count;			/* of ends */
};

/* Empty settings: the end is the preset's own value. */
static int add_end(struct ranges *ranges, const char *settings)
{
	struct dare_change change = { .modes = "", .settings = settings, .instead = "" };
	char *name;

	if (!*settings)
		return 0;
	if (asprintf(&name, "range-%zu-", ++ranges->count) < 0)
		return figures_error("%s", strerror(ENOMEM));
	change.name = name;
	ranges->settings[ranges->count - 1] = settings;
	ranges->runs[ranges->count] = dare_runs_variant(ranges->runs[0], &change);
	return ranges->runs[ranges->count] ? 0 : -1;
}

static int read_ranges(struct ranges *ranges, const struct dare_runs *runs, const char *folder)
{
	struct table table;

	if (table_read(&table, folder, "dare_ranges.csv"))
		return -1;
	ranges->runs = calloc(2 * table.count + 1, sizeof(struct dare_runs *));
	ranges->settings = calloc(2 * table.count + 1, sizeof(*ranges->settings));
	if (!ranges->runs || !ranges->settings)
		return figures_error("%s", strerror(ENOMEM));
	ranges->runs[0] = dare_runs_small(runs);
	if (!ranges->runs[0])
		return -1;
	/* Of sweeps there are shapes only, which have no bar. */
	for (size_t i = 0; i < ranges->runs[0]->system_count; i++) {
		struct dare_system *system = &ranges->runs[0]->systems[i];

		if (system->size == SIZE_SMALL || system->size == SIZE_PLOTS)
			memset(system->kernel, 0, sizeof(system->kernel));
	}
	for (size_t i = 0; i < table.count; i++) {
		if (add_end(ranges, table.rows[i][1]) || add_end(ranges, table.rows[i][2]))
			return -1;
	}
	return 0;
}

/* The comment lines of the table that is checked in: it says itself what it is of. */
static char *head_of(const struct dare_runs *base, const char *commit)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fprintf(file, "# How far each row moves over the ranges of dare_ranges.csv. Made by make figures-dare-ranges; the model is that of commit %s.\n"
		      "# Inputs, those that null models run:", commit);
	for (size_t i = 0; i < base->set_count; i++)
		fprintf(file, "%s %s", i ? "," : "", base->sets[i].name);
	fputs(".\n# make figures-dare shows the lowest and the highest beside its verdicts, as shares of mimic. Shapes have none.\n", file);
	fclose(file);
	return text;
}

static bool has_number(const struct dare_row *row)
{
	return *row->paper && row->number < 23;
}

static int write_values(const struct ranges *ranges, const struct dare_rows *rows, const char *commit)
{
	struct range_values values = { .row_count = 0, .end_count = ranges->count, .head = head_of(ranges->runs[0], commit) };
	size_t column = 0;

	for (size_t row = 0; row < rows->count; row++)
		values.row_count += has_number(&rows->rows[row]);
	if (!values.head || bars_allocate(&values))
		return figures_error("%s", strerror(ENOMEM));
	for (size_t row = 0; row < rows->count; row++) {
		if (!has_number(&rows->rows[row]))
			continue;
		values.ids[column] = rows->rows[row].id;
		for (size_t end = 0; end <= ranges->count; end++)
			*bars_value(&values, end, column) = dare_row_value(ranges->runs[end], rows->rows[row].number).value;
		column++;
	}
	for (size_t i = 0; i < ranges->count; i++)
		values.ends[i] = (struct range_end){ ranges->settings[i], "" };
	return bars_write(ranges->runs[0]->output, &values);
}

int dare_ranges_run(const struct dare_runs *runs, const struct dare_rows *rows, const char *folder, const char *commit)
{
	struct ranges ranges = { 0 };

	if (read_ranges(&ranges, runs, folder) || dare_runs_execute(ranges.runs, ranges.count + 1))
		return -1;
	if (write_values(&ranges, rows, commit))
		return -1;
	printf("%s has the lowest and the highest value of each row over the ranges of dare_ranges.csv in error_bars.csv,\n"
	       "and all rows at each end in ends.csv.\n", runs->output);
	return 0;
}
