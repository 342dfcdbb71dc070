/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The loops of the paper's kernels, element by element, for `mimic sim`.
 * Each function is the work of one thread on the rows from `begin` to `end`.
 *
 *	doall		every thread does its share of the rows
 *	prefetch	the same, with software prefetches into the L1
 *	access/execute	decoupled: one thread hands pointers to MAPLE, one consumes
 *	push/pop	decoupled through a queue in shared memory
 *	supply/compute	decoupled as DeSC slices it, where that differs
 *	lima		MAPLE walks the indices of a row by itself
 *
 * These files hold nothing but loops. Instructions of a loop are charged by its
 * source lines (sim/costs), so a loop's bounds are loaded on lines of their own.
 */
#ifndef EXAMPLES_LOOPS_H
#define EXAMPLES_LOOPS_H

#include <stdint.h>

#include "examples/maple/loops/shared_queue.h"

struct maple;

/*
 * Elements that a software prefetch runs ahead: 300 cycles of DRAM behind 20 cycles
 * and more of an element. Arrays of indices are this much longer than they hold.
 */
#define PREFETCH_DISTANCE 16
/* The same in rows, where a prefetch has to know its row. */
#define PREFETCH_ROWS 2
/* Rows that LIMA runs ahead. */
#define LIMA_DISTANCE 16

/* Compressed rows with 32-bit positions, as in the artifact. */
struct pattern {
	uint32_t rows, columns;
	const uint32_t *start;		/* rows + 1, and PREFETCH_ROWS empty ones behind them */
	const uint32_t *column;
};

/* y = A x, 64-bit values */
struct spmv_loop {
	struct pattern a;
	const uint64_t *value, *x;
	uint64_t *y;
};
void spmv_doall(const struct spmv_loop *loop, uint32_t begin, uint32_t end);
void spmv_prefetch(const struct spmv_loop *loop, uint32_t begin, uint32_t end);
void spmv_access(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);
void spmv_execute(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);
void spmv_push(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared);
void spmv_pop(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared);
void spmv_lima(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);

/* result[j] = value[j] * dense[row * columns + column[j]], 32-bit values */
struct sdhp_loop {
	struct pattern a;
	const uint32_t *value, *dense;
	uint32_t *result;
};
void sdhp_doall(const struct sdhp_loop *loop, uint32_t begin, uint32_t end);
void sdhp_prefetch(const struct sdhp_loop *loop, uint32_t begin, uint32_t end);
void sdhp_access(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);
void sdhp_execute(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);
void sdhp_push(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared);
void sdhp_pop(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared);
void sdhp_lima(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);

/*
 * One pull level of a breadth-first search: found[v] = 1 for each vertex v without a
 * level that has a neighbour of level `current`. It looks at all neighbours, as a
 * push from the frontier would: an edge reads the same data.
 */
struct bfs_loop {
	struct pattern a;
	const uint32_t *level;
	uint32_t *found;
	uint32_t current;
};
#define BFS_NO_LEVEL UINT32_MAX
void bfs_doall(const struct bfs_loop *loop, uint32_t begin, uint32_t end);
void bfs_prefetch(const struct bfs_loop *loop, uint32_t begin, uint32_t end);
void bfs_access(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);
void bfs_execute(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);
void bfs_push(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared);
void bfs_pop(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared);
void bfs_lima(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue);
/* DeSC: only the Supply side stores, and waits for the Compute side's result of each edge. */
void bfs_supply(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue,
		unsigned int back);
void bfs_compute(const struct bfs_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue,
		 unsigned int back);
/* `level` is the loop's; the next level is current + 1. */
void bfs_merge(const struct bfs_loop *loop, uint32_t *level, uint32_t begin, uint32_t end);

/*
 * C = A B, 64-bit values: a row of C is summed up in `sum`, which is dense and the
 * thread's own, then gathered. Sums are never 0 where there is a product.
 */
struct spmm_loop {
	struct pattern a, b;
	const uint64_t *a_value, *b_value;
	const uint64_t *extent;		/* of B's rows: start in the low half, end in the high one */
	const uint32_t *room;		/* where row i of C may begin: rows + 1 */
	uint32_t *c_count, *c_column;
	uint64_t *c_value;
};
void spmm_doall(const struct spmm_loop *loop, uint32_t begin, uint32_t end, uint64_t *sum);
void spmm_prefetch(const struct spmm_loop *loop, uint32_t begin, uint32_t end, uint64_t *sum);
void spmm_lima(const struct spmm_loop *loop, uint32_t begin, uint32_t end, uint64_t *sum, struct maple *maple,
	       unsigned int queue);
void spmm_supply(const struct spmm_loop *loop, uint32_t begin, uint32_t end, uint64_t *sum, struct maple *maple,
		 unsigned int queue, unsigned int back);
void spmm_compute(const struct spmm_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue,
		  unsigned int back);

#endif
