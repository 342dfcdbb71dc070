/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The part of a graph that a breadth-first search finds first: from the vertex with most neighbours (the first of
 * several), neighbours in ascending order, until `vertices` are found. They keep their order, and the elements between them.
 * Neighbours are those of either direction.
 */
#ifndef EXAMPLES_SUBGRAPH_H
#define EXAMPLES_SUBGRAPH_H

#include "examples/common/csr.h"
#include "examples/common/message.h"

/* 0, -EINVAL: not square, or the search finds fewer, or -ENOMEM, with a message. */
int subgraph_breadth_first(struct csr *part, const struct csr *whole, uint64_t vertices, struct message *message);

#endif
