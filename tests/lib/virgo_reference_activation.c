/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Activations of values on their way out of the accumulator, and the statistics of rows. */
#include <math.h>

#include "tests/lib/virgo_reference_internal.h"

/* --- activations -------------------------------------------------------------------------- */

static value exponential(const ref *r, value q)
{
	if (floats(r)) {
		float z = floorf(-q.f * r->qln2_inverse.f), p;

		if (!(z < 127))
			return isnan(z) ? reference_number(NAN) : reference_number(0);
		if (z < 0)
			z = 0;
		p = q.f + z * r->qln2.f + r->qb.f;
		return reference_number(ldexpf(p * p + r->qc.f, -(int)z));
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

		return reference_number(q.f * ((q.f < 0 ? -poly : poly) + r->qc.f));
	}
	int64_t magnitude = q.i < 0 ? -(int64_t)q.i : q.i, limit = -(int64_t)r->qb.i;
	int64_t clipped = (magnitude > limit ? limit : magnitude) + r->qb.i;
	uint32_t poly = (uint32_t)clipped * (uint32_t)clipped + r->qc.u;

	return (value){ .u = q.u * ((q.i < 0 ? -poly : poly) + r->qc.u) };
}

value reference_difference(const ref *r, value a, value b)
{
	return floats(r) ? reference_number(a.f - b.f) : (value){ .u = a.u - b.u };
}

unsigned int reference_out_activation(const ref *r)
{
	unsigned int activation = r->store_activation + 4 * r->activation_high;

	return activation > 4 ? 0 : activation;
}

/* A value of the accumulator as the element that leaves. */
value reference_leave(const ref *r, value v, unsigned int activation, float scale)
{
	if (activation == 2)
		v = reference_difference(r, v, r->statistics[r->statistic].mean);
	if (activation == 4)
		v = exponential(r, reference_difference(r, v, r->statistics[r->statistic].max));
	if (activation == 3)
		v = igelu(r, v);
	if (activation == 2)
		scale = r->statistics[r->statistic].inverse_deviation * scale;
	if (activation == 4)
		scale = r->statistics[r->statistic].inverse_sum * scale;
	if (floats(r)) {
		if (scale != 1)
			v = reference_number(v.f * scale);
		if (activation == 1 && v.f < 0)
			v.f = 0;
		return v;
	}
	v.i = reference_clip(scale == 1 ? v.i : reference_nearest((float)v.i * scale));
	if (activation == 1 && v.i < 0)
		v.i = 0;
	return v;
}

/* --- statistics --------------------------------------------------------------------------- */

void reference_forget_sums(ref *r, unsigned int id)
{
	r->statistics[id].sum.u = 0;
	r->statistics[id].count = 0;
	r->statistics[id].running_max = floats(r) ? reference_number(-INFINITY) : (value){ .i = INT32_MIN };
}

bool reference_statistics(ref *r, unsigned int row, unsigned int columns, unsigned int what)
{
	unsigned int id = r->statistic;
	value mean = { .u = 0 };

	if (!what) {
		reference_forget_sums(r, id);
		return true;
	}
	for (unsigned int c = 0; c < columns; c++) {
		value v = *reference_accumulator_at(r, row, c), d;

		if (what == 5) {
			if (floats(r) ? v.f > r->statistics[id].running_max.f
				      : v.i > r->statistics[id].running_max.i)
				r->statistics[id].running_max = v;
			continue;
		}
		d = reference_difference(r, v, r->statistics[id].mean);
		if (what == 3 || what == 4)
			v = floats(r) ? reference_number(d.f * d.f) : (value){ .u = d.u * d.u };
		if (what == 6 || what == 7)
			v = exponential(r, reference_difference(r, v, r->statistics[id].max));
		r->statistics[id].sum = reference_add(r, r->statistics[id].sum, v);
		r->statistics[id].count++;
	}
	if (what == 5)
		r->statistics[id].max = r->statistics[id].running_max;
	if (what != 2 && what != 4 && what != 7)
		return false;
	if (r->statistics[id].count && floats(r))
		mean = reference_number(r->statistics[id].sum.f / (float)r->statistics[id].count);
	else if (r->statistics[id].count)
		mean.i = (int32_t)((int64_t)r->statistics[id].sum.i / r->statistics[id].count);
	if (what == 2)
		r->statistics[id].mean = mean;
	if (what == 4) {
		float root = floats(r) ? sqrtf(mean.f)
				       : mean.i > 0 ? (float)floor(sqrt((double)mean.i)) : 0;

		r->statistics[id].inverse_deviation = reference_number(1 / (root == 0 ? 1 : root)).f;
	}
	if (what == 7)
		r->statistics[id].inverse_sum = floats(r)
			? reference_number(1 / r->statistics[id].sum.f).f
			: 127 / (float)r->statistics[id].sum.i;
	r->statistics[id].sum.u = 0;
	r->statistics[id].count = 0;
	return false;
}
