/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/virgo_reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ACCUMULATOR 0x80000000u
#define ACCUMULATE 0x40000000u
#define FULL 0x20000000u
#define GARBAGE 0xffffffffu

typedef struct virgo_reference ref;
typedef union reference_value value;

static unsigned int bits(uint64_t from, unsigned int low, unsigned int count)
{
	return (unsigned int)(from >> low & ((1ull << count) - 1));
}

static float as_float(unsigned int pattern)
{
	return (value){ .u = pattern }.f;
}

static bool floats(const ref *r)
{
	return r->type != REFERENCE_INT8;
}

static unsigned int element_bytes(const ref *r)
{
	return r->type == REFERENCE_INT8 ? 1 : r->type == REFERENCE_FP16 ? 2 : 4;
}

/* --- arithmetic ------------------------------------------------------------------------ */

static value number(float f)
{
	value v = { .f = f };

	if (isnan(f))
		v.u = 0x7fc00000;
	return v;
}

static int32_t nearest(float x)
{
	double rounded = nearbyint((double)x);

	if (isnan(x) || rounded > 2147483647.0)
		return INT32_MAX;
	return rounded < -2147483648.0 ? INT32_MIN : (int32_t)rounded;
}

static int32_t clip(int32_t x)
{
	return x > 127 ? 127 : x < -128 ? -128 : x;
}

static value add(const ref *r, value a, value b)
{
	if (floats(r))
		return number(a.f + b.f);
	return (value){ .u = a.u + b.u };
}

static value read_element(const ref *r, const void *from)
{
	value v = { .u = 0 };
	_Float16 half;

	switch (r->type) {
	case REFERENCE_INT8:
		v.i = *(const int8_t *)from;
		return v;
	case REFERENCE_FP16:
		memcpy(&half, from, 2);
		return number((float)half);
	default:
		memcpy(&v, from, 4);
		return v;
	}
}

static void write_element(const ref *r, void *to, value v)
{
	_Float16 half = (_Float16)v.f;
	uint16_t nan = 0x7e00;

	switch (r->type) {
	case REFERENCE_INT8:
		*(int8_t *)to = (int8_t)clip(v.i);
		return;
	case REFERENCE_FP16:
		memcpy(to, isnan(v.f) ? (void *)&nan : (void *)&half, 2);
		return;
	default:
		memcpy(to, &v, 4);
	}
}

/* An element times a scale is an element. */
static value scale_element(const ref *r, value v, float scale)
{
	uint8_t element[4];

	if (scale == 1)
		return v;
	if (floats(r))
		v = number(v.f * scale);
	else
		v.i = nearest((float)v.i * scale);
	write_element(r, element, v);
	return read_element(r, element);
}

/* --- memories ---------------------------------------------------------------------------- */

static void *spad_at(ref *r, unsigned int row, unsigned int column)
{
	if (row >= r->rows || column >= r->dim)
		abort();
	return r->spad + ((size_t)row * r->dim + column) * element_bytes(r);
}

static value *accumulator_at(ref *r, unsigned int row, unsigned int column)
{
	if (row >= r->accumulator_rows || column >= r->dim)
		abort();
	return &r->accumulator[(size_t)row * r->dim + column];
}

static void *memory_at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* --- mvin ---------------------------------------------------------------------------------- */

