/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the sub-commands share that talk to the daemon. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/mimic.h"
#include "tools/tools.h"

int client_parse(int argc, char **argv, const char *usage, int words, struct client_options *options)
{
	static const struct option long_options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (option) {
		case 's':
			options->socket_path = optarg;
			break;
		case 'j':
			options->json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			return EXIT_BAD_INPUT;	/* getopt has said why */
		}
	}
	if (argc - optind < words)
		return tool_error(EXIT_BAD_INPUT, "%s: something is missing; see mimic %s --help", argv[0], argv[0]);
	if (argc - optind > words)
		return tool_error(EXIT_BAD_INPUT, "%s: what is '%s'? See mimic %s --help", argv[0],
				  argv[optind + words], argv[0]);
	options->words = argv + optind;
	return 0;
}

int client_error(const char *command, int error)
{
	/* A device or kind that is not there is the caller's mistake, all else the daemon's trouble. */
	int status = error == -ENODEV || error == -ENOENT || error == -EINVAL ? EXIT_BAD_INPUT : EXIT_FAILURE;

	return tool_error(status, "%s: %s", command,
			  mimic_error_text()[0] ? mimic_error_text() : strerror(-error));
}
