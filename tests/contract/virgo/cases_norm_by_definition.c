/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/contract/virgo/norm.h"

#include <math.h>
#include <stdlib.h>

#include "tests/contract/virgo/contract.h"

#define MOST 128u		/* columns of a row */
#define BERT_SCALE 0.05f	/* of the sums of int8 */

/* The constants of an exponential of floats: ln 2, its inverse, the polynomial (x + B)^2 + C. */
#define FP32_LN2 0.693147f
#define FP32_INVERSE 1.442695f
#define FP32_B 1.353f
#define FP32_C (0.344f / 0.3585f)

/* --- int8 ------------------------------------------------------------------------------- */

double scaled(int32_t value, float scale)
{
	double rounded = nearbyint((double)((float)value * scale));

	return rounded > 127 ? 127 : rounded < -128 ? -128 : rounded;
}

struct igelu igelu_of(float scale)
{
	return (struct igelu){
		.qb = (int32_t)(-1.769 / (scale / 1.41421356237)),
		.qc = (int32_t)(1.0 / (-0.2888 * (scale * scale / 2))),
	};
}

/* q * (sign(q) * (min(|q|, -qb) + qb)^2 + 2 * qc) */
int32_t igelu(int32_t q, const struct igelu *constants)
{
	int32_t sign = q < 0 ? -1 : 1;
	int32_t clipped = abs(q) > -constants->qb ? -constants->qb : abs(q);
	int32_t poly = (clipped + constants->qb) * (clipped + constants->qb) + constants->qc;

	return q * (sign * poly + constants->qc);
}

static int32_t root_of(int32_t value)
{
	int32_t root = 0;

	while ((int64_t)(root + 1) * (root + 1) <= value)
		root++;
	return root;
}

