/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Matrices made from a seed: the same seed gives the same matrix everywhere. */
#ifndef EXAMPLES_GENERATE_H
#define EXAMPLES_GENERATE_H

#include "examples/common/csr.h"
#include "examples/common/message.h"
#include "examples/common/random.h"

#define KRONECKER_SCALE_MAX 30
#define KRONECKER_EDGE_FACTOR 16
#define KRONECKER_EDGE_FACTOR_MAX 1024
#define ATTENTION_TOKENS_MAX 262144

/*
 * A graph of 2^scale vertices as Graph500 makes them: Kronecker initiator
 * A=.57 B=.19 C=.19 D=.05, 16 edges for each vertex, vertices renumbered at
 * random. It is made undirected, without self loops or repeated edges. The
 * value of an edge is in (0, 1], the same in both directions.
 */
int generate_kronecker(struct csr *csr, unsigned int scale, uint64_t seed, struct message *message);
/* The same with another number of edges for each vertex, 1 to KRONECKER_EDGE_FACTOR_MAX. */
int generate_kronecker_edges(struct csr *csr, unsigned int scale, unsigned int edge_factor, uint64_t seed,
			     struct message *message);

/*
 * A graph of `vertices` and `edges` (each counted once), undirected, without self loops or repeated edges.
 * Degrees follow a power law: that of the i-th largest is expected to be proportional to i^-s, with s such
 * that the largest is near `largest` (s is a multiple of 1/64, and edges that are drawn twice count once:
 * the largest degree comes out lower). Vertices are renumbered at random, values as of a Kronecker graph.
 */
int generate_power_law(struct csr *csr, uint64_t vertices, uint64_t edges, uint64_t largest, uint64_t seed,
		       struct message *message);

/* rows by rows, `per_row` elements in each row at random columns, values in [-1, 1). */
int generate_uniform(struct csr *csr, uint64_t rows, uint64_t per_row, uint64_t seed,
		     struct message *message);
/* The same with another number of columns. */
int generate_uniform_columns(struct csr *csr, uint64_t rows, uint64_t columns, uint64_t per_row, uint64_t seed,
			     struct message *message);

/*
 * Stand-ins for data sets of the DARE paper that are not at hand (docs/examples.md names the model of each).
 * Values are as of a Kronecker graph.
 *
 * Collaboration (ogbl-collab): papers of 2 to 7 authors, each size as often, are written until the mean degree is
 * `degree`; all authors of a paper are neighbours. The first author is any; each other one is as often a former
 * co-author of the first as any.
 */
int generate_collaboration(struct csr *csr, uint64_t vertices, uint64_t degree, uint64_t seed, struct message *message);
/*
 * Communities (ogbn-proteins): vertices * degree / 2 edges; the vertices from 256 i on are a community, and
 * 80 % of the draws are of a partner in the own one. An edge that is there already is drawn anew.
 */
int generate_communities(struct csr *csr, uint64_t vertices, uint64_t degree, uint64_t seed, struct message *message);
/*
 * Attention (GPT-2, 90 % pruned): row i of `tokens` keeps a tenth of its i + 1 elements, rounded up: the first token;
 * of the others half as often as they are near (1 / (distance + 1)), a quarter in favoured columns, which
 * are 5 % of all, and the rest anywhere.
 */
int generate_attention(struct csr *csr, uint64_t tokens, uint64_t seed, struct message *message);

/* Of use to generators of graphs. The numbers 0 to count - 1 in random order. */
void generate_numbers(struct random *random, uint32_t *number, uint64_t count);
/* Values of a graph's edges, in (0, 1], from the seed and the two vertices. */
void generate_weights(struct csr *csr, uint64_t seed);

#endif
