/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* LOOP_CONV_WS: bias, input and weights are moved in, the output is moved out. */
#include "devices/virgo/loop_conv.h"

/* --- bias -------------------------------------------------------------------------------------- */

/* at: batch, row, column */
enum work virgo_conv_load_bias(struct conv *c)
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
				.local = VIRGO_LOCAL_ACCUMULATOR |
					 conv_output_row(c, 0, p->at[0], p->at[1], 0),
				.rows = w->columns,
				.columns = w->pchannels,
				.block_stride = w->batches * w->rows * w->columns,
				.scale = SCALE_ONE,
				.pixels = 1,
			};
			enum work work = virgo_move_in(job, &move);

			if (work != WORK_DONE)
				return work;
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* --- input ---------------------------------------------------------------------------------------- */

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
		.local = conv_input_row(c, channel, batch, row + c->top, column + c->left),
		.rows = (uint32_t)(run >> c->downsample),
		.columns = c->input_3120 ? w->batches : w->kchannels,
		.block_stride = (uint32_t)(c->plane * (c->input_3120 ? w->kchannels : w->batches)),
		.scale = SCALE_ONE,
		.pixels = c->pixels,
	};

	/* A run that ends at an odd place may reach beyond its image: it must stay in the memory. */
	enum work work = virgo_move_in_check(c->job, &move);

	return work == WORK_DONE ? virgo_move_in(c->job, &move) : work;
}

/* at: batch or channel, padded row, padded column */
enum work virgo_conv_load_input(struct conv *c)
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
enum work virgo_conv_load_weights(struct conv *c)
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
				.local = conv_weight_row(c, p->at[0], p->at[1], 0, 0),
				.rows = lines,
				.columns = c->weight_0132 ? w->kchannels : w->pchannels,
				.block_stride = w->krows * w->kcolumns * lines,
				.scale = SCALE_ONE,
				.pixels = 1,
			};
			enum work work = virgo_move_in(c->job, &move);

			if (work != WORK_DONE)
				return work;
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* --- output ---------------------------------------------------------------------------------------- */

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
						 conv_output_row(c, p->at[2], p->at[0], p->at[1], 0),
					.rows = w->columns,
					.columns = lesser(dim, w->pchannels - p->at[2]),
					.store = &job->x.store,
					.activation = virgo_store_activation(&job->x),
				};
				enum work work;

				if (c->output_1203)
					element = ((uint64_t)p->at[1] * w->out_columns * w->batch_size +
						   p->at[0]) * w->out_channels;
				move.address = w->output + (element + p->at[2]) * size;
				work = virgo_move_out(job, &move);
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
				.local = VIRGO_LOCAL_ACCUMULATOR | conv_output_row(c, p->at[1], p->at[0], 0, 0),
				.columns = lesser(dim, w->pchannels - p->at[1]),
				.store = &store,
				.activation = c->activation,
			};
			enum work work = virgo_move_out_pooled(job, &move);

			if (work != WORK_DONE)
				return work;
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

enum work virgo_conv_store(struct conv *c)
{
	if (!c->w->output)
		return WORK_DONE;
	return c->no_pool ? store_plain(c) : store_pooled(c);
}