void layernorm_row(const int32_t *values, unsigned int n, float scale, double *expected)
{
	int32_t sum = 0, squares = 0, mean, deviation;
	float inverse;

	for (unsigned int i = 0; i < n; i++)
		sum += values[i];
	mean = sum / (int32_t)n;
	for (unsigned int i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	deviation = root_of(squares / (int32_t)n);
	inverse = 1.0f / (float)(deviation ? deviation : 1);
	for (unsigned int i = 0; i < n; i++)
		expected[i] = scaled(values[i] - mean, inverse * scale);
}

struct softmax softmax_of(float scale)
{
	struct softmax s = { .ln2 = (int32_t)(0.693147f / scale) };

	s.inverse = 65536 / s.ln2;
	s.qb = (int32_t)(1.353f / scale);
	s.qc = (int32_t)(0.344f / (0.3585f * scale * scale));
	return s;
}

static int32_t exponential(int32_t q, const struct softmax *s)
{
	int32_t z = (int32_t)((uint32_t)(-q * s->inverse) >> 16), p = q + z * s->ln2;

	return ((p + s->qb) * (p + s->qb) + s->qc) >> z;
}

void softmax_row(const int32_t *values, unsigned int n, const struct softmax *constants, double *expected)
{
	int32_t max = INT32_MIN, sum = 0;

	for (unsigned int i = 0; i < n; i++)
		max = values[i] > max ? values[i] : max;
	for (unsigned int i = 0; i < n; i++)
		sum += exponential(values[i] - max, constants);
	for (unsigned int i = 0; i < n; i++)
		expected[i] = scaled(exponential(values[i] - max, constants), 127.0f / (float)sum);
}

/* --- floats -------------------------------------------------------------------------------- */

double gelu(double x)
{
	return x * (1 + erf(x / sqrt(2))) / 2;
}

static void layernorm_of_floats(const double *values, unsigned int n, double *expected)
{
	double mean = 0, variance = 0;

	for (unsigned int i = 0; i < n; i++)
		mean += values[i] / n;
	for (unsigned int i = 0; i < n; i++)
		variance += (values[i] - mean) * (values[i] - mean) / n;
	for (unsigned int i = 0; i < n; i++)
		expected[i] = (values[i] - mean) / sqrt(variance);
}

static void softmax_of_floats(const double *values, unsigned int n, double *expected)
{
	double sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += exp(values[i]);
	for (unsigned int i = 0; i < n; i++)
		expected[i] = exp(values[i]) / sum;
}

/* --- floats, as the unit rounds them ---------------------------------------------------------- */

static void fp32_layernorm(const double *values, unsigned int n, double *expected)
{
	float sum = 0, squares = 0, mean, deviation, inverse;

	for (unsigned int i = 0; i < n; i++)
		sum += (float)values[i];
	mean = sum / (float)n;
	for (unsigned int i = 0; i < n; i++)
		squares += ((float)values[i] - mean) * ((float)values[i] - mean);
	deviation = sqrtf(squares / (float)n);
	inverse = 1 / (deviation == 0 ? 1 : deviation);
	for (unsigned int i = 0; i < n; i++)
		expected[i] = as_element((double)(((float)values[i] - mean) * inverse));
}

/* I-BERT's exponential of x <= 0. */
static float fp32_exponential(float x)
{
	float z = floorf(-x * FP32_INVERSE), p = x + z * FP32_LN2 + FP32_B;

	return ldexpf(p * p + FP32_C, -(int)z);
}

static void fp32_softmax(const double *values, unsigned int n, double *expected)
{
	float max = -INFINITY, sum = 0, inverse;

	for (unsigned int i = 0; i < n; i++)
		max = fmaxf(max, (float)values[i]);
	for (unsigned int i = 0; i < n; i++)
		sum += fp32_exponential((float)values[i] - max);
	inverse = 1 / sum;
	for (unsigned int i = 0; i < n; i++)
		expected[i] = as_element((double)(fp32_exponential((float)values[i] - max) * inverse));
}

/* --- of the unit's type ------------------------------------------------------------------- */

static const float int8_scales[] = { [LAYERNORM] = 30, [IGELU] = -1e-4f, [SOFTMAX] = 1 };
/* I-GELU's leading factor and its half are the store's scale. */
static const float float_scales[] = { [LAYERNORM] = 1, [IGELU] = -0.2888f / 2 / 2, [SOFTMAX] = 1 };

static void config_constants(unsigned int activation)
{
	struct igelu g = igelu_of(BERT_SCALE);
	struct softmax s = softmax_of(BERT_SCALE);
	bool whole = unit.type == INT8;

	if (activation == IGELU && whole)
		config_norm(0, 0, (uint32_t)g.qb, (uint32_t)g.qc, false, 0);
	else if (activation == IGELU)
		config_norm(0, 0, float_bits(-1.769f * 1.41421356f), float_bits(1 / (-0.2888f / 2)), false, 0);
	else if (activation == SOFTMAX && whole)
		config_norm((uint32_t)s.ln2, (uint32_t)s.inverse, (uint32_t)s.qb, (uint32_t)s.qc, true, 0);
	else if (activation == SOFTMAX)
		config_norm(float_bits(FP32_LN2), float_bits(FP32_INVERSE), float_bits(FP32_B),
			    float_bits(FP32_C), true, 0);
}

void config_activation(unsigned int activation, uint64_t stride)
{
	config_st(stride, activation, (unit.type == INT8 ? int8_scales : float_scales)[activation]);
	config_constants(activation);
}

static void activated_int8(unsigned int activation, const double *values, unsigned int n, double *expected)
{
	struct igelu g = igelu_of(BERT_SCALE);
	struct softmax s = softmax_of(BERT_SCALE);
	int32_t whole[MOST];

	for (unsigned int i = 0; i < n; i++)
		whole[i] = (int32_t)values[i];
	if (activation == LAYERNORM)
		layernorm_row(whole, n, int8_scales[LAYERNORM], expected);
	else if (activation == SOFTMAX)
		softmax_row(whole, n, &s, expected);
	for (unsigned int i = 0; activation == IGELU && i < n; i++)
		expected[i] = scaled(igelu(whole[i], &g), int8_scales[IGELU]);
}

void activated_row(unsigned int activation, const double *values, unsigned int n, double *expected)
{
	if (n > MOST)
		contract_fail(__FILE__, __LINE__, "too many columns");
	if (unit.type == INT8)
		activated_int8(activation, values, n, expected);
	else if (activation == LAYERNORM)
		layernorm_of_floats(values, n, expected);
	else if (activation == SOFTMAX)
		softmax_of_floats(values, n, expected);
	else
		for (unsigned int i = 0; i < n; i++)
			expected[i] = gelu(values[i]);
}

bool is_activated(double actual, double expected)
{
	if (unit.type == INT8)
		return actual == expected;
	/* I-BERT's polynomials, and a rounding to binary16 */
	return fabs(actual - expected) < 0.03 + fabs(expected) / 500;
}

void normalised_row(unsigned int activation, const double *values, unsigned int n, double *expected)
{
	if (unit.type == INT8)
		activated_row(activation, values, n, expected);
	else if (activation == LAYERNORM)
		fp32_layernorm(values, n, expected);
	else
		fp32_softmax(values, n, expected);
}
