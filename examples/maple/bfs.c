/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Breadth-first search by the rules of Graph500, level by level from the
 * frontier down. The irregular access is level[neighbour], and MAPLE fetches it.
 *
 * A level that MAPLE fetched may be old: the vertex may have been reached since. A
 * level is written once, so only a fetched "not reached" has to be looked at
 * again, and few are.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/array.h"
#include "examples/common/forms.h"
#include "examples/common/graph500.h"
#include "examples/common/kernel.h"
#include "examples/common/progress.h"
#include "examples/common/stream.h"

#define BLOCK 64	/* vertices of the frontier that a thread takes at a time */
#define AHEAD 8		/* vertices between a prefetch and its use */
#define NOT_REACHED (-1)

struct bfs {
	struct csr graph;
	struct graph500 rules;
	uint32_t *roots;
	unsigned int root_count;
	int32_t *level;
	int64_t *parent;
	uint32_t *frontier;
	uint64_t frontier_count;
	uint32_t *next;			/* the frontier of the next level */
	_Atomic uint64_t next_count;
	int32_t depth;
	pthread_barrier_t level_done;	/* decoupled: of all threads */
	uint32_t *packed;		/* lima: neighbours, two loops of them */
	struct run *run;
};

/* Vertices that one thread found and has not added to the next frontier yet. */
struct found {
	uint32_t vertex[STREAM_BATCH];
	unsigned int count;
};

static void found_flush(struct bfs *bfs, struct found *found)
{
	uint64_t at = atomic_fetch_add_explicit(&bfs->next_count, found->count, memory_order_relaxed);

	memcpy(bfs->next + at, found->vertex, found->count * sizeof(*found->vertex));
	found->count = 0;
}

