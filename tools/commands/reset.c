/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic reset: resets a device as at power-on, or only its counters. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmimic/daemon/client.h"
#include "tools/common/tools.h"

static const char usage[] =
	"Usage: mimic reset [OPTION...] DEVICE\n\n"
	"Resets a device as at power-on, also while a program has it: accesses that wait are answered\n"
	"with 0, and its queues lose their contents. The program keeps the device.\n\n"
	"  --counters     only set its counters to 0\n"
	"  --json         print {\"reset\": ...}, or {\"cleared\": ...}\n"
	PEER_USAGE
	"  --help         this text\n\n"
	"Exit status: 0; 1: no process answers, or it is not permitted; 2: bad options, no such device.\n";

int tool_reset(int argc, char **argv)
{
	struct peer peer = { 0 };
	bool json = false, counters = false;
	const struct mimic_option list[] = {
		PEER_OPTIONS(peer),
		{ .name = "json", .flag = &json },
		{ .name = "counters", .flag = &counters },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));
	const char *device;
	int error;

	if (!status)
		status = tool_words(argc, argv, 1, 1);
	if (!status)
		status = tool_peer_find("reset", &peer);
	if (status)
		return status;
	device = argv[optind];
	error = counters ? mimic_daemon_clear_counters(peer.socket_path, device) :
			   mimic_daemon_reset(peer.socket_path, device);
	if (error)
		return tool_peer_error("reset", &peer, error);
	if (json)
		printf("{\"%s\": \"%s\"}\n", counters ? "cleared" : "reset", device);
	return EXIT_SUCCESS;
}
