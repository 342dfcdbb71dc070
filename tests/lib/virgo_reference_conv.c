/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * LOOP_CONV_WS, as the commands that it stands for: Gemmini's library sends them
 * for a part of a convolution, pixel by pixel and block by block.
 */
#include "tests/lib/virgo_reference_internal.h"

struct conv {
	unsigned int batch_size, in_rows, in_channels, out_channels, out_rows, pool_out_rows, out_columns, stride;
	unsigned int pool_stride, pool_size, pool_out_columns, kernel;
	unsigned int channels, pcolumns, prows, batches;
	unsigned int left, kchannels, kcolumns, krows, in_columns, pool_left, bottom, top, right;
	unsigned int dilation, pool_top, rows, columns, out_stride, weight_stride, in_stride;
	uint64_t weights, output, bias, input;
	bool no_bias, rotated, output_1203, weight_1203, weight_0132, input_3120, depthwise;
	bool no_pool, downsample, input_dilated;
	unsigned int pixels, activation;
	/* of the input, as it lies in the scratchpad */
	int irows, icolumns, irows_inside, icolumns_inside, itop, ileft;
	unsigned int plane, a, b;
};

static int undilated(const struct conv *c, int x)
{
	return c->input_dilated ? (x + 1) / 2 : x;
}

static void read_sizes(struct conv *c, const uint64_t *p)
{
	c->batch_size = bits(p[0], 0, 16);
	c->in_rows = bits(p[0], 16, 16);
	c->in_channels = bits(p[0], 32, 16);
	c->out_channels = bits(p[0], 48, 16);
	c->out_rows = bits(p[1], 0, 16);
	c->pool_out_rows = bits(p[1], 16, 16);
	c->out_columns = bits(p[1], 32, 16);
	c->stride = bits(p[1], 48, 8);
	c->pool_stride = bits(p[2], 8, 8);
	c->pool_size = bits(p[2], 16, 16);
	c->pool_out_columns = bits(p[2], 32, 16);
	c->kernel = bits(p[2], 48, 16);
	c->channels = bits(p[3], 0, 16);
	c->pcolumns = bits(p[3], 16, 16);
	c->prows = bits(p[3], 32, 16);
	c->batches = bits(p[3], 48, 16);
	c->left = bits(p[4], 0, 16);
	c->kchannels = bits(p[4], 16, 16);
	c->kcolumns = bits(p[4], 32, 16);
	c->krows = bits(p[4], 48, 16);
	c->in_columns = bits(p[5], 0, 16);
	c->pool_left = bits(p[5], 16, 8);
	c->bottom = bits(p[5], 24, 8);
	c->top = bits(p[5], 32, 16);
	c->right = bits(p[5], 48, 16);
	c->dilation = bits(p[6], 0, 10);
	c->pool_top = bits(p[6], 21, 11);
	c->rows = bits(p[6], 48, 16);
	c->columns = bits(p[7], 0, 16);
	c->out_stride = bits(p[7], 16, 16);
	c->weight_stride = bits(p[7], 32, 16);
	c->in_stride = bits(p[7], 48, 16);
	c->weights = p[8];
	c->output = p[9];
	c->bias = p[10];
	c->input = p[11];
}

static void read_flags(struct conv *c, uint64_t rs1, uint64_t rs2)
{
	c->no_bias = bits(rs1, 0, 1);
	c->rotated = bits(rs1, 1, 1);
	c->output_1203 = bits(rs1, 2, 1);
	c->weight_1203 = bits(rs1, 3, 1);
	c->weight_0132 = bits(rs1, 4, 1);
	c->input_3120 = bits(rs1, 5, 1);
	c->depthwise = bits(rs1, 6, 1);
	c->pixels = bits(rs1, 8, 8) ? bits(rs1, 8, 8) : 1;
	c->no_pool = bits(rs2, 0, 1);
	c->downsample = bits(rs2, 1, 1);
	c->input_dilated = bits(rs2, 2, 1);
	c->activation = bits(rs2, 3, 2);
}

static unsigned int blocks(const ref *r, unsigned int columns)
{
	return (columns + r->dim - 1) / r->dim;
}

