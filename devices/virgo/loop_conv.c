/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * LOOP_CONV_WS: a convolution, in phases: bias, input and weights are moved in,
 * the array works, the output is moved out, pooled if so asked. A pixel of the
 * input is a row of the scratchpad; channels beyond DIM are further blocks.
 */
#include "devices/virgo/virgo_internal.h"

enum phase { PHASE_CHECK, PHASE_BIAS, PHASE_INPUT, PHASE_WEIGHTS, PHASE_EXECUTE, PHASE_OUTPUT, PHASE_END };

/* What the fields of CONFIG for a pooling store hold. */
#define POOL_MAX 3
#define POOLED_MAX 255

struct conv {
	struct virgo_job *job;
	const struct loop_conv *w;
	bool no_bias, rotated, output_1203, weight_1203, weight_0132, input_3120, depthwise;
	bool no_pool, input_dilated;
	uint32_t downsample;		/* 0 or 1 */
	uint32_t pixels, activation;
	/* paddings and sizes of the input as it lies in memory */
	int64_t top, bottom, left, right;
	int64_t irows, icolumns;	/* with paddings */
	int64_t irows_inside, icolumns_inside;
	uint64_t plane;			/* rows of the scratchpad for one image */
	uint32_t b;			/* first row of the weights */
	uint32_t a;
};

void loop_conv_configure(struct virgo_job *job, const struct command *command)
{
	struct loop_conv *w = &job->x.loop_conv;
	uint64_t rs1 = command->rs1, rs2 = command->rs2;

	switch (command->funct) {
	case VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_1:
		w->batch_size = rs1 & 0xffff;
		w->in_rows = rs1 >> 16 & 0xffff;
		w->in_channels = rs1 >> 32 & 0xffff;
		w->out_channels = (uint32_t)(rs1 >> 48);
		w->out_rows = rs2 & 0xffff;
		w->pool_out_rows = rs2 >> 16 & 0xffff;
		w->out_columns = rs2 >> 32 & 0xffff;
		w->stride = rs2 >> 48 & 0xff;
		w->padding = (uint32_t)(rs2 >> 56);
		break;
	case VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_2:
		w->pool_padding = rs1 & 0xff;
		w->pool_stride = rs1 >> 8 & 0xff;
		w->pool_size = rs1 >> 16 & 0xffff;
		w->pool_out_columns = rs1 >> 32 & 0xffff;
		w->kernel = (uint32_t)(rs1 >> 48);
		w->pchannels = rs2 & 0xffff;
		w->pcolumns = rs2 >> 16 & 0xffff;
		w->prows = rs2 >> 32 & 0xffff;
		w->batches = (uint32_t)(rs2 >> 48);
		break;
	case VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_3:
		w->left = rs1 & 0xffff;
		w->kchannels = rs1 >> 16 & 0xffff;
		w->kcolumns = rs1 >> 32 & 0xffff;
		w->krows = (uint32_t)(rs1 >> 48);
		w->in_columns = rs2 & 0xffff;
		w->pool_left = rs2 >> 16 & 0xff;
		w->bottom = rs2 >> 24 & 0xff;
		w->top = rs2 >> 32 & 0xffff;
		w->right = (uint32_t)(rs2 >> 48);
		break;
	case VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_4:
		w->kernel_dilation = rs1 & 0x3ff;
		w->pool_bottom = rs1 >> 10 & 0x7ff;
		w->pool_top = rs1 >> 21 & 0x7ff;
		w->pool_right = rs1 >> 32 & 0xffff;
		w->rows = (uint32_t)(rs1 >> 48);
		w->columns = rs2 & 0xffff;
		w->out_stride = rs2 >> 16 & 0xffff;
		w->weight_stride = rs2 >> 32 & 0xffff;
		w->in_stride = (uint32_t)(rs2 >> 48);
		break;
	case VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_5:
		w->weights = rs1;
		w->output = rs2;
		break;
	default:
		w->bias = rs1;
		w->input = rs2;
		break;
	}
}

