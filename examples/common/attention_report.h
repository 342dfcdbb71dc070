/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Prints the results of flash_attention: tables for people, JSON for programs. */
#ifndef EXAMPLES_ATTENTION_REPORT_H
#define EXAMPLES_ATTENTION_REPORT_H

#include <stdbool.h>

#include "examples/common/attention_check.h"
#include "examples/common/attention_options.h"
#include "examples/common/attention_plan.h"
#include "virgo.h"

struct attention_program {
	const struct attention_options *options;
	struct attention attention;
	struct attention_plan plan;
	float *o;
};

/* One run, and its results. */
struct attention_run {
	enum attention_exp exp;
	bool verified;
	double error;		/* attention_verify()'s */
	double seconds;
	struct virgo_statistics counters;	/* of the unit, the increase by this run */
};

/* 0, or -errno if standard output cannot be written. */
int attention_report(const struct attention_program *program, const struct attention_run *runs, unsigned int count);

#endif
