/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * LOOP_CONV_WS against a convolution as one writes it down: seven loops over
 * integers. Values are small, so that sums are exact in all three types.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/virgo_fixture.h"

struct conv {
	unsigned int batch, in_rows, in_columns, in_channels, out_channels, kernel;
	unsigned int stride, padding, dilation;
	unsigned int pool_size, pool_stride, pool_padding;	/* pool_size 0: no pooling */
	unsigned int pixels;
	bool input_dilated, rotated, downsample, depthwise, no_bias;
	bool output_1203, weight_1203, weight_0132, input_3120;
};

static const struct {
	unsigned int type, dim;
} kinds[] = { { VIRGO_INT8, 16 }, { VIRGO_FP16, 16 }, { VIRGO_FP32, 8 }, { VIRGO_FP32, 4 } };

static const unsigned int sizes[] = { 1, 2, 4 };

static struct {
	struct virgo_fixture *f;
	unsigned int type, size;
	int input[20000], weights[20000], bias[64], output[40000];
	unsigned int out_rows, out_columns, pooled_rows, pooled_columns;
} t;

/* --- by the definition --------------------------------------------------------------------- */

static int *input_of(const struct conv *c, unsigned int b, unsigned int row, unsigned int column,
		     unsigned int channel)
{
	return &t.input[((b * c->in_rows + row) * c->in_columns + column) * c->in_channels + channel];
}

static int *weight_of(const struct conv *c, unsigned int row, unsigned int column,
		      unsigned int in_channel, unsigned int out_channel)
{
	return &t.weights[((row * c->kernel + column) * c->in_channels + in_channel) * c->out_channels +
			  out_channel];
}

/* The input as the kernel sees it: with zeros around it, and between its elements if it is dilated. */
static int padded(const struct conv *c, unsigned int b, int row, int column, unsigned int channel)
{
	row -= (int)c->padding;
	column -= (int)c->padding;
	if (row < 0 || column < 0 || (c->input_dilated && (row % 2 || column % 2)))
		return 0;
	if (c->input_dilated) {
		row /= 2;
		column /= 2;
	}
	if (row >= (int)c->in_rows || column >= (int)c->in_columns)
		return 0;
	return *input_of(c, b, (unsigned int)row, (unsigned int)column, channel);
}

static int convolve(const struct conv *c, unsigned int b, unsigned int row, unsigned int column,
		    unsigned int channel)
{
	int sum = c->no_bias ? 0 : t.bias[channel];

	for (unsigned int i = 0; i < c->kernel; i++)
		for (unsigned int j = 0; j < c->kernel; j++)
			for (unsigned int k = 0; k < c->in_channels; k++) {
				unsigned int wi = c->rotated ? c->kernel - 1 - i : i;
				unsigned int wj = c->rotated ? c->kernel - 1 - j : j;

				sum += padded(c, b, (int)(row * c->stride + i * c->dilation),
					      (int)(column * c->stride + j * c->dilation), k) *
				       *weight_of(c, wi, wj, k, channel);
			}
	return sum;
}

/* The sum as an element: int8 saturates; halves of these integers may round. */
static int as_element(int sum)
{
	if (t.type == VIRGO_INT8)
		return sum > 127 ? 127 : sum < -128 ? -128 : sum;
	return t.type == VIRGO_FP16 ? (int)(_Float16)(float)sum : sum;
}

static int pooled(const struct conv *c, unsigned int b, unsigned int row, unsigned int column,
		  unsigned int channel)
{
	int best = -1000000;

	if (!c->pool_size)
		return as_element(convolve(c, b, row, column, channel));
	for (unsigned int i = 0; i < c->pool_size; i++)
		for (unsigned int j = 0; j < c->pool_size; j++) {
			int r = (int)(row * c->pool_stride + i) - (int)c->pool_padding, value = 0;
			int q = (int)(column * c->pool_stride + j) - (int)c->pool_padding;

			if (r >= 0 && q >= 0 && r < (int)t.out_rows && q < (int)t.out_columns)
				value = as_element(convolve(c, b, (unsigned int)r, (unsigned int)q, channel));
			best = value > best ? value : best;
		}
	return best;
}

/* --- in the program's memory ------------------------------------------------------------------- */

static void put(unsigned char *to, size_t index, int value)
{
	_Float16 half = (_Float16)value;
	float real = (float)value;

	if (t.type == VIRGO_INT8)
		((int8_t *)to)[index] = (int8_t)value;
	else if (t.type == VIRGO_FP16)
		memcpy(to + 2 * index, &half, 2);
	else
		memcpy(to + 4 * index, &real, 4);
}

