/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The table of rows, for people and as CSV. */
#include <string.h>

#include "bench/figures/virgo/virgo.h"

/* It is not reproduced, and there is data. */
static bool is_explained(const char *verdict)
{
	return strcmp(verdict, verdict_name(IN_KIND)) == 0 || strcmp(verdict, verdict_name(DEVIATES)) == 0 ||
	       strcmp(verdict, verdict_name(CONSISTENT)) == 0;
}

static void print_value(char *text, size_t size, const struct virgo_row *row, double value)
{
	*text = '\0';
	if (value != 0)
		snprintf(text, size, strcmp(row->unit, "cycles") ? "%.1f" : "%.0f", value);
}

static void print_ratio(const struct virgo_row *row, const struct virgo_outcome *outcome)
{
	double ratio = row->count == 1 ? virgo_row_ratio(row, outcome, 0) : 0;

	if (ratio != 0)
		printf(" %6.3f", ratio);
	else
		printf(" %6s", "");
}

static void print_outcome(const struct virgo_row *row, const struct virgo_outcome *outcome)
{
	char values[2][16];

	print_value(values[0], sizeof(values[0]), row, outcome->values[0]);
	/* Those of V13 to V15 have lines of their own. */
	print_value(values[1], sizeof(values[1]), row, row->count <= 1 ? outcome->values[1] : 0);
	printf(" %9s %5s", values[0], values[1]);
	print_ratio(row, outcome);
}

static void print_row(const struct virgo_row *row)
{
	char bar[24], null[16];

	bar_print(bar, sizeof(bar), row->bar);
	print_value(null, sizeof(null), row, row->null.values[0]);
	printf("%-4s %-45.45s %9.9s", row->id, row->what, row->count == 1 ? row->paper : row->kind);
	print_outcome(row, &row->value);
	printf(" %11s %8s %-18s %-18s", bar, null, row->null_name, row->verdict);
	if (row->fitted.values[0] != 0) {
		print_outcome(row, &row->fitted);
		printf("  %s", row->fitted_verdict);
	}
	if (*row->note)
		printf("; %s", row->note);
	if (*row->why && (is_explained(row->verdict) || is_explained(row->fitted_verdict)))
		printf(": %s", row->why);
	putchar('\n');
	for (unsigned int i = 0; row->count > 1 && i < row->count; i++)
		printf("     %-45.45s %9.1f %9.1f %5s %6.3f %59s %9.1f %5s %6.3f\n", virgo_designs[i], row->values[i], row->value.values[i], "",
		       virgo_row_ratio(row, &row->value, i), "", row->fitted.values[i], "", virgo_row_ratio(row, &row->fitted, i));
}

static unsigned int count_rows(const struct virgo_rows *rows, enum verdict verdict, bool is_fitted)
{
	unsigned int count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct virgo_row *row = &rows->rows[i];
		/* A row that has not been run with fits is the same with them. */
		const char *word = is_fitted && row->fitted.values[0] != 0 ? row->fitted_verdict : row->verdict;

		count += strcmp(word, verdict_name(verdict)) == 0;
	}
	return count;
}

static void print_counts(const struct virgo_rows *rows, const char *what, bool is_fitted)
{
	unsigned int all = 0;

	for (int verdict = 0; verdict < VERDICTS; verdict++)
		all += count_rows(rows, (enum verdict)verdict, is_fitted);
	printf("%s: of %u rows %u are reproduced, %u consistent, %u in kind, %u deviate", what, all,
	       count_rows(rows, REPRODUCED, is_fitted), count_rows(rows, CONSISTENT, is_fitted), count_rows(rows, IN_KIND, is_fitted),
	       count_rows(rows, DEVIATES, is_fitted));
	if (count_rows(rows, NO_DATA, is_fitted))
		printf(", %u have no data", count_rows(rows, NO_DATA, is_fitted));
	puts(".");
}

/* Of Table 2's twelve cycle counts. */
static unsigned int count_within(const struct virgo_rows *rows, double share, bool is_fitted)
{
	unsigned int count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct virgo_row *row = &rows->rows[i];
		double ratio = virgo_row_ratio(row, is_fitted ? &row->fitted : &row->value, 0);

		count += strcmp(row->unit, "cycles") == 0 && ratio > 1 - share && ratio < 1 + share;
	}
	return count;
}

