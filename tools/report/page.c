/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The page as a whole. */
#include <stdlib.h>
#include <string.h>

#include "tools/report/report.h"

/* Folded sections are printed, too. The policy below names the hash of this text: no other script can run. */
#define SCRIPT "addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach(d=>d.open=true))"
#define SCRIPT_HASH "sha256-jp9OZKWsQoa5AMXJw5Ji/0zF9wocfow5zQq60SvdNRw="

/* mk/report.mk makes C of report.css. */
static const char report_css[] =
#include "report_css.inc"
;

struct page {
	const struct report *report;
	const struct report_run **runs;	/* those without samples, group by group */
	struct report_group *groups;
	size_t group_count;
	size_t looked_at;		/* runs with samples */
	size_t wrong;
};

static bool has_samples(const struct report_run *run)
{
	return run->samples.count > 0;
}

/* --- groups -------------------------------------------------------------------------------- */

static bool belongs(const struct report_run *a, const struct report_run *b)
{
	return strcmp(a->kind, b->kind) == 0 && strcmp(a->kernel, b->kernel) == 0 && strcmp(a->input, b->input) == 0 &&
	       strcmp(a->size, b->size) == 0 && strcmp(a->unit, b->unit) == 0;
}

static void make_group(struct page *page, size_t first, size_t *used, bool *is_taken)
{
	const struct report *report = page->report;
	struct report_group *group = &page->groups[page->group_count++];

	*group = (struct report_group){ .runs = page->runs + *used, .number = (unsigned int)page->group_count };
	for (size_t i = first; i < report->run_count; i++) {
		if (is_taken[i] || !belongs(&report->runs[first], &report->runs[i]))
			continue;
		is_taken[i] = true;
		group->runs[group->count++] = &report->runs[i];
	}
	*used += group->count;
}

/* False: no memory. */
static bool make_groups(struct page *page)
{
	const struct report *report = page->report;
	bool *is_taken = calloc(report->run_count, sizeof(*is_taken));
	size_t used = 0;

	page->runs = calloc(report->run_count, sizeof(*page->runs));
	page->groups = calloc(report->run_count, sizeof(*page->groups));
	if (is_taken && page->runs && page->groups) {
		for (size_t i = 0; i < report->run_count; i++) {
			is_taken[i] |= has_samples(&report->runs[i]);
			page->looked_at += has_samples(&report->runs[i]);
			page->wrong += !report->runs[i].verified;
		}
		for (size_t i = 0; i < report->run_count; i++) {
			if (!is_taken[i])
				make_group(page, i, &used, is_taken);
		}
	}
	free(is_taken);
	return is_taken && page->runs && page->groups;
}

/* --- the head ------------------------------------------------------------------------------ */

