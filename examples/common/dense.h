/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dense products C = A B of the types of Virgo's matrix units, and the right results
 * by plain loops. All matrices lie row by row, without gaps. A and B have elements
 * of the type; C has float (fp32), int32_t (int8) or binary16 (fp16).
 */
#ifndef EXAMPLES_DENSE_H
#define EXAMPLES_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/common/message.h"
#include "mimic/virgo_registers.h"

struct dense_product {
	enum virgo_type type;
	size_t m, n, k;		/* A is m by k, B is k by n */
	const void *a;
	const void *b;
};

/* Bytes of an element of A and B; of C. */
size_t dense_element_size(enum virgo_type type);
size_t dense_result_size(enum virgo_type type);

/* Random elements, the same for the same seed: reals in [-1, 1), integers of all values. */
void dense_fill_type(enum virgo_type type, void *matrix, size_t count, uint64_t seed);

/*
 * m * n sums, float or int32_t. Those of reals are added as a unit of DIM x DIM does it:
 * in blocks of `dim` products, each from 0 on, every product and sum rounded. The
 * blocks are added in turn. 0 or -ENOMEM.
 */
int dense_plain(const struct dense_product *product, unsigned int dim, void *sums);

/* Is C that of the sums, bit for bit? If not, the message names the first element that is not. */
bool dense_verify(const struct dense_product *product, const void *c, const void *sums, struct message *message);

/* x / (1 + e^-x) */
float dense_swish(float x);

/* C from the sums; or the swish of them, not for int8. */
void dense_finish(const struct dense_product *product, const void *sums, bool is_swish, void *c);

/*
 * Is C the swish of the sums? With any exponential function in fp32:
 * a few units in the last place more or less are right, too. Not for int8.
 */
bool dense_verify_swish(const struct dense_product *product, const void *c, const void *sums,
			struct message *message);

/* binary16: the nearest one, ties to even, and its value. */
uint16_t dense_half(float value);
float dense_from_half(uint16_t half);

#endif
