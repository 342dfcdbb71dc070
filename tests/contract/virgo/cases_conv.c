/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* LOOP_CONV_WS: every parameter and flag. */
#include "tests/contract/virgo/conv.h"
#include "tests/contract/virgo/contract.h"

/* Rectangular; channels beyond a block, but of fp32. */
#define IMAGE .batch = 2, .in_rows = 6, .in_columns = 5, .in_channels = 5, .out_channels = 19, .kernel = 3
/* A smaller one, which fits where the image grows. */
#define SMALL .batch = 1, .in_rows = 6, .in_columns = 5, .in_channels = 5, .out_channels = 9, .kernel = 3

CASE(a_convolution_of_a_rectangular_image, EITHER)
{
	expect_convolution((struct conv){ IMAGE });
}

CASE(a_convolution_with_padding, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1 });
	expect_convolution((struct conv){ SMALL, .padding = 2 });
}

CASE(a_convolution_without_bias, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .no_bias = true });
}

CASE(a_convolution_with_stride, EITHER)
{
	expect_convolution((struct conv){ IMAGE, .padding = 1, .stride = 2 });
	expect_convolution((struct conv){ IMAGE, .stride = 3 });
}

CASE(a_convolution_with_a_scale_and_relu, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .scale = 0.25f, .activation = RELU });
}

/* CONFIG's activation of the store, or the loop's own of a pooled output. */
CASE(a_convolution_with_igelu, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .activation = IGELU });
	expect_convolution((struct conv){ SMALL, .padding = 1, .activation = IGELU, .pool_size = 2,
					  .pool_stride = 2 });
}

CASE(a_convolution_with_kernels_of_every_small_size, EITHER)
{
	for (unsigned int kernel = 1; kernel <= 4; kernel++)
		expect_convolution((struct conv){ .batch = 1, .in_rows = 5, .in_columns = 7, .in_channels = 3,
						  .out_channels = 4, .kernel = kernel, .padding = kernel / 2 });
}

CASE(a_convolution_of_long_rows, EITHER)
{
	expect_convolution((struct conv){ .batch = 1, .in_rows = 3, .in_columns = 37, .in_channels = 3,
					  .out_channels = 3, .kernel = 2, .padding = 1 });
}

CASE(a_convolution_of_many_channels, EITHER)
{
	expect_convolution((struct conv){ .batch = 2, .in_rows = 4, .in_columns = 3, .in_channels = 37,
					  .out_channels = 18, .kernel = 2, .padding = 1 });
}

CASE(a_convolution_of_one_pixel, EITHER)
{
	expect_convolution((struct conv){ .batch = 1, .in_rows = 1, .in_columns = 1, .in_channels = 1,
					  .out_channels = 1, .kernel = 1 });
	expect_convolution((struct conv){ .batch = 3, .in_rows = 1, .in_columns = 1, .in_channels = 33,
					  .out_channels = 17, .kernel = 1 });
}

CASE(a_convolution_with_dilated_kernels, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 2, .dilation = 2 });
	expect_convolution((struct conv){ SMALL, .padding = 2, .dilation = 2, .stride = 2 });
}

CASE(a_convolution_of_a_dilated_input, EITHER)
{
	for (unsigned int padding = 0; padding < 3; padding++)
		expect_convolution((struct conv){ .batch = 1, .in_rows = 5, .in_columns = 4, .in_channels = 5,
						  .out_channels = 7, .kernel = 3, .padding = padding,
						  .input_dilated = true });
}

CASE(a_convolution_with_kernels_rotated_by_180_degrees, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .rotated = true });
}

/* The backward pass of a convolution with stride 2. */
CASE(a_transposed_convolution_is_rotated_and_dilated, EITHER)
{
	expect_convolution((struct conv){ .batch = 1, .in_rows = 4, .in_columns = 4, .in_channels = 6,
					  .out_channels = 5, .kernel = 3, .padding = 1, .rotated = true,
					  .input_dilated = true });
}

CASE(a_convolution_that_is_pooled, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .pool_size = 2, .pool_stride = 2 });
}