static void measure(const ref *r, struct conv *c, uint64_t rs1)
{
	int krows = (int)(c->krows + (c->dilation - 1) * (c->krows - 1));
	int kcolumns = (int)(c->kcolumns + (c->dilation - 1) * (c->kcolumns - 1));
	unsigned int half = r->rows / 2, b_rows = c->krows * c->kcolumns;

	c->irows_inside = undilated(c, (int)(c->rows * c->stride) + krows - 1 - (int)c->top - (int)c->bottom);
	c->icolumns_inside = undilated(c, (int)(c->columns * c->stride) + kcolumns - 1 - (int)c->left -
				       (int)c->right);
	c->itop = undilated(c, (int)c->top);
	c->ileft = undilated(c, (int)c->left);
	c->irows = c->irows_inside + c->itop + undilated(c, (int)c->bottom);
	c->icolumns = c->icolumns_inside + c->ileft + undilated(c, (int)c->right);
	c->plane = (unsigned int)((c->irows >> c->downsample) * (c->icolumns >> c->downsample));
	b_rows *= c->weight_0132 ? blocks(r, c->kchannels) * c->channels : blocks(r, c->channels) * c->kchannels;
	c->a = bits(rs1, 18, 2) == 2 ? half : 0;
	c->b = (bits(rs1, 16, 2) == 2 ? r->rows : half) - b_rows;
}

/* --- rows of the elements ---------------------------------------------------------------------- */

static unsigned int output_row(const ref *r, const struct conv *c, unsigned int channel, unsigned int batch,
			       unsigned int row, unsigned int column)
{
	return ((channel / r->dim * c->batches + batch) * c->rows + row) * c->columns + column;
}

static unsigned int input_row(const ref *r, const struct conv *c, unsigned int channel, unsigned int batch,
			      int row, int column)
{
	unsigned int image = channel / r->dim * c->batches + batch;

	if (c->input_3120)
		image = batch / r->dim * c->kchannels + channel;
	return c->a + image * c->plane + (unsigned int)((row >> c->downsample) * (c->icolumns >> c->downsample) +
							(column >> c->downsample));
}

static unsigned int weight_row(const ref *r, const struct conv *c, unsigned int krow, unsigned int kcolumn,
			       unsigned int kchannel, unsigned int channel)
{
	if (c->weight_0132)
		return c->b + kchannel / r->dim * c->krows * c->kcolumns * c->channels +
		       (krow * c->kcolumns + kcolumn) * c->channels + channel;
	return c->b + channel / r->dim * c->krows * c->kcolumns * c->kchannels +
	       (krow * c->kcolumns + kcolumn) * c->kchannels + kchannel;
}

/* --- moving in ------------------------------------------------------------------------------------ */

static void move(ref *r, uint64_t address, uint64_t stride, uint32_t local, unsigned int rows,
		 unsigned int columns, unsigned int block_stride, unsigned int pixels)
{
	r->load[0].stride = stride;
	r->load[0].block_stride = block_stride;
	r->load[0].pixels = pixels;
	r->load[0].shrunk = false;
	r->load[0].scale = 1;
	reference_mvin(r, address, local, rows, columns, 0);
}

static void load_bias(ref *r, const struct conv *c)
{
	for (unsigned int b = 0; b < c->batches; b++)
		for (unsigned int row = 0; row < c->rows; row++)
			for (unsigned int column = 0; column < c->columns; column++)
				move(r, c->no_bias ? 0 : c->bias, 0,
				     ACCUMULATOR | output_row(r, c, 0, b, row, column), 1, c->channels,
				     c->batches * c->rows * c->columns, 1);
}

static void load_pixel(ref *r, const struct conv *c, unsigned int image, int row, int column)
{
	bool inside = row >= 0 && row < c->irows_inside && column >= 0 && column < c->icolumns_inside;
	unsigned int channel = c->input_3120 ? image : 0, batch = c->input_3120 ? 0 : image;
	uint64_t pixel = (uint64_t)(row * (int)c->in_columns + column), at;

	at = (image * (uint64_t)c->in_rows * c->in_columns + pixel) * (c->input_3120 ? c->batch_size : c->in_stride);
	move(r, inside ? c->input + at * element_bytes(r) : 0, 0,
	     input_row(r, c, channel, batch, row + c->itop, column + c->ileft), 1,
	     c->input_3120 ? c->batches : c->kchannels,
	     c->plane * (c->input_3120 ? c->kchannels : c->batches), c->pixels);
}

