/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/dense.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/random.h"

#define HALF_LEAST (-14)	/* exponent of the smallest normal binary16, and of all smaller ones */
#define HALF_DIGITS 10		/* behind the point */
#define HALF_INFINITY 0x7c00

size_t dense_element_size(enum virgo_type type)
{
	return type == VIRGO_INT8 ? 1 : type == VIRGO_FP16 ? 2 : 4;
}

size_t dense_result_size(enum virgo_type type)
{
	return type == VIRGO_FP16 ? 2 : 4;
}

/* --- binary16 -------------------------------------------------------------------------- */

uint16_t dense_half(float value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	double size = fabs((double)value), digits;
	int exponent;

	if (isnan(value))
		return 0x7e00;
	if (size >= 65520)
		return sign | HALF_INFINITY;
	exponent = size > 0 ? ilogb(size) : HALF_LEAST;
	if (exponent < HALF_LEAST)
		exponent = HALF_LEAST;
	/* Of a normal number the leading digit is there, too: it makes the exponent one larger, and a carry another. */
	digits = nearbyint(ldexp(size, HALF_DIGITS - exponent));
	return sign | (uint16_t)(((exponent - HALF_LEAST) << HALF_DIGITS) + (int)digits);
}

float dense_from_half(uint16_t half)
{
	int exponent = half >> HALF_DIGITS & 0x1f, digits = half & ((1 << HALF_DIGITS) - 1);
	float size;

	if (exponent == 0x1f)
		size = digits ? NAN : INFINITY;
	else if (exponent)
		size = ldexpf((float)(digits + (1 << HALF_DIGITS)), exponent - 1 + HALF_LEAST - HALF_DIGITS);
	else
		size = ldexpf((float)digits, HALF_LEAST - HALF_DIGITS);
	return half & 0x8000 ? -size : size;
}

/* --- operands ---------------------------------------------------------------------------- */

void dense_fill_type(enum virgo_type type, void *matrix, size_t count, uint64_t seed)
{
	struct random random = { .state = seed };

	for (size_t i = 0; i < count; i++) {
		float real;

		if (type == VIRGO_INT8) {
			((uint8_t *)matrix)[i] = (uint8_t)random_next(&random);
			continue;
		}
		real = (float)(2 * random_unit(&random) - 1);
		if (type == VIRGO_FP16)
			((uint16_t *)matrix)[i] = dense_half(real);
		else
			((float *)matrix)[i] = real;
	}
}

static float *as_floats(enum virgo_type type, const void *matrix, size_t count)
{
	float *values = malloc(count * sizeof(*values));

	if (!values)
		return NULL;
	if (type == VIRGO_FP32)
		memcpy(values, matrix, count * sizeof(*values));
	for (size_t i = 0; i < count && type == VIRGO_FP16; i++)
		values[i] = dense_from_half(((const uint16_t *)matrix)[i]);
	return values;
}

/* --- plain loops ----------------------------------------------------------------------------- */

static void plain_integer(const struct dense_product *product, int32_t *sums)
{
	const int8_t *a = product->a, *b = product->b;

	memset(sums, 0, product->m * product->n * sizeof(*sums));
	for (size_t m = 0; m < product->m; m++) {
		for (size_t k = 0; k < product->k; k++) {
			int factor = a[m * product->k + k];
			const int8_t *row = b + k * product->n;

			/* They wrap, as the unit's do. */
			for (size_t n = 0; n < product->n; n++)
				sums[m * product->n + n] = (int32_t)((uint32_t)sums[m * product->n + n] +
								     (uint32_t)(factor * row[n]));
		}
	}
}

/* One row of C; `block` holds the sums of a block of products. */
static void plain_row(const struct dense_product *product, unsigned int dim, const float *a, const float *b,
		      float *block, float *sums)
{
	for (size_t first = 0; first < product->k; first += dim) {
		size_t end = product->k - first < dim ? product->k : first + dim;
		float *to = first ? block : sums;

		memset(to, 0, product->n * sizeof(*to));
		for (size_t k = first; k < end; k++) {
			for (size_t n = 0; n < product->n; n++)
				to[n] += a[k] * b[k * product->n + n];
		}
		for (size_t n = 0; n < product->n && first; n++)
			sums[n] += block[n];
	}
}

