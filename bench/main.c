/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

static json_object *results;
static int failures;

void bench_report(const struct bench_row *row)
{
	json_object *object = json_object_new_object();
	bool over = row->limit && row->value > row->limit;

	json_object_object_add(object, "name", json_object_new_string(row->name));
	json_object_object_add(object, "value", json_object_new_double(row->value));
	json_object_object_add(object, "unit", json_object_new_string(row->unit));
	json_object_object_add(object, "reference", json_object_new_string(row->reference));
	json_object_object_add(object, "reference_value",
			       json_object_new_double(row->reference_value));
	json_object_object_add(object, "ratio",
			       json_object_new_double(row->value / row->reference_value));
	if (row->limit) {
		json_object_object_add(object, "limit", json_object_new_double(row->limit));
		json_object_object_add(object, "within_limit", json_object_new_boolean(!over));
	}
	json_object_array_add(results, object);
	failures += over;
	printf("%-34s %10.2f %-12s ratio %6.2f to %8.2f (%s)", row->name, row->value, row->unit,
	       row->value / row->reference_value, row->reference_value, row->reference);
	if (row->limit)
		printf("  limit %.2f %s", row->limit, over ? "EXCEEDED" : "ok");
	printf("\n");
	fflush(stdout);
}

static void usage(FILE *to)
{
	fprintf(to,
		"usage: bench [--build DIR] [--output FILE] [--only NAME] [--help]\n"
		"Measures mimic beside references of the same run; medians of %d.\n"
		"  --build DIR    where bin/mimic and bin/mimicd are (default: build)\n"
		"  --output FILE  write the rows as JSON\n"
		"  --only NAME    one of ring, trap, pointer, spmv, wake, idle\n"
		"Exit status: 0, 1 if a limit is exceeded, 2 for bad options.\n",
		BENCH_RUNS);
}

static const struct {
	const char *name;
	void (*run)(const struct bench_options *options);
} parts[] = {
	{ "ring", bench_ring },
	{ "trap", bench_trap },
	{ "pointer", bench_pointer },
	{ "spmv", bench_spmv },
	{ "wake", bench_wake },
	{ "idle", bench_idle },
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
		{ "build", required_argument, NULL, 'b' }, { "output", required_argument, NULL, 'o' },
		{ "only", required_argument, NULL, 'n' }, { "help", no_argument, NULL, 'h' },
		{ "trap-child", no_argument, NULL, 't' }, { NULL, 0, NULL, 0 },
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
		case 'n':
			only = optarg;
			break;
		case 't':
			return bench_trap_child();
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
	results = json_object_new_array();
	daemon = bench_start_daemon(&options, "maple:4", options.socket);
	run_parts(&options, only);
	bench_stop_daemon(daemon);
	rmdir(directory);
	if (output && json_object_to_file_ext(output, results, JSON_C_TO_STRING_PRETTY))
		bench_fail("cannot write %s", output);
	json_object_put(results);
	return failures ? 1 : 0;
}
