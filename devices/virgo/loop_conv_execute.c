/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* LOOP_CONV_WS: the passes of the array. */
#include "devices/virgo/loop_conv.h"

/* Where the array is: the counters of progress.at. */
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
				      : (uint32_t)conv_without_dilation(c, lesser(left, dim << c->input_dilated));
	uint32_t columns = lesser(w->pchannels - at->channel, dim);
	uint32_t depth = pixels * lesser(w->kchannels - at->kchannel, dim);
	struct pass pass = {
		.a = { conv_input_row(c, at->kchannel, at->batch, conv_without_dilation(c, row),
				      conv_without_dilation(c, column)), depth, rows },
		.bd = { VIRGO_GARBAGE, columns, rows },
		.preload = { conv_weight_row(c, krow, kcolumn, at->kchannel, at->channel), columns, depth },
		.output = { VIRGO_LOCAL_ACCUMULATOR | VIRGO_LOCAL_ACCUMULATE |
			    conv_output_row(c, at->channel, at->batch, at->row, at->column), columns, rows },
		.a_stride = c->input_3120 ? (uint32_t)c->plane : w->stride >> c->downsample,
		.c_stride = c->input_3120 ? w->rows * w->columns : 1u << c->input_dilated,
		.a_transposed = c->input_3120,
		.b_transposed = c->weight_0132,
		.fill = fill,
	};

	return virgo_array_pass(c->job, &pass);
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
enum work virgo_conv_execute(struct conv *c)
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
