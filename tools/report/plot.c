/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A plot over time, in steps. */
#include <math.h>

#include "tools/report/report.h"

#define HEIGHT 140
#define VALUE_MARKS 4
#define TIME_MARKS 4
#define MARK_MS 1.0	/* shorter axes of time have microseconds */

static double across(const struct report_plot *plot, double seconds)
{
	return plot->seconds > 0 ? fmin(seconds / plot->seconds, 1) : 0;
}

static void print_times(struct plot_frame *frame, double seconds, bool is_in_cycles)
{
	double factor = is_in_cycles || seconds >= 1 ? 1 : seconds * 1e3 >= MARK_MS ? 1e3 : 1e6;
	struct plot_scale scale = plot_scale(seconds * factor, TIME_MARKS);

	scale.end = seconds > 0 ? seconds * factor : scale.end;
	plot_marks(frame, &scale, PLOT_TIME);
	plot_text(frame, PLOT_BELOW, 0.5, HEIGHT + 34, "time ",
		  is_in_cycles ? "(cycles)" : factor > 1e3 ? "(\xc2\xb5s)" : factor > 1 ? "(ms)" : "(s)");
}

/* --- lines ------------------------------------------------------------------------------------- */

/* Where the points that follow each other without a gap end. */
static size_t piece_end(const struct report_series *series, size_t first)
{
	size_t end = first + 1;

	while (end < series->count && series->points[end].from <= series->points[end - 1].to)
		end++;
	return end;
}

/* A line is at the mean; an area goes from there down to 0, and a band from the most down to the mean. */
static void print_path(struct plot_frame *frame, const struct report_plot *plot, size_t number,
		       const char *class)
{
	const struct report_series *series = &plot->lines[number].series;
	bool is_line = *class == 'l', is_band = *class == 'b';

	plot_path_begin(frame, class, number % PLOT_COLOURS);
	for (size_t first = 0, end; first < series->count; first = end) {
		end = piece_end(series, first);
		for (size_t i = first; i < end; i++) {
			const struct report_point *point = &series->points[i];
			double down = plot_down(frame, is_band ? point->most : point->mean);

			plot_path_to(frame, i == first, across(plot, point->from), down);
			plot_path_to(frame, false, across(plot, point->to), down);
		}
		for (size_t i = end; i > first && !is_line; i--) {
			const struct report_point *point = &series->points[i - 1];
			double down = plot_down(frame, is_band ? point->mean : 0);

			plot_path_to(frame, false, across(plot, point->to), down);
			plot_path_to(frame, false, across(plot, point->from), down);
		}
	}
	plot_path_end(frame, plot->lines[number].name);
}

void report_plot(FILE *out, const struct report_plot *plot)
{
	struct plot_frame frame =
		plot_figure_begin(out, "plot", HEIGHT, plot->title, plot->unit, "over time");
	double most = 0;

	for (size_t i = 0; i < plot->line_count; i++)
		most = fmax(most, plot->lines[i].series.most);
	/* Of a queue, its quarters. */
	frame.scale = plot->end > 0 ? (struct plot_scale){ plot->end, plot->end / VALUE_MARKS, VALUE_MARKS } :
				      plot_scale(most, VALUE_MARKS);
	plot_marks(&frame, &frame.scale, PLOT_UP);
	print_times(&frame, plot->seconds, plot->is_in_cycles);
	for (size_t i = 0; i < plot->line_count; i++) {
		/* Areas of several lines would hide each other. */
		if (plot->line_count == 1)
			print_path(&frame, plot, i, "area");
		if (plot->lines[i].has_band)
			print_path(&frame, plot, i, "band");
		print_path(&frame, plot, i, "line");
	}
	plot_figure_legend(&frame);
	for (size_t i = 0; i < plot->line_count; i++)
		plot_key(&frame, i % PLOT_COLOURS, true, plot->lines[i].name, plot->lines[i].note);
	plot_end(&frame);
}
