/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mvout: rows of the scratchpad or the accumulator to program memory, with
 * scaling, activation and pooling; and MVOUT_SPAD, from the accumulator to the
 * scratchpad. Blocks of a row that is wider than DIM lie DIM rows apart.
 */
#include "devices/virgo/virgo_internal.h"

#define POOLED_MAX 255		/* columns: 8 bits in CONFIG, and LOOP_CONV_WS checks it */

_Static_assert(POOLED_MAX * VIRGO_MAX_DIM * sizeof(union lane) <= STAGING_BYTES,
	       "a pooled row fits");

static bool is_full(uint32_t local)
{
	return is_accumulator(local) && local & VIRGO_LOCAL_FULL;
}

static enum virgo_norm norm_of(uint32_t local)
{
	return local >> VIRGO_LOCAL_NORM_SHIFT & 7;
}

/*
 * Gemmini's unit sends the command of the program only with the last block of a row. The
 * blocks before it add to the sums (NormCmd.non_reset_version), or MEAN, INV_STDDEV and
 * INV_SUM_EXP would end them with each block.
 */
static enum virgo_norm norm_before_last(enum virgo_norm norm)
{
	switch (norm) {
	case VIRGO_NORM_MEAN:
		return VIRGO_NORM_SUM;
	case VIRGO_NORM_INV_STDDEV:
		return VIRGO_NORM_VARIANCE;
	case VIRGO_NORM_INV_SUM_EXP:
		return VIRGO_NORM_SUM_EXP;
	default:
		return norm;
	}
}

/* `columns`: of the row, from this block to its end. */
static enum virgo_norm norm_of_block(const struct unit *u, uint32_t local, uint32_t columns)
{
	enum virgo_norm norm = norm_of(local);

	return columns > u->dim ? norm_before_last(norm) : norm;
}

static enum work rows_check(struct virgo_job *job, uint32_t local, uint64_t rows)
{
	uint64_t limit = rows_of(job->unit, local), first = local_row(local);

	if (first >= limit)
		return fail(job, VIRGO_ERROR_RANGE, first);
	if (first + rows > limit)
		return fail(job, VIRGO_ERROR_RANGE, limit);
	return WORK_DONE;
}

static enum work check_operands(struct virgo_job *job, const struct move_out *move)
{
	const struct store_configuration *store = move->store;
	const struct unit *u = job->unit;

	if (store->pool_stride) {
		if (move->columns > u->dim)
			return fail(job, VIRGO_ERROR_SIZE, move->columns);
		if (is_full(move->local) || !store->pool_size)
			return fail(job, VIRGO_ERROR_VALUE, store->pool_size);
		return rows_check(job, move->local, (uint64_t)store->rows * store->columns);
	}
	if (!move->rows || !move->columns)
		return WORK_DONE;
	return rows_check(job, move->local,
			  move->rows + (uint64_t)(blocks_of(u, move->columns) - 1) * u->dim);
}

/* Elements of one row of a block as they go to memory. false: they only went into the statistics. */
static bool convert(struct virgo_job *job, uint32_t local, enum virgo_norm norm, uint32_t row,
		    uint32_t columns, uint32_t activation, uint32_t scale, unsigned char *to)
{
	struct unit *u = job->unit;
	union lane lanes[VIRGO_MAX_DIM];

	if (!is_accumulator(local)) {
		memcpy(to, spad_row(u, row), (size_t)columns * u->type.size);
		count(job, VIRGO_COUNTER_shared_bytes_read, (uint64_t)columns * u->type.size);
		return true;
	}
	count(job, VIRGO_COUNTER_accumulator_rows_read, 1);
	if (is_full(local)) {
		memcpy(to, accumulator_row(u, row), sizeof(union lane) * columns);
		return true;
	}
	memcpy(lanes, accumulator_row(u, row), sizeof(union lane) * columns);
	if (!virgo_normalise(job, lanes, columns, norm))
		return false;
	virgo_activate_row(u, &job->x, lanes, columns, activation, scale);
	virgo_elements_narrow(u->type, to, lanes, columns);
	return true;
}

