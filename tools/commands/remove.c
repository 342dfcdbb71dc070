/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic remove: removes a device. */
#include <stdio.h>
#include <stdlib.h>

#include "libmimic/daemon/client.h"
#include "tools/common/tools.h"

static const char usage[] =
	"Usage: mimic remove [OPTION...] DEVICE\n\n"
	"Takes a device, by its name, away from mimicd, as if it were unplugged. A program that\n"
	"has it gets SIGBUS for accesses to its pages and ENODEV for calls; libmimic's loads give 0.\n\n"
	"  --socket PATH  where mimicd listens (default: MIMIC_SOCKET, then mimicd's own default)\n"
	"  --json         print {\"removed\": ...}\n"
	"  --help         this text\n\n"
	"Exit status: 0; 1: no daemon answers, or it cannot; 2: bad options, no such device.\n";

int tool_remove(int argc, char **argv)
{
	struct client_options options = { 0 };
	int status = tool_client_parse(argc, argv, usage, 1, &options);
	int error;

	if (status)
		return status;
	error = mimic_daemon_remove(options.socket_path, options.words[0]);
	if (error)
		return tool_client_error("remove", error);
	if (options.json)
		printf("{\"removed\": \"%s\"}\n", options.words[0]);
	return EXIT_SUCCESS;
}
