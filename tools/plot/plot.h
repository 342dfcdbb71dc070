/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The pages of mimic report (of sweeps, too) and the figures are drawn with these. */
#ifndef TOOLS_PLOT_H
#define TOOLS_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* --- text.c ----------------------------------------------------------------------- */

/* As text of HTML, or as the value of an attribute in quotes. No part of it becomes markup. */
void plot_escape(FILE *out, const char *text);
/* A format of HTML: %s are escaped; %u, %zu, %.1f and %% as in printf(). */
void plot_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- scale.c -------------------------------------------------------------------------- */

#define PLOT_NUMBER_SIZE 48

struct plot_scale {
	double end;		/* of the axis: at least the largest value */
	double step;		/* between its marks: 1, 2 or 5 times a power of ten */
	unsigned int steps;	/* end / step */
};

/* An axis from 0 on with about so many marks. */
struct plot_scale plot_scale(double largest, unsigned int marks);
/* Three digits and a prefix: "20.2 M". */
void plot_short(char *text, double value);
/* As it is said of marks of an axis: "20 M", "0". */
void plot_mark(char *text, double value);
/* "34.9 ms" */
void plot_duration(char *text, double seconds);
/* With thin spaces between each three digits. */
void plot_digits(char *text, uint64_t value);

/* --- picture.c: figures of pages, as wide as their place, and sheets, which are files of SVG ------------ */

/* The field between the axes. Across, positions are shares of its width, down, pixels from its upper edge. */
struct plot_frame {
	FILE *out;
	double width;		/* in pixels; 0: of a page */
	double height;
	struct plot_scale scale;	/* of plot_down(); the caller sets it */
	unsigned int keys;	/* that the legend of a sheet has so far */
};

/* The style of a page's figures; the page defines --ink, --soft, --grid and --card. */
extern const char plot_page_css[];

/* The class is one of page.css. A screen reader says `about`, too. */
struct plot_frame plot_figure_begin(FILE *out, const char *class, double height, const char *title,
				    const char *note, const char *about);
/* Behind the shapes: keys follow. */
void plot_figure_legend(struct plot_frame *frame);
/* `across` and `up` are the labels of the axes, or NULL. */
struct plot_frame plot_sheet_begin(FILE *out, const char *title, const char *across, const char *up);
void plot_end(struct plot_frame *frame);
void plot_key(struct plot_frame *frame, unsigned int colour, bool is_line, const char *name,
	      const char *note);
/* In a line of text: a tick or a cross. */
void plot_sign(FILE *out, bool is_good);

/* --- shapes.c ----------------------------------------------------------------------------------------- */

#define PLOT_COLOURS 8
/* Two more: of the reference, of fields of maps. */
#define PLOT_REFERENCE PLOT_COLOURS
#define PLOT_FIELD (PLOT_COLOURS + 1)

enum plot_place { PLOT_LEFT, PLOT_BELOW, PLOT_ROW_LEFT, PLOT_ROW_ABOVE, PLOT_BEHIND };
enum plot_axis { PLOT_UP, PLOT_ACROSS, PLOT_TIME };

struct plot_box {
	double across, down, width, height;
	double pale;		/* of a field of a map: from 0 to 1 */
};

void plot_text(struct plot_frame *frame, enum plot_place place, double across, double down, const char *text,
	       const char *more);
/* In pixels, at most. */
double plot_text_width(const char *text);
/* Of a sheet: aslant if it is longer than its room in pixels. */
void plot_name_below(struct plot_frame *frame, double across, double room, const char *name);
/* How far down a value is. */
double plot_down(struct plot_frame *frame, double value);
/* Marks, and lines of the grid at them, but not at times. */
void plot_marks(struct plot_frame *frame, const struct plot_scale *scale, enum plot_axis axis);
/* The name is seen below a pointer. Strokes go through the end of a bar that is longer than the frame. */
void plot_bar(struct plot_frame *frame, unsigned int colour, const char *name, const struct plot_box *box);
/* The class is "line", "area" or "band"; or "points", which begin and end at the same place. */
void plot_path_begin(struct plot_frame *frame, const char *class, unsigned int colour);
void plot_path_to(struct plot_frame *frame, bool is_first, double across, double down);
void plot_path_end(struct plot_frame *frame, const char *name);

#endif
