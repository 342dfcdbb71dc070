/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sparse matrix times sparse matrix, row by row of the result; irregular is
 * sum[b.column[k]], which is read, added to and written. So MAPLE cannot fetch it
 * ahead: decoupled, this kernel is the doall loop. LIMA fetches where B's rows are.
 */
#include "examples/maple/loops/loops.h"
#include "examples/maple/loops/operations.h"

/* Moves the contents of `sum` to row `row` of C; leaves zeros. */
static void gather(const struct spmm_loop *loop, uint32_t row, uint64_t *sum)
{
	uint32_t columns = loop->b.columns, *c_column = loop->c_column;
	uint64_t *c_value = loop->c_value;
	uint32_t first = loop->room[row];
	uint32_t at = first;

	for (uint32_t column = 0; column < columns; column++) {
		uint64_t value = sum[column];

		if (__builtin_expect(value == 0, 1))
			continue;
		c_column[at] = column;
		c_value[at] = value;
		sum[column] = 0;
		at++;
	}
	loop->c_count[row] = at - first;
}

/* One row of B, times one element of A. */
static inline void add_row(const uint32_t *column, const uint64_t *value, uint64_t factor, uint32_t k, uint32_t last,
			   uint64_t *sum)
{
	for (; k < last; k++)
		sum[column[k]] += factor * value[k];
}

void spmm_doall(const struct spmm_loop *loop, uint32_t begin, uint32_t end, uint64_t *sum)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	const uint64_t *value = loop->a_value, *extent = loop->extent;
	const uint32_t *b_column = loop->b.column;
	const uint64_t *b_value = loop->b_value;

	for (uint32_t row = begin; row < end; row++) {
		uint32_t j = start[row];
		uint32_t row_end = start[row + 1];

		for (; j < row_end; j++) {
			uint64_t place = extent[column[j]];

			add_row(b_column, b_value, value[j], (uint32_t)place, (uint32_t)(place >> 32), sum);
		}
		gather(loop, row, sum);
	}
}

static inline void add_row_prefetching(const uint32_t *column, const uint64_t *value, uint64_t factor, uint32_t k,
				       uint32_t last, uint64_t *sum)
{
	const uint32_t *ahead = column + PREFETCH_DISTANCE;

	for (; k < last; k++) {
		__builtin_prefetch(&sum[ahead[k]]);
		sum[column[k]] += factor * value[k];
	}
}

void spmm_prefetch(const struct spmm_loop *loop, uint32_t begin, uint32_t end, uint64_t *sum)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	const uint64_t *value = loop->a_value, *extent = loop->extent;
	const uint32_t *b_column = loop->b.column;
	const uint64_t *b_value = loop->b_value;

	for (uint32_t row = begin; row < end; row++) {
		uint32_t j = start[row];
		uint32_t row_end = start[row + 1];

		for (; j < row_end; j++) {
			uint64_t place = extent[column[j]];

			add_row_prefetching(b_column, b_value, value[j], (uint32_t)place, (uint32_t)(place >> 32), sum);
		}
		gather(loop, row, sum);
	}
}

void spmm_lima(const struct spmm_loop *loop, uint32_t begin, uint32_t end, uint64_t *sum, struct maple *maple,
	       unsigned int queue)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	const uint64_t *value = loop->a_value, *extent = loop->extent;
	const uint32_t *b_column = loop->b.column;
	const uint64_t *b_value = loop->b_value;
	uint32_t ahead = begin;

	for (uint32_t row = begin; row < end; row++) {
		uint32_t j = start[row];
		uint32_t row_end = start[row + 1];

		for (; ahead < end && ahead <= row + LIMA_DISTANCE; ahead++)
			lima_produce64(maple, queue, extent, column, start[ahead], start[ahead + 1]);
		for (; j < row_end; j++) {
			uint64_t place = consume64(maple, queue);

			add_row(b_column, b_value, value[j], (uint32_t)place, (uint32_t)(place >> 32), sum);
		}
		gather(loop, row, sum);
	}
}

static inline void supply_row(const uint32_t *column, const uint64_t *value, uint32_t k, uint32_t last, uint64_t *sum,
			      struct maple *maple, unsigned int queue, unsigned int back)
{
	for (; k < last; k++) {
		produce_pointer64(maple, queue, &value[k]);
		produce_pointer64(maple, queue, &sum[column[k]]);
		sum[column[k]] = consume64(maple, back);
	}
}

/* DeSC: the Supply side stores each sum before it may ask for the next. */
void spmm_supply(const struct spmm_loop *loop, uint32_t begin, uint32_t end, uint64_t *sum, struct maple *maple,
		 unsigned int queue, unsigned int back)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	const uint64_t *extent = loop->extent;
	const uint32_t *b_column = loop->b.column;
	const uint64_t *b_value = loop->b_value;

	for (uint32_t row = begin; row < end; row++) {
		uint32_t j = start[row];
		uint32_t row_end = start[row + 1];

		for (; j < row_end; j++) {
			uint64_t place = extent[column[j]];

			supply_row(b_column, b_value, (uint32_t)place, (uint32_t)(place >> 32), sum, maple, queue,
				   back);
		}
		gather(loop, row, sum);
	}
}

static inline void compute_row(uint64_t factor, uint32_t k, uint32_t last, struct maple *maple, unsigned int queue,
			       unsigned int back)
{
	for (; k < last; k++) {
		uint64_t product = factor * consume64(maple, queue);

		produce64(maple, back, product + consume64(maple, queue));
	}
}

void spmm_compute(const struct spmm_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue,
		  unsigned int back)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	const uint64_t *value = loop->a_value, *extent = loop->extent;

	for (uint32_t row = begin; row < end; row++) {
		uint32_t j = start[row];
		uint32_t row_end = start[row + 1];

		for (; j < row_end; j++) {
			uint64_t place = extent[column[j]];

			compute_row(value[j], (uint32_t)place, (uint32_t)(place >> 32), maple, queue, back);
		}
	}
}
