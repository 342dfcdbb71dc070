/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A table in a file of CSV. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/common/chart.h"

static size_t count(const char *text, char character)
{
	size_t found = 0;

	for (; *text; text++)
		found += *text == character;
	return found;
}

/* Ends the field that begins at *rest, and moves behind it. */
static char *next_field(char **rest)
{
	char *field = *rest;

	*rest += strcspn(*rest, ",");
	if (**rest)
		*(*rest)++ = '\0';
	return field;
}

static double number_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end == text || *end || !isfinite(value) ? NAN : value;
}

static int take_head(struct chart_table *table, char *line, size_t rows)
{
	table->column_count = count(line, ',');
	table->columns = calloc(table->column_count + 1, sizeof(*table->columns));
	table->rows = calloc(rows + 1, sizeof(*table->rows));
	table->values = calloc((rows + 1) * (table->column_count + 1), sizeof(*table->values));
	if (!table->columns || !table->rows || !table->values)
		return -ENOMEM;
	next_field(&line);
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i] = next_field(&line);
	return table->column_count ? 0 : -EINVAL;
}

static int take_row(struct chart_table *table, char *line)
{
	double *values = &table->values[table->row_count * table->column_count];

	if (count(line, ',') != table->column_count)
		return -EINVAL;
	table->rows[table->row_count++] = next_field(&line);
	for (size_t i = 0; i < table->column_count; i++)
		values[i] = number_of(next_field(&line));
	return 0;
}

int chart_table_parse(struct chart_table *table, char *text, size_t size, unsigned int *line)
{
	char *rest = text;
	int error = 0;

	*table = (struct chart_table){ .text = text };
	*line = 0;
	if (memchr(text, '\0', size))
		return -EINVAL;
	while (!error && *rest) {
		char *start = rest;

		rest += strcspn(rest, "\n");
		if (*rest)
			*rest++ = '\0';
		start[strcspn(start, "\r")] = '\0';
		++*line;
		if (*start == '#' || !*start)
			continue;
		error = table->columns ? take_row(table, start) : take_head(table, start, count(rest, '\n') + 1);
	}
	if (!error && !table->row_count) {
		*line = 0;
		error = -EINVAL;
	}
	return error;
}

void chart_table_free(struct chart_table *table)
{
	free(table->text);
	free(table->columns);
	free(table->rows);
	free(table->values);
	*table = (struct chart_table){ 0 };
}
