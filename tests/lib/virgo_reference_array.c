/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* preload and compute. */
#include <math.h>
#include <string.h>

#include "tests/lib/virgo_reference_internal.h"

static value operand(ref *r, uint64_t packed, unsigned int row, unsigned int column, bool transposed,
		     unsigned int stride)
{
	uint32_t local = (uint32_t)packed;
	unsigned int mrow = transposed ? column : row, mcolumn = transposed ? row : column;
	uint8_t element[4];
	value zero = { .u = 0 }, v;

	if (local == GARBAGE || row >= bits(packed, 48, 16) || column >= bits(packed, 32, 16))
		return zero;
	if (!(local & ACCUMULATOR))
		return reference_read_element(r, reference_spad_at(r, local + mrow * stride, mcolumn));
	v = *reference_accumulator_at(r, (local & 0x3ffffff) + mrow * stride, mcolumn);
	reference_write_element(r, element, reference_leave(r, v, r->array_activation == 1, r->array_scale));
	return reference_read_element(r, element);
}

static value shifted(const ref *r, value v)
{
	double exact;

	if (!r->shift)
		return v;
	if (floats(r))
		return reference_number((float)ldexp((double)v.f, -(int)(r->shift > 2000 ? 2000 : r->shift)));
	exact = ldexp((double)v.i, -(int)(r->shift > 2000 ? 2000 : r->shift));
	return (value){ .i = (int32_t)nearbyint(exact) };
}

static void result(ref *r, unsigned int row, unsigned int column, value v)
{
	uint32_t local = (uint32_t)r->output;
	unsigned int at = (local & 0x3ffffff) + row * r->c_stride;

	if (!r->weight_stationary)
		v = shifted(r, v);
	if (local & ACCUMULATOR) {
		value *to = reference_accumulator_at(r, at, column);

		*to = local & ACCUMULATE ? reference_add(r, *to, v) : v;
		return;
	}
	if (r->array_activation == 1 && (floats(r) ? v.f < 0 : v.i < 0))
		v.u = 0;
	reference_write_element(r, reference_spad_at(r, at, column), v);
}

void reference_compute(ref *r, uint64_t a, uint64_t bd, bool fill)
{
	value outcome[32][32];
	unsigned int dim = r->dim;

	for (unsigned int i = 0; fill && i < dim; i++)
		for (unsigned int j = 0; j < dim; j++)
			r->array[i][j] = operand(r, r->preload, i, j,
						 r->weight_stationary && r->b_transposed, 1);
	for (unsigned int i = 0; i < dim; i++)
		for (unsigned int j = 0; j < dim; j++) {
			value sum = r->weight_stationary ? operand(r, bd, i, j, false, 1) : r->array[i][j];

			for (unsigned int k = 0; k < dim; k++) {
				value x = operand(r, a, i, k, r->a_transposed, r->a_stride);
				value y = r->weight_stationary ? r->array[k][j]
							       : operand(r, bd, k, j, r->b_transposed, 1);

				if (floats(r))
					sum.f += x.f * y.f;
				else
					sum.u += x.u * y.u;
			}
			outcome[i][j] = floats(r) ? reference_number(sum.f) : sum;
		}
	if (!r->weight_stationary)
		memcpy(r->array, outcome, sizeof(outcome));
	if ((uint32_t)r->output == GARBAGE)
		return;
	for (unsigned int i = 0; i < bits(r->output, 48, 16); i++)
		for (unsigned int j = 0; j < bits(r->output, 32, 16); j++)
			result(r, i, j, outcome[i][j]);
}
