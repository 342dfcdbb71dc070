/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/figures.h"
#include "tools/common/jobs.h"

int figures_error(const char *format, ...)
{
	va_list list;

	fputs("figures: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	return -1;
}

static int usage(const char *name)
{
	fprintf(stderr, "Usage: %s --build DIR --tables DIR --output DIR [--data DIR] [--jobs N] [--ranges [--commit TEXT]]\n", name);
	return 2;
}

static void print_row(const struct row *row)
{
	double middle = (row->low + row->high) / 2;
	char ratio[16] = "", null[16] = "", bar[24] = "";

	if (middle > 0)
		snprintf(ratio, sizeof(ratio), "%.2f", row->value / middle);
	if (row->value_of_null > 0)
		snprintf(null, sizeof(null), "%.3f", row->value_of_null);
	if (row->bar_low > 0)
		snprintf(bar, sizeof(bar), "%+.0f%% %+.0f%%", 100 * (row->bar_low - 1), 100 * (row->bar_high - 1));
	printf("%-4s %-67s %10s %8.3f %11s %6s %8s %-22s  %s%s%s\n", row->id, row->what, *row->paper ? row->paper : row->kind,
	       row->value, bar, ratio, null, row->null, verdict_name(row->verdict), *row->why ? ": " : "", row->why);
}

static void print_rows(const struct rows *rows)
{
	unsigned int counts[VERDICTS] = { 0 };

	printf("%-4s %-67s %10s %8s %11s %6s %8s %-22s  %s\n", "row", "compared", "paper", "mimic", "error bar", "ratio", "null",
	       "null model", "verdict");
	for (size_t i = 0; i < rows->count; i++) {
		counts[rows->rows[i].verdict]++;
		if (rows->rows[i].verdict != CONSISTENT)
			print_row(&rows->rows[i]);
	}
	puts("\nConsistent: as the paper says, but a model without the part that the paper names as the cause gets it, too:");
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].verdict == CONSISTENT)
			print_row(&rows->rows[i]);
	}
	puts("\nError bar: over the ranges of what the paper does not say (make figures-ranges), one at a time, on small inputs.");
	printf("Of %zu rows %u are reproduced, %u consistent, %u in kind, %u deviate", rows->count, counts[REPRODUCED],
	       counts[CONSISTENT], counts[IN_KIND], counts[DEVIATES]);
	if (counts[NO_DATA])
		printf(", %u have no data", counts[NO_DATA]);
	puts(".");
}

/* What the numbers above are not of. */
static void print_data(const struct runs *runs)
{
	for (size_t i = 0; i < runs->set_count; i++) {
		if (!runs->sets[i].is_in_means)
			printf("%s of %s: run, but in no number above (datasets.csv says why).\n", runs->sets[i].name,
			       kernel_names[runs->sets[i].kernel]);
	}
	if (runs->missing)
		printf("%u data sets were left out: their files are not there.\n", runs->missing);
}

static void print_all(const struct rows *rows)
{
	const char *before = "With all data sets: ";

	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->rows[i];

		if (row->value_of_all == row->value)
			continue;
		printf("%s%s %.3f", before, row->id, row->value_of_all);
		before = ", ";
	}
	if (*before == ',')
		puts(".");
}

static void print_small(const struct nulls *nulls)
{
	fputs("Null models run on", stdout);
	for (size_t i = 0; i < nulls->small.set_count; i++)
		printf("%s %s of %s", i ? "," : "", nulls->small.sets[i].name, kernel_names[nulls->small.sets[i].kernel]);
	puts(" (table.csv has the model's own values on these).");
}

static int print_gates(const struct runs *runs)
{
	struct gate gates[GATES_MAX];
	size_t count = gates_check(gates, runs);
	int closed = 0;

	puts("\nOrderings and shapes that must come out:");
	for (size_t i = 0; i < count; i++) {
		printf("%-4s %s (%s)\n", gates[i].is_open ? "yes" : "NO", gates[i].text, gates[i].seen);
		closed += !gates[i].is_open;
	}
	return closed;
}

static int execute(struct runs *runs, struct nulls *nulls)
{
	struct runs *all[NULLS_MAX + 2] = { runs, &nulls->small };

	for (size_t i = 0; i < nulls->count; i++)
		all[i + 2] = &nulls->models[i].runs;
	return runs_execute(all, nulls->count + 2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "build", required_argument, NULL, 'b' }, { "tables", required_argument, NULL, 't' },
		{ "output", required_argument, NULL, 'o' }, { "data", required_argument, NULL, 'd' },
		{ "jobs", required_argument, NULL, 'j' }, { "ranges", no_argument, NULL, 'r' },
		{ "commit", required_argument, NULL, 'c' }, { NULL, 0, NULL, 0 },
	};
	struct runs runs = { .jobs = tool_jobs_processors(), .name = "", .settings = "" };
	static struct rows rows;
	static struct nulls nulls;
	const char *tables = NULL, *commit = "unknown";
	bool is_of_ranges = false;
	int option, closed;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'b': runs.build = optarg; break;
		case 't': tables = optarg; break;
		case 'o': runs.output = optarg; break;
		case 'd': runs.data = *optarg ? optarg : NULL; break;
		case 'j': runs.jobs = (unsigned int)atoi(optarg); break;
		case 'r': is_of_ranges = true; break;
		case 'c': commit = optarg; break;
		default: return usage(argv[0]);
		}
	}
	if (!runs.build || !tables || !runs.output || runs.jobs < 1 || optind != argc)
		return usage(argv[0]);
	if (runs_read(&runs, tables) || rows_read(&rows, tables))
		return 1;
	if (is_of_ranges)
		return ranges_run(&runs, &rows, tables, commit) ? 1 : 0;
	if (inputs_save(&runs) || nulls_read(&nulls, &runs, tables) || execute(&runs, &nulls))
		return 1;
	inputs_remove(&runs);
	rows_judge(&rows, &runs, &nulls);
	if (plots_write(&runs, &rows))
		return 1;
	print_rows(&rows);
	putchar('\n');
	print_data(&runs);
	print_all(&rows);
	print_small(&nulls);
	closed = print_gates(&runs) + (int)nulls_check(&nulls);
	printf("\n%s has the table, a CSV and a plot of each figure, and the report of each point.\n", runs.output);
	return closed ? 1 : 0;
}
