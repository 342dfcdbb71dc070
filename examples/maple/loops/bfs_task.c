/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Breadth-first search from the vertex with most neighbours. With --levels 1, the
 * default, the root's neighbours are known, and the level behind them is searched:
 * nearly all vertices are still without one, so nearly all edges are looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/array.h"
#include "examples/maple/loops/task.h"

struct bfs_task {
	const struct csr *graph;	/* the matrix, if that is one, else `made` */
	struct csr made;
	struct bfs_loop loop;
	uint32_t *level;		/* the loop's */
	uint32_t *expected;		/* of a search with a queue */
	uint32_t first, levels, done;
	uint64_t edges;
};

static void bfs_destroy(void *state)
{
	struct bfs_task *task = state;

	pattern_free(&task->loop.a);
	array_free(task->level, task->graph->rows, sizeof(*task->level));
	array_free(task->loop.found, task->graph->rows, sizeof(*task->loop.found));
	free(task->expected);
	csr_free(&task->made);
	array_free(task, 1, sizeof(*task));
}

static uint64_t busiest_vertex(const struct csr *graph)
{
	uint64_t root = 0, most = 0;

	for (uint64_t vertex = 0; vertex < graph->rows; vertex++) {
		uint64_t neighbours = graph->row_start[vertex + 1] - graph->row_start[vertex];

		if (neighbours > most) {
			most = neighbours;
			root = vertex;
		}
	}
	return root;
}

/* By a queue of vertices. 0 or -ENOMEM. */
static int search(const struct csr *graph, uint64_t root, uint32_t *level)
{
	uint64_t *queue = calloc(graph->rows, sizeof(*queue)), head = 0, tail = 0;

	if (!queue)
		return -ENOMEM;
	memset(level, 0xff, graph->rows * sizeof(*level));
	level[root] = 0;
	queue[tail++] = root;
	while (head < tail) {
		uint64_t vertex = queue[head++];

		for (uint64_t j = graph->row_start[vertex]; j < graph->row_start[vertex + 1]; j++) {
			if (level[graph->column[j]] != BFS_NO_LEVEL)
				continue;
			level[graph->column[j]] = level[vertex] + 1;
			queue[tail++] = graph->column[j];
		}
	}
	free(queue);
	return 0;
}

static int make(struct bfs_task *task, const struct csr *matrix, struct message *message)
{
	int error = matrix->is_graph ? 0 : csr_graph(&task->made, matrix);

	task->graph = matrix->is_graph ? matrix : &task->made;
	if (error)
		return message_set(message, error, "out of memory for the graph");
	if (task->graph->nonzeros == 0)
		return message_set(message, -EINVAL, "the graph has no edge");
	error = pattern_make(&task->loop.a, task->graph, message);
	if (error)
		return error;
	task->level = array_alloc(task->graph->rows, sizeof(*task->level));
	task->loop.found = array_alloc(task->graph->rows, sizeof(*task->loop.found));
	task->expected = calloc(task->graph->rows, sizeof(*task->expected));
	task->loop.level = task->level;
	if (!task->level || !task->loop.found || !task->expected ||
	    search(task->graph, busiest_vertex(task->graph), task->expected))
		return message_set(message, -ENOMEM, "out of memory for the levels");
	return 0;
}

static void *bfs_create(const struct csr *matrix, const struct loop_options *options, struct message *message)
{
	struct bfs_task *task;

	if (matrix->rows != matrix->columns) {
		message_set(message, -EINVAL, "a graph needs a square matrix");
		return NULL;
	}
	task = array_alloc(1, sizeof(*task));
	if (!task) {
		message_set(message, -ENOMEM, "out of memory");
		return NULL;
	}
	if (make(task, matrix, message)) {
		bfs_destroy(task);
		return NULL;
	}
	task->levels = options->levels;
	task->first = options->levels == 0 ? 0 : 1;
	return task;
}

static void count_edges(struct bfs_task *task)
{
	for (uint64_t vertex = 0; vertex < task->graph->rows; vertex++) {
		if (task->level[vertex] == BFS_NO_LEVEL)
			task->edges += task->graph->row_start[vertex + 1] - task->graph->row_start[vertex];
	}
}

