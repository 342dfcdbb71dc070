/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Bars, lines and maps as SVG. Its colours are in it: it is looked at alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/common/chart.h"
#include "tools/plot/plot.h"

#define WIDTH 760
#define HEIGHT 380
#define LEFT 64
#define RIGHT 190 /* has the legend */
#define TOP 36
#define BOTTOM 72 /* has names that stand aslant */
#define ACROSS (WIDTH - LEFT - RIGHT)
#define DOWN (HEIGHT - TOP - BOTTOM)
#define MARKS 6
#define LETTER 6.2 /* the width of one, on average */

static const char *const colours[] = {
	"#2563eb", "#d97706", "#059669", "#b91c5c", "#7c3aed", "#0891b2", "#65a30d", "#57534e",
};

static const char *colour_of(size_t column)
{
	return colours[column % (sizeof(colours) / sizeof(colours[0]))];
}

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

static double down(const struct plot_scale *scale, double value)
{
	return TOP + DOWN - DOWN * fmax(value, 0) / scale->end;
}

/* --- what is around ------------------------------------------------------------------------- */

static void print_frame(FILE *out, const struct chart *chart)
{
	plot_print(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#fff\"/>\n"
		"<title>%s</title>\n<text x=\"%u\" y=\"20\" text-anchor=\"middle\" "
		"font-weight=\"bold\">%s</text>\n",
		(unsigned int)WIDTH, (unsigned int)HEIGHT, (unsigned int)WIDTH, (unsigned int)HEIGHT,
		chart->title, (unsigned int)(WIDTH / 2), chart->title);
	plot_print(out,
		   "<text x=\"%u\" y=\"%u\" text-anchor=\"middle\">%s</text>\n"
		   "<text transform=\"translate(14 %u) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
		   (unsigned int)(LEFT + ACROSS / 2), (unsigned int)(HEIGHT - 10),
		   chart->across ? chart->across : "", (unsigned int)(TOP + DOWN / 2),
		   chart->up ? chart->up : "");
}

static void print_values(FILE *out, const struct plot_scale *scale)
{
	char text[PLOT_NUMBER_SIZE];

	for (unsigned int i = 0; i <= scale->steps; i++) {
		double y = down(scale, scale->step * i);

		plot_mark(text, scale->step * i);
		plot_print(out,
			   "<path d=\"M%u %.1fH%u\" stroke=\"#d0d0d0\"/>"
			   "<text x=\"%u\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			   (unsigned int)LEFT, y, (unsigned int)(LEFT + ACROSS), (unsigned int)(LEFT - 6),
			   y + 4, text);
	}
}

static void print_legend(FILE *out, const struct chart_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		plot_print(out,
			   "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%u\" "
			   "y=\"%u\">%s</text>\n",
			   (unsigned int)(WIDTH - RIGHT + 14), (unsigned int)(TOP + 20 * i), colour_of(i),
			   (unsigned int)(WIDTH - RIGHT + 32), (unsigned int)(TOP + 20 * i + 10),
			   table->columns[i]);
}

/* --- bars: a group for each row -------------------------------------------------------------- */

static void print_bars(FILE *out, const struct chart_table *table, const struct plot_scale *scale)
{
	double group = (double)ACROSS / (double)table->row_count,
	       bar = 0.85 * group / (double)table->column_count;

	for (size_t row = 0; row < table->row_count; row++) {
		double left = LEFT + group * ((double)row + 0.075), room = group / LETTER;

		for (size_t column = 0; column < table->column_count; column++) {
			double value = value_of(table, row, column), y = down(scale, value);

			if (!isnan(value))
				plot_print(out,
					   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
					   "fill=\"%s\">"
					   "<title>%s, %s</title></rect>\n",
					   left + bar * (double)column, y, bar * 0.94, TOP + DOWN - y,
					   colour_of(column), table->rows[row], table->columns[column]);
		}
		/* Names that are longer than their group stand aslant. */
		plot_print(
			out,
			"<text transform=\"translate(%.1f %u) rotate(%.1f)\" text-anchor=\"%s\">%s</text>\n",
			LEFT + group * ((double)row + 0.5), (unsigned int)(TOP + DOWN + 16),
			(double)strlen(table->rows[row]) > room ? -24.0 : 0.0,
			(double)strlen(table->rows[row]) > room ? "end" : "middle", table->rows[row]);
	}
}