static void mvin(ref *r, uint64_t address, uint32_t local, unsigned int rows, unsigned int columns,
		 unsigned int id)
{
	unsigned int row0 = local & 0x3ffffff, floor = row0 >= r->rows / 2 ? r->rows / 2 : 0;

	for (unsigned int row = 0; row < rows; row++) {
		for (unsigned int column = 0; column < columns; column++) {
			unsigned int at = row0 + row + column / r->dim * r->load[id].block_stride;
			unsigned int size = local & ACCUMULATOR && !r->load[id].shrunk ? 4 : element_bytes(r);
			uint64_t from = address + row * r->load[id].stride + (uint64_t)column * size;
			value zero = { .u = 0 }, v = zero;

			if (local & ACCUMULATOR) {
				value *to = accumulator_at(r, at, column % r->dim);

				if (address && r->load[id].shrunk) {
					v = scale_element(r, read_element(r, memory_at(from)), r->load[id].scale);
				} else if (address) {
					memcpy(&v, memory_at(from), 4);
					if (floats(r) && r->load[id].scale != 1)
						v = number(v.f * r->load[id].scale);
				}
				if (!address && floats(r) && r->load[id].scale != 1)
					v = number(0 * r->load[id].scale);
				*to = local & ACCUMULATE ? add(r, *to, v) : v;
				continue;
			}
			for (unsigned int p = 0; p < r->load[id].pixels && at >= floor + p; p++) {
				unsigned int some = columns < r->dim ? columns : r->dim;
				unsigned int c = column % r->dim + p * some;

				if (c >= r->dim)
					break;
				if (r->load[id].scale == 1) {
					memcpy(spad_at(r, at - p, c), address ? memory_at(from) : &zero, size);
					continue;
				}
				v = address ? read_element(r, memory_at(from)) : zero;
				write_element(r, spad_at(r, at - p, c), scale_element(r, v, r->load[id].scale));
			}
		}
	}
}

/* --- activations -------------------------------------------------------------------------- */

static value exponential(const ref *r, value q)
{
	if (floats(r)) {
		float z = floorf(-q.f * r->qln2_inverse.f), p;

		if (!(z < 127))
			return isnan(z) ? number(NAN) : number(0);
		if (z < 0)
			z = 0;
		p = q.f + z * r->qln2.f + r->qb.f;
		return number(ldexpf(p * p + r->qc.f, -(int)z));
	}
	int64_t z = (-(int64_t)q.i * r->qln2_inverse.i) >> 16;
	uint32_t p = q.u + (uint32_t)z * r->qln2.u + r->qb.u;

	return (value){ .u = z < 0 || z >= 32 ? 0 : (p * p + r->qc.u) >> z };
}

static value igelu(const ref *r, value q)
{
	if (floats(r)) {
		float clipped = fminf(fabsf(q.f), -r->qb.f) + r->qb.f;
		float poly = clipped * clipped + r->qc.f;

		return number(q.f * ((q.f < 0 ? -poly : poly) + r->qc.f));
	}
	int64_t magnitude = q.i < 0 ? -(int64_t)q.i : q.i, limit = -(int64_t)r->qb.i;
	int64_t clipped = (magnitude > limit ? limit : magnitude) + r->qb.i;
	uint32_t poly = (uint32_t)clipped * (uint32_t)clipped + r->qc.u;

	return (value){ .u = q.u * ((q.i < 0 ? -poly : poly) + r->qc.u) };
}

static value difference(const ref *r, value a, value b)
{
	return floats(r) ? number(a.f - b.f) : (value){ .u = a.u - b.u };
}

static unsigned int out_activation(const ref *r)
{
	unsigned int activation = r->store_activation + 4 * r->activation_high;

	return activation > 4 ? 0 : activation;
}

/* A value of the accumulator as the element that leaves. */
static value leave(const ref *r, value v, unsigned int activation, float scale)
{
	if (activation == 2)
		v = difference(r, v, r->statistics[r->statistic].mean);
	if (activation == 4)
		v = exponential(r, difference(r, v, r->statistics[r->statistic].max));
	if (activation == 3)
		v = igelu(r, v);
	if (activation == 2)
		scale = r->statistics[r->statistic].inverse_deviation * scale;
	if (activation == 4)
		scale = r->statistics[r->statistic].inverse_sum * scale;
	if (floats(r)) {
		if (scale != 1)
			v = number(v.f * scale);
		if (activation == 1 && v.f < 0)
			v.f = 0;
		return v;
	}
	v.i = clip(scale == 1 ? v.i : nearest((float)v.i * scale));
	if (activation == 1 && v.i < 0)
		v.i = 0;
	return v;
}

/* --- mvout -------------------------------------------------------------------------------- */

static void forget_sums(ref *r, unsigned int id)
{
	r->statistics[id].sum.u = 0;
	r->statistics[id].count = 0;
	r->statistics[id].running_max = floats(r) ? number(-INFINITY) : (value){ .i = INT32_MIN };
}

