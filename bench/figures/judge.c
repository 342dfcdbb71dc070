/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Decides a row's verdict from its value, the paper's, and that of the row's null model. Runs nothing. */
#include <math.h>
#include <string.h>

#include "bench/figures/figures.h"

/* "reproduced" is within so much of the paper's value, on both sides. */
#define NEAR 0.10
/* "in kind" is within a factor of so much. */
#define FAR 2.0
/* M17 says that nothing is lost, and M18 calls 5 % a loss. */
#define LOSS 0.95
#define ROW_OF_NO_LOSS 17

static bool is_within(double value, double low, double high)
{
	return value >= low && value <= high;
}

static bool is_kind(const struct row *row, const char *kind)
{
	return strcmp(row->kind, kind) == 0;
}

/* The paper gives a number, and this is it. */
static bool is_near(const struct row *row, struct outcome ours)
{
	if (is_kind(row, "shape"))
		return false;
	if (is_kind(row, "at most"))
		return is_within(ours.value, row->low * (1 - NEAR), row->high);
	if (is_kind(row, "at least"))
		return is_within(ours.value, row->low, row->high * (1 + NEAR));
	/* The paper gives a range: any value in it is right. */
	if (is_kind(row, "range"))
		return is_within(ours.value, row->low, row->high);
	if (row->number == ROW_OF_NO_LOSS)
		return is_within(ours.value, NO_LOSS, 1 + NEAR);
	return is_within(ours.value, row->low * (1 - NEAR), row->high * (1 + NEAR));
}

bool row_holds(const struct row *row, struct outcome outcome)
{
	if (outcome.value <= 0)
		return false;
	if (is_kind(row, "shape"))
		return outcome.is_falling;
	if (is_kind(row, "at most"))
		return outcome.value <= row->high;
	if (is_kind(row, "at least"))
		return outcome.value >= row->low;
	return is_near(row, outcome);
}

/* On the paper's side of "no difference", and not by another order of size. */
static bool is_in_kind(const struct row *row, struct outcome ours)
{
	if (row_holds(row, ours))
		return true;
	if (is_kind(row, "shape"))
		return false;
	if (row->number == ROW_OF_NO_LOSS)
		return ours.value > LOSS;
	if (is_kind(row, "at most") || is_kind(row, "at least"))
		return fabs(ours.value / row->low - 1) <= NEAR;
	if (is_kind(row, "range"))
		return ours.value < 0.995 && ours.value >= row->low / FAR;
	if (row->low > 1.05)
		return ours.value > 1.05 && is_within(ours.value, row->low / FAR, row->high * FAR);
	return fabs(ours.value / row->low - 1) <= 0.2;
}

/*
 * The null model has the model's own value on the same inputs: then the row does not test the part,
 * be the paper's number near there or not. How near is near depends on how much the paper says that it moves.
 */
static bool makes_no_difference(const struct row *row, struct outcome null)
{
	double limit = is_kind(row, "range") || row->number == ROW_OF_NO_LOSS ? 1 - NO_LOSS : NEAR;

	return !is_kind(row, "shape") && null.value > 0 && row->value_of_small > 0 &&
	       fabs(null.value / row->value_of_small - 1) <= limit;
}

enum verdict row_verdict(const struct row *row, struct outcome ours, struct outcome null)
{
	return verdict_of((struct judgement){
		.is_there = ours.value > 0,
		.holds = row_holds(row, ours),
		.is_near = is_near(row, ours),
		.is_in_kind = is_in_kind(row, ours),
		.has_null = null.value > 0,
		.null_holds = row_holds(row, null) || makes_no_difference(row, null),
	});
}
