/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * LOOP_WS: a matrix multiplication of I x J x K blocks, in phases: D, A and B are
 * moved in, the array works, C is moved out. Each phase is the sequence of
 * commands that a program would have sent; moves of blocks that lie side by side
 * in memory are one move.
 */
#include "devices/virgo/virgo_internal.h"

enum phase { PHASE_CHECK, PHASE_D, PHASE_A, PHASE_B, PHASE_EXECUTE, PHASE_LAST, PHASE_C, PHASE_END };

/* One LOOP_WS with everything that it needs to know. */
struct loop {
	struct virgo_job *job;
	const struct loop_ws *w;
	bool accumulate, full_c, low_d, a_by_k, b_by_j, residual, spad_only;
	uint32_t activation;
	uint32_t skip;		/* of rs2 */
	uint32_t a, b, c_spad;	/* first rows in the scratchpad */
	uint32_t rows, columns, depth;
};

void virgo_loop_ws_configure(struct virgo_job *job, const struct command *command)
{
	struct loop_ws *w = &job->x.loop_ws;
	uint64_t rs1 = command->rs1, rs2 = command->rs2;

	switch (command->funct) {
	case VIRGO_FUNCT_LOOP_WS_BOUNDS:
		w->pad_i = rs1 & 0xffff;
		w->pad_j = rs1 >> 16 & 0xffff;
		w->pad_k = rs1 >> 32 & 0xffff;
		w->i = rs2 & 0xffff;
		w->j = rs2 >> 16 & 0xffff;
		w->k = rs2 >> 32 & 0xffff;
		break;
	case VIRGO_FUNCT_LOOP_WS_ADDRS_AB:
		w->a = rs1;
		w->b = rs2;
		break;
	case VIRGO_FUNCT_LOOP_WS_ADDRS_DC:
		w->d = rs1;
		w->c = rs2;
		break;
	case VIRGO_FUNCT_LOOP_WS_STRIDES_AB:
		w->a_stride = rs1;
		w->b_stride = rs2;
		break;
	case VIRGO_FUNCT_LOOP_WS_STRIDES_DC:
		w->d_stride = rs1;
		w->c_stride = rs2;
		break;
	case VIRGO_FUNCT_LOOP_WS_SPAD_AB:
		w->spad_a = (uint32_t)rs1;
		w->spad_b_end = (uint32_t)rs2;
		break;
	default:
		w->spad_c = (uint32_t)rs1;
		break;
	}
}

/* --- where the blocks lie ----------------------------------------------------------------- */

/* Halves by number, or rows that SPAD_AB gave. Returns false if B does not fit below its end. */
static bool place(struct loop *l, uint32_t a_id, uint32_t b_id)
{
	const struct unit *u = l->job->unit;
	uint32_t half = u->rows / 2, end;
	uint64_t b_rows = (uint64_t)l->w->k * l->w->j * u->dim;

	if (l->w->spad_b_end) {
		l->a = l->w->spad_a;
		end = l->w->spad_b_end;
	} else {
		l->a = a_id == 2 ? half : 0;
		end = b_id == 2 ? u->rows : half;
	}
	if (b_rows > end)
		return false;
	l->b = end - (uint32_t)b_rows;
	return true;
}

static enum work check_spad(struct loop *l, uint64_t a_rows, uint64_t b_rows)
{
	struct virgo_job *job = l->job;
	uint64_t rows = job->unit->rows, c_rows = (uint64_t)l->w->i * l->w->j * job->unit->dim;
	bool uses_a = !(l->skip & VIRGO_LOOP_SKIP_A) || !(l->skip & VIRGO_LOOP_SKIP_EXECUTE);
	bool uses_b = !(l->skip & VIRGO_LOOP_SKIP_B) || !(l->skip & VIRGO_LOOP_SKIP_EXECUTE);

