/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Processes a row of the accumulator on its way out. The integer functions
 * are those of I-BERT (Kim et al., 2021) as Gemmini has them; the ones for floats
 * follow them step by step (docs/virgo.md, Readings).
 */
#include "devices/virgo/virgo_internal.h"

/* --- I-GELU and the exponential ------------------------------------------------------ */

/* All in 32 bits that wrap, as the hardware's registers. */
static int32_t igelu_int(int32_t q, int32_t qb, int32_t qc)
{
	uint32_t limit = -(uint32_t)qb, magnitude = q < 0 ? -(uint32_t)q : (uint32_t)q;
	uint32_t clipped = (int32_t)magnitude > (int32_t)limit ? limit : magnitude;
	uint32_t base = clipped + (uint32_t)qb;
	uint32_t poly = base * base + (uint32_t)qc;
	uint32_t erf = q < 0 ? -poly : poly;

	return (int32_t)((uint32_t)q * (erf + (uint32_t)qc));
}

static float igelu_float(float q, float qb, float qc)
{
	float magnitude = q < 0 ? -q : q, clipped = magnitude > -qb ? -qb : magnitude;
	float base = clipped + qb, poly = base * base + qc;
	float erf = q < 0 ? -poly : poly;

	return one_nan(q * (erf + qc));
}

static int32_t exponential_int(int32_t q, const struct normaliser *norm)
{
	int64_t z = -(int64_t)q * norm->qln2_inverse.i >> 16;
	uint32_t rest = (uint32_t)q + (uint32_t)z * norm->qln2.bits;
	uint32_t base = rest + norm->qb.bits, poly = base * base + norm->qc.bits;

	return z < 0 || z > 31 ? 0 : (int32_t)(poly >> z);
}

static float exponential_float(float q, const struct normaliser *norm)
{
	float z = -q * norm->qln2_inverse.f, rest, base;

	if (!(z < 127))
		return z != z ? float_of(LANE_NAN) : 0;
	z = z < 0 ? 0 : (float)(int32_t)z;
	rest = q + z * norm->qln2.f;
	base = rest + norm->qb.f;
	return one_nan((base * base + norm->qc.f) * float_of((uint32_t)(127 - (int32_t)z) << 23));
}

/* The square root, rounded down. */
static int32_t square_root(int32_t value)
{
	uint32_t root = 0;

	for (uint32_t bit = 1u << 15; value > 0 && bit; bit >>= 1) {
		uint32_t next = root | bit;

		if ((uint64_t)next * next <= (uint64_t)value)
			root = next;
	}
	return (int32_t)root;
}

/* IEEE: correctly rounded by every processor's instruction. */
static float square_root_float(float value)
{
	return value < 0 ? float_of(LANE_NAN) : one_nan(__builtin_sqrtf(value));
}

/* --- statistics ------------------------------------------------------------------------ */

static union lane smallest_lane(const struct unit *u)
{
	return u->type.is_float ? (union lane){ .f = -__builtin_inff() } : (union lane){ .i = INT32_MIN };
}

static void statistics_reset(const struct unit *u, struct norm_statistics *s)
{
	s->sum.bits = 0;
	s->count = 0;
	s->running_max = smallest_lane(u);
}

void virgo_norm_reset(const struct unit *u, struct normaliser *norm)
{
	memset(norm, 0, sizeof(*norm));
	for (unsigned int i = 0; i < NORM_STATISTICS; i++) {
		statistics_reset(u, &norm->statistics[i]);
		norm->statistics[i].max = smallest_lane(u);
		norm->statistics[i].inverse_deviation = 1;
		norm->statistics[i].inverse_sum = 1;
	}
}

static union lane subtract(struct element_type type, union lane a, union lane b)
{
	if (type.is_float)
		return (union lane){ .f = one_nan(a.f - b.f) };
	return (union lane){ .bits = a.bits - b.bits };
}

static union lane square(struct element_type type, union lane a)
{
	if (type.is_float)
		return (union lane){ .f = a.f * a.f };
	return (union lane){ .bits = a.bits * a.bits };
}

static union lane exponential(struct element_type type, union lane a, const struct normaliser *norm)
{
	if (type.is_float)
		return (union lane){ .f = exponential_float(a.f, norm) };
	return (union lane){ .i = exponential_int(a.i, norm) };
}

static bool is_less(struct element_type type, union lane a, union lane b)
{
	return type.is_float ? a.f < b.f : a.i < b.i;
}

