/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A run in virtual time by its intervals: a line for each cause, over the run's cycles. */
#include <stdlib.h>

#include "tools/report/report.h"

/* A plot has room for some dozens of points: each stands for so many intervals. */
static size_t intervals_of_point(const struct report_timed *timed)
{
	return (timed->interval_count + REPORT_POINTS_MAX - 1) / REPORT_POINTS_MAX;
}

/* Which share of the cores' cycles the cause has in the intervals [first, end), in percent. */
static struct report_point make_point(const struct report_timed *timed, size_t first, size_t end, unsigned int cause)
{
	const struct report_timed_interval *last = &timed->intervals[end - 1];
	double part = 0, all = 0;

	for (size_t i = first; i < end; i++) {
		part += (double)timed->intervals[i].causes[cause];
		for (unsigned int other = 0; other < REPORT_CAUSES; other++)
			all += (double)timed->intervals[i].causes[other];
	}
	part = all > 0 ? 100 * part / all : 0;
	return (struct report_point){ (double)timed->intervals[first].begin, (double)(last->begin + last->cycles), part, part };
}

static struct report_line make_line(const struct report_timed *timed, unsigned int cause)
{
	const struct report_point all = make_point(timed, 0, timed->interval_count, cause);
	struct report_line line = { .name = report_causes[cause], .series = { .mean = all.mean } };

	for (size_t first = 0, end; first < timed->interval_count; first = end) {
		end = first + intervals_of_point(timed);
		if (end > timed->interval_count)
			end = timed->interval_count;
		line.series.points[line.series.count++] = make_point(timed, first, end, cause);
	}
	snprintf(line.note, sizeof(line.note), "%.1f %% of all", line.series.mean);
	return line;
}

void report_timed_plot(FILE *out, const struct report_timed *timed)
{
	const struct report_timed_interval *last = timed->intervals + timed->interval_count;
	struct report_line *lines = timed->interval_count ? calloc(REPORT_CAUSES, sizeof(*lines)) : NULL;
	struct report_plot plot = {
		.title = "Cycles of all cores by their use", .unit = "percent", .end = 100, .lines = lines,
		.is_in_cycles = true,
	};

	if (!lines)
		return;
	plot.seconds = (double)(last[-1].begin + last[-1].cycles);
	for (unsigned int cause = 0; cause < REPORT_CAUSES; cause++) {
		lines[plot.line_count] = make_line(timed, cause);
		plot.line_count += lines[plot.line_count].series.mean > 0;
	}
	fputs("<section>\n<h2>Over the run</h2>\n<article class=\"card\">\n", out);
	report_plot(out, &plot);
	fputs("</article>\n", out);
	if (timed->device_intervals)
		report_devices_plots(out, timed->device_intervals);
	fputs("</section>\n", out);
	free(lines);
}
