/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The rules of Graph500 for breadth-first search: which roots, and which results are valid. */
#ifndef EXAMPLES_GRAPH500_H
#define EXAMPLES_GRAPH500_H

#include <stdbool.h>
#include <stdint.h>

#include "examples/common/csr.h"
#include "examples/common/message.h"

struct graph500 {
	const struct csr *graph;	/* csr_graph() */
	uint32_t *component;		/* of each vertex, a number they share */
	uint64_t *component_edges;	/* undirected edges, by that number */
};

/* Finds the components. 0 or -ENOMEM. */
int graph500_init(struct graph500 *graph500, const struct csr *graph);
void graph500_free(struct graph500 *graph500);

/*
 * Up to `count` different vertices that have an edge, drawn from the seed.
 * Returns how many there are: fewer if the graph has no more.
 */
unsigned int graph500_roots(const struct csr *graph, unsigned int count, uint64_t seed, uint32_t *roots);

/* Edges that a search from `root` must look at: those of its component. */
uint64_t graph500_edges(const struct graph500 *graph500, uint32_t root);

/*
 * level[] and parent[] of each vertex, -1 where it was not reached. True if:
 * the root is its own parent at level 0; each other vertex of the root's
 * component, and no vertex beside, is reached; its parent is a neighbour one
 * level above it; and the ends of every edge are at most one level apart.
 * Together these leave no tree but a breadth-first one.
 */
bool graph500_validate(const struct graph500 *graph500, uint32_t root, const int32_t *level,
		       const int64_t *parent, struct message *message);

#endif