static void bfs_reset(void *state)
{
	struct bfs_task *task = state;

	for (uint64_t vertex = 0; vertex < task->graph->rows; vertex++)
		task->level[vertex] = task->expected[vertex] <= task->first ? task->expected[vertex] : BFS_NO_LEVEL;
	memset(task->loop.found, 0, task->graph->rows * sizeof(*task->loop.found));
	task->loop.current = task->first;
	task->done = 0;
	task->edges = 0;
	count_edges(task);
}

static bool bfs_is_decoupled(enum loop_form form)
{
	return form == LOOP_SOFTWARE || form == LOOP_DECOUPLED || form == LOOP_DESC;
}

static void bfs_run(void *state, const struct loop_part *part)
{
	struct bfs_task *task = state;
	const struct bfs_loop *loop = &task->loop;
	uint32_t begin = pattern_share(&loop->a, part->share, part->shares);
	uint32_t end = pattern_share(&loop->a, part->share + 1, part->shares);

	switch (part->form) {
	case LOOP_DOALL:
		return bfs_doall(loop, begin, end);
	case LOOP_PREFETCH:
		return bfs_prefetch(loop, begin, end);
	case LOOP_SOFTWARE:
		return (part->is_access ? bfs_push : bfs_pop)(loop, begin, end, part->shared);
	case LOOP_DECOUPLED:
		return (part->is_access ? bfs_access : bfs_execute)(loop, begin, end, part->maple, part->queue);
	case LOOP_DESC:
		return (part->is_access ? bfs_supply : bfs_compute)(loop, begin, end, part->maple, part->queue,
								    part->back);
	default:
		return bfs_lima(loop, begin, end, part->maple, part->queue);
	}
}

/* In a search of several levels. The single level is the paper's loop and nothing else. */
static bool bfs_merges(const void *state)
{
	const struct bfs_task *task = state;

	return task->levels != 1;
}

static void bfs_merge_part(void *state, unsigned int thread, unsigned int threads)
{
	struct bfs_task *task = state;
	uint64_t rows = task->graph->rows;

	bfs_merge(&task->loop, task->level, (uint32_t)(rows * thread / threads),
		  (uint32_t)(rows * (thread + 1) / threads));
}

/* Vertices that were found and not merged get their level, too. Not timed. */
static bool bfs_again(void *state)
{
	struct bfs_task *task = state;
	bool any = false;

	task->loop.current++;
	for (uint64_t vertex = 0; vertex < task->graph->rows; vertex++) {
		if (task->level[vertex] == BFS_NO_LEVEL && task->loop.found[vertex])
			task->level[vertex] = task->loop.current;
		any |= task->level[vertex] == task->loop.current;
	}
	task->done++;
	if (!any || task->done == task->levels)
		return false;
	count_edges(task);
	return true;
}

static bool bfs_verify(void *state, struct message *message)
{
	struct bfs_task *task = state;

	for (uint64_t vertex = 0; vertex < task->graph->rows; vertex++) {
		uint32_t must = task->expected[vertex];

		if (task->levels > 0 && must != BFS_NO_LEVEL && must > task->first + task->levels)
			must = BFS_NO_LEVEL;
		if (task->level[vertex] == must)
			continue;
		message_set(message, 0, "vertex %" PRIu64 " has level %d, but must have %d", vertex,
			    (int)task->level[vertex], (int)must);
		return false;
	}
	return true;
}

static uint64_t bfs_elements(const void *state)
{
	return ((const struct bfs_task *)state)->edges;
}

static void bfs_indirect(const void *state, struct loop_indirect *indirect)
{
	const struct bfs_task *task = state;

	*indirect = (struct loop_indirect){ task->loop.a.column, task->graph->nonzeros, task->level,
					    sizeof(*task->level) };
}

const struct loop_kernel bfs_kernel = {
	.name = "bfs",
	.unit = "edges",
	.create = bfs_create,
	.destroy = bfs_destroy,
	.reset = bfs_reset,
	.is_decoupled = bfs_is_decoupled,
	.run = bfs_run,
	.merges = bfs_merges,
	.merge = bfs_merge_part,
	.again = bfs_again,
	.verify = bfs_verify,
	.elements = bfs_elements,
	.indirect = bfs_indirect,
};
