/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * make figures-ranges: how far each row moves over the ranges of what the paper does not
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

static void print_end(FILE *file, double value, const struct variant *variant)
{
	fprintf(file, ",%.3f,%s%s%s", value, variant ? variant->settings : "", variant && *variant->systems ? " on " : "",
		variant ? variant->systems : "");
}

static void print_row(FILE *file, const struct ranges *ranges, const struct row *row)
{
	const struct variant *lowest = NULL, *highest = NULL;
	double base = row_value(&ranges->base, row->number), low = base, high = base;

	for (size_t i = 0; i < ranges->count; i++) {
		double value = row_value(&ranges->variants[i].runs, row->number);

		if (value < low) {
			low = value;
			lowest = &ranges->variants[i];
		}
		if (value > high) {
			high = value;
			highest = &ranges->variants[i];
		}
	}
	fprintf(file, "%s,%.3f", row->id, base);
	print_end(file, low, lowest);
	print_end(file, high, highest);
	fputc('\n', file);
}

/* Into a file in the output's folder: it is checked in as error_bars.csv. */
static int write_rows(const struct ranges *ranges, const struct rows *rows)
{
	char path[4096];
	FILE *file;
	bool is_bad;

	snprintf(path, sizeof(path), "%s/error_bars.csv", ranges->base.output);
	file = fopen(path, "w");
	if (!file)
		return figures_error("%s: %s", path, strerror(errno));
	fputs("id,mimic,lowest,lowest with,highest,highest with\n", file);
	for (size_t i = 0; i < rows->count; i++)
		print_row(file, ranges, &rows->rows[i]);
	is_bad = fflush(file) || ferror(file);
	fclose(file);
	if (is_bad)
		return figures_error("%s: %s", path, strerror(errno));
	printf("%s has the lowest and the highest value of each row over the ranges of ranges.csv.\n", path);
	return 0;
}

int ranges_run(const struct runs *runs, const struct rows *rows, const char *folder)
{
	struct ranges ranges = { 0 };

	if (read_ranges(&ranges, runs, folder) || execute(&ranges))
		return -1;
	inputs_remove(&ranges.base);
	return write_rows(&ranges, rows);
}
