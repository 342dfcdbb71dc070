/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs of the demo that are looked at while they go on, for plots over time. They are not
 * those of the tables: looking takes time, and these are longer.
 */
#ifndef EXAMPLES_DEMO_SAMPLED_H
#define EXAMPLES_DEMO_SAMPLED_H

#include <stdbool.h>

#include "examples/demo_output.h"

struct demo_sampled {
	const char *build;		/* the build directory */
	const char *directory;		/* private */
	const char *socket_path;	/* of the daemon; NULL: there is none */
	bool embedded;			/* this transport, too */
	const char *input;		/* of MAPLE's programs and DARE's; NULL: generated, of these sizes */
	const char *scale;
	const char *sparse;
	const char *dense;
	const char *second;
};

/* All of them. Returns how many failed; those were told about. */
unsigned int demo_sampled_run(const struct demo_sampled *sampled, struct demo_output *output);

#endif
