/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Reads an edge list as SNAP's collection has them: a line for each directed
 * edge, "from to", with tabs or blanks; lines that start with # or % are
 * comments. Vertex ids are any numbers up to 2^32 - 2. They are compacted: the
 * vertices are the ids that occur, numbered from 0 in ascending order, so that
 * memory follows the number of edges and not the largest id.
 */
#ifndef EXAMPLES_EDGE_LIST_H
#define EXAMPLES_EDGE_LIST_H

#include <stddef.h>

#include "examples/common/csr.h"
#include "examples/common/message.h"

#define EDGE_LIST_ID_MAX 0xfffffffeu

/* The square matrix with 1 at (from, to), as often as the edge is listed. Errors as matrix_market_parse(). */
int edge_list_parse(struct csr *csr, const char *name, const char *text, size_t size,
		    struct message *message);

#endif
