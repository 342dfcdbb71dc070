/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic add: one more device. */
#include <stdio.h>
#include <stdlib.h>

#include "libmimic/daemon/client.h"
#include "mimic/protocol.h"
#include "tools/common/tools.h"

static const char usage[] =
	"Usage: mimic add [OPTION...] KIND\n\n"
	"Adds a device to those of mimicd, and says its name. With mimic.ko it is a device of the\n"
	"kernel, too.\n\n"
	"Kinds: " USAGE_KINDS "; and those of mimicd's plugins.\n\n"
	"  --socket PATH  where mimicd listens (default: MIMIC_SOCKET, then mimicd's own default)\n"
	"  --json         print {\"name\": ...}\n"
	"  --help         this text\n\n"
	"Exit status: 0; 1: no daemon answers, or it cannot; 2: bad options, no such kind.\n";

int tool_add(int argc, char **argv)
{
	struct client_options options = { 0 };
	char name[MIMIC_NAME_MAX];
	int status = tool_client_parse(argc, argv, usage, 1, &options);
	int error;

	if (status)
		return status;
	error = mimic_daemon_add(options.socket_path, options.words[0], name);
	if (error)
		return tool_client_error("add", error);
	printf(options.json ? "{\"name\": \"%s\"}\n" : "%s\n", name);
	return EXIT_SUCCESS;
}