/* Row `row` of the blocks of a piece. */
static bool convert_blocks(struct virgo_job *job, const struct move_out *move,
			   const struct piece *piece, uint32_t row, unsigned char *to)
{
	struct unit *u = job->unit;
	unsigned int size = is_full(move->local) ? sizeof(union lane) : u->type.size;
	uint32_t first = piece->block * u->dim;
	bool is_output = true;

	for (uint32_t column = first; column < first + piece->columns; column += u->dim) {
		uint32_t some = lesser(first + piece->columns - column, u->dim);
		enum virgo_norm norm = norm_of_block(u, move->local, move->columns - column);

		/* Block n lies n * DIM rows down, and begins with column n * DIM. */
		is_output = convert(job, move->local, norm, row + column, some, move->activation,
				    move->store->scale, to);
		to += (size_t)some * size;
	}
	return is_output;
}

static enum work piece_out(struct virgo_job *job, const void *context, const struct piece *piece,
			   size_t *done)
{
	const struct move_out *move = context;
	const struct transfer *t = &piece->transfer;
	uint32_t row = local_row(move->local) + piece->row;
	bool is_output = true;

	for (size_t n = 0; n < t->count; n++)
		is_output = convert_blocks(job, move, piece, row + (uint32_t)n,
					   job->staging + n * t->size);
	*done = t->count;
	return is_output ? virgo_dma_write(job, t, job->staging, t->size, done) : WORK_DONE;
}

enum work virgo_move_out(struct virgo_job *job, const struct move_out *move)
{
	struct move_shape shape = {
		.address = move->address, .stride = move->stride, .rows = move->rows,
		.columns = move->columns, .bytes_per_unit = 16,
		.size = is_full(move->local) ? sizeof(union lane) : job->unit->type.size,
	};
	enum work work = virgo_move_pieces(job, &shape, piece_out, move);

	if (work == WORK_DONE)
		virgo_watch_store(job, move, false);
	return work;
}

/* --- pooling ----------------------------------------------------------------------- */

static union lane smallest(struct element_type type)
{
	if (type.kind == VIRGO_INT8)
		return (union lane){ .i = -128 };
	return (union lane){ .f = type.kind == VIRGO_FP16 ? -65504.0f : -0x1.fffffep127f };
}

static void keep_larger(struct element_type type, union lane *best, const union lane *lanes,
			uint32_t columns)
{
	for (uint32_t n = 0; n < columns; n++) {
		if (type.is_float ? lanes[n].f > best[n].f : lanes[n].i > best[n].i)
			best[n] = lanes[n];
	}
}

/* The largest of a window; elements outside of the output count as 0. */
static void pool(struct virgo_job *job, const struct move_out *move, uint32_t prow,
		 uint32_t pcolumn, unsigned char *to)
{
	const struct store_configuration *s = move->store;
	struct unit *u = job->unit;
	union lane best[VIRGO_MAX_DIM], lanes[VIRGO_MAX_DIM];
	unsigned char elements[sizeof(lanes)];

	for (uint32_t n = 0; n < move->columns; n++)
		best[n] = smallest(u->type);
	for (uint32_t i = 0; i < s->pool_size * s->pool_size; i++) {
		int64_t row = (int64_t)(prow * s->pool_stride + i / s->pool_size) - s->pad_top;
		int64_t column = (int64_t)(pcolumn * s->pool_stride + i % s->pool_size) - s->pad_left;

		memset(lanes, 0, sizeof(lanes));
		if (row >= 0 && column >= 0 && row < s->rows && column < s->columns) {
			convert(job, move->local, VIRGO_NORM_RESET,
				local_row(move->local) + (uint32_t)(row * s->columns + column),
				move->columns, move->activation, s->scale, elements);
			virgo_elements_widen(u->type, lanes, elements, move->columns);
		}
		keep_larger(u->type, best, lanes, move->columns);
	}
	virgo_elements_narrow(u->type, to, best, move->columns);
}

/* One row of the pooled output. */
static enum work pool_row(struct virgo_job *job, const struct move_out *move, uint32_t prow)
{
	const struct store_configuration *s = move->store;
	struct progress *p = &job->x.progress;
	struct transfer t = {
		.address = move->address +
			   ((uint64_t)prow * s->pool_out_columns + p->row) * move->stride,
		.stride = move->stride,
		.size = (size_t)move->columns * job->unit->type.size,
		.count = s->pool_columns - p->row,
	};
	enum work work;
	size_t done;

	for (size_t n = 0; n < t.count; n++)
		pool(job, move, prow, p->row + (uint32_t)n, job->staging + n * t.size);
	work = virgo_dma_write(job, &t, job->staging, t.size, &done);
	p->row += (uint32_t)done;
	return work;
}