static int get(const unsigned char *from, size_t index)
{
	_Float16 half;
	float real;

	if (t.type == VIRGO_INT8)
		return ((const int8_t *)from)[index];
	memcpy(&half, from + 2 * index, 2);
	memcpy(&real, from + 4 * index, 4);
	return t.type == VIRGO_FP16 ? (int)half : (int)real;
}

static unsigned char *area(unsigned int n)
{
	return t.f->arena + n * 0x80000;
}

static void put_inputs(const struct conv *c)
{
	for (unsigned int b = 0; b < c->batch; b++)
		for (unsigned int i = 0; i < c->in_rows; i++)
			for (unsigned int j = 0; j < c->in_columns; j++)
				for (unsigned int k = 0; k < c->in_channels; k++) {
					size_t at = ((b * c->in_rows + i) * c->in_columns + j) * c->in_channels + k;

					if (c->input_3120)
						at = ((k * c->in_rows + i) * c->in_columns + j) * c->batch + b;
					put(area(0), at, *input_of(c, b, i, j, k));
				}
}

static void put_weights(const struct conv *c)
{
	for (unsigned int i = 0; i < c->kernel; i++)
		for (unsigned int j = 0; j < c->kernel; j++)
			for (unsigned int k = 0; k < c->in_channels; k++)
				for (unsigned int o = 0; o < c->out_channels; o++) {
					size_t pixel = i * c->kernel + j;
					size_t at = (pixel * c->in_channels + k) * c->out_channels + o;

					if (c->weight_1203)
						at = (k * c->kernel * c->kernel + pixel) * c->out_channels + o;
					else if (c->weight_0132)
						at = (pixel * c->out_channels + o) * c->in_channels + k;
					put(area(1), at, *weight_of(c, i, j, k, o));
				}
}

static void put_bias(const struct conv *c)
{
	for (unsigned int o = 0; o < c->out_channels; o++) {
		float real = (float)t.bias[o];

		memcpy(area(2) + 4 * o, t.type == VIRGO_INT8 ? (void *)&t.bias[o] : (void *)&real, 4);
	}
}

static int output_at(const struct conv *c, unsigned int b, unsigned int row, unsigned int column,
		     unsigned int channel)
{
	size_t at = ((b * t.pooled_rows + row) * t.pooled_columns + column) * c->out_channels + channel;

	if (c->output_1203)
		at = ((row * t.pooled_columns + column) * c->batch + b) * c->out_channels + channel;
	return get(area(3), at);
}

/* --- the device ------------------------------------------------------------------------------------ */

static void prepare(const struct conv *c)
{
	unsigned int extent = (c->kernel - 1) * c->dilation + 1;
	unsigned int rows = c->input_dilated ? 2 * c->in_rows - 1 : c->in_rows;
	unsigned int columns = c->input_dilated ? 2 * c->in_columns - 1 : c->in_columns;

	t.out_rows = (rows + 2 * c->padding - extent) / c->stride + 1;
	t.out_columns = (columns + 2 * c->padding - extent) / c->stride + 1;
	t.pooled_rows = t.out_rows;
	t.pooled_columns = t.out_columns;
	if (c->pool_size) {
		t.pooled_rows = (t.out_rows + 2 * c->pool_padding - c->pool_size) / c->pool_stride + 1;
		t.pooled_columns = (t.out_columns + 2 * c->pool_padding - c->pool_size) / c->pool_stride + 1;
	}
	for (unsigned int i = 0; i < sizeof(t.input) / sizeof(t.input[0]); i++)
		t.input[i] = rand() % 7 - 3;
	for (unsigned int i = 0; i < sizeof(t.weights) / sizeof(t.weights[0]); i++)
		t.weights[i] = rand() % 5 - 2;
	for (unsigned int i = 0; i < 64; i++)
		t.bias[i] = rand() % 50 - 25;
	put_inputs(c);
	put_weights(c);
	put_bias(c);
}

/* Columns of the last kernel that lie right of the image: no padding that no output needs is counted. */
static unsigned int far_padding(const struct conv *c, unsigned int out, unsigned int in)
{
	unsigned int size = c->input_dilated ? 2 * in - 1 : in;
	int reach = (int)(out * c->stride + (c->kernel - 1) * c->dilation + 1 - 1);

	reach -= (int)(c->padding + size);
	return reach > 0 ? (unsigned int)reach : 0;
}