static bool statistics(ref *r, unsigned int row, unsigned int columns, unsigned int what)
{
	unsigned int id = r->statistic;
	value mean = { .u = 0 };

	if (!what) {
		forget_sums(r, id);
		return true;
	}
	for (unsigned int c = 0; c < columns; c++) {
		value v = *accumulator_at(r, row, c), d;

		if (what == 5) {
			if (floats(r) ? v.f > r->statistics[id].running_max.f
				      : v.i > r->statistics[id].running_max.i)
				r->statistics[id].running_max = v;
			continue;
		}
		d = difference(r, v, r->statistics[id].mean);
		if (what == 3 || what == 4)
			v = floats(r) ? number(d.f * d.f) : (value){ .u = d.u * d.u };
		if (what == 6 || what == 7)
			v = exponential(r, difference(r, v, r->statistics[id].max));
		r->statistics[id].sum = add(r, r->statistics[id].sum, v);
		r->statistics[id].count++;
	}
	if (what == 5)
		r->statistics[id].max = r->statistics[id].running_max;
	if (what != 2 && what != 4 && what != 7)
		return false;
	if (r->statistics[id].count && floats(r))
		mean = number(r->statistics[id].sum.f / (float)r->statistics[id].count);
	else if (r->statistics[id].count)
		mean.i = (int32_t)((int64_t)r->statistics[id].sum.i / r->statistics[id].count);
	if (what == 2)
		r->statistics[id].mean = mean;
	if (what == 4) {
		float root = floats(r) ? sqrtf(mean.f)
				       : mean.i > 0 ? (float)floor(sqrt((double)mean.i)) : 0;

		r->statistics[id].inverse_deviation = number(1 / (root == 0 ? 1 : root)).f;
	}
	if (what == 7)
		r->statistics[id].inverse_sum = floats(r)
			? number(1 / r->statistics[id].sum.f).f
			: 127 / (float)r->statistics[id].sum.i;
	r->statistics[id].sum.u = 0;
	r->statistics[id].count = 0;
	return false;
}

/* The element at a local address as it leaves; copied if it is in the scratchpad. */
static void element_out(ref *r, uint32_t local, unsigned int row, unsigned int column,
			unsigned int activation, void *to)
{
	if (local & ACCUMULATOR && local & FULL)
		memcpy(to, accumulator_at(r, row, column), 4);
	else if (local & ACCUMULATOR)
		write_element(r, to, leave(r, *accumulator_at(r, row, column), activation, r->store_scale));
	else
		memcpy(to, spad_at(r, row, column), element_bytes(r));
}

static void mvout(ref *r, uint64_t address, uint32_t local, unsigned int rows, unsigned int columns,
		  unsigned int activation)
{
	unsigned int row0 = local & 0x3ffffff, size = local & FULL ? 4 : element_bytes(r);
	bool plain = !(local & ACCUMULATOR) || local & FULL;

	for (unsigned int row = 0; row < rows; row++) {
		for (unsigned int block = 0; block * r->dim < columns; block++) {
			unsigned int some = columns - block * r->dim < r->dim ? columns - block * r->dim : r->dim;
			unsigned int at = row0 + block * r->dim + row;

			if (!plain && !statistics(r, at, some, bits(local, 26, 3)))
				continue;
			for (unsigned int c = 0; c < some; c++)
				element_out(r, local, at, c, activation,
					    memory_at(address + row * r->store_stride +
						      (uint64_t)(block * r->dim + c) * size));
		}
	}
}

