/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A convolution by its definition, and as Gemmini's library asks LOOP_CONV_WS for
 * it: in parts. Values are whole numbers whose sums are exact in all three types.
 */
#ifndef TESTS_CONTRACT_VIRGO_CONV_H
#define TESTS_CONTRACT_VIRGO_CONV_H

#include <stdbool.h>

struct conv {
	unsigned int batch, in_rows, in_columns, in_channels, out_channels, kernel;
	unsigned int stride, padding, dilation;			/* 0: 1, 0, 1 */
	unsigned int pool_size, pool_stride, pool_padding;	/* pool_size 0: no pooling */
	unsigned int pixels;
	unsigned int activation;	/* RELU or IGELU */
	/* Channels in memory; 0: all of them. Other layouts than NHWC and HWIO have no strides. */
	unsigned int in_stride, weight_stride, out_stride;
	unsigned int a_id, b_id;
	bool input_dilated, rotated, downsample, depthwise, no_bias;
	bool output_1203, weight_1203, weight_0132, input_3120;
	float scale;			/* 0: 1 */
};

/* The convolution at work, all parameters set, and the sizes that follow from them. */
struct convolution {
	struct conv c;
	unsigned int out_rows, out_columns, pooled_rows, pooled_columns;
	unsigned int in_stride, weight_stride, out_stride;
};

/* In every unit: the device's output is the definition's. */
void expect_convolution(struct conv conv);

/* The dimensions that are cut into parts; rows, columns and channels are those of the output as stored. */
enum {
	OF_BATCH, OF_ROW, OF_COLUMN, OF_CHANNEL, OF_KROW, OF_KCOLUMN, OF_KCHANNEL, DIRECTIONS,
};

/* The same where no part has more than step[] in a direction. No part may see only padding. */
void expect_convolution_in_parts(struct conv conv, const unsigned int step[DIRECTIONS]);

/* --- where things lie ------------------------------------------------------------------ */

void *input_of(unsigned int b, unsigned int row, unsigned int column, unsigned int channel);
void *weight_of(unsigned int row, unsigned int column, unsigned int in_channel, unsigned int out_channel);
void *bias_of(unsigned int channel);
void *output_of(unsigned int b, unsigned int row, unsigned int column, unsigned int channel);

/* --- cases_conv_by_parts.c ---------------------------------------------------------- */

void send_parts(const struct convolution *t, const unsigned int step[DIRECTIONS]);

#endif
