/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A product by commands, C = A x B of 16 x 16 elements: fp32 on unit 0, int8 with int32 sums on unit 2. */
#ifndef MIMIC_TESTS_VIRGO_PRODUCT_H
#define MIMIC_TESTS_VIRGO_PRODUCT_H

#include <stdbool.h>

#include "tests/kselftest/lib/virgo_device.h"

#define VIRGO_SMALL_SIDE 16u

struct virgo_small_product {
	union {
		float fp32[VIRGO_SMALL_SIDE * VIRGO_SMALL_SIDE];
		signed char int8[VIRGO_SMALL_SIDE * VIRGO_SMALL_SIDE];
	} a, b;
	union {
		float fp32[VIRGO_SMALL_SIDE * VIRGO_SMALL_SIDE];
		int int32[VIRGO_SMALL_SIDE * VIRGO_SMALL_SIDE];
	} c;
};

/* Fills A and B, by `seed`, and starts it; it is not waited for. Each unit has its half of the shared memory. */
void virgo_small_start(const struct virgo_node *node, unsigned int unit, struct virgo_small_product *product,
		       unsigned int seed);
bool virgo_small_is_right(const struct virgo_small_product *product, unsigned int unit, unsigned int seed);

#endif
