/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The mimic command: finds the sub-command. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/tools.h"

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *meaning;
} tools[] = {
	{ "run", tool_run, "run a program with emulated devices" },
	{ "trace", tool_trace, "run a program and write a trace of its devices' events" },
	{ "sim", tool_sim, "run a program in virtual time, on a modelled SoC" },
	{ "sweep", tool_sweep, "the same, on a grid of parameters" },
	{ "compare", tool_compare, "two reports of such runs: the changes, and their causes" },
	{ "cflags", tool_cflags, "print the compiler's flags for such a program" },
	{ "costs", tool_costs, "count the costs of the loops of such a program" },
	{ "list", tool_list, "show the daemon's devices and their users" },
	{ "add", tool_add, "add a device to the daemon's" },
	{ "remove", tool_remove, "take one away" },
	{ "inject", tool_inject, "make one misbehave, to try its driver" },
	{ "dump", tool_dump, "show all that a device shows of itself" },
	{ "stat", tool_stat, "show counters, and how they grow" },
	{ "top", tool_top, "devices, queues and counters on a live screen" },
	{ "reset", tool_reset, "make a device as it is after power-on" },
	{ "save", tool_save, "write the states of devices into a file" },
	{ "restore", tool_restore, "give devices the states of such a file" },
	{ "record", tool_record, "run a program and keep all that its devices see" },
	{ "replay", tool_replay, "drive devices with a recording and compare" },
	{ "vm", tool_vm, "boot a stock kernel that has the devices on its PCI bus" },
	{ "report", tool_report, "make a page of plots of a run" },
};

#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

static void help(FILE *out)
{
	size_t i;

	fputs("Usage: mimic COMMAND [OPTION...]\n"
	      "       mimic help [COMMAND]\n"
	      "       mimic --help | --version\n\n"
	      "Emulated accelerators for ordinary programs.\n\n"
	      "Commands:\n", out);
	for (i = 0; i < TOOL_COUNT; i++)
		fprintf(out, "  %-7s %s\n", tools[i].name, tools[i].meaning);
	for (const struct tool_command *command = tool_first_command(); command; command = command->next)
		fprintf(out, "  %-7s %s\n", command->name, command->meaning);
	fputs("\n'mimic help COMMAND' and 'mimic COMMAND --help' say more.\n", out);
}

/*
 * With standard output closed, the next open file would get its descriptor, and the output of the
 * command would go there. Writes to this one fail; a program that is started finds it closed, as before.
 */
static int take_standard_files(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest that is free is this one. */
		if (open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) != fd)
			return EXIT_FAILURE;
	}
	return 0;
}

/* Reports output of a command that could not be written, such as to a full disk. */
static void check_output(int status, void *unused)
{
	(void)unused;
	errno = 0;
	if (!(fflush(stdout) | ferror(stdout)) || status)
		return;
	tool_error(0, "standard output: %s", errno ? strerror(errno) : "not all of it could be written");
	_exit(EXIT_FAILURE);
}

static bool is_one_of(const char *word, const char *one, const char *other)
{
	return strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

static int run_command(int argc, char **argv)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(argv[0], tools[i].name) == 0)
			return tools[i].main(argc, argv);
	for (const struct tool_command *command = tool_first_command(); command; command = command->next)
		if (strcmp(argv[0], command->name) == 0)
			return command->main(argc, argv);
	return tool_error(EXIT_BAD_INPUT, "there is no command '%s'; see mimic --help", argv[0]);
}

/* mimic help [COMMAND] */
static int run_help(int argc, char **argv)
{
	char *words[] = { argv[1], (char *)"--help", NULL };

	if (argc > 2)
		return tool_error(EXIT_BAD_INPUT, "help: what is '%s'? See mimic --help", argv[2]);
	if (argc == 2 && argv[1][0] != '-')
		return run_command(2, words);
	help(stdout);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (take_standard_files() || on_exit(check_output, NULL))
		return EXIT_FAILURE;
	if (argc < 2) {
		help(stderr);
		return EXIT_BAD_INPUT;
	}
	if (strcmp(argv[1], "help") == 0)
		return run_help(argc - 1, argv + 1);
	if (is_one_of(argv[1], "--help", "-h")) {
		help(stdout);
		return EXIT_SUCCESS;
	}
	if (is_one_of(argv[1], "--version", "-V")) {
		tool_print_version();
		return EXIT_SUCCESS;
	}
	return run_command(argc - 1, argv + 1);
}
