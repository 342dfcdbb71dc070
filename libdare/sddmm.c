/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * P = S .* (A x transposed B), block column by block column: rows of A that the
 * blocks touch, times the B rows of B that the column is for. The tiles of a block
 * column lie in P's memory one after the other, so that they are stored by mst.
 *
 * A row is cut into chunks of 64 bytes. Four chunks of B stay in registers while
 * all of the block column is computed; longer rows take several rounds, and sums
 * go on from those in P.
 *
 * Registers: m0 sums; m1 to m3 chunks of A, and their addresses before (GSA); m4 to
 * m7 chunks of B.
 */
#include <string.h>

#include "kernel.h"

#define CHUNKS 4u		/* of one round */
#define CHUNKS_TOGETHER 3u	/* registers for A */
#define GSA_BELOW 4u		/* the paper finds GSA slower from here on (section V) */

enum { M_P = 0, M_A = 1, M_B = 4 };

struct sddmm {
	const struct dare_element *element;
	uint64_t row_bytes;		/* of a row of A and B without its padding */
	uint64_t a;
	uint64_t lda;			/* bytes */
	uint64_t b;
	uint64_t ldb;
	uint64_t p;			/* blocks' sums */
	struct dare_walk walk;
};

/* Some chunks, from `first` bytes into a row. */
struct chunks {
	uint64_t first;
	unsigned int count;
};

static struct chunks chunks_at(const struct sddmm *sddmm, uint64_t first)
{
	uint64_t count = (sddmm->row_bytes - first + DARE_ROW_BYTES - 1) / DARE_ROW_BYTES;

	return (struct chunks){ first, count < CHUNKS ? (unsigned int)count : CHUNKS };
}

static uint64_t chunk_start(const struct chunks *chunks, unsigned int chunk)
{
	return chunks->first + (uint64_t)chunk * DARE_ROW_BYTES;
}

static unsigned int chunk_bytes(const struct sddmm *sddmm, const struct chunks *chunks, unsigned int chunk)
{
	uint64_t left = sddmm->row_bytes - chunk_start(chunks, chunk);

	return left < DARE_ROW_BYTES ? (unsigned int)left : DARE_ROW_BYTES;
}

static bool fill_tile(struct dare_addresses *addresses, const struct sddmm *sddmm, const struct dare_tile *tile,
		      const struct chunks *chunks)
{
	for (unsigned int chunk = 0; chunk < chunks->count; chunk++) {
		uint64_t start = sddmm->a + chunk_start(chunks, chunk);
		uint64_t *address = dare_addresses_put(addresses);

		if (!address)
			return false;
		for (unsigned int row = 0; row < tile->rows; row++)
			address[row] = start + dare_tile_row(sddmm->walk.blocks, tile, row) * sddmm->lda;
	}
	return true;
}

static bool fill_round(struct dare_addresses *addresses, const struct sddmm *sddmm, size_t column,
		       const struct chunks *chunks)
{
	uint64_t end = sddmm->walk.blocks->start[column + 1];
	struct dare_tile tile;

	for (uint64_t block = sddmm->walk.blocks->start[column]; block < end; block += tile.blocks) {
		dare_tile_group(sddmm->walk.blocks, block, end, &tile);
		if (!fill_tile(addresses, sddmm, &tile, chunks))
			return false;
	}
	return true;
}

/* The address thread */
static void fill(struct dare_addresses *addresses, const void *context)
{
	const struct sddmm *sddmm = context;

	for (size_t column = 0; column < sddmm->walk.blocks->block_columns; column++) {
		struct chunks chunks;

		for (uint64_t first = 0; first < sddmm->row_bytes; first += CHUNKS * DARE_ROW_BYTES) {
			chunks = chunks_at(sddmm, first);
			if (!fill_round(addresses, sddmm, column, &chunks))
				return;
		}
	}
}

static void load_b(struct sddmm *sddmm, size_t column, const struct chunks *chunks, unsigned int width)
{
	uint64_t row = sddmm->b + (uint64_t)column * sddmm->walk.blocks->block * sddmm->ldb;

	dare_stream_n(&sddmm->walk.stream, width);
	dare_stream_m(&sddmm->walk.stream, width);
	for (unsigned int chunk = 0; chunk < chunks->count; chunk++) {
		dare_stream_k(&sddmm->walk.stream, chunk_bytes(sddmm, chunks, chunk));
		dare_stream_load_elements(&sddmm->walk.stream, M_B + chunk, row + chunk_start(chunks, chunk), sddmm->ldb);
	}
}

