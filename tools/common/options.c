/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The options and words of a sub-command. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/kinds.h"
#include "tools/common/tools.h"

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

int tool_options(int argc, char **argv, const char *usage, enum mimic_option_order order,
		 const struct mimic_option *options, size_t count)
{
	char prefix[64];
	int end;

	snprintf(prefix, sizeof(prefix), "mimic: %s", argv[0]);
	end = mimic_options_parse(prefix, argc, argv, order, options, count, NULL);
	if (end < 0)
		return EXIT_BAD_INPUT;
	if (end == OPTIONS_TAKEN)
		return 0;
	if (end == OPTIONS_WANT_HELP)
		print_usage(usage);
	else
		tool_print_version();
	exit(EXIT_SUCCESS);
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