void virgo_print_rows(const struct virgo_rows *rows, const char *fits)
{
	printf("%-4s %-45s %9s %9s %5s %6s %11s %8s %-18s %-18s %9s %5s %6s  verdict\n", "row", "compared", "paper", "mimic", "2nd", "ratio",
	       "error bar", "null", "null model", "verdict", "fitted", "2nd", "ratio");
	for (size_t i = 0; i < rows->count; i++)
		print_row(&rows->rows[i]);
	printf("\nmimic: nothing fitted. fitted: with %s (virgo_fits.csv). \"Nothing fitted\" is about values: mechanisms were chosen with\n"
	       "the rows in sight, so it is no prediction (docs/timing-virgo.md). 2nd: V20 512 x 512 x 512, V23 TC with DMA.\n"
	       "Of V16 to V19 the ratio is that of the part that is left. Error bar: over the ranges of assumptions (make figures-virgo-ranges).\n"
	       "Of the 12 cycle counts %u are within 3 %% and %u within 10 %% with nothing fitted; %u and %u with fitted values.\n", fits,
	       count_within(rows, 0.03, false), count_within(rows, 0.1, false), count_within(rows, 0.03, true), count_within(rows, 0.1, true));
	print_counts(rows, "Nothing fitted", false);
	print_counts(rows, "With fitted values", true);
}

void virgo_print_nulls(const struct virgo_view *view)
{
	printf("\nWithout one mechanism: cycles at 256 x 256 x 256, in percent\n%-20s", "");
	for (size_t design = 0; design < VIRGO_TABLE_DESIGNS; design++)
		printf(" %10s", virgo_designs[design]);
	putchar('\n');
	for (size_t i = 0; i < view->nulls->count; i++) {
		printf("%-20s", view->nulls->models[i].name);
		for (size_t design = 0; design < VIRGO_TABLE_DESIGNS; design++) {
			double change = 0;

			virgo_null_change(&view->nulls->models[i], view->runs, virgo_designs[design], &change);
			printf(" %+10.1f", change);
		}
		putchar('\n');
	}
}

/* --- files ------------------------------------------------------------------------------------------ */

static int write_table(const struct virgo_rows *rows, const char *output)
{
	FILE *file = figures_create(output, "table", "csv");

	if (!file)
		return -1;
	fputs("id,where,workload,compared,ours,paper,unit,mimic,second,third,fourth,ratio,verdict,fitted,fitted ratio,fitted verdict,null model,"
	      "of the null model,lowest by assumptions,highest by assumptions,note,why\n", file);
	for (size_t i = 0; i < rows->count; i++) {
		const struct virgo_row *row = &rows->rows[i];

		fprintf(file, "%s,\"%s\",\"%s\",\"%s\",\"%s\",\"%s\",%s,%.3f,%.3f,%.3f,%.3f,%.3f,%s,%.3f,%.3f,%s,%s,%.3f,%.3f,%.3f,\"%s\",\"%s\"\n",
			row->id, row->where, row->workload, row->what, row->ours, row->paper, row->unit, row->value.values[0],
			row->value.values[1], row->value.values[2], row->value.values[3], virgo_row_ratio(row, &row->value, 0), row->verdict,
			row->fitted.values[0], virgo_row_ratio(row, &row->fitted, 0), row->fitted.values[0] != 0 ? row->fitted_verdict : "",
			row->null_name, row->null.values[0], row->bar.low, row->bar.high, row->note, row->why);
	}
	return figures_finish(file);
}

static int write_nulls(const struct virgo_rows *rows, const struct virgo_view *view)
{
	FILE *file = figures_create(view->runs->output, "nulls", "csv");

	if (!file)
		return -1;
	fputs("id,null model,value,ratio,gets the row\n", file);
	for (size_t i = 0; i < rows->count; i++) {
		const struct virgo_row *row = &rows->rows[i];
		const struct virgo_null *model;
		size_t next = 0;

		while ((model = virgo_nulls_next(view->nulls, row->id, &next))) {
			struct virgo_outcome outcome = virgo_row_value(model->runs, row->number);

			fprintf(file, "%s,%s,%.3f,%.3f,%s\n", row->id, model->name, outcome.values[0], virgo_row_ratio(row, &outcome, 0),
				virgo_row_holds(row, &outcome) ? "yes" : "no");
		}
	}
	return figures_finish(file);
}

static int write_mechanisms(const struct virgo_view *view)
{
	FILE *file = figures_create(view->runs->output, "mechanisms", "csv");

	if (!file)
		return -1;
	fputs("without,size", file);
	for (size_t design = 0; design < VIRGO_TABLE_DESIGNS; design++)
		fprintf(file, ",%s", virgo_designs[design]);
	for (size_t i = 0; i < view->nulls->count; i++) {
		for (size_t size = 0; size < VIRGO_SIZES; size++) {
			fprintf(file, "\n%s,%s", view->nulls->models[i].name, virgo_sizes[size]);
			for (size_t design = 0; design < VIRGO_TABLE_DESIGNS; design++)
				fprintf(file, ",%.0f", virgo_cycles(view->nulls->models[i].runs, virgo_sizes[size], virgo_designs[design]));
		}
	}
	fputc('\n', file);
	return figures_finish(file);
}

int virgo_write_rows(const struct virgo_rows *rows, const struct virgo_view *view)
{
	return write_table(rows, view->runs->output) || write_nulls(rows, view) || write_mechanisms(view) ? -1 : 0;
}
