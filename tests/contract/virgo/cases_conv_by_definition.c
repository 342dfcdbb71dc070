/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/contract/virgo/conv.h"

#include <string.h>

#include "tests/contract/virgo/norm.h"
#include "tests/contract/virgo/contract.h"

#define INPUT_AT 0u
#define WEIGHTS_AT 128000u
#define BIAS_AT 240000u
#define MOST 30000u
#define UNTOUCHED 0x5a

/* Of the convolution at work. */
static struct convolution t;
static int input[MOST], weights[MOST], bias[64];

/* --- by the definition --------------------------------------------------------------------- */

static int input_number(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	const struct conv *c = &t.c;

	return input[((b * c->in_rows + row) * c->in_columns + column) * c->in_channels + channel];
}

static int weight_number(unsigned int row, unsigned int column, unsigned int in_channel, unsigned int out_channel)
{
	const struct conv *c = &t.c;

	return weights[((row * c->kernel + column) * c->in_channels + in_channel) * c->out_channels +
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
	return input_number(b, (unsigned int)row, (unsigned int)column, channel);
}

static int convolve(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	const struct conv *c = &t.c;
	int sum = c->no_bias ? 0 : bias[channel];

	for (unsigned int i = 0; i < c->kernel; i++)
		for (unsigned int j = 0; j < c->kernel; j++)
			for (unsigned int k = 0; k < c->in_channels; k++) {
				unsigned int wi = c->rotated ? c->kernel - 1 - i : i;
				unsigned int wj = c->rotated ? c->kernel - 1 - j : j;

				sum += padded(b, (int)(row * c->stride + i * c->dilation),
					      (int)(column * c->stride + j * c->dilation), k) *
				       weight_number(wi, wj, k, channel);
			}
	return sum;
}

static double element(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	double sum = convolve(b, row, column, channel), value;

	if (t.c.activation == IGELU) {
		activated_row(IGELU, &sum, 1, &value);
		return value;
	}
	value = as_element((double)((float)sum * t.c.scale));
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

void *input_of(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	const struct conv *c = &t.c;
	size_t pixel = row * c->in_columns + column, image = c->in_rows * c->in_columns;
	size_t at = (b * image + pixel) * t.in_stride + channel;

	if (c->input_3120)
		at = (channel * image + pixel) * c->batch + b;
	return input_at(INPUT_AT + at * unit.size);
}

void *weight_of(unsigned int row, unsigned int column, unsigned int in_channel, unsigned int out_channel)
{
	const struct conv *c = &t.c;
	size_t pixel = row * c->kernel + column;
	size_t at = (pixel * c->in_channels + in_channel) * t.weight_stride + out_channel;

	if (c->weight_1203)
		at = (in_channel * c->kernel * c->kernel + pixel) * c->out_channels + out_channel;
	else if (c->weight_0132)
		at = (pixel * c->out_channels + out_channel) * c->in_channels + in_channel;
	return input_at(WEIGHTS_AT + at * unit.size);
}

void *bias_of(unsigned int channel)
{
	return input_at(BIAS_AT + channel * 4);
}

void *output_of(unsigned int b, unsigned int row, unsigned int column, unsigned int channel)
{
	size_t at = ((b * t.pooled_rows + row) * t.pooled_columns + column) * t.out_stride + channel;

	if (t.c.output_1203)
		at = ((row * t.pooled_columns + column) * t.c.batch + b) * t.c.out_channels + channel;
	return output_at(at * unit.size);
}

static void put_input(void)
{
	const struct conv *c = &t.c;

	for (unsigned int n = 0; n < c->batch * c->in_rows * c->in_columns * c->in_channels; n++) {
		unsigned int channel = n % c->in_channels, column = n / c->in_channels % c->in_columns;
		unsigned int row = n / c->in_channels / c->in_columns;

		put_element(input_of(row / c->in_rows, row % c->in_rows, column, channel), 0, input[n]);
	}
}

static void put_weights(void)
{
	const struct conv *c = &t.c;

	for (unsigned int n = 0; n < c->kernel * c->kernel * c->in_channels * c->out_channels; n++) {
		unsigned int out = n % c->out_channels, in = n / c->out_channels % c->in_channels;
		unsigned int pixel = n / c->out_channels / c->in_channels;

		put_element(weight_of(pixel / c->kernel, pixel % c->kernel, in, out), 0, weights[n]);
	}
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

	if (c->batch * c->in_rows * c->in_columns * t.in_stride > MOST || c->out_channels > 64 ||
	    c->kernel * c->kernel * c->in_channels * t.weight_stride > MOST)
		contract_fail(__FILE__, __LINE__, "too large");
	for (unsigned int i = 0; i < MOST; i++)
		input[i] = (int)draw_below(7) - 3;
	for (unsigned int i = 0; i < MOST; i++)
		weights[i] = (int)draw_below(5) - 2;
	for (unsigned int i = 0; i < 64; i++) {
		bias[i] = (int)draw_below(51) - 25;
		put_value(bias_of(i), 0, bias[i]);
	}
	put_input();
	put_weights();
	memset(output_at(0), UNTOUCHED, OUTPUT_BYTES);
}

/* --- by the device --------------------------------------------------------------------------------- */

static void run(const unsigned int step[DIRECTIONS])
{
	const struct conv *c = &t.c;
	unsigned int pixel = c->output_1203 ? c->batch * c->out_channels : t.out_stride;

	if (c->activation == IGELU)
		config_activation(IGELU, pixel * unit.size);
	else
		config_st(pixel * unit.size, c->pool_size ? NO_ACTIVATION : c->activation, c->scale);
	send_parts(&t, step);
	COMPLETE();
}

static bool is_expected(double actual, double wanted)
{
	return t.c.activation == IGELU ? is_activated(actual, wanted) : actual == wanted;
}

static void expect_output(void)
{
	const struct conv *c = &t.c;
	uint8_t *end = output_at(0);

	for (unsigned int b = 0; b < c->batch; b++)
		for (unsigned int n = 0; n < t.pooled_rows * t.pooled_columns; n++)
			for (unsigned int o = 0; o < c->out_channels; o++) {
				unsigned int row = n / t.pooled_columns, column = n % t.pooled_columns;
				uint8_t *at = output_of(b, row, column, o);
				double actual = element_of(at, 0), wanted = pooled(b, row, column, o);

				if (!is_expected(actual, wanted))
					contract_fail(__FILE__, __LINE__, "unit %u: image %u, row %u, column %u, channel %u is %g, the definition says %g",
						      unit.number, b, row, column, o, actual, wanted);
				end = at + unit.size > end ? at + unit.size : end;
			}
	EXPECT(*end, UNTOUCHED);
}

static void expect_with(struct conv conv, const unsigned int step[DIRECTIONS], bool in_parts)
{
	static unsigned int choice;

	choice++;
	for (unsigned int number = 0; next_unit(&number, choice); number++) {
		/* Parts are many commands: on a slow way one of the units that multiply 16 x 16. */
		if (in_parts && is_left_out(1) && number != 2 + choice % 2)
			continue;
		t.c = conv;
		measure();
		prepare();
		run(step);
		expect_output();
		CHECK();
	}
}

void expect_convolution_in_parts(struct conv conv, const unsigned int step[DIRECTIONS])
{
	expect_with(conv, step, true);
}

void expect_convolution(struct conv conv)
{
	static const unsigned int whole[DIRECTIONS] = { 999, 999, 999, 999, 999, 999, 999 };

	expect_with(conv, whole, false);
}