CASE(a_convolution_that_is_pooled_with_padding, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .pool_size = 3, .pool_stride = 2,
					  .pool_padding = 1 });
	expect_convolution((struct conv){ SMALL, .padding = 1, .pool_size = 3, .pool_stride = 1,
					  .pool_padding = 1, .activation = RELU, .scale = 0.5f });
}

CASE(a_convolution_with_output_as_hwnc, EITHER)
{
	expect_convolution((struct conv){ IMAGE, .output_1203 = true });
}

CASE(a_convolution_with_weights_as_chwo, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .weight_1203 = true });
}

CASE(a_convolution_with_weights_as_hwoc, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .weight_0132 = true });
}

CASE(a_convolution_with_input_as_chwn, EITHER)
{
	expect_convolution((struct conv){ IMAGE, .input_3120 = true });
}

/* The gradient of weights: images are the channels. */
CASE(a_convolution_with_input_weights_and_output_transposed, EITHER)
{
	expect_convolution((struct conv){ .batch = 18, .in_rows = 4, .in_columns = 3, .in_channels = 3,
					  .out_channels = 2, .kernel = 2, .input_3120 = true,
					  .weight_1203 = true, .output_1203 = true });
}

/* First layers have few channels: several pixels of a kernel's row share a row of the scratchpad. */
CASE(a_first_layer_with_several_pixels_in_a_row, EITHER)
{
	expect_convolution((struct conv){ .batch = 1, .in_rows = 7, .in_columns = 9, .in_channels = 1,
					  .out_channels = 5, .kernel = 3, .padding = 1, .pixels = 3 });
	expect_convolution((struct conv){ .batch = 2, .in_rows = 5, .in_columns = 6, .in_channels = 2,
					  .out_channels = 5, .kernel = 3, .padding = 1, .pixels = 2 });
	expect_convolution((struct conv){ .batch = 1, .in_rows = 9, .in_columns = 11, .in_channels = 2,
					  .out_channels = 9, .kernel = 4, .padding = 2, .stride = 2,
					  .pixels = 2 });
}

CASE(a_convolution_that_takes_every_second_pixel, EITHER)
{
	expect_convolution((struct conv){ .batch = 2, .in_rows = 8, .in_columns = 10, .in_channels = 20,
					  .out_channels = 9, .kernel = 1, .stride = 2, .downsample = true });
}

CASE(a_depthwise_convolution, EITHER)
{
	expect_convolution((struct conv){ .batch = 2, .in_rows = 7, .in_columns = 6, .in_channels = 1,
					  .out_channels = 1, .kernel = 3, .padding = 1, .depthwise = true });
}

/* The channels of a matrix that has more of them. */
CASE(a_convolution_of_some_channels_of_many, EITHER)
{
	expect_convolution((struct conv){ SMALL, .padding = 1, .in_stride = 11, .weight_stride = 23,
					  .out_stride = 13 });
	expect_convolution((struct conv){ SMALL, .padding = 1, .in_stride = 11, .out_stride = 13,
					  .pool_size = 2, .pool_stride = 2 });
}

CASE(a_convolution_in_each_half_of_the_scratchpad, EITHER)
{
	for (unsigned int ids = 0; ids < 9; ids++)
		if (!is_left_out(ids + 8))
			expect_convolution((struct conv){ SMALL, .padding = 1, .a_id = ids / 3,
							  .b_id = ids % 3 });
}

CASE(convolutions_of_random_shapes, EITHER)
{
	for (unsigned int n = 0; n < 48; n++) {
		struct conv c = {
			.batch = 1 + draw_below(2), .in_rows = 3 + draw_below(3), .in_columns = 3 + draw_below(3),
			.in_channels = 1 + draw_below(20), .out_channels = 1 + draw_below(8),
			.kernel = 1 + draw_below(3), .padding = draw_below(2), .stride = 1 + draw_below(2),
			.no_bias = draw_below(2), .rotated = draw_below(2), .activation = draw_below(2),
		};

		if (draw_below(3) == 0) {
			c.pool_size = 1 + draw_below(2);
			c.pool_stride = 1 + draw_below(2);
		}
		if (!is_left_out(n))
			expect_convolution(c);
	}
}