	if (!l->w->spad_b_end && uses_a && uses_b && !l->residual && a_rows + b_rows > rows / 2)
		return fail(job, VIRGO_ERROR_SIZE, a_rows + b_rows);
	if (!l->residual && uses_a && l->a + a_rows > rows)
		return fail(job, VIRGO_ERROR_RANGE, rows);
	if (!l->residual && uses_b && l->b + b_rows > rows)
		return fail(job, VIRGO_ERROR_RANGE, rows);
	if (l->spad_only && !(l->skip & VIRGO_LOOP_SKIP_C) && l->c_spad + c_rows > rows)
		return fail(job, VIRGO_ERROR_RANGE, rows);
	return WORK_DONE;
}

static enum work check(struct loop *l, uint32_t a_id, uint32_t b_id)
{
	struct virgo_job *job = l->job;
	const struct unit *u = job->unit;
	const struct loop_ws *w = l->w;
	uint64_t dim = u->dim, c_rows = (uint64_t)w->i * w->j * dim;
	uint32_t pad = w->pad_i > w->pad_j ? w->pad_i : w->pad_j;

	if (!w->i || !w->j || (!w->k && !l->residual))
		return WORK_DONE;
	if (w->pad_k > pad && w->k)
		pad = w->pad_k;
	if (pad >= dim)
		return fail(job, VIRGO_ERROR_SIZE, pad);
	if (a_id > 2 || b_id > 2)
		return fail(job, VIRGO_ERROR_VALUE, a_id > 2 ? a_id : b_id);
	if (w->accumulator_base + c_rows > u->accumulator_rows)
		return fail(job, VIRGO_ERROR_SIZE, c_rows);
	if (!l->residual && !place(l, a_id, b_id)) {
		/* Only a loop that touches B cares. */
		if (!(l->skip & VIRGO_LOOP_SKIP_B) || !(l->skip & VIRGO_LOOP_SKIP_EXECUTE))
			return fail(job, VIRGO_ERROR_SIZE, w->k * w->j * dim);
	}
	l->rows = w->i * u->dim - w->pad_i;
	l->columns = w->j * u->dim - w->pad_j;
	l->depth = w->k * u->dim - w->pad_k;
	if (l->spad_only && l->full_c && !(l->skip & VIRGO_LOOP_SKIP_C))
		return fail(job, VIRGO_ERROR_VALUE, l->full_c);
	return check_spad(l, (uint64_t)w->i * w->k * dim, (uint64_t)w->k * w->j * dim);
}

/* --- moving in ------------------------------------------------------------------------------- */

/* A matrix in memory whose rows of blocks go to rows of the unit. */
struct panel {
	uint64_t address;
	uint64_t stride;	/* elements, from row to row */
	unsigned int size;	/* bytes of an element in memory */
	uint32_t local;
	uint32_t rows, columns;	/* elements */
	uint32_t row_blocks, column_blocks;
	const struct load_configuration *load;
};

/* Blocks that one move takes: all of a row, if they lie side by side in memory. */
static uint32_t blocks_at_once(const struct virgo_job *job, const struct panel *panel)
{
	bool fit = virgo_move_in_size(job->unit, panel->local, panel->load->shrunk) == panel->size;

	return fit ? panel->column_blocks : 1;
}

/* progress.at counts rows of blocks, and blocks of a row. */
static enum work load_panel(struct virgo_job *job, const struct panel *panel)
{
	struct progress *p = &job->x.progress;
	uint32_t dim = job->unit->dim, at_once = blocks_at_once(job, panel);

