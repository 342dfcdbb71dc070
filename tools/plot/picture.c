/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Around shapes: figures, sheets, legends, and the styles, of which mk/report.mk makes C. */
#include "tools/plot/plot.h"

static const char plot_css[] =
#include "plot_css.inc"
;
const char plot_page_css[] =
#include "plot_css.inc"
#include "page_css.inc"
;

/* A sheet, in pixels. */
#define WIDTH 840u
#define HEIGHT 380u
#define LEFT 64u
#define TOP 36u
#define ACROSS 506u	/* the legend is at the right */
#define DOWN 272u	/* names that stand aslant are below */

struct plot_frame plot_figure_begin(FILE *out, const char *class, double height, const char *title,
				    const char *note, const char *about)
{
	plot_print(out,
		   "<figure class=\"%s\">\n<figcaption><b>%s</b> <span>%s</span></figcaption>\n"
		   "<div class=\"frame\"><svg role=\"img\" width=\"100%%\" height=\"%.0f\">\n"
		   "<title>%s, %s: %s</title>\n",
		   class, title, note, height, title, note, about);
	return (struct plot_frame){ .out = out, .height = height };
}

void plot_figure_legend(struct plot_frame *frame)
{
	fputs("</svg></div>\n<ul class=\"legend\">\n", frame->out);
}

struct plot_frame plot_sheet_begin(FILE *out, const char *title, const char *across, const char *up)
{
	plot_print(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		   "viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" font-size=\"12\">\n<title>%s</title>\n<style>\n",
		   WIDTH, HEIGHT, WIDTH, HEIGHT, title);
	fputs(plot_css, out);
	plot_print(out,
		   "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		   "<text x=\"%u\" y=\"20\" text-anchor=\"middle\" font-weight=\"bold\">%s</text>\n"
		   "<text x=\"%u\" y=\"%u\" text-anchor=\"middle\">%s</text>\n"
		   "<text transform=\"translate(14 %u) rotate(-90)\" text-anchor=\"middle\">%s</text>\n"
		   "<g transform=\"translate(%u %u)\">\n",
		   WIDTH / 2, title, LEFT + ACROSS / 2, HEIGHT - 10, across ? across : "", TOP + DOWN / 2,
		   up ? up : "", LEFT, TOP);
	return (struct plot_frame){ .out = out, .width = ACROSS, .height = DOWN };
}

void plot_end(struct plot_frame *frame)
{
	fputs(frame->width ? "</g>\n</svg>\n" : "</ul>\n</figure>\n", frame->out);
}

void plot_key(struct plot_frame *frame, unsigned int colour, bool is_line, const char *name, const char *note)
{
	bool is_sheet = frame->width > 0;
	unsigned int width = is_line ? 22 : 11, x = is_sheet ? ACROSS + 14 : 0;
	unsigned int y = is_sheet ? 20 * frame->keys++ : 0;

	fputs(is_sheet ? "" : "<li>", frame->out);
	plot_print(frame->out,
		   "<svg x=\"%u\" y=\"%u\" width=\"%u\" height=\"11\" aria-hidden=\"true\">"
		   "<path class=\"%s c%u\" d=\"%s\"/></svg>",
		   x, y, width, is_line ? "line" : "bar", colour, is_line ? "M0 5.5H22" : "M0 0H11V11H0Z");
	if (is_sheet)
		plot_print(frame->out, "<text x=\"%u\" y=\"%u\">%s</text>\n", x + width + 7, y + 10, name);
	else
		plot_print(frame->out, "<b>%s</b> <span>%s</span></li>\n", name, note);
}

void plot_sign(FILE *out, bool is_good)
{
	plot_print(out,
		   "<svg class=\"sign\" viewBox=\"0 0 20 20\" aria-hidden=\"true\"><path d=\"%s\"/></svg>",
		   is_good ? "M4 10.5l4 4 8-9" : "M5 5l10 10M15 5L5 15");
}
