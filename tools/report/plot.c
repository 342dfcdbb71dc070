/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A plot over time, as SVG. It is as wide as its place, and its letters are as large as
 * those around it: positions across are percentages, or those of an inner picture that is
 * stretched, and heights are pixels.
 */
#include <math.h>
#include <string.h>

#include "tools/report/report.h"

#define HEIGHT 140
#define WIDTH 1000	/* of the inner picture, before it is stretched */
#define VALUE_MARKS 4
#define TIME_MARKS 4
#define MARK_MS 1.0	/* shorter axes of time have microseconds */

struct axes {
	double seconds;
	double end;
};

static double across(const struct axes *axes, double seconds)
{
	return axes->seconds > 0 ? WIDTH * fmin(seconds / axes->seconds, 1) : 0;
}

static double down(const struct axes *axes, double value)
{
	return HEIGHT - HEIGHT * fmin(value / axes->end, 1);
}

/* --- axes ----------------------------------------------------------------------------------- */

static void print_values(FILE *out, const struct plot_scale *scale)
{
	char text[PLOT_NUMBER_SIZE];

	for (unsigned int i = 0; i <= scale->steps; i++) {
		double y = HEIGHT - (double)HEIGHT * i / scale->steps;

		plot_mark(text, scale->step * i);
		plot_print(out, "<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>"
			   "<text class=\"mark\" x=\"-8\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", y, y, y + 4, text);
	}
}

static void print_times(FILE *out, double seconds, bool is_in_cycles)
{
	double factor = is_in_cycles || seconds >= 1 ? 1 : seconds * 1e3 >= MARK_MS ? 1e3 : 1e6;
	struct plot_scale scale = plot_scale(seconds * factor, TIME_MARKS);
	char text[PLOT_NUMBER_SIZE];

	for (unsigned int i = 0; i <= scale.steps; i++) {
		double share = seconds > 0 ? 100 * scale.step * i / (seconds * factor) : 0;

		/* The axis ends where the run does, perhaps between two marks. */
		if (share > 100.01)
			break;
		plot_mark(text, scale.step * i);
		plot_print(out, "<text class=\"mark\" x=\"%.2f%%\" y=\"%u\" text-anchor=\"middle\">%s</text>\n", share,
			   HEIGHT + 17u, text);
	}
	plot_print(out, "<text class=\"axis\" x=\"50%%\" y=\"%u\" text-anchor=\"middle\">time (%s)</text>\n", HEIGHT + 34u,
		   is_in_cycles ? "cycles" : factor > 1e3 ? "\xc2\xb5s" : factor > 1 ? "ms" : "s");
}

/* --- lines ------------------------------------------------------------------------------------- */

static double value_of(const struct report_point *point, char which)
{
	return which == 'z' ? point->most : point->mean;
}

/* Where the points that follow each other without a gap end. */
static size_t piece_end(const struct report_series *series, size_t first)
{
	size_t end = first + 1;

	while (end < series->count && series->points[end].from <= series->points[end - 1].to)
		end++;
	return end;
}

static void print_steps(FILE *out, const struct axes *axes, const struct report_series *series, size_t first, size_t end,
			char which)
{
	for (size_t i = first; i < end; i++)
		plot_print(out, "%s%.1f %.1fH%.1f", i == first ? "M" : "L", across(axes, series->points[i].from),
			   down(axes, value_of(&series->points[i], which)), across(axes, series->points[i].to));
}

/* From the mean up to the most, or down to 0. */
static void print_area(FILE *out, const struct axes *axes, const struct report_series *series, const char *class)
{
	bool is_band = strcmp(class, "band") == 0;

	plot_print(out, "<path class=\"%s\" d=\"", class);
	for (size_t first = 0, end; first < series->count; first = end) {
		end = piece_end(series, first);
		print_steps(out, axes, series, first, end, is_band ? 'z' : 'm');
		for (size_t i = end; i > first; i--) {
			const struct report_point *point = &series->points[i - 1];

			plot_print(out, "L%.1f %.1fH%.1f", across(axes, point->to),
				   is_band ? down(axes, point->mean) : HEIGHT, across(axes, point->from));
		}
		putc('Z', out);
	}
	fputs("\"/>\n", out);
}

static void print_line(FILE *out, const struct axes *axes, const struct report_line *line)
{
	const struct report_series *series = &line->series;

	fputs("<path class=\"line\" d=\"", out);
	for (size_t first = 0, end; first < series->count; first = end) {
		end = piece_end(series, first);
		print_steps(out, axes, series, first, end, 'm');
	}
	fputs("\"/>\n", out);
}

static void print_lines(FILE *out, const struct report_plot *plot, const struct axes *axes)
{
	plot_print(out, "<svg x=\"0\" y=\"0\" width=\"100%%\" height=\"%u\" viewBox=\"0 0 %u %u\" preserveAspectRatio=\"none\">\n",
		   HEIGHT, WIDTH, HEIGHT);
	for (size_t i = 0; i < plot->line_count; i++) {
		plot_print(out, "<g class=\"c%u\">", (unsigned int)(i % REPORT_COLOURS));
		/* Areas of several lines would hide each other. */
		if (plot->line_count == 1)
			print_area(out, axes, &plot->lines[i].series, "area");
		if (plot->lines[i].has_band)
			print_area(out, axes, &plot->lines[i].series, "band");
		print_line(out, axes, &plot->lines[i]);
		fputs("</g>", out);
	}
	fputs("</svg>\n", out);
}

static void print_legend(FILE *out, const struct report_plot *plot)
{
	fputs("<ul class=\"legend\">\n", out);
	for (size_t i = 0; i < plot->line_count; i++)
		plot_print(out, "<li class=\"c%u\"><svg width=\"22\" height=\"10\" aria-hidden=\"true\">"
			   "<path class=\"line\" d=\"M0 5H22\"/></svg><b>%s</b> <span>%s</span></li>\n",
			   (unsigned int)(i % REPORT_COLOURS), plot->lines[i].name, plot->lines[i].note);
	fputs("</ul>\n", out);
}

/* The text that a screen reader says in place of the picture. */
static void print_description(FILE *out, const struct report_plot *plot)
{
	plot_print(out, "<title>%s, %s, over time</title>\n<desc>", plot->title, plot->unit);
	for (size_t i = 0; i < plot->line_count; i++)
		plot_print(out, "%s%s: %s", i ? "; " : "", plot->lines[i].name, plot->lines[i].note);
	fputs("</desc>\n", out);
}

void report_plot(FILE *out, const struct report_plot *plot)
{
	struct plot_scale scale;
	double most = plot->end;

	for (size_t i = 0; i < plot->line_count; i++)
		most = plot->end > 0 ? plot->end : fmax(most, plot->lines[i].series.most);
	scale = plot_scale(most, VALUE_MARKS);
	/* Of a queue, its quarters. */
	if (plot->end > 0)
		scale = (struct plot_scale){ .end = most, .step = most / VALUE_MARKS, .steps = VALUE_MARKS };
	plot_print(out, "<figure class=\"plot\">\n<figcaption><b>%s</b> <span>%s</span></figcaption>\n<div class=\"frame\">"
		   "<svg role=\"img\" width=\"100%%\" height=\"%u\">\n", plot->title, plot->unit, HEIGHT);
	print_description(out, plot);
	print_values(out, &scale);
	print_times(out, plot->seconds, plot->is_in_cycles);
	print_lines(out, plot, &(struct axes){ .seconds = plot->seconds, .end = scale.end });
	fputs("</svg></div>\n", out);
	print_legend(out, plot);
	fputs("</figure>\n", out);
}