static void load_input(ref *r, const struct conv *c)
{
	int step = 1 + c->downsample;

	for (unsigned int image = 0; image < (c->input_3120 ? c->kchannels : c->batches); image++)
		for (int row = 0; row < c->irows; row += step)
			for (int column = 0; column < c->icolumns; column += step)
				load_pixel(r, c, image, row - c->itop, column - c->ileft);
}

static void load_weights(ref *r, const struct conv *c)
{
	unsigned int rows = c->weight_0132 ? c->channels : c->kchannels;
	unsigned int columns = c->weight_0132 ? c->kchannels : c->channels;

	for (unsigned int krow = 0; krow < c->krows; krow++)
		for (unsigned int kcolumn = 0; kcolumn < c->kcolumns; kcolumn++) {
			uint64_t pixel = (uint64_t)krow * c->kernel + kcolumn;
			uint64_t at = pixel * c->in_channels * c->weight_stride, stride = c->weight_stride;

			if (c->depthwise) {
				at = pixel;
				stride = 1;
			} else if (c->weight_1203) {
				at = pixel * c->out_channels;
				stride = (uint64_t)c->kernel * c->kernel * c->out_channels;
			} else if (c->weight_0132) {
				at = pixel * c->out_channels * c->in_channels;
				stride = c->in_channels;
			}
			move(r, c->weights + at * element_bytes(r), stride * element_bytes(r),
			     weight_row(r, c, krow, kcolumn, 0, 0), rows, columns, c->krows * c->kcolumns * rows, 1);
		}
}

/* --- the array --------------------------------------------------------------------------------------- */

