/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the results of the Virgo programs: tables for people, JSON for programs. */
#ifndef EXAMPLES_VIRGO_REPORT_H
#define EXAMPLES_VIRGO_REPORT_H

#include <json-c/json.h>

#include "examples/common/virgo_program.h"

/* 0, or -errno if standard output cannot be written. */
int virgo_report(const struct virgo_program *program, const struct virgo_run *runs, unsigned int count);

/* The difference of two readings of the counters; and counters as an object. */
void virgo_report_subtract(struct virgo_statistics *after, const struct virgo_statistics *before);
struct json_object *virgo_report_counters(const struct virgo_statistics *counters);

#endif
