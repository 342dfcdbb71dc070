/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "options/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value that getopt returns for a long option; letters are below. */
#define CODE(i) (0x100 + (int)(i))

static int has_argument(const struct mimic_option *option)
{
	bool has_value = option->value || option->values || option->take;

	if (!has_value || option->form == OPTION_VALUE_NONE)
		return no_argument;
	return option->form == OPTION_VALUE_OPTIONAL ? optional_argument : required_argument;
}

/* getopt's two lists. */
static void list_options(const struct mimic_option *options, size_t count, struct option *names, char *letters)
{
	for (size_t i = 0; i < count; i++) {
		int argument = has_argument(&options[i]);

		names[i] = (struct option){ options[i].name, argument, NULL, CODE(i) };
		if (!options[i].letter)
			continue;
		*letters++ = options[i].letter;
		if (argument != no_argument)
			*letters++ = ':';
	}
	names[count] = (struct option){ "help", no_argument, NULL, 'h' };
	names[count + 1] = (struct option){ "version", no_argument, NULL, 'V' };
	strcpy(letters, "hV");
}

static int take(const char *prefix, const struct mimic_option *option, void *context)
{
	if (option->form == OPTION_VALUE_TEXT && !*optarg) {
		fprintf(stderr, "%s: --%s: the value is empty\n", prefix, option->name);
		return -EINVAL;
	}
	if (option->value)
		*option->value = optarg;
	if (option->values && option->values->count++ < MIMIC_OPTION_VALUES_MAX)
		option->values->values[option->values->count - 1] = optarg;
	if (option->flag)
		*option->flag = true;
	return option->take ? option->take(context, optarg) : 0;
}

/* getopt's own messages begin with the first word. */
static int next_option(const char *prefix, int argc, char **argv, const char *letters, const struct option *names)
{
	char *command = argv[0];
	int code;

	argv[0] = (char *)prefix;
	code = getopt_long(argc, argv, letters, names, NULL);
	argv[0] = command;
	return code;
}

int mimic_options_parse(const char *prefix, int argc, char **argv, enum mimic_option_order order,
			const struct mimic_option *options, size_t count, void *context)
{
	struct option names[MIMIC_OPTIONS_MAX + 3] = { 0 };
	char letters[2 * MIMIC_OPTIONS_MAX + 4] = "+";
	int code, error;

	if (count > MIMIC_OPTIONS_MAX)
		abort();
	list_options(options, count, names, letters + (order == OPTIONS_FIRST));
	while ((code = next_option(prefix, argc, argv, letters, names)) != -1) {
		size_t i = 0;

		if (code == 'h' || code == 'V')
			return code == 'h' ? OPTIONS_WANT_HELP : OPTIONS_WANT_VERSION;
		while (i < count && code != CODE(i) && code != options[i].letter)
			i++;
		/* An unknown option, or one without its value: getopt has printed it. */
		if (i == count)
			return -EINVAL;
		error = take(prefix, &options[i], context);
		if (error)
			return error;
	}
	return OPTIONS_TAKEN;
}
