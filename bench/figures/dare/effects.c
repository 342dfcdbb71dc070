/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The effect of each end of a range: how far it moves a row's number, or whether the row still holds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

/* Less than this is no change, in percent. */
#define SMALL_CHANGE 0.05

char *dare_ranges_head(const char *what, const struct dare_runs *model, const char *commit)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fprintf(file, "# %s Made by make figures-dare-ranges; the model is that of commit %s.\n"
		      "# Inputs, those that null models run:", what, commit);
	for (size_t i = 0; i < model->set_count; i++)
		fprintf(file, "%s %s", i ? "," : "", model->sets[i].name);
	fputs(".\n", file);
	return fclose(file) ? NULL : text;
}

static bool is_kind(const struct dare_row *row, const char *kind)
{
	return strcmp(row->kind, kind) == 0;
}

/* It is no number that could be moved by a share of it. */
static bool has_statement(const struct dare_row *row)
{
	return is_kind(row, "shape") || is_kind(row, "crossover") || is_kind(row, "below");
}

static bool is_simulated(const struct dare_row *row)
{
	return !is_kind(row, "parameters") && row->number != 23 && row->number != 24;
}

/* A row's statement in some runs, in words. */
static void print_statement(char *text, size_t size, const struct dare_row *row, const struct dare_runs *runs)
{
	struct dare_outcome outcome = dare_row_value(runs, row->number);

	if (is_kind(row, "shape"))
		snprintf(text, size, "%s", outcome.is_shape ? "holds" : "fails");
	else if (is_kind(row, "below"))
		snprintf(text, size, "%s", outcome.value < row->high ? "below" : "not below");
	else
		snprintf(text, size, "%.0f", outcome.value);
}

/* --- effects.csv ------------------------------------------------------------------------------ */

static void print_effect(FILE *file, const struct dare_row *row, const struct dare_end *ends, size_t end)
{
	double before = dare_row_value(ends[0].runs, row->number).value, now = dare_row_value(ends[end].runs, row->number).value;
	char text[16], model[16];

	if (is_kind(row, "shape") || is_kind(row, "crossover")) {
		print_statement(model, sizeof(model), row, ends[0].runs);
		print_statement(text, sizeof(text), row, ends[end].runs);
		fprintf(file, ",%s", end && strcmp(text, model) == 0 ? "" : text);
	} else if (!end) {
		fprintf(file, ",%.3f", before);
	} else if (before > 0 && fabs(now / before - 1) * 100 >= SMALL_CHANGE) {
		fprintf(file, ",%+.1f", 100 * (now / before - 1));
	} else {
		fputc(',', file);
	}
}

static int write_effects(FILE *file, const struct dare_rows *rows, const struct dare_end *ends, size_t count)
{
	fputs("# The first line has the rows as they are. Others: the change of each in percent; of D18 to D22 and D25 the result then. Empty: as in the first line.\n"
	      "parameter,setting", file);
	for (size_t row = 0; row < rows->count; row++) {
		if (is_simulated(&rows->rows[row]))
			fprintf(file, ",%s", rows->rows[row].id);
	}
	for (size_t end = 0; end < count; end++) {
		fprintf(file, "\n%s,%s", ends[end].parameter, ends[end].settings);
		for (size_t row = 0; row < rows->count; row++) {
			if (is_simulated(&rows->rows[row]))
				print_effect(file, &rows->rows[row], ends, end);
		}
	}
	fputc('\n', file);
	return figures_finish(file);
}

/* --- shapes.csv ------------------------------------------------------------------------------- */

static void print_shape(FILE *file, const struct dare_row *row, const struct dare_end *ends, size_t count)
{
	char model[16], text[16];
	unsigned int same = 0;

	print_statement(model, sizeof(model), row, ends[0].runs);
	for (size_t end = 1; end < count; end++) {
		print_statement(text, sizeof(text), row, ends[end].runs);
		same += strcmp(text, model) == 0;
	}
	fprintf(file, "%s,%s,%u,%zu,\"", row->id, model, same, count - 1);
	same = 0;
	for (size_t end = 1; end < count; end++) {
		print_statement(text, sizeof(text), row, ends[end].runs);
		if (strcmp(text, model))
			fprintf(file, "%s%s: %s", same++ ? "; " : "", ends[end].settings, text);
	}
	fputs("\"\n", file);
}

static int write_shapes(FILE *file, const struct dare_rows *rows, const struct dare_end *ends, size_t count)
{
	fputs("# make figures-dare shows beside its verdicts at how many of all ends a row says the same as it is.\n"
	      "id,as it is,same at,of,otherwise\n", file);
	for (size_t row = 0; row < rows->count; row++) {
		if (is_simulated(&rows->rows[row]) && has_statement(&rows->rows[row]))
			print_shape(file, &rows->rows[row], ends, count);
	}
	return figures_finish(file);
}

static int write_file(const char *name, const char *what, const struct dare_rows *rows, const struct dare_end *ends, size_t count,
		      const char *commit,
		      int (*write)(FILE *file, const struct dare_rows *rows, const struct dare_end *ends, size_t count))
{
	char *head = dare_ranges_head(what, ends[0].runs, commit);
	FILE *file = head ? figures_create(ends[0].runs->output, name, "csv") : NULL;

	if (file)
		fputs(head, file);
	free(head);
	if (!file)
		return head ? -1 : figures_error("%s", strerror(ENOMEM));
	return write(file, rows, ends, count);
}

int dare_effects_write(const struct dare_rows *rows, const struct dare_end *ends, size_t count, const char *commit)
{
	return write_file("effects", "How far each row moves at each end of the ranges of dare_ranges.csv.", rows, ends, count, commit, write_effects) ||
	       write_file("shapes", "At how many ends of the ranges of dare_ranges.csv rows that are no number say the same.", rows, ends, count,
			  commit, write_shapes) ? -1 : 0;
}