	for (; p->at[0] < panel->row_blocks; p->at[0]++, p->at[1] = 0) {
		for (; p->at[1] < panel->column_blocks; p->at[1] += at_once) {
			uint32_t row = p->at[0] * dim, column = p->at[1] * dim;
			uint32_t block = p->at[0] * panel->column_blocks + p->at[1];
			struct move_in move = {
				.address = panel->address + (row * panel->stride + column) * panel->size,
				.stride = panel->load->stride,
				.local = panel->local + block * dim,
				.rows = lesser(dim, panel->rows - row),
				.columns = lesser(at_once * dim, panel->columns - column),
				.block_stride = dim,
				.scale = panel->load->scale,
				.pixels = 1,
				.shrunk = panel->load->shrunk,
			};
			enum work work = virgo_move_in(job, &move);

			if (work != WORK_DONE)
				return work;
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

static enum work load_d(struct loop *l)
{
	const struct loop_ws *w = l->w;
	struct panel panel = {
		.address = w->d,
		.stride = w->d_stride,
		.size = l->low_d ? l->job->unit->type.size : sizeof(union lane),
		.local = VIRGO_LOCAL_ACCUMULATOR | w->accumulator_base,
		.rows = l->rows, .columns = l->columns,
		.row_blocks = w->i, .column_blocks = w->j,
		.load = &l->job->x.load[2],
	};

	if (!w->d || l->skip & VIRGO_LOOP_SKIP_D || l->residual)
		return WORK_DONE;
	return load_panel(l->job, &panel);
}

static enum work load_a(struct loop *l)
{
	const struct loop_ws *w = l->w;
	struct panel panel = {
		.address = w->a,
		.stride = w->a_stride,
		.size = l->job->unit->type.size,
		.local = l->a,
		.rows = l->a_by_k ? l->depth : l->rows, .columns = l->a_by_k ? l->rows : l->depth,
		.row_blocks = l->a_by_k ? w->k : w->i, .column_blocks = l->a_by_k ? w->i : w->k,
		.load = &l->job->x.load[0],
	};

	if (!w->a || l->skip & VIRGO_LOOP_SKIP_A)
		return WORK_DONE;
	if (l->residual) {
		panel.local = VIRGO_LOCAL_ACCUMULATOR | w->accumulator_base;
		panel.rows = l->rows;
		panel.columns = l->columns;
		panel.row_blocks = w->i;
		panel.column_blocks = w->j;
	}
	return load_panel(l->job, &panel);
}

static enum work load_b(struct loop *l)
{
	const struct loop_ws *w = l->w;
	struct panel panel = {
		.address = w->b,
		.stride = w->b_stride,
		.size = l->job->unit->type.size,
		.local = l->b,
		.rows = l->b_by_j ? l->columns : l->depth, .columns = l->b_by_j ? l->depth : l->columns,
		.row_blocks = l->b_by_j ? w->j : w->k, .column_blocks = l->b_by_j ? w->k : w->j,
		.load = &l->job->x.load[1],
	};

	if (!w->b || l->skip & VIRGO_LOOP_SKIP_B)
		return WORK_DONE;
	if (l->residual) {
		panel.local = VIRGO_LOCAL_ACCUMULATOR | VIRGO_LOCAL_ACCUMULATE | w->accumulator_base;
		panel.rows = l->rows;
		panel.columns = l->columns;
		panel.row_blocks = w->i;
		panel.column_blocks = w->j;
	}
	return load_panel(l->job, &panel);
}

/* --- the array ------------------------------------------------------------------------------------ */

static enum work execute(struct loop *l)
{
	const struct loop_ws *w = l->w;
	struct loop_blocks blocks = {
		.a = l->a, .b = l->b, .c = w->accumulator_base,
		.i = w->i, .j = w->j, .k = w->k,
		.rows = l->rows, .columns = l->columns, .depth = l->depth,
		.a_by_k = l->a_by_k, .b_by_j = l->b_by_j, .accumulate = l->accumulate,
	};

	if (l->residual || l->skip & VIRGO_LOOP_SKIP_EXECUTE)
		return WORK_DONE;
	return virgo_loop_matmul(l->job, &blocks);
}

static uint64_t packed(uint32_t rows, uint32_t columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

/* The array holds the values that the last PRELOAD and COMPUTE would have left in it. */
static void leave_array(struct loop *l)
{
	struct virgo_job *job = l->job;
	const struct loop_ws *w = l->w;
	uint32_t dim = job->unit->dim, i = w->i - 1, j = w->j - 1, k = w->k - 1;
	uint32_t block = l->b_by_j ? j * w->k + k : k * w->j + j;
	uint64_t bytes = job->x.counters[VIRGO_COUNTER_shared_bytes_read];
	struct operand weights = {
		.local = l->b + block * dim, .rows = dim - w->pad_k, .columns = dim - w->pad_j,
	};

	virgo_array_fill(job, weights, job->x.execute.b_transposed);
	job->x.counters[VIRGO_COUNTER_shared_bytes_read] = bytes;
	virgo_array_preload(job, packed(weights.rows, weights.columns, i ? VIRGO_GARBAGE : weights.local),
			    packed(dim - w->pad_i, weights.columns,
				   VIRGO_LOCAL_ACCUMULATOR |
				   (l->accumulate || k ? VIRGO_LOCAL_ACCUMULATE : 0) |
				   (w->accumulator_base + (i * w->j + j) * dim)));
}

/* --- moving out ------------------------------------------------------------------------------------- */

/* Of the three visits that layernorm and softmax pay each row: for all blocks but the last, and for that. */
static const enum virgo_norm norm_visits[2][3][2] = {
	{ { VIRGO_NORM_SUM, VIRGO_NORM_MEAN }, { VIRGO_NORM_VARIANCE, VIRGO_NORM_INV_STDDEV },
	  { VIRGO_NORM_RESET, VIRGO_NORM_RESET } },
	{ { VIRGO_NORM_MAX, VIRGO_NORM_MAX }, { VIRGO_NORM_SUM_EXP, VIRGO_NORM_INV_SUM_EXP },
	  { VIRGO_NORM_RESET, VIRGO_NORM_RESET } },
};

static bool is_normalised(const struct loop *l)
{
	return l->activation == VIRGO_LAYERNORM || l->activation == VIRGO_SOFTMAX;
}

/* Some rows of row i of blocks: all blocks, or one of them. */
static enum work store_rows(struct loop *l, uint32_t i, uint32_t row, uint32_t rows, uint32_t j,
			    uint32_t columns, enum virgo_norm norm)
{
	struct virgo_job *job = l->job;
	const struct loop_ws *w = l->w;
	uint32_t dim = job->unit->dim, block = i * w->j + j;
	unsigned int size = l->full_c ? sizeof(union lane) : job->unit->type.size;
	struct move_out move = {
		.address = w->c + (i * w->c_stride + j) * dim * size + row * job->x.store.stride,
		.stride = job->x.store.stride,
		.local = VIRGO_LOCAL_ACCUMULATOR | (l->full_c ? VIRGO_LOCAL_FULL : 0) |
			 (uint32_t)norm << VIRGO_LOCAL_NORM_SHIFT |
			 (w->accumulator_base + block * dim + row),
		.rows = rows,
		.columns = columns,
		.store = &job->x.store,
		.activation = is_normalised(l) ? l->activation : virgo_store_activation(&job->x),
	};

	if (l->spad_only)
		return virgo_move_out_spad(job, move.local, rows, columns, l->c_spad + block * dim + row, 1,
					   move.activation);
	return virgo_move_out(job, &move);
}

/* progress.at: row of blocks, row, visit, block. */
static enum work store_normalised(struct loop *l)
{
	struct virgo_job *job = l->job;
	struct progress *p = &job->x.progress;
	uint32_t dim = job->unit->dim, j_count = l->w->j;

	for (; p->at[0] < l->w->i; p->at[0]++, p->at[1] = 0) {
		uint32_t rows = lesser(dim, l->rows - p->at[0] * dim);

		for (; p->at[1] < rows; p->at[1]++, p->at[2] = 0) {
			job->x.norm.statistic = p->at[1] % NORM_STATISTICS;
			for (; p->at[2] < 3; p->at[2]++, p->at[3] = 0) {
				for (; p->at[3] < j_count; p->at[3]++) {
					uint32_t j = p->at[3], columns = lesser(dim, l->columns - j * dim);
					enum virgo_norm norm = norm_visits
						[l->activation == VIRGO_SOFTMAX][p->at[2]][j + 1 == j_count];
					enum work work = store_rows(l, p->at[0], p->at[1], 1, j,
								    columns, norm);

					if (work != WORK_DONE)
						return work;
				}
			}
		}
	}
	p->at[0] = 0;
	return WORK_DONE;
}

static enum work store_c(struct loop *l)
{
	struct progress *p = &l->job->x.progress;
	uint32_t dim = l->job->unit->dim;

	if (l->skip & VIRGO_LOOP_SKIP_C || (!l->spad_only && !l->w->c))
		return WORK_DONE;
	if (is_normalised(l) && !l->full_c)
		return store_normalised(l);
	for (; p->at[0] < l->w->i; p->at[0]++) {
		uint32_t rows = lesser(dim, l->rows - p->at[0] * dim);
		enum work work = store_rows(l, p->at[0], 0, rows, 0, l->columns, VIRGO_NORM_RESET);

		if (work != WORK_DONE)
			return work;
	}
	p->at[0] = 0;
	return WORK_DONE;
}

/* --- the loop -------------------------------------------------------------------------------------------- */

static enum work run_phase(struct loop *l, enum phase phase)
{
	switch (phase) {
	case PHASE_D:
		return load_d(l);
	case PHASE_A:
		return load_a(l);
	case PHASE_B:
		return load_b(l);
	case PHASE_EXECUTE:
		return execute(l);
	case PHASE_LAST:
		if (!l->residual && !(l->skip & VIRGO_LOOP_SKIP_EXECUTE))
			leave_array(l);
		return WORK_DONE;
	case PHASE_C:
		return store_c(l);
	default:
		return WORK_DONE;
	}
}

static void finish(struct loop *l)
{
	struct loop_ws *w = &l->job->x.loop_ws;

	if (l->skip & VIRGO_LOOP_NEXT_ACCUMULATOR)
		w->accumulator_base = w->accumulator_base ? 0 : l->job->unit->accumulator_rows / 2;
}

enum work virgo_loop_ws(struct virgo_job *job, uint64_t rs1, uint64_t rs2)
{
	struct progress *p = &job->x.progress;
	const struct loop_ws *w = &job->x.loop_ws;
	uint32_t c_row = (uint32_t)(rs2 >> VIRGO_LOOP_C_ROW_SHIFT);
	struct loop l = {
		.job = job, .w = w,
		.accumulate = rs1 & VIRGO_LOOP_ACCUMULATE,
		.full_c = rs1 & VIRGO_LOOP_FULL_C,
		.low_d = rs1 & VIRGO_LOOP_LOW_D,
		.activation = rs1 >> VIRGO_LOOP_ACTIVATION_SHIFT & 7,
		.a_by_k = rs2 & VIRGO_LOOP_A_TRANSPOSED,
		.b_by_j = rs2 & VIRGO_LOOP_B_TRANSPOSED,
		.residual = rs2 & VIRGO_LOOP_RESIDUAL_ADD,
		.spad_only = rs2 & VIRGO_LOOP_SPAD_ONLY,
		.skip = (uint32_t)rs2,
		.c_spad = c_row ? c_row : w->spad_c,
	};
	/* Sets fields that depend on sizes, too: a loop that goes on needs them again. */
	enum work work = check(&l, rs1 >> VIRGO_LOOP_A_SPAD_SHIFT & 3,
			       rs1 >> VIRGO_LOOP_B_SPAD_SHIFT & 3);

	if (work != WORK_DONE)
		return work;
	if (!w->i || !w->j || (!w->k && !l.residual))
		p->phase = PHASE_END;
	for (; p->phase < PHASE_END; p->phase++) {
		work = run_phase(&l, p->phase);
		if (work != WORK_DONE)
			return work;
	}
	finish(&l);
	return WORK_DONE;
}
