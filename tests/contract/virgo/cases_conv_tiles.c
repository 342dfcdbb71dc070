/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A convolution that is done in parts. Each part reads and writes its own piece of
 * larger matrices. That takes many commands: most cases only send them in posts.
 */
#include "tests/contract/virgo/conv.h"
#include "tests/contract/virgo/contract.h"

#define ALL 99
#define IN_PARTS_OF(...) ((const unsigned int[DIRECTIONS]){ __VA_ARGS__ })
/* Images, rows, columns, channels; rows, columns, channels of the kernel. */
#define OF_EVERYTHING IN_PARTS_OF(2, 4, 3, 4, ALL, 2, 4)

/* Three images, so that parts of images differ. */
#define SHAPE .in_rows = 6, .in_columns = 5, .kernel = 3, .padding = 1
#define SAME_SIZE SHAPE, .batch = 3, .in_channels = 7, .out_channels = 6
/* More than a block of every size. */
#define BLOCKS SHAPE, .batch = 2, .in_channels = 18, .out_channels = 17

CASE(a_convolution_in_one_part, EITHER)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE }, IN_PARTS_OF(ALL, ALL, ALL, ALL, ALL, ALL, ALL));
}

CASE(a_convolution_in_parts_of_the_output, EITHER)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE }, IN_PARTS_OF(1, 4, 3, 4, ALL, ALL, ALL));
}

CASE(a_convolution_in_parts_of_all_images, EITHER)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE }, IN_PARTS_OF(ALL, 4, 3, ALL, ALL, ALL, ALL));
}

CASE(a_convolution_in_parts_of_the_kernel, EITHER)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE }, IN_PARTS_OF(ALL, ALL, ALL, ALL, 2, 2, 4));
}

CASE(a_convolution_in_parts_of_everything, EITHER)
{
	expect_convolution_in_parts((struct conv){ BLOCKS }, IN_PARTS_OF(1, 3, 5, 16, 2, 3, 16));
}

/* --- some channels of many, and the four layouts, which have no strides --------------------------- */

#define STRIDES .in_stride = 11, .weight_stride = 9, .out_stride = 8

CASE(parts_of_matrices_with_strides, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE, STRIDES }, OF_EVERYTHING);
}

CASE(parts_with_output_as_hwnc, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE, STRIDES, .output_1203 = true }, OF_EVERYTHING);
}

CASE(parts_with_weights_as_chwo, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE, STRIDES, .weight_1203 = true }, OF_EVERYTHING);
}

CASE(parts_with_weights_as_hwoc, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE, STRIDES, .weight_0132 = true }, OF_EVERYTHING);
}

CASE(parts_with_input_as_chwn, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE, STRIDES, .input_3120 = true }, OF_EVERYTHING);
}

CASE(parts_with_input_weights_and_output_transposed, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE, STRIDES, .input_3120 = true, .weight_1203 = true,
						   .output_1203 = true }, OF_EVERYTHING);
}

/* --- paddings and holes ---------------------------------------------------------------------------- */

/* 5 x 6 windows of an output of 9 x 11: the first, middle and last parts have different paddings. */
#define POOLED .batch = 3, .in_rows = 9, .in_columns = 11, .in_channels = 3, .out_channels = 5, .kernel = 3, \
	.padding = 1, .pool_size = 3, .pool_stride = 2, .pool_padding = 1

CASE(a_pooled_convolution_in_parts_of_the_output, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ POOLED }, IN_PARTS_OF(2, 2, 2, 4, ALL, ALL, ALL));
	expect_convolution_in_parts((struct conv){ POOLED, .activation = RELU, .out_stride = 7 },
				    IN_PARTS_OF(1, 3, 5, 4, ALL, ALL, ALL));
}

CASE(a_pooled_convolution_in_parts_of_everything, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ POOLED }, IN_PARTS_OF(2, 3, 3, 4, 2, 2, 2));
}

CASE(parts_of_a_convolution_with_strides_and_dilated_kernels, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE, .stride = 2 }, IN_PARTS_OF(2, 2, 2, 4, 2, 2, 4));
	expect_convolution_in_parts((struct conv){ SAME_SIZE, .dilation = 2 }, IN_PARTS_OF(2, 2, 2, 4, 2, 2, 4));
	expect_convolution_in_parts((struct conv){ SAME_SIZE, .dilation = 2, .stride = 2 },
				    IN_PARTS_OF(2, 1, 1, 4, 2, 2, 4));
}

CASE(parts_of_a_convolution_with_rotated_kernels, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ SAME_SIZE, .rotated = true },
				    IN_PARTS_OF(2, 4, ALL, 4, 2, 2, 4));
}

/* Parts that begin with an element, and between two. */
CASE(parts_of_a_convolution_of_a_dilated_input, BY_STREAM)
{
	for (unsigned int padding = 0; padding < 3; padding++) {
		struct conv c = {
			.batch = 2, .in_rows = 5, .in_columns = 4, .in_channels = 3, .out_channels = 5,
			.kernel = 3, .padding = padding, .input_dilated = true, .rotated = padding == 1,
		};

		expect_convolution_in_parts(c, IN_PARTS_OF(1, 3, 5, 4, ALL, ALL, ALL));
		expect_convolution_in_parts(c, IN_PARTS_OF(2, 4, 3, ALL, 2, 2, 2));
	}
}

CASE(parts_of_a_first_layer_with_several_pixels_in_a_row, BY_STREAM)
{
	struct conv c = {
		.batch = 2, .in_rows = 7, .in_columns = 8, .in_channels = 2, .out_channels = 5, .kernel = 5,
		.padding = 2, .pixels = 2,
	};

	expect_convolution_in_parts(c, IN_PARTS_OF(1, 4, 3, 4, ALL, ALL, ALL));
	expect_convolution_in_parts(c, IN_PARTS_OF(2, 4, 4, ALL, 3, 3, ALL));
	c.stride = 2;
	expect_convolution_in_parts(c, IN_PARTS_OF(2, 3, 2, ALL, 3, 4, ALL));
}

CASE(parts_of_a_convolution_that_takes_every_second_pixel, BY_STREAM)
{
	expect_convolution_in_parts((struct conv){ .batch = 2, .in_rows = 8, .in_columns = 10, .in_channels = 20,
						   .out_channels = 9, .kernel = 1, .stride = 2,
						   .downsample = true }, IN_PARTS_OF(1, 3, 2, 4, ALL, ALL, 16));
}
