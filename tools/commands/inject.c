/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic inject: makes a device misbehave, for tests of drivers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/daemon/client.h"
#include "mimic/protocol.h"
#include "tools/common/tools.h"

static const char usage[] =
	"Usage: mimic inject [OPTION...] DEVICE WHAT\n\n"
	"Makes a device on the kernel's bus or in a virtual machine misbehave, so that its driver can be\n"
	"tried. docs/bus.md and docs/pci.md say what a driver and a program see.\n\n"
	"WHAT is one of\n"
#define _(number, name, text, meaning) "  " text "\n      " meaning "\n"
	MIMIC_INJECTIONS(_)
#undef _
	"\n"
	"  --socket PATH  where mimicd listens (default: MIMIC_SOCKET, then mimicd's own default)\n"
	"  --json         print {\"device\": ..., \"injected\": ...}\n"
	"  --help         this text\n\n"
	"Exit status: 0; 1: no daemon answers, or no driver can have the device; 2: bad options, no\n"
	"such device, no such WHAT.\n";

static int find_injection(const char *text)
{
	static const char *const names[] = {
#define _(number, name, string, meaning) [number] = string,
		MIMIC_INJECTIONS(_)
#undef _
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], text))
			return (int)i;
	}
	return -ENOENT;
}

int tool_inject(int argc, char **argv)
{
	struct client_options options = { 0 };
	int status = tool_client_parse(argc, argv, usage, 2, &options);
	int what, error;

	if (status)
		return status;
	what = find_injection(options.words[1]);
	if (what < 0)
		return tool_error(EXIT_BAD_INPUT, "inject: '%s' is nothing to inject; see mimic inject --help",
				  options.words[1]);
	error = mimic_daemon_inject(options.socket_path, options.words[0], (enum mimic_injection)what);
	if (error)
		return tool_client_error("inject", error);
	if (options.json)
		printf("{\"device\": \"%s\", \"injected\": \"%s\"}\n", options.words[0], options.words[1]);
	return EXIT_SUCCESS;
}
