/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Bars, lines and maps of a table. */
#include <math.h>
#include <stdlib.h>

#include "bench/figures/common/chart.h"
#include "tools/plot/plot.h"

#define MARKS 6

static double value_of(const struct chart_table *table, size_t row, size_t column)
{
	return table->values[row * table->column_count + column];
}

static struct plot_scale scale_of(const struct chart_table *table)
{
	double largest = 0;

	for (size_t i = 0; i < table->row_count * table->column_count; i++)
		largest = fmax(largest, table->values[i]);
	return plot_scale(largest, MARKS);
}

static unsigned int colour_of(size_t column)
{
	return (unsigned int)(column % PLOT_COLOURS);
}

/* An empty field has no box. */
static void print_value(struct plot_frame *frame, const struct chart_table *table, size_t row, size_t column,
			unsigned int colour, const struct plot_box *box)
{
	double value = value_of(table, row, column);
	char name[256];

	snprintf(name, sizeof(name), "%s, %s: %.3g", table->rows[row], table->columns[column], value);
	if (!isnan(value))
		plot_bar(frame, colour, name, box);
}

/* --- bars: a group for each row -------------------------------------------------------------- */

static void print_bars(struct plot_frame *frame, const struct chart_table *table)
{
	double group = 1 / (double)table->row_count, bar = 0.85 * group / (double)table->column_count;
	double room = group * frame->width;

	/* All names stand alike. */
	for (size_t row = 0; row < table->row_count; row++)
		room = plot_text_width(table->rows[row]) > room ? 0 : room;
	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t column = 0; column < table->column_count; column++) {
			double across = group * ((double)row + 0.075) + bar * (double)column,
			       down = plot_down(frame, value_of(table, row, column));

			print_value(frame, table, row, column, colour_of(column),
				    &(struct plot_box){ across, down, 0.94 * bar, frame->height - down, 0 });
		}
		plot_name_below(frame, group * ((double)row + 0.5), room, table->rows[row]);
	}
}

/* --- lines: the rows' names are numbers ------------------------------------------------------- */

struct span {
	double least, most;
	bool is_log;
};

static double position(const struct span *span, const char *row)
{
	double value = strtod(row, NULL);

	if (!(span->most > span->least))
		return 0.5;
	if (span->is_log)
		return log2(value / span->least) / log2(span->most / span->least);
	return (value - span->least) / (span->most - span->least);
}

static struct span span_of(const struct chart *chart, const struct chart_table *table)
{
	struct span span = { INFINITY, -INFINITY, chart->is_log };

	for (size_t row = 0; row < table->row_count; row++) {
		span.least = fmin(span.least, strtod(table->rows[row], NULL));
		span.most = fmax(span.most, strtod(table->rows[row], NULL));
	}
	span.is_log &= span.least > 0;
	return span;
}

static void print_line(struct plot_frame *frame, const struct chart_table *table, size_t column,
		       const struct span *span, bool is_points)
{
	bool is_begun = false;

	plot_path_begin(frame, is_points ? "points" : "line", colour_of(column));
	for (size_t row = 0; row < table->row_count; row++) {
		double value = value_of(table, row, column), across = position(span, table->rows[row]);

		if (!isnan(value))
			plot_path_to(frame, is_points || !is_begun, across, plot_down(frame, value));
		if (!isnan(value) && is_points)
			plot_path_to(frame, false, across, plot_down(frame, value));
		is_begun = !isnan(value);
	}
	plot_path_end(frame, table->columns[column]);
}

static void print_lines(struct plot_frame *frame, const struct chart *chart, const struct chart_table *table)
{
	struct span span = span_of(chart, table);
	double last = 0;

	for (size_t column = 0; column < table->column_count; column++) {
		print_line(frame, table, column, &span, false);
		print_line(frame, table, column, &span, true);
	}
	for (size_t row = 0; row < table->row_count; row++) {
		double across = position(&span, table->rows[row]);

		/* Where there is room beside the one before. */
		if (row && fabs(across - last) * frame->width < plot_text_width(table->rows[row]) + 4)
			continue;
		plot_name_below(frame, across, INFINITY, table->rows[row]);
		last = across;
	}
}

/* --- a map: a field for each value, from 0 to 1 ------------------------------------------------ */

static void print_map(struct plot_frame *frame, const struct chart_table *table)
{
	double width = 1 / (double)table->column_count, height = frame->height / (double)table->row_count;

	for (size_t row = 0; row < table->row_count; row++) {
		double down = frame->height - height * ((double)row + 1);

		for (size_t column = 0; column < table->column_count; column++)
			print_value(frame, table, row, column, PLOT_FIELD,
				    &(struct plot_box){
					    width * (double)column, down, width, height,
					    0.94 * (1 - fmin(fmax(value_of(table, row, column), 0), 1)) });
		plot_text(frame, PLOT_ROW_LEFT, 0, down + height / 2 + 4, table->rows[row], "");
	}
	for (size_t column = 0; column < table->column_count; column++)
		plot_name_below(frame, width * ((double)column + 0.5), INFINITY, table->columns[column]);
}

void chart_print(FILE *out, const struct chart *chart, const struct chart_table *table)
{
	struct plot_frame frame = plot_sheet_begin(out, chart->title, chart->across, chart->up);

	frame.scale = scale_of(table);
	if (chart->form == CHART_MAP) {
		print_map(&frame, table);
	} else {
		plot_marks(&frame, &frame.scale, PLOT_UP);
		if (chart->form == CHART_BARS)
			print_bars(&frame, table);
		else
			print_lines(&frame, chart, table);
		for (size_t i = 0; i < table->column_count; i++)
			plot_key(&frame, colour_of(i), chart->form == CHART_LINES, table->columns[i], "");
	}
	plot_end(&frame);
}
