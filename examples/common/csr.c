/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/csr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/array.h"

int csr_alloc(struct csr *csr, uint64_t rows, uint64_t columns, uint64_t nonzeros,
	      enum csr_values kind)
{
	memset(csr, 0, sizeof(*csr));
	csr->rows = rows;
	csr->columns = columns;
	csr->nonzeros = nonzeros;
	csr->kind = kind;
	csr->row_start = array_alloc(rows + 1, sizeof(*csr->row_start));
	csr->column = array_alloc(nonzeros, sizeof(*csr->column));
	csr->value = array_alloc(nonzeros, sizeof(*csr->value));
	if (csr->row_start && csr->column && csr->value)
		return 0;
	csr_free(csr);
	return -ENOMEM;
}

void csr_free(struct csr *csr)
{
	array_free(csr->row_start, csr->rows + 1, sizeof(*csr->row_start));
	array_free(csr->column, csr->nonzeros, sizeof(*csr->column));
	array_free(csr->value, csr->nonzeros, sizeof(*csr->value));
	memset(csr, 0, sizeof(*csr));
}

/* start[i] holds how many elements line i has; turns that into where each begins. */
static void counts_to_starts(uint64_t *start, uint64_t lines)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i <= lines; i++) {
		uint64_t count = start[i];

		start[i] = sum;
		sum += count;
	}
}

/*
 * Filling moves each start to the next line's. Moving them back costs less
 * than a second array of positions.
 */
static void restore_starts(uint64_t *start, uint64_t lines)
{
	memmove(start + 1, start, lines * sizeof(*start));
	start[0] = 0;
}

/* Rows become columns; as rows are taken in order, the new rows' columns ascend. */
int csr_transpose(struct csr *transposed, const struct csr *csr)
{
	int error = csr_alloc(transposed, csr->columns, csr->rows, csr->nonzeros, csr->kind);

	if (error)
		return error;
	for (uint64_t j = 0; j < csr->nonzeros; j++)
		transposed->row_start[csr->column[j]]++;
	counts_to_starts(transposed->row_start, transposed->rows);
	for (uint64_t row = 0; row < csr->rows; row++) {
		for (uint64_t j = csr->row_start[row]; j < csr->row_start[row + 1]; j++) {
			uint64_t at = transposed->row_start[csr->column[j]]++;

			transposed->column[at] = (uint32_t)row;
			transposed->value[at] = csr->value[j];
		}
	}
	restore_starts(transposed->row_start, transposed->rows);
	return 0;
}

/* The transposed matrix; its rows keep the order of the entries. */
static int sort_by_column(struct csr *by_column, uint64_t rows, uint64_t columns,
			  enum csr_values kind, const struct csr_entry *entries, uint64_t count)
{
	int error = csr_alloc(by_column, columns, rows, count, kind);

	if (error)
		return error;
	for (uint64_t i = 0; i < count; i++)
		by_column->row_start[entries[i].column]++;
	counts_to_starts(by_column->row_start, columns);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = by_column->row_start[entries[i].column]++;

		by_column->column[at] = entries[i].row;
		by_column->value[at] = entries[i].value;
	}
	restore_starts(by_column->row_start, columns);
	return 0;
}

int csr_from_entries(struct csr *csr, uint64_t rows, uint64_t columns, enum csr_values kind,
		     const struct csr_entry *entries, uint64_t count)
{
	struct csr by_column;
	int error;

	memset(csr, 0, sizeof(*csr));
	error = sort_by_column(&by_column, rows, columns, kind, entries, count);
	if (error)
		return error;
	error = csr_transpose(csr, &by_column);
	csr_free(&by_column);
	return error;
}

