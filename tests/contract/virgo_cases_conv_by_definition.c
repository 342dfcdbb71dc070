/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/contract/virgo_conv.h"

#include <string.h>

#include "tests/lib/contract_virgo.h"

#define INPUT_AT 0u
#define WEIGHTS_AT 128000u
#define BIAS_AT 240000u
#define UNTOUCHED 0x5a

/* Of the convolution at work. */
static struct {
	struct conv c;
	int input[30000], weights[30000], bias[64];
	unsigned int out_rows, out_columns, pooled_rows, pooled_columns;
	unsigned int in_stride, weight_stride, out_stride;
} t;

/* --- by the definition --------------------------------------------------------------------- */

static int *input_of(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	const struct conv *c = &t.c;

	return &t.input[((b * c->in_rows + row) * c->in_columns + column) * c->in_channels + channel];
}

static int *weight_of(unsigned int row, unsigned int column, unsigned int in_channel, unsigned int out_channel)
{
	const struct conv *c = &t.c;

	return &t.weights[((row * c->kernel + column) * c->in_channels + in_channel) * c->out_channels +
			  out_channel];
}

/* The input as the kernel sees it: with zeros around it, and between its elements if it is dilated. */
static int padded(unsigned int b, int row, int column, unsigned int channel)
{
	unsigned int step = t.c.input_dilated ? 2 : 1;

	row -= (int)t.c.padding;
	column -= (int)t.c.padding;
	if (row < 0 || column < 0 || (unsigned int)row % step || (unsigned int)column % step)
		return 0;
	row /= (int)step;
	column /= (int)step;
	if (row >= (int)t.c.in_rows || column >= (int)t.c.in_columns)
		return 0;
	return *input_of(b, (unsigned int)row, (unsigned int)column, channel);
}

static int convolve(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	const struct conv *c = &t.c;
	int sum = c->no_bias ? 0 : t.bias[channel];

	for (unsigned int i = 0; i < c->kernel; i++)
		for (unsigned int j = 0; j < c->kernel; j++)
			for (unsigned int k = 0; k < c->in_channels; k++) {
				unsigned int wi = c->rotated ? c->kernel - 1 - i : i;
				unsigned int wj = c->rotated ? c->kernel - 1 - j : j;

				sum += padded(b, (int)(row * c->stride + i * c->dilation),
					      (int)(column * c->stride + j * c->dilation), k) *
				       *weight_of(wi, wj, k, channel);
			}
	return sum;
}

static double element(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	double value = as_element((double)((float)convolve(b, row, column, channel) * t.c.scale));

	return t.c.activation == RELU && value < 0 ? 0 : value;
}

/* Outside of the image there is 0. */
static double pooled(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	const struct conv *c = &t.c;
	double best = -1e9;

	if (!c->pool_size)
		return element(b, row, column, channel);
	for (unsigned int i = 0; i < c->pool_size * c->pool_size; i++) {
		int r = (int)(row * c->pool_stride + i / c->pool_size) - (int)c->pool_padding;
		int q = (int)(column * c->pool_stride + i % c->pool_size) - (int)c->pool_padding;
		bool inside = r >= 0 && q >= 0 && r < (int)t.out_rows && q < (int)t.out_columns;
		double value = inside ? element(b, (unsigned int)r, (unsigned int)q, channel) : 0;

		best = value > best ? value : best;
	}
	return best;
}

/* --- in the program's memory ------------------------------------------------------------------- */

static void put_input(void)
{
	const struct conv *c = &t.c;

	for (unsigned int n = 0; n < c->batch * c->in_rows * c->in_columns * c->in_channels; n++) {
		unsigned int channel = n % c->in_channels, pixel = n / c->in_channels;
		unsigned int image = c->in_rows * c->in_columns, b = pixel / image;
		size_t at = pixel * t.in_stride + channel;

		if (c->input_3120)
			at = (channel * image + pixel % image) * c->batch + b;
		put_element(input_at(INPUT_AT), at, t.input[n]);
	}
}

static void put_weights(void)
{
	const struct conv *c = &t.c;
	unsigned int pixels = c->kernel * c->kernel;

	for (unsigned int n = 0; n < pixels * c->in_channels * c->out_channels; n++) {
		unsigned int out = n % c->out_channels, in = n / c->out_channels % c->in_channels;
		unsigned int pixel = n / c->out_channels / c->in_channels;
		size_t at = (pixel * c->in_channels + in) * t.weight_stride + out;

		if (c->weight_1203)
			at = (in * pixels + pixel) * c->out_channels + out;
		else if (c->weight_0132)
			at = (pixel * c->out_channels + out) * c->in_channels + in;
		put_element(input_at(WEIGHTS_AT), at, t.weights[n]);
	}
}

static size_t output_index(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	if (t.c.output_1203)
		return ((row * t.pooled_columns + column) * t.c.batch + b) * t.out_stride + channel;
	return ((b * t.pooled_rows + row) * t.pooled_columns + column) * t.out_stride + channel;
}

static unsigned int positions(unsigned int size, unsigned int padding, unsigned int window, unsigned int stride)
{
	return (size + 2 * padding - window) / stride + 1;
}

