/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Blocks of a sparse matrix as the kernels see them. */
#ifndef DARE_BLOCKS_H
#define DARE_BLOCKS_H

#include <stdbool.h>

#include "dare.h"
#include "mimic/dare_isa.h"

/* Blocks of a block column follow each other, from top to bottom. */
struct dare_blocks {
	size_t rows;
	size_t columns;
	unsigned int block;
	size_t block_columns;
	uint64_t *start;		/* block_columns + 1 */
	uint32_t *row;			/* block row of each block */
	uint64_t *position;		/* of each element of the matrix, in its order: its place in the blocks' elements */
	struct dare_block_statistics statistics;
};

/* Some blocks of a block column that make one tile. */
struct dare_tile {
	uint64_t block;			/* the first one */
	unsigned int blocks;
	unsigned int rows;		/* rows of the tile; the matrix may end within the last block */
	uint64_t row;			/* of the matrix, that the tile's first row is in */
	uint64_t step;			/* from one row to the next; of runs only */
};

/* The tile that begins with `block`; `end` is where its block column ends. */
void dare_tile_run(const struct dare_blocks *blocks, uint64_t block, uint64_t end, struct dare_tile *tile);
void dare_tile_group(const struct dare_blocks *blocks, uint64_t block, uint64_t end, struct dare_tile *tile);

/* Row of the matrix that row `i` of the tile is in. */
static inline uint64_t dare_tile_row(const struct dare_blocks *blocks, const struct dare_tile *tile, unsigned int i)
{
	unsigned int size = blocks->block;

	return (uint64_t)blocks->row[tile->block + i / size] * size + i % size;
}

static inline uint64_t dare_blocks_elements(const struct dare_blocks *blocks)
{
	return blocks->statistics.blocks * blocks->block * blocks->block;
}

#endif