static void mvout_pooled(ref *r, uint64_t address, uint32_t local, unsigned int columns,
			 unsigned int activation)
{
	for (int prow = 0; prow < (int)r->pool_rows; prow++)
		for (int pcolumn = 0; pcolumn < (int)r->pool_columns; pcolumn++)
			for (unsigned int c = 0; c < columns; c++) {
				uint8_t element[4];
				value best = floats(r) ? number(r->type == REFERENCE_FP16 ? -65504 : -FLT_MAX)
						       : (value){ .i = -128 };

				for (int n = 0; n < (int)(r->pool_size * r->pool_size); n++) {
					int row = prow * (int)r->pool_stride + n / (int)r->pool_size - (int)r->pool_top;
					int column = pcolumn * (int)r->pool_stride + n % (int)r->pool_size -
						     (int)r->pool_left;
					value v = { .u = 0 };

					if (row >= 0 && column >= 0 && row < (int)r->out_rows &&
					    column < (int)r->out_columns) {
						element_out(r, local, (local & 0x3ffffff) +
							    (unsigned int)row * r->out_columns + (unsigned int)column,
							    c, activation, element);
						v = read_element(r, element);
						if (local & ACCUMULATOR)
							forget_sums(r, r->statistic);
					}
					if (floats(r) ? v.f > best.f : v.i > best.i)
						best = v;
				}
				write_element(r, memory_at(address + (unsigned int)(prow * (int)r->pool_out_columns +
						      pcolumn) * r->store_stride + c * element_bytes(r)), best);
			}
}

static void mvout_spad(ref *r, uint32_t local, unsigned int rows, unsigned int columns,
		       unsigned int to, unsigned int stride, unsigned int activation)
{
	for (unsigned int row = 0; row < rows; row++) {
		for (unsigned int block = 0; block * r->dim < columns; block++) {
			unsigned int some = columns - block * r->dim < r->dim ? columns - block * r->dim : r->dim;
			unsigned int from = block * r->dim + row, at = (local & 0x3ffffff) + from;

			if (!statistics(r, at, some, bits(local, 26, 3)))
				continue;
			for (unsigned int c = 0; c < some; c++)
				element_out(r, local, at, c, activation, spad_at(r, to + from * stride, c));
		}
	}
}

/* --- the array ------------------------------------------------------------------------------ */

static value operand(ref *r, uint64_t packed, unsigned int row, unsigned int column, bool transposed,
		     unsigned int stride)
{
	uint32_t local = (uint32_t)packed;
	unsigned int mrow = transposed ? column : row, mcolumn = transposed ? row : column;
	uint8_t element[4];
	value zero = { .u = 0 };

	if (local == GARBAGE || row >= bits(packed, 48, 16) || column >= bits(packed, 32, 16))
		return zero;
	if (!(local & ACCUMULATOR))
		return read_element(r, spad_at(r, local + mrow * stride, mcolumn));
	write_element(r, element, leave(r, *accumulator_at(r, (local & 0x3ffffff) + mrow * stride, mcolumn),
					r->array_activation == 1, r->array_scale));
	return read_element(r, element);
}

static value shifted(const ref *r, value v)
{
	double exact;

	if (!r->shift)
		return v;
	if (floats(r))
		return number((float)ldexp((double)v.f, -(int)(r->shift > 2000 ? 2000 : r->shift)));
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
		value *to = accumulator_at(r, at, column);

		*to = local & ACCUMULATE ? add(r, *to, v) : v;
		return;
	}
	if (r->array_activation == 1 && (floats(r) ? v.f < 0 : v.i < 0))
		v.u = 0;
	write_element(r, spad_at(r, at, column), v);
}

static void compute(ref *r, uint64_t a, uint64_t bd, bool fill)
{
	value outcome[16][16];
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
			outcome[i][j] = floats(r) ? number(sum.f) : sum;
		}
	if (!r->weight_stationary)
		memcpy(r->array, outcome, sizeof(outcome));
	if ((uint32_t)r->output == GARBAGE)
		return;
	for (unsigned int i = 0; i < bits(r->output, 48, 16); i++)
		for (unsigned int j = 0; j < bits(r->output, 32, 16); j++)
			result(r, i, j, outcome[i][j]);
}

/* --- CONFIG ----------------------------------------------------------------------------------- */

