/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Matrices to tiles of 1 KB and back. */
#include <string.h>

#include "gemm.h"
#include "mimic/shuffle.h"

static void pack_rows(char *tiles, const struct dare_operand *operand, const struct dare_part *part)
{
	const size_t bytes = part->columns * operand->element;
	const size_t chunks = dare_pieces(bytes, DARE_ROW_BYTES);

	for (size_t row = 0; row < part->rows; row++) {
		const char *from = operand->elements +
				   ((part->row + row) * operand->leading + part->column) *
					   operand->element;
		char *to = dare_packed_tile(tiles, chunks, row / DARE_ROWS) +
			   row % DARE_ROWS * DARE_ROW_BYTES;
		size_t at = 0;

		/* a constant size is one move, not a call */
		for (; at + DARE_ROW_BYTES <= bytes; at += DARE_ROW_BYTES, to += DARE_REGISTER_BYTES)
			memcpy(to, from + at, DARE_ROW_BYTES);
		if (at < bytes)
			memcpy(to, from + at, bytes - at);
	}
}

/* Four rows of four 4-byte elements; sixteen of these make a full tile of fp32. */
typedef uint32_t four __attribute__((vector_size(16)));

static void transpose_four(char *to, const char *from, size_t stride)
{
	four a, b, c, d, ab_low, ab_high, cd_low, cd_high;

	memcpy(&a, from, 16);
	memcpy(&b, from + stride, 16);
	memcpy(&c, from + 2 * stride, 16);
	memcpy(&d, from + 3 * stride, 16);
	ab_low = MIMIC_SHUFFLE(a, b, 0, 4, 1, 5);
	ab_high = MIMIC_SHUFFLE(a, b, 2, 6, 3, 7);
	cd_low = MIMIC_SHUFFLE(c, d, 0, 4, 1, 5);
	cd_high = MIMIC_SHUFFLE(c, d, 2, 6, 3, 7);
	a = MIMIC_SHUFFLE(ab_low, cd_low, 0, 1, 4, 5);
	b = MIMIC_SHUFFLE(ab_low, cd_low, 2, 3, 6, 7);
	c = MIMIC_SHUFFLE(ab_high, cd_high, 0, 1, 4, 5);
	d = MIMIC_SHUFFLE(ab_high, cd_high, 2, 3, 6, 7);
	memcpy(to, &a, 16);
	memcpy(to + DARE_ROW_BYTES, &b, 16);
	memcpy(to + 2 * DARE_ROW_BYTES, &c, 16);
	memcpy(to + 3 * DARE_ROW_BYTES, &d, 16);
}

static void transpose_full_tile(char *to, const char *from, size_t stride)
{
	for (size_t k = 0; k < 16; k += 4) {
		for (size_t row = 0; row < 16; row += 4)
			transpose_four(to + row * DARE_ROW_BYTES + 4 * k, from + k * stride + 4 * row,
				       stride);
	}
}

/* `from` is element (k 0, row 0) of the tile; the operand's rows of k lie `stride` bytes apart. */
static void transpose_tile(char *to, const char *from, size_t stride, size_t rows, size_t depth,
			   unsigned int element)
{
	if (element == 4 && rows == DARE_ROWS && depth == DARE_ROW_BYTES / 4) {
		transpose_full_tile(to, from, stride);
		return;
	}
	for (size_t k = 0; k < depth; k++) {
		for (size_t row = 0; row < rows; row++)
			memcpy(to + row * DARE_ROW_BYTES + k * element,
			       from + k * stride + row * element, element);
	}
}

static void pack_columns(char *tiles, const struct dare_operand *operand,
			 const struct dare_part *part)
{
	const size_t step = DARE_ROW_BYTES / operand->element;
	const size_t chunks = dare_pieces(part->columns, step);
	const size_t stride = operand->leading * operand->element;

	for (size_t chunk = 0; chunk < chunks; chunk++) {
		const char *from = operand->elements + (part->column + chunk * step) * stride +
				   part->row * operand->element;
		size_t depth = dare_smaller(part->columns - chunk * step, step);

		for (size_t row = 0; row < part->rows; row += DARE_ROWS)
			transpose_tile(dare_packed_tile(tiles, chunks, row / DARE_ROWS) +
					       chunk * DARE_REGISTER_BYTES,
				       from + row * operand->element, stride,
				       dare_smaller(part->rows - row, DARE_ROWS), depth,
				       operand->element);
	}
}

void dare_pack(char *tiles, const struct dare_operand *operand, const struct dare_part *part)
{
	if (operand->is_transposed)
		pack_columns(tiles, operand, part);
	else
		pack_rows(tiles, operand, part);
}

static char *sums_row(const char *c, size_t leading, const struct dare_part *part, size_t row)
{
	return (char *)c + ((part->row + row) * leading + part->column) * 4;
}

static size_t sums_place(const struct dare_part *part, size_t row)
{
	return (row / DARE_ROWS * dare_pieces(part->columns, DARE_ROWS) * DARE_ROWS +
		row % DARE_ROWS) * DARE_ROW_BYTES;
}

void dare_pack_sums(char *tiles, const char *c, size_t leading, const struct dare_part *part)
{
	const size_t bytes = part->columns * 4;

	for (size_t row = 0; row < part->rows; row++) {
		const char *from = sums_row(c, leading, part, row);
		char *to = tiles + sums_place(part, row);

		for (size_t at = 0; at < bytes; at += DARE_ROW_BYTES, to += DARE_REGISTER_BYTES)
			memcpy(to, from + at, dare_smaller(bytes - at, DARE_ROW_BYTES));
	}
}

void dare_unpack_sums(const char *tiles, char *c, size_t leading, const struct dare_part *part)
{
	const size_t bytes = part->columns * 4;

	for (size_t row = 0; row < part->rows; row++) {
		char *to = sums_row(c, leading, part, row);
		const char *from = tiles + sums_place(part, row);

		for (size_t at = 0; at < bytes; at += DARE_ROW_BYTES, from += DARE_REGISTER_BYTES)
			memcpy(to + at, from, dare_smaller(bytes - at, DARE_ROW_BYTES));
	}
}