static void run(const struct conv *c)
{
	unsigned int line = (c->output_1203 ? c->batch : 1) * c->out_channels * t.size;
	uint64_t right = far_padding(c, t.out_columns, c->in_columns);
	uint64_t bottom = far_padding(c, t.out_rows, c->in_rows);

	virgo_send(t.f, 0, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | line);
	virgo_send(t.f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_1,
		   (uint64_t)c->out_channels << 48 | (uint64_t)c->in_channels << 32 | c->in_rows << 16 | c->batch,
		   (uint64_t)c->padding << 56 | (uint64_t)c->stride << 48 | (uint64_t)t.out_columns << 32 |
		   t.pooled_rows << 16 | t.out_rows);
	virgo_send(t.f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_2,
		   (uint64_t)c->kernel << 48 | (uint64_t)t.pooled_columns << 32 | c->pool_size << 16 |
		   c->pool_stride << 8 | c->pool_padding,
		   (uint64_t)c->batch << 48 | (uint64_t)t.pooled_rows << 32 | t.pooled_columns << 16 |
		   c->out_channels);
	virgo_send(t.f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_3,
		   (uint64_t)c->kernel << 48 | (uint64_t)c->kernel << 32 | c->in_channels << 16 | c->padding,
		   right << 48 | (uint64_t)c->padding << 32 | bottom << 24 | c->pool_padding << 16 |
		   c->in_columns);
	virgo_send(t.f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_4,
		   (uint64_t)t.out_rows << 48 | (uint64_t)c->pool_padding << 32 | (uint64_t)c->pool_padding << 21 |
		   c->pool_padding << 10 | c->dilation,
		   (uint64_t)c->in_channels << 48 | (uint64_t)c->out_channels << 32 | c->out_channels << 16 |
		   t.out_columns);
	virgo_send(t.f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_5, virgo_address(area(1)), virgo_address(area(3)));
	virgo_send(t.f, 0, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_6, virgo_address(area(2)), virgo_address(area(0)));
	virgo_send(t.f, 0, VIRGO_FUNCT_LOOP_CONV_WS,
		   (c->no_bias ? VIRGO_CONV_NO_BIAS : 0) | (c->rotated ? VIRGO_CONV_ROTATED : 0) |
		   (c->output_1203 ? VIRGO_CONV_OUTPUT_1203 : 0) | (c->weight_1203 ? VIRGO_CONV_WEIGHT_1203 : 0) |
		   (c->weight_0132 ? VIRGO_CONV_WEIGHT_0132 : 0) | (c->input_3120 ? VIRGO_CONV_INPUT_3120 : 0) |
		   (c->depthwise ? VIRGO_CONV_DEPTHWISE : 0) | c->pixels << VIRGO_CONV_PIXELS_SHIFT,
		   (c->pool_size ? 0 : VIRGO_CONV_NO_POOL) | (c->downsample ? VIRGO_CONV_DOWNSAMPLE : 0) |
		   (c->input_dilated ? VIRGO_CONV_INPUT_DILATED : 0));
	virgo_run(t.f);
	assert_int_equal(virgo_unit_load(t.f, 0, VIRGO_ERROR), VIRGO_ERROR_NONE);
}

static void compare(const struct conv *c)
{
	for (unsigned int b = 0; b < c->batch; b++)
		for (unsigned int i = 0; i < t.pooled_rows; i++)
			for (unsigned int j = 0; j < t.pooled_columns; j++)
				for (unsigned int o = 0; o < c->out_channels; o++)
					assert_int_equal(output_at(c, b, i, j, o), pooled(c, b, i, j, o));
}

/* In all types. */
static void convolution(struct conv c, unsigned int options)
{
	if (!c.dilation)
		c.dilation = 1;
	if (!c.stride)
		c.stride = 1;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct virgo_config config = virgo_fixture_config(kinds[k].type, kinds[k].dim);

		config.shared_kb = 256;
		config.unit[0].accumulator_kb = 64;
		t.f = virgo_fixture_create(&config, options);
		t.type = kinds[k].type;
		t.size = sizes[t.type];
		prepare(&c);
		run(&c);
		compare(&c);
		virgo_fixture_destroy(t.f);
	}
}

#define IMAGE .batch = 2, .in_rows = 9, .in_columns = 7, .in_channels = 5, .out_channels = 19, .kernel = 3

static void convolves_with_padding(void **state)
{
	(void)state;
	convolution((struct conv){ IMAGE, .padding = 1 }, 0);
	convolution((struct conv){ IMAGE, .padding = 1 }, FIXTURE_ROWS);
}

static void convolves_without_bias(void **state)
{
	(void)state;
	convolution((struct conv){ IMAGE, .padding = 1, .no_bias = true }, 0);
}