/* --- sizes --------------------------------------------------------------------------------- */

static bool is_empty(const struct loop_conv *w)
{
	return !w->batches || !w->rows || !w->columns || !w->pchannels || !w->krows ||
	       !w->kcolumns || !w->kchannels;
}

static int64_t without_dilation(const struct conv *c, int64_t value)
{
	return c->input_dilated ? (value + 1) / 2 : value;
}

/* The part of the input that this part of the output needs. */
static void measure(struct conv *c)
{
	const struct loop_conv *w = c->w;
	int64_t dilation = w->kernel_dilation;
	int64_t krows = w->krows + (dilation - 1) * ((int64_t)w->krows - 1);
	int64_t kcolumns = w->kcolumns + (dilation - 1) * ((int64_t)w->kcolumns - 1);
	int64_t irows = (int64_t)w->rows * w->stride + krows - 1;
	int64_t icolumns = (int64_t)w->columns * w->stride + kcolumns - 1;

	c->top = without_dilation(c, w->top);
	c->bottom = without_dilation(c, w->bottom);
	c->left = without_dilation(c, w->left);
	c->right = without_dilation(c, w->right);
	c->irows_inside = without_dilation(c, irows - w->top - w->bottom);
	c->icolumns_inside = without_dilation(c, icolumns - w->left - w->right);
	c->irows = c->irows_inside + c->top + c->bottom;
	c->icolumns = c->icolumns_inside + c->left + c->right;
	c->plane = (uint64_t)(c->irows >> c->downsample) * (uint64_t)(c->icolumns >> c->downsample);
}

static enum work check_rows(struct conv *c, uint32_t a_id, uint32_t b_id)
{
	struct virgo_job *job = c->job;
	const struct unit *u = job->unit;
	const struct loop_conv *w = c->w;
	uint64_t half = u->rows / 2, kernel = (uint64_t)w->krows * w->kcolumns, a_rows, b_rows;

	if (!c->plane)
		return fail(job, VIRGO_ERROR_SIZE, 0);
	a_rows = c->plane;
	/* Each factor is checked before the next one: products stay below 2^64. */
	if (a_rows <= half)
		a_rows *= c->input_3120 ? (uint64_t)blocks_of(u, w->batches) * w->kchannels
					: (uint64_t)blocks_of(u, w->kchannels) * w->batches;
	if (a_rows > half)
		return fail(job, VIRGO_ERROR_SIZE, a_rows);
	b_rows = kernel;
	if (b_rows <= half)
		b_rows *= c->weight_0132 ? (uint64_t)blocks_of(u, w->kchannels) * w->pchannels
					 : (uint64_t)blocks_of(u, w->pchannels) * w->kchannels;
	if (b_rows > half)
		return fail(job, VIRGO_ERROR_SIZE, b_rows);
	if (!a_id && !b_id && a_rows + b_rows > half)
		return fail(job, VIRGO_ERROR_SIZE, a_rows + b_rows);
	c->a = a_id == 2 ? (uint32_t)half : 0;
	c->b = (uint32_t)((b_id == 2 ? u->rows : half) - b_rows);
	return WORK_DONE;
}

static enum work check_pool(struct conv *c)
{
	const struct loop_conv *w = c->w;

	if (c->no_pool)
		return WORK_DONE;
	if (!w->pool_size || w->pool_size > POOL_MAX)
		return fail(c->job, VIRGO_ERROR_VALUE, w->pool_size);
	if (!w->pool_stride || w->pool_stride > POOL_MAX)
		return fail(c->job, VIRGO_ERROR_VALUE, w->pool_stride);
	if (w->prows > POOLED_MAX || w->pcolumns > POOLED_MAX)
		return fail(c->job, VIRGO_ERROR_SIZE, w->prows > POOLED_MAX ? w->prows : w->pcolumns);
	return WORK_DONE;
}

