/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Functions of the sub-commands that talk to the daemon. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/mimic.h"
#include "tools/common/tools.h"

int tool_client_parse(int argc, char **argv, const char *usage, int words, struct client_options *options)
{
	const struct mimic_option list[] = {
		{ .name = "socket", .value = &options->socket_path },
		{ .name = "json", .flag = &options->json },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));

	options->words = argv + optind;
	return status ? status : tool_words(argc, argv, words, words);
}

int tool_client_error(const char *command, int error)
{
	/* A device or kind that does not exist is the caller's mistake, all else a failure of the daemon. */
	int status = error == -ENODEV || error == -ENOENT || error == -EINVAL ? EXIT_BAD_INPUT : EXIT_FAILURE;

	return tool_error(status, "%s: %s", command,
			  mimic_error_text()[0] ? mimic_error_text() : strerror(-error));
}
