/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the parts of LOOP_CONV_WS. */
#ifndef MIMIC_VIRGO_LOOP_CONV_H
#define MIMIC_VIRGO_LOOP_CONV_H

#include "devices/virgo/virgo_internal.h"

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

/* Of an input that is dilated by 2, every second row and column is in memory. */
static inline int64_t conv_without_dilation(const struct conv *c, int64_t value)
{
	return c->input_dilated ? (value + 1) / 2 : value;
}

/* Where things lie: rows of the accumulator and of the scratchpad. */
static inline uint32_t conv_output_row(const struct conv *c, uint32_t channel, uint32_t batch,
				       uint32_t row, uint32_t column)
{
	const struct loop_conv *w = c->w;
	uint32_t block = channel / c->job->unit->dim;

	return ((block * w->batches + batch) * w->rows + row) * w->columns + column;
}

static inline uint32_t conv_input_row(const struct conv *c, uint32_t channel, uint32_t batch,
				      int64_t row, int64_t column)
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

static inline uint32_t conv_weight_row(const struct conv *c, uint32_t krow, uint32_t kcolumn,
				       uint32_t kchannel, uint32_t channel)
{
	const struct loop_conv *w = c->w;
	uint32_t dim = c->job->unit->dim, block = c->weight_0132 ? kchannel / dim : channel / dim;
	uint32_t lines = c->weight_0132 ? w->pchannels : w->kchannels;
	uint32_t line = c->weight_0132 ? channel : kchannel;

	return c->b + ((block * w->krows + krow) * w->kcolumns + kcolumn) * lines + line;
}

/* loop_conv_moves.c; all go on from progress.at */
enum work virgo_conv_load_bias(struct conv *c);
enum work virgo_conv_load_input(struct conv *c);
enum work virgo_conv_load_weights(struct conv *c);
enum work virgo_conv_store(struct conv *c);

/* loop_conv_execute.c */
enum work virgo_conv_execute(struct conv *c);

#endif
