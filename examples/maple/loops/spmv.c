/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sparse matrix times vector; irregular is x[column[j]]. */
#include "examples/maple/loops/loops.h"
#include "examples/maple/loops/operations.h"

void spmv_doall(const struct spmv_loop *loop, uint32_t begin, uint32_t end)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	const uint64_t *value = loop->value, *x = loop->x;
	uint64_t *y = loop->y;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];
		uint64_t sum = 0;

		for (; j < row_end; j++)
			sum += value[j] * x[column[j]];
		y[row] = sum;
	}
}

void spmv_prefetch(const struct spmv_loop *loop, uint32_t begin, uint32_t end)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *ahead = column + PREFETCH_DISTANCE;
	const uint64_t *value = loop->value, *x = loop->x;
	uint64_t *y = loop->y;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];
		uint64_t sum = 0;

		for (; j < row_end; j++) {
			__builtin_prefetch(&x[ahead[j]]);
			sum += value[j] * x[column[j]];
		}
		y[row] = sum;
	}
}

/* Columns of a range of rows lie one after the other. */
void spmv_access(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *column = loop->a.column;
	const uint64_t *x = loop->x;
	uint32_t j = loop->a.start[begin];
	uint32_t last = loop->a.start[end];

	for (; j < last; j++)
		produce_pointer64(maple, queue, &x[column[j]]);
}

void spmv_execute(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *start = loop->a.start;
	const uint64_t *value = loop->value;
	uint64_t *y = loop->y;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];
		uint64_t sum = 0;

		for (; j < row_end; j++)
			sum += value[j] * consume64(maple, queue);
		y[row] = sum;
	}
}

void spmv_push(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared)
{
	const uint32_t *column = loop->a.column;
	const uint64_t *x = loop->x;
	uint32_t j = loop->a.start[begin];
	uint32_t last = loop->a.start[end];

	for (; j < last; j++)
		shared_queue_push(shared, x[column[j]]);
}

void spmv_pop(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared)
{
	const uint32_t *start = loop->a.start;
	const uint64_t *value = loop->value;
	uint64_t *y = loop->y;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];
		uint64_t sum = 0;

		for (; j < row_end; j++)
			sum += value[j] * shared_queue_pop(shared);
		y[row] = sum;
	}
}

void spmv_lima(const struct spmv_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	const uint64_t *value = loop->value, *x = loop->x;
	uint64_t *y = loop->y;
	uint32_t ahead = begin;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];
		uint64_t sum = 0;

		for (; ahead < end && ahead <= row + LIMA_DISTANCE; ahead++)
			lima_produce64(maple, queue, x, column, start[ahead], start[ahead + 1]);
		for (; j < row_end; j++)
			sum += value[j] * consume64(maple, queue);
		y[row] = sum;
	}
}
