/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The activations of whole rows on the processor: for int8 as Gemmini's C library
 * does them, from the I-BERT paper's definitions; for floats as mathematics has them.
 */
#ifndef TESTS_CONTRACT_VIRGO_NORM_H
#define TESTS_CONTRACT_VIRGO_NORM_H

#include <stdbool.h>
#include <stdint.h>

/* --- int8 ------------------------------------------------------------------------------- */

/* Gemmini's ACC_SCALE and clip. */
double scaled(int32_t value, float scale);

/* I-BERT's constants for numbers x = q * scale. */
struct igelu {
	int32_t qb, qc;
};
struct igelu igelu_of(float scale);
int32_t igelu(int32_t q, const struct igelu *constants);

void layernorm_row(const int32_t *values, unsigned int n, float scale, double *expected);

struct softmax {
	int32_t ln2, inverse, qb, qc;
};
struct softmax softmax_of(float scale);
void softmax_row(const int32_t *values, unsigned int n, const struct softmax *constants, double *expected);

/* --- of the unit's type ------------------------------------------------------------------- */

double gelu(double x);

/* CONFIG 2 and 3 for I-GELU, layernorm or softmax, and the row that they make of sums. */
void config_activation(unsigned int activation, uint64_t stride);
void activated_row(unsigned int activation, const double *values, unsigned int n, double *expected);
/* The same for int8, near for floats. */
bool is_activated(double actual, double expected);

/*
 * A row after config_activation() of layernorm or softmax, to the last bit: floats by
 * the steps of docs/virgo.md, in fp32 and by ascending columns.
 */
void normalised_row(unsigned int activation, const double *values, unsigned int n, double *expected);

#endif