static void config(ref *r, uint64_t rs1, uint64_t rs2)
{
	unsigned int id = bits(rs1, 3, 2);

	switch (rs1 & 3) {
	case 0:
		r->a_stride = bits(rs1, 16, 16);
		r->c_stride = bits(rs2, 48, 16);
		if (bits(rs1, 7, 1))
			return;
		r->weight_stationary = bits(rs1, 2, 1);
		r->array_activation = bits(rs1, 3, 2);
		r->a_transposed = bits(rs1, 8, 1);
		r->b_transposed = bits(rs1, 9, 1);
		r->array_scale = as_float(bits(rs1, 32, 32));
		r->shift = (unsigned int)rs2;
		return;
	case 1:
		r->load[id].stride = rs2;
		r->load[id].shrunk = bits(rs1, 2, 1);
		r->load[id].pixels = bits(rs1, 8, 8) ? bits(rs1, 8, 8) : 1;
		r->load[id].block_stride = bits(rs1, 16, 16);
		r->load[id].scale = as_float(bits(rs1, 32, 32));
		return;
	case 2:
		r->store_stride = (uint32_t)rs2;
		if (bits(rs2, 32, 32) != 0xffffffff)
			r->store_scale = as_float(bits(rs2, 32, 32));
		r->store_activation = bits(rs1, 2, 2);
		r->pool_stride = bits(rs1, 4, 2);
		r->pool_size = bits(rs1, 6, 2);
		r->pool_top = bits(rs1, 8, 2);
		r->pool_left = bits(rs1, 10, 2);
		r->pool_out_columns = bits(rs1, 24, 8);
		r->pool_rows = bits(rs1, 32, 8);
		r->pool_columns = bits(rs1, 40, 8);
		r->out_rows = bits(rs1, 48, 8);
		r->out_columns = bits(rs1, 56, 8);
		return;
	default:
		r->statistic = bits(rs1, 8, 8);
		if (bits(rs1, 17, 1))
			return;
		r->activation_high = bits(rs1, 16, 1);
		if (bits(rs1, 18, 1))
			r->qln2_inverse.u = bits(rs1, 32, 32);
		else
			r->qln2.u = bits(rs1, 32, 32);
		r->qb.u = (uint32_t)rs2;
		r->qc.u = bits(rs2, 32, 32);
	}
}

/* --- LOOP_WS ------------------------------------------------------------------------------------ */

struct ws {
	unsigned int I, J, K, pad_i, pad_j, pad_k;
	uint64_t a, b, d, c, a_stride, b_stride, d_stride, c_stride;
};

static unsigned int edge(const ref *r, unsigned int at, unsigned int count, unsigned int pad)
{
	return r->dim - (at + 1 == count ? pad : 0);
}

