/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "options/options.h"

static void usage(FILE *to)
{
	fprintf(to,
		"usage: bench [--build DIR] [--output FILE] [--only NAME] [--base FILE] [--rounds N] [--matrix FILE] [--help]\n"
		"Measures mimic beside references of the same run; medians of %d.\n"
		"  --build DIR    where bin/mimic and bin/mimicd are (default: build)\n"
		"  --output FILE  write the rows as JSON\n"
		"  --only NAME    one of ring, trap, patch, pointer, spmv, wake, clients, idle, dare, dare-sparse, "
		"virgo, trace,\n"
		"                 record, state, sim\n"
		"  --base FILE    the --output of an earlier run: says at the end which rows have moved\n"
		"  --rounds N     measure all rows N times (1 to %u), in turn: their medians count, and a row whose rounds\n"
		"                 differ about its limit, or as much as it moved, is too noisy to judge\n"
		"  --matrix FILE  a Matrix Market file, for dare-sparse beside its generated graph\n"
		"Exit status: 0, 1 if a limit is exceeded in all rounds, 2 for bad options.\n",
		BENCH_RUNS, BENCH_ROUNDS_MAX);
}

static const struct {
	const char *name;
	void (*run)(const struct bench_options *options);
} parts[] = {
	{ "ring", bench_ring },	      { "trap", bench_trap },	{ "patch", bench_patch },
	{ "pointer", bench_pointer }, { "spmv", bench_spmv },	{ "wake", bench_wake },
	{ "clients", bench_clients },
	{ "idle", bench_idle },	      { "dare", bench_dare },	{ "dare-sparse", bench_dare_sparse },
	{ "virgo", bench_virgo },     { "trace", bench_trace }, { "record", bench_record },
	{ "state", bench_state },     { "sim", bench_sim },
};

static void run_parts(const struct bench_options *options, const char *only)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (only && strcmp(only, parts[i].name))
			continue;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "measuring: %s\n", parts[i].name);
		parts[i].run(options);
	}
}

/* false: not a number of rounds. */
static bool read_rounds(const char *text, unsigned long *rounds)
{
	char *end;

	*rounds = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && *rounds && *rounds <= BENCH_ROUNDS_MAX)
		return true;
	fprintf(stderr, "bench: --rounds %s: not a number from 1 to %u\n", text, BENCH_ROUNDS_MAX);
	return false;
}

int main(int argc, char **argv)
{
	struct bench_options options = { .build = "build" };
	const char *output = NULL, *only = NULL, *base = NULL, *rounds_text = "1";
	unsigned long rounds;
	char directory[] = "/tmp/mimic-bench-XXXXXX";
	pid_t daemon;
	bool is_trap_child = false, is_patch_child = false, is_spmv_child = false;
	const struct mimic_option list[] = {
		{ .name = "build", .value = &options.build }, { .name = "output", .value = &output },
		{ .name = "only", .value = &only }, { .name = "matrix", .value = &options.matrix },
		{ .name = "base", .value = &base }, { .name = "rounds", .value = &rounds_text },
		{ .name = "trap-child", .flag = &is_trap_child }, { .name = "patch-child", .flag = &is_patch_child },
		{ .name = "patch-spmv-child", .flag = &is_spmv_child },
	};
	int end = mimic_options_parse("bench", argc, argv, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]), NULL);

	if (end < 0)
		return 2;
	if (end != OPTIONS_TAKEN) {
		usage(stdout);
		return 0;
	}
	if (optind < argc) {
		usage(stderr);
		return 2;
	}
	if (!read_rounds(rounds_text, &rounds))
		return 2;
	if (is_trap_child)
		return bench_trap_child();
	if (is_patch_child)
		return bench_patch_child();
	if (is_spmv_child)
		return bench_patch_spmv_child();
	if (base)
		bench_base_read(base);
	if (readlink("/proc/self/exe", options.self, sizeof(options.self) - 1) < 0 ||
	    !mkdtemp(directory))
		bench_fail("cannot set up");
	snprintf(options.socket, sizeof(options.socket), "%s/mimicd.sock", directory);
	daemon = bench_start_daemon(&options, "maple:4, dare:2, virgo:1", options.socket);
	while (rounds--)
		run_parts(&options, only);
	bench_stop_daemon(daemon);
	rmdir(directory);
	return bench_finish(output);
}
