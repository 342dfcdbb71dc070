/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "examples/dare/streams/streams.h"

/* Rows of blocks are all of one distance only if a block is one row, or there is no gap. */
static bool merges(const struct tiling *tiling, const struct dare_tile *tile, uint64_t distance)
{
	switch (tiling->merge) {
	case STREAM_MERGE_NONE:
		return false;
	case STREAM_MERGE_EQUAL:
		if (tiling->blocks->block == 1)
			return tile->blocks == 1 || distance == tile->step;
		break;
	case STREAM_MERGE_CONSECUTIVE:
		break;
	}
	return distance == 1;
}

static bool takes_next(const struct tiling *tiling, struct dare_tile *tile, uint64_t end)
{
	const struct dare_blocks *blocks = tiling->blocks;
	uint64_t next = tile->block + tile->blocks, distance;

	if (next == end || (tile->blocks + 1) * blocks->block > DARE_ROWS)
		return false;
	if (tiling->is_gsa)
		return true;
	distance = blocks->row[next] - blocks->row[next - 1];
	if (!merges(tiling, tile, distance))
		return false;
	tile->step = distance;
	return true;
}

/* The tile that begins with `block`; its block column ends at `end`. */
static void make_tile(const struct tiling *tiling, uint64_t block, uint64_t end, struct dare_tile *tile)
{
	const struct dare_blocks *blocks = tiling->blocks;
	uint64_t last_row;

	*tile = (struct dare_tile){ .block = block, .blocks = 1, .step = 1 };
	while (takes_next(tiling, tile, end))
		tile->blocks++;
	tile->rows = tile->blocks * blocks->block;
	tile->row = (uint64_t)blocks->row[block] * blocks->block;
	/* The matrix may end within the last block of the tile. */
	last_row = ((uint64_t)blocks->row[block + tile->blocks - 1] + 1) * blocks->block;
	if (last_row > blocks->rows)
		tile->rows -= (unsigned int)(last_row - blocks->rows);
}

int tiling_make(struct tiling *tiling, const struct dare_blocks *blocks, bool is_gsa, enum stream_merge merge)
{
	size_t count = 0;

	*tiling = (struct tiling){ .blocks = blocks, .is_gsa = is_gsa, .merge = merge };
	tiling->tiles = calloc(blocks->statistics.blocks + 1, sizeof(*tiling->tiles));
	tiling->start = calloc(blocks->block_columns + 1, sizeof(*tiling->start));
	if (!tiling->tiles || !tiling->start) {
		tiling_free(tiling);
		return -ENOMEM;
	}
	for (size_t column = 0; column < blocks->block_columns; column++) {
		uint64_t end = blocks->start[column + 1];

		for (uint64_t block = blocks->start[column]; block < end; block += tiling->tiles[count++].blocks)
			make_tile(tiling, block, end, &tiling->tiles[count]);
		tiling->start[column + 1] = count;
	}
	return 0;
}

void tiling_free(struct tiling *tiling)
{
	free(tiling->tiles);
	free(tiling->start);
	memset(tiling, 0, sizeof(*tiling));
}

unsigned int tiling_columns(const struct tiling *tiling, size_t column)
{
	const struct dare_blocks *blocks = tiling->blocks;
	size_t left = blocks->columns - column * blocks->block;

	return left < blocks->block ? (unsigned int)left : blocks->block;
}

static void fill_vector(uint64_t *vector, const struct tiling *tiling, const struct dare_tile *tile,
			const float *base, size_t width, size_t chunk)
{
	for (unsigned int i = 0; i < tile->rows; i++)
		vector[i] = (uintptr_t)(base + dare_tile_row(tiling->blocks, tile, i) * width + chunk * CHUNK);
}

void vectors_spmm(uint64_t *vectors, const struct tiling *tiling, const float *base, size_t width)
{
	for (size_t column = 0; column < tiling->blocks->block_columns; column++) {
		for (size_t chunk = 0; chunk < chunk_count(width); chunk++) {
			for (size_t i = tiling->start[column]; i < tiling->start[column + 1]; i++, vectors += DARE_ROWS)
				fill_vector(vectors, tiling, &tiling->tiles[i], base, width, chunk);
		}
	}
}

void vectors_sddmm(uint64_t *vectors, const struct tiling *tiling, const float *base, size_t width)
{
	for (size_t i = 0; i < tiling->start[tiling->blocks->block_columns]; i++) {
		for (size_t chunk = 0; chunk < chunk_count(width); chunk++, vectors += DARE_ROWS)
			fill_vector(vectors, tiling, &tiling->tiles[i], base, width, chunk);
	}
}

size_t packed_d_elements(const struct dare_blocks *blocks, size_t width)
{
	return blocks->block == 1 ? 0 : blocks->block_columns * chunk_count(width) * DARE_ROWS * blocks->block;
}

void pack_d(float *packed, const struct dare_blocks *blocks, const float *d, size_t width)
{
	size_t block = blocks->block, chunks = chunk_count(width);

	for (size_t k = 0; k < blocks->columns && block > 1; k++) {
		float *tiles = packed + k / block * chunks * DARE_ROWS * block;

		for (size_t n = 0; n < width; n++)
			tiles[n * block + k % block] = d[k * width + n];
	}
}
