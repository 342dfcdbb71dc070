/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Breadth-first search, one level at a time. level[neighbour[k]] is the
 * irregular access.
 *
 * Where the device fetches levels into a queue, nothing writes level[] until
 * the last fetch of the level is consumed: fetched words are not
 * kept coherent (paper, section 3.6). Meanwhile a bitmap has the vertices that were found.
 */
#include <stdlib.h>
#include <string.h>

#include "lane.h"

#define NOT_REACHED (-1)
#define SLOT 4096		/* edges of one LIMA loop */
#define SLOTS 2			/* one is filled while the other is consumed */
#define PREFETCH_PIECE 1024	/* edges of one prefetching loop; divides SLOT */
#define AHEAD 1024		/* edges at least between a prefetch and its use */

struct search {
	const uint64_t *row_start;
	const uint32_t *neighbour;
	size_t vertices;
	int32_t *level;
	int64_t *parent;
	int32_t depth;
	uint32_t *frontier;
	size_t frontier_count;
	uint32_t *next;
	size_t next_count;
	uint64_t *found;		/* one bit a vertex; not of the plain form */
	bool is_bad;			/* bad_edge names no vertex */
	uint64_t bad_edge;

	struct maple_lane lane;
	uint32_t *slots;		/* neighbours of the frontier, packed for LIMA */
	/* the next edge of the frontier that goes to the device; the access thread's if there is one */
	size_t pack_vertex;
	uint64_t pack_edge;
	/* edges of this level that went into slots, and those of them that were consumed */
	uint64_t packed;
	uint64_t consumed;
};

static void bad_edge(struct search *s, uint64_t edge)
{
	s->is_bad = true;
	s->bad_edge = edge;
}

static int finish_level(struct search *s)
{
	uint32_t *frontier = s->frontier;

	if (s->is_bad)
		return maple_error(-EINVAL, "neighbour[%llu] is %u, and there are %zu vertices",
				   (unsigned long long)s->bad_edge, s->neighbour[s->bad_edge],
				   s->vertices);
	if (s->depth == INT32_MAX)
		return maple_error(-EOVERFLOW, "more than 2^31 - 1 levels");
	s->depth++;
	s->frontier = s->next;
	s->frontier_count = s->next_count;
	s->next = frontier;
	s->next_count = 0;
	return 0;
}

static void visit(struct search *s, uint32_t u, uint64_t edge)
{
	uint32_t v = s->neighbour[edge];

	if (unlikely(v >= s->vertices)) {
		bad_edge(s, edge);
		return;
	}
	if (s->level[v] != NOT_REACHED)
		return;
	s->level[v] = s->depth + 1;
	if (s->parent)
		s->parent[v] = u;
	s->next[s->next_count++] = v;
}

static void expand_vertex(struct search *s, uint32_t u)
{
	for (uint64_t k = s->row_start[u]; k < s->row_start[u + 1ull]; k++)
		visit(s, u, k);
}

static int search_plain(struct search *s)
{
	int error = 0;

	while (s->frontier_count > 0 && !error) {
		for (size_t i = 0; i < s->frontier_count; i++)
			expand_vertex(s, s->frontier[i]);
		error = finish_level(s);
	}
	return error;
}

/* A fetched level of -1 is the value from the begin of this level of the search. */
static void visit_fetched(struct search *s, uint32_t u, uint64_t edge, uint32_t fetched)
{
	uint32_t v = s->neighbour[edge];
	uint64_t bit = 1ull << (v % 64);

	if (unlikely(v >= s->vertices)) {
		bad_edge(s, edge);
		return;
	}
	if (fetched != (uint32_t)NOT_REACHED || (s->found[v / 64] & bit))
		return;
	s->found[v / 64] |= bit;
	if (s->parent)
		s->parent[v] = u;
	s->next[s->next_count++] = v;
}

static uint64_t frontier_edges(const struct search *s)
{
	uint64_t edges = 0;

	for (size_t i = 0; i < s->frontier_count; i++)
		edges += s->row_start[s->frontier[i] + 1ull] - s->row_start[s->frontier[i]];
	return edges;
}

static void start_packing(struct search *s)
{
	s->pack_vertex = 0;
	s->pack_edge = s->frontier_count > 0 ? s->row_start[s->frontier[0]] : 0;
	s->packed = 0;
	s->consumed = 0;
}

