/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The part of the page about a run that was sampled while it went on. */
#include <stdlib.h>
#include <string.h>

#include "tools/report/report.h"

#define NAMES_MOST 6
#define EVENTS_LEAST 4		/* fewer are no line */

/* Counters that are shown together. */
static const struct rates {
	const char *title;
	const char *unit;
	const char *names[NAMES_MOST];
} rates[] = {
	{ "Data", "words and fetches in a second", { "consumed", "fetched", "prefetched" } },
	{ "Arithmetic", "MACs in a second", { "macs", "macs_used", "macs_offered" } },
	{ "Commands", "in a second", { "commands", "instructions", "lima_loops" } },
	{ "Memory", "bytes in a second", { "bytes_loaded", "bytes_stored", "dma_bytes_read", "dma_bytes_written",
					    "shared_bytes_read", "shared_bytes_written" } },
	{ "Page walks", "in a second", { "tlb_misses", "walks" } },
	{ "Faults and shootdowns", "in a second", { "page_faults", "faults", "shootdowns" } },
};

#define RATES_COUNT (sizeof(rates) / sizeof(rates[0]))
#define TRANSLATION_RATES 2	/* the last ones, with the TLB's */

static double duration(const struct report_samples *samples)
{
	return samples->count ? samples->seconds[samples->count - 1] : 0;
}

/* "queues/3" is queue 3, "units/0/queue" that of unit 0. Others are called as they are. */
static void queue_name(const char *path, char *text, size_t size)
{
	static const char *const folders[] = { "queues", "units", "contexts" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t length = strlen(folders[i]);
		unsigned int number;
		int used = 0;

		if (strncmp(path, folders[i], length) || sscanf(path + length, "/%3u%n", &number, &used) != 1)
			continue;
		if (path[length + (size_t)used] == '\0' || strcmp(path + length + used, "/queue") == 0) {
			snprintf(text, size, "%.*s %u", (int)length - 1, folders[i], number);
			return;
		}
	}
	snprintf(text, size, "%s", path);
}

static int by_mean(const void *a, const void *b)
{
	const struct report_line *first = a, *second = b;

	return (first->series.mean < second->series.mean) - (first->series.mean > second->series.mean);
}

/* More lines than colours would be a tangle: the fullest ones are shown. Returns how many. */
static size_t choose_lines(struct report_line *lines, size_t count)
{
	if (count <= PLOT_COLOURS)
		return count;
	qsort(lines, count, sizeof(*lines), by_mean);
	return PLOT_COLOURS;
}

static void print_queues(FILE *out, const struct report_samples *samples)
{
	struct report_line *lines = calloc(samples->queue_count ? samples->queue_count : 1, sizeof(*lines));
	char (*names)[64] = calloc(samples->queue_count ? samples->queue_count : 1, sizeof(*names));
	struct report_plot plot = { .title = "Queue levels", .unit = "entries", .seconds = duration(samples) };
	size_t count = lines && names ? samples->queue_count : 0;

	for (size_t i = 0; i < count; i++) {
		const struct report_queue *queue = &samples->queues[i];
		struct report_line *line = &lines[i];

		queue_name(queue->name, names[i], sizeof(names[i]));
		line->name = names[i];
		line->has_band = true;
		report_levels(samples, queue->levels, &line->series);
		snprintf(line->note, sizeof(line->note), "of %llu, %.0f %% full on average", (unsigned long long)queue->size,
			 queue->size ? 100 * line->series.mean / (double)queue->size : 0);
		if ((double)queue->size > plot.end)
			plot.end = (double)queue->size;
	}
	plot.lines = lines;
	plot.line_count = choose_lines(lines, count);
	if (count)
		report_plot(out, &plot);
	if (plot.line_count < count)
		plot_print(out, "<p class=\"note\">%zu queues were used; these are the fullest.</p>\n", count);
	free(names);
	free(lines);
}

