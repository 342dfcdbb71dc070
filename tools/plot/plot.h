/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the pages of mimic report (of sweeps, too) and by figures: axes, numbers, texts in HTML. */
#ifndef TOOLS_PLOT_H
#define TOOLS_PLOT_H

#include <stdint.h>
#include <stdio.h>

/* --- text.c ----------------------------------------------------------------------- */

/* As text of HTML, or as the value of an attribute in quotes. Whatever it is, it is no markup. */
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

#endif
