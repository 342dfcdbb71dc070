/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <getopt.h>
#include <stdlib.h>

#include "bench/figures/common/common.h"

static int usage(const char *name)
{
	fprintf(stderr, "Usage: %s --build DIR --tables DIR --output DIR [--data DIR] [--jobs N] [--ranges [--commit TEXT]]\n", name);
	return 2;
}

int figures_options(struct figures_options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "build", required_argument, NULL, 'b' }, { "tables", required_argument, NULL, 't' },
		{ "output", required_argument, NULL, 'o' }, { "data", required_argument, NULL, 'd' },
		{ "jobs", required_argument, NULL, 'j' }, { "ranges", no_argument, NULL, 'r' },
		{ "commit", required_argument, NULL, 'c' }, { NULL, 0, NULL, 0 },
	};
	int option;

	*options = (struct figures_options){ .jobs = tool_jobs_processors(), .commit = "unknown" };
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (option) {
		case 'b': options->build = optarg; break;
		case 't': options->tables = optarg; break;
		case 'o': options->output = optarg; break;
		case 'd': options->data = *optarg ? optarg : NULL; break;
		case 'j': options->jobs = (unsigned int)atoi(optarg); break;
		case 'r': options->is_of_ranges = true; break;
		case 'c': options->commit = optarg; break;
		default: return usage(argv[0]);
		}
	}
	if (!options->build || !options->tables || !options->output || options->jobs < 1 || optind != argc)
		return usage(argv[0]);
	return 0;
}
