/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A convolution by its definition, and as Gemmini's library asks LOOP_CONV_WS for
 * it. Values are whole numbers whose sums are exact in all three types.
 */
#ifndef TESTS_CONTRACT_VIRGO_CONV_H
#define TESTS_CONTRACT_VIRGO_CONV_H

#include <stdbool.h>

struct conv {
	unsigned int batch, in_rows, in_columns, in_channels, out_channels, kernel;
	unsigned int stride, padding, dilation;			/* 0: 1, 0, 1 */
	unsigned int pool_size, pool_stride, pool_padding;	/* pool_size 0: no pooling */
	unsigned int pixels;
	unsigned int activation;	/* of a pooled output */
	unsigned int in_stride, weight_stride, out_stride;	/* channels in memory; 0: all of them */
	unsigned int a_id, b_id;
	bool input_dilated, rotated, downsample, depthwise, no_bias;
	bool output_1203, weight_1203, weight_0132, input_3120;
	float scale;			/* 0: 1 */
};

/* In every unit: the device's output is the definition's. */
void expect_convolution(struct conv conv);

#endif