static void load_addresses(struct sddmm *sddmm, unsigned int count)
{
	struct dare_stream *stream = &sddmm->walk.stream;

	dare_stream_k(stream, DARE_ADDRESS_BYTES);
	for (unsigned int i = 0; i < count && !stream->error; i++) {
		uint64_t address = 0;

		stream->error = dare_addresses_take(sddmm->walk.addresses, &address);
		dare_stream_load(stream, M_A + i, address, DARE_ADDRESS_BYTES);
	}
}

/* One chunk of A into the register that, with GSA, has its addresses. */
static void load_a(struct sddmm *sddmm, const struct dare_tile *tile, const struct chunks *chunks,
		   unsigned int chunk, unsigned int md)
{
	struct dare_stream *stream = &sddmm->walk.stream;

	dare_stream_k(stream, chunk_bytes(sddmm, chunks, chunk));
	if (!sddmm->walk.addresses)
		dare_stream_load_elements(stream, md, sddmm->a + tile->row * sddmm->lda + chunk_start(chunks, chunk),
					  tile->step * sddmm->lda);
	else if (!stream->error)
		stream->error = sddmm->element->mgather(stream->dare, md, md);
}

static void multiply_tile(struct sddmm *sddmm, const struct dare_tile *tile, const struct chunks *chunks,
			  unsigned int width)
{
	struct dare_stream *stream = &sddmm->walk.stream;
	uint64_t stride = (uint64_t)sddmm->walk.blocks->block * DARE_RESULT_BYTES;
	uint64_t p = sddmm->p + tile->block * sddmm->walk.blocks->block * stride;

	dare_stream_m(stream, tile->rows);
	dare_stream_k(stream, width * DARE_RESULT_BYTES);
	dare_stream_load(stream, M_P, p, stride);
	for (unsigned int first = 0; first < chunks->count; first += CHUNKS_TOGETHER) {
		unsigned int left = chunks->count - first;
		unsigned int count = left < CHUNKS_TOGETHER ? left : CHUNKS_TOGETHER;

		if (sddmm->walk.addresses)
			load_addresses(sddmm, count);
		/* All loads before the first product: the device may fetch them at the same time. */
		for (unsigned int i = 0; i < count; i++)
			load_a(sddmm, tile, chunks, first + i, M_A + i);
		for (unsigned int i = 0; i < count; i++) {
			dare_stream_k(stream, chunk_bytes(sddmm, chunks, first + i));
			dare_stream_multiply(stream, M_P, M_A + i, M_B + first + i);
		}
	}
	dare_stream_k(stream, width * DARE_RESULT_BYTES);
	dare_stream_store(stream, M_P, p, stride);
}

static void multiply_round(struct sddmm *sddmm, size_t column, const struct chunks *chunks)
{
	const struct dare_blocks *blocks = sddmm->walk.blocks;
	size_t left = blocks->columns - column * blocks->block;
	unsigned int width = left < blocks->block ? (unsigned int)left : blocks->block;
	uint64_t end = blocks->start[column + 1];
	struct dare_tile tile;

	load_b(sddmm, column, chunks, width);
	for (uint64_t block = blocks->start[column]; block < end; block += tile.blocks) {
		sddmm->walk.tile(blocks, block, end, &tile);
		multiply_tile(sddmm, &tile, chunks, width);
	}
}

static void multiply_column(void *context, size_t column)
{
	struct sddmm *sddmm = context;
	if (sddmm->walk.blocks->start[column] == sddmm->walk.blocks->start[column + 1])
		return;
	for (uint64_t first = 0; first < sddmm->row_bytes && !sddmm->walk.stream.error; first += CHUNKS * DARE_ROW_BYTES) {
		struct chunks chunks = chunks_at(sddmm, first);

		multiply_round(sddmm, column, &chunks);
	}
}

static void scale(const struct dare_blocks *blocks, const float *sums, const float *value, float *p)
{
	for (uint64_t i = 0; i < blocks->statistics.nonzeros; i++)
		p[i] = value ? value[i] * sums[blocks->position[i]] : sums[blocks->position[i]];
}

