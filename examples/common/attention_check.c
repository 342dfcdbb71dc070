/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/attention_check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One row of O while it is summed up. */
struct row {
	double *score;		/* of each key */
	double *sums;		/* of p v, for each column */
	double *magnitudes;	/* of p |v| */
	double maximum, weights;
};

static double weight(enum attention_exp function, double x)
{
	return function == ATTENTION_EXACT ? exp(x) : 1 + x + x * x / 2;
}

static void make_scores(const struct attention *a, size_t number, double *score)
{
	const float *q = a->q + number * a->head;

	for (size_t key = 0; key < a->sequence; key++) {
		const float *k = a->k + key * a->head;
		double sum = 0;

		for (size_t i = 0; i < a->head; i++)
			sum += (double)q[i] * (double)k[i];
		score[key] = sum / sqrt((double)a->head);
	}
}

/* The sum so far counts less when a larger score comes. */
static void rescale(const struct attention *a, struct row *row, double factor)
{
	row->weights *= factor;
	for (size_t i = 0; i < a->head; i++) {
		row->sums[i] *= factor;
		row->magnitudes[i] *= factor;
	}
}

static void add_keys(const struct attention *a, enum attention_exp function, struct row *row, size_t first,
		     size_t end)
{
	double before = row->maximum;

	for (size_t key = first; key < end; key++)
		row->maximum = fmax(row->maximum, row->score[key]);
	if (first)
		rescale(a, row, weight(function, before - row->maximum));
	for (size_t key = first; key < end; key++) {
		const float *v = a->v + key * a->head;
		double p = weight(function, row->score[key] - row->maximum);

		row->weights += p;
		for (size_t i = 0; i < a->head; i++) {
			row->sums[i] += p * (double)v[i];
			row->magnitudes[i] += p * fabs((double)v[i]);
		}
	}
}

static void make_row(const struct attention *a, enum attention_exp function, size_t keys, size_t number,
		     struct row *row)
{
	make_scores(a, number, row->score);
	memset(row->sums, 0, a->head * sizeof(*row->sums));
	memset(row->magnitudes, 0, a->head * sizeof(*row->magnitudes));
	row->maximum = -INFINITY;
	row->weights = 0;
	for (size_t first = 0; first < a->sequence; first += keys)
		add_keys(a, function, row, first, first + keys < a->sequence ? first + keys : a->sequence);
}

static bool verify_row(const struct attention *a, const struct row *row, size_t number, const float *o,
		       double *error, struct message *message)
{
	for (size_t i = 0; i < a->head; i++) {
		double expected = row->sums[i] / row->weights, found = (double)o[number * a->head + i];
		double distance = fabs(found - expected) / (row->magnitudes[i] / row->weights);

		/* All of a column of V may be 0. */
		if (found == expected)
			continue;
		/* NaN is not right, either. */
		if (!(distance <= ATTENTION_TOLERANCE)) {
			message_set(message, 0, "O[%zu][%zu] is %.9g, not %.9g", number, i, found, expected);
			return false;
		}
		*error = fmax(*error, distance);
	}
	return true;
}

bool attention_verify(const struct attention *attention, enum attention_exp exp, size_t keys, const float *o,
		      double *error, struct message *message)
{
	size_t head = attention->head;
	struct row row = { .score = malloc((attention->sequence + 2 * head) * sizeof(double)) };
	bool is_right = row.score;

	if (!row.score)
		message_set(message, -ENOMEM, "out of memory for the plain computation");
	row.sums = row.score + attention->sequence;
	row.magnitudes = row.sums + head;
	*error = 0;
	for (size_t number = 0; number < attention->sequence && is_right; number++) {
		make_row(attention, exp, exp == ATTENTION_EXACT ? attention->sequence : keys, number, &row);
		is_right = verify_row(attention, &row, number, o, error, message);
	}
	free(row.score);
	return is_right;
}
