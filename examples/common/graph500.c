/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/graph500.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/random.h"

static uint32_t find(uint32_t *component, uint32_t vertex)
{
	while (component[vertex] != vertex) {
		component[vertex] = component[component[vertex]];
		vertex = component[vertex];
	}
	return vertex;
}

/* By union and find, which has nothing in common with a search. */
static void find_components(struct graph500 *graph500)
{
	const struct csr *graph = graph500->graph;
	uint32_t *component = graph500->component;

	for (uint64_t v = 0; v < graph->rows; v++)
		component[v] = (uint32_t)v;
	for (uint64_t v = 0; v < graph->rows; v++) {
		for (uint64_t j = graph->row_start[v]; j < graph->row_start[v + 1]; j++) {
			uint32_t a = find(component, (uint32_t)v), b = find(component, graph->column[j]);

			component[a > b ? a : b] = a > b ? b : a;
		}
	}
	for (uint64_t v = 0; v < graph->rows; v++)
		component[v] = find(component, (uint32_t)v);
}

int graph500_init(struct graph500 *graph500, const struct csr *graph)
{
	graph500->graph = graph;
	graph500->component = calloc(graph->rows + 1, sizeof(*graph500->component));
	graph500->component_edges = calloc(graph->rows + 1, sizeof(*graph500->component_edges));
	if (!graph500->component || !graph500->component_edges) {
		graph500_free(graph500);
		return -ENOMEM;
	}
	find_components(graph500);
	for (uint64_t v = 0; v < graph->rows; v++)
		graph500->component_edges[graph500->component[v]] += graph->row_start[v + 1] - graph->row_start[v];
	/* Each edge was counted from both its ends. */
	for (uint64_t v = 0; v < graph->rows; v++)
		graph500->component_edges[v] /= 2;
	return 0;
}

void graph500_free(struct graph500 *graph500)
{
	free(graph500->component);
	free(graph500->component_edges);
	memset(graph500, 0, sizeof(*graph500));
}

uint64_t graph500_edges(const struct graph500 *graph500, uint32_t root)
{
	return graph500->component_edges[graph500->component[root]];
}

unsigned int graph500_roots(const struct csr *graph, unsigned int count, uint64_t seed, uint32_t *roots)
{
	struct random random = { .state = seed ^ 0x726f6f7473ull };
	uint64_t candidates = 0;
	uint32_t *candidate = calloc(graph->rows + 1, sizeof(*candidate));

	if (!candidate)
		return 0;
	for (uint64_t v = 0; v < graph->rows; v++) {
		if (graph->row_start[v + 1] > graph->row_start[v])
			candidate[candidates++] = (uint32_t)v;
	}
	if (count > candidates)
		count = (unsigned int)candidates;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t drawn = random_below(&random, candidates);

		roots[i] = candidate[drawn];
		candidate[drawn] = candidate[--candidates];
	}
	free(candidate);
	return count;
}

static bool has_edge(const struct csr *graph, uint32_t from, uint64_t to)
{
	uint64_t low = graph->row_start[from], high = graph->row_start[from + 1];

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (graph->column[middle] == to)
			return true;
		if (graph->column[middle] < to)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static bool wrong(struct message *message, uint32_t root, uint64_t vertex, const char *what)
{
	message_set(message, 0, "search from %u: vertex %" PRIu64 " %s", root, vertex, what);
	return false;
}

static bool check_vertex(const struct graph500 *graph500, uint32_t root, const int32_t *level,
			 const int64_t *parent, uint64_t v, struct message *message)
{
	const struct csr *graph = graph500->graph;
	bool inside = graph500->component[v] == graph500->component[root];

	if (!inside)
		return (level[v] == -1 && parent[v] == -1) ||
		       wrong(message, root, v, "is reached, but lies in another component");
	if (level[v] < 0 || parent[v] < 0)
		return wrong(message, root, v, "is not reached");
	if ((uint64_t)parent[v] >= graph->rows)
		return wrong(message, root, v, "has a parent that is no vertex");
	if (v == root)
		return (level[v] == 0 && (uint64_t)parent[v] == v) ||
		       wrong(message, root, v, "is the root, but not its own parent at level 0");
	if (!has_edge(graph, (uint32_t)v, (uint64_t)parent[v]))
		return wrong(message, root, v, "has a parent that is not its neighbour");
	if (level[parent[v]] != level[v] - 1)
		return wrong(message, root, v, "is not one level below its parent");
	return true;
}

bool graph500_validate(const struct graph500 *graph500, uint32_t root, const int32_t *level,
		       const int64_t *parent, struct message *message)
{
	const struct csr *graph = graph500->graph;

	for (uint64_t v = 0; v < graph->rows; v++) {
		if (!check_vertex(graph500, root, level, parent, v, message))
			return false;
	}
	for (uint64_t v = 0; v < graph->rows; v++) {
		for (uint64_t j = graph->row_start[v]; j < graph->row_start[v + 1]; j++) {
			int64_t apart = (int64_t)level[v] - level[graph->column[j]];

			if (apart < -1 || apart > 1)
				return wrong(message, root, v, "has a neighbour more than one level away");
		}
	}
	return true;
}
