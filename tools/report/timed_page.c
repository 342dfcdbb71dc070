/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The page of runs in virtual time: for each phase a bar of each run, in it a part for each cause. */
#include <math.h>
#include <string.h>

#include "tools/report/report.h"

#define BAR 12
#define ROW 36		/* the name, and the bar below it */
#define MARKS 4
#define BARS_MOST 64	/* of a phase; the table has more */
#define TABLE_MOST 1000

static uint64_t all_cycles(const struct report_timed_row *row)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < REPORT_CAUSES; i++)
		sum += row->causes[i];
	return sum;
}

static bool begins_phase(const struct report_timed *timed, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(timed->rows[i].phase, timed->rows[index].phase))
			return false;
	return true;
}

static void print_bar(struct plot_frame *frame, const struct report_timed_row *row, double end,
		      unsigned int y)
{
	double at = 0;
	char digits[PLOT_NUMBER_SIZE];

	plot_digits(digits, row->cycles);
	plot_text(frame, PLOT_ROW_ABOVE, 0, y + 14, *row->label ? row->label : row->phase, "");
	for (unsigned int i = 0; i < REPORT_CAUSES; i++) {
		double share = end > 0 ? (double)row->causes[i] / end : 0;

		if (share > 0)
			plot_bar(frame, i, report_causes[i], &(struct plot_box){ at, y + 19, share, BAR, 0 });
		at += share;
	}
	plot_text(frame, PLOT_BEHIND, at, y + 19 + BAR - 2, digits, " cycles");
}

static void print_bars(FILE *out, const struct report_timed *timed, const char *phase)
{
	struct plot_scale scale;
	struct plot_frame frame;
	double most = 0;
	unsigned int count = 0, y = 0;

	for (size_t i = 0; i < timed->count && count < BARS_MOST; i++) {
		if (strcmp(timed->rows[i].phase, phase))
			continue;
		most = fmax(most, (double)all_cycles(&timed->rows[i]));
		count++;
	}
	scale = plot_scale(most, MARKS);
	frame = plot_figure_begin(out, "stack", count * ROW, "Cycles of all cores",
				  "by their use; behind a bar, from begin to end", phase);
	plot_marks(&frame, &scale, PLOT_ACROSS);
	for (size_t i = 0; i < timed->count && y < count * ROW; i++) {
		if (strcmp(timed->rows[i].phase, phase))
			continue;
		print_bar(&frame, &timed->rows[i], scale.end, y);
		y += ROW;
	}
	plot_figure_legend(&frame);
	for (unsigned int i = 0; i < REPORT_CAUSES; i++)
		plot_key(&frame, i, false, report_causes[i], "");
	plot_end(&frame);
}

static void print_table(FILE *out, const struct report_timed *timed, const char *phase)
{
	size_t count = 0;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Cycles\"><table>\n<thead><tr><th scope=\"col\">run</th>"
	      "<th scope=\"col\" class=\"number\">cycles</th>", out);
	for (unsigned int i = 0; i < REPORT_CAUSES; i++)
		plot_print(out, "<th scope=\"col\" class=\"number\">%s</th>", report_causes[i]);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < timed->count && count < TABLE_MOST; i++) {
		const struct report_timed_row *row = &timed->rows[i];

		if (strcmp(row->phase, phase))
			continue;
		count++;
		plot_print(out, "<tr><th scope=\"row\">%s</th>", *row->label ? row->label : row->phase);
		report_table_number(out, row->cycles);
		for (unsigned int cause = 0; cause < REPORT_CAUSES; cause++)
			report_table_number(out, row->causes[cause]);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	if (count > BARS_MOST)
		plot_print(out, "<p class=\"note\">The first %u have bars, the first %u are in the table.</p>\n", (unsigned int)BARS_MOST,
			   (unsigned int)TABLE_MOST);
}

void report_timed_page(FILE *out, const struct report_timed *timed)
{
	report_page_begin(out, timed->title, "virtual time");
	plot_print(out, "<header>\n<p class=\"brand\">mimic report</p>\n<h1>%s</h1>\n<p class=\"sub\">%s</p>\n", timed->title,
		   timed->about);
	if (timed->failed)
		plot_print(out, "<p class=\"verdict bad\">%zu points failed, and are left out</p>\n", timed->failed);
	fputs("</header>\n", out);
	report_timed_plot(out, timed);
	fputs("<section>\n<h2>Phases</h2>\n<p class=\"lead\">Each cycle of a core is an instruction, a wait, or nothing to do. "
	      "A core waits while another one works, so the bars of several cores are longer than the run.</p>\n", out);
	for (size_t i = 0; i < timed->count; i++) {
		if (!begins_phase(timed, i))
			continue;
		plot_print(out, "<article class=\"card\">\n<h3>%s</h3>\n", timed->rows[i].phase);
		print_bars(out, timed, timed->rows[i].phase);
		print_table(out, timed, timed->rows[i].phase);
		report_devices_tables(out, timed, timed->rows[i].phase);
		fputs("</article>\n", out);
	}
	fputs("</section>\n", out);
	report_page_end(out);
}
