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
#define KERNEL_DIM_MAX 32

/*
 * A panel of C, and its operands: some rows of a row of blocks, and as many
 * columns as a vector has lanes. A vector that is wider than DIM takes the same row
 * of several blocks. Operands are blocks, row by row, as in the scratchpad and the
 * accumulator; distances are in lanes. A lane of int8 operands has the values of successive
 * k: a pair of int16, or four bytes.
 */
struct kernel_panel {
	const union lane *a;
	size_t a_block;		/* to the next block of k */
	const union lane *b;
	size_t b_block;		/* to the next block of k */
	size_t b_next;		/* to the next block of columns */
	union lane *c;
	size_t c_next;		/* to the next block of columns */
	size_t blocks;		/* of k */
	bool from_zero;		/* C is not read */
};

struct virgo_kernels {
	const char *name;
	bool (*is_supported)(void);
	unsigned int lanes;	/* columns of a panel */
	unsigned int rows;	/* of a panel; where DIM is less, DIM */
	void (*multiply_floats)(const struct kernel_panel *panel, size_t dim);
	unsigned int bytes;	/* elements of a lane of int8 operands */
	void (*multiply_bytes)(const struct kernel_panel *panel, size_t dim);
	/* `count` elements, a multiple of 16 */
	void (*widen_halves)(float *to, const void *from, size_t count);
	/* An operand of int8 as lanes: A, `count` elements, and B, `rows` rows of DIM elements. */
	void (*lanes_of_a)(void *to, const int8_t *from, size_t count);
	void (*lanes_of_b)(void *to, const int8_t *from, size_t rows, size_t dim);
};

/* The fastest last. */
extern const struct virgo_kernels virgo_kernels_list[];
extern const size_t virgo_kernels_count;
/* The fastest that this processor has. */
const struct virgo_kernels *virgo_kernels_best(void);

#endif
