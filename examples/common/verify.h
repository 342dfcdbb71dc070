/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Checks results against plain computations that share nothing with the
 * programs that made them. Each returns true, or false with a message that
 * names the first element that is wrong.
 *
 * Integers must be equal. Real numbers must be equal bit for bit, as the
 * programs add in the order of the plain loop; and they must be within
 * n * eps * sum |a| |x| of the sum in extended precision, which does not
 * depend on an order.
 */
#ifndef EXAMPLES_VERIFY_H
#define EXAMPLES_VERIFY_H

#include <stdbool.h>

#include "examples/common/csr.h"
#include "examples/common/message.h"

/* y = A x */
bool verify_spmv(const struct csr *a, const union csr_value *x, const union csr_value *y,
		 struct message *message);

/* result[j] = value[j] * dense[(row * columns + column) % dense_count] */
bool verify_sdhp(const struct csr *a, const union csr_value *dense, uint64_t dense_count,
		 const union csr_value *result, struct message *message);

/* C = A B; rows of C may hold their columns in any order. */
bool verify_spmm(const struct csr *a, const struct csr *b, const struct csr *c,
		 struct message *message);

/* May `sum` be the rounded sum of `count` products whose exact sum and sum of magnitudes are these? */
bool verify_within_bound(double sum, long double exact, long double magnitude, uint64_t count);

#endif
