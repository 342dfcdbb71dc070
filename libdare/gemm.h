/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dense products: the matrices are cut into blocks, a block of A and one of B are
 * packed into tiles of 1 KB, and the device multiplies the tiles.
 */
#ifndef DARE_GEMM_H
#define DARE_GEMM_H

#include "internal.h"

/*
 * Tiles of a block in m and in n, and its pieces of 64 bytes in k. A's part is read once for every two
 * columns of tiles: 512 KB, which stay in a cache of 1 MB beside 256 KB of B. Deep blocks, because each one loads
 * and stores the sums.
 */
#define DARE_BLOCK_TILES_M 4
#define DARE_BLOCK_TILES_N 32
#define DARE_BLOCK_CHUNKS 128

/* A or B: `rows` rows of k elements each, for mma wants both that way. */
struct dare_operand {
	const char *elements;
	size_t leading;		/* elements from a stored row to the next */
	unsigned int element;	/* bytes: 4, 2 or 1 */
	bool is_transposed;	/* stored as k rows */
};

/* A part of an operand or of C: rows from `row`, k or columns from `column`. */
struct dare_part {
	size_t row, column;
	size_t rows, columns;
};

/* Tile `row` / 16, chunk 0 of the operand's part; the chunks of a tile follow each other. */
static inline char *dare_packed_tile(char *tiles, size_t chunks, size_t tile)
{
	return tiles + tile * chunks * DARE_REGISTER_BYTES;
}

/* Copies a part of the operand into tiles. Elements outside the matrix are not written. */
void dare_pack(char *tiles, const struct dare_operand *operand, const struct dare_part *part);

/* C's elements have 4 bytes; `tiles` go row by row. */
void dare_pack_sums(char *tiles, const char *c, size_t leading, const struct dare_part *part);
void dare_unpack_sums(const char *tiles, char *c, size_t leading, const struct dare_part *part);

static inline size_t dare_pieces(size_t size, size_t piece)
{
	return size / piece + (size % piece != 0);
}

static inline size_t dare_smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

#endif
