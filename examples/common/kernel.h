/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The common part of the example programs: read the options, load the matrix,
 * run each form on a device of its own, report. A program adds its kernel.
 */
#ifndef EXAMPLES_KERNEL_H
#define EXAMPLES_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "examples/common/csr.h"
#include "examples/common/message.h"
#include "examples/common/options.h"
#include "maple.h"

/* Memory of array_alloc() that the device reads. */
struct region {
	const char *name;
	void *memory;
	size_t size;
};
#define REGIONS_MAX 8

/* One form's run, and its results. */
struct run {
	const struct options *options;
	enum maple_form form;
	struct maple *maple;	/* NULL: plain */
	char label[32];		/* "spmv lima", for progress */
	/* the kernel fills these in */
	uint64_t elements;
	double seconds;
	bool verified;
	unsigned int roots;	/* bfs only */
	double teps;		/* harmonic mean; bfs only */
	struct message message;	/* why not verified, or why run() failed */
	/* the rest is ours */
	char transport[16];
	char device[32];
	struct maple_counters counters;	/* the increase by this run */
};

struct kernel {
	const char *name;
	const char *summary;
	const char *unit;	/* the elements that are counted per second */
	/* State for one matrix. NULL with a message. */
	void *(*create)(const struct csr *matrix, const struct options *options, struct message *message);
	void (*destroy)(void *state);
	/* Fills in up to REGIONS_MAX; returns how many. */
	unsigned int (*regions)(void *state, struct region *regions);
	/* Runs, takes the time, verifies. 0, or -errno with run->message set or maple_error_text(). */
	int (*run)(void *state, struct run *run);
};

int kernel_main(const struct kernel *kernel, int argc, char **argv);

#endif
