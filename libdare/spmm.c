/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * C = S x D as an outer product. mma wants rows of its second source along k, and D
 * has them along n, so k cannot be gathered: a block column of S times the rows of D
 * that it meets is added to the rows of C that it touches. Rows in a tile of C are
 * different ones, and instructions take effect in order, so no sum is lost.
 *
 * Registers: m0, m1 tiles of D; m2, m3 tiles of C; m4, m5 their addresses (GSA);
 * m6 elements of S.
 */
#include <string.h>

#include "kernel.h"

#define TILES 2u		/* of 16 columns each, that are worked on together */
#define TILE_COLUMNS 16u
#define GSA_BELOW 8u		/* the paper finds GSA slower from here on (section V) */

enum { M_D = 0, M_C = 2, M_ADDRESS = 4, M_S = 6 };

struct spmm {
	const struct dare_element *element;
	size_t columns;
	uint64_t c;
	uint64_t ldc;			/* bytes */
	uint64_t s;			/* blocks' elements */
	/* D as rows of n: element (k, n) is at d + n * d_n + k * d_k */
	uint64_t d;
	uint64_t d_n;
	uint64_t d_k;
	struct dare_walk walk;
};

/* Columns of D and C that are worked on together: two full tiles, or one. */
struct pass {
	size_t first;
	unsigned int tiles;
	unsigned int columns;	/* of each tile */
};

static struct pass pass_at(const struct spmm *spmm, size_t first)
{
	size_t left = spmm->columns - first;
	struct pass pass = { .first = first, .tiles = 1, .columns = TILE_COLUMNS };

	if (left >= (size_t)TILES * TILE_COLUMNS)
		pass.tiles = TILES;
	else if (left < TILE_COLUMNS)
		pass.columns = (unsigned int)left;
	return pass;
}

static size_t pass_end(const struct pass *pass)
{
	return pass->first + (size_t)pass->tiles * pass->columns;
}

static uint64_t c_address(const struct spmm *spmm, uint64_t row, const struct pass *pass, unsigned int tile)
{
	return spmm->c + row * spmm->ldc + (pass->first + tile * TILE_COLUMNS) * DARE_RESULT_BYTES;
}

/* Each function with _pass is for one block column and one pass. */
static bool fill_pass(struct dare_addresses *addresses, const struct spmm *spmm, size_t column,
		      const struct pass *pass)
{
	const struct dare_blocks *blocks = spmm->walk.blocks;
	uint64_t end = blocks->start[column + 1];
	struct dare_tile tile;

	for (uint64_t block = blocks->start[column]; block < end; block += tile.blocks) {
		dare_tile_group(blocks, block, end, &tile);
		for (unsigned int i = 0; i < pass->tiles; i++) {
			uint64_t *address = dare_addresses_put(addresses);

			if (!address)
				return false;
			for (unsigned int row = 0; row < tile.rows; row++)
				address[row] = c_address(spmm, dare_tile_row(blocks, &tile, row), pass, i);
		}
	}
	return true;
}

/* The address thread */
static void fill(struct dare_addresses *addresses, const void *context)
{
	const struct spmm *spmm = context;

	for (size_t column = 0; column < spmm->walk.blocks->block_columns; column++) {
		struct pass pass;

		for (size_t first = 0; first < spmm->columns; first = pass_end(&pass)) {
			pass = pass_at(spmm, first);
			if (!fill_pass(addresses, spmm, column, &pass))
				return;
		}
	}
}

static void load_d(struct spmm *spmm, size_t column, const struct pass *pass, unsigned int k_bytes)
{
	uint64_t k = (uint64_t)column * spmm->walk.blocks->block;

	dare_stream_n(&spmm->walk.stream, pass->columns);
	dare_stream_m(&spmm->walk.stream, pass->columns);
	dare_stream_k(&spmm->walk.stream, k_bytes);
	for (unsigned int i = 0; i < pass->tiles; i++)
		dare_stream_load_elements(&spmm->walk.stream, M_D + i,
					  spmm->d + (pass->first + i * TILE_COLUMNS) * spmm->d_n + k * spmm->d_k,
					  spmm->d_n);
}

