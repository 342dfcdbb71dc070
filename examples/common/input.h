/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where a program's matrix comes from: a file or a generator. */
#ifndef EXAMPLES_INPUT_H
#define EXAMPLES_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "examples/common/csr.h"
#include "examples/common/message.h"

struct input {
	const char *path;		/* NULL: generated */
	unsigned int kronecker_scale;	/* 0: not a Kronecker graph */
	unsigned int kronecker_edge_factor;	/* 0: Graph500's */
	uint64_t power_law_vertices;	/* 0: not such a graph */
	uint64_t power_law_edges;
	uint64_t power_law_largest;
	uint64_t collab_vertices;	/* 0: not such a graph */
	uint64_t collab_degree;
	uint64_t proteins_vertices;	/* 0: not such a graph */
	uint64_t proteins_degree;
	uint64_t attention_tokens;	/* 0: not such a matrix */
	uint64_t uniform_rows;
	uint64_t uniform_columns;	/* 0: as many as rows */
	uint64_t uniform_per_row;
	uint64_t seed;
	uint64_t bfs_vertices;		/* 0: all; else the first that a breadth-first search finds (subgraph.h) */
	unsigned int expand;		/* 0: no; else each element becomes a block of so many rows and columns */
};

/*
 * A file that starts with the banner of Matrix Market is one; one that a program has saved (saved.h) is read
 * as it is; any other is an edge list. 0, or -errno with a message that names file and line.
 */
int input_load(struct csr *csr, const struct input *input, struct message *message);
int input_parse(struct csr *csr, const char *name, const char *text, size_t size,
		struct message *message);

/* The name of the input in a report: "cora.mtx", "kronecker 14". */
void input_name(const struct input *input, char *name, size_t size);

#endif
