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
	fprintf(stderr, "Usage: %s --build DIR --tables DIR --output DIR [--data DIR] [--jobs N]\n", name);
	return 2;
}

static void print_rows(const struct rows *rows)
{
	printf("%-4s %-67s %10s %8s %6s  %s\n", "row", "compared", "paper", "mimic", "ratio", "verdict");
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->rows[i];
		double middle = (row->low + row->high) / 2;
		char ratio[16] = "";

		if (middle > 0)
			snprintf(ratio, sizeof(ratio), "%.2f", row->value / middle);
		printf("%-4s %-67s %10s %8.3f %6s  %s%s%s\n", row->id, row->what, *row->paper ? row->paper : row->kind,
		       row->value, ratio, row->verdict, *row->why ? ": " : "", row->why);
	}
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

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "build", required_argument, NULL, 'b' }, { "tables", required_argument, NULL, 't' },
		{ "output", required_argument, NULL, 'o' }, { "data", required_argument, NULL, 'd' },
		{ "jobs", required_argument, NULL, 'j' }, { NULL, 0, NULL, 0 },
	};
	struct runs runs = { .jobs = tool_jobs_processors() };
	static struct rows rows;
	const char *tables = NULL;
	int option, closed;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'b': runs.build = optarg; break;
		case 't': tables = optarg; break;
		case 'o': runs.output = optarg; break;
		case 'd': runs.data = *optarg ? optarg : NULL; break;
		case 'j': runs.jobs = (unsigned int)atoi(optarg); break;
		default: return usage(argv[0]);
		}
	}
	if (!runs.build || !tables || !runs.output || runs.jobs < 1 || optind != argc)
		return usage(argv[0]);
	if (runs_read(&runs, tables) || rows_read(&rows, tables) || runs_execute(&runs))
		return 1;
	rows_judge(&rows, &runs);
	if (plots_write(&runs, &rows))
		return 1;
	print_rows(&rows);
	putchar('\n');
	print_data(&runs);
	print_all(&rows);
	closed = print_gates(&runs);
	printf("\n%s has the table, a CSV and a plot of each figure, and the report of each point.\n", runs.output);
	return closed ? 1 : 0;
}