static void convolves_with_stride(void **state)
{
	(void)state;
	convolution((struct conv){ IMAGE, .padding = 1, .stride = 2 }, 0);
	convolution((struct conv){ IMAGE, .stride = 3 }, 0);
}

static void convolves_long_rows_and_many_channels(void **state)
{
	(void)state;
	convolution((struct conv){ .batch = 1, .in_rows = 4, .in_columns = 40, .in_channels = 37,
				   .out_channels = 18, .kernel = 2, .padding = 1 }, 0);
}

static void convolves_with_dilated_kernels(void **state)
{
	(void)state;
	convolution((struct conv){ IMAGE, .padding = 2, .dilation = 2 }, 0);
	convolution((struct conv){ IMAGE, .padding = 2, .dilation = 2, .stride = 2 }, 0);
}

static void convolves_dilated_inputs(void **state)
{
	(void)state;
	for (unsigned int padding = 0; padding < 3; padding++)
		convolution((struct conv){ .batch = 2, .in_rows = 6, .in_columns = 5, .in_channels = 5,
					   .out_channels = 19, .kernel = 3, .padding = padding,
					   .input_dilated = true }, 0);
}

static void convolves_with_rotated_weights(void **state)
{
	(void)state;
	convolution((struct conv){ IMAGE, .padding = 1, .rotated = true }, 0);
	convolution((struct conv){ IMAGE, .padding = 1, .rotated = true, .input_dilated = true }, 0);
}

static void convolves_and_pools(void **state)
{
	(void)state;
	convolution((struct conv){ IMAGE, .padding = 1, .pool_size = 2, .pool_stride = 2 }, 0);
	convolution((struct conv){ IMAGE, .padding = 1, .pool_size = 3, .pool_stride = 2,
				   .pool_padding = 1 }, 0);
}

static void convolves_transposed_orders(void **state)
{
	(void)state;
	convolution((struct conv){ IMAGE, .padding = 1, .output_1203 = true }, 0);
	convolution((struct conv){ IMAGE, .padding = 1, .weight_1203 = true }, 0);
	convolution((struct conv){ IMAGE, .padding = 1, .weight_0132 = true }, 0);
	convolution((struct conv){ IMAGE, .padding = 1, .input_3120 = true }, 0);
	convolution((struct conv){ .batch = 18, .in_rows = 4, .in_columns = 3, .in_channels = 3,
				   .out_channels = 2, .kernel = 3, .padding = 1, .input_3120 = true,
				   .weight_1203 = true, .output_1203 = true }, 0);
}

static void convolves_first_layers_with_several_pixels_in_a_row(void **state)
{
	(void)state;
	convolution((struct conv){ .batch = 2, .in_rows = 9, .in_columns = 11, .in_channels = 1,
				   .out_channels = 9, .kernel = 3, .padding = 1, .pixels = 3 }, 0);
	convolution((struct conv){ .batch = 2, .in_rows = 9, .in_columns = 11, .in_channels = 2,
				   .out_channels = 9, .kernel = 3, .padding = 1, .pixels = 2 }, 0);
	convolution((struct conv){ .batch = 1, .in_rows = 9, .in_columns = 11, .in_channels = 2,
				   .out_channels = 9, .kernel = 4, .padding = 2, .stride = 2, .pixels = 2 }, 0);
}

static void convolves_every_second_pixel_when_it_downsamples(void **state)
{
	(void)state;
	convolution((struct conv){ .batch = 2, .in_rows = 8, .in_columns = 12, .in_channels = 20,
				   .out_channels = 9, .kernel = 1, .stride = 2, .downsample = true }, 0);
}

static void convolves_one_channel_depthwise(void **state)
{
	(void)state;
	convolution((struct conv){ .batch = 2, .in_rows = 9, .in_columns = 7, .in_channels = 1,
				   .out_channels = 1, .kernel = 3, .padding = 1, .depthwise = true }, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolves_with_padding),
		cmocka_unit_test(convolves_without_bias),
		cmocka_unit_test(convolves_with_stride),
		cmocka_unit_test(convolves_long_rows_and_many_channels),
		cmocka_unit_test(convolves_with_dilated_kernels),
		cmocka_unit_test(convolves_dilated_inputs),
		cmocka_unit_test(convolves_with_rotated_weights),
		cmocka_unit_test(convolves_and_pools),
		cmocka_unit_test(convolves_transposed_orders),
		cmocka_unit_test(convolves_first_layers_with_several_pixels_in_a_row),
		cmocka_unit_test(convolves_every_second_pixel_when_it_downsamples),
		cmocka_unit_test(convolves_one_channel_depthwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
