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

/* NULL: with the reason said. */
static FILE *create(const struct ranges *ranges, const char *name, char *path, size_t size)
{
	FILE *file;

	snprintf(path, size, "%s/%s", ranges->base.output, name);
	file = fopen(path, "w");
	if (!file)
		figures_error("%s: %s", path, strerror(errno));
	return file;
}

static int finish(FILE *file, const char *path)
{
	bool is_bad = fflush(file) || ferror(file);

	fclose(file);
	return is_bad ? figures_error("%s: %s", path, strerror(errno)) : 0;
}

/* It is checked in as error_bars.csv, so it says itself what it is of. */
static int write_rows(const struct ranges *ranges, const struct rows *rows, const char *commit)
{
	char path[4096];
	FILE *file = create(ranges, "error_bars.csv", path, sizeof(path));

	if (!file)
		return -1;
	fprintf(file, "# How far each row moves over the ranges of ranges.csv. Made by make figures-ranges; the model is that of commit %s.\n"
		      "# Inputs, those that null models run:", commit);
	for (size_t i = 0; i < ranges->base.set_count; i++)
		fprintf(file, "%s %s of %s", i ? "," : "", ranges->base.sets[i].name, kernel_names[ranges->base.sets[i].kernel]);
	fputs(".\n# make figures shows the lowest and the highest beside its verdicts, as shares of mimic.\n"
	      "id,mimic,lowest,lowest with,highest,highest with\n", file);
	for (size_t i = 0; i < rows->count; i++)
		print_row(file, ranges, &rows->rows[i]);
	return finish(file, path);
}

/* All rows at each end of each range: what else moves a row. */
static int write_ends(const struct ranges *ranges, const struct rows *rows)
{
	char path[4096];
	FILE *file = create(ranges, "ends.csv", path, sizeof(path));

	if (!file)
		return -1;
	fputs("settings,systems", file);
	for (size_t i = 0; i < rows->count; i++)
		fprintf(file, ",%s", rows->rows[i].id);
	for (size_t i = 0; i <= ranges->count; i++) {
		const struct variant *variant = i ? &ranges->variants[i - 1] : NULL;

		fprintf(file, "\n%s,%s", variant ? variant->settings : "as it is", variant ? variant->systems : "");
		for (size_t row = 0; row < rows->count; row++)
			fprintf(file, ",%.3f", row_value(variant ? &variant->runs : &ranges->base, rows->rows[row].number));
	}
	fputc('\n', file);
	return finish(file, path);
}

int ranges_run(const struct runs *runs, const struct rows *rows, const char *folder, const char *commit)
{
	struct ranges ranges = { 0 };

	if (read_ranges(&ranges, runs, folder) || execute(&ranges))
		return -1;
	inputs_remove(&ranges.base);
	if (write_rows(&ranges, rows, commit) || write_ends(&ranges, rows))
		return -1;
	printf("%s has the lowest and the highest value of each row over the ranges of ranges.csv in error_bars.csv,\n"
	       "and all rows at each end in ends.csv.\n", ranges.base.output);
	return 0;
}
