/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The demo's run.json (docs/report.md), of which `mimic report` makes a page. */
#ifndef EXAMPLES_DEMO_OUTPUT_H
#define EXAMPLES_DEMO_OUTPUT_H

#include <json-c/json.h>

struct demo_output;

/* NULL: no memory. */
struct demo_output *demo_output_new(int argc, char **argv);
void demo_output_free(struct demo_output *output);

/*
 * All runs of a program's report. kind: of the device, such as "maple". samples: of its
 * only run, which are then the output's; or NULL.
 */
void demo_output_add(struct demo_output *output, const char *kind, char **arguments,
		     struct json_object *report, struct json_object *samples);

/* Under a temporary name first; not at all if nothing ran. 0 or -errno. */
int demo_output_write(struct demo_output *output, const char *path, double seconds);

#endif