static void load_c(struct spmm *spmm, const struct dare_tile *tile, const struct pass *pass)
{
	struct dare_stream *stream = &spmm->walk.stream;

	if (!spmm->walk.addresses) {
		dare_stream_k(stream, pass->columns * DARE_RESULT_BYTES);
		for (unsigned int i = 0; i < pass->tiles; i++)
			dare_stream_load(stream, M_C + i, c_address(spmm, tile->row, pass, i), tile->step * spmm->ldc);
		return;
	}
	dare_stream_k(stream, DARE_ADDRESS_BYTES);
	for (unsigned int i = 0; i < pass->tiles; i++) {
		uint64_t address = 0;

		if (!stream->error)
			stream->error = dare_addresses_take(spmm->walk.addresses, &address);
		dare_stream_load(stream, M_ADDRESS + i, address, DARE_ADDRESS_BYTES);
	}
	dare_stream_k(stream, pass->columns * DARE_RESULT_BYTES);
	for (unsigned int i = 0; i < pass->tiles && !stream->error; i++)
		stream->error = dare_mgather(stream->dare, M_C + i, M_ADDRESS + i);
}

static void store_c(struct spmm *spmm, const struct dare_tile *tile, const struct pass *pass)
{
	struct dare_stream *stream = &spmm->walk.stream;

	dare_stream_k(stream, pass->columns * DARE_RESULT_BYTES);
	for (unsigned int i = 0; i < pass->tiles && !stream->error; i++) {
		if (spmm->walk.addresses)
			stream->error = dare_mscatter(stream->dare, M_C + i, M_ADDRESS + i);
		else
			dare_stream_store(stream, M_C + i, c_address(spmm, tile->row, pass, i),
					  tile->step * spmm->ldc);
	}
}

static void multiply_tile(struct spmm *spmm, const struct dare_tile *tile, const struct pass *pass,
			  unsigned int k_bytes)
{
	struct dare_stream *stream = &spmm->walk.stream;
	uint64_t row_bytes = (uint64_t)spmm->walk.blocks->block * spmm->element->bytes;

	dare_stream_m(stream, tile->rows);
	load_c(spmm, tile, pass);
	dare_stream_k(stream, k_bytes);
	dare_stream_load_elements(stream, M_S, spmm->s + tile->block * spmm->walk.blocks->block * row_bytes, row_bytes);
	for (unsigned int i = 0; i < pass->tiles; i++)
		dare_stream_multiply(stream, M_C + i, M_S, M_D + i);
	store_c(spmm, tile, pass);
}

static void multiply_pass(struct spmm *spmm, size_t column, const struct pass *pass)
{
	const struct dare_blocks *blocks = spmm->walk.blocks;
	size_t left = blocks->columns - column * blocks->block;
	unsigned int k = left < blocks->block ? (unsigned int)left : blocks->block;
	uint64_t end = blocks->start[column + 1];
	struct dare_tile tile;

	load_d(spmm, column, pass, k * spmm->element->bytes);
	for (uint64_t block = blocks->start[column]; block < end; block += tile.blocks) {
		spmm->walk.tile(blocks, block, end, &tile);
		multiply_tile(spmm, &tile, pass, k * spmm->element->bytes);
	}
}

static void multiply_column(void *context, size_t column)
{
	struct spmm *spmm = context;
	struct pass pass;

	if (spmm->walk.blocks->start[column] == spmm->walk.blocks->start[column + 1])
		return;
	for (size_t first = 0; first < spmm->columns && !spmm->walk.stream.error; first = pass_end(&pass)) {
		pass = pass_at(spmm, first);
		multiply_pass(spmm, column, &pass);
	}
}

static void pack_s(uint8_t *packed, const struct dare_blocks *blocks, const struct dare_element *element,
		   const void *value)
{
	const uint8_t *from = value ? value : (const void *)&element->one;
	size_t step = value ? element->bytes : 0;

	for (uint64_t i = 0; i < blocks->statistics.nonzeros; i++)
		memcpy(packed + blocks->position[i] * element->bytes, from + i * step, element->bytes);
}

/* In pieces of 16 x 16, so that neither side is walked across pages. */
static void transpose_d(uint8_t *packed, const struct spmm *spmm, const uint8_t *d, size_t ldd)
{
	size_t bytes = spmm->element->bytes, rows = spmm->walk.blocks->columns;

	for (size_t row = 0; row < rows; row += 16) {
		size_t row_end = rows - row < 16 ? rows : row + 16;

		for (size_t column = 0; column < spmm->columns; column++) {
			for (size_t k = row; k < row_end; k++)
				memcpy(packed + (column * rows + k) * bytes, d + (k * ldd + column) * bytes, bytes);
		}
	}
}

