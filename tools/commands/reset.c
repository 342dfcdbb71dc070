/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic reset: a device is as after power-on, or only its counters are. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmimic/daemon/client.h"
#include "tools/common/tools.h"

static const char usage[] =
	"Usage: mimic reset [OPTION...] DEVICE\n\n"
	"Makes a device as it is after power-on, also while a program has it: accesses that wait are\n"
	"answered with 0, what is in its queues is lost. The program has the device still.\n\n"
	"  --counters     only set its counters to 0\n"
	"  --json         print {\"reset\": ...}, or {\"cleared\": ...}\n"
	PEER_USAGE
	"  --help         this text\n\n"
	"Exit status: 0; 1: nobody answers, or it may not be done; 2: bad options, no such device.\n";

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
