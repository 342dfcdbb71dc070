/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Bars that compare the forms of a kernel: a row for each form, in it a bar for each transport. */
#include <math.h>
#include <string.h>

#include "tools/report/report.h"

#define BAR 11
#define BAR_STEP 13
#define ROW_GAP 9
#define MARKS 4
#define NAME_MOST 14	/* characters */
#define NAME_BYTES 80

/* The others are compared with a loop without a device. */
static bool is_reference(const struct report_run *run)
{
	return strcmp(run->transport, "none") == 0;
}

static unsigned int colour_of(const struct report_run *run)
{
	static const char *const known[] = { "embedded", "daemon", "kernel" };
	const char *transport = run->transport;
	unsigned int sum = 0;

	if (is_reference(run))
		return PLOT_REFERENCE;
	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(transport, known[i]) == 0)
			return i;
	}
	for (; *transport; transport++)
		sum += (unsigned char)*transport;
	return 3 + sum % (PLOT_COLOURS - 3);
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

/* The reference may be much faster, and then its bar is cut off, so that the others can be seen. */
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

/* Its value stands behind it. */
static void print_bar(struct plot_frame *frame, const struct report_run *run, double end, unsigned int y)
{
	double rate = report_rate(run), share = end > 0 ? rate / end : 0;
	char text[PLOT_NUMBER_SIZE];

	plot_short(text, rate);
	plot_bar(frame, colour_of(run), run->transport,
		 &(struct plot_box){ 0, y, fmax(share, 0.003), BAR, 0 });
	plot_text(frame, PLOT_BEHIND, fmin(share, 1), y + BAR - 2, text, run->verified ? "" : ", wrong");
}

/* The name of a row, cut off where its place ends; as a whole it is in the table. */
static void print_name(struct plot_frame *frame, const struct report_run *run, unsigned int y)
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
	plot_text(frame, PLOT_ROW_LEFT, 0, y, name, cut ? "\xe2\x80\xa6" : "");
}

/* Returns where the next row begins. */
static unsigned int print_row(struct plot_frame *frame, const struct report_group *group, size_t first,
			      double end, unsigned int y)
{
	const struct report_run *run = group->runs[first];
	unsigned int begin = y;

	for (size_t i = first; i < group->count; i++) {
		if (!is_same_row(run, group->runs[i]))
			continue;
		print_bar(frame, group->runs[i], end, y);
		y += BAR_STEP;
	}
	print_name(frame, run, (begin + y - BAR_STEP + BAR) / 2 + 4);
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
static void print_legend(struct plot_frame *frame, const struct report_group *group)
{
	plot_figure_legend(frame);
	for (size_t i = 0; i < group->count; i++) {
		const struct report_run *run = group->runs[i];
		bool is_told = false;

		for (size_t before = 0; before < i; before++)
			is_told |= strcmp(group->runs[before]->transport, run->transport) == 0;
		if (!is_told)
			plot_key(frame, colour_of(run), false,
				 is_reference(run) ? "without a device" : run->transport, "");
	}
}

void report_bars(FILE *out, const struct report_group *group)
{
	struct plot_scale scale = plot_scale(largest_rate(group), MARKS);
	const struct report_run *run = group->runs[0];
	struct plot_frame frame;
	char title[NAME_BYTES];
	unsigned int y = ROW_GAP / 2;

	snprintf(title, sizeof(title), "%.64s in a second", *run->unit ? run->unit : "Work");
	frame = plot_figure_begin(out, "bars", total_height(group), title, "longer is faster", run->kernel);
	plot_marks(&frame, &scale, PLOT_ACROSS);
	for (size_t i = 0; i < group->count; i++) {
		if (begins_row(group, i))
			y = print_row(&frame, group, i, scale.end, y);
	}
	print_legend(&frame, group);
	plot_end(&frame);
}
