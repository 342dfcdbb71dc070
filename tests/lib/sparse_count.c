/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Counts tiles, instructions and bytes of the sparse kernels as docs/libdare.md
 * describes them, from a list of the block rows of each block column.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sparse_case.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Elements of each block of one block column. */
static void block_column(const struct sparse_case *s, unsigned int block, size_t number, unsigned int *elements)
{
	size_t first = number * block, end = least(first + block, s->columns);

	memset(elements, 0, (s->rows / block + 1) * sizeof(*elements));
	for (uint64_t i = s->column_start[first]; i < s->column_start[end]; i++)
		elements[s->row[i] / block]++;
}

/* List of rows of the blocks that are there; returns how many rows. */
static size_t list_rows(const struct sparse_case *s, unsigned int block, const unsigned int *elements, size_t *rows)
{
	size_t count = 0;

	for (size_t row = 0; row < s->rows; row++) {
		if (elements[row / block])
			rows[count++] = row;
	}
	return count;
}

/*
 * Rows of the next tile from rows[at] on. Within a block rows are neighbours, so a run
 * of more than one block is of neighbours, too.
 */
static size_t tile_rows(const size_t *rows, size_t at, size_t count, bool is_gsa)
{
	size_t taken = 1;

	if (is_gsa)
		return least(16, count - at);
	while (at + taken < count && taken < 16 &&
	       (taken == 1 || rows[at + taken] - rows[at + taken - 1] == rows[at + 1] - rows[at]))
		taken++;
	return taken;
}

struct counting {
	const struct sparse_case *s;
	unsigned int block;
	bool is_gsa;
	size_t *rows;
	unsigned int *elements;
};

static void count_start(struct counting *counting, const struct sparse_case *s, unsigned int block, bool is_gsa)
{
	*counting = (struct counting){
		.s = s, .block = block, .is_gsa = is_gsa,
		.rows = calloc(s->rows + 1, sizeof(size_t)),
		.elements = calloc(s->rows / block + 1, sizeof(unsigned int)),
	};
	if (!counting->rows || !counting->elements)
		abort();
}

static void count_end(struct counting *counting)
{
	free(counting->rows);
	free(counting->elements);
}

void sparse_case_tiles(const struct sparse_case *s, unsigned int block, struct sparse_tiles *tiles)
{
	struct counting c;

	memset(tiles, 0, sizeof(*tiles));
	count_start(&c, s, block, false);
	for (size_t column = 0; column * block < s->columns; column++) {
		size_t count;

		block_column(s, block, column, c.elements);
		for (size_t row = 0; row * block < s->rows; row++) {
			tiles->blocks += c.elements[row] > 0;
			tiles->filled[c.elements[row]]++;
		}
		count = list_rows(s, block, c.elements, c.rows);
		for (size_t at = 0; at < count; at += tile_rows(c.rows, at, count, false))
			tiles->runs++;
		tiles->groups += (count + 15) / 16;
	}
	tiles->filled[0] = 0;
	count_end(&c);
}

static void load(struct sparse_count *count, uint64_t *kind, uint64_t rows, uint64_t bytes)
{
	(*kind)++;
	count->rows_loaded += rows;
	count->bytes_loaded += rows * bytes;
}

static void store(struct sparse_count *count, uint64_t *kind, uint64_t rows, uint64_t bytes)
{
	(*kind)++;
	count->rows_stored += rows;
	count->bytes_stored += rows * bytes;
}

static void multiply(struct sparse_count *count, uint64_t m, uint64_t n, uint64_t k)
{
	count->mma++;
	count->macs_used += m * n * k;
	count->macs_offered += 16 * 16 * 16;
}

/* One tile of rows, for all columns of C in tiles of 16, two or one at a time. */
static void count_spmm_tile(struct sparse_count *count, bool is_gsa, size_t columns, uint64_t rows, uint64_t k)
{
	for (size_t first = 0; first < columns;) {
		size_t tiles = columns - first >= 32 ? 2 : 1, width = least(16, columns - first);

		load(count, &count->mld, rows, k * 4);
		for (size_t i = 0; i < tiles; i++) {
			if (is_gsa)
				load(count, &count->mld, rows, 8);
			load(count, is_gsa ? &count->mgather : &count->mld, rows, width * 4);
			multiply(count, rows, width, k);
			store(count, is_gsa ? &count->mscatter : &count->mst, rows, width * 4);
		}
		first += tiles * width;
	}
}

void sparse_case_count_spmm(const struct sparse_case *s, unsigned int block, bool is_gsa, size_t columns,
			    struct sparse_count *count)
{
	struct counting c;

	memset(count, 0, sizeof(*count));
	count_start(&c, s, block, is_gsa);
	for (size_t column = 0; column * block < s->columns; column++) {
		uint64_t k = least(block, s->columns - column * block);
		size_t rows, taken;

		block_column(s, block, column, c.elements);
		rows = list_rows(s, block, c.elements, c.rows);
		for (size_t first = 0; rows > 0 && first < columns; first += 16)
			load(count, &count->mld, least(16, columns - first), k * 4);
		for (size_t at = 0; at < rows; at += taken) {
			taken = tile_rows(c.rows, at, rows, is_gsa);
			count_spmm_tile(count, is_gsa, columns, taken, k);
		}
	}
	count_end(&c);
}

/* One tile of rows for up to 64 elements of a row of A from `first` on. */
static void count_sddmm_tile(struct sparse_count *count, bool is_gsa, size_t first, size_t inner, uint64_t rows,
			     uint64_t width)
{
	load(count, &count->mld, rows, width * 4);
	for (size_t k = first; k < inner && k < first + 64; k += 16) {
		if (is_gsa)
			load(count, &count->mld, rows, 8);
		load(count, is_gsa ? &count->mgather : &count->mld, rows, least(16, inner - k) * 4);
		multiply(count, rows, width, least(16, inner - k));
	}
	store(count, &count->mst, rows, width * 4);
}

void sparse_case_count_sddmm(const struct sparse_case *s, unsigned int block, bool is_gsa, size_t inner,
			     struct sparse_count *count)
{
	struct counting c;

	memset(count, 0, sizeof(*count));
	count_start(&c, s, block, is_gsa);
	for (size_t column = 0; column * block < s->columns; column++) {
		uint64_t width = least(block, s->columns - column * block);
		size_t rows, taken;

		block_column(s, block, column, c.elements);
		rows = list_rows(s, block, c.elements, c.rows);
		for (size_t k = 0; rows > 0 && k < inner; k += 16)
			load(count, &count->mld, width, least(16, inner - k) * 4);
		for (size_t first = 0; first < inner; first += 64) {
			for (size_t at = 0; at < rows; at += taken) {
				taken = tile_rows(c.rows, at, rows, is_gsa);
				count_sddmm_tile(count, is_gsa, first, inner, taken, width);
			}
		}
	}
	count_end(&c);
}