/* Merges row `row` of both without doubles and without `row` itself; counts only if `out` is NULL. */
static uint64_t merge_row(const struct csr *a, const struct csr *b, uint64_t row, uint32_t *out)
{
	uint64_t i = a->row_start[row], i_end = a->row_start[row + 1];
	uint64_t j = b->row_start[row], j_end = b->row_start[row + 1];
	uint64_t count = 0, last = row;

	while (i < i_end || j < j_end) {
		uint32_t column;

		if (j >= j_end || (i < i_end && a->column[i] <= b->column[j]))
			column = a->column[i++];
		else
			column = b->column[j++];
		if (column == row || (count > 0 && column == last))
			continue;
		last = column;
		if (out)
			out[count] = column;
		count++;
	}
	return count;
}

int csr_graph(struct csr *graph, const struct csr *csr)
{
	struct csr transposed;
	uint64_t total = 0;
	int error;

	memset(graph, 0, sizeof(*graph));
	if (csr->rows != csr->columns)
		return -EINVAL;
	error = csr_transpose(&transposed, csr);
	if (error)
		return error;
	for (uint64_t row = 0; row < csr->rows; row++)
		total += merge_row(csr, &transposed, row, NULL);
	error = csr_alloc(graph, csr->rows, csr->rows, total, CSR_INTEGER);
	if (!error) {
		for (uint64_t row = 0; row < csr->rows; row++) {
			uint64_t at = graph->row_start[row];

			graph->row_start[row + 1] = at + merge_row(csr, &transposed, row, graph->column + at);
		}
		for (uint64_t j = 0; j < total; j++)
			graph->value[j].integer = 1;
		graph->is_graph = true;
	}
	csr_free(&transposed);
	return error;
}

/* Row `row` of the blocks of row `row` / side of the matrix. Elements that are given twice stay neighbours. */
static uint64_t expand_row(struct csr *expanded, const struct csr *csr, unsigned int side, uint64_t row, uint64_t at)
{
	uint64_t end = csr->row_start[row / side + 1], next;

	for (uint64_t j = csr->row_start[row / side]; j < end; j = next) {
		for (next = j + 1; next < end && csr->column[next] == csr->column[j];)
			next++;
		for (unsigned int i = 0; i < side; i++) {
			for (uint64_t same = j; same < next; same++, at++) {
				expanded->column[at] = csr->column[j] * side + i;
				expanded->value[at] = csr->value[same];
			}
		}
	}
	return at;
}

int csr_expand(struct csr *expanded, const struct csr *csr, unsigned int side)
{
	uint64_t nonzeros, at = 0;
	int error;

	memset(expanded, 0, sizeof(*expanded));
	if (csr->rows > UINT32_MAX / side || csr->columns > UINT32_MAX / side)
		return -EINVAL;
	if (__builtin_mul_overflow(csr->nonzeros, (uint64_t)side * side, &nonzeros))
		return -ENOMEM;
	error = csr_alloc(expanded, csr->rows * side, csr->columns * side, nonzeros, csr->kind);
	for (uint64_t row = 0; row < expanded->rows && !error; row++) {
		at = expand_row(expanded, csr, side, row, at);
		expanded->row_start[row + 1] = at;
	}
	return error;
}

static uint64_t block_end(const uint64_t *start, uint64_t rows, uint64_t first_row, uint64_t target)
{
	uint64_t end = first_row + 1;

	while (end < rows && start[end + 1] - start[first_row] <= target)
		end++;
	return end;
}

int csr_blocks_make(struct csr_blocks *blocks, const uint64_t *start, uint64_t rows, uint64_t target)
{
	uint64_t count = 0;

	for (uint64_t row = 0; row < rows; row = block_end(start, rows, row, target))
		count++;
	blocks->first_row = calloc(count + 1, sizeof(*blocks->first_row));
	blocks->count = count;
	if (!blocks->first_row)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++)
		blocks->first_row[i + 1] = block_end(start, rows, blocks->first_row[i], target);
	return 0;
}

void csr_blocks_free(struct csr_blocks *blocks)
{
	free(blocks->first_row);
	memset(blocks, 0, sizeof(*blocks));
}