/* progress.block counts rows of the pooled output, .row its columns. */
enum work virgo_move_out_pooled(struct virgo_job *job, const struct move_out *move)
{
	const struct store_configuration *s = move->store;
	struct progress *p = &job->x.progress;

	while (move->columns && s->pool_columns && p->block < s->pool_rows) {
		enum work work = p->row < s->pool_columns ? pool_row(job, move, p->block) : WORK_DONE;

		if (work != WORK_DONE)
			return work;
		p->row = 0;
		p->block++;
		if (!spend(job, (int64_t)s->pool_columns * s->pool_size * s->pool_size) &&
		    p->block < s->pool_rows)
			return WORK_MORE;
	}
	p->block = 0;
	virgo_watch_store(job, move, true);
	return WORK_DONE;
}

/* --- to the scratchpad --------------------------------------------------------------- */

static enum work check_spad_operands(struct virgo_job *job, uint32_t local, uint32_t rows,
				     uint32_t columns, uint64_t to, uint64_t to_stride)
{
	const struct unit *u = job->unit;
	uint64_t span;
	enum work work;

	if (!rows || !columns)
		return WORK_DONE;
	if (!is_accumulator(local) || is_full(local))
		return fail(job, VIRGO_ERROR_VALUE, local);
	span = rows + (uint64_t)(blocks_of(u, columns) - 1) * u->dim;
	work = rows_check(job, local, span);
	if (work != WORK_DONE)
		return work;
	if (to >= u->rows)
		return fail(job, VIRGO_ERROR_RANGE, to);
	/* Both are below 2^32. */
	if (to + (span - 1) * to_stride >= u->rows)
		return fail(job, VIRGO_ERROR_RANGE, u->rows);
	return WORK_DONE;
}

enum work virgo_move_out_spad(struct virgo_job *job, uint32_t local, uint32_t rows, uint32_t columns,
			      uint64_t to, uint64_t to_stride, uint32_t activation)
{
	struct unit *u = job->unit;
	struct progress *p = &job->x.progress;
	uint32_t blocks = blocks_of(u, columns);
	unsigned char row[VIRGO_MAX_DIM * sizeof(union lane)];

	for (; p->row < rows; p->row++) {
		for (uint32_t block = 0; block < blocks; block++) {
			uint32_t left = columns - block * u->dim, some = lesser(left, u->dim);
			uint32_t from = block * u->dim + p->row;
			enum virgo_norm norm = norm_of_block(u, local, left);

			if (!convert(job, local, norm, local_row(local) + from, some, activation,
				     job->x.store.scale, row))
				continue;
			memcpy(spad_row(u, (uint32_t)(to + from * to_stride)), row,
			       (size_t)some * u->type.size);
			count(job, VIRGO_COUNTER_shared_bytes_written, (uint64_t)some * u->type.size);
		}
		if (!spend(job, 4 * blocks) && p->row + 1 < rows) {
			p->row++;
			return WORK_MORE;
		}
	}
	p->row = 0;
	virgo_watch_move(job, local, rows, columns, to, to_stride);
	return WORK_DONE;
}

static enum work to_spad(struct virgo_job *job, const struct command *command)
{
	uint32_t local = (uint32_t)command->rs2, rows = (uint32_t)(command->rs2 >> 48);
	uint32_t columns = command->rs2 >> 32 & 0xffff;
	uint64_t to = (uint32_t)command->rs1, stride = command->rs1 >> 32;
	enum work work = check_spad_operands(job, local, rows, columns, to, stride);

	if (work != WORK_DONE)
		return work;
	return virgo_move_out_spad(job, local, rows, columns, to, stride, virgo_store_activation(&job->x));
}

enum work virgo_move_out_command(struct virgo_job *job, const struct command *command)
{
	struct move_out move = {
		.address = command->rs1,
		.stride = job->x.store.stride,
		.local = (uint32_t)command->rs2,
		.columns = command->rs2 >> 32 & 0xffff,
		.rows = (uint32_t)(command->rs2 >> 48),
		.store = &job->x.store,
		.activation = virgo_store_activation(&job->x),
	};
	enum work work;

	if (command->funct == VIRGO_FUNCT_MVOUT_SPAD)
		return to_spad(job, command);
	work = check_operands(job, &move);
	if (work != WORK_DONE)
		return work;
	return move.store->pool_stride ? virgo_move_out_pooled(job, &move) : virgo_move_out(job, &move);
}
