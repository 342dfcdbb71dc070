/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The part of the page about the runs of one kernel: bars, their table, their counters. */
#include <string.h>

#include "libmimic/base/kinds.h"
#include "tools/report/report.h"

const char *report_kind_name(const char *kind)
{
	const struct mimic_kind *known = mimic_kind_find(kind, strlen(kind));

	return known && known->title ? known->title : kind;
}

static bool any_has_variant(const struct report_group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		if (*group->runs[i]->variant)
			return true;
	}
	return false;
}

/* --- the table ------------------------------------------------------------------------------- */

static void print_run(FILE *out, const struct report_run *run, bool has_variant)
{
	char time[PLOT_NUMBER_SIZE], rate[PLOT_NUMBER_SIZE];

	plot_duration(time, run->seconds);
	plot_short(rate, report_rate(run));
	plot_print(out, "<tr%s><th scope=\"row\">%s</th>", run->verified ? "" : " class=\"wrong\"", run->form);
	if (has_variant)
		plot_print(out, "<td>%s</td>", run->variant);
	plot_print(out, "<td>%s</td>", run->transport);
	if (run->verified)
		fputs("<td class=\"yes\">yes</td>", out);
	else
		plot_print(out, "<td class=\"no\">no%s%s</td>", *run->error ? ": " : "", run->error);
	plot_print(out, "<td class=\"number\">%s</td><td class=\"number\">%s</td></tr>\n", time, run->amount ? rate : "");
}

static void print_table(FILE *out, const struct report_group *group)
{
	const char *unit = group->runs[0]->unit;
	bool has_variant = any_has_variant(group);

	plot_print(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Runs of %s\"><table>\n"
		   "<thead><tr><th scope=\"col\">form</th>", group->runs[0]->kernel);
	if (has_variant)
		fputs("<th scope=\"col\">variant</th>", out);
	plot_print(out, "<th scope=\"col\">transport</th><th scope=\"col\">verified</th>"
		   "<th scope=\"col\" class=\"number\">time</th><th scope=\"col\" class=\"number\">%s/s</th></tr></thead>\n<tbody>\n",
		   *unit ? unit : "work");
	for (size_t i = 0; i < group->count; i++)
		print_run(out, group->runs[i], has_variant);
	fputs("</tbody></table></div>\n", out);
}

/* --- counters ---------------------------------------------------------------------------------- */

static const uint64_t *counter_of(const struct report_run *run, const char *name)
{
	for (size_t i = 0; i < run->counter_count; i++) {
		if (strcmp(run->counters[i].name, name) == 0)
			return &run->counters[i].value;
	}
	return NULL;
}

/* One that used no device has a column of zeros, which says nothing. */
static bool has_counted(const struct report_run *run)
{
	for (size_t i = 0; i < run->counter_count; i++) {
		if (run->counters[i].value)
			return true;
	}
	return false;
}

static bool any_has_counted(const struct report_group *group, const char *name)
{
	for (size_t i = 0; i < group->count; i++) {
		const uint64_t *value = counter_of(group->runs[i], name);

		if (value && *value)
			return true;
	}
	return false;
}

static void print_counter(FILE *out, const struct report_group *group, const char *name)
{
	char text[PLOT_NUMBER_SIZE];

	plot_print(out, "<tr><th scope=\"row\">%s</th>", name);
	for (size_t i = 0; i < group->count; i++) {
		const uint64_t *value = counter_of(group->runs[i], name);

		if (!has_counted(group->runs[i]))
			continue;
		if (value)
			plot_digits(text, *value);
		plot_print(out, "<td class=\"number\">%s</td>", value ? text : "");
	}
	fputs("</tr>\n", out);
}

/* Those of the first run that has any: runs of a kernel have the same. Returns how many were 0 in all. */
static size_t print_counters(FILE *out, const struct report_group *group, const struct report_run *first)
{
	size_t quiet = 0;

	for (size_t i = 0; i < first->counter_count; i++) {
		if (any_has_counted(group, first->counters[i].name))
			print_counter(out, group, first->counters[i].name);
		else
			quiet++;
	}
	return quiet;
}

void report_counters(FILE *out, const struct report_group *group)
{
	const struct report_run *first = NULL;
	size_t quiet;

	for (size_t i = group->count; i > 0; i--)
		first = has_counted(group->runs[i - 1]) ? group->runs[i - 1] : first;
	if (!first)
		return;
	fputs("<details><summary>Counters of the device</summary>\n"
	      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Counters\"><table class=\"counters\">\n"
	      "<thead><tr><th scope=\"col\">counter</th>", out);
	for (size_t i = 0; i < group->count; i++) {
		const struct report_run *run = group->runs[i];

		if (has_counted(run))
			plot_print(out, "<th scope=\"col\" class=\"number\">%s %s<br>%s</th>", run->form, run->variant, run->transport);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	quiet = print_counters(out, group, first);
	plot_print(out, "</tbody></table></div>\n");
	if (quiet)
		plot_print(out, "<p class=\"note\">%zu more counted nothing.</p>\n", quiet);
	fputs("</details>\n", out);
}

/* --- how they were started --------------------------------------------------------------------- */

static void print_commands(FILE *out, const struct report_group *group)
{
	fputs("<details><summary>How to run it again</summary>\n<pre class=\"scroll\" tabindex=\"0\">", out);
	for (size_t i = 0; i < group->count; i++) {
		const struct report_run *run = group->runs[i];

		/* One command may have had several runs. */
		if (i && strcmp(run->arguments, group->runs[i - 1]->arguments) == 0)
			continue;
		plot_print(out, "%s %s\n", run->program, run->arguments);
	}
	fputs("</pre></details>\n", out);
}

void report_group(FILE *out, const struct report_group *group)
{
	const struct report_run *run = group->runs[0];

	plot_print(out, "<article class=\"card\" id=\"k%u\">\n<h3>%s <small>%s</small></h3>\n<p class=\"sub\">%s%s%s</p>\n",
		   group->number, run->kernel, report_kind_name(run->kind), run->input, *run->input && *run->size ? ": " : "", run->size);
	fputs("<div class=\"two\">\n", out);
	report_bars(out, group);
	print_table(out, group);
	fputs("</div>\n", out);
	if (*run->against)
		plot_print(out, "<p class=\"note\">Each result was compared with %s.</p>\n", run->against);
	report_counters(out, group);
	if (*run->program)
		print_commands(out, group);
	fputs("</article>\n", out);
}