static int plain_real(const struct dense_product *product, unsigned int dim, float *sums)
{
	float *a = as_floats(product->type, product->a, product->m * product->k);
	float *b = as_floats(product->type, product->b, product->k * product->n);
	float *block = malloc(product->n * sizeof(*block));
	bool is_ready = a && b && block;

	for (size_t m = 0; m < product->m && is_ready; m++)
		plain_row(product, dim, a + m * product->k, b, block, sums + m * product->n);
	free(a);
	free(b);
	free(block);
	return is_ready ? 0 : -ENOMEM;
}

int dense_plain(const struct dense_product *product, unsigned int dim, void *sums)
{
	if (product->type != VIRGO_INT8)
		return plain_real(product, dim, sums);
	plain_integer(product, sums);
	return 0;
}

float dense_swish(float x)
{
	return x / (1 + expf(-x));
}

void dense_finish(const struct dense_product *product, const void *sums, bool is_swish, void *c)
{
	const float *real = sums;

	if (product->type == VIRGO_INT8)
		memcpy(c, sums, product->m * product->n * sizeof(int32_t));
	for (size_t i = 0; i < product->m * product->n && product->type != VIRGO_INT8; i++) {
		float x = product->type == VIRGO_FP16 ? dense_from_half(dense_half(real[i])) : real[i];

		if (is_swish)
			x = dense_swish(x);
		if (product->type == VIRGO_FP16)
			((uint16_t *)c)[i] = dense_half(x);
		else
			((float *)c)[i] = x;
	}
}

/* --- verification -------------------------------------------------------------------------------- */

static double result(enum virgo_type type, const void *c, size_t i)
{
	if (type == VIRGO_FP16)
		return (double)dense_from_half(((const uint16_t *)c)[i]);
	return type == VIRGO_INT8 ? ((const int32_t *)c)[i] : (double)((const float *)c)[i];
}

static double expected(enum virgo_type type, const void *sums, size_t i)
{
	if (type == VIRGO_INT8)
		return ((const int32_t *)sums)[i];
	if (type == VIRGO_FP16)
		return (double)dense_from_half(dense_half(((const float *)sums)[i]));
	return (double)((const float *)sums)[i];
}

static bool wrong(const struct dense_product *product, size_t i, double got, double right, struct message *message)
{
	message_set(message, 0, "C[%zu][%zu] is %.9g, but must be %.9g", i / product->n, i % product->n, got, right);
	return false;
}

bool dense_verify(const struct dense_product *product, const void *c, const void *sums, struct message *message)
{
	for (size_t i = 0; i < product->m * product->n; i++) {
		double got = result(product->type, c, i), right = expected(product->type, sums, i);

		/* The operands are finite; so a NaN is wrong, too. */
		if (!(got == right))
			return wrong(product, i, got, right, message);
	}
	return true;
}

bool dense_verify_swish(const struct dense_product *product, const void *c, const void *sums,
			struct message *message)
{
	bool is_half = product->type == VIRGO_FP16;
	/* Far below 0, e^-x is too large for fp32 before the quotient is too small for it. */
	double least = is_half ? 0x1p-24 : 0x1p-120;

	for (size_t i = 0; i < product->m * product->n; i++) {
		double x = (double)((const float *)sums)[i], right = x / (1 + exp(-x));
		double got = result(product->type, c, i);
		/* The sum may have been rounded to binary16, too; swish makes that up to 1 + |x| times as much. */
		double relative = is_half ? (2 + fabs(x)) * 0x1p-11 : 8 * (double)FLT_EPSILON;

		if (!(fabs(got - right) <= relative * fabs(right) + least))
			return wrong(product, i, got, right, message);
	}
	return true;
}
