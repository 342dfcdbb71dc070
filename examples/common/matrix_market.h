/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Reads a Matrix Market file of the coordinate format: general, symmetric and
 * skew-symmetric; real, integer and pattern. A symmetric file's elements off
 * the diagonal count twice, at (i, j) and (j, i). An element that is given
 * twice is kept twice, which for a product is their sum.
 */
#ifndef EXAMPLES_MATRIX_MARKET_H
#define EXAMPLES_MATRIX_MARKET_H

#include <stdbool.h>
#include <stddef.h>

#include "examples/common/csr.h"
#include "examples/common/message.h"

/* Does the text start with the banner of a Matrix Market file? */
bool matrix_market_is(const char *text, size_t size);

/*
 * `name` is for messages. 0, or -EINVAL (not a valid file), -EOPNOTSUPP (a kind
 * of matrix that is not read), -ERANGE (a number out of range), -ENOMEM.
 */
int matrix_market_parse(struct csr *csr, const char *name, const char *text, size_t size,
			struct message *message);

/* Rows and columns that a file of `size` bytes may ask for: a header alone must not allocate gigabytes. */
uint64_t matrix_market_dimension_limit(size_t size);

#endif
