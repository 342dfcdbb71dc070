/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A table as a picture: bars, lines or a map, as a sheet of tools/plot. */
#ifndef FIGURES_CHART_H
#define FIGURES_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum chart_form { CHART_BARS, CHART_LINES, CHART_MAP };

struct chart {
	enum chart_form form;
	const char *title;
	const char *across;	/* the meaning of the rows */
	const char *up;		/* that of the values; of a map, of the rows, and `across` of the columns */
	bool is_log;		/* of lines: the rows are numbers, a power of two apart */
};

/* A row is a line of the file, its name the first field; NAN: an empty field, or no number. */
struct chart_table {
	char *text;		/* has the names */
	const char **columns, **rows;
	size_t column_count, row_count;
	double *values;		/* of each row its columns */
};

/*
 * Reads CSV without quotes; '#' begins a comment line. `size` bytes of text, which becomes the table's. -EINVAL: a line
 * with more or fewer fields than the first, *line says which, or no row at all (0); -ENOMEM.
 */
int chart_table_parse(struct chart_table *table, char *text, size_t size, unsigned int *line);
void chart_table_free(struct chart_table *table);

void chart_print(FILE *out, const struct chart *chart, const struct chart_table *table);

#endif
