/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

static void usage(FILE *to)
{
	fprintf(to,
		"usage: bench [--build DIR] [--output FILE] [--only NAME] [--matrix FILE] [--help]\n"
		"Measures mimic beside references of the same run; medians of %d.\n"
		"  --build DIR    where bin/mimic and bin/mimicd are (default: build)\n"
		"  --output FILE  write the rows as JSON\n"
		"  --only NAME    one of ring, trap, patch, pointer, spmv, wake, idle, dare, dare-sparse, "
		"virgo, trace,\n"
		"                 record, state, sim\n"
		"  --base FILE    what --output wrote in an earlier run: says at the end which rows have moved\n"
		"  --matrix FILE  a Matrix Market file, for dare-sparse beside its generated graph\n"
		"Exit status: 0, 1 if a limit is exceeded, 2 for bad options.\n",
		BENCH_RUNS);
}

static const struct {
	const char *name;
	void (*run)(const struct bench_options *options);
} parts[] = {
	{ "ring", bench_ring },	      { "trap", bench_trap },	{ "patch", bench_patch },
	{ "pointer", bench_pointer }, { "spmv", bench_spmv },	{ "wake", bench_wake },
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

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "build", required_argument, NULL, 'b' },
		{ "output", required_argument, NULL, 'o' },
		{ "only", required_argument, NULL, 'n' },
		{ "base", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ "trap-child", no_argument, NULL, 't' },
		{ "patch-child", no_argument, NULL, 'p' },
		{ "patch-spmv-child", no_argument, NULL, 's' },
		{ "matrix", required_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	struct bench_options options = { .build = "build" };
	const char *output = NULL, *only = NULL;
	char directory[] = "/tmp/mimic-bench-XXXXXX";
	pid_t daemon;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'b':
			options.build = optarg;
			break;
		case 'o':
			output = optarg;
			break;
		case 'a':
			bench_base_read(optarg);
			break;
		case 'n':
			only = optarg;
			break;
		case 'm':
			options.matrix = optarg;
			break;
		case 't':
			return bench_trap_child();
		case 'p':
			return bench_patch_child();
		case 's':
			return bench_patch_spmv_child();
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (readlink("/proc/self/exe", options.self, sizeof(options.self) - 1) < 0 ||
	    !mkdtemp(directory))
		bench_fail("cannot set up");
	snprintf(options.socket, sizeof(options.socket), "%s/mimicd.sock", directory);
	daemon = bench_start_daemon(&options, "maple:4, dare:2, virgo:1", options.socket);
	run_parts(&options, only);
	bench_stop_daemon(daemon);
	rmdir(directory);
	return bench_finish(output);
}
