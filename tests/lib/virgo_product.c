/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/virgo_product.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/half.h"
#include "tests/lib/sanitized.h"

static const size_t sizes[VIRGO_TYPES] = { [VIRGO_INT8] = 1, [VIRGO_FP16] = 2, [VIRGO_FP32] = 4 };

static bool is_narrow(const struct virgo_product *p)
{
	return p->flags & VIRGO_NARROW && p->type != VIRGO_FP32;
}

static size_t c_size(const struct virgo_product *p)
{
	return is_narrow(p) ? sizes[p->type] : 4;
}

/* --- making ------------------------------------------------------------------------------- */

struct product_case product_random(enum virgo_type type, unsigned int dim, size_t largest,
				   uint64_t *random)
{
	struct product_case c = { .dim = dim };
	struct virgo_product *p = &c.product;

	p->type = type;
	p->flags = gemm_random(random) & (VIRGO_TRANSPOSE_A | VIRGO_TRANSPOSE_B | VIRGO_ADD | VIRGO_NARROW);
	p->m = gemm_random(random) % (largest + 1);
	p->n = gemm_random(random) % (largest + 1);
	p->k = gemm_random(random) % (largest + 1);
	p->epilogue = (enum virgo_epilogue)(gemm_random(random) % 3);
	if (p->flags & VIRGO_NARROW && type != VIRGO_FP32)
		p->flags &= ~(unsigned int)VIRGO_ADD;
	c.has_bias = !(p->flags & VIRGO_ADD) && gemm_random(random) & 1;
	if ((p->flags & VIRGO_NARROW || type == VIRGO_FP32) && gemm_random(random) & 1)
		p->scale = type == VIRGO_INT8 ? 0.0078125f * (float)(1 + gemm_random(random) % 7) : 0.375f;
	if (gemm_random(random) & 1)
		p->beta = 0.25f;
	p->lda = (p->flags & VIRGO_TRANSPOSE_A ? p->m : p->k) + gemm_random(random) % 9;
	p->ldb = (p->flags & VIRGO_TRANSPOSE_B ? p->k : p->n) + gemm_random(random) % 9;
	p->ldc = p->n + gemm_random(random) % 9;
	return c;
}

static float random_float(uint64_t *random, bool specials)
{
	static const float values[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1.8p-130f,
					0x1.fffffep127f, 65504, 0x1p-24f };

	if (specials && gemm_random(random) % 16 == 0)
		return values[gemm_random(random) % (sizeof(values) / sizeof(values[0]))];
	return (float)((double)(gemm_random(random) >> 11) * 0x1p-52 - 1);
}

static void fill(const struct product_case *c, struct gemm_matrix *matrix, bool is_sum, uint64_t *random)
{
	for (size_t i = 0; i < matrix->rows * matrix->columns; i++) {
		size_t at = i / matrix->columns * matrix->leading + i % matrix->columns;

		if (c->product.type == VIRGO_INT8 && is_sum)
			((int32_t *)matrix->elements)[at] = (int32_t)gemm_random(random) >>
							    (gemm_random(random) % 32);
		else if (c->product.type == VIRGO_INT8)
			((int8_t *)matrix->elements)[at] = (int8_t)gemm_random(random);
		else if (c->product.type == VIRGO_FP16 && !is_sum)
			((uint16_t *)matrix->elements)[at] = half_of(random_float(random, c->specials));
		else
			((float *)matrix->elements)[at] = random_float(random, c->specials);
	}
}

static size_t size_of(const struct gemm_matrix *matrix)
{
	if (!matrix->rows || !matrix->columns)
		return 0;
	return ((matrix->rows - 1) * matrix->leading + matrix->columns) * matrix->element;
}

void product_make(struct product_case *c, uint64_t *random)
{
	struct virgo_product *p = &c->product;
	bool a_turned = p->flags & VIRGO_TRANSPOSE_A, b_turned = p->flags & VIRGO_TRANSPOSE_B;
	size_t size = sizes[p->type];

	gemm_matrix_make(&c->a, a_turned ? p->k : p->m, a_turned ? p->m : p->k, p->lda, size,
			 gemm_random(random) & 1);
	gemm_matrix_make(&c->b, b_turned ? p->n : p->k, b_turned ? p->k : p->n, p->ldb, size,
			 gemm_random(random) & 1);
	gemm_matrix_make(&c->c, p->m, p->n, p->ldc, c_size(p), gemm_random(random) & 1);
	gemm_matrix_make(&c->bias, 1, p->n, p->n, 4, gemm_random(random) & 1);
	fill(c, &c->a, false, random);
	fill(c, &c->b, false, random);
	if (!is_narrow(p))
		fill(c, &c->c, true, random);
	fill(c, &c->bias, true, random);
	c->c_before = malloc(size_of(&c->c) + 1);
	if (!c->c_before)
		abort();
	memcpy(c->c_before, c->c.elements, size_of(&c->c));
	p->a = c->a.elements;
	p->b = c->b.elements;
	p->c = c->c.elements;
	p->bias = c->has_bias ? c->bias.elements : NULL;
}

