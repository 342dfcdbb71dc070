/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Samples over time, put together: a plot has room for some dozens of points. */
#include <string.h>

#include "tools/report/report.h"

/* Each point stands for so many samples, the last one perhaps for fewer. */
static size_t samples_of_point(size_t samples)
{
	return (samples + REPORT_POINTS_MAX - 1) / REPORT_POINTS_MAX;
}

static struct report_point *add_point(const struct report_samples *samples, size_t first, size_t end,
				      struct report_series *series)
{
	struct report_point *point = &series->points[series->count++];

	*point = (struct report_point){ .from = samples->seconds[first], .to = samples->seconds[end] };
	return point;
}

static void summarise(struct report_series *series)
{
	double sum = 0, time = 0;

	series->most = 0;
	for (size_t i = 0; i < series->count; i++) {
		const struct report_point *point = &series->points[i];

		sum += point->mean * (point->to - point->from);
		time += point->to - point->from;
		if (point->most > series->most)
			series->most = point->most;
	}
	series->mean = time > 0 ? sum / time : 0;
}

/* Over time, of samples [first, end): each holds until the next. */
static void level_point(const struct report_samples *samples, const uint64_t *levels, size_t first, size_t end,
			struct report_point *point)
{
	double sum = 0;

	point->most = (double)levels[first];
	for (size_t i = first; i < end; i++) {
		double level = (double)levels[i];

		sum += level * (samples->seconds[i + 1] - samples->seconds[i]);
		if (level > point->most)
			point->most = level;
	}
	point->mean = point->to > point->from ? sum / (point->to - point->from) : point->most;
}

/* Where the next point of the intervals between samples ends. */
static size_t next_end(const struct report_samples *samples, size_t first)
{
	size_t end = first + samples_of_point(samples->count - 1);

	return end < samples->count - 1 ? end : samples->count - 1;
}

void report_levels(const struct report_samples *samples, const uint64_t *levels, struct report_series *series)
{
	memset(series, 0, sizeof(*series));
	for (size_t first = 0, end; first + 1 < samples->count; first = end) {
		end = next_end(samples, first);
		level_point(samples, levels, first, end, add_point(samples, first, end, series));
	}
	summarise(series);
}

static double grown(const uint64_t *values, size_t first, size_t end)
{
	/* Counters that were cleared meanwhile begin at 0. */
	return (double)(values[end] >= values[first] ? values[end] - values[first] : values[end]);
}

void report_rates(const struct report_samples *samples, const uint64_t *values, struct report_series *series)
{
	memset(series, 0, sizeof(*series));
	for (size_t first = 0, end; first + 1 < samples->count; first = end) {
		double time;
		struct report_point *point;

		end = next_end(samples, first);
		time = samples->seconds[end] - samples->seconds[first];
		if (time <= 0)
			continue;
		point = add_point(samples, first, end, series);
		point->mean = point->most = grown(values, first, end) / time;
	}
	summarise(series);
}

void report_shares(const struct report_samples *samples, const uint64_t *part, const uint64_t *rest,
		   struct report_series *series)
{
	memset(series, 0, sizeof(*series));
	for (size_t first = 0, end; first + 1 < samples->count; first = end) {
		double some, all;
		struct report_point *point;

		end = next_end(samples, first);
		some = grown(part, first, end);
		all = some + grown(rest, first, end);
		if (all <= 0)
			continue;
		point = add_point(samples, first, end, series);
		point->mean = point->most = 100 * some / all;
	}
	summarise(series);
}

const uint64_t *report_growth_of(const struct report_samples *samples, const char *name)
{
	for (size_t i = 0; i < samples->growth_count; i++) {
		if (strcmp(samples->growths[i].name, name) == 0)
			return samples->growths[i].values;
	}
	return NULL;
}
