/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The surroundings of the loops: their data, their threads, the check of their results. None of it is timed. */
#ifndef EXAMPLES_LOOPS_TASK_H
#define EXAMPLES_LOOPS_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "examples/common/csr.h"
#include "examples/common/message.h"
#include "examples/maple/loops/loops.h"
#include "maple.h"

enum loop_form {
	LOOP_DOALL,
	LOOP_SOFTWARE,		/* decoupled through shared memory */
	LOOP_PREFETCH,		/* software prefetches into the L1 */
	LOOP_DECOUPLED,		/* through MAPLE */
	LOOP_DESC,		/* decoupled as DeSC slices it */
	LOOP_LIMA,
	LOOP_FORMS,
};

/* The part of one thread. */
struct loop_part {
	enum loop_form form;
	bool is_access;			/* of a decoupled form: else it executes */
	unsigned int share, shares;	/* of the rows */
	struct maple *maple;
	unsigned int queue, back;
	struct shared_queue *shared;
};

/* For a prefetcher in hardware. */
struct loop_indirect {
	const uint32_t *indices;
	uint64_t count;
	const void *data;
	unsigned int element_size;
};

struct loop_options {
	unsigned int threads;
	unsigned int levels;	/* of bfs; 0: all */
};

struct loop_kernel {
	const char *name;
	const char *unit;
	/*
	 * NULL with a message. The matrix stays as it is. Arrays that loops read lie in whole pages (array_alloc()), the loop's
	 * structure, too: malloc() places by earlier allocations, such as reading a file or generating a graph, and
	 * virtual time would show it.
	 */
	void *(*create)(const struct csr *matrix, const struct loop_options *options, struct message *message);
	void (*destroy)(void *state);
	/* No result of the form before may pass for the next one's. */
	void (*reset)(void *state);
	/* Two threads for each share, an access and an execute thread? */
	bool (*is_decoupled)(enum loop_form form);
	void (*run)(void *state, const struct loop_part *part);
	/*
	 * The work between two rounds that is timed: merges() says whether there is any, and thread number
	 * `thread` of `threads` does its part of it when all have ended the round. Both may be NULL.
	 */
	bool (*merges)(const void *state);
	void (*merge)(void *state, unsigned int thread, unsigned int threads);
	/* Is there another round? May be NULL. One thread calls it, between rounds. */
	bool (*again)(void *state);
	bool (*verify)(void *state, struct message *message);
	uint64_t (*elements)(const void *state);
	void (*indirect)(const void *state, struct loop_indirect *indirect);
};

extern const struct loop_kernel spmv_kernel, sdhp_kernel, bfs_kernel, spmm_kernel;

/* The pattern of a matrix, with room for prefetches behind it. 0 or -errno. */
int pattern_make(struct pattern *pattern, const struct csr *csr, struct message *message);
void pattern_free(struct pattern *pattern);
/* The first row of a share, such that all have about as many elements; that of share `shares` is rows. */
uint32_t pattern_share(const struct pattern *pattern, unsigned int share, unsigned int shares);
/* Integers from 1 to 1000, made of any matrix's values: products and sums are exact and never 0. */
uint64_t pattern_value(const struct csr *csr, uint64_t j);

/* One form, by all threads. 0, or -errno with a message; *cycles is 0 outside of `mimic sim`. */
int team_run(const struct loop_kernel *kernel, void *state, enum loop_form form, const char *phase,
	     unsigned int threads, struct maple *maple, double *seconds, uint64_t *cycles, struct message *message);

#endif