void product_free(struct product_case *c)
{
	gemm_matrix_free(&c->a);
	gemm_matrix_free(&c->b);
	gemm_matrix_free(&c->c);
	gemm_matrix_free(&c->bias);
	free(c->c_before);
}

/* --- the plain loop ------------------------------------------------------------------------- */

static float element(const struct product_case *c, const struct gemm_matrix *matrix, size_t at)
{
	switch (c->product.type) {
	case VIRGO_INT8:
		return ((const int8_t *)matrix->elements)[at];
	case VIRGO_FP16:
		return half_value(((const uint16_t *)matrix->elements)[at]);
	default:
		return ((const float *)matrix->elements)[at];
	}
}

float product_a(const struct product_case *c, size_t row, size_t k)
{
	const struct virgo_product *p = &c->product;

	return element(c, &c->a, p->flags & VIRGO_TRANSPOSE_A ? k * p->lda + row : row * p->lda + k);
}

float product_b(const struct product_case *c, size_t k, size_t column)
{
	const struct virgo_product *p = &c->product;

	return element(c, &c->b, p->flags & VIRGO_TRANSPOSE_B ? column * p->ldb + k : k * p->ldb + column);
}

/* A row of A, and the columns of B as rows, as floats: the loop is long enough without conversions. */
struct operands {
	float *a, *b;	/* m x k, n x k */
};

static struct operands operands_of(const struct product_case *c)
{
	const struct virgo_product *p = &c->product;
	struct operands o = { malloc(p->m * p->k * 4 + 4), malloc(p->n * p->k * 4 + 4) };

	if (!o.a || !o.b)
		abort();
	for (size_t i = 0; i < p->m * p->k; i++)
		o.a[i] = product_a(c, i / p->k, i % p->k);
	for (size_t i = 0; i < p->n * p->k; i++)
		o.b[i] = product_b(c, i % p->k, i / p->k);
	return o;
}

WITHOUT_THREAD_SANITIZER static float float_sum(const struct product_case *c, const float *a, const float *b, float sum)
{
	for (size_t k = 0; k < c->product.k; k += c->dim) {
		float part = 0;

		for (size_t d = k; d < k + c->dim && d < c->product.k; d++) {
			/* volatile: some compilers would fuse the two operations on some machines */
			volatile float product = a[d] * b[d];

			part = part + product;
		}
		sum = sum + part;
	}
	return sum;
}

WITHOUT_THREAD_SANITIZER static int32_t int_sum(const struct product_case *c, const float *a, const float *b, int32_t start)
{
	uint32_t sum = (uint32_t)start;

	for (size_t k = 0; k < c->product.k; k++)
		sum += (uint32_t)((int32_t)a[k] * (int32_t)b[k]);
	return (int32_t)sum;
}

/* --- comparing -------------------------------------------------------------------------------- */

static double swish(const struct product_case *c, double x)
{
	double beta = c->product.beta != 0 ? (double)c->product.beta : 1;

	if (isinf(x))
		return x > 0 ? x : 0;
	return x / (1 + exp(-beta * x));
}

static double saturated(double value, double low, double high)
{
	return isnan(value) || value > high ? high : value < low ? low : value;
}

/* Half a step of the result, and one rounding to fp32; half a step more for exp() on both sides. */
static bool is_near(double got, double right, double half_step)
{
	if (isnan(right) || isnan(got))
		return isnan(right) && isnan(got);
	if (isinf(right) || isinf(got))
		return got == right || fabs(right) > 65500;
	return fabs(got - right) <= half_step + 2 * 0x1p-24 * fabs(right) + 0x1p-148;
}

static double half_step_of_half(double value)
{
	if (!isfinite(value))
		return 0;
	return ldexp(0.5, fabs(value) < 0x1p-14 ? -24 : ilogb(value) - 10);
}

static bool int_is_right(const struct product_case *c, const void *got, int32_t sum)
{
	const struct virgo_product *p = &c->product;
	float scaled = p->scale != 0 ? (float)sum * p->scale : (float)sum;
	bool relu = p->epilogue == VIRGO_EPILOGUE_RELU;
	double right;

	if (p->epilogue == VIRGO_EPILOGUE_SWISH && is_narrow(p))
		return is_near(*(const int8_t *)got, saturated(swish(c, scaled), -128, 127), 0.5);
	if (p->epilogue == VIRGO_EPILOGUE_SWISH) {
		int32_t value;

		memcpy(&value, got, 4);
		return fabs(value - swish(c, sum)) <= 0.5 + 1e-6;
	}
	if (!is_narrow(p)) {
		int32_t value = relu && sum < 0 ? 0 : sum;

		return !memcmp(got, &value, 4);
	}
	right = p->scale != 0 && p->scale != 1 ? rint(scaled) : sum;
	right = saturated(right, relu ? 0 : -128, 127);
	return *(const int8_t *)got == (int8_t)right;
}