static unsigned int lesser(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static uint64_t pack(unsigned int rows, unsigned int columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

/* One preload and one compute. */
static void pass(ref *r, const struct conv *c, const unsigned int at[7], bool new_weights)
{
	unsigned int channel = at[0], krow = at[1], kcolumn = at[2], kchannel = at[3], batch = at[4];
	int row = undilated(c, (int)(at[5] * c->stride + krow * c->dilation));
	int column = undilated(c, (int)(at[6] * c->stride + kcolumn * c->dilation));
	unsigned int left = lesser(c->columns - at[6], r->dim << c->input_dilated);
	unsigned int rows = c->input_3120 ? lesser(c->batches - batch, r->dim) : (unsigned int)undilated(c, (int)left);
	unsigned int columns = lesser(c->channels - channel, r->dim);
	unsigned int depth = lesser(c->kcolumns - kcolumn, c->pixels) * lesser(c->kchannels - kchannel, r->dim);
	unsigned int weights = weight_row(r, c, c->rotated ? c->krows - 1 - krow : krow,
					  c->rotated ? c->kcolumns - 1 - kcolumn : kcolumn, kchannel, channel);

	r->preload = pack(depth, columns, new_weights ? weights : GARBAGE);
	r->output = pack(rows, columns, ACCUMULATOR | ACCUMULATE |
			 output_row(r, c, channel, batch, at[5], at[6]));
	reference_compute(r, pack(rows, depth, input_row(r, c, kchannel, batch, row, column)),
			  pack(rows, columns, GARBAGE), new_weights);
}

static bool is_odd(const struct conv *c, unsigned int at, unsigned int k, unsigned int padding)
{
	return c->input_dilated && (at * c->stride + k * c->dilation + padding) % 2;
}

/* All of the output with one block of weights. */
static void passes(ref *r, const struct conv *c, unsigned int at[7])
{
	unsigned int step = c->input_3120 ? 1 : r->dim << c->input_dilated;
	bool new_weights = true;

	for (at[4] = 0; at[4] < c->batches; at[4] += c->input_3120 ? r->dim : 1)
		for (at[5] = 0; at[5] < c->rows; at[5]++) {
			if (is_odd(c, at[5], at[1], c->top))
				continue;
			for (at[6] = 0; at[6] < c->columns;) {
				if (is_odd(c, at[6], at[2], c->left)) {
					at[6]++;
					continue;
				}
				pass(r, c, at, new_weights);
				new_weights = false;
				at[6] += step;
			}
		}
}

static void multiply(ref *r, const struct conv *c)
{
	ref kept = *r;
	unsigned int at[7];

	r->weight_stationary = true;
	r->a_transposed = c->input_3120;
	r->b_transposed = c->weight_0132;
	r->a_stride = c->input_3120 ? c->plane : c->stride >> c->downsample;
	r->c_stride = c->input_3120 ? c->rows * c->columns : 1u << c->input_dilated;
	for (at[0] = 0; at[0] < c->channels; at[0] += r->dim)
		for (at[1] = 0; at[1] < c->krows; at[1]++)
			for (at[2] = 0; at[2] < c->kcolumns; at[2] += c->pixels)
				for (at[3] = 0; at[3] < c->kchannels; at[3] += r->dim)
					passes(r, c, at);
	r->weight_stationary = kept.weight_stationary;
	r->a_transposed = kept.a_transposed;
	r->b_transposed = kept.b_transposed;
	r->a_stride = kept.a_stride;
	r->c_stride = kept.c_stride;
}

/* --- moving out ------------------------------------------------------------------------------------------ */

static void store_plain(ref *r, const struct conv *c)
{
	for (unsigned int b = 0; b < c->batches; b++)
		for (unsigned int row = 0; row < c->rows; row++)
			for (unsigned int channel = 0; channel < c->channels; channel += r->dim) {
				uint64_t at = ((uint64_t)b * c->out_rows + row) * c->out_columns * c->out_stride;

				if (c->output_1203)
					at = ((uint64_t)row * c->out_columns * c->batch_size + b) * c->out_channels;
				reference_mvout(r, c->output + (at + channel) * element_bytes(r),
						ACCUMULATOR | output_row(r, c, channel, b, row, 0), c->columns,
						lesser(r->dim, c->channels - channel), reference_out_activation(r));
			}
}

static void store_pooled(ref *r, const struct conv *c)
{
	ref kept = *r;

	r->store_stride = (uint64_t)c->out_stride * element_bytes(r);
	r->pool_stride = c->pool_stride;
	r->pool_size = c->pool_size;
	r->pool_out_columns = c->pool_out_columns;
	r->pool_rows = c->prows;
	r->pool_columns = c->pcolumns;
	r->out_rows = c->rows;
	r->out_columns = c->columns;
	r->pool_top = c->pool_top;
	r->pool_left = c->pool_left;
	for (unsigned int b = 0; b < c->batches; b++)
		for (unsigned int channel = 0; channel < c->channels; channel += r->dim) {
			uint64_t at = (uint64_t)b * c->pool_out_rows * c->pool_out_columns * c->out_stride + channel;

			reference_mvout_pooled(r, c->output + at * element_bytes(r),
					       ACCUMULATOR | output_row(r, c, channel, b, 0, 0),
					       lesser(r->dim, c->channels - channel), c->activation);
		}
	r->store_stride = kept.store_stride;
	r->pool_stride = kept.pool_stride;
	r->pool_size = kept.pool_size;
	r->pool_out_columns = kept.pool_out_columns;
	r->pool_rows = kept.pool_rows;
	r->pool_columns = kept.pool_columns;
	r->out_rows = kept.out_rows;
	r->out_columns = kept.out_columns;
	r->pool_top = kept.pool_top;
	r->pool_left = kept.pool_left;
}

void reference_loop_conv(ref *r, uint64_t rs1, uint64_t rs2)
{
	ref kept = *r;
	struct conv c = { .a = 0 };

	read_sizes(&c, r->conv);
	read_flags(&c, rs1, rs2);
	if (!c.batches || !c.rows || !c.columns || !c.channels || !c.krows || !c.kcolumns || !c.kchannels)
		return;
	measure(r, &c, rs1);
	if (c.bias)
		load_bias(r, &c);
	if (c.input)
		load_input(r, &c);
	if (c.weights)
		load_weights(r, &c);
	r->load[0] = kept.load[0];
	multiply(r, &c);
	if (c.output && c.no_pool)
		store_plain(r, &c);
	else if (c.output)
		store_pooled(r, &c);
}