static void visit(struct bfs *bfs, struct found *found, uint32_t from, uint32_t to)
{
	int32_t unreached = NOT_REACHED;

	if (__atomic_load_n(&bfs->level[to], __ATOMIC_RELAXED) != NOT_REACHED)
		return;
	/* Two execute threads may find the same vertex at once. */
	if (!__atomic_compare_exchange_n(&bfs->level[to], &unreached, bfs->depth + 1, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	bfs->parent[to] = from;
	if (found->count == STREAM_BATCH)
		found_flush(bfs, found);
	found->vertex[found->count++] = to;
}

/* A place among the edges of the frontier's vertices from `at` to `end`. */
struct cursor {
	uint64_t at;
	uint64_t end;
	uint64_t next;	/* element in the graph */
	uint64_t stop;	/* end of this vertex's elements */
};

static void cursor_load(const struct bfs *bfs, struct cursor *cursor)
{
	if (cursor->at >= cursor->end)
		return;
	cursor->next = bfs->graph.row_start[bfs->frontier[cursor->at]];
	cursor->stop = bfs->graph.row_start[bfs->frontier[cursor->at] + 1];
}

static struct cursor cursor_start(const struct bfs *bfs, uint64_t begin, uint64_t end)
{
	struct cursor cursor = { .at = begin, .end = end };

	cursor_load(bfs, &cursor);
	return cursor;
}

/* Edges of one vertex, at most `limit`, from cursor->next. 0: no more at all. */
static uint64_t cursor_piece(const struct bfs *bfs, struct cursor *cursor, uint64_t limit)
{
	uint64_t left;

	while (cursor->at < cursor->end && cursor->next == cursor->stop) {
		cursor->at++;
		cursor_load(bfs, cursor);
	}
	if (cursor->at >= cursor->end)
		return 0;
	left = cursor->stop - cursor->next;
	return left < limit ? left : limit;
}

/* Copies neighbours one after the other, up to `room`; returns how many. */
static uint64_t pack(const struct bfs *bfs, struct cursor *cursor, uint32_t *neighbours, uint64_t room)
{
	uint64_t count = 0, piece;

	while (count < room && (piece = cursor_piece(bfs, cursor, room - count)) > 0) {
		memcpy(neighbours + count, bfs->graph.column + cursor->next, piece * sizeof(*neighbours));
		cursor->next += piece;
		count += piece;
	}
	return count;
}

/* levels[] was fetched for the next `count` edges. */
static void visit_fetched(struct bfs *bfs, struct found *found, struct cursor *cursor, const uint32_t *levels,
			  uint64_t count)
{
	while (count > 0) {
		uint64_t piece = cursor_piece(bfs, cursor, count);
		uint32_t from = bfs->frontier[cursor->at];

		for (uint64_t i = 0; i < piece; i++) {
			if ((int32_t)levels[i] == NOT_REACHED)
				visit(bfs, found, from, bfs->graph.column[cursor->next + i]);
		}
		cursor->next += piece;
		levels += piece;
		count -= piece;
	}
}

static int consume_edges(struct bfs *bfs, struct found *found, unsigned int queue, struct cursor *cursor,
			 uint64_t count)
{
	uint32_t levels[STREAM_BATCH];

	while (count > 0) {
		uint64_t piece = stream_piece(count);
		int error = stream_words(bfs->run->maple, queue, levels, piece);

		if (error)
			return error;
		visit_fetched(bfs, found, cursor, levels, piece);
		count -= piece;
	}
	return 0;
}

static void visit_neighbours(struct bfs *bfs, struct found *found, uint32_t from)
{
	for (uint64_t j = bfs->graph.row_start[from]; j < bfs->graph.row_start[from + 1]; j++)
		visit(bfs, found, from, bfs->graph.column[j]);
}

/* The vertices that were found become the frontier. */
static void next_level(struct bfs *bfs)
{
	uint32_t *frontier = bfs->frontier;

	bfs->frontier = bfs->next;
	bfs->frontier_count = bfs->next_count;
	bfs->next = frontier;
	bfs->next_count = 0;
	bfs->depth++;
}

static int plain_level(struct bfs *bfs, struct found *found)
{
	for (uint64_t i = 0; i < bfs->frontier_count; i++)
		visit_neighbours(bfs, found, bfs->frontier[i]);
	return 0;
}

/* Packs up to a loop of neighbours into half `half` of the buffer and lets the device fetch their levels. */
static int start_loop(struct bfs *bfs, struct cursor *cursor, unsigned int half, uint64_t *count)
{
	uint32_t begin = half * LIMA_LOOP;

	*count = pack(bfs, cursor, bfs->packed + begin, LIMA_LOOP);
	if (*count == 0)
		return 0;
	return maple_lima_produce32(bfs->run->maple, 0, bfs->level, bfs->packed, begin, begin + (uint32_t)*count,
				    MAPLE_LLC);
}

static int lima_level(struct bfs *bfs, struct found *found)
{
	struct cursor packing = cursor_start(bfs, 0, bfs->frontier_count), visiting = packing;
	unsigned int half = 0;
	uint64_t count, following;
	int error = start_loop(bfs, &packing, 0, &count);

	while (!error && count > 0) {
		half = !half;
		/* That half's results were all consumed, so the device is done with it. */
		error = start_loop(bfs, &packing, half, &following);
		if (!error)
			error = consume_edges(bfs, found, 0, &visiting, count);
		count = following;
	}
	return error;
}

/* A speculative LIMA brings the levels of a vertex's neighbours into the LLC. */
static int prefetch_neighbours(const struct bfs *bfs, uint64_t at)
{
	uint64_t begin, end, origin;

	if (at >= bfs->frontier_count)
		return 0;
	begin = bfs->graph.row_start[bfs->frontier[at]];
	end = bfs->graph.row_start[bfs->frontier[at] + 1];
	origin = lima_origin(begin);
	return maple_lima(bfs->run->maple, 0, bfs->level, sizeof(*bfs->level), bfs->graph.column + origin,
			  (uint32_t)(begin - origin), (uint32_t)(end - origin));
}

static int prefetch_level(struct bfs *bfs, struct found *found)
{
	int error = 0;

	for (uint64_t i = 0; i < AHEAD && !error; i++)
		error = prefetch_neighbours(bfs, i);
	for (uint64_t i = 0; i < bfs->frontier_count && !error; i++) {
		error = prefetch_neighbours(bfs, i + AHEAD);
		visit_neighbours(bfs, found, bfs->frontier[i]);
	}
	return error;
}

static int run_levels(struct bfs *bfs, int (*expand)(struct bfs *bfs, struct found *found))
{
	struct found found = { .count = 0 };

	while (bfs->frontier_count > 0) {
		int error = expand(bfs, &found);

		if (error)
			return error;
		found_flush(bfs, &found);
		next_level(bfs);
	}
	return 0;
}

static int run_plain(void *state)
{
	return run_levels(state, plain_level);
}

static int run_lima(void *state)
{
	return run_levels(state, lima_level);
}

static int run_prefetch(void *state)
{
	return run_levels(state, prefetch_level);
}

static uint64_t block_end(const struct bfs *bfs, uint64_t block)
{
	uint64_t end = (block + 1) * BLOCK;

	return end < bfs->frontier_count ? end : bfs->frontier_count;
}

static int access_level(struct worker *worker, struct bfs *bfs)
{
	uint64_t blocks = (bfs->frontier_count + BLOCK - 1) / BLOCK;
	uint32_t neighbours[4 * STREAM_BATCH];

	for (uint64_t i = worker_block(worker, 0); i < blocks; i = worker_block(worker, i + 1)) {
		struct cursor cursor = cursor_start(bfs, i * BLOCK, block_end(bfs, i));
		uint64_t count;

		while ((count = pack(bfs, &cursor, neighbours, 4 * STREAM_BATCH)) > 0) {
			ssize_t sent = maple_produce_ptr32_batch(worker->maple, worker_queue(worker, i), bfs->level,
								 neighbours, count, MAPLE_LLC);

			if (sent < 0)
				return (int)sent;
		}
	}
	return 0;
}

static uint64_t count_edges(const struct bfs *bfs, uint64_t begin, uint64_t end)
{
	uint64_t count = 0;

	for (uint64_t i = begin; i < end; i++)
		count += bfs->graph.row_start[bfs->frontier[i] + 1] - bfs->graph.row_start[bfs->frontier[i]];
	return count;
}

static int execute_level(struct worker *worker, struct bfs *bfs)
{
	uint64_t blocks = (bfs->frontier_count + BLOCK - 1) / BLOCK;
	struct found found = { .count = 0 };

	for (uint64_t i = worker_block(worker, 0); i < blocks; i = worker_block(worker, i + 1)) {
		struct cursor cursor = cursor_start(bfs, i * BLOCK, block_end(bfs, i));
		int error = consume_edges(bfs, &found, worker_queue(worker, i), &cursor,
					  count_edges(bfs, i * BLOCK, block_end(bfs, i)));

		if (error)
			return error;
	}
	found_flush(bfs, &found);
	return 0;
}

static int work_levels(struct worker *worker, int (*work)(struct worker *worker, struct bfs *bfs))
{
	struct bfs *bfs = worker->context;

	while (bfs->frontier_count > 0) {
		int error = work(worker, bfs);

		if (error)
			return error;
		/* One thread swaps the frontiers while the others wait for it at the second barrier. */
		if (pthread_barrier_wait(&bfs->level_done) == PTHREAD_BARRIER_SERIAL_THREAD)
			next_level(bfs);
		pthread_barrier_wait(&bfs->level_done);
	}
	return 0;
}

static int access_thread(struct worker *worker)
{
	return work_levels(worker, access_level);
}

static int execute_thread(struct worker *worker)
{
	return work_levels(worker, execute_level);
}

static const struct forms forms = {
	.plain = run_plain,
	.access = access_thread,
	.execute = execute_thread,
	.lima = run_lima,
	.prefetch = run_prefetch,
	.lima_queues = 1,
};

static void start_search(struct bfs *bfs, uint32_t root)
{
	for (uint64_t v = 0; v < bfs->graph.rows; v++) {
		bfs->level[v] = NOT_REACHED;
		bfs->parent[v] = -1;
	}
	bfs->level[root] = 0;
	bfs->parent[root] = root;
	bfs->frontier[0] = root;
	bfs->frontier_count = 1;
	bfs->next_count = 0;
	bfs->depth = 0;
}

/* One search after the other, each verified outside the time that is taken. */
static int search_all(struct bfs *bfs, struct run *run)
{
	double seconds = 0, inverse_teps = 0;

	run->verified = true;
	for (unsigned int i = 0; i < bfs->root_count && run->verified; i++) {
		uint64_t edges = graph500_edges(&bfs->rules, bfs->roots[i]);
		int error;

		progress_show(run->label, i, bfs->root_count);
		start_search(bfs, bfs->roots[i]);
		error = forms_run(&forms, run, bfs);
		if (error)
			return error;
		seconds += run->seconds;
		inverse_teps += run->seconds / (double)edges;
		run->elements += 2 * edges;
		run->roots++;
		run->verified = graph500_validate(&bfs->rules, bfs->roots[i], bfs->level, bfs->parent,
						  &run->message);
	}
	run->seconds = seconds;
	run->teps = inverse_teps > 0 ? run->roots / inverse_teps : 0;
	return 0;
}

static int bfs_run(void *state, struct run *run)
{
	unsigned int threads = run->options->access_threads + run->options->execute_threads;
	struct bfs *bfs = state;
	int error;

	bfs->run = run;
	if (run->form == MAPLE_LIMA) {
		bfs->packed = maple_alloc(run->maple, 2 * LIMA_LOOP * sizeof(*bfs->packed));
		if (!bfs->packed)
			return message_set(&run->message, -errno, "no memory for the neighbours: %s",
					   maple_error_text());
	}
	pthread_barrier_init(&bfs->level_done, NULL, threads);
	error = search_all(bfs, run);
	pthread_barrier_destroy(&bfs->level_done);
	if (run->form == MAPLE_LIMA)
		maple_free(run->maple, bfs->packed);
	return error;
}

static void bfs_destroy(void *state)
{
	struct bfs *bfs = state;

	array_free(bfs->level, bfs->graph.rows, sizeof(*bfs->level));
	array_free(bfs->parent, bfs->graph.rows, sizeof(*bfs->parent));
	free(bfs->frontier);
	free(bfs->next);
	free(bfs->roots);
	graph500_free(&bfs->rules);
	csr_free(&bfs->graph);
	free(bfs);
}

static int create_arrays(struct bfs *bfs, const struct options *options)
{
	uint64_t vertices = bfs->graph.rows;

	bfs->level = array_alloc(vertices, sizeof(*bfs->level));
	bfs->parent = array_alloc(vertices, sizeof(*bfs->parent));
	bfs->frontier = calloc(vertices + 1, sizeof(*bfs->frontier));
	bfs->next = calloc(vertices + 1, sizeof(*bfs->next));
	bfs->roots = calloc(options->roots, sizeof(*bfs->roots));
	if (!bfs->level || !bfs->parent || !bfs->frontier || !bfs->next || !bfs->roots)
		return -ENOMEM;
	return graph500_init(&bfs->rules, &bfs->graph);
}

static void *bfs_create(const struct csr *matrix, const struct options *options, struct message *message)
{
	struct bfs *bfs;

	if (matrix->rows != matrix->columns) {
		message_set(message, -EINVAL, "a graph needs a square matrix; this one is %" PRIu64 " by %" PRIu64,
			    matrix->rows, matrix->columns);
		return NULL;
	}
	bfs = calloc(1, sizeof(*bfs));
	if (!bfs || csr_graph(&bfs->graph, matrix) || create_arrays(bfs, options)) {
		message_set(message, -ENOMEM, "out of memory for the graph");
		goto failed;
	}
	bfs->root_count = graph500_roots(&bfs->graph, options->roots, options->common.input.seed, bfs->roots);
	if (bfs->root_count == 0) {
		message_set(message, -EINVAL, "the graph has no edge to search along");
		goto failed;
	}
	return bfs;

failed:
	if (bfs)
		bfs_destroy(bfs);
	return NULL;
}

static unsigned int bfs_regions(void *state, struct region *regions)
{
	struct bfs *bfs = state;

	regions[0] = (struct region){ "the neighbours", bfs->graph.column,
				      bfs->graph.nonzeros * sizeof(*bfs->graph.column) };
	regions[1] = (struct region){ "the levels", bfs->level, bfs->graph.rows * sizeof(*bfs->level) };
	return 2;
}

int main(int argc, char **argv)
{
	static const struct kernel kernel = {
		.name = "bfs",
		.summary = "Searches a graph breadth first from 64 roots, as Graph500 does.",
		.unit = "edges looked at",
		.create = bfs_create,
		.destroy = bfs_destroy,
		.regions = bfs_regions,
		.run = bfs_run,
	};

	return kernel_main(&kernel, argc, argv);
}
