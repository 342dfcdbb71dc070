/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Bars that compare the forms of a kernel: a row for each form, in it a bar for each transport. */
#include <math.h>
#include <string.h>

#include "tools/report/report.h"

#define BAR 11
#define BAR_STEP 13
#define ROW_GAP 9
#define AXIS 20
#define MARKS 4
#define NAME_MOST 14	/* characters */
#define NAME_BYTES 80

/* The colour of a transport, a number for CSS. */
static unsigned int transport_colour(const char *transport)
{
	static const char *const known[] = { "embedded", "daemon", "kernel" };
	unsigned int sum = 0;

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(transport, known[i]) == 0)
			return i;
	}
	for (; *transport; transport++)
		sum += (unsigned char)*transport;
	return 3 + sum % (REPORT_COLOURS - 3);
}

/* A loop without a device is what the others are compared with. */
static bool is_reference(const struct report_run *run)
{
	return strcmp(run->transport, "none") == 0;
}

double report_rate(const struct report_run *run)
{
	return run->seconds > 0 ? (double)run->amount / run->seconds : 0;
}

static bool is_same_row(const struct report_run *a, const struct report_run *b)
{
	return strcmp(a->form, b->form) == 0 && strcmp(a->variant, b->variant) == 0;
}

/* The first of its row? */
static bool begins_row(const struct report_group *group, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (is_same_row(group->runs[i], group->runs[index]))
			return false;
	}
	return true;
}

/* The reference may be much faster, and then its bar is cut off: the others are what is to be seen. */
static double largest_rate(const struct report_group *group)
{
	double with_device = 0, all = 0;

	for (size_t i = 0; i < group->count; i++) {
		double rate = report_rate(group->runs[i]);

		all = fmax(all, rate);
		if (!is_reference(group->runs[i]))
			with_device = fmax(with_device, rate);
	}
	return with_device > 0 && all > 1.5 * with_device ? with_device : all;
}

static void print_marks(FILE *out, const struct plot_scale *scale, unsigned int height)
{
	char text[PLOT_NUMBER_SIZE];

	for (unsigned int i = 0; i <= scale->steps; i++) {
		double share = 100 * (double)i / scale->steps;

		plot_mark(text, scale->step * i);
		plot_print(out, "<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"%u\"/>"
			   "<text class=\"mark\" x=\"%.2f%%\" y=\"%u\" text-anchor=\"middle\">%s</text>\n",
			   share, share, height, share, height + 15, text);
	}
}

/* Its value stands behind it, or, where there is no room, in it. */
static void print_bar(FILE *out, const struct report_run *run, double end, unsigned int y)
{
	double rate = report_rate(run), share = end > 0 ? 100 * rate / end : 0;
	bool is_cut = share > 100;
	char text[PLOT_NUMBER_SIZE];

	plot_short(text, rate);
	plot_print(out, "<g class=\"%s", is_reference(run) ? "reference" : "c");
	if (!is_reference(run))
		plot_print(out, "%u", transport_colour(run->transport));
	plot_print(out, "\"><rect class=\"bar\" x=\"0\" y=\"%u\" width=\"%.2f%%\" height=\"%u\" rx=\"1.5\"/>", y,
		   is_cut ? 100.0 : fmax(share, 0.3), BAR);
	if (is_cut)
		plot_print(out, "<svg x=\"96%%\" y=\"%u\" width=\"9\" height=\"%u\" class=\"cut\"><path d=\"M0 %u L5 -1 M4 %u L9 -1\"/></svg>",
			   y, BAR, BAR + 1u, BAR + 1u);
	plot_print(out, "<text class=\"value\" x=\"%.2f%%\" dx=\"5\" y=\"%u\">%s%s</text></g>\n",
		   is_cut ? 100.0 : share, y + BAR - 2u, text, run->verified ? "" : ", wrong");
}

/* The name of a row, cut off where its place ends; as a whole it is in the table. */
static void print_name(FILE *out, const struct report_run *run, unsigned int y)
{
	char name[NAME_BYTES], *cut = name;
	unsigned int characters = 0;

	snprintf(name, sizeof(name), "%s%s%s", run->form, *run->variant ? " " : "", run->variant);
	for (; *cut && characters < NAME_MOST; characters++) {
		cut++;
		/* The rest of a character that has several bytes. */
		while (((unsigned char)*cut & 0xc0) == 0x80)
			cut++;
	}
	if (*cut)
		*cut = '\0';
	else
		cut = NULL;
	plot_print(out, "<text class=\"row\" x=\"-8\" y=\"%u\" text-anchor=\"end\">%s%s</text>\n", y, name,
		   cut ? "\xe2\x80\xa6" : "");
}

/* Returns where the next row begins. */
static unsigned int print_row(FILE *out, const struct report_group *group, size_t first, double end, unsigned int y)
{
	const struct report_run *run = group->runs[first];
	unsigned int begin = y;

	for (size_t i = first; i < group->count; i++) {
		if (!is_same_row(run, group->runs[i]))
			continue;
		print_bar(out, group->runs[i], end, y);
		y += BAR_STEP;
	}
	print_name(out, run, (begin + y - BAR_STEP + BAR) / 2 + 4);
	return y + ROW_GAP;
}

static unsigned int total_height(const struct report_group *group)
{
	unsigned int height = (unsigned int)group->count * BAR_STEP;

	for (size_t i = 0; i < group->count; i++)
		height += begins_row(group, i) ? ROW_GAP : 0;
	return height;
}

/* Each transport once. */
static void print_legend(FILE *out, const struct report_group *group)
{
	fputs("<ul class=\"legend\">\n", out);
	for (size_t i = 0; i < group->count; i++) {
		const struct report_run *run = group->runs[i];
		bool is_told = false;

		for (size_t before = 0; before < i; before++)
			is_told |= strcmp(group->runs[before]->transport, run->transport) == 0;
		if (is_told)
			continue;
		if (is_reference(run))
			fputs("<li class=\"reference\">", out);
		else
			plot_print(out, "<li class=\"c%u\">", transport_colour(run->transport));
		plot_print(out, "<svg width=\"11\" height=\"11\" aria-hidden=\"true\"><rect class=\"bar\" width=\"11\" height=\"11\" rx=\"1.5\"/></svg>"
			   "<b>%s</b></li>\n", is_reference(run) ? "without a device" : run->transport);
	}
	fputs("</ul>\n", out);
}

void report_bars(FILE *out, const struct report_group *group)
{
	struct plot_scale scale = plot_scale(largest_rate(group), MARKS);
	unsigned int height = total_height(group), y = ROW_GAP / 2;
	const char *unit = group->runs[0]->unit;

	plot_print(out, "<figure class=\"bars\">\n<figcaption><b>%s in a second</b> <span>longer is faster</span></figcaption>\n"
		   "<div class=\"frame\"><svg role=\"img\" width=\"100%%\" height=\"%u\">\n<title>%s in a second, by form and transport: %s</title>\n",
		   *unit ? unit : "Work", height + AXIS, *unit ? unit : "Work", group->runs[0]->kernel);
	print_marks(out, &scale, height);
	for (size_t i = 0; i < group->count; i++) {
		if (begins_row(group, i))
			y = print_row(out, group, i, scale.end, y);
	}
	fputs("</svg></div>\n", out);
	print_legend(out, group);
	fputs("</figure>\n", out);
}
