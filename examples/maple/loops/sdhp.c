/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sparse-dense Hadamard product; irregular is the dense matrix's element at the place
 * of a sparse one.
 */
#include "examples/maple/loops/loops.h"
#include "examples/maple/loops/operations.h"

void sdhp_doall(const struct sdhp_loop *loop, uint32_t begin, uint32_t end)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *value = loop->value;
	uint32_t *result = loop->result;
	uint64_t width = loop->a.columns;
	const uint32_t *dense = loop->dense + begin * width;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];

		for (; j < row_end; j++)
			result[j] = value[j] * dense[column[j]];
		dense += width;
	}
}

/* A row's place in the dense matrix is another one's plus the width: prefetches run ahead by rows. */
void sdhp_prefetch(const struct sdhp_loop *loop, uint32_t begin, uint32_t end)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *value = loop->value;
	uint32_t *result = loop->result;
	uint64_t width = loop->a.columns;
	const uint32_t *dense = loop->dense + begin * width, *dense_ahead = dense + PREFETCH_ROWS * width;
	uint32_t ahead = start[begin + PREFETCH_ROWS];
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t ahead_end = start[row + PREFETCH_ROWS + 1];
		uint32_t row_end = start[row + 1];

		for (; ahead < ahead_end; ahead++)
			__builtin_prefetch(&dense_ahead[column[ahead]]);
		for (; j < row_end; j++)
			result[j] = value[j] * dense[column[j]];
		dense += width;
		dense_ahead += width;
	}
}

void sdhp_access(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	uint64_t width = loop->a.columns;
	const uint32_t *dense = loop->dense + begin * width;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];

		for (; j < row_end; j++)
			produce_pointer32(maple, queue, &dense[column[j]]);
		dense += width;
	}
}

/* Results of a range of rows lie one after the other, and two words come at a time. */
void sdhp_execute(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *value = loop->value;
	uint32_t *result = loop->result;
	uint32_t j = loop->a.start[begin];
	uint32_t last = loop->a.start[end];

	if ((last - j) % 2 == 1) {
		result[j] = value[j] * consume32(maple, queue);
		j++;
	}
	for (; j < last; j += 2) {
		uint64_t two = consume64(maple, queue);

		result[j] = value[j] * (uint32_t)two;
		result[j + 1] = value[j + 1] * (uint32_t)(two >> 32);
	}
}

void sdhp_push(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column;
	uint64_t width = loop->a.columns;
	const uint32_t *dense = loop->dense + begin * width;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];

		for (; j < row_end; j++)
			shared_queue_push(shared, dense[column[j]]);
		dense += width;
	}
}

void sdhp_pop(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct shared_queue *shared)
{
	const uint32_t *value = loop->value;
	uint32_t *result = loop->result;
	uint32_t j = loop->a.start[begin];
	uint32_t last = loop->a.start[end];

	for (; j < last; j++)
		result[j] = value[j] * (uint32_t)shared_queue_pop(shared);
}

/* The base moves with the row: a store more for each. */
void sdhp_lima(const struct sdhp_loop *loop, uint32_t begin, uint32_t end, struct maple *maple, unsigned int queue)
{
	const uint32_t *start = loop->a.start, *column = loop->a.column, *value = loop->value;
	uint32_t *result = loop->result;
	uint64_t width = loop->a.columns;
	const uint32_t *dense = loop->dense;
	uint32_t ahead = begin;
	uint32_t j = start[begin];

	for (uint32_t row = begin; row < end; row++) {
		uint32_t row_end = start[row + 1];

		for (; ahead < end && ahead <= row + LIMA_DISTANCE; ahead++)
			lima_produce32(maple, queue, dense + ahead * width, column, start[ahead], start[ahead + 1]);
		if ((row_end - j) % 2 == 1) {
			result[j] = value[j] * consume32(maple, queue);
			j++;
		}
		for (; j < row_end; j += 2) {
			uint64_t two = consume64(maple, queue);

			result[j] = value[j] * (uint32_t)two;
			result[j + 1] = value[j + 1] * (uint32_t)(two >> 32);
		}
	}
}
