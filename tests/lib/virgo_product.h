/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Products of libvirgo by the plain loop, in the order of sums that virgo_gemm.h
 * documents, with matrices that end, or begin, where memory does.
 */
#ifndef TESTS_VIRGO_PRODUCT_H
#define TESTS_VIRGO_PRODUCT_H

#include "tests/lib/gemm_reference.h"
#include "virgo.h"

struct product_case {
	struct virgo_product product;	/* the matrices are made from this */
	unsigned int dim;		/* of the unit */
	bool has_bias;
	bool specials;			/* zeros, subnormals, infinities, NaN */
	struct gemm_matrix a, b, c, bias;
	void *c_before;
};

/* Any sizes up to `largest`, flags and epilogues that go together, leading dimensions. */
struct product_case product_random(enum virgo_type type, unsigned int dim, size_t largest,
				   uint64_t *random);
/* Makes the matrices, with random elements, and puts them into the product. */
void product_make(struct product_case *c, uint64_t *random);
void product_free(struct product_case *c);

/*
 * Checks the elements of C by the plain loop, and its padding. Returns a text that says
 * what is wrong, "" if all is right. The text is static, one for each thread.
 */
const char *product_wrong(const struct product_case *c);

/* An element of A (m x k) and of B (k x n), as floats; int8 too. */
float product_a(const struct product_case *c, size_t row, size_t k);
float product_b(const struct product_case *c, size_t k, size_t column);

/* Makes it, runs virgo_gemm(), asserts that nothing is wrong and that A, B and bias are as before. */
void product_check(struct virgo *virgo, unsigned int unit, struct product_case *c, uint64_t *random);

#endif
