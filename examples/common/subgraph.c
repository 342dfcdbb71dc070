/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/subgraph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOT_FOUND UINT32_MAX

static uint64_t most_neighbours(const struct csr *graph)
{
	uint64_t best = 0;

	for (uint64_t v = 1; v < graph->rows; v++) {
		if (graph->row_start[v + 1] - graph->row_start[v] >
		    graph->row_start[best + 1] - graph->row_start[best])
			best = v;
	}
	return best;
}

/* number[v] is not NOT_FOUND for the vertices that are found. How many there are, at most `wanted`. */
static uint64_t search(const struct csr *graph, uint64_t wanted, uint32_t *queue, uint32_t *number)
{
	uint64_t found = 1;

	queue[0] = (uint32_t)most_neighbours(graph);
	number[queue[0]] = 0;
	for (uint64_t next = 0; next < found; next++) {
		for (uint64_t j = graph->row_start[queue[next]]; j < graph->row_start[queue[next] + 1ul]; j++) {
			if (found == wanted)
				return found;
			if (number[graph->column[j]] != NOT_FOUND)
				continue;
			number[graph->column[j]] = 0;
			queue[found++] = graph->column[j];
		}
	}
	return found;
}

static void number_in_order(uint32_t *number, uint64_t vertices)
{
	uint32_t next = 0;

	for (uint64_t v = 0; v < vertices; v++) {
		if (number[v] != NOT_FOUND)
			number[v] = next++;
	}
}

static int take_elements(struct csr *part, const struct csr *whole, const uint32_t *number, uint64_t vertices)
{
	uint64_t count = 0;
	int error = csr_alloc(part, vertices, vertices, whole->nonzeros, whole->kind);

	if (error)
		return error;
	for (uint64_t row = 0; row < whole->rows; row++) {
		if (number[row] == NOT_FOUND)
			continue;
		for (uint64_t j = whole->row_start[row]; j < whole->row_start[row + 1]; j++) {
			if (number[whole->column[j]] == NOT_FOUND)
				continue;
			part->column[count] = number[whole->column[j]];
			part->value[count++] = whole->value[j];
		}
		part->row_start[number[row] + 1ul] = count;
	}
	return 0;
}

/* csr_free() has to know how large its arrays are, so the part is copied to others. */
static int shrink(struct csr *part)
{
	uint64_t nonzeros = part->row_start[part->rows];
	struct csr exact;
	int error = csr_alloc(&exact, part->rows, part->columns, nonzeros, part->kind);

	if (!error) {
		memcpy(exact.row_start, part->row_start, (part->rows + 1) * sizeof(*part->row_start));
		memcpy(exact.column, part->column, nonzeros * sizeof(*part->column));
		memcpy(exact.value, part->value, nonzeros * sizeof(*part->value));
	}
	csr_free(part);
	if (!error)
		*part = exact;
	return error;
}

static int take_part(struct csr *part, const struct csr *whole, const struct csr *graph, uint64_t vertices,
		     struct message *message)
{
	uint32_t *queue = malloc(vertices * sizeof(*queue));
	uint32_t *number = malloc(whole->rows * sizeof(*number));
	uint64_t found = 0;
	int error = -ENOMEM;

	if (queue && number) {
		memset(number, 0xff, whole->rows * sizeof(*number));
		found = search(graph, vertices, queue, number);
		error = found < vertices ? -EINVAL : 0;
	}
	if (!error) {
		number_in_order(number, whole->rows);
		error = take_elements(part, whole, number, vertices);
	}
	if (!error)
		error = shrink(part);
	free(queue);
	free(number);
	if (error == -EINVAL)
		return message_set(message, error, "--bfs-vertices %" PRIu64 ": the search finds only %" PRIu64, vertices,
				   found);
	return error ? message_set(message, error, "out of memory for a part of %" PRIu64 " vertices", vertices) : 0;
}

int subgraph_breadth_first(struct csr *part, const struct csr *whole, uint64_t vertices, struct message *message)
{
	struct csr graph;
	int error;

	memset(part, 0, sizeof(*part));
	if (whole->rows != whole->columns)
		return message_set(message, -EINVAL, "--bfs-vertices: a matrix of %" PRIu64 " by %" PRIu64 " is no graph",
				   whole->rows, whole->columns);
	if (vertices > whole->rows)
		return message_set(message, -EINVAL, "--bfs-vertices %" PRIu64 ": the graph has %" PRIu64 " vertices",
				   vertices, whole->rows);
	if (csr_graph(&graph, whole))
		return message_set(message, -ENOMEM, "out of memory for a graph of %" PRIu64 " vertices", whole->rows);
	error = take_part(part, whole, &graph, vertices, message);
	csr_free(&graph);
	return error;
}
