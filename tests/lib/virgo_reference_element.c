/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Elements, values and where they lie. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/half.h"
#include "tests/lib/virgo_reference_internal.h"

/* --- arithmetic ------------------------------------------------------------------------ */

value reference_number(float f)
{
	value v = { .f = f };

	if (isnan(f))
		v.u = 0x7fc00000;
	return v;
}

int32_t reference_nearest(float x)
{
	double rounded = nearbyint((double)x);

	if (isnan(x) || rounded > 2147483647.0)
		return INT32_MAX;
	return rounded < -2147483648.0 ? INT32_MIN : (int32_t)rounded;
}

int32_t reference_clip(int32_t x)
{
	return x > 127 ? 127 : x < -128 ? -128 : x;
}

value reference_add(const ref *r, value a, value b)
{
	if (floats(r))
		return reference_number(a.f + b.f);
	return (value){ .u = a.u + b.u };
}

value reference_read_element(const ref *r, const void *from)
{
	value v = { .u = 0 };
	uint16_t half;

	switch (r->type) {
	case REFERENCE_INT8:
		v.i = *(const int8_t *)from;
		return v;
	case REFERENCE_FP16:
		memcpy(&half, from, 2);
		return reference_number(half_value(half));
	default:
		memcpy(&v, from, 4);
		return v;
	}
}

void reference_write_element(const ref *r, void *to, value v)
{
	uint16_t half;

	switch (r->type) {
	case REFERENCE_INT8:
		*(int8_t *)to = (int8_t)reference_clip(v.i);
		return;
	case REFERENCE_FP16:
		half = half_of(v.f);
		memcpy(to, &half, 2);
		return;
	default:
		memcpy(to, &v, 4);
	}
}

/* An element times a scale is an element. */
value reference_scale_element(const ref *r, value v, float scale)
{
	uint8_t element[4];

	if (scale == 1)
		return v;
	if (floats(r))
		v = reference_number(v.f * scale);
	else
		v.i = reference_nearest((float)v.i * scale);
	reference_write_element(r, element, v);
	return reference_read_element(r, element);
}

/* --- memories ---------------------------------------------------------------------------- */

void *reference_spad_at(ref *r, unsigned int row, unsigned int column)
{
	if (row >= r->rows || column >= r->dim)
		abort();
	return r->spad + ((size_t)row * r->dim + column) * element_bytes(r);
}

value *reference_accumulator_at(ref *r, unsigned int row, unsigned int column)
{
	if (row >= r->accumulator_rows || column >= r->dim)
		abort();
	return &r->accumulator[(size_t)row * r->dim + column];
}
