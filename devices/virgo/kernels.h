/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The inner loops of LOOP_WS, for different processors. All give the same
 * results, bit for bit: each element is a sum of its own, over ascending k; the
 * products of DIM values of k are added to a sum that begins with 0, and that sum
 * to the accumulator; a product is rounded before it is added.
 */
#ifndef MIMIC_VIRGO_KERNELS_H
#define MIMIC_VIRGO_KERNELS_H

#include "devices/virgo/element.h"

#define KERNEL_LANES_MAX 16
#define KERNEL_ROWS_MAX 8

struct virgo_kernels {
	const char *name;
	bool (*is_supported)(void);
	unsigned int lanes;	/* columns of a panel of B */
	unsigned int rows;	/* of a strip of A */
	/*
	 * c (rows x lanes) += a (rows x blocks * dim, rows a_stride apart)
	 * times b (blocks * dim x lanes).
	 */
	void (*multiply_float)(union lane *c, const float *a, size_t a_stride, const float *b,
			       size_t blocks, size_t dim);
	/* The same with pairs of int16, the values of two successive k: dim is a number of pairs. */
	void (*multiply_pairs)(union lane *c, const int32_t *a, size_t a_stride, const int32_t *b,
			       size_t pairs);
	/* Rows of `count` (4, 8 or 16) elements. */
	void (*widen_bytes)(int16_t *to, const int8_t *from, size_t count);
	void (*interleave_bytes)(int16_t *to, const int8_t *even, const int8_t *odd, size_t count);
	void (*widen_halves)(float *to, const uint16_t *from, size_t count);
};

/* The fastest last. */
extern const struct virgo_kernels virgo_kernels_list[];
extern const size_t virgo_kernels_count;
/* The fastest that this processor has. */
const struct virgo_kernels *virgo_kernels_best(void);

#endif
