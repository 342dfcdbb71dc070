/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <stdlib.h>
#include <unistd.h>

#include "bench/figures/common/common.h"
#include "options/options.h"

#define USAGE "--build DIR --tables DIR --output DIR [--data DIR] [--jobs N] [--ranges [--commit TEXT]]"

int figures_options(struct figures_options *options, int argc, char **argv)
{
	const char *jobs = NULL;
	const struct mimic_option list[] = {
		{ .name = "build", .value = &options->build }, { .name = "tables", .value = &options->tables },
		{ .name = "output", .value = &options->output }, { .name = "data", .value = &options->data },
		{ .name = "jobs", .value = &jobs }, { .name = "ranges", .flag = &options->is_of_ranges },
		{ .name = "commit", .value = &options->commit },
	};
	int end;

	*options = (struct figures_options){ .jobs = tool_jobs_processors(), .commit = "unknown" };
	end = mimic_options_parse(argv[0], argc, argv, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]), NULL);
	if (end == OPTIONS_WANT_HELP || end == OPTIONS_WANT_VERSION) {
		printf("Usage: %s " USAGE "\n", argv[0]);
		exit(EXIT_SUCCESS);
	}
	if (end < 0)
		return 2;
	if (jobs)
		options->jobs = (unsigned int)atoi(jobs);
	if (options->data && !*options->data)
		options->data = NULL;
	if (!options->build || !options->tables || !options->output || options->jobs < 1 || optind != argc) {
		fprintf(stderr, "%s: what is needed is: " USAGE "\n", argv[0]);
		return 2;
	}
	return 0;
}
