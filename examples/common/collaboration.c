/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Graphs of co-authors: each paper makes all of its authors neighbours. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/edge_set.h"
#include "examples/common/generate.h"

#define AUTHORS_LEAST 2
#define AUTHORS_MOST 7
#define DRAWS_MOST 8		/* of former co-authors; then an author is any, of which there are enough */
#define PAPERS_PER_ELEMENT 64	/* a bound, so that the loop ends where nearly all pairs are there */

struct collaboration {
	struct random random;
	uint64_t vertices, wanted;	/* elements */
	struct edge_set set;
	struct csr_entry *entries;	/* both directions */
	uint64_t count;
	/* Neighbours of each vertex, as lists of entries. */
	uint32_t *first, *next, *degree;
};

static void add_entry(struct collaboration *graph, uint32_t from, uint32_t to)
{
	uint64_t number = graph->count++;

	graph->entries[number] = (struct csr_entry){ .row = from, .column = to };
	graph->next[number] = graph->first[from];
	graph->first[from] = (uint32_t)number;
	graph->degree[from]++;
}

static uint32_t former_co_author(struct collaboration *graph, uint32_t author)
{
	uint32_t entry = graph->first[author];

	for (uint64_t i = random_below(&graph->random, graph->degree[author]); i > 0; i--)
		entry = graph->next[entry];
	return graph->entries[entry].column;
}

static uint32_t any_author(struct collaboration *graph)
{
	return (uint32_t)random_below(&graph->random, graph->vertices);
}

static bool is_among(const uint32_t *authors, unsigned int count, uint32_t author)
{
	for (unsigned int i = 0; i < count; i++) {
		if (authors[i] == author)
			return true;
	}
	return false;
}

static uint32_t next_author(struct collaboration *graph, const uint32_t *authors, unsigned int count)
{
	uint32_t author;

	for (unsigned int draw = 0;; draw++) {
		bool is_former = draw < DRAWS_MOST && random_below(&graph->random, 2) && graph->degree[authors[0]];

		author = is_former ? former_co_author(graph, authors[0]) : any_author(graph);
		if (!is_among(authors, count, author))
			return author;
	}
}

static void write_paper(struct collaboration *graph)
{
	unsigned int size = AUTHORS_LEAST + (unsigned int)random_below(&graph->random, AUTHORS_MOST - AUTHORS_LEAST + 1);
	uint32_t authors[AUTHORS_MOST];

	if (size > graph->vertices)
		size = (unsigned int)graph->vertices;
	authors[0] = any_author(graph);
	for (unsigned int i = 1; i < size; i++)
		authors[i] = next_author(graph, authors, i);
	for (unsigned int i = 1; i < size; i++) {
		for (unsigned int j = 0; j < i && graph->count < graph->wanted; j++) {
			if (!edge_set_add(&graph->set, authors[i], authors[j]))
				continue;
			add_entry(graph, authors[i], authors[j]);
			add_entry(graph, authors[j], authors[i]);
		}
	}
}

static int write_papers(struct collaboration *graph)
{
	memset(graph->first, 0xff, graph->vertices * sizeof(*graph->first));
	for (uint64_t paper = 0; graph->count < graph->wanted; paper++) {
		if (paper / PAPERS_PER_ELEMENT > graph->wanted)
			return -EINVAL;
		write_paper(graph);
	}
	return 0;
}

static int make_graph(struct csr *csr, struct collaboration *graph)
{
	int error = -ENOMEM;

	graph->entries = calloc(graph->wanted + 1, sizeof(*graph->entries));
	graph->next = calloc(graph->wanted + 1, sizeof(*graph->next));
	graph->first = calloc(graph->vertices, sizeof(*graph->first));
	graph->degree = calloc(graph->vertices, sizeof(*graph->degree));
	if (graph->entries && graph->next && graph->first && graph->degree && !edge_set_make(&graph->set, graph->wanted))
		error = write_papers(graph);
	if (!error)
		error = csr_from_entries(csr, graph->vertices, graph->vertices, CSR_INTEGER, graph->entries, graph->count);
	edge_set_free(&graph->set);
	free(graph->entries);
	free(graph->next);
	free(graph->first);
	free(graph->degree);
	return error;
}

int generate_collaboration(struct csr *csr, uint64_t vertices, uint64_t degree, uint64_t seed, struct message *message)
{
	/* Each edge has two elements. */
	struct collaboration graph = {
		.random.state = seed, .vertices = vertices, .wanted = (vertices * degree + 1) / 2 * 2,
	};
	int error;

	memset(csr, 0, sizeof(*csr));
	if (vertices < 2 || vertices > UINT32_MAX || degree < 1 || degree >= vertices || degree > UINT32_MAX / 2 / vertices)
		return message_set(message, -EINVAL, "co-authors %" PRIu64 "x%" PRIu64 ": it must be VERTICESxDEGREE, a degree "
				   "less than the vertices, and at most 2^31 elements", vertices, degree);
	error = make_graph(csr, &graph);
	if (error == -EINVAL)
		return message_set(message, error, "a mean degree of %" PRIu64 " is too much for %" PRIu64 " co-authors",
				   degree, vertices);
	if (error)
		return message_set(message, error, "out of memory for %" PRIu64 " co-authors of degree %" PRIu64, vertices,
				   degree);
	generate_weights(csr, seed);
	return 0;
}