static void measure(void)
{
	struct conv *c = &t.c;
	unsigned int extent, dilated = c->input_dilated;

	c->stride = c->stride ? c->stride : 1;
	c->dilation = c->dilation ? c->dilation : 1;
	c->scale = c->scale != 0 ? c->scale : 1;
	t.in_stride = c->in_stride ? c->in_stride : c->in_channels;
	t.weight_stride = c->weight_stride ? c->weight_stride : c->out_channels;
	t.out_stride = c->out_stride ? c->out_stride : c->out_channels;
	extent = (c->kernel - 1) * c->dilation + 1;
	t.out_rows = positions(c->in_rows + dilated * (c->in_rows - 1), c->padding, extent, c->stride);
	t.out_columns = positions(c->in_columns + dilated * (c->in_columns - 1), c->padding, extent, c->stride);
	t.pooled_rows = t.out_rows;
	t.pooled_columns = t.out_columns;
	if (!c->pool_size)
		return;
	t.pooled_rows = positions(t.out_rows, c->pool_padding, c->pool_size, c->pool_stride);
	t.pooled_columns = positions(t.out_columns, c->pool_padding, c->pool_size, c->pool_stride);
}

static void prepare(void)
{
	const struct conv *c = &t.c;

	if (c->batch * c->in_rows * c->in_columns * t.in_stride > 30000)
		contract_fail(__FILE__, __LINE__, "too large");
	for (unsigned int i = 0; i < 30000; i++)
		t.input[i] = (int)draw_below(7) - 3;
	for (unsigned int i = 0; i < 30000; i++)
		t.weights[i] = (int)draw_below(5) - 2;
	for (unsigned int i = 0; i < 64; i++) {
		t.bias[i] = (int)draw_below(51) - 25;
		put_value(input_at(BIAS_AT), i, t.bias[i]);
	}
	put_input();
	put_weights();
	memset(output_at(0), UNTOUCHED, OUTPUT_BYTES);
}

/* --- by the device --------------------------------------------------------------------------------- */

/* What of the last kernels lies below or right of the image; rows that no output needs are cut off. */
static unsigned int far_padding(unsigned int out, unsigned int in)
{
	unsigned int size = t.c.input_dilated ? 2 * in - 1 : in;
	int reach = (int)(out * t.c.stride + (t.c.kernel - 1) * t.c.dilation) - (int)(t.c.padding + size);

	return reach > 0 ? (unsigned int)reach : 0;
}

static void send_parameters(void)
{
	const struct conv *c = &t.c;
	uint64_t right = far_padding(t.out_columns, c->in_columns), bottom = far_padding(t.out_rows, c->in_rows);
	uint64_t kernel = c->kernel, pool = c->pool_padding;

	rocc(LOOP_CONV_1, (uint64_t)c->out_channels << 48 | (uint64_t)c->in_channels << 32 | c->in_rows << 16 |
	     c->batch, (uint64_t)c->padding << 56 | (uint64_t)c->stride << 48 | (uint64_t)t.out_columns << 32 |
	     t.pooled_rows << 16 | t.out_rows);
	rocc(LOOP_CONV_2, kernel << 48 | (uint64_t)t.pooled_columns << 32 | c->pool_size << 16 |
	     c->pool_stride << 8 | pool, (uint64_t)c->batch << 48 | (uint64_t)t.pooled_rows << 32 |
	     t.pooled_columns << 16 | c->out_channels);
	rocc(LOOP_CONV_3, kernel << 48 | kernel << 32 | c->in_channels << 16 | c->padding,
	     right << 48 | (uint64_t)c->padding << 32 | bottom << 24 | pool << 16 | c->in_columns);
	rocc(LOOP_CONV_4, (uint64_t)t.out_rows << 48 | pool << 32 | pool << 21 | pool << 10 | c->dilation,
	     (uint64_t)t.in_stride << 48 | (uint64_t)t.weight_stride << 32 | t.out_stride << 16 | t.out_columns);
	rocc(LOOP_CONV_5, address_of(input_at(WEIGHTS_AT)), address_of(output_at(0)));
	rocc(LOOP_CONV_6, address_of(input_at(BIAS_AT)), address_of(input_at(INPUT_AT)));
}

static void run(void)
{
	const struct conv *c = &t.c;

	config_st((c->output_1203 ? c->batch : 1) * t.out_stride * unit.size,
		  c->pool_size ? NO_ACTIVATION : c->activation, c->scale);
	send_parameters();
	rocc(LOOP_CONV_WS, c->no_bias | (unsigned int)c->rotated << 1 | (unsigned int)c->output_1203 << 2 |
	     (unsigned int)c->weight_1203 << 3 | (unsigned int)c->weight_0132 << 4 |
	     (unsigned int)c->input_3120 << 5 | (unsigned int)c->depthwise << 6 | c->pixels << 8 |
	     c->b_id << 16 | c->a_id << 18,
	     (c->pool_size ? 0 : 1) | (unsigned int)c->downsample << 1 | (unsigned int)c->input_dilated << 2 |
	     c->activation << 3);
	COMPLETE();
}

static void expect_output(void)
{
	const struct conv *c = &t.c;
	size_t end = 0;

	for (unsigned int b = 0; b < c->batch; b++)
		for (unsigned int n = 0; n < t.pooled_rows * t.pooled_columns; n++)
			for (unsigned int o = 0; o < c->out_channels; o++) {
				unsigned int row = n / t.pooled_columns, column = n % t.pooled_columns;
				size_t at = output_index(b, row, column, o);
				double actual = element_of(output_at(0), at), wanted = pooled(b, row, column, o);

				if (actual != wanted)
					contract_fail(__FILE__, __LINE__, "unit %u: image %u, row %u, column %u, channel %u is %g, the definition says %g",
						      unit.number, b, row, column, o, actual, wanted);
				end = at + 1 > end ? at + 1 : end;
			}
	EXPECT(*((uint8_t *)output_at(0) + end * unit.size), UNTOUCHED);
}

void expect_convolution(struct conv conv)
{
	static unsigned int choice;

	choice++;
	for (unsigned int number = 0; next_unit(&number, choice); number++) {
		t.c = conv;
		measure();
		prepare();
		run();
		expect_output();
		CHECK();
	}
}
