/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Graphs of communities: most edges are within one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/edge_set.h"
#include "examples/common/generate.h"

#define COMMUNITY 256u
#define INSIDE 80u		/* of 100 */
#define DRAWS_PER_EDGE 64	/* a bound, so that the loop ends where nearly all pairs are there */

static uint32_t draw_partner(struct random *random, uint32_t vertex, uint64_t vertices)
{
	uint64_t begin = vertex / COMMUNITY * COMMUNITY;
	uint64_t size = vertices - begin < COMMUNITY ? vertices - begin : COMMUNITY;

	if (random_below(random, 100) < INSIDE)
		return (uint32_t)(begin + random_below(random, size));
	return (uint32_t)random_below(random, vertices);
}

static uint64_t draw_edges(struct csr_entry *entries, uint64_t edges, uint64_t vertices, struct edge_set *set,
			   struct random *random)
{
	uint64_t count = 0;

	for (uint64_t draw = 0; draw / DRAWS_PER_EDGE < edges && count < edges; draw++) {
		uint32_t a = (uint32_t)random_below(random, vertices), b = draw_partner(random, a, vertices);

		if (a == b || !edge_set_add(set, a, b))
			continue;
		entries[count++] = (struct csr_entry){ .row = a, .column = b };
	}
	return count;
}

/* The edges in one direction. */
static int make_directed(struct csr *directed, uint64_t vertices, uint64_t edges, uint64_t seed)
{
	struct random random = { .state = seed };
	struct csr_entry *entries = calloc(edges, sizeof(*entries));
	struct edge_set set = { 0 };
	int error = -ENOMEM;

	if (entries && !edge_set_make(&set, edges))
		error = draw_edges(entries, edges, vertices, &set, &random) == edges ? 0 : -EINVAL;
	if (!error)
		error = csr_from_entries(directed, vertices, vertices, CSR_INTEGER, entries, edges);
	edge_set_free(&set);
	free(entries);
	return error;
}

int generate_communities(struct csr *csr, uint64_t vertices, uint64_t degree, uint64_t seed, struct message *message)
{
	struct csr directed;
	int error;

	memset(csr, 0, sizeof(*csr));
	if (vertices < 2 || vertices > UINT32_MAX || degree < 1 || degree >= vertices || degree > UINT32_MAX / vertices)
		return message_set(message, -EINVAL, "communities %" PRIu64 "x%" PRIu64 ": it must be VERTICESxDEGREE, a degree "
				   "less than the vertices, and at most 2^32 elements", vertices, degree);
	error = make_directed(&directed, vertices, (vertices * degree + 1) / 2, seed);
	if (!error) {
		error = csr_graph(csr, &directed);
		csr_free(&directed);
	}
	if (error == -EINVAL)
		return message_set(message, error, "a mean degree of %" PRIu64 " is too much for %" PRIu64 " vertices in "
				   "communities of %u", degree, vertices, COMMUNITY);
	if (error)
		return message_set(message, error, "out of memory for %" PRIu64 " vertices of degree %" PRIu64, vertices,
				   degree);
	generate_weights(csr, seed);
	return 0;
}
