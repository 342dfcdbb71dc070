/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * LOOP_CONV_WS: a convolution, in phases: bias, input and weights are moved in,
 * the array works, the output is moved out, pooled if so asked. A pixel of the
 * input is a row of the scratchpad; channels beyond DIM are further blocks.
 */
#include "devices/virgo/loop_conv.h"

enum phase { PHASE_CHECK, PHASE_BIAS, PHASE_INPUT, PHASE_WEIGHTS, PHASE_EXECUTE, PHASE_OUTPUT, PHASE_END };

/* The largest values of the fields of CONFIG for a pooling store. */
#define POOL_MAX 3
#define POOLED_MAX 255

void virgo_loop_conv_configure(struct virgo_job *job, const struct command *command)
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

/* The part of the input that this part of the output needs. */
static void measure(struct conv *c)
{
	const struct loop_conv *w = c->w;
	int64_t dilation = w->kernel_dilation;
	int64_t krows = w->krows + (dilation - 1) * ((int64_t)w->krows - 1);
	int64_t kcolumns = w->kcolumns + (dilation - 1) * ((int64_t)w->kcolumns - 1);
	int64_t irows = (int64_t)w->rows * w->stride + krows - 1;
	int64_t icolumns = (int64_t)w->columns * w->stride + kcolumns - 1;

	c->top = conv_without_dilation(c, w->top);
	c->bottom = conv_without_dilation(c, w->bottom);
	c->left = conv_without_dilation(c, w->left);
	c->right = conv_without_dilation(c, w->right);
	c->irows_inside = conv_without_dilation(c, irows - w->top - w->bottom);
	c->icolumns_inside = conv_without_dilation(c, icolumns - w->left - w->right);
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

/* --- the loop -------------------------------------------------------------------------------- */

static enum work run_phase(struct conv *c, enum phase phase)
{
	switch (phase) {
	case PHASE_BIAS:
		return virgo_conv_load_bias(c);
	case PHASE_INPUT:
		return virgo_conv_load_input(c);
	case PHASE_WEIGHTS:
		return virgo_conv_load_weights(c);
	case PHASE_EXECUTE:
		return virgo_conv_execute(c);
	case PHASE_OUTPUT:
		return virgo_conv_store(c);
	default:
		return WORK_DONE;
	}
}

enum work virgo_loop_conv(struct virgo_job *job, uint64_t rs1, uint64_t rs2)
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
