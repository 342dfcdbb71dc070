/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Cuts a sparse matrix into blocks, in block columns. The elements are walked by
 * rows, so that the blocks of a column come out from top to bottom.
 */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "internal.h"

/* The matrix by rows: the caller's own arrays, or a transposed copy. */
struct by_rows {
	const uint64_t *start;
	const uint32_t *column;
	const uint64_t *element;	/* number in the caller's order; NULL: the same */
	uint64_t *own_start;
	uint32_t *own_column;
	uint64_t *own_element;
};

/* For each block column: the block row that was there last, and its block. */
struct column_state {
	uint64_t seen;		/* block row + 1, 0: none */
	uint64_t block;
};

/* Elements that overflow a size are out of memory, and so is calloc() of them. */
static void *array(uint64_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

static int no_memory(const struct dare_sparse *matrix)
{
	return dare_fail(-ENOMEM, "no memory to cut a matrix of %zu by %zu into blocks", matrix->rows,
			 matrix->columns);
}

static size_t line_count(const struct dare_sparse *matrix)
{
	return matrix->layout == DARE_CSR ? matrix->rows : matrix->columns;
}

static int check_size(const struct dare_sparse *matrix)
{
	/* Indices have 32 bits, and a block's rows and the sums below must not overflow. */
	if (matrix->rows > (uint64_t)UINT32_MAX + 1 || matrix->columns > (uint64_t)UINT32_MAX + 1)
		return dare_fail(-EINVAL, "%zu by %zu: a matrix has at most 2^32 rows and columns", matrix->rows,
				 matrix->columns);
	if (!matrix->start)
		return dare_fail(-EINVAL, "start is NULL");
	if (matrix->start[0] != 0)
		return dare_fail(-EINVAL, "start[0] is %llu, it must be 0", (unsigned long long)matrix->start[0]);
	return 0;
}

/* `last` holds, for each index, the number of the line that had it last, plus 1. */
static int check_line(const struct dare_sparse *matrix, size_t line, uint64_t *last)
{
	const char *index_name = matrix->layout == DARE_CSR ? "column" : "row";
	const char *line_name = matrix->layout == DARE_CSR ? "row" : "column";
	size_t bound = matrix->layout == DARE_CSR ? matrix->columns : matrix->rows;

	for (uint64_t i = matrix->start[line]; i < matrix->start[line + 1]; i++) {
		uint32_t index = matrix->index[i];

		if (index >= bound)
			return dare_fail(-EINVAL, "index[%llu] is %s %u in %s %zu, but the matrix has %zu %ss",
					 (unsigned long long)i, index_name, index, line_name, line, bound, index_name);
		if (last[index] == (uint64_t)line + 1)
			return dare_fail(-EINVAL, "index[%llu]: %s %zu has %s %u twice", (unsigned long long)i,
					 line_name, line, index_name, index);
		last[index] = (uint64_t)line + 1;
	}
	return 0;
}

static int check_lines(const struct dare_sparse *matrix, uint64_t *last)
{
	size_t lines = line_count(matrix);

	/* All of start[] first: only then is it known how long index[] is. */
	for (size_t line = 0; line < lines; line++) {
		if (matrix->start[line + 1] < matrix->start[line])
			return dare_fail(-EINVAL, "start[%zu] is %llu, less than the %llu before it", line + 1,
					 (unsigned long long)matrix->start[line + 1],
					 (unsigned long long)matrix->start[line]);
	}
	if (matrix->start[lines] > 0 && !matrix->index)
		return dare_fail(-EINVAL, "index is NULL");
	for (size_t line = 0; line < lines; line++) {
		int error = check_line(matrix, line, last);

		if (error)
			return error;
	}
	return 0;
}

static int check_matrix(const struct dare_sparse *matrix, unsigned int block)
{
	size_t bound;
	uint64_t *last;
	int error;

	if (block == 0 || block > DARE_BLOCK_MAX || (block & (block - 1)))
		return dare_fail(-EINVAL, "a block of %u: it must be 1, 2, 4, 8 or 16", block);
	if (matrix->layout != DARE_CSR && matrix->layout != DARE_CSC)
		return dare_fail(-EINVAL, "there is no layout %d", (int)matrix->layout);
	error = check_size(matrix);
	if (error)
		return error;
	bound = matrix->layout == DARE_CSR ? matrix->columns : matrix->rows;
	last = array(bound, sizeof(*last));
	if (!last)
		return no_memory(matrix);
	error = check_lines(matrix, last);
	free(last);
	return error;
}

static void by_rows_free(struct by_rows *by_rows)
{
	free(by_rows->own_start);
	free(by_rows->own_column);
	free(by_rows->own_element);
}

/* A counting sort by rows. start[] is one line behind while it is filled. */
static void transpose(struct by_rows *by_rows, const struct dare_sparse *matrix)
{
	uint64_t *start = by_rows->own_start;

	for (uint64_t i = 0; i < matrix->start[matrix->columns]; i++)
		start[matrix->index[i] + 2]++;
	for (size_t row = 0; row < matrix->rows; row++)
		start[row + 2] += start[row + 1];
	for (size_t column = 0; column < matrix->columns; column++) {
		for (uint64_t i = matrix->start[column]; i < matrix->start[column + 1]; i++) {
			uint64_t at = start[matrix->index[i] + 1]++;

			by_rows->own_column[at] = (uint32_t)column;
			by_rows->own_element[at] = i;
		}
	}
}

static int by_rows_make(struct by_rows *by_rows, const struct dare_sparse *matrix)
{
	uint64_t nonzeros = matrix->start[line_count(matrix)];

	memset(by_rows, 0, sizeof(*by_rows));
	if (matrix->layout == DARE_CSR) {
		by_rows->start = matrix->start;
		by_rows->column = matrix->index;
		return 0;
	}
	by_rows->own_start = array((uint64_t)matrix->rows + 2, sizeof(*by_rows->own_start));
	by_rows->own_column = array(nonzeros, sizeof(*by_rows->own_column));
	by_rows->own_element = array(nonzeros, sizeof(*by_rows->own_element));
	if (!by_rows->own_start || !by_rows->own_column || !by_rows->own_element) {
		by_rows_free(by_rows);
		return no_memory(matrix);
	}
	transpose(by_rows, matrix);
	by_rows->start = by_rows->own_start;
	by_rows->column = by_rows->own_column;
	by_rows->element = by_rows->own_element;
	return 0;
}

/* Leaves in start[J + 1] where block column J ends, and in start[J] where it begins. */
static void count_blocks(struct dare_blocks *blocks, const struct by_rows *by_rows,
			 struct column_state *state)
{
	for (size_t row = 0; row < blocks->rows; row++) {
		uint64_t block_row = row / blocks->block;

		for (uint64_t i = by_rows->start[row]; i < by_rows->start[row + 1]; i++) {
			size_t column = by_rows->column[i] / blocks->block;

			if (state[column].seen == block_row + 1)
				continue;
			state[column].seen = block_row + 1;
			blocks->start[column + 1]++;
		}
	}
	for (size_t column = 0; column < blocks->block_columns; column++)
		blocks->start[column + 1] += blocks->start[column];
}

static void place_elements(struct dare_blocks *blocks, const struct by_rows *by_rows,
			   struct column_state *state, uint16_t *filled)
{
	unsigned int size = blocks->block;

	for (size_t column = 0; column < blocks->block_columns; column++)
		state[column] = (struct column_state){ .block = blocks->start[column] - 1 };
	for (size_t row = 0; row < blocks->rows; row++) {
		uint64_t block_row = row / size;

		for (uint64_t i = by_rows->start[row]; i < by_rows->start[row + 1]; i++) {
			uint32_t column = by_rows->column[i];
			struct column_state *at = &state[column / size];

			if (at->seen != block_row + 1) {
				at->seen = block_row + 1;
				at->block++;
				blocks->row[at->block] = (uint32_t)block_row;
			}
			filled[at->block]++;
			blocks->position[by_rows->element ? by_rows->element[i] : i] =
				(at->block * size + row % size) * size + column % size;
		}
	}
}

/* Up to `most` blocks from `block` on; rows beyond the matrix are not counted. */
static void tile_set(const struct dare_blocks *blocks, uint64_t block, uint64_t count, struct dare_tile *tile)
{
	uint64_t last_end = ((uint64_t)blocks->row[block + count - 1] + 1) * blocks->block;

	tile->block = block;
	tile->blocks = (unsigned int)count;
	tile->rows = (unsigned int)count * blocks->block;
	if (last_end > blocks->rows)
		tile->rows -= (unsigned int)(last_end - blocks->rows);
	tile->row = (uint64_t)blocks->row[block] * blocks->block;
	tile->step = 1;
}

void dare_tile_group(const struct dare_blocks *blocks, uint64_t block, uint64_t end, struct dare_tile *tile)
{
	uint64_t most = DARE_ROWS / blocks->block;

	tile_set(blocks, block, end - block < most ? end - block : most, tile);
}

void dare_tile_run(const struct dare_blocks *blocks, uint64_t block, uint64_t end, struct dare_tile *tile)
{
	const uint32_t *row = blocks->row + block;
	uint64_t most = DARE_ROWS / blocks->block, count = 1;
	uint32_t step = 1;

	if (end - block < most)
		most = end - block;
	/* Rows within a block are neighbours, so the next block has to be one, too; a single row takes any. */
	if (blocks->block == 1 && most > 1)
		step = row[1] - row[0];
	while (count < most && row[count] - row[count - 1] == step)
		count++;
	tile_set(blocks, block, count, tile);
	tile->step = step;
}

static void count_tiles(struct dare_blocks *blocks)
{
	struct dare_tile tile;

	for (size_t column = 0; column < blocks->block_columns; column++) {
		uint64_t end = blocks->start[column + 1];

		for (uint64_t block = blocks->start[column]; block < end; block += tile.blocks) {
			dare_tile_run(blocks, block, end, &tile);
			blocks->statistics.runs++;
		}
		for (uint64_t block = blocks->start[column]; block < end; block += tile.blocks) {
			dare_tile_group(blocks, block, end, &tile);
			blocks->statistics.groups++;
		}
	}
}

static void make_statistics(struct dare_blocks *blocks, uint64_t nonzeros, const uint16_t *filled)
{
	struct dare_block_statistics *statistics = &blocks->statistics;
	unsigned int area = blocks->block * blocks->block;

	statistics->block = blocks->block;
	statistics->nonzeros = nonzeros;
	statistics->block_rows = ((uint64_t)blocks->rows + blocks->block - 1) / blocks->block;
	statistics->block_columns = blocks->block_columns;
	if (statistics->blocks > 0)
		statistics->fill = (double)nonzeros / ((double)statistics->blocks * area);
	for (uint64_t i = 0; i < statistics->blocks; i++)
		statistics->histogram[(filled[i] * DARE_FILL_CLASSES + area - 1) / area - 1]++;
	count_tiles(blocks);
}

/* Allocates the arrays by the number of blocks, which is known when they were counted. */
static int fill_blocks(struct dare_blocks *blocks, const struct by_rows *by_rows, uint64_t nonzeros,
		       struct column_state *state)
{
	uint64_t count = blocks->start[blocks->block_columns];
	uint16_t *filled = array(count, sizeof(*filled));

	blocks->row = array(count, sizeof(*blocks->row));
	blocks->position = array(nonzeros, sizeof(*blocks->position));
	if (!filled || !blocks->row || !blocks->position) {
		free(filled);
		return -ENOMEM;
	}
	blocks->statistics.blocks = count;
	place_elements(blocks, by_rows, state, filled);
	make_statistics(blocks, nonzeros, filled);
	free(filled);
	return 0;
}

static int make_blocks(struct dare_blocks *blocks, const struct dare_sparse *matrix)
{
	uint64_t nonzeros = matrix->start[line_count(matrix)];
	struct column_state *state = array(blocks->block_columns, sizeof(*state));
	struct by_rows by_rows;
	int error;

	blocks->start = array((uint64_t)blocks->block_columns + 1, sizeof(*blocks->start));
	error = state && blocks->start ? by_rows_make(&by_rows, matrix) : no_memory(matrix);
	if (error) {
		free(state);
		return error;
	}
	count_blocks(blocks, &by_rows, state);
	error = fill_blocks(blocks, &by_rows, nonzeros, state);
	if (error)
		no_memory(matrix);
	by_rows_free(&by_rows);
	free(state);
	return error;
}

int dare_blockify(struct dare_blocks **blocks, const struct dare_sparse *matrix, unsigned int block)
{
	struct dare_blocks *made;
	int error;

	if (!blocks)
		return dare_fail(-EINVAL, "blocks is NULL");
	*blocks = NULL;
	if (!matrix)
		return dare_fail(-EINVAL, "matrix is NULL");
	error = check_matrix(matrix, block);
	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return no_memory(matrix);
	made->rows = matrix->rows;
	made->columns = matrix->columns;
	made->block = block;
	made->block_columns = (size_t)(((uint64_t)matrix->columns + block - 1) / block);
	error = make_blocks(made, matrix);
	if (error) {
		dare_blocks_free(made);
		return error;
	}
	*blocks = made;
	return 0;
}

void dare_blocks_free(struct dare_blocks *blocks)
{
	if (!blocks)
		return;
	free(blocks->start);
	free(blocks->row);
	free(blocks->position);
	free(blocks);
}

int dare_blocks_statistics(const struct dare_blocks *blocks, struct dare_block_statistics *statistics)
{
	if (!blocks || !statistics)
		return dare_fail(-EINVAL, "%s is NULL", blocks ? "statistics" : "blocks");
	*statistics = blocks->statistics;
	return 0;
}
