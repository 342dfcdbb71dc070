/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Breadth-first search, one pull level; irregular is level[column[j]]. */
#include "examples/maple/loops/loops.h"
#include "examples/maple/loops/operations.h"

void bfs_doall(const struct bfs_loop *loop, uint32_t begin, uint32_t end)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *level = loop->level;
	uint32_t *found = loop->found, current = loop->current;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];
		uint32_t is_found = 0;

		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++)
			if (__builtin_expect(level[column[j]] == current, 0))
				is_found = 1;
		found[vertex] = is_found;
	}
}

void bfs_prefetch(const struct bfs_loop *loop, uint32_t begin, uint32_t end)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *level = loop->level;
	const uint32_t *ahead = column + PREFETCH_DISTANCE;
	uint32_t *found = loop->found, current = loop->current;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];
		uint32_t is_found = 0;

		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++) {
			__builtin_prefetch(&level[ahead[j]]);
			if (__builtin_expect(level[column[j]] == current, 0))
				is_found = 1;
		}
		found[vertex] = is_found;
	}
}

/* Both threads look at level[vertex], in order; only the levels of neighbours are irregular. */
void bfs_access(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *level = loop->level;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];

		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++)
			produce_pointer32(maple, queue, &level[column[j]]);
	}
}

void bfs_execute(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *start = loop->a.start, *level = loop->level;
	uint32_t *found = loop->found, current = loop->current;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];
		uint32_t is_found = 0;

		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++)
			if (__builtin_expect(consume32(maple, queue) == current, 0))
				is_found = 1;
		found[vertex] = is_found;
	}
}

void bfs_push(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *level = loop->level;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];

		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++)
			shared_queue_push(shared, level[column[j]]);
	}
}

void bfs_pop(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared)
{
	const uint32_t *start = loop->a.start, *level = loop->level;
	uint32_t *found = loop->found, current = loop->current;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];
		uint32_t is_found = 0;

		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++)
			if (__builtin_expect(shared_queue_pop(shared) == current, 0))
				is_found = 1;
		found[vertex] = is_found;
	}
}

void bfs_lima(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *level = loop->level;
	uint32_t *found = loop->found, current = loop->current, ahead = begin;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];
		uint32_t is_found = 0;

		for (; ahead < end && ahead <= vertex + LIMA_DISTANCE; ahead++) {
			if (level[ahead] == BFS_NO_LEVEL)
				lima_produce32(maple, queue, level, column, start[ahead], start[ahead + 1]);
		}
		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++)
			if (__builtin_expect(consume32(maple, queue) == current, 0))
				is_found = 1;
		found[vertex] = is_found;
	}
}

void bfs_supply(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue,
		unsigned int back)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *level = loop->level;
	uint32_t *found = loop->found;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];
		uint32_t is_found = 0;

		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++) {
			produce_pointer32(maple, queue, &level[column[j]]);
			is_found |= consume32(maple, back);
		}
		found[vertex] = is_found;
	}
}

/* It sees no memory but its own: how many edges there are is the same for both. */
void bfs_compute(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue,
		 unsigned int back)
{
	const uint32_t *start = loop->a.start, *level = loop->level;
	uint32_t current = loop->current;

	for (uint32_t vertex = begin; vertex < end; vertex++) {
		uint32_t j = start[vertex];
		uint32_t row_end = start[vertex + 1];

		if (level[vertex] != BFS_NO_LEVEL)
			continue;
		for (; j < row_end; j++)
			produce32(maple, back, consume32(maple, queue) == current);
	}
}

/* The vertices that a level has found get its number. All threads do it, each for its part, when all have searched. */
void bfs_merge(const struct bfs_loop *loop, uint32_t *level, uint32_t begin, uint32_t end)
{
	const uint32_t *found = loop->found;
	uint32_t next = loop->current + 1;

	for (uint32_t vertex = begin; vertex < end; vertex++)
		if (found[vertex] && level[vertex] == BFS_NO_LEVEL)
			level[vertex] = next;
}
