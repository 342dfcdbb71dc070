/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The one parser of command lines: of mimic's commands, of mimicd, of the demo and the benchmarks. A list has the places of the values. */
#ifndef MIMIC_OPTIONS_H
#define MIMIC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define MIMIC_OPTIONS_MAX 32
#define MIMIC_OPTION_VALUES_MAX 64

/* Of an option that may be given several times. */
struct mimic_option_values {
	const char *values[MIMIC_OPTION_VALUES_MAX];
	size_t count;		/* also of those for which there is no room */
};

/* An option with none of value, values and take has no value. */
struct mimic_option {
	const char *name;
	const char **value;
	struct mimic_option_values *values;
	/* Is called with its value, NULL if it has none: 0, or -errno after a message. */
	int (*take)(void *context, const char *value);
	bool *flag;		/* is set */
	char letter;		/* 0: has no short form */
	/* TEXT: needed, and an empty one is refused */
	enum { OPTION_VALUE_NEEDED, OPTION_VALUE_TEXT, OPTION_VALUE_OPTIONAL, OPTION_VALUE_NONE } form;
};

enum mimic_option_order { OPTIONS_ANYWHERE, OPTIONS_FIRST };	/* FIRST: they end at the first word */

/* --help and -h, --version and -V are options of every command. */
enum mimic_options_end { OPTIONS_TAKEN, OPTIONS_WANT_HELP, OPTIONS_WANT_VERSION };

/*
 * The words that are left begin at argv[optind]. One of the ends, or -errno after a message, a line that begins with
 * `prefix`.
 */
int mimic_options_parse(const char *prefix, int argc, char **argv, enum mimic_option_order order,
			const struct mimic_option *options, size_t count, void *context);

#endif
