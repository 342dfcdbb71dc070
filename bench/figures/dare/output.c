/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The table of rows, for people and as CSV. */
#include <string.h>

#include "bench/figures/dare/dare.h"

static bool is_shape(const struct dare_row *row)
{
	return strcmp(row->kind, "shape") == 0;
}

static void print_number(const char *format, double value)
{
	char text[16] = "";

	if (value > 0)
		snprintf(text, sizeof(text), "%.3f", value);
	printf(format, text);
}

/* It is not reproduced, and there is data. */
static bool is_explained(const struct dare_row *row)
{
	return strcmp(row->verdict, verdict_name(IN_KIND)) == 0 || strcmp(row->verdict, verdict_name(DEVIATES)) == 0;
}

/* A row that is no number has no bar: at how many ends of ranges it says the same. */
static void print_bar(char *text, size_t size, const struct dare_row *row)
{
	if (row->shape && (is_shape(row) || strcmp(row->kind, "crossover") == 0))
		snprintf(text, size, "%s of %s", row->shape[2], row->shape[3]);
	else
		bar_print(text, size, row->bar);
}

static void print_row(const struct dare_row *row)
{
	bool is_reproduced = strcmp(row->verdict, verdict_name(REPRODUCED)) == 0;
	bool is_number = *row->paper && row->low > 0 && row->value.value > 0;
	char bar[24], null[16] = "";

	print_bar(bar, sizeof(bar), row);
	if (is_shape(row) && *row->null_name)
		snprintf(null, sizeof(null), "%s", row->null.is_shape ? "holds" : "fails");
	else if (row->null.value > 0)
		snprintf(null, sizeof(null), "%.3f", row->null.value);
	printf("%-4s %-65.65s %10s", row->id, row->what, *row->paper ? row->paper : row->kind);
	print_number(" %8s", is_shape(row) ? 0 : row->value.value);
	print_number(" %8s", row->value.second);
	printf(" %11s", bar);
	print_number(" %6.4s", is_number ? row->value.value / row->low : 0);
	printf(" %8s %-20s  %s%s", null, row->null_name, row->verdict, is_reproduced && row->is_fitted ? ", fitted" : "");
	printf("%s%s\n", *row->why && is_explained(row) ? ": " : "", is_explained(row) ? row->why : "");
}

static unsigned int count_rows(const struct dare_rows *rows, enum verdict verdict)
{
	unsigned int count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += strcmp(rows->rows[i].verdict, verdict_name(verdict)) == 0;
	return count;
}

void dare_print_rows(const struct dare_rows *rows)
{
	unsigned int counted = 0;

	printf("%-4s %-65s %10s %8s %8s %11s %6s %8s %-20s  %s\n", "row", "compared", "paper", "mimic", "second", "error bar", "ratio",
	       "null", "null model", "verdict");
	for (size_t i = 0; i < rows->count; i++) {
		if (strcmp(rows->rows[i].verdict, verdict_name(CONSISTENT)))
			print_row(&rows->rows[i]);
	}
	puts("\nConsistent: as the paper says, but a model without a part that the paper names as the cause gets it, too:");
	for (size_t i = 0; i < rows->count; i++) {
		if (strcmp(rows->rows[i].verdict, verdict_name(CONSISTENT)) == 0)
			print_row(&rows->rows[i]);
	}
	puts("\nSecond: D04 to D07 with libdare's own kernels, D08 and D13 the highest, D09 to D12 performance by energy, D14 B = 8, D17 GEMM,\n"
	     "and of D19 and D20 the least gain by a larger VMR or RIQ, D25 the mean latency of nvr's demanded rows by base's, from issue.\n"
	     "Error bar: over the ranges of parameters that the paper leaves open (make figures-dare-ranges), one at a time, on small inputs;\n"
	     "of shapes and block sizes at how many ends of all ranges they are the same.\n"
	     "Fitted: choices that the paper leaves open were made after a prototype's results on D02 to D07 had been seen (docs/timing-dare.md).");
	for (int verdict = 0; verdict < VERDICTS; verdict++)
		counted += count_rows(rows, (enum verdict)verdict);
	printf("Of %u rows %u are reproduced, %u consistent, %u in kind, %u deviate", counted, count_rows(rows, REPRODUCED),
	       count_rows(rows, CONSISTENT), count_rows(rows, IN_KIND), count_rows(rows, DEVIATES));
	if (count_rows(rows, NO_DATA))
		printf(", %u have no data", count_rows(rows, NO_DATA));
	puts(".");
}

void dare_print_data(const struct dare_runs *runs, const struct dare_nulls *nulls)
{
	if (runs->missing)
		printf("%u data sets were left out: their files are not there.\n", runs->missing);
	for (size_t i = 0; i < runs->set_count; i++) {
		if (runs->sets[i].is_instead)
			printf("%s: its file is not there; a generated one stands in, and gives other numbers (docs/timing-dare.md).\n",
			       runs->sets[i].name);
		if (runs->sets[i].is_extra)
			printf("%s: run, but in no number above and in no gate (datasets.csv has its speedups).\n", runs->sets[i].name);
	}
	fputs("Null models run on", stdout);
	for (size_t i = 0; i < nulls->small->set_count; i++)
		printf("%s %s", i ? "," : "", nulls->small->sets[i].name);
	puts(" (small ones; table.csv has the model's own values on these).");
}

static int write_table(const struct dare_rows *rows, const char *output)
{
	FILE *file = figures_create(output, "table", "csv");

	if (!file)
		return -1;
	fputs("id,where,workload,compared,ours,paper,mimic,second,verdict,fitted,null model,of its data sets,of the null model,"
	      "lowest by assumptions,highest by assumptions,same at ends,of ends,why\n", file);
	for (size_t i = 0; i < rows->count; i++) {
		const struct dare_row *row = &rows->rows[i];

		fprintf(file, "%s,\"%s\",\"%s\",\"%s\",\"%s\",\"%s\",%.3f,%.3f,%s,%s,%s,%.3f,%.3f,%.3f,%.3f,%s,%s,\"%s\"\n", row->id,
			row->where, row->workload, row->what, row->ours, row->paper, row->value.value, row->value.second, row->verdict,
			row->is_fitted ? "yes" : "", row->null_name, row->small.value, row->null.value, row->bar.low, row->bar.high,
			row->shape ? row->shape[2] : "", row->shape ? row->shape[3] : "",
			is_explained(row) ? row->why : "");
	}
	return figures_finish(file);
}

static int write_nulls(const struct dare_rows *rows, const struct dare_nulls *nulls, const char *output)
{
	FILE *file = figures_create(output, "nulls", "csv");

	if (!file)
		return -1;
	fputs("id,null model,value,second,gets the row\n", file);
	for (size_t i = 0; i < rows->count; i++) {
		const struct dare_row *row = &rows->rows[i];
		const struct dare_null *model;
		size_t next = 0;

		while ((model = dare_nulls_next(nulls, row->id, &next))) {
			struct dare_outcome outcome = dare_row_value(model->runs, row->number);

			fprintf(file, "%s,%s,%.3f,%.3f,%s\n", row->id, model->name, outcome.value, outcome.second,
				dare_row_holds(row, &outcome) ? "yes" : "no");
		}
	}
	return figures_finish(file);
}

int dare_write_rows(const struct dare_rows *rows, const struct dare_runs *runs, const struct dare_nulls *nulls)
{
	return write_table(rows, runs->output) || write_nulls(rows, nulls, runs->output) ? -1 : 0;
}
