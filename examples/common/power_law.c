/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Graphs with a given number of vertices and edges whose degrees follow a power law, after Chung and Lu
 * ("Connected components in random graphs with given expected degree sequences", 2002): vertex i has the
 * weight (i + 1)^-s, and both ends of an edge are drawn with probabilities that are proportional to the
 * weights.
 *
 * s is a multiple of 1/64. Such a power is made of square roots and products alone, which are exact to the
 * last bit everywhere; pow() is not the same in every library, and the same seed has to give the same graph.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/edge_set.h"
#include "examples/common/generate.h"
#include "examples/common/random.h"

#define STEPS 64		/* s = steps / STEPS */
#define ROOTS 6			/* 2^ROOTS = STEPS */
/* A bound, so that the loop always ends; no arguments are known that need so many draws for an edge. */
#define DRAWS_PER_EDGE 64

struct weights {
	double *sum;		/* of the weights of vertices 0 to i */
	uint32_t *first;	/* the vertex in which the part i of `vertices` equal parts of the sum begins */
	uint64_t vertices;
};

/* number^-(steps / 64): the product of the roots that the bits of `steps` choose. */
static double power(double number, unsigned int steps)
{
	double root = number, product = 1;

	for (int bit = ROOTS - 1; bit >= 0; bit--) {
		root = sqrt(root);
		if (steps >> bit & 1)
			product *= root;
	}
	return 1 / product;
}

/* Of all weights; by the trapezoidal rule, an error of less than 1 in 1000 of them. */
static double expected_sum(uint64_t vertices, unsigned int steps)
{
	double s = (double)steps / STEPS, last = power((double)vertices, steps);

	return ((double)vertices * last - 1) / (1 - s) + (1 + last) / 2 + s * (1 - last / (double)vertices) / 12;
}

/* The steps for which the degree that vertex 0 is expected to have is closest to `largest`. */
static unsigned int find_steps(uint64_t vertices, uint64_t edges, uint64_t largest)
{
	unsigned int best = 1;
	double best_distance = INFINITY;

	for (unsigned int steps = 1; steps < STEPS; steps++) {
		double degree = 2 * (double)edges / expected_sum(vertices, steps);
		double distance = degree > (double)largest ? degree / (double)largest : (double)largest / degree;

		if (distance < best_distance) {
			best_distance = distance;
			best = steps;
		}
	}
	return best;
}

static int make_weights(struct weights *weights, uint64_t vertices, unsigned int steps)
{
	double sum = 0;
	uint64_t part = 0;

	weights->vertices = vertices;
	weights->sum = malloc(vertices * sizeof(*weights->sum));
	weights->first = malloc(vertices * sizeof(*weights->first));
	if (!weights->sum || !weights->first)
		return -ENOMEM;
	for (uint64_t i = 0; i < vertices; i++) {
		sum += power((double)(i + 1), steps);
		weights->sum[i] = sum;
	}
	for (uint64_t i = 0; i < vertices; i++) {
		while (part < vertices && (double)part / (double)vertices * sum < weights->sum[i])
			weights->first[part++] = (uint32_t)i;
	}
	while (part < vertices)
		weights->first[part++] = (uint32_t)(vertices - 1);
	return 0;
}

static void free_weights(struct weights *weights)
{
	free(weights->sum);
	free(weights->first);
}

static uint32_t draw_vertex(const struct weights *weights, struct random *random)
{
	double where = random_unit(random);
	double sum = where * weights->sum[weights->vertices - 1];
	uint64_t i = weights->first[(uint64_t)(where * (double)weights->vertices)];

	while (i + 1 < weights->vertices && weights->sum[i] <= sum)
		i++;
	return (uint32_t)i;
}

/* How many different edges were found; fewer than wanted if draws give the same ones again and again. */
static uint64_t draw_edges(struct csr_entry *entries, uint64_t edges, const struct weights *weights,
			   struct edge_set *set, struct random *random)
{
	uint64_t count = 0;

	for (uint64_t draw = 0; draw / DRAWS_PER_EDGE < edges && count < edges; draw++) {
		uint32_t a = draw_vertex(weights, random), b = draw_vertex(weights, random);

		if (a == b || !edge_set_add(set, a, b))
			continue;
		entries[count].row = a;
		entries[count++].column = b;
	}
	return count;
}

/* The edges in one direction, in `directed`. -ENOMEM, or -EINVAL: there are not so many. */
static int make_directed(struct csr *directed, uint64_t vertices, uint64_t edges, unsigned int steps,
			 struct random *random)
{
	struct weights weights = { 0 };
	struct edge_set set = { 0 };
	struct csr_entry *entries;
	uint32_t *number;
	int error = -ENOMEM;

	entries = calloc(edges, sizeof(*entries));
	number = malloc(vertices * sizeof(*number));
	if (entries && number && !edge_set_make(&set, edges) && !make_weights(&weights, vertices, steps)) {
		generate_numbers(random, number, vertices);
		error = draw_edges(entries, edges, &weights, &set, random) == edges ? 0 : -EINVAL;
		for (uint64_t i = 0; i < edges && !error; i++) {
			entries[i].row = number[entries[i].row];
			entries[i].column = number[entries[i].column];
		}
		if (!error)
			error = csr_from_entries(directed, vertices, vertices, CSR_INTEGER, entries, edges);
	}
	free_weights(&weights);
	edge_set_free(&set);
	free(number);
	free(entries);
	return error;
}

int generate_power_law(struct csr *csr, uint64_t vertices, uint64_t edges, uint64_t largest, uint64_t seed,
		       struct message *message)
{
	struct random random = { .state = seed };
	struct csr directed;
	int error;

	memset(csr, 0, sizeof(*csr));
	if (vertices < 2 || vertices > UINT32_MAX)
		return message_set(message, -EINVAL, "a graph of %" PRIu64 " vertices: it must be 2 to %u", vertices,
				   UINT32_MAX);
	if (edges < 1 || edges > UINT32_MAX || edges > vertices * (vertices - 1) / 2)
		return message_set(message, -EINVAL, "%" PRIu64 " edges between %" PRIu64 " vertices: it must be 1 to %u, "
				   "and each pair at most once", edges, vertices, UINT32_MAX);
	if (largest >= vertices || largest < 2 * edges / vertices + 1)
		return message_set(message, -EINVAL, "a largest degree of %" PRIu64 ": it must be more than the mean, "
				   "%" PRIu64 ", and less than the %" PRIu64 " vertices", largest,
				   2 * edges / vertices, vertices);
	error = make_directed(&directed, vertices, edges, find_steps(vertices, edges, largest), &random);
	if (!error) {
		error = csr_graph(csr, &directed);
		csr_free(&directed);
	}
	if (error == -EINVAL)
		return message_set(message, error, "%" PRIu64 " different edges are too many where one vertex of %" PRIu64
				   " has %" PRIu64 " of them", edges, vertices, largest);
	if (error)
		return message_set(message, error, "out of memory for a graph of %" PRIu64 " vertices and %" PRIu64
				   " edges", vertices, edges);
	generate_weights(csr, seed);
	return 0;
}
