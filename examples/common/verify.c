/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/verify.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The expected sum of products, in every way that it is compared. */
struct sum {
	uint64_t integer;	/* modulo 2^64 */
	double real;		/* added in order */
	long double exact;
	long double magnitude;
	uint64_t count;
};

static void sum_add(struct sum *sum, enum csr_values kind, union csr_value a, union csr_value b)
{
	sum->count++;
	if (kind == CSR_INTEGER) {
		sum->integer += (uint64_t)a.integer * (uint64_t)b.integer;
		return;
	}
	sum->real += a.real * b.real;
	sum->exact += (long double)a.real * b.real;
	sum->magnitude += fabsl((long double)a.real * b.real);
}

bool verify_within_bound(double sum, long double exact, long double magnitude, uint64_t count)
{
	return fabsl(sum - exact) <= (long double)count * DBL_EPSILON * magnitude;
}

static bool same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static bool sum_check(const struct sum *sum, enum csr_values kind, union csr_value result,
		      const char *what, uint64_t index, struct message *message)
{
	if (kind == CSR_INTEGER) {
		if ((uint64_t)result.integer == sum->integer)
			return true;
		message_set(message, 0, "%s %" PRIu64 " is %" PRId64 ", but must be %" PRId64, what, index,
			    result.integer, (int64_t)sum->integer);
		return false;
	}
	/* A sum that overflows a double has no bound; then the order decides alone. */
	if (same_bits(result.real, sum->real) &&
	    (!isfinite(sum->real) ||
	     verify_within_bound(result.real, sum->exact, sum->magnitude, sum->count)))
		return true;
	message_set(message, 0, "%s %" PRIu64 " is %.17g, but must be %.17g", what, index, result.real,
		    sum->real);
	return false;
}

bool verify_spmv(const struct csr *a, const union csr_value *x, const union csr_value *y,
		 struct message *message)
{
	for (uint64_t row = 0; row < a->rows; row++) {
		struct sum sum = { 0 };

		for (uint64_t j = a->row_start[row]; j < a->row_start[row + 1]; j++)
			sum_add(&sum, a->kind, a->value[j], x[a->column[j]]);
		if (!sum_check(&sum, a->kind, y[row], "row", row, message))
			return false;
	}
	return true;
}

bool verify_sdhp(const struct csr *a, const union csr_value *dense, uint64_t dense_count,
		 const union csr_value *result, struct message *message)
{
	for (uint64_t row = 0; row < a->rows; row++) {
		for (uint64_t j = a->row_start[row]; j < a->row_start[row + 1]; j++) {
			unsigned __int128 at = (unsigned __int128)row * a->columns + a->column[j];
			union csr_value factor = dense[(uint64_t)(at % dense_count)];
			union csr_value must;

			if (a->kind == CSR_INTEGER)
				must.integer = (int64_t)((uint64_t)a->value[j].integer * (uint64_t)factor.integer);
			else
				must.real = a->value[j].real * factor.real;
			if (must.integer == result[j].integer)
				continue;
			message_set(message, 0, "element %" PRIu64 " (row %" PRIu64 ", column %u) is wrong", j, row,
				    a->column[j]);
			return false;
		}
	}
	return true;
}

/* A dense row of B's width, of which `touched` lists the elements in use. */
struct dense_row {
	struct sum *sum;
	uint32_t *touched;
	uint64_t count;
};

static void dense_row_make(struct dense_row *dense, const struct csr *a, const struct csr *b, uint64_t row)
{
	dense->count = 0;
	for (uint64_t i = a->row_start[row]; i < a->row_start[row + 1]; i++) {
		uint32_t inner = a->column[i];

		for (uint64_t j = b->row_start[inner]; j < b->row_start[inner + 1]; j++) {
			struct sum *sum = &dense->sum[b->column[j]];

			if (sum->count == 0)
				dense->touched[dense->count++] = b->column[j];
			sum_add(sum, a->kind, a->value[i], b->value[j]);
		}
	}
}

static void dense_row_clear(struct dense_row *dense)
{
	for (uint64_t i = 0; i < dense->count; i++)
		memset(&dense->sum[dense->touched[i]], 0, sizeof(*dense->sum));
}

static bool dense_row_check(struct dense_row *dense, const struct csr *c, uint64_t row,
			    struct message *message)
{
	uint64_t start = c->row_start[row], end = c->row_start[row + 1];

	if (end - start != dense->count) {
		message_set(message, 0, "row %" PRIu64 " has %" PRIu64 " elements, but must have %" PRIu64, row,
			    end - start, dense->count);
		return false;
	}
	for (uint64_t j = start; j < end; j++) {
		struct sum *sum = c->column[j] < c->columns ? &dense->sum[c->column[j]] : NULL;

		if (!sum || sum->count == 0) {
			message_set(message, 0, "row %" PRIu64 " has an element too many, in column %u", row,
				    c->column[j]);
			return false;
		}
		if (!sum_check(sum, c->kind, c->value[j], "an element of row", row, message))
			return false;
		/* Seen: the same column again would be one too many. */
		memset(sum, 0, sizeof(*sum));
	}
	return true;
}

bool verify_spmm(const struct csr *a, const struct csr *b, const struct csr *c, struct message *message)
{
	struct dense_row dense = {
		.sum = calloc(b->columns + 1, sizeof(*dense.sum)),
		.touched = calloc(b->columns + 1, sizeof(*dense.touched)),
	};
	bool right = dense.sum && dense.touched;

	if (!right)
		message_set(message, -ENOMEM, "out of memory to verify %" PRIu64 " columns", b->columns);
	if (right && (c->rows != a->rows || c->columns != b->columns || c->kind != a->kind)) {
		message_set(message, 0, "the product has the wrong shape");
		right = false;
	}
	for (uint64_t row = 0; right && row < a->rows; row++) {
		dense_row_make(&dense, a, b, row);
		right = dense_row_check(&dense, c, row, message);
		dense_row_clear(&dense);
	}
	free(dense.sum);
	free(dense.touched);
	return right;
}