/* --- lines: the rows' names are numbers ------------------------------------------------------- */

struct span {
	double least, most;
	bool is_log;
};

static double position(const struct span *span, const char *row)
{
	double value = strtod(row, NULL), least = span->least, most = span->most;

	if (span->is_log) {
		value = log2(value);
		least = log2(least);
		most = log2(most);
	}
	return LEFT + (most > least ? ACROSS * (value - least) / (most - least) : ACROSS / 2);
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

static void print_line(FILE *out, const struct chart_table *table, size_t column, const struct span *span,
		       const struct plot_scale *scale)
{
	bool is_begun = false;

	plot_print(out, "<g stroke=\"%s\" fill=\"%s\"><path fill=\"none\" stroke-width=\"2\" d=\"",
		   colour_of(column), colour_of(column));
	for (size_t row = 0; row < table->row_count; row++) {
		double value = value_of(table, row, column);

		if (!isnan(value))
			plot_print(out, "%s%.1f %.1f", is_begun ? "L" : "M",
				   position(span, table->rows[row]), down(scale, value));
		is_begun = !isnan(value);
	}
	fputs("\"/>\n", out);
	for (size_t row = 0; row < table->row_count; row++) {
		double value = value_of(table, row, column);

		if (!isnan(value))
			plot_print(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
				   position(span, table->rows[row]), down(scale, value));
	}
	fputs("</g>\n", out);
}

static void print_lines(FILE *out, const struct chart *chart, const struct chart_table *table,
			const struct plot_scale *scale)
{
	struct span span = span_of(chart, table);
	double last = 0;

	for (size_t column = 0; column < table->column_count; column++)
		print_line(out, table, column, &span, scale);
	for (size_t row = 0; row < table->row_count; row++) {
		double x = position(&span, table->rows[row]),
		       width = LETTER * (double)strlen(table->rows[row]);

		/* Where there is room beside the one before. */
		if (row && fabs(x - last) < width + 4)
			continue;
		plot_print(out, "<text x=\"%.1f\" y=\"%u\" text-anchor=\"middle\">%s</text>\n", x,
			   (unsigned int)(TOP + DOWN + 16), table->rows[row]);
		last = x;
	}
}

/* --- a map: a field for each value, from 0 to 1 ------------------------------------------------ */

static void print_map(FILE *out, const struct chart_table *table)
{
	double width = (double)ACROSS / (double)table->column_count,
	       height = (double)DOWN / (double)table->row_count;

	for (size_t row = 0; row < table->row_count; row++) {
		double y = TOP + DOWN - height * ((double)row + 1);

		for (size_t column = 0; column < table->column_count; column++) {
			double value = value_of(table, row, column),
			       share = isnan(value) ? 0 : fmin(fmax(value, 0), 1);

			plot_print(out,
				   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
				   "fill=\"rgb(%u,%u,%u)\"/>\n",
				   LEFT + width * (double)column, y, width, height,
				   (unsigned int)(240 - 224 * share), (unsigned int)(244 - 196 * share),
				   (unsigned int)(255 - 95 * share));
		}
		plot_print(out, "<text x=\"%u\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			   (unsigned int)(LEFT - 6), y + height / 2 + 4, table->rows[row]);
	}
	for (size_t column = 0; column < table->column_count; column++)
		plot_print(out, "<text x=\"%.1f\" y=\"%u\" text-anchor=\"middle\">%s</text>\n",
			   LEFT + width * ((double)column + 0.5), (unsigned int)(TOP + DOWN + 16),
			   table->columns[column]);
}

void chart_print(FILE *out, const struct chart *chart, const struct chart_table *table)
{
	struct plot_scale scale = scale_of(table);

	print_frame(out, chart);
	if (chart->form == CHART_MAP) {
		print_map(out, table);
	} else {
		print_values(out, &scale);
		if (chart->form == CHART_BARS)
			print_bars(out, table, &scale);
		else
			print_lines(out, chart, table, &scale);
		print_legend(out, table);
	}
	fputs("</svg>\n", out);
}