static void print_fact(FILE *out, const char *name, const char *value)
{
	if (*value)
		plot_print(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

/* "2026-11-22T02:35:56Z" for people; another text as it is. */
static void print_date(FILE *out, const char *date)
{
	plot_print(out, "<div><dt>date</dt><dd>");
	if (strlen(date) == 20 && date[10] == 'T' && date[19] == 'Z') {
		char text[32];

		snprintf(text, sizeof(text), "%.10s %.5s UTC", date, date + 11);
		plot_print(out, "<time datetime=\"%s\">%s</time>", date, text);
	} else {
		plot_print(out, "%s", date);
	}
	fputs("</dd></div>\n", out);
}

static void print_facts(FILE *out, const struct report *report)
{
	char text[PLOT_NUMBER_SIZE];

	fputs("<dl class=\"facts\">\n", out);
	print_date(out, report->date);
	plot_duration(text, report->seconds);
	print_fact(out, "time in all", report->seconds > 0 ? text : "");
	print_fact(out, "mimic", report->mimic);
	print_fact(out, "system", report->system);
	print_fact(out, "processor", report->processor);
	if (report->processors) {
		char facts[2 * PLOT_NUMBER_SIZE];

		snprintf(facts, sizeof(facts), "%llu, %.1f GiB of memory", (unsigned long long)report->processors,
			 (double)report->memory / (1024.0 * 1024 * 1024));
		print_fact(out, "processors", facts);
	}
	plot_print(out, "<div class=\"wide\"><dt>command</dt><dd><code>%s %s</code></dd></div>\n</dl>\n", report->program,
		   report->arguments);
}

static void print_verdict(FILE *out, const struct page *page)
{
	size_t count = page->report->run_count;

	plot_print(out, "<p class=\"verdict %s\">", page->wrong ? "bad" : "good");
	plot_sign(out, !page->wrong);
	if (page->wrong)
		plot_print(out, "%zu of %zu runs %s wrong</p>\n", page->wrong, count,
			   page->wrong == 1 ? "is" : "are");
	else
		plot_print(out, "%s</p>\n", count == 1 ? "The run is verified" : "All runs are verified");
}

static void print_header(FILE *out, const struct page *page)
{
	plot_print(out, "<header>\n<p class=\"brand\">mimic report</p>\n<h1>%s</h1>\n", page->report->program);
	print_verdict(out, page);
	print_facts(out, page->report);
	fputs("</header>\n", out);
}

/* --- the contents -------------------------------------------------------------------------- */

/* Each once, in order of appearance. */
static void print_names(FILE *out, const struct report_group *group, const char *(*name)(const struct report_run *run))
{
	bool is_first = true;

	fputs("<td>", out);
	for (size_t i = 0; i < group->count; i++) {
		bool is_told = !*name(group->runs[i]);

		for (size_t before = 0; before < i; before++)
			is_told |= strcmp(name(group->runs[before]), name(group->runs[i])) == 0;
		if (is_told)
			continue;
		plot_print(out, "%s%s", is_first ? "" : ", ", name(group->runs[i]));
		is_first = false;
	}
	fputs("</td>", out);
}

static const char *form_of(const struct report_run *run)
{
	return run->form;
}

static const char *transport_of(const struct report_run *run)
{
	return strcmp(run->transport, "none") == 0 ? "" : run->transport;
}

static void print_overview_line(FILE *out, const struct report_group *group)
{
	const struct report_run *run = group->runs[0];
	size_t verified = 0;

	for (size_t i = 0; i < group->count; i++)
		verified += group->runs[i]->verified;
	plot_print(out, "<tr><th scope=\"row\"><a href=\"#k%u\">%s</a></th><td>%s</td><td>%s</td>", group->number, run->kernel,
		   report_kind_name(run->kind), run->input);
	print_names(out, group, form_of);
	print_names(out, group, transport_of);
	plot_print(out, "<td class=\"number\">%zu</td><td class=\"%s\">%s</td></tr>\n", group->count,
		   verified == group->count ? "yes" : "no", verified == group->count ? "all" : verified ? "not all" : "none");
}

static void print_overview(FILE *out, const struct page *page)
{
	fputs("<section>\n<h2>Runs</h2>\n<div class=\"scroll card\" tabindex=\"0\" role=\"region\" aria-label=\"Kernels\"><table>\n"
	      "<thead><tr><th scope=\"col\">kernel</th><th scope=\"col\">device</th><th scope=\"col\">input</th>"
	      "<th scope=\"col\">forms</th><th scope=\"col\">transports</th>"
	      "<th scope=\"col\" class=\"number\">runs</th><th scope=\"col\">verified</th></tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < page->group_count; i++)
		print_overview_line(out, &page->groups[i]);
	fputs("</tbody></table></div>\n</section>\n", out);
}

static void print_groups(FILE *out, const struct page *page)
{
	fputs("<section>\n<h2>Forms compared</h2>\n<p class=\"lead\">Rates are those of an emulation. They say how fast tests will run, "
	      "not how fast the hardware is.</p>\n", out);
	for (size_t i = 0; i < page->group_count; i++)
		report_group(out, &page->groups[i]);
	fputs("</section>\n", out);
}

static void print_times(FILE *out, const struct page *page)
{
	const struct report *report = page->report;

	fputs("<section>\n<h2>Over time</h2>\n<p class=\"lead\">Runs whose device was sampled while they went on, which makes them "
	      "slower. Each step of a line is the mean of one sample or some; above the line of a queue, the lighter area goes up to "
	      "the fullest of them.</p>\n", out);
	for (size_t i = 0; i < report->run_count; i++) {
		if (has_samples(&report->runs[i]))
			report_over_time(out, &report->runs[i]);
	}
	fputs("</section>\n", out);
}

void report_page_begin(FILE *out, const char *program, const char *date)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	      "script-src '" SCRIPT_HASH "'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n", out);
	plot_print(out, "<meta name=\"generator\" content=\"mimic %s\">\n<title>%s, %s: mimic report</title>\n<style>\n",
		   MIMIC_VERSION, program, date);
	fputs(plot_page_css, out);
	fputs(report_css, out);
	fputs("</style>\n</head>\n<body>\n<main>\n", out);
}

void report_page_end(FILE *out)
{
	fputs("</main>\n<script>" SCRIPT "</script>\n</body>\n</html>\n", out);
}

void report_page(FILE *out, const struct report *report)
{
	struct page page = { .report = report };

	if (make_groups(&page)) {
		report_page_begin(out, report->program, report->date);
		print_header(out, &page);
		if (page.group_count) {
			print_overview(out, &page);
			print_groups(out, &page);
		}
		if (page.looked_at)
			print_times(out, &page);
		report_page_end(out);
	}
	free(page.runs);
	free(page.groups);
}