static uint64_t pack(unsigned int rows, unsigned int columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

/* The single block moves of one matrix, column blocks innermost. */
static void block_moves(ref *r, unsigned int id, uint64_t address, uint64_t stride, unsigned int size,
			uint32_t local, unsigned int rows, unsigned int row_pad, unsigned int columns,
			unsigned int column_pad)
{
	for (unsigned int i = 0; i < rows; i++)
		for (unsigned int j = 0; j < columns; j++) {
			unsigned int keep = r->load[id].pixels;

			r->load[id].pixels = 1;
			mvin(r, address + (i * stride + j) * r->dim * size,
			     local + (i * columns + j) * r->dim, edge(r, i, rows, row_pad),
			     edge(r, j, columns, column_pad), id);
			r->load[id].pixels = keep;
		}
}

static void ws_store(ref *r, const struct ws *w, uint64_t rs1, uint64_t rs2)
{
	static const unsigned int visits[2][3][2] = { { { 1, 2 }, { 3, 4 }, { 0, 0 } },
						      { { 5, 5 }, { 6, 7 }, { 0, 0 } } };
	unsigned int activation = bits(rs1, 8, 3), full = bits(rs1, 1, 1);
	bool norm = (activation == 2 || activation == 4) && !full, spad = bits(rs2, 9, 1);
	unsigned int c_spad = bits(rs2, 32, 32) ? bits(rs2, 32, 32) : (unsigned int)r->ws[12];

	for (unsigned int i = 0; i < w->I; i++)
		for (unsigned int row = 0; row < edge(r, i, w->I, w->pad_i); row++)
			for (unsigned int visit = norm ? 0 : 2; visit < 3; visit++)
				for (unsigned int j = 0; j < w->J; j++) {
					unsigned int columns = edge(r, j, w->J, w->pad_j);
					unsigned int what = visits[activation == 4][visit][j + 1 == w->J];
					unsigned int block = (i * w->J + j) * r->dim + row;
					uint32_t local = ACCUMULATOR | (full ? FULL : 0) | what << 26 |
							 (r->accumulator_base + block);
					unsigned int act = norm ? activation : out_activation(r);

					if (norm)
						r->statistic = row % 4;
					if (spad)
						mvout_spad(r, local, 1, columns, c_spad + block, 1, act);
					else
						mvout(r, w->c + (i * w->c_stride + j) * r->dim *
						      (full ? 4 : element_bytes(r)) + row * r->store_stride,
						      local, 1, columns, act);
				}
}

static void ws_execute(ref *r, const struct ws *w, uint64_t rs1, uint64_t rs2, unsigned int a,
		       unsigned int b)
{
	unsigned int a_stride = r->a_stride, c_stride = r->c_stride;
	bool weight_stationary = r->weight_stationary;

	r->a_stride = 1;
	r->c_stride = 1;
	r->weight_stationary = true;
	for (unsigned int k = 0; k < w->K; k++)
		for (unsigned int j = 0; j < w->J; j++)
			for (unsigned int i = 0; i < w->I; i++) {
				unsigned int rows = edge(r, i, w->I, w->pad_i), columns = edge(r, j, w->J, w->pad_j);
				unsigned int depth = edge(r, k, w->K, w->pad_k);
				unsigned int ab = (rs2 & 1 ? k * w->I + i : i * w->K + k) * r->dim;
				unsigned int bb = (rs2 & 2 ? j * w->K + k : k * w->J + j) * r->dim;
				uint32_t out = ACCUMULATOR | (rs1 & 1 || k ? ACCUMULATE : 0) |
					       (r->accumulator_base + (i * w->J + j) * r->dim);

				r->preload = pack(depth, columns, i ? GARBAGE : b + bb);
				r->output = pack(rows, columns, out);
				compute(r, pack(rows, depth, a + ab), pack(rows, columns, GARBAGE), !i);
			}
	r->a_stride = a_stride;
	r->c_stride = c_stride;
	r->weight_stationary = weight_stationary;
}

static void loop_ws(ref *r, uint64_t rs1, uint64_t rs2)
{
	const uint64_t *p = r->ws;
	struct ws w = {
		bits(p[1], 0, 16), bits(p[1], 16, 16), bits(p[1], 32, 16),
		bits(p[0], 0, 16), bits(p[0], 16, 16), bits(p[0], 32, 16),
		p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9],
	};
	unsigned int a_id = bits(rs1, 18, 2), b_id = bits(rs1, 16, 2), half = r->rows / 2, blocks[3], a, b;
	unsigned int size = element_bytes(r);
	bool residual = bits(rs2, 2, 1);

	for (unsigned int n = 0; n < 3; n++) {
		blocks[n] = r->load[n].block_stride;
		r->load[n].block_stride = r->dim;
	}
	a = p[11] ? (unsigned int)p[10] : a_id == 2 ? half : 0;
	b = (p[11] ? (unsigned int)p[11] : b_id == 2 ? r->rows : half) - w.K * w.J * r->dim;
	if (residual) {
		if (w.a && !bits(rs2, 3, 1))
			block_moves(r, 0, w.a, w.a_stride, size, ACCUMULATOR + r->accumulator_base, w.I, w.pad_i,
				    w.J, w.pad_j);
		if (w.b && !bits(rs2, 4, 1))
			block_moves(r, 1, w.b, w.b_stride, size, ACCUMULATOR + ACCUMULATE + r->accumulator_base,
				    w.I, w.pad_i, w.J, w.pad_j);
	} else {
		if (w.d && !bits(rs2, 5, 1))
			block_moves(r, 2, w.d, w.d_stride, bits(rs1, 2, 1) ? size : 4,
				    ACCUMULATOR + r->accumulator_base, w.I, w.pad_i, w.J, w.pad_j);
		if (w.a && !bits(rs2, 3, 1) && rs2 & 1)
			block_moves(r, 0, w.a, w.a_stride, size, a, w.K, w.pad_k, w.I, w.pad_i);
		else if (w.a && !bits(rs2, 3, 1))
			block_moves(r, 0, w.a, w.a_stride, size, a, w.I, w.pad_i, w.K, w.pad_k);
		if (w.b && !bits(rs2, 4, 1) && rs2 & 2)
			block_moves(r, 1, w.b, w.b_stride, size, b, w.J, w.pad_j, w.K, w.pad_k);
		else if (w.b && !bits(rs2, 4, 1))
			block_moves(r, 1, w.b, w.b_stride, size, b, w.K, w.pad_k, w.J, w.pad_j);
		if (!bits(rs2, 6, 1))
			ws_execute(r, &w, rs1, rs2, a, b);
	}
	if (!bits(rs2, 7, 1) && (w.c || bits(rs2, 9, 1)))
		ws_store(r, &w, rs1, rs2);
	for (unsigned int n = 0; n < 3; n++)
		r->load[n].block_stride = blocks[n];
	if (bits(rs2, 8, 1))
		r->accumulator_base = r->accumulator_base ? 0 : r->accumulator_rows / 2;
}

