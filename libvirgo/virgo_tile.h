/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Operations on whole tiles (section 4.3). Part of virgo.h. Each function is one
 * LOOP_WS and its configuration; configuration that the unit already has is not
 * sent again. All are asynchronous.
 *
 *	load A and B of the next tile, multiply this one, ... , store the sums
 *
 * A unit does its commands in order, so that a function of this page sees the results
 * of those before it. While it works, the program may use other parts of the shared
 * memory: two places for A and B are the paper's double buffering.
 *
 * A tile in shared memory is blocks of DIM x DIM, DIM rows each, one behind the other:
 * first the blocks of its first DIM rows, from left to right, then those of the next.
 * A transposed operand lies there as it is in memory. Elements beyond the last row
 * or column of the matrix, in the last blocks, are not written and not used.
 *
 * A program that sends single commands, too, has to configure the unit anew after
 * these functions, and leaves no VIRGO_LOOP_NEXT_ACCUMULATOR in effect before them.
 */
#ifndef VIRGO_TILE_H
#define VIRGO_TILE_H

#include "virgo.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Sizes of C (m x n) = A (m x k) x B (k x n), and where A and B lie in shared memory. */
struct virgo_tile {
	size_t m, n, k;		/* elements, at least 1 */
	uint32_t a_row;		/* first row of A */
	uint32_t b_end;		/* the row behind the last one of B */
};

/**
 * virgo_tile_rows() - tells how many rows of shared memory a matrix takes
 * @virgo: the handle
 * @unit: its number
 * @rows: of the matrix
 * @columns: of the matrix
 *
 * In whole blocks: 0 if either is 0. C takes as many rows of the accumulator.
 *
 * Returns the number of rows; 0, too, if there is no such unit.
 *
 * See also: virgo_tile_element().
 */
size_t virgo_tile_rows(const struct virgo *virgo, unsigned int unit, size_t rows, size_t columns);

/**
 * virgo_tile_element() - finds an element of a tile in shared memory
 * @virgo: the handle
 * @unit: its number
 * @local: first row of the tile
 * @columns: of the matrix
 * @row: of the element
 * @column: of the element
 *
 * The rest of the row's block, up to DIM elements, lies behind it.
 *
 * Returns its address; NULL if there is no such unit, or it is not in shared memory.
 *
 * See also: virgo_store_shared(), virgo_shared().
 */
void *virgo_tile_element(const struct virgo *virgo, unsigned int unit, uint32_t local,
			 size_t columns, size_t row, size_t column);

/**
 * virgo_dma_load() - moves A and B from memory to shared memory
 * @virgo: the handle
 * @unit: its number
 * @flags: VIRGO_TRANSPOSE_A, VIRGO_TRANSPOSE_B
 * @tile: sizes and places
 * @a: A, row by row; NULL leaves it out
 * @lda: elements from a row of A, as it is stored, to the next
 * @b: B, row by row; NULL leaves it out
 * @ldb: elements from a row of B, as it is stored, to the next
 *
 * Section 3.2.2. Nothing outside of the matrices is read.
 *
 * Returns 0, or
 * -EINVAL: the tile is NULL, a size is 0, the tile does not fit into shared memory or
 *          the accumulator, another flag, both matrices are NULL, or one is larger than
 *          memory
 *
 * See also: virgo_matmul_tile(), virgo_dma_store().
 */
int virgo_dma_load(struct virgo *virgo, unsigned int unit, unsigned int flags,
		   const struct virgo_tile *tile, const void *a, size_t lda, const void *b,
		   size_t ldb);

/**
 * virgo_dma_load_sums() - moves sums from memory to the accumulator
 * @virgo: the handle
 * @unit: its number
 * @tile: sizes; places and k are not used
 * @d: m rows of n int32 (int8) or fp32
 * @ldd: elements from a row to the next; 0 repeats one row, such as a bias
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, a size is 0, it does not fit into the accumulator, or the
 *          matrix is larger than memory
 *
 * See also: virgo_matmul_tile().
 */
int virgo_dma_load_sums(struct virgo *virgo, unsigned int unit, const struct virgo_tile *tile,
			const void *d, size_t ldd);

/**
 * virgo_matmul_tile() - multiplies A and B in shared memory
 * @virgo: the handle
 * @unit: its number
 * @flags: VIRGO_TRANSPOSE_A, VIRGO_TRANSPOSE_B, VIRGO_ADD
 * @tile: sizes and places
 *
 * Sums go to the accumulator from its first row on, or are added to it with VIRGO_ADD.
 * Section 3.1.
 *
 * Returns 0, or
 * -EINVAL: the tile is NULL, a size is 0, the tile does not fit, or another flag
 *
 * See also: virgo_dma_load(), virgo_dma_store(), virgo_store_shared().
 */
int virgo_matmul_tile(struct virgo *virgo, unsigned int unit, unsigned int flags,
		      const struct virgo_tile *tile);

/**
 * virgo_dma_store() - moves sums to memory
 * @virgo: the handle
 * @unit: its number
 * @flags: VIRGO_NARROW, or 0
 * @tile: sizes; places and k are not used
 * @c: C, row by row
 * @ldc: elements from a row of C to the next
 * @activation: VIRGO_NO_ACTIVATION or VIRGO_RELU
 * @scale: factor of the sums
 *
 * With VIRGO_NARROW C has elements of the unit's type, rounded once, and saturated
 * (int8). Else it has the sums, int32 or fp32; then int8 and fp16 units have no
 * activation, and a scale of 1.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, a size is 0, it does not fit into the accumulator,
 *          another flag, a row of C is 4 GiB or longer, rows of C overlap, an activation or a
 *          scale that sums cannot have, or a NaN that stands for the scale that is there
 *
 * See also: virgo_store_shared(), virgo_matmul_tile().
 */
int virgo_dma_store(struct virgo *virgo, unsigned int unit, unsigned int flags,
		    const struct virgo_tile *tile, void *c, size_t ldc,
		    enum virgo_activation activation, float scale);

/**
 * virgo_store_shared() - moves sums to shared memory
 * @virgo: the handle
 * @unit: its number
 * @tile: sizes; places and k are not used
 * @row: first row in shared memory
 * @activation: VIRGO_NO_ACTIVATION or VIRGO_RELU
 * @scale: factor of the sums
 *
 * As elements of the unit's type, where the program works on them, as the paper's
 * fused kernel does (section 6.2).
 *
 * Returns 0, or
 * -EINVAL: the tile is NULL, a size is 0, it does not fit, another activation, or a NaN
 *          that stands for the scale that is there
 *
 * See also: virgo_tile_element(), virgo_dma_store().
 */
int virgo_store_shared(struct virgo *virgo, unsigned int unit, const struct virgo_tile *tile,
		       uint32_t row, enum virgo_activation activation, float scale);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