/* The next neighbours of the frontier, up to `room`; 0: no more. */
static size_t pack_edges(struct search *s, uint32_t *indices, size_t room)
{
	size_t count = 0;

	while (s->pack_vertex < s->frontier_count) {
		uint64_t end = s->row_start[s->frontier[s->pack_vertex] + 1ull];
		uint64_t piece = end - s->pack_edge;

		piece = piece < room - count ? piece : room - count;
		memcpy(indices + count, s->neighbour + s->pack_edge, piece * sizeof(*indices));
		count += piece;
		s->pack_edge += piece;
		if (s->pack_edge < end)
			break;
		if (++s->pack_vertex < s->frontier_count)
			s->pack_edge = s->row_start[s->frontier[s->pack_vertex]];
	}
	return count;
}

/*
 * As figure 4 of the paper, but for pieces of the frontier's neighbours instead
 * of single vertices, whose ranges are short.
 */
static int prefetch_ahead(struct search *s, uint64_t walked)
{
	struct maple_lane *lane = &s->lane;
	int error = 0;

	while (s->packed < walked + AHEAD && !error) {
		uint32_t begin = s->packed % (SLOTS * SLOT);
		size_t count = pack_edges(s, s->slots + begin, PREFETCH_PIECE);

		if (count == 0)
			break;
		s->packed += count;
		error = maple_lima(lane->maple, lane->queue, s->level, sizeof(*s->level), s->slots,
				   begin, begin + (uint32_t)count);
	}
	return error;
}

static int prefetch_level(struct search *s)
{
	uint64_t walked = 0;
	int error = 0;

	start_packing(s);
	for (size_t i = 0; i < s->frontier_count && !error; i++) {
		uint32_t u = s->frontier[i];

		walked += s->row_start[u + 1ull] - s->row_start[u];
		error = prefetch_ahead(s, walked);
		expand_vertex(s, u);
	}
	return error ? error : finish_level(s);
}

static int search_prefetch(struct search *s, struct maple *maple)
{
	int error = maple_lane_open(&s->lane, maple, false);

	if (error)
		return error;
	while (s->frontier_count > 0 && !error)
		error = prefetch_level(s);
	return maple_lane_close(&s->lane, error);
}

/* The access thread's part of a level: it walks the frontier on its own. */
static int feed_level(struct maple_lane *lane, void *argument)
{
	struct search *s = argument;
	uint64_t before = maple_lane_produced(lane);
	uint32_t indices[MAPLE_BLOCK];
	size_t count;
	ssize_t done;

	while ((count = pack_edges(s, indices, MAPLE_BLOCK)) > 0) {
		/* Coherent: the execute thread wrote levels not long ago. */
		done = maple_produce_ptr32_batch(lane->maple, lane->queue, s->level, indices, count,
						 MAPLE_LLC);
		if (done < 0)
			return maple_lane_fill(lane, frontier_edges(s) -
					       (maple_lane_produced(lane) - before), (int)done);
	}
	return 0;
}

/*
 * LIMA takes ranges of B. Those of single vertices are short, so neighbours are
 * packed into slots and a loop is pushed for each; two loops are outstanding at
 * most, which every profile has room for. A slot is free again when all of it
 * was consumed.
 */
static int push_slots(struct search *s)
{
	struct maple_lane *lane = &s->lane;
	int error;

	while (s->packed - s->consumed <= (SLOTS - 1) * SLOT) {
		uint32_t *slot = s->slots + s->packed / SLOT % SLOTS * SLOT;
		size_t count = pack_edges(s, slot, SLOT);

		if (count == 0)
			return 0;
		error = maple_lima_produce32(lane->maple, lane->queue, s->level, slot, 0,
					     (uint32_t)count, MAPLE_LLC);
		if (error)
			return error;
		s->packed += count;
	}
	return 0;
}

_Static_assert(MAPLE_BLOCK <= SLOT, "a block waits for no more than was pushed");

/* The next `count` fetched levels. */
static int consume_block(struct search *s, uint32_t *fetched, size_t count)
{
	ssize_t got;
	int error;

	if (!s->lane.is_decoupled) {
		error = push_slots(s);
		if (error)
			return error;
	}
	got = maple_consume32_batch(s->lane.maple, s->lane.queue, fetched, count);
	if (got < 0)
		return (int)got;
	s->consumed += count;
	return 0;
}

static int consume_level(struct search *s, uint64_t edges)
{
	uint32_t fetched[MAPLE_BLOCK];
	size_t count = 0, at = 0;
	int error;

	for (size_t i = 0; i < s->frontier_count; i++) {
		uint32_t u = s->frontier[i];

		for (uint64_t k = s->row_start[u]; k < s->row_start[u + 1ull]; k++) {
			if (at == count) {
				count = edges < MAPLE_BLOCK ? edges : MAPLE_BLOCK;
				error = consume_block(s, fetched, count);
				if (error)
					return error;
				edges -= count;
				at = 0;
			}
			visit_fetched(s, u, k, fetched[at++]);
		}
	}
	return 0;
}