/* --- all of them -------------------------------------------------------------------------------- */

static void any_mvout(ref *r, uint64_t rs1, uint64_t rs2)
{
	if (r->pool_stride)
		mvout_pooled(r, rs1, (uint32_t)rs2, bits(rs2, 32, 16), out_activation(r));
	else
		mvout(r, rs1, (uint32_t)rs2, bits(rs2, 48, 16), bits(rs2, 32, 16), out_activation(r));
}

void virgo_reference_command(struct virgo_reference *r, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	static const unsigned int load_of[] = { [1] = 1, [2] = 0, [14] = 2 };

	switch (funct) {
	case 0:
		config(r, rs1, rs2);
		break;
	case 1:
	case 2:
	case 14:
		mvin(r, rs1, (uint32_t)rs2, bits(rs2, 48, 16), bits(rs2, 32, 16), load_of[funct]);
		break;
	case 3:
		any_mvout(r, rs1, rs2);
		break;
	case 4:
	case 5:
		compute(r, rs1, rs2, funct == 4);
		break;
	case 6:
		r->preload = rs1;
		r->output = rs2;
		break;
	case 8:
		loop_ws(r, rs1, rs2);
		break;
	case 9:
	case 10:
	case 11:
	case 12:
	case 13:
		r->ws[2 * (funct - 9)] = rs1;
		r->ws[2 * (funct - 9) + 1] = rs2;
		break;
	case 23:
		mvout_spad(r, (uint32_t)rs2, bits(rs2, 48, 16), bits(rs2, 32, 16), bits(rs1, 0, 32),
			   bits(rs1, 32, 32), out_activation(r));
		break;
	case 24:
	case 25:
		r->ws[10 + 2 * (funct - 24)] = rs1;
		r->ws[11 + 2 * (funct - 24)] = rs2;
		break;
	default:
		break;
	}
}

struct virgo_reference *virgo_reference_create(unsigned int type, unsigned int dim,
					       unsigned int shared_bytes,
					       unsigned int accumulator_bytes)
{
	ref *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->type = type;
	r->dim = dim;
	r->rows = shared_bytes / (dim * element_bytes(r));
	r->accumulator_rows = accumulator_bytes / (dim * 4);
	r->spad = calloc(1, shared_bytes);
	r->accumulator = calloc(1, accumulator_bytes);
	for (unsigned int i = 0; i < 3; i++) {
		r->load[i].pixels = 1;
		r->load[i].scale = 1;
		r->load[i].block_stride = dim;
	}
	r->weight_stationary = true;
	r->a_stride = 1;
	r->c_stride = 1;
	r->array_scale = 1;
	r->store_scale = 1;
	r->preload = GARBAGE;
	r->output = GARBAGE;
	for (unsigned int i = 0; i < 4; i++) {
		forget_sums(r, i);
		r->statistics[i].max = r->statistics[i].running_max;
		r->statistics[i].inverse_deviation = 1;
		r->statistics[i].inverse_sum = 1;
	}
	if (r->spad && r->accumulator)
		return r;
	virgo_reference_destroy(r);
	return NULL;
}

void virgo_reference_destroy(struct virgo_reference *r)
{
	if (!r)
		return;
	free(r->spad);
	free(r->accumulator);
	free(r);
}