static enum work check(struct conv *c, uint32_t a_id, uint32_t b_id)
{
	struct virgo_job *job = c->job;
	const struct unit *u = job->unit;
	const struct loop_conv *w = c->w;
	uint64_t c_rows = (uint64_t)w->rows * w->columns;
	enum work work;

	if (is_empty(w))
		return WORK_DONE;
	if (a_id > 2 || b_id > 2)
		return fail(job, VIRGO_ERROR_VALUE, a_id > 2 ? a_id : b_id);
	if (!w->stride || !w->kernel_dilation)
		return fail(job, VIRGO_ERROR_VALUE, 0);
	if (c->pixels > 1 && (w->kchannels > u->dim || c->pixels * w->kchannels > u->dim))
		return fail(job, VIRGO_ERROR_VALUE, c->pixels);
	measure(c);
	if (c->irows_inside < 0 || c->icolumns_inside < 0)
		return fail(job, VIRGO_ERROR_SIZE, w->top);
	work = check_rows(c, a_id, b_id);
	if (work != WORK_DONE)
		return work;
	if (c_rows <= u->accumulator_rows)
		c_rows *= (uint64_t)w->batches * blocks_of(u, w->pchannels);
	if (c_rows > u->accumulator_rows)
		return fail(job, VIRGO_ERROR_SIZE, c_rows);
	return check_pool(c);
}

/* --- bias -------------------------------------------------------------------------------------- */

static uint32_t output_row(const struct conv *c, uint32_t channel, uint32_t batch, uint32_t row,
			   uint32_t column)
{
	const struct loop_conv *w = c->w;
	uint32_t block = channel / c->job->unit->dim;

	return ((block * w->batches + batch) * w->rows + row) * w->columns + column;
}

/* at: batch, row, column */
static enum work load_bias(struct conv *c)
{
	struct virgo_job *job = c->job;
	const struct loop_conv *w = c->w;
	struct progress *p = &job->x.progress;