static bool float_is_right(const struct product_case *c, const void *got, float sum)
{
	const struct virgo_product *p = &c->product;
	float scaled = p->scale != 0 ? sum * p->scale : sum, value = 0;
	uint16_t half = 0, right_half;

	if (is_narrow(p))
		memcpy(&half, got, 2);
	else
		memcpy(&value, got, 4);
	if (p->epilogue == VIRGO_EPILOGUE_SWISH) {
		double right = swish(c, scaled);

		return is_narrow(p) ? is_near(half_value(half), right, half_step_of_half(right))
				    : is_near(value, right, 0);
	}
	if (p->epilogue == VIRGO_EPILOGUE_RELU && scaled < 0)
		scaled = 0;
	if (!is_narrow(p))
		return isnan(scaled) ? isnan(value) : !memcmp(&value, &scaled, 4);
	right_half = half_of(scaled);
	return half == right_half;
}

static bool element_is_right(const struct product_case *c, const struct operands *o, size_t row,
			     size_t column)
{
	const struct virgo_product *p = &c->product;
	const float *a = o->a + row * p->k, *b = o->b + column * p->k;
	const char *got = (const char *)p->c + (row * p->ldc + column) * c_size(p);
	uint32_t start = 0;
	float float_start;

	if (c->has_bias)
		memcpy(&start, (const char *)p->bias + 4 * column, 4);
	else if (p->flags & VIRGO_ADD)
		memcpy(&start, (const char *)c->c_before + 4 * (row * p->ldc + column), 4);
	if (p->type == VIRGO_INT8)
		return int_is_right(c, got, int_sum(c, a, b, (int32_t)start));
	memcpy(&float_start, &start, 4);
	return float_is_right(c, got, float_sum(c, a, b, float_start));
}

static __thread char text[400];

static const char *say(const struct product_case *c, const char *what, size_t row, size_t column)
{
	const struct virgo_product *p = &c->product;

	snprintf(text, sizeof(text),
		 "type %u, DIM %u, flags %u, epilogue %u, bias %u, scale %g, %zux%zux%zu, "
		 "lda %zu, ldb %zu, ldc %zu: %s, row %zu, column %zu",
		 (unsigned int)p->type, c->dim, p->flags, (unsigned int)p->epilogue, c->has_bias,
		 (double)p->scale, p->m, p->n, p->k, p->lda, p->ldb, p->ldc, what, row, column);
	return text;
}

static bool padding_is_there(const struct product_case *c, size_t row)
{
	const struct virgo_product *p = &c->product;
	size_t size = c_size(p), first = (row * p->ldc + p->n) * size;

	return !memcmp((const char *)p->c + first, (const char *)c->c_before + first, (p->ldc - p->n) * size);
}

const char *product_wrong(const struct product_case *c)
{
	const struct virgo_product *p = &c->product;
	struct operands o = operands_of(c);
	const char *wrong = "";

	for (size_t row = 0; row < p->m && !*wrong && p->n; row++) {
		for (size_t column = 0; column < p->n && !*wrong; column++) {
			if (!element_is_right(c, &o, row, column))
				wrong = say(c, "wrong element", row, column);
		}
		if (!*wrong && row + 1 < p->m && !padding_is_there(c, row))
			wrong = say(c, "written behind a row", row, p->n);
	}
	free(o.a);
	free(o.b);
	return wrong;
}

static uint64_t sum_of(const struct gemm_matrix *matrix)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < size_of(matrix); i++)
		sum = sum * 31 + ((const unsigned char *)matrix->elements)[i];
	return sum;
}

void product_check(struct virgo *virgo, unsigned int unit, struct product_case *c, uint64_t *random)
{
	uint64_t a, b, bias;
	const char *wrong;

	product_make(c, random);
	a = sum_of(&c->a);
	b = sum_of(&c->b);
	bias = sum_of(&c->bias);
	if (virgo_gemm(virgo, unit, &c->product))
		fail_msg("%s: %s", say(c, "failed", 0, 0), virgo_error_text());
	wrong = product_wrong(c);
	if (*wrong)
		fail_msg("%s", wrong);
	assert_true(a == sum_of(&c->a) && b == sum_of(&c->b) && bias == sum_of(&c->bias));
	product_free(c);
}
