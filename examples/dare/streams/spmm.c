/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * C = S D as an outer product: for each block column of S, for each 16 columns of D, for each tile: rows of C,
 * the tile's elements of S, the tile of D, mma, and the rows of C back to memory.
 */
#include "examples/dare/streams/streams.h"

/* A set of registers: sums, S, D, addresses. */
enum { M_C, M_S, M_D, M_ADDRESSES, SET_REGISTERS };

/* A tile whose sums are in registers, and not stored yet. */
struct held {
	const struct dare_tile *tile;	/* NULL: none */
	size_t column, chunk;
	unsigned int set;
};

struct walk {
	const struct spmm_operands *spmm;
	const struct dare_blocks *blocks;
	struct stream stream;
	const uint64_t *vector;		/* of the next tile */
	struct held held;
};

static float *rows_of_c(const struct walk *walk, const struct dare_tile *tile, size_t chunk)
{
	return walk->spmm->c + tile->row * walk->spmm->width + chunk * CHUNK;
}

static void store_held(struct walk *walk)
{
	const struct spmm_operands *spmm = walk->spmm;
	const struct held *held = &walk->held;
	unsigned int registers = held->set * SET_REGISTERS;

	if (!held->tile)
		return;
	stream_shape(&walk->stream, held->tile->rows, chunk_width(spmm->width, held->chunk) * ELEMENT_BYTES);
	if (spmm->tiling->is_gsa)
		stream_scatter(&walk->stream, registers + M_C, registers + M_ADDRESSES);
	else
		stream_store(&walk->stream, registers + M_C, rows_of_c(walk, held->tile, held->chunk),
			     held->tile->step * spmm->width * ELEMENT_BYTES);
	walk->held.tile = NULL;
}

static bool share_rows(const struct dare_blocks *blocks, const struct dare_tile *a, const struct dare_tile *b)
{
	unsigned int i = 0, j = 0;

	while (i < a->blocks && j < b->blocks) {
		uint32_t left = blocks->row[a->block + i], right = blocks->row[b->block + j];

		if (left == right)
			return true;
		if (left < right)
			i++;
		else
			j++;
	}
	return false;
}

/*
 * Does `tile` load the held rows? Not in one block column, where tiles have different rows. But the first
 * tile of the next one may, if all columns of D are in one chunk.
 */
static bool needs_held(const struct walk *walk, const struct dare_tile *tile, size_t column, size_t chunk)
{
	const struct held *held = &walk->held;

	return held->tile && held->column != column && held->chunk == chunk &&
	       share_rows(walk->blocks, held->tile, tile);
}

static void load_c(struct walk *walk, const struct dare_tile *tile, size_t chunk, unsigned int registers)
{
	const struct spmm_operands *spmm = walk->spmm;
	unsigned int bytes = chunk_width(spmm->width, chunk) * ELEMENT_BYTES;

	if (spmm->tiling->is_gsa) {
		stream_gather(&walk->stream, registers + M_C, registers + M_ADDRESSES, walk->vector, tile->rows, bytes);
		walk->vector += DARE_ROWS;
		return;
	}
	stream_shape(&walk->stream, tile->rows, bytes);
	stream_load(&walk->stream, registers + M_C, rows_of_c(walk, tile, chunk),
		    tile->step * spmm->width * ELEMENT_BYTES);
}

/* mma wants the second source turned: a row for each column of D. */
static void load_d(struct walk *walk, size_t column, size_t chunk, unsigned int md)
{
	const struct spmm_operands *spmm = walk->spmm;
	size_t block = walk->blocks->block, tile = column * chunk_count(spmm->width) + chunk;
	const float *d = block == 1 ? spmm->d + column * spmm->width + chunk * CHUNK :
				      spmm->d + tile * DARE_ROWS * block;

	stream_shape(&walk->stream, chunk_width(spmm->width, chunk),
		     tiling_columns(spmm->tiling, column) * ELEMENT_BYTES);
	stream_load(&walk->stream, md, d, block * ELEMENT_BYTES);
}

static void multiply_tile(struct walk *walk, const struct dare_tile *tile, size_t column, size_t chunk,
			  unsigned int set)
{
	const struct spmm_operands *spmm = walk->spmm;
	unsigned int registers = set * SET_REGISTERS, k_bytes = tiling_columns(spmm->tiling, column) * ELEMENT_BYTES;
	size_t block = walk->blocks->block;

	if (needs_held(walk, tile, column, chunk))
		store_held(walk);
	load_c(walk, tile, chunk, registers);
	stream_shape(&walk->stream, tile->rows, k_bytes);
	stream_load(&walk->stream, registers + M_S, spmm->s + tile->block * block * block, block * ELEMENT_BYTES);
	load_d(walk, column, chunk, registers + M_D);
	store_held(walk);
	stream_multiply(&walk->stream, registers + M_C, registers + M_S, registers + M_D, tile->rows, k_bytes,
			chunk_width(spmm->width, chunk));
	walk->held = (struct held){ tile, column, chunk, set };
	if (stream_stores_at_once(&spmm->code))
		store_held(walk);
}

int stream_spmm(struct dare *dare, const struct spmm_operands *spmm)
{
	struct walk walk = {
		.spmm = spmm, .blocks = spmm->tiling->blocks, .stream.dare = dare, .vector = spmm->vectors,
	};
	unsigned int turn = 0, sets = spmm->code.has_one_set ? 1 : 2;

	for (size_t column = 0; column < walk.blocks->block_columns; column++) {
		size_t first = spmm->tiling->start[column], end = spmm->tiling->start[column + 1];

		for (size_t chunk = 0; chunk < chunk_count(spmm->width) && !walk.stream.error; chunk++) {
			for (size_t i = first; i < end; i++)
				multiply_tile(&walk, &spmm->tiling->tiles[i], column, chunk, turn++ % sets);
		}
	}
	store_held(&walk);
	return stream_finish(&walk.stream);
}
