/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mvin, mvout, MVOUT_SPAD. */
#include <float.h>
#include <string.h>

#include "tests/lib/virgo_reference_internal.h"

/* --- mvin ---------------------------------------------------------------------------------- */

/* The value that goes to the accumulator; zeros of address 0 are not scaled. */
static value value_in(const ref *r, uint64_t address, uint64_t from, unsigned int id)
{
	float scale = r->load[id].scale;
	value v = { .u = 0 };

	if (!address)
		return v;
	if (r->load[id].shrunk)
		return reference_scale_element(r, reference_read_element(r, memory_at(from)), scale);
	memcpy(&v, memory_at(from), 4);
	if (floats(r) && scale != 1)
		return reference_number(v.f * scale);
	return v;
}

static void to_spad(ref *r, unsigned int row, unsigned int column, uint64_t address, uint64_t from,
		    unsigned int id)
{
	void *to = reference_spad_at(r, row, column);
	value v;

	if (!address) {
		memset(to, 0, element_bytes(r));
		return;
	}
	if (r->load[id].scale == 1) {
		memcpy(to, memory_at(from), element_bytes(r));
		return;
	}
	v = reference_scale_element(r, reference_read_element(r, memory_at(from)), r->load[id].scale);
	reference_write_element(r, to, v);
}

void reference_mvin(ref *r, uint64_t address, uint32_t local, unsigned int rows, unsigned int columns,
		    unsigned int id)
{
	unsigned int row0 = local & 0x3ffffff, floor = row0 >= r->rows / 2 ? r->rows / 2 : 0;
	unsigned int size = local & ACCUMULATOR && !r->load[id].shrunk ? 4 : element_bytes(r);
	unsigned int width = columns < r->dim ? columns : r->dim;

	for (unsigned int i = 0; i < rows * columns; i++) {
		unsigned int row = i / columns, column = i % columns;
		unsigned int at = row0 + row + column / r->dim * r->load[id].block_stride;
		uint64_t from = address + row * r->load[id].stride + (uint64_t)column * size;

		if (local & ACCUMULATOR) {
			value *to = reference_accumulator_at(r, at, column % r->dim);
			value v = value_in(r, address, from, id);

			*to = local & ACCUMULATE ? reference_add(r, *to, v) : v;
			continue;
		}
		for (unsigned int p = 0; p < r->load[id].pixels && at >= floor + p; p++) {
			if (column % r->dim + p * width >= r->dim)
				break;
			to_spad(r, at - p, column % r->dim + p * width, address, from, id);
		}
	}
}

/* --- mvout -------------------------------------------------------------------------------- */

/* The element at a local address as it leaves; copied if it is in the scratchpad. */
static void element_out(ref *r, uint32_t local, unsigned int row, unsigned int column,
			unsigned int activation, void *to)
{
	if (local & ACCUMULATOR && local & FULL)
		memcpy(to, reference_accumulator_at(r, row, column), 4);
	else if (local & ACCUMULATOR)
		reference_write_element(r, to, reference_leave(r, *reference_accumulator_at(r, row, column),
							       activation, r->store_scale));
	else
		memcpy(to, reference_spad_at(r, row, column), element_bytes(r));
}

/* Columns of block `block` of a row that has `columns`. */
static unsigned int block_columns(const ref *r, unsigned int columns, unsigned int block)
{
	unsigned int left = columns - block * r->dim;

	return left < r->dim ? left : r->dim;
}

/* The operation of a move on one block: before the last block of a row SUM for MEAN, and so on. */
static unsigned int norm_of_block(uint32_t local, bool is_last)
{
	static const unsigned int before_last[8] = { 0, 1, 1, 3, 3, 5, 6, 6 };
	unsigned int what = bits(local, 26, 3);

	return is_last ? what : before_last[what];
}

void reference_mvout(ref *r, uint64_t address, uint32_t local, unsigned int rows, unsigned int columns,
		     unsigned int activation)
{
	unsigned int row0 = local & 0x3ffffff, size = local & FULL ? 4 : element_bytes(r);
	bool plain = !(local & ACCUMULATOR) || local & FULL;

	for (unsigned int row = 0; row < rows; row++) {
		for (unsigned int block = 0; block * r->dim < columns; block++) {
			unsigned int some = block_columns(r, columns, block), at = row0 + block * r->dim + row;
			uint64_t to = address + row * r->store_stride + (uint64_t)block * r->dim * size;
			unsigned int norm = norm_of_block(local, (block + 1) * r->dim >= columns);

			if (!plain && !reference_statistics(r, at, some, norm))
				continue;
			for (unsigned int c = 0; c < some; c++)
				element_out(r, local, at, c, activation, memory_at(to + c * size));
		}
	}
}

/* Pixel n of a window of the output; 0 outside of it. */
static value pixel_out(ref *r, uint32_t local, int prow, int pcolumn, int n, unsigned int channel,
		       unsigned int activation)
{
	int row = prow * (int)r->pool_stride + n / (int)r->pool_size - (int)r->pool_top;
	int column = pcolumn * (int)r->pool_stride + n % (int)r->pool_size - (int)r->pool_left;
	uint8_t element[4];

	if (row < 0 || column < 0 || row >= (int)r->out_rows || column >= (int)r->out_columns)
		return (value){ .u = 0 };
	element_out(r, local, (local & 0x3ffffff) + (unsigned int)(row * (int)r->out_columns + column), channel,
		    activation, element);
	if (local & ACCUMULATOR)
		reference_forget_sums(r, r->statistic);
	return reference_read_element(r, element);
}

static value largest_of_window(ref *r, uint32_t local, int prow, int pcolumn, unsigned int channel,
			       unsigned int activation)
{
	value best = { .i = -128 };

	if (floats(r))
		best.f = r->type == REFERENCE_FP16 ? -65504 : -FLT_MAX;
	for (int n = 0; n < (int)(r->pool_size * r->pool_size); n++) {
		value v = pixel_out(r, local, prow, pcolumn, n, channel, activation);

		if (floats(r) ? v.f > best.f : v.i > best.i)
			best = v;
	}
	return best;
}

void reference_mvout_pooled(ref *r, uint64_t address, uint32_t local, unsigned int columns,
			    unsigned int activation)
{
	for (unsigned int i = 0; i < r->pool_rows * r->pool_columns; i++) {
		unsigned int prow = i / r->pool_columns, pcolumn = i % r->pool_columns;
		uint64_t to = address + (prow * r->pool_out_columns + pcolumn) * r->store_stride;

		for (unsigned int c = 0; c < columns; c++)
			reference_write_element(r, memory_at(to + c * element_bytes(r)),
						largest_of_window(r, local, (int)prow, (int)pcolumn, c,
								  activation));
	}
}

void reference_mvout_spad(ref *r, uint32_t local, unsigned int rows, unsigned int columns, unsigned int to,
			  unsigned int stride, unsigned int activation)
{
	for (unsigned int row = 0; row < rows; row++) {
		for (unsigned int block = 0; block * r->dim < columns; block++) {
			unsigned int some = block_columns(r, columns, block), from = block * r->dim + row;
			unsigned int at = (local & 0x3ffffff) + from;
			unsigned int norm = norm_of_block(local, (block + 1) * r->dim >= columns);

			if (!reference_statistics(r, at, some, norm))
				continue;
			for (unsigned int c = 0; c < some; c++)
				element_out(r, local, at, c, activation,
					    reference_spad_at(r, to + from * stride, c));
		}
	}
}