static void print_hits(FILE *out, const struct report_samples *samples)
{
	const uint64_t *hits = report_growth_of(samples, "tlb_hits"), *misses = report_growth_of(samples, "tlb_misses");
	struct report_line line = { .name = "hits" };
	uint64_t all;

	if (!hits || !misses)
		return;
	report_shares(samples, hits, misses, &line.series);
	all = hits[samples->count - 1] + misses[samples->count - 1];
	if (!line.series.count || !all)
		return;
	snprintf(line.note, sizeof(line.note), "%.1f %% of all", 100 * (double)hits[samples->count - 1] / (double)all);
	report_plot(out, &(struct report_plot){ .title = "TLB hit rate", .unit = "% of translations",
		    .seconds = duration(samples), .end = 100, .lines = &line, .line_count = 1 });
}

static void print_rates(FILE *out, const struct report_samples *samples, const struct rates *group)
{
	struct report_line lines[NAMES_MOST] = { { 0 } };
	size_t count = 0;

	for (size_t i = 0; i < NAMES_MOST && group->names[i]; i++) {
		const uint64_t *values = report_growth_of(samples, group->names[i]);
		struct report_line *line = &lines[count];
		char text[PLOT_NUMBER_SIZE];

		if (!values)
			continue;
		report_rates(samples, values, &line->series);
		if (values[samples->count - 1] < EVENTS_LEAST)
			continue;
		line->name = group->names[i];
		plot_short(text, (double)values[samples->count - 1]);
		snprintf(line->note, sizeof(line->note), "%s in all", text);
		count++;
	}
	if (count)
		report_plot(out, &(struct report_plot){ .title = group->title, .unit = group->unit,
			    .seconds = duration(samples), .lines = lines, .line_count = count });
}

/* No event at all is worth a sentence; a plot of few would be empty. */
static void print_rare(FILE *out, const struct report_samples *samples)
{
	static const struct { const char *name, *text; } rare[] = {
		{ "page_faults", "page faults" }, { "faults", "bad addresses" }, { "shootdowns", "shootdowns" },
	};
	bool is_first = true;

	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++) {
		const uint64_t *values = report_growth_of(samples, rare[i].name);
		char text[PLOT_NUMBER_SIZE];

		if (!values)
			continue;
		plot_digits(text, values[samples->count - 1]);
		fputs(is_first ? "<p class=\"note\">In all: " : ", ", out);
		plot_print(out, "%s %s", text, rare[i].text);
		is_first = false;
	}
	if (!is_first)
		plot_print(out, ".%s</p>\n", samples->queue_count ? "" : " Its queues were empty at each sample.");
}

void report_over_time(FILE *out, const struct report_run *run)
{
	const struct report_samples *samples = &run->samples;
	char time[PLOT_NUMBER_SIZE];

	plot_duration(time, run->seconds);
	plot_print(out, "<article class=\"card\">\n<h3>%s, %s%s%s <small>%s, %s</small></h3>\n"
		   "<p class=\"sub\">%s%s%s. %s, %s.</p>\n", run->kernel, run->form,
		   *run->variant ? " " : "", run->variant, *run->device ? run->device : run->kind, run->transport, run->input,
		   *run->size ? ": " : "", run->size, time, run->verified ? "verified" : "wrong");
	if (samples->count < 2) {
		fputs("<p class=\"note\">It was too short to see anything over time.</p>\n", out);
	} else {
		fputs("<div class=\"plots\">\n", out);
		print_queues(out, samples);
		for (size_t i = 0; i < RATES_COUNT; i++) {
			if (i == RATES_COUNT - TRANSLATION_RATES)
				print_hits(out, samples);
			print_rates(out, samples, &rates[i]);
		}
		fputs("</div>\n", out);
		print_rare(out, samples);
	}
	report_counters(out, &(struct report_group){ .runs = (const struct report_run *[]){ run }, .count = 1 });
	fputs("</article>\n", out);
}