/* Unsigned, so that products wrap. */
static void scale_integers(const struct dare_blocks *blocks, const uint32_t *sums, const uint32_t *value, uint32_t *p)
{
	for (uint64_t i = 0; i < blocks->statistics.nonzeros; i++)
		p[i] = value ? value[i] * sums[blocks->position[i]] : sums[blocks->position[i]];
}

static int multiply_blocks(struct sddmm *sddmm, enum dare_form form, const void *value, void *p)
{
	struct dare *dare = sddmm->walk.stream.dare;
	void *sums = dare_kernel_alloc(dare, dare_blocks_elements(sddmm->walk.blocks), DARE_RESULT_BYTES,
				       "the blocks of P");
	int error;

	if (!sums)
		return -ENOMEM;
	sddmm->p = (uintptr_t)sums;
	error = dare_walk_columns(&sddmm->walk, form, fill, multiply_column, sddmm);
	if (!error && sddmm->element == &dare_element_i8)
		scale_integers(sddmm->walk.blocks, sums, value, p);
	else if (!error)
		scale(sddmm->walk.blocks, sums, value, p);
	dare_free(dare, sums);
	return error;
}

static int check_operands(const struct sddmm *sddmm, size_t inner, const void *a, size_t lda, const void *b,
			  size_t ldb, const void *value, const void *p)
{
	const struct dare_blocks *blocks = sddmm->walk.blocks;
	size_t count = (size_t)blocks->statistics.nonzeros;
	const struct dare_operand operands[] = {
		{ "A", a, blocks->rows, inner, lda, sddmm->element->bytes },
		{ "B", b, blocks->columns, inner, ldb, sddmm->element->bytes },
		{ "value", value, value ? 1 : 0, count, count, DARE_RESULT_BYTES },
		{ "p", p, 1, count, count, DARE_RESULT_BYTES },
	};

	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++) {
		int error = dare_operand_check(&operands[i]);

		if (error)
			return error;
	}
	return 0;
}

static int sddmm_any(struct dare *dare, const struct dare_element *element, enum dare_form form,
		     const struct dare_blocks *blocks, const void *value, size_t inner, const void *a, size_t lda,
		     const void *b, size_t ldb, void *p)
{
	struct sddmm sddmm = {
		.element = element, .walk.blocks = blocks, .row_bytes = (uint64_t)inner * element->bytes,
		.a = (uintptr_t)a, .lda = (uint64_t)lda * element->bytes,
		.b = (uintptr_t)b, .ldb = (uint64_t)ldb * element->bytes,
		.walk.stream = { .dare = dare, .element = element },
	};
	uint64_t begin;
	int error, chosen;

	if (!dare || !blocks)
		return dare_fail(-EINVAL, "%s is NULL", dare ? "blocks" : "the handle");
	chosen = dare_form_choose(dare, DARE_PROFILED_SDDMM, form, blocks, GSA_BELOW);
	if (chosen < 0)
		return chosen;
	error = check_operands(&sddmm, inner, a, lda, b, ldb, value, p);
	if (!error)
		error = dare_fence(dare);
	if (error || blocks->statistics.blocks == 0)
		return error;
	begin = dare_profile_now();
	error = multiply_blocks(&sddmm, (enum dare_form)chosen, value, p);
	if (!error)
		dare_profile_ran(DARE_PROFILED_SDDMM, (enum dare_form)chosen, blocks, inner, begin);
	return error;
}

int dare_sddmm(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks, const float *value,
	       size_t inner, const float *a, size_t lda, const float *b, size_t ldb, float *p)
{
	return sddmm_any(dare, &dare_element_fp32, form, blocks, value, inner, a, lda, b, ldb, p);
}

int dare_sddmm_bf16(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks, const float *value,
		    size_t inner, const uint16_t *a, size_t lda, const uint16_t *b, size_t ldb, float *p)
{
	return sddmm_any(dare, &dare_element_bf16, form, blocks, value, inner, a, lda, b, ldb, p);
}

int dare_sddmm_i8(struct dare *dare, enum dare_form form, const struct dare_blocks *blocks, const int32_t *value,
		  size_t inner, const int8_t *a, size_t lda, const int8_t *b, size_t ldb, int32_t *p)
{
	return sddmm_any(dare, &dare_element_i8, form, blocks, value, inner, a, lda, b, ldb, p);
}