static union lane average(struct element_type type, const struct norm_statistics *s)
{
	if (!s->count)
		return (union lane){ .bits = 0 };
	if (type.is_float)
		return (union lane){ .f = one_nan(s->sum.f / (float)s->count) };
	return (union lane){ .i = (int32_t)(s->sum.i / (int64_t)s->count) };
}

static float deviation(struct element_type type, union lane variance)
{
	float root = type.is_float ? square_root_float(variance.f)
				   : (float)square_root(variance.i);

	return root == 0 ? 1 : root;
}

/* Computes the statistic from the sum, after its last row. */
static void finish(struct element_type type, struct norm_statistics *s, enum virgo_norm norm)
{
	float total = type.is_float ? s->sum.f : (float)s->sum.i;

	if (norm == VIRGO_NORM_MEAN)
		s->mean = average(type, s);
	else if (norm == VIRGO_NORM_INV_STDDEV)
		s->inverse_deviation = one_nan(1 / deviation(type, average(type, s)));
	else if (norm == VIRGO_NORM_INV_SUM_EXP)
		s->inverse_sum = one_nan((type.is_float ? 1 : 127) / total);
	else
		return;
	s->sum.bits = 0;
	s->count = 0;
}

bool virgo_normalise(struct virgo_job *job, const union lane *row, size_t columns, enum virgo_norm norm)
{
	struct element_type type = job->unit->type;
	struct normaliser *n = &job->x.norm;
	struct norm_statistics *s = &n->statistics[n->statistic];

	if (norm == VIRGO_NORM_RESET) {
		statistics_reset(job->unit, s);
		return true;
	}
	for (size_t i = 0; i < columns; i++) {
		union lane value = row[i];

		if (norm == VIRGO_NORM_MAX) {
			if (is_less(type, s->running_max, value))
				s->running_max = value;
			continue;
		}
		if (norm == VIRGO_NORM_VARIANCE || norm == VIRGO_NORM_INV_STDDEV)
			value = square(type, subtract(type, value, s->mean));
		else if (norm == VIRGO_NORM_SUM_EXP || norm == VIRGO_NORM_INV_SUM_EXP)
			value = exponential(type, subtract(type, value, s->max), n);
		virgo_lanes_add(type, &s->sum, &value, 1);
		s->count++;
	}
	if (norm == VIRGO_NORM_MAX)
		s->max = s->running_max;
	finish(type, s, norm);
	return false;
}

/* --- on the way out ------------------------------------------------------------------------ */

static int32_t out_int(int32_t value, float factor, bool relu)
{
	if (factor != 1)
		value = virgo_round_to_int32((float)value * factor);
	value = value > 127 ? 127 : value < -128 ? -128 : value;
	return relu && value < 0 ? 0 : value;
}

static float out_float(float value, float factor, bool relu)
{
	if (factor != 1)
		value = one_nan(value * factor);
	return relu && value < 0 ? 0 : value;
}

void virgo_activate_row(const struct unit *u, const struct execution *x, union lane *row, size_t columns,
			uint32_t activation, uint32_t scale)
{
	const struct normaliser *norm = &x->norm;
	const struct norm_statistics *s = &norm->statistics[norm->statistic];
	float factor = float_of(scale);
	bool relu = activation == VIRGO_RELU;

	if (activation == VIRGO_LAYERNORM)
		factor = s->inverse_deviation * factor;
	else if (activation == VIRGO_SOFTMAX)
		factor = s->inverse_sum * factor;
	if (u->type.is_float && activation == VIRGO_NO_ACTIVATION && factor == 1)
		return;
	for (size_t i = 0; i < columns; i++) {
		if (activation == VIRGO_LAYERNORM)
			row[i] = subtract(u->type, row[i], s->mean);
		else if (activation == VIRGO_SOFTMAX)
			row[i] = exponential(u->type, subtract(u->type, row[i], s->max), norm);
		if (u->type.is_float) {
			if (activation == VIRGO_IGELU)
				row[i].f = igelu_float(row[i].f, norm->qb.f, norm->qc.f);
			row[i].f = out_float(row[i].f, factor, relu);
			continue;
		}
		if (activation == VIRGO_IGELU)
			row[i].i = igelu_int(row[i].i, norm->qb.i, norm->qc.i);
		row[i].i = out_int(row[i].i, factor, relu);
	}
}
