/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * P = A B^T where S has blocks: for each block column, for each tile: the tile's sums; for each 64 bytes of the
 * rows of A and B: rows of A, rows of B, mma; and the sums back to memory. The sums of different tiles lie
 * in different places, so a store may always wait for the next tile's loads.
 */
#include "examples/dare/streams/streams.h"

/* Two of each, which take turns: sums by tile, the others by chunk. */
enum { M_P = 0, M_A = 2, M_B = 4, M_ADDRESSES = 6 };

/* A tile whose sums are in a register, and not stored yet. */
struct held {
	const struct dare_tile *tile;	/* NULL: none */
	size_t column;
	unsigned int ms3;
};

struct walk {
	const struct sddmm_operands *sddmm;
	struct stream stream;
	const uint64_t *vector;		/* of the next chunk */
	struct held held;
	unsigned int tile_turn, chunk_turn;
};

static float *sums_of(const struct walk *walk, const struct dare_tile *tile)
{
	size_t block = walk->sddmm->tiling->blocks->block;

	return walk->sddmm->p + tile->block * block * block;
}

static size_t sums_stride(const struct walk *walk)
{
	return walk->sddmm->tiling->blocks->block * ELEMENT_BYTES;
}

static void store_held(struct walk *walk)
{
	const struct held *held = &walk->held;

	if (!held->tile)
		return;
	stream_shape(&walk->stream, held->tile->rows,
		     tiling_columns(walk->sddmm->tiling, held->column) * ELEMENT_BYTES);
	stream_store(&walk->stream, held->ms3, sums_of(walk, held->tile), sums_stride(walk));
	walk->held.tile = NULL;
}

static void load_a(struct walk *walk, const struct dare_tile *tile, size_t chunk, unsigned int turn)
{
	const struct sddmm_operands *sddmm = walk->sddmm;
	unsigned int bytes = chunk_width(sddmm->width, chunk) * ELEMENT_BYTES;

	if (sddmm->tiling->is_gsa) {
		stream_gather(&walk->stream, M_A + turn, M_ADDRESSES + turn, walk->vector, tile->rows, bytes);
		walk->vector += DARE_ROWS;
		return;
	}
	stream_shape(&walk->stream, tile->rows, bytes);
	stream_load(&walk->stream, M_A + turn, sddmm->a + tile->row * sddmm->width + chunk * CHUNK,
		    tile->step * sddmm->width * ELEMENT_BYTES);
}

static void load_b(struct walk *walk, size_t column, size_t chunk, unsigned int turn)
{
	const struct sddmm_operands *sddmm = walk->sddmm;

	stream_shape(&walk->stream, tiling_columns(sddmm->tiling, column),
		     chunk_width(sddmm->width, chunk) * ELEMENT_BYTES);
	stream_load(&walk->stream, M_B + turn,
		    sddmm->b + column * sddmm->tiling->blocks->block * sddmm->width + chunk * CHUNK,
		    sddmm->width * ELEMENT_BYTES);
}

static void multiply_tile(struct walk *walk, const struct dare_tile *tile, size_t column)
{
	const struct sddmm_operands *sddmm = walk->sddmm;
	unsigned int columns = tiling_columns(sddmm->tiling, column), sets = sddmm->code.has_one_set ? 1 : 2;
	unsigned int md = M_P + walk->tile_turn++ % sets;

	stream_shape(&walk->stream, tile->rows, columns * ELEMENT_BYTES);
	stream_load(&walk->stream, md, sums_of(walk, tile), sums_stride(walk));
	for (size_t chunk = 0; chunk < chunk_count(sddmm->width); chunk++) {
		unsigned int turn = walk->chunk_turn++ % sets;

		load_a(walk, tile, chunk, turn);
		load_b(walk, column, chunk, turn);
		store_held(walk);
		stream_multiply(&walk->stream, md, M_A + turn, M_B + turn, tile->rows,
				chunk_width(sddmm->width, chunk) * ELEMENT_BYTES, columns);
	}
	walk->held = (struct held){ tile, column, md };
	if (stream_stores_at_once(&sddmm->code))
		store_held(walk);
}

int stream_sddmm(struct dare *dare, const struct sddmm_operands *sddmm)
{
	struct walk walk = { .sddmm = sddmm, .stream.dare = dare, .vector = sddmm->vectors };
	const struct tiling *tiling = sddmm->tiling;

	for (size_t column = 0; column < tiling->blocks->block_columns && !walk.stream.error; column++) {
		for (size_t i = tiling->start[column]; i < tiling->start[column + 1]; i++)
			multiply_tile(&walk, &tiling->tiles[i], column);
	}
	store_held(&walk);
	return stream_finish(&walk.stream);
}