/* With B = 1 a tile of D is a part of one row, turned by its stride alone. */
static int place_d(struct spmm *spmm, const void *d, size_t ldd, void **packed)
{
	size_t bytes = spmm->element->bytes;

	*packed = NULL;
	spmm->d = (uintptr_t)d;
	spmm->d_n = bytes;
	spmm->d_k = (uint64_t)ldd * bytes;
	if (spmm->walk.blocks->block == 1)
		return 0;
	/* No overflow: D itself is in memory, and has these elements at least. */
	*packed = dare_kernel_alloc(spmm->walk.stream.dare, (uint64_t)spmm->columns * spmm->walk.blocks->columns, bytes,
				    "transposed D");
	if (!*packed)
		return -ENOMEM;
	transpose_d(*packed, spmm, d, ldd);
	spmm->d = (uintptr_t)*packed;
	spmm->d_n = (uint64_t)spmm->walk.blocks->columns * bytes;
	spmm->d_k = bytes;
	return 0;
}

static int multiply_packed(struct spmm *spmm, enum dare_form form, const void *value, const void *d, size_t ldd)
{
	struct dare *dare = spmm->walk.stream.dare;
	void *packed_d;
	void *packed_s = dare_kernel_alloc(dare, dare_blocks_elements(spmm->walk.blocks), spmm->element->bytes,
					   "the blocks of S");
	int error;

	if (!packed_s)
		return -ENOMEM;
	error = place_d(spmm, d, ldd, &packed_d);
	if (!error) {
		pack_s(packed_s, spmm->walk.blocks, spmm->element, value);
		spmm->s = (uintptr_t)packed_s;
		error = dare_walk_columns(&spmm->walk, form, fill, multiply_column, spmm);
		dare_free(dare, packed_d);
	}
	dare_free(dare, packed_s);
	return error;
}

static int spmm_any(struct dare *dare, const struct dare_element *element, enum dare_form form,
		    const struct dare_blocks *blocks, const void *value, size_t columns, const void *d,
		    size_t ldd, void *c, size_t ldc)
{
	struct spmm spmm = {
		.element = element, .walk.blocks = blocks, .columns = columns, .c = (uintptr_t)c,
		.ldc = (uint64_t)ldc * DARE_RESULT_BYTES, .walk.stream = { .dare = dare, .element = element },
	};
	uint64_t begin;
	int error, chosen;

	if (!dare || !blocks)
		return dare_fail(-EINVAL, "%s is NULL", dare ? "blocks" : "the handle");
	chosen = dare_form_choose(dare, DARE_PROFILED_SPMM, form, blocks, GSA_BELOW);
	if (chosen < 0)
		return chosen;
	error = dare_operand_check(&(struct dare_operand){ "D", d, blocks->columns, columns, ldd, element->bytes });
	if (!error)
		error = dare_operand_check(&(struct dare_operand){ "C", c, blocks->rows, columns, ldc,
								   DARE_RESULT_BYTES });
	/* Instructions that were dispatched before may still read or write C. */
	if (!error)
		error = dare_fence(dare);
	if (error || columns == 0)
		return error;
	for (size_t row = 0; row < blocks->rows; row++)
		memset((uint8_t *)c + row * spmm.ldc, 0, columns * DARE_RESULT_BYTES);
	if (blocks->statistics.blocks == 0)
		return 0;
	begin = dare_profile_now();
	error = multiply_packed(&spmm, (enum dare_form)chosen, value, d, ldd);
	if (!error)
		dare_profile_ran(DARE_PROFILED_SPMM, (enum dare_form)chosen, blocks, columns, begin);
	return error;
}

int dare_spmm(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks, const float *value,
	      size_t columns, const float *d, size_t ldd, float *c, size_t ldc)
{
	return spmm_any(dare, &dare_element_fp32, form, blocks, value, columns, d, ldd, c, ldc);
}

int dare_spmm_bf16(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks,
		   const uint16_t *value, size_t columns, const uint16_t *d, size_t ldd, float *c, size_t ldc)
{
	return spmm_any(dare, &dare_element_bf16, form, blocks, value, columns, d, ldd, c, ldc);
}

int dare_spmm_i8(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks, const int8_t *value,
		 size_t columns, const int8_t *d, size_t ldd, int32_t *c, size_t ldc)
{
	return spmm_any(dare, &dare_element_i8, form, blocks, value, columns, d, ldd, c, ldc);
}
