/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic cflags: how a program of mimic sim is compiled and linked. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/machine.h"
#include "tools/sim/sim.h"

static const char usage[] =
	"Usage: mimic cflags [OPTION...]\n\n"
	"Prints the flags with which gcc, or clang, compiles a program for mimic sim. Such a program\n"
	"runs without mimic sim, too, and then as always.\n\n"
	"  --compiler NAME    the compiler; one whose name has \"clang\" in it has other flags (default: gcc)\n"
	"  --libs             the flags to link with, in place of -fsanitize=thread\n"
	"  --help             this text\n\n"
	"  gcc -O2 $(mimic cflags) -c kernel.c\n"
	"  gcc -o kernel kernel.o $(mimic cflags --libs)\n";

/*
 * Hooks at each access, volatile ones apart; lines for the costs; no vectors, which the
 * modelled cores do not have; no warnings of gcc about fences, which our hooks ignore.
 */
#define GCC_FLAGS "-fsanitize=thread --param=tsan-distinguish-volatile=1 -g -fno-tree-vectorize -Wno-tsan"
/* The same, and no calls in place of memcpy()'s instructions; it does not warn of fences. */
#define CLANG_FLAGS \
	"-fsanitize=thread -mllvm -tsan-distinguish-volatile=1 -mllvm -tsan-instrument-memintrinsics=0 -g " \
	"-fno-vectorize -fno-slp-vectorize"

/* As a word of the shell's. */
static void print_path(const char *option, const char *path)
{
	fputs(option, stdout);
	for (; *path; path++)
		printf(strchr(" \t\n\"'\\$`;&|<>()*?[]#~", *path) ? "\\%c" : "%c", *path);
}

static int print_libraries(void)
{
	char folder[PATH_MAX];
	int status = tool_find_library("libmimic-sim.so", folder);

	if (status)
		return status;
	print_path("-L", folder);
	print_path(" -Wl,-rpath,", folder);
	puts(" -lmimic-sim -lmimic");
	return 0;
}

static int print_flags(const char *compiler)
{
	const char *flags = strstr(compiler, "clang") ? CLANG_FLAGS : GCC_FLAGS;
	char folder[PATH_MAX];
	int status = tool_find_folder("include", "mimic/sim_string.h", folder);

	if (status)
		return status;
	fputs(flags, stdout);
	print_path(" -I", folder);
	puts(" -include mimic/sim_prefetch.h -include mimic/sim_string.h");
	return 0;
}

int tool_cflags(int argc, char **argv)
{
	const char *compiler = "gcc";
	bool libraries = false;
	const struct mimic_option list[] = {
		{ .name = "compiler", .value = &compiler },
		{ .name = "libs", .flag = &libraries },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));

	if (!status)
		status = tool_words(argc, argv, 0, 0);
	if (!status && !TOOL_IS_X86)
		status = tool_error(EXIT_BAD_INPUT, "cflags: programs run in virtual time on x86-64 alone, not on "
				    TOOL_MACHINE_NAME);
	if (!status)
		status = libraries ? print_libraries() : print_flags(compiler);
	return status;
}
