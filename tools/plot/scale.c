/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Axes, and numbers as people read them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/plot/plot.h"

#define THIN_SPACE "\xe2\x80\xaf"	/* a narrow one at which no line breaks */

struct plot_scale plot_scale(double largest, unsigned int marks)
{
	static const double factors[] = { 1, 2, 5, 10 };
	struct plot_scale scale = { .end = 1, .step = 1, .steps = 1 };
	double power;

	if (!(largest > 0) || !isfinite(largest) || !marks)
		return scale;
	power = pow(10, floor(log10(largest / marks)));
	for (unsigned int i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		scale.step = power * factors[i];
		/* A hair less: 0.3 is 3 steps of 0.1. */
		scale.steps = (unsigned int)ceil(largest / scale.step - 1e-9);
		if (scale.steps <= marks)
			break;
	}
	scale.end = scale.step * scale.steps;
	return scale;
}

static const char *const prefixes[] = { "n", "\xc2\xb5", "m", "", "k", "M", "G", "T", "P", "E" };
#define PREFIX_NONE 3
#define PREFIX_LAST 9

/* So that three digits stand before the point at most, also when it is rounded. */
static const char *find_prefix(double *value, unsigned int least)
{
	unsigned int prefix = PREFIX_NONE;

	for (; *value >= 999.5 && prefix < PREFIX_LAST; prefix++)
		*value /= 1000;
	for (; *value > 0 && *value < 0.9995 && prefix > least; prefix--)
		*value *= 1000;
	return prefixes[prefix];
}

static int decimals(double value)
{
	return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

void plot_short(char *text, double value)
{
	const char *prefix = find_prefix(&value, PREFIX_NONE);

	if (value < 999.5 && !*prefix && value == floor(value))
		snprintf(text, PLOT_NUMBER_SIZE, "%.0f", value);
	else
		snprintf(text, PLOT_NUMBER_SIZE, "%.*f%s%s", decimals(value), value, *prefix ? THIN_SPACE : "", prefix);
}

void plot_mark(char *text, double value)
{
	const char *prefix = find_prefix(&value, PREFIX_NONE);

	snprintf(text, PLOT_NUMBER_SIZE, "%.3g%s%s", value, *prefix ? THIN_SPACE : "", prefix);
}

void plot_duration(char *text, double seconds)
{
	const char *prefix = "";

	/* Kiloseconds are not in use. */
	if (seconds < 0.9995)
		prefix = find_prefix(&seconds, 0);
	snprintf(text, PLOT_NUMBER_SIZE, "%.*f%s%ss", seconds > 0 ? decimals(seconds) : 0, seconds, THIN_SPACE, prefix);
}

void plot_digits(char *text, uint64_t value)
{
	char digits[PLOT_NUMBER_SIZE];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text = stpcpy(text, THIN_SPACE);
		*text++ = digits[i];
	}
	*text = '\0';
}
