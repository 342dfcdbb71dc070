/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* C = A B^T, dense: for each tile of C its sums; for each 64 bytes of the rows of A and B: tiles of both, mma. */
#include "examples/dare/streams/streams.h"

struct walk {
	const struct gemm_operands *gemm;
	struct stream stream;
};

/* Rows of C from 16 * tile on, at most 16; the same of its columns. */
static unsigned int piece(size_t size, size_t tile)
{
	return chunk_width(size, tile);
}

static void load_source(struct walk *walk, unsigned int md, const float *rows, size_t size, size_t tile, size_t chunk)
{
	size_t width = walk->gemm->width;

	stream_shape(&walk->stream, piece(size, tile), chunk_width(width, chunk) * ELEMENT_BYTES);
	stream_load(&walk->stream, md, rows + tile * CHUNK * width + chunk * CHUNK, width * ELEMENT_BYTES);
}

static void multiply(struct walk *walk, unsigned int md, unsigned int ms1, unsigned int ms2, size_t row, size_t column,
		     size_t chunk)
{
	const struct gemm_operands *gemm = walk->gemm;

	stream_multiply(&walk->stream, md, ms1, ms2, piece(gemm->rows, row),
			chunk_width(gemm->width, chunk) * ELEMENT_BYTES, piece(gemm->columns, column));
}

static float *tile_of_c(const struct gemm_operands *gemm, size_t row, size_t column)
{
	return gemm->c + row * CHUNK * gemm->columns + column * CHUNK;
}

static void load_c(struct walk *walk, unsigned int md, size_t row, size_t column)
{
	const struct gemm_operands *gemm = walk->gemm;

	stream_shape(&walk->stream, piece(gemm->rows, row), piece(gemm->columns, column) * ELEMENT_BYTES);
	stream_load(&walk->stream, md, tile_of_c(gemm, row, column), gemm->columns * ELEMENT_BYTES);
}

static void store_c(struct walk *walk, unsigned int ms3, size_t row, size_t column)
{
	const struct gemm_operands *gemm = walk->gemm;

	stream_shape(&walk->stream, piece(gemm->rows, row), piece(gemm->columns, column) * ELEMENT_BYTES);
	stream_store(&walk->stream, ms3, tile_of_c(gemm, row, column), gemm->columns * ELEMENT_BYTES);
}

/* --- one tile at a time --------------------------------------------------------------------- */

/* Two of each, which take turns: sums by tile, the others by chunk. */
enum { M_C = 0, M_A = 2, M_B = 4 };

/* A tile whose sums are in a register, and not stored yet. */
struct held {
	bool is_there;
	size_t row, column;
	unsigned int ms3;
};

static void store_held(struct walk *walk, struct held *held)
{
	if (held->is_there)
		store_c(walk, held->ms3, held->row, held->column);
	held->is_there = false;
}

static void multiply_tile(struct walk *walk, struct held *held, size_t row, size_t column, unsigned int *turns)
{
	const struct gemm_operands *gemm = walk->gemm;
	unsigned int sets = gemm->code.has_one_set ? 1 : 2, md = held->ms3 == M_C ? M_C + sets - 1 : M_C;

	load_c(walk, md, row, column);
	for (size_t chunk = 0; chunk < chunk_count(gemm->width); chunk++) {
		unsigned int turn = (*turns)++ % sets;

		load_source(walk, M_A + turn, gemm->a, gemm->rows, row, chunk);
		load_source(walk, M_B + turn, gemm->b, gemm->columns, column, chunk);
		store_held(walk, held);
		multiply(walk, md, M_A + turn, M_B + turn, row, column, chunk);
	}
	*held = (struct held){ true, row, column, md };
	if (stream_stores_at_once(&gemm->code))
		store_held(walk, held);
}

int stream_gemm(struct dare *dare, const struct gemm_operands *gemm)
{
	struct walk walk = { .gemm = gemm, .stream.dare = dare };
	struct held held = { .ms3 = M_C + 1 };
	unsigned int turns = 0;

	for (size_t row = 0; row < chunk_count(gemm->rows) && !walk.stream.error; row++) {
		for (size_t column = 0; column < chunk_count(gemm->columns); column++)
			multiply_tile(&walk, &held, row, column, &turns);
	}
	store_held(&walk, &held);
	return stream_finish(&walk.stream);
}

/* --- 2 x 2 tiles at a time ------------------------------------------------------------------ */

#define QUAD 2u
#define QUAD_C(i, j) (QUAD * (i) + (j))
enum { QUAD_A = 4, QUAD_B = 6 };

/* Where the quad begins, and how many tiles it has; fewer where C ends. */
struct quad {
	size_t row, column;
	unsigned int height, width;
};

static void quad_sums(struct walk *walk, const struct quad *quad,
		      void (*move)(struct walk *walk, unsigned int sums, size_t row, size_t column))
{
	for (unsigned int i = 0; i < quad->height; i++) {
		for (unsigned int j = 0; j < quad->width; j++)
			move(walk, QUAD_C(i, j), quad->row + i, quad->column + j);
	}
}

static void multiply_quad(struct walk *walk, const struct quad *quad)
{
	const struct gemm_operands *gemm = walk->gemm;

	quad_sums(walk, quad, load_c);
	for (size_t chunk = 0; chunk < chunk_count(gemm->width); chunk++) {
		for (unsigned int i = 0; i < quad->height; i++)
			load_source(walk, QUAD_A + i, gemm->a, gemm->rows, quad->row + i, chunk);
		for (unsigned int j = 0; j < quad->width; j++)
			load_source(walk, QUAD_B + j, gemm->b, gemm->columns, quad->column + j, chunk);
		for (unsigned int i = 0; i < quad->height; i++) {
			for (unsigned int j = 0; j < quad->width; j++)
				multiply(walk, QUAD_C(i, j), QUAD_A + i, QUAD_B + j, quad->row + i, quad->column + j,
					 chunk);
		}
	}
	quad_sums(walk, quad, store_c);
}

static unsigned int tiles_of_quad(size_t tiles, size_t first)
{
	return tiles - first < QUAD ? 1 : QUAD;
}

int stream_gemm_2x2(struct dare *dare, const struct gemm_operands *gemm)
{
	struct walk walk = { .gemm = gemm, .stream.dare = dare };
	size_t rows = chunk_count(gemm->rows), columns = chunk_count(gemm->columns);

	for (size_t row = 0; row < rows && !walk.stream.error; row += QUAD) {
		for (size_t column = 0; column < columns; column += QUAD)
			multiply_quad(&walk, &(struct quad){ row, column, tiles_of_quad(rows, row),
							     tiles_of_quad(columns, column) });
	}
	return stream_finish(&walk.stream);
}