static int gather_level(struct search *s)
{
	uint64_t edges = frontier_edges(s);
	int error = 0, access_error = 0;

	start_packing(s);
	if (edges > 0) {
		if (s->lane.is_decoupled)
			maple_lane_feed(&s->lane, feed_level, s);
		error = consume_level(s, edges);
		if (s->lane.is_decoupled)
			access_error = maple_lane_wait(&s->lane);
	}
	if (access_error || error)
		return access_error ? access_error : error;
	for (size_t i = 0; i < s->next_count; i++)
		s->level[s->next[i]] = s->depth + 1;
	return finish_level(s);
}

static int search_gathering(struct search *s, struct maple *maple, bool is_decoupled)
{
	int error = maple_lane_open(&s->lane, maple, is_decoupled);

	if (error)
		return error;
	while (s->frontier_count > 0 && !error)
		error = gather_level(s);
	return maple_lane_close(&s->lane, error);
}

static int check_arguments(const struct search *s, enum maple_form form, uint32_t root)
{
	if (form != MAPLE_PLAIN && form != MAPLE_DECOUPLED && form != MAPLE_LIMA &&
	    form != MAPLE_PREFETCH)
		return maple_error(-EINVAL, "form %d: not one of plain, decoupled, LIMA, prefetch",
				   (int)form);
	if (!s->row_start || !s->level)
		return maple_error(-EINVAL, "maple_bfs_csr: row_start or level is NULL");
	if (s->vertices > 1ull << 32)
		return maple_error(-EINVAL, "%zu vertices: numbers have 32 bits", s->vertices);
	if (root >= s->vertices)
		return maple_error(-EINVAL, "root %u: there are %zu vertices", root, s->vertices);
	if (s->row_start[s->vertices] > s->row_start[0] && !s->neighbour)
		return maple_error(-EINVAL, "maple_bfs_csr: neighbour is NULL");
	return maple_check_rows(s->vertices, s->row_start);
}

static int allocate(struct search *s, struct maple *maple, enum maple_form form)
{
	bool gathers = form == MAPLE_LIMA || form == MAPLE_DECOUPLED;

	s->frontier = malloc(s->vertices * sizeof(*s->frontier));
	s->next = malloc(s->vertices * sizeof(*s->next));
	if (gathers)
		s->found = calloc(s->vertices / 64 + 1, sizeof(*s->found));
	if (!s->frontier || !s->next || (gathers && !s->found))
		return maple_error(-ENOMEM, "no memory to search %zu vertices", s->vertices);
	if (form != MAPLE_LIMA && form != MAPLE_PREFETCH)
		return 0;
	if (!maple)
		return maple_error(-EINVAL, "the handle is NULL");
	s->slots = maple_alloc(maple, SLOTS * SLOT * sizeof(*s->slots));
	return s->slots ? 0 : -errno;
}

static void start_search(struct search *s, uint32_t root)
{
	for (size_t v = 0; v < s->vertices; v++)
		s->level[v] = NOT_REACHED;
	if (s->parent) {
		for (size_t v = 0; v < s->vertices; v++)
			s->parent[v] = -1;
		s->parent[root] = root;
	}
	s->level[root] = 0;
	if (s->found)
		s->found[root / 64] |= 1ull << (root % 64);
	s->frontier[0] = root;
	s->frontier_count = 1;
}

static int search(struct search *s, struct maple *maple, enum maple_form form)
{
	switch (form) {
	case MAPLE_DECOUPLED:
		return search_gathering(s, maple, true);
	case MAPLE_LIMA:
		return search_gathering(s, maple, false);
	case MAPLE_PREFETCH:
		return search_prefetch(s, maple);
	default:
		return search_plain(s);
	}
}

int maple_bfs_csr(struct maple *maple, enum maple_form form, size_t vertices,
		  const uint64_t *row_start, const uint32_t *neighbour, uint32_t root,
		  int32_t *level, int64_t *parent)
{
	struct search s = {
		.row_start = row_start, .neighbour = neighbour, .vertices = vertices,
		.level = level, .parent = parent,
	};
	int error;

	error = check_arguments(&s, form, root);
	if (error)
		return error;
	error = allocate(&s, maple, form);
	if (!error) {
		start_search(&s, root);
		error = search(&s, maple, form);
	}
	if (s.slots)
		maple_free(maple, s.slots);
	free(s.frontier);
	free(s.next);
	free(s.found);
	return error;
}
