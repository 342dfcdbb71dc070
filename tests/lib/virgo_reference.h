/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The commands of a Virgo matrix unit once more, as plainly as they can be
 * written down: one command at a time, one element at a time. It is made from
 * the definitions and shares no line with devices/virgo. Loops are expanded to
 * the single commands that they stand for, block by block.
 *
 * Addresses are pointers of the test. Commands must be valid ones.
 */
#ifndef TESTS_VIRGO_REFERENCE_H
#define TESTS_VIRGO_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { REFERENCE_INT8, REFERENCE_FP16, REFERENCE_FP32 };

union reference_value {
	int32_t i;
	float f;
	uint32_t u;
};

struct virgo_reference {
	unsigned int type, dim, rows, accumulator_rows;
	uint8_t *spad;				/* rows of dim elements */
	union reference_value *accumulator;	/* rows of dim values */

	struct {
		uint64_t stride;
		unsigned int block_stride, pixels;
		bool shrunk;
		float scale;
	} load[3];
	bool weight_stationary, a_transposed, b_transposed;
	unsigned int array_activation, shift, a_stride, c_stride;
	float array_scale;
	uint64_t store_stride;
	unsigned int store_activation, pool_stride, pool_size, pool_top, pool_left;
	unsigned int pool_out_columns, pool_rows, pool_columns, out_rows, out_columns;
	float store_scale;

	unsigned int activation_high, statistic;
	union reference_value qb, qc, qln2, qln2_inverse;
	struct {
		union reference_value sum, running_max, max, mean;
		unsigned int count;
		float inverse_deviation, inverse_sum;
	} statistics[4];

	union reference_value array[32][32];
	uint64_t preload, output;

	uint64_t ws[16];	/* rs1 and rs2 of functs 9 to 13, then of 24 and 25 */
	unsigned int accumulator_base;
	uint64_t conv[12];	/* rs1 and rs2 of functs 16 to 21 */
};

/* As after power-on. NULL: no memory. */
struct virgo_reference *virgo_reference_create(unsigned int type, unsigned int dim,
					       unsigned int shared_bytes,
					       unsigned int accumulator_bytes);
/* The same in a scratchpad of the caller's, which virgo_reference_destroy() must not find any more. */
struct virgo_reference *virgo_reference_create_on(uint8_t *spad, unsigned int type, unsigned int dim,
						  unsigned int shared_bytes,
						  unsigned int accumulator_bytes);
void virgo_reference_destroy(struct virgo_reference *reference);
void virgo_reference_command(struct virgo_reference *reference, unsigned int funct, uint64_t rs1,
			     uint64_t rs2);

#endif
