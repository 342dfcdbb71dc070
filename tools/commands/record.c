/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic record: mimic run, with MIMIC_RECORD: the file for the devices' inputs and answers. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmimic/replay/replay.h"
#include "tools/common/tools.h"

#define DEFAULT_FILE "run.mimic"

static const char usage[] =
	"Usage: mimic record [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
	"Runs PROGRAM with emulated devices, as mimic run --transport embedded, and records their accesses,\n"
	"answers, and reads of its memory. mimic replay repeats them without PROGRAM.\n\n"
	"  -o, --output FILE  the recording (default: " DEFAULT_FILE "); overwrites an old file.\n"
	"                     Processes that PROGRAM starts have files of their own: run.PID.mimic\n"
	"  --devices LIST     how many there are of which kind, KIND:COUNT,...\n"
	"  --config FILE      INI file, or the name of a profile, such as paper\n"
	"  --plugin FILE      as of mimic run; mimic replay needs it, too\n"
	"  --verbose          print the settings, and things that may not work, on stderr\n"
	"  --help             this text\n\n"
	"The exit status is PROGRAM's; 1 if that is 0 and a recording could not be written to\n"
	"its end, as on a full disk; 2: bad options, or a program that cannot be helped;\n"
	"126: PROGRAM is not executable; 127: there is no PROGRAM.\n";

struct record_options {
	struct run_options run;
	const char *output;
};

static int parse(int argc, char **argv, struct record_options *options)
{
	const struct mimic_option list[] = {
		{ .name = "output", .letter = 'o', .value = &options->output, .form = OPTION_VALUE_TEXT },
		{ .name = "devices", .value = &options->run.devices, .form = OPTION_VALUE_TEXT },
		{ .name = "config", .value = &options->run.config_path, .form = OPTION_VALUE_TEXT },
		{ .name = "plugin", .values = &options->run.plugins },
		{ .name = "verbose", .letter = 'v', .flag = &options->run.verbose },
	};

	return tool_options(argc, argv, usage, OPTIONS_FIRST, list, sizeof(list) / sizeof(list[0]));
}

/* The devices make the file anew. 0, or the exit status after a message. */
static int make_room(const char *path)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : tool_error(EXIT_BAD_INPUT, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return tool_error(EXIT_BAD_INPUT, "%s: not a regular file", path);
	if (unlink(path))
		return tool_error(EXIT_BAD_INPUT, "%s: %s", path, strerror(errno));
	return 0;
}

/* Better now than when the first device is opened. */
static int check_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int status = 0;

	if (directory && access(directory, W_OK | X_OK))
		status = tool_error(EXIT_BAD_INPUT, "%s: %s", path, strerror(errno));
	free(directory);
	return status;
}

static bool tell_if_cut(const char *path)
{
	if (!mimic_replay_is_cut(path))
		return false;
	tool_error(EXIT_FAILURE, "%s: the recording could not be written to its end, as on a full disk; the part that is there can be replayed", path);
	return true;
}

/* Also of processes that the program has started: run.PID.mimic. */
static bool tell_what_is_cut(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	int stem = dot ? (int)(dot - path) : (int)strlen(path);
	char pattern[PATH_MAX + 16];
	bool told = tell_if_cut(path);
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%.*s.[0-9]*%s", stem, path, dot ? dot : "");
	if (glob(pattern, 0, NULL, &found))
		return told;
	for (size_t i = 0; i < found.gl_pathc; i++)
		told |= tell_if_cut(found.gl_pathv[i]);
	globfree(&found);
	return told;
}

int tool_record(int argc, char **argv)
{
	struct record_options options = { .run.transport = "embedded", .output = DEFAULT_FILE };
	int status = parse(argc, argv, &options);

	if (!status)
		status = tool_run_prepare(&options.run, argc, argv);
	if (!status)
		status = check_directory(options.output);
	if (!status)
		status = make_room(options.output);
	if (status)
		return status;
	tool_run_set_path("MIMIC_RECORD", options.output);
	status = tool_child_run(argv + optind, NULL);
	if (status < 0)
		return EXIT_BAD_INPUT;
	if (tell_what_is_cut(options.output) && WIFEXITED(status) && !WEXITSTATUS(status))
		return EXIT_FAILURE;
	return tool_child_end_as(status);
}
