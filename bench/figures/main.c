/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <string.h>

#include "bench/figures/figures.h"

static void print_row(const struct row *row)
{
	double middle = (row->low + row->high) / 2;
	char ratio[16] = "", null[16] = "", bar[24] = "";

	if (middle > 0)
		snprintf(ratio, sizeof(ratio), "%.2f", row->value / middle);
	if (row->value_of_null > 0)
		snprintf(null, sizeof(null), "%.3f", row->value_of_null);
	bar_print(bar, sizeof(bar), row->bar);
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
	puts("\nConsistent: as the paper says, but a model without the part that the paper names as the cause "
	     "gets it, too, or has the model's value on the same inputs:");
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->rows[i].verdict == CONSISTENT)
			print_row(&rows->rows[i]);
	}
	puts("\nError bar: over the ranges of parameters that the paper leaves open (make figures-ranges), one at a time, on small inputs.");
	printf("Of %zu rows %u are reproduced, %u consistent, %u in kind, %u deviate", rows->count, counts[REPRODUCED],
	       counts[CONSISTENT], counts[IN_KIND], counts[DEVIATES]);
	if (counts[NO_DATA])
		printf(", %u have no data", counts[NO_DATA]);
	puts(".");
}

/* Says which data the numbers above leave out. */
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

	return gates_tell(gates, count);
}

static int execute(struct runs *runs, struct nulls *nulls, struct runs *warm)
{
	struct runs *all[NULLS_MAX + 3] = { runs, &nulls->small, warm };

	for (size_t i = 0; i < nulls->count; i++)
		all[i + 3] = &nulls->models[i].runs;
	return runs_execute(all, nulls->count + 3);
}

int main(int argc, char **argv)
{
	struct runs runs = { .name = "", .settings = "" }, warm;
	static struct rows rows;
	static struct nulls nulls;
	struct figures_options options;
	int status = figures_options(&options, argc, argv), closed;

	if (status)
		return status;
	runs.build = options.build;
	runs.data = options.data;
	runs.output = options.output;
	runs.jobs = options.jobs;
	if (runs_read(&runs, options.tables) || rows_read(&rows, options.tables))
		return 1;
	if (options.is_of_ranges)
		return ranges_run(&runs, &rows, options.tables, options.commit) ? 1 : 0;
	if (inputs_save(&runs) || nulls_read(&nulls, &runs, options.tables) || runs_warm(&warm, &runs) ||
	    execute(&runs, &nulls, &warm))
		return 1;
	inputs_remove(&runs);
	rows_judge(&rows, &runs, &nulls);
	if (plots_write(&runs, &rows) || warm_write(&warm, &runs))
		return 1;
	print_rows(&rows);
	putchar('\n');
	print_data(&runs);
	print_all(&rows);
	print_small(&nulls);
	warm_tell(&warm, &runs);
	closed = print_gates(&runs) + (int)nulls_check(&nulls);
	printf("\n%s has the table, a CSV and a plot of each figure, and the report of each point.\n", runs.output);
	return closed ? 1 : 0;
}
