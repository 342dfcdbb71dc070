/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Axes, bars, lines, points. plot.css has the classes and their colours. */
#include <math.h>
#include <string.h>

#include "tools/plot/plot.h"

#define STRETCHED 1000.0	/* the width of lines in a page, in their coordinates */
#define LETTER 9.0		/* the width of a wide one: names that touch cannot be read */

static void print_across(struct plot_frame *frame, const char *attribute, double share)
{
	if (frame->width)
		plot_print(frame->out, " %s=\"%.1f\"", attribute, share * frame->width);
	else
		plot_print(frame->out, " %s=\"%.3f%%\"", attribute, 100 * share);
}

double plot_text_width(const char *text)
{
	return LETTER * (double)strlen(text);
}

void plot_text(struct plot_frame *frame, enum plot_place place, double across, double down, const char *text,
	       const char *more)
{
	static const char *const attributes[] = {
		[PLOT_LEFT] = "class=\"mark\" dx=\"-8\" text-anchor=\"end\"",
		[PLOT_BELOW] = "class=\"mark\" text-anchor=\"middle\"",
		[PLOT_ROW_LEFT] = "class=\"row\" dx=\"-8\" text-anchor=\"end\"",
		[PLOT_ROW_ABOVE] = "class=\"row\" dx=\"2\"",
		[PLOT_BEHIND] = "class=\"value\" dx=\"5\"",
	};

	fprintf(frame->out, "<text %s", attributes[place]);
	print_across(frame, "x", across);
	plot_print(frame->out, " y=\"%.1f\">%s%s</text>\n", down, text, more);
}

void plot_name_below(struct plot_frame *frame, double across, double room, const char *name)
{
	bool is_aslant = plot_text_width(name) > room;

	plot_print(frame->out,
		   "<text class=\"row\" transform=\"translate(%.1f %.1f) rotate(%.1f)\" "
		   "text-anchor=\"%s\">%s</text>\n",
		   frame->width * across, frame->height + 16, is_aslant ? -24.0 : 0.0,
		   is_aslant ? "end" : "middle", name);
}

double plot_down(struct plot_frame *frame, double value)
{
	return frame->height - frame->height * fmin(fmax(value, 0) / frame->scale.end, 1);
}

void plot_marks(struct plot_frame *frame, const struct plot_scale *scale, enum plot_axis axis)
{
	char text[PLOT_NUMBER_SIZE];

	for (unsigned int i = 0; i <= scale->steps; i++) {
		double share = scale->step * i / scale->end,
		       down = axis == PLOT_UP ? frame->height * (1 - share) : 0;

		/* Of times: the axis ends where the run does, perhaps between two marks. */
		if (share > 1.0001)
			break;
		plot_mark(text, scale->step * i);
		if (axis == PLOT_UP)
			plot_text(frame, PLOT_LEFT, 0, down + 4, text, "");
		else
			plot_text(frame, PLOT_BELOW, share, frame->height + 16, text, "");
		if (axis == PLOT_TIME)
			continue;
		fputs("<line class=\"grid\"", frame->out);
		print_across(frame, "x1", axis == PLOT_UP ? 0 : share);
		print_across(frame, "x2", axis == PLOT_UP ? 1 : share);
		plot_print(frame->out, " y1=\"%.1f\" y2=\"%.1f\"/>\n", down,
			   axis == PLOT_UP ? down : frame->height);
	}
}

void plot_bar(struct plot_frame *frame, unsigned int colour, const char *name, const struct plot_box *box)
{
	plot_print(frame->out, "<rect class=\"bar c%u\"", colour);
	print_across(frame, "x", box->across);
	print_across(frame, "width", fmin(box->width, 1));
	plot_print(frame->out, " y=\"%.1f\" height=\"%.1f\" opacity=\"%.2f\"><title>%s</title></rect>\n",
		   box->down, box->height, 1 - box->pale, name);
	if (box->width > 1)
		plot_print(frame->out,
			   "<svg x=\"96%%\" y=\"%.1f\" width=\"9\" height=\"%.1f\">"
			   "<path class=\"cut\" d=\"M0 %.1fL5 -1M4 %.1fL9 -1\"/></svg>\n",
			   box->down, box->height, box->height + 1, box->height + 1);
}

void plot_path_begin(struct plot_frame *frame, const char *class, unsigned int colour)
{
	if (!frame->width)
		plot_print(frame->out,
			   "<svg width=\"100%%\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
			   "preserveAspectRatio=\"none\">",
			   frame->height, STRETCHED, frame->height);
	plot_print(frame->out, "<path class=\"%s c%u\" d=\"", class, colour);
}

void plot_path_to(struct plot_frame *frame, bool is_first, double across, double down)
{
	plot_print(frame->out, "%s%.1f %.1f", is_first ? "M" : "L",
		   across * (frame->width ? frame->width : STRETCHED), down);
}

void plot_path_end(struct plot_frame *frame, const char *name)
{
	plot_print(frame->out, "\"><title>%s</title></path>", name);
	fputs(frame->width ? "\n" : "</svg>\n", frame->out);
}