	if (!w->bias)
		return WORK_DONE;
	for (; p->at[0] < w->batches; p->at[0]++, p->at[1] = 0) {
		for (; p->at[1] < w->rows; p->at[1]++) {
			struct move_in move = {
				.address = c->no_bias ? 0 : w->bias,
				.stride = 0,
				.local = VIRGO_LOCAL_ACCUMULATOR | output_row(c, 0, p->at[0], p->at[1], 0),
				.rows = w->columns,
				.columns = w->pchannels,
				.block_stride = w->batches * w->rows * w->columns,
				.scale = SCALE_ONE,
				.pixels = 1,
			};
			enum work work = move_in(job, &move);

			if (work != WORK_DONE)
				return work;
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* --- input ---------------------------------------------------------------------------------------- */

static uint32_t input_row(const struct conv *c, uint32_t channel, uint32_t batch, int64_t row,
			  int64_t column)
{
	const struct loop_conv *w = c->w;
	uint32_t dim = c->job->unit->dim, image;

	if (c->input_3120)
		image = batch / dim * w->kchannels + channel;
	else
		image = channel / dim * w->batches + batch;
	return c->a + (uint32_t)(image * c->plane +
		(uint64_t)(row >> c->downsample) * (uint64_t)(c->icolumns >> c->downsample) +
		(uint64_t)(column >> c->downsample));
}

static uint64_t input_address(const struct conv *c, uint32_t channel, uint32_t batch, int64_t row,
			      int64_t column)
{
	const struct loop_conv *w = c->w;
	uint64_t pixel = (uint64_t)(row * w->in_columns + column), element;
	uint64_t image = (uint64_t)w->in_rows * w->in_columns;

	if (c->input_3120)
		element = (channel * image + pixel) * w->batch_size + batch;
	else
		element = (batch * image + pixel) * w->in_stride + channel;
	return w->input + element * c->job->unit->type.size;
}

/* Pixels of one row of the input, from `column` on, that one move takes. */
static int64_t input_run(const struct conv *c, int64_t column)
{
	int64_t most = (int64_t)c->job->unit->dim, run;

	if (column < 0)
		run = -column;
	else if (column < c->icolumns_inside) {
		run = c->icolumns_inside - column;
		most <<= c->downsample;
	} else
		run = c->icolumns_inside + c->right - column;
	return run < most ? run : most;
}

static enum work input_move(struct conv *c, uint32_t batch, uint32_t channel, int64_t row,
			    int64_t column, int64_t run)
{
	const struct loop_conv *w = c->w;
	unsigned int size = c->job->unit->type.size;
	bool inside = row >= 0 && row < c->irows_inside && column >= 0 &&
		      column < c->icolumns_inside;
	struct move_in move = {
		.address = inside ? input_address(c, channel, batch, row, column) : 0,
		.stride = ((c->input_3120 ? (uint64_t)w->batch_size : w->in_stride) * size)
			  << c->downsample,
		.local = input_row(c, channel, batch, row + c->top, column + c->left),
		.rows = (uint32_t)(run >> c->downsample),
		.columns = c->input_3120 ? w->batches : w->kchannels,
		.block_stride = (uint32_t)(c->plane * (c->input_3120 ? w->kchannels : w->batches)),
		.scale = SCALE_ONE,
		.pixels = c->pixels,
	};

	/* A run that ends at an odd place may reach beyond its image: it must stay in the memory. */
	enum work work = move_in_check(c->job, &move);

	return work == WORK_DONE ? move_in(c->job, &move) : work;
}

/* at: batch or channel, padded row, padded column */
static enum work load_input(struct conv *c)
{
	const struct loop_conv *w = c->w;
	struct progress *p = &c->job->x.progress;
	uint32_t images = c->input_3120 ? w->kchannels : w->batches;

	if (!w->input)
		return WORK_DONE;
	for (; p->at[0] < images; p->at[0]++, p->at[1] = 0) {
		uint32_t batch = c->input_3120 ? 0 : p->at[0], channel = c->input_3120 ? p->at[0] : 0;

		for (; p->at[1] < c->irows; p->at[1] += 1 + c->downsample, p->at[2] = 0) {
			while (p->at[2] < c->icolumns) {
				int64_t column = p->at[2] - c->left, run = input_run(c, column);
				enum work work = input_move(c, batch, channel, p->at[1] - c->top,
							    column, run);

				if (work != WORK_DONE)
					return work;
				p->at[2] += (uint32_t)run;
			}
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* --- weights ------------------------------------------------------------------------------------------ */

static uint32_t weight_row(const struct conv *c, uint32_t krow, uint32_t kcolumn, uint32_t kchannel,
			   uint32_t channel)
{
	const struct loop_conv *w = c->w;
	uint32_t dim = c->job->unit->dim, block = c->weight_0132 ? kchannel / dim : channel / dim;
	uint32_t lines = c->weight_0132 ? w->pchannels : w->kchannels;
	uint32_t line = c->weight_0132 ? channel : kchannel;

	return c->b + ((block * w->krows + krow) * w->kcolumns + kcolumn) * lines + line;
}

static uint64_t weight_address(const struct conv *c, uint32_t krow, uint32_t kcolumn)
{
	const struct loop_conv *w = c->w;
	uint64_t pixel = (uint64_t)krow * w->kernel + kcolumn, element;

	if (c->depthwise)
		element = pixel;
	else if (c->weight_1203)
		element = pixel * w->out_channels;
	else if (c->weight_0132)
		element = pixel * w->out_channels * w->in_channels;
	else
		element = pixel * w->in_channels * w->weight_stride;
	return w->weights + element * c->job->unit->type.size;
}

static uint64_t weight_stride(const struct conv *c)
{
	const struct loop_conv *w = c->w;

	if (c->depthwise)
		return 1;
	if (c->weight_1203)
		return (uint64_t)w->kernel * w->kernel * w->out_channels;
	return c->weight_0132 ? w->in_channels : w->weight_stride;
}

/* at: row and column of the kernel */
static enum work load_weights(struct conv *c)
{
	const struct loop_conv *w = c->w;
	struct progress *p = &c->job->x.progress;
	uint32_t lines = c->weight_0132 ? w->pchannels : w->kchannels;

	if (!w->weights)
		return WORK_DONE;
	for (; p->at[0] < w->krows; p->at[0]++, p->at[1] = 0) {
		for (; p->at[1] < w->kcolumns; p->at[1]++) {
			struct move_in move = {
				.address = weight_address(c, p->at[0], p->at[1]),
				.stride = weight_stride(c) * c->job->unit->type.size,
				.local = weight_row(c, p->at[0], p->at[1], 0, 0),
				.rows = lines,
				.columns = c->weight_0132 ? w->kchannels : w->pchannels,
				.block_stride = w->krows * w->kcolumns * lines,
				.scale = SCALE_ONE,
				.pixels = 1,
			};
			enum work work = move_in(c->job, &move);

			if (work != WORK_DONE)
				return work;
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* --- the array -------------------------------------------------------------------------------------------- */

/* Where the array is: what progress.at counts. */
struct place {
	uint32_t channel, krow, kcolumn, kchannel, batch, row, column;
};

static enum work one_pass(struct conv *c, const struct place *at, bool fill)
{
	const struct loop_conv *w = c->w;
	uint32_t dim = c->job->unit->dim, left = w->columns - at->column;
	uint32_t pixels = lesser(w->kcolumns - at->kcolumn, c->pixels);
	int64_t row = (int64_t)at->row * w->stride + (int64_t)at->krow * w->kernel_dilation;
	int64_t column = (int64_t)at->column * w->stride + (int64_t)at->kcolumn * w->kernel_dilation;
	uint32_t krow = c->rotated ? w->krows - 1 - at->krow : at->krow;
	uint32_t kcolumn = c->rotated ? w->kcolumns - 1 - at->kcolumn : at->kcolumn;
	uint32_t rows = c->input_3120 ? lesser(w->batches - at->batch, dim)
				      : (uint32_t)without_dilation(c, lesser(left, dim << c->input_dilated));
	uint32_t columns = lesser(w->pchannels - at->channel, dim);
	uint32_t depth = pixels * lesser(w->kchannels - at->kchannel, dim);
	struct pass pass = {
		.a = { input_row(c, at->kchannel, at->batch, without_dilation(c, row),
				 without_dilation(c, column)), depth, rows },
		.bd = { VIRGO_GARBAGE, columns, rows },
		.preload = { weight_row(c, krow, kcolumn, at->kchannel, at->channel), columns, depth },
		.output = { VIRGO_LOCAL_ACCUMULATOR | VIRGO_LOCAL_ACCUMULATE |
			    output_row(c, at->channel, at->batch, at->row, at->column), columns, rows },
		.a_stride = c->input_3120 ? (uint32_t)c->plane : w->stride >> c->downsample,
		.c_stride = c->input_3120 ? w->rows * w->columns : 1u << c->input_dilated,
		.a_transposed = c->input_3120,
		.b_transposed = c->weight_0132,
		.fill = fill,
	};

	return array_pass(c->job, &pass);
}

/* Between the elements of a dilated input there is nothing to multiply. */
static bool row_is_between(const struct conv *c, const struct place *at)
{
	int64_t row = (int64_t)at->krow * c->w->kernel_dilation + (int64_t)at->row * c->w->stride;

	return c->input_dilated && (row - c->w->top) % 2 != 0;
}

static bool column_is_between(const struct conv *c, const struct place *at)
{
	int64_t column = (int64_t)at->kcolumn * c->w->kernel_dilation +
			 (int64_t)at->column * c->w->stride;

	return c->input_dilated && (column - c->w->left) % 2 != 0;
}

/* One row of the output. */
static enum work one_row(struct conv *c, struct place *at)
{
	uint32_t dim = c->job->unit->dim, columns = c->input_3120 ? 1 : dim << c->input_dilated;
	struct progress *p = &c->job->x.progress;

	if (row_is_between(c, at))
		return WORK_DONE;
	for (at->column = 0; at->column < c->w->columns;) {
		enum work work;

		if (column_is_between(c, at)) {
			at->column++;
			continue;
		}
		work = one_pass(c, at, !p->block);
		if (work != WORK_DONE)
			return work;
		p->block = 1;	/* the weights are in the array */
		at->column += columns;
	}
	return WORK_DONE;
}

/* All of the output for one block of weights. at[4], [5]: batch, row */
static enum work one_block(struct conv *c, struct place *at)
{
	const struct loop_conv *w = c->w;
	struct progress *p = &c->job->x.progress;
	uint32_t batches = c->input_3120 ? c->job->unit->dim : 1;

	for (; p->at[4] < w->batches; p->at[4] += batches, p->at[5] = 0) {
		while (p->at[5] < w->rows) {
			enum work work;

			at->batch = p->at[4];
			at->row = p->at[5];
			work = one_row(c, at);
			if (work != WORK_DONE)
				return work;
			p->at[5]++;
			if (!spend(c->job, (int64_t)w->columns * 8))
				return WORK_MORE;
		}
	}
	p->at[4] = 0;
	p->block = 0;
	return WORK_DONE;
}

/* at: block of output channels, row and column of the kernel, block of its channels */
static enum work execute(struct conv *c)
{
	const struct loop_conv *w = c->w;
	struct progress *p = &c->job->x.progress;
	uint32_t dim = c->job->unit->dim;

	for (; p->at[0] < w->pchannels; p->at[0] += dim, p->at[1] = 0) {
		for (; p->at[1] < w->krows; p->at[1]++, p->at[2] = 0) {
			for (; p->at[2] < w->kcolumns; p->at[2] += c->pixels, p->at[3] = 0) {
				for (; p->at[3] < w->kchannels; p->at[3] += dim) {
					struct place at = { p->at[0], p->at[1], p->at[2], p->at[3], 0, 0, 0 };
					enum work work = one_block(c, &at);

					if (work != WORK_DONE)
						return work;
				}
			}
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* --- output --------------------------------------------------------------------------------------------------- */

/* at: batch, row */
static enum work store_plain(struct conv *c)
{
	struct virgo_job *job = c->job;
	const struct loop_conv *w = c->w;
	struct progress *p = &job->x.progress;
	uint32_t dim = job->unit->dim, size = job->unit->type.size;

	for (; p->at[0] < w->batches; p->at[0]++, p->at[1] = 0) {
		for (; p->at[1] < w->rows; p->at[1]++, p->at[2] = 0) {
			for (; p->at[2] < w->pchannels; p->at[2] += dim) {
				uint64_t line = (uint64_t)p->at[0] * w->out_rows + p->at[1];
				uint64_t element = line * w->out_columns * w->out_stride;
				struct move_out move = {
					.stride = job->x.store.stride,
					.local = VIRGO_LOCAL_ACCUMULATOR |
						 output_row(c, p->at[2], p->at[0], p->at[1], 0),
					.rows = w->columns,
					.columns = lesser(dim, w->pchannels - p->at[2]),
					.store = &job->x.store,
					.activation = store_activation(&job->x),
				};
				enum work work;

				if (c->output_1203)
					element = ((uint64_t)p->at[1] * w->out_columns * w->batch_size +
						   p->at[0]) * w->out_channels;
				move.address = w->output + (element + p->at[2]) * size;
				work = move_out(job, &move);
				if (work != WORK_DONE)
					return work;
			}
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* at: batch, channel */
static enum work store_pooled(struct conv *c)
{
	struct virgo_job *job = c->job;
	const struct loop_conv *w = c->w;
	struct progress *p = &job->x.progress;
	uint32_t dim = job->unit->dim, size = job->unit->type.size;
	struct store_configuration store = {
		.stride = (uint64_t)w->out_stride * size,
		.scale = job->x.store.scale,
		.pool_stride = w->pool_stride,
		.pool_size = w->pool_size,
		.pool_out_columns = w->pool_out_columns,
		.pool_rows = w->prows,
		.pool_columns = w->pcolumns,
		.rows = w->rows,
		.columns = w->columns,
		.pad_top = w->pool_top,
		.pad_left = w->pool_left,
	};

	for (; p->at[0] < w->batches; p->at[0]++, p->at[1] = 0) {
		for (; p->at[1] < w->pchannels; p->at[1] += dim) {
			uint64_t image = (uint64_t)p->at[0] * w->pool_out_rows * w->pool_out_columns;
			struct move_out move = {
				.address = w->output + (image * w->out_stride + p->at[1]) * size,
				.stride = store.stride,
				.local = VIRGO_LOCAL_ACCUMULATOR | output_row(c, p->at[1], p->at[0], 0, 0),
				.columns = lesser(dim, w->pchannels - p->at[1]),
				.store = &store,
				.activation = c->activation,
			};
			enum work work = move_out_pooled(job, &move);

			if (work != WORK_DONE)
				return work;
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static enum work run_phase(struct conv *c, enum phase phase)
{
	switch (phase) {
	case PHASE_BIAS:
		return load_bias(c);
	case PHASE_INPUT:
		return load_input(c);
	case PHASE_WEIGHTS:
		return load_weights(c);
	case PHASE_EXECUTE:
		return execute(c);
	case PHASE_OUTPUT:
		if (!c->w->output)
			return WORK_DONE;
		return c->no_pool ? store_plain(c) : store_pooled(c);
	default:
		return WORK_DONE;
	}
}

enum work loop_conv(struct virgo_job *job, uint64_t rs1, uint64_t rs2)
{
	struct progress *p = &job->x.progress;
	struct conv c = {
		.job = job, .w = &job->x.loop_conv,
		.no_bias = rs1 & VIRGO_CONV_NO_BIAS,
		.rotated = rs1 & VIRGO_CONV_ROTATED,
		.output_1203 = rs1 & VIRGO_CONV_OUTPUT_1203,
		.weight_1203 = rs1 & VIRGO_CONV_WEIGHT_1203,
		.weight_0132 = rs1 & VIRGO_CONV_WEIGHT_0132,
		.input_3120 = rs1 & VIRGO_CONV_INPUT_3120,
		.depthwise = rs1 & VIRGO_CONV_DEPTHWISE,
		.pixels = rs1 >> VIRGO_CONV_PIXELS_SHIFT & 0xff,
		.no_pool = rs2 & VIRGO_CONV_NO_POOL,
		.downsample = rs2 & VIRGO_CONV_DOWNSAMPLE ? 1 : 0,
		.input_dilated = rs2 & VIRGO_CONV_INPUT_DILATED,
		.activation = rs2 >> VIRGO_CONV_ACTIVATION_SHIFT & 3,
	};
	enum work work;

	if (!c.pixels)
		c.pixels = 1;
	work = check(&c, rs1 >> VIRGO_CONV_A_SPAD_SHIFT & 3, rs1 >> VIRGO_CONV_B_SPAD_SHIFT & 3);
	if (work != WORK_DONE)
		return work;
	if (is_empty(c.w))
		p->phase = PHASE_END;
	for (; p->phase < PHASE_END; p->phase++) {
		work = run_phase(&c, p->phase);
		if (work != WORK_DONE)
			return work;
	}
	return WORK_DONE;
}
