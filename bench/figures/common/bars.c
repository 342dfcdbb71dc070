/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Error bars: over the ranges of parameters that a paper omits. A table of them is checked in, as it takes long. */
#include <stdlib.h>

#include "bench/figures/common/common.h"

struct bar bar_find(const struct table *table, const char *id)
{
	char *const *fields = table_find(table, id);
	double value = fields ? strtod(fields[1], NULL) : 0;

	if (value <= 0)
		return (struct bar){ 0 };
	return (struct bar){ strtod(fields[2], NULL) / value, strtod(fields[4], NULL) / value };
}

void bar_print(char *text, size_t size, struct bar bar)
{
	*text = '\0';
	/* A reduction may go below 0. */
	if (bar.low || bar.high)
		snprintf(text, size, "%+.0f%% %+.0f%%", 100 * (bar.low - 1), 100 * (bar.high - 1));
}

int bars_allocate(struct range_values *values)
{
	values->ids = calloc(values->row_count + 1, sizeof(*values->ids));
	values->ends = calloc(values->end_count + 1, sizeof(*values->ends));
	values->values = calloc((values->end_count + 1) * values->row_count + 1, sizeof(*values->values));
	return values->ids && values->ends && values->values ? 0 : -1;
}

double *bars_value(const struct range_values *values, size_t end, size_t row)
{
	return &values->values[end * values->row_count + row];
}

/* `end`: 0: nothing moves the row so. */
static void print_extreme(FILE *file, const struct range_values *values, size_t end, size_t row)
{
	const struct range_end *what = end ? &values->ends[end - 1] : NULL;

	fprintf(file, ",%.3f,%s%s%s", *bars_value(values, end, row), what ? what->settings : "",
		what && *what->systems ? " on " : "", what ? what->systems : "");
}

static void print_row(FILE *file, const struct range_values *values, size_t row)
{
	size_t lowest = 0, highest = 0;

	for (size_t end = 1; end <= values->end_count; end++) {
		if (*bars_value(values, end, row) < *bars_value(values, lowest, row))
			lowest = end;
		if (*bars_value(values, end, row) > *bars_value(values, highest, row))
			highest = end;
	}
	fprintf(file, "%s,%.3f", values->ids[row], *bars_value(values, 0, row));
	print_extreme(file, values, lowest, row);
	print_extreme(file, values, highest, row);
	fputc('\n', file);
}

static int write_rows(const char *output, const struct range_values *values)
{
	FILE *file = figures_create(output, "error_bars", "csv");

	if (!file)
		return -1;
	fprintf(file, "%sid,mimic,lowest,lowest with,highest,highest with\n", values->head);
	for (size_t row = 0; row < values->row_count; row++)
		print_row(file, values, row);
	return figures_finish(file);
}

static int write_ends(const char *output, const struct range_values *values)
{
	FILE *file = figures_create(output, "ends", "csv");

	if (!file)
		return -1;
	fprintf(file, "# All rows at each end of the ranges, of which error_bars.csv has the lowest and the highest.\n%ssettings,systems",
		values->head);
	for (size_t row = 0; row < values->row_count; row++)
		fprintf(file, ",%s", values->ids[row]);
	for (size_t end = 0; end <= values->end_count; end++) {
		fprintf(file, "\n%s,%s", end ? values->ends[end - 1].settings : "as it is", end ? values->ends[end - 1].systems : "");
		for (size_t row = 0; row < values->row_count; row++)
			fprintf(file, ",%.3f", *bars_value(values, end, row));
	}
	fputc('\n', file);
	return figures_finish(file);
}

int bars_write(const char *output, const struct range_values *values)
{
	return write_rows(output, values) || write_ends(output, values) ? -1 : 0;
}
