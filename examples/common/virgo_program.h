/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The common part of the Virgo example programs: read the options, open a cluster,
 * make matrices, run each type and form, verify, report. A program adds its kernels.
 */
#ifndef EXAMPLES_VIRGO_PROGRAM_H
#define EXAMPLES_VIRGO_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/common/dense.h"
#include "examples/common/message.h"
#include "examples/common/virgo_options.h"
#include "virgo.h"

/* A product and the unit that computes it. */
struct virgo_task {
	struct dense_product product;
	void *c;
	unsigned int unit;
	/* the rest is the frame's */
	void *a, *b;
	void *sums;			/* the right sums, of which C is made */
	unsigned int sums_dim;		/* of the unit that they were made for; 0: none yet */
};

/* One run, and its results. */
struct virgo_run {
	struct virgo *virgo;		/* NULL: the plain form */
	unsigned int form;
	enum virgo_type type;
	unsigned int threads;
	struct virgo_task *task;
	unsigned int tasks;
	/* the kernel fills these in */
	struct message message;		/* why run() failed; else virgo_error_text() says it */
	/* the rest is the frame's */
	double seconds;
	uint64_t macs;
	bool verified;
	const char *transport;
	unsigned int unit[VIRGO_PROGRAM_PRODUCTS];
	struct virgo_statistics counters;	/* of the cluster, the increase by this run */
	struct virgo_statistics unit_counters[VIRGO_PROGRAM_PRODUCTS];
};

struct virgo_kernel {
	const char *name;
	const char *summary;
	struct virgo_offer offer;
	bool is_swish;			/* C is the swish of the sums */
	/* Does it. Which unit worked on a task may be changed. 0 or -errno. */
	int (*run)(struct virgo_run *run);
};

struct virgo_program {
	const struct virgo_kernel *kernel;
	const struct virgo_program_options *options;
	struct virgo *virgo;		/* NULL: only the plain form is wanted */
	char transport[16];
	char device[32];
};

int virgo_program_main(const struct virgo_kernel *kernel, int argc, char **argv);

#endif
