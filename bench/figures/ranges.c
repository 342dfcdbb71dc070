/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * make figures-ranges: how far each row moves over the ranges of parameters that the paper does not
 * say (ranges.csv), one parameter at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/figures.h"

struct variant {
	const char *settings, *systems;
	struct runs runs;
};

struct ranges {
	struct runs base;
	struct variant *variants;	/* two of each line of ranges.csv at most */
	size_t count;
};

/* Empty settings: the end is the preset's own value. */
static int add_variant(struct ranges *ranges, const char *settings, const char *systems)
{
	struct variant *variant = &ranges->variants[ranges->count];
	char *name;

	if (!*settings)
		return 0;
	if (asprintf(&name, "range-%zu-", ++ranges->count) < 0)
		return figures_error("%s", strerror(ENOMEM));
	variant->settings = settings;
	variant->systems = systems;
	return runs_variant(&variant->runs, &ranges->base, name, settings, systems);
}

static int read_ranges(struct ranges *ranges, const struct runs *runs, const char *folder)
{
	struct table table;

	if (table_read(&table, folder, "ranges.csv") || runs_small(&ranges->base, runs) ||
	    inputs_save(&ranges->base))
		return -1;
	ranges->variants = calloc(2 * table.count + 1, sizeof(*ranges->variants));
	if (!ranges->variants)
		return figures_error("%s", strerror(ENOMEM));
	for (size_t i = 0; i < table.count; i++) {
		char **row = table.rows[i];

		if (add_variant(ranges, row[2], row[1]) || add_variant(ranges, row[3], row[1]))
			return -1;
	}
	return 0;
}

static int execute(struct ranges *ranges)
{
	struct runs **all = calloc(ranges->count + 1, sizeof(struct runs *));
	int error;

	if (!all)
		return figures_error("%s", strerror(ENOMEM));
	all[0] = &ranges->base;
	for (size_t i = 0; i < ranges->count; i++)
		all[i + 1] = &ranges->variants[i].runs;
	error = runs_execute(all, ranges->count + 1);
	free(all);
	return error;
}

/* The comment lines of the table that is checked in: they name its origin. */
static char *head_of(const struct ranges *ranges, const char *commit)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fprintf(file, "# How far each row moves over the ranges of ranges.csv. Made by make figures-ranges; the model is that of commit %s.\n"
		      "# Inputs, those that null models run:", commit);
	for (size_t i = 0; i < ranges->base.set_count; i++)
		fprintf(file, "%s %s of %s", i ? "," : "", ranges->base.sets[i].name, kernel_names[ranges->base.sets[i].kernel]);
	fputs(".\n# make figures shows the lowest and the highest beside its verdicts, as shares of mimic.\n", file);
	fclose(file);
	return text;
}

static int write_values(const struct ranges *ranges, const struct rows *rows, const char *commit)
{
	struct range_values values = { .row_count = rows->count, .end_count = ranges->count, .head = head_of(ranges, commit) };

	if (!values.head || bars_allocate(&values))
		return figures_error("%s", strerror(ENOMEM));
	for (size_t row = 0; row < rows->count; row++) {
		values.ids[row] = rows->rows[row].id;
		for (size_t i = 0; i <= ranges->count; i++)
			*bars_value(&values, i, row) = row_value(i ? &ranges->variants[i - 1].runs : &ranges->base,
								 rows->rows[row].number);
	}
	for (size_t i = 0; i < ranges->count; i++)
		values.ends[i] = (struct range_end){ ranges->variants[i].settings, ranges->variants[i].systems };
	return bars_write(ranges->base.output, &values);
}

int ranges_run(const struct runs *runs, const struct rows *rows, const char *folder, const char *commit)
{
	struct ranges ranges = { 0 };

	if (read_ranges(&ranges, runs, folder) || execute(&ranges))
		return -1;
	inputs_remove(&ranges.base);
	if (write_values(&ranges, rows, commit))
		return -1;
	printf("%s has the lowest and the highest value of each row over the ranges of ranges.csv in error_bars.csv,\n"
	       "and all rows at each end in ends.csv.\n", ranges.base.output);
	return 0;
}
