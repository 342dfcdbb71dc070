/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The options of a sub-command, from a list of where their values go. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/kinds.h"
#include "tools/common/tools.h"

#define OPTIONS_MAX 16
/* What getopt returns for a long option; letters are below. */
#define CODE(i) (0x100 + (int)(i))

/* getopt's two lists; --help and -h, --version and -V are everybody's. */
static void list_options(const struct tool_option *options, size_t count, struct option *long_options, char *letters)
{
	for (size_t i = 0; i < count; i++) {
		long_options[i] = (struct option){ options[i].name,
			options[i].value && options[i].flag ? optional_argument :
			options[i].value || options[i].values ? required_argument : no_argument, NULL, CODE(i) };
		if (!options[i].letter)
			continue;
		*letters++ = options[i].letter;
		if (options[i].value || options[i].values)
			*letters++ = ':';
	}
	long_options[count] = (struct option){ "help", no_argument, NULL, 'h' };
	long_options[count + 1] = (struct option){ "version", no_argument, NULL, 'V' };
	strcpy(letters, "hV");
}

static void take_option(const struct tool_option *options, size_t count, int code)
{
	for (size_t i = 0; i < count; i++) {
		if (code != CODE(i) && code != options[i].letter)
			continue;
		if (options[i].value)
			*options[i].value = optarg;
		if (options[i].values && options[i].values->count++ < TOOL_VALUES_MAX)
			options[i].values->values[options[i].values->count - 1] = optarg;
		if (options[i].flag)
			*options[i].flag = true;
	}
}

/* getopt's own messages begin with the first word: they are to look like ours. */
static int next_option(int argc, char **argv, const char *letters, const struct option *long_options)
{
	char *command = argv[0], name[64];
	int code;

	snprintf(name, sizeof(name), "mimic: %s", command);
	argv[0] = name;
	code = getopt_long(argc, argv, letters, long_options, NULL);
	argv[0] = command;
	return code;
}

static void print_usage(const char *usage)
{
	const char *kinds;

	while ((kinds = strstr(usage, USAGE_KINDS))) {
		fwrite(usage, 1, (size_t)(kinds - usage), stdout);
		fputs(mimic_kind_names(), stdout);
		usage = kinds + strlen(USAGE_KINDS);
	}
	fputs(usage, stdout);
}

void tool_print_version(void)
{
	puts("mimic " MIMIC_VERSION);
}

int tool_options(int argc, char **argv, const char *usage, enum tool_order order,
		 const struct tool_option *options, size_t count)
{
	struct option long_options[OPTIONS_MAX + 3] = { 0 };
	char letters[2 * OPTIONS_MAX + 4] = "+";
	int code;

	if (count > OPTIONS_MAX)
		abort();
	list_options(options, count, long_options, letters + (order == OPTIONS_FIRST));
	while ((code = next_option(argc, argv, letters, long_options)) != -1) {
		if (code == '?')
			return EXIT_BAD_INPUT;	/* getopt has said why */
		if (code == 'h') {
			print_usage(usage);
			exit(EXIT_SUCCESS);
		}
		if (code == 'V') {
			tool_print_version();
			exit(EXIT_SUCCESS);
		}
		take_option(options, count, code);
	}
	return 0;
}

int tool_words(int argc, char **argv, int least, int most)
{
	if (argc - optind < least)
		return tool_error(EXIT_BAD_INPUT, "%s: something is missing; see mimic %s --help", argv[0], argv[0]);
	if (argc - optind > most)
		return tool_error(EXIT_BAD_INPUT, "%s: what is '%s'? See mimic %s --help", argv[0],
				  argv[optind + most], argv[0]);
	return 0;
}

int tool_seconds(const char *command, const char *option, const char *text, double least, double most,
		 double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end == text || *end || !(*seconds >= least && *seconds <= most))
		return tool_error(EXIT_BAD_INPUT, "%s: %s=%s: %g to %g seconds", command, option, text, least,
				  most);
	return 0;
}
