/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The instruction streams of the DARE paper's kernels as we read them; the paper shows none
 * (docs/examples.md, "The streams"). Common to all:
 *
 * - Nothing is kept in a register from one tile to the next: each tile loads all of its operands. (libdare's
 *   own kernels keep the dense operand, and are faster.)
 * - Tiles take turns between two sets of registers, so that the loads of a tile need not wait for the mma of
 *   the one before.
 * - The result of a tile is stored behind the loads of the next tile, in front of its mma. In program order
 *   these loads come first, so they must not touch rows that are still to be stored. Where they do, the store comes first.
 * - plain: a tile is one block, or several that follow each other from top to bottom without a gap, up to 16 rows.
 *   gsa: a tile is any blocks of a block column, up to 16 rows. Their addresses are vectors in memory, ready
 *   before the kernel begins: the paper leaves them to a thread of their own (section III-B).
 *
 * struct stream_code has the other choices.
 */
#ifndef EXAMPLES_DARE_STREAMS_H
#define EXAMPLES_DARE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/dare/streams/stream.h"
#include "libdare/blocks.h"

/* Which blocks a plain tile takes together. */
enum stream_merge {
	STREAM_MERGE_CONSECUTIVE,
	STREAM_MERGE_NONE,	/* a tile is one block */
	STREAM_MERGE_EQUAL,	/* with B = 1 also rows at equal distances, as libdare: mld has a stride */
};

/* Choices that the paper leaves open, and that differ from those above. Not for 2x2, whose tiles take all registers. */
struct stream_code {
	enum stream_merge merge;
	bool stores_at_once;	/* behind a tile's last mma */
	bool has_one_set;	/* of registers. So stores come at once: the next tile loads their rows */
};

static inline bool stream_stores_at_once(const struct stream_code *code)
{
	return code->stores_at_once || code->has_one_set;
}

/* --- tiles.c: the tiles of a kernel --------------------------------------------------------- */

/* The tiles of all block columns, from left to right, in a column from top to bottom. */
struct tiling {
	const struct dare_blocks *blocks;
	bool is_gsa;
	enum stream_merge merge;
	struct dare_tile *tiles;	/* `row` is of the matrix, rows are `step` apart; not with GSA */
	size_t *start;			/* of a block column; block_columns + 1 */
};

/* 0 or -ENOMEM. The blocks stay the caller's and must live as long. */
int tiling_make(struct tiling *tiling, const struct dare_blocks *blocks, bool is_gsa, enum stream_merge merge);
void tiling_free(struct tiling *tiling);

/* Columns of the matrix that a block column has: fewer than a block where the matrix ends. */
unsigned int tiling_columns(const struct tiling *tiling, size_t column);

/* Pieces of up to 16 elements that a row of `width` has, and how many elements piece `chunk` has. */
static inline size_t chunk_count(size_t width)
{
	return (width + CHUNK - 1) / CHUNK;
}

static inline unsigned int chunk_width(size_t width, size_t chunk)
{
	return width - chunk * CHUNK < CHUNK ? (unsigned int)(width - chunk * CHUNK) : CHUNK;
}

/*
 * A vector of addresses takes 128 bytes, for any number of rows, as in libdare's ring. All rows of
 * all tiles, `width` elements from `base` on, each chunk by a vector of its own, in the order in which the
 * kernel uses them. `vectors` has 16 for each tile and chunk.
 */
void vectors_spmm(uint64_t *vectors, const struct tiling *tiling, const float *base, size_t width);
void vectors_sddmm(uint64_t *vectors, const struct tiling *tiling, const float *base, size_t width);

/*
 * D as SpMM's tiles of it, turned: for each block column and each 16 columns of D 16 rows of B elements.
 * With B = 1 such a tile is a part of a row of D, and D is used as it lies.
 */
size_t packed_d_elements(const struct dare_blocks *blocks, size_t width);
void pack_d(float *packed, const struct dare_blocks *blocks, const float *d, size_t width);

/* --- spmm.c, sddmm.c, gemm.c ------------------------------------------------------------------ */

/* C = S D. C is 0, or the product is added to it. */
struct spmm_operands {
	const struct tiling *tiling;
	const float *s;			/* blocks of B x B elements */
	const float *d;			/* packed; with B = 1 row by row */
	float *c;			/* row by row */
	size_t width;			/* columns of D and C */
	const uint64_t *vectors;	/* GSA */
	struct stream_code code;
};
int stream_spmm(struct dare *dare, const struct spmm_operands *spmm);

/* P = A B^T where S has blocks. P is 0, or the product is added to it; the caller multiplies by S. */
struct sddmm_operands {
	const struct tiling *tiling;
	const float *a, *b;		/* row by row */
	float *p;			/* blocks of B x B elements */
	size_t width;			/* columns of A and B */
	const uint64_t *vectors;	/* GSA */
	struct stream_code code;
};
int stream_sddmm(struct dare *dare, const struct sddmm_operands *sddmm);

/* C = A B^T, dense. C is 0, or the product is added to it. */
struct gemm_operands {
	const float *a, *b;		/* row by row: `rows` and `columns` rows */
	float *c;
	size_t rows, columns;		/* of C */
	size_t width;			/* columns of A and B */
	struct stream_code code;
};
/* One tile of C after the other. */
int stream_gemm(struct dare *dare, const struct gemm_operands *gemm);
/* 2 x 2 tiles of C at a time: a load for each mma. All registers are in use, so each store comes at the end of its tiles. */
int stream_gemm_2x2(struct dare *dare, const struct gemm_operands *gemm);

#endif
