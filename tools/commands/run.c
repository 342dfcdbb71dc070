/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic run: options, then this process becomes the program. */
#include <getopt.h>

#include "tools/common/tools.h"

#define EXIT_TIMEOUT 124 /* as timeout(1) */
#define TIMEOUT_MAX 604800 /* a week */

static const char usage[] =
	"Usage: mimic run [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
	"Runs PROGRAM with emulated devices: /dev/KIND, /dev/KIND0 and on, /dev/mem at the physical\n"
	"addresses of kinds that have such, and those addresses themselves. Kinds: " USAGE_KINDS ";\n"
	"and those of plugins.\n\n"
	"  --transport WHICH  auto (default: embedded with --devices, --config or --synchronous; else\n"
	"                     kernel if it has nodes, else daemon if one answers, else embedded),\n"
	"                     embedded (the devices are in the program), daemon,\n"
	"                     kernel (the machine's own nodes; physical addresses as with auto)\n"
	"  --devices LIST     how many there are of which kind, KIND:COUNT,...; of a kind that is not\n"
	"                     named there are none; tiles at physical addresses are not counted (embedded\n"
	"                     only)\n"
	"  --config FILE      INI file, or the name of a profile, such as paper (embedded only)\n"
	"  --synchronous      the command of a store is over before the program goes on, for programs that\n"
	"                     look at memory without a fence (embedded only)\n"
	"  --plugin FILE      one more kind of device, from this shared library; may be repeated\n"
	"  --socket PATH      where mimicd listens\n"
	"  --state            show the devices in the program to mimic list, dump, stat, top and\n"
	"                     reset, with --pid (embedded)\n"
	"  --no-patch         leave PROGRAM's text alone: each access of a device is a trap. Else an\n"
	"                     instruction that has trapped is replaced by a jump to code of the library\n"
	"  --no-post          each store waits for mimicd's answer, also one that the device surely\n"
	"                     takes at once; for comparisons (daemon)\n"
	"  --stat             say on stderr at the end how many instructions trapped, how they were\n"
	"                     replaced, which were not and why, and how many accesses each way had\n"
	"  --timeout SECONDS  ends the program after so long, and first prints why its threads wait;\n"
	"                     the exit status is then 124\n"
	"  --perf-map         write /tmp/perf-PID.map at the end, from which perf has names of the code\n"
	"                     that replaces instructions\n"
	"  --verbose          print the settings, and things that may not work, on stderr\n"
	"  --help             this text\n\n"
	"A thread that has waited 10 s for a device prints the reason once on stderr; MIMIC_PATIENCE is\n"
	"another number of seconds, 0: never.\n"
	"The exit status is PROGRAM's; 2: bad options, or a program that cannot be helped;\n"
	"126: PROGRAM is not executable; 127: there is no PROGRAM.\n"
	"In gdb, first: handle SIGSEGV nostop noprint pass\n";

static int parse_options(int argc, char **argv, struct run_options *options, const char **timeout)
{
	const struct mimic_option list[] = {
		RUN_OPTIONS(options),
		{ .name = "no-patch", .flag = &options->only_traps },
		{ .name = "no-post", .flag = &options->no_posts },
		{ .name = "stat", .flag = &options->shows_traps },
		{ .name = "timeout", .value = timeout },
		{ .name = "perf-map", .flag = &options->names_for_perf },
	};

	/* From the first word that is no option on, all is PROGRAM's own. */
	return tool_options(argc, argv, usage, OPTIONS_FIRST, list, sizeof(list) / sizeof(list[0]));
}

static int run_for(double seconds, char **argv)
{
	bool is_late;
	int status = tool_child_run_for(argv, seconds, &is_late);

	if (is_late)
		return EXIT_TIMEOUT;
	return status < 0 ? EXIT_BAD_INPUT : tool_child_end_as(status);
}

int tool_run(int argc, char **argv)
{
	struct run_options options = { 0 };
	const char *timeout = NULL;
	double seconds = 0;
	int status = parse_options(argc, argv, &options, &timeout);

	if (!status && timeout)
		status = tool_seconds(argv[0], "--timeout", timeout, 0.001, TIMEOUT_MAX, &seconds);
	if (!status)
		status = tool_run_prepare(&options, argc, argv);
	if (status)
		return status;
	return timeout ? run_for(seconds, argv + optind) : tool_run_become(argv + optind);
}
