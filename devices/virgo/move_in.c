/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mvin: rows of program memory to the scratchpad or the accumulator. A row that
 * is wider than DIM elements goes to several blocks, block_stride rows apart.
 */
#include "devices/virgo/virgo_internal.h"

unsigned int virgo_move_in_size(const struct unit *u, uint32_t local, bool shrunk)
{
	return is_accumulator(local) && !shrunk ? sizeof(union lane) : u->type.size;
}

static unsigned int memory_size(const struct unit *u, const struct move_in *move)
{
	return virgo_move_in_size(u, move->local, move->shrunk);
}

enum work virgo_move_in_check(struct virgo_job *job, const struct move_in *move)
{
	const struct unit *u = job->unit;
	uint64_t limit = rows_of(u, move->local), last = local_row(move->local);

	if (!move->rows || !move->columns)
		return WORK_DONE;
	if (last >= limit)
		return fail(job, VIRGO_ERROR_RANGE, last);
	last += move->rows - 1 + (uint64_t)(blocks_of(u, move->columns) - 1) * move->block_stride;
	if (last >= limit)
		return fail(job, VIRGO_ERROR_RANGE, limit);
	return WORK_DONE;
}

static void to_accumulator(struct virgo_job *job, const struct move_in *move, uint32_t row,
			   const unsigned char *from, uint32_t columns)
{
	struct unit *u = job->unit;
	union lane lanes[VIRGO_MAX_DIM], *to = accumulator_row(u, row);

	if (move->shrunk) {
		virgo_elements_widen(u->type, lanes, from, columns);
		virgo_elements_scale(u->type, lanes, columns, move->scale);
	} else {
		memcpy(lanes, from, sizeof(union lane) * columns);
		/* int32 values have no multiplier on their way in (Gemmini's default). */
		for (uint32_t n = 0; u->type.is_float && move->scale != SCALE_ONE && n < columns; n++)
			lanes[n].f = one_nan(lanes[n].f * float_of(move->scale));
	}
	if (move->local & VIRGO_LOCAL_ACCUMULATE)
		virgo_lanes_add(u->type, to, lanes, columns);
	else
		memcpy(to, lanes, sizeof(union lane) * columns);
	count(job, VIRGO_COUNTER_accumulator_rows_written, 1);
}

static void to_spad(struct virgo_job *job, const struct move_in *move, uint32_t row,
		    uint32_t column, const unsigned char *from, uint32_t columns)
{
	struct unit *u = job->unit;
	unsigned char *to = spad_row(u, row) + (size_t)column * u->type.size;
	union lane lanes[VIRGO_MAX_DIM];

	count(job, VIRGO_COUNTER_shared_bytes_written, (uint64_t)columns * u->type.size);
	if (move->scale == SCALE_ONE) {
		memcpy(to, from, (size_t)columns * u->type.size);
		return;
	}
	virgo_elements_widen(u->type, lanes, from, columns);
	virgo_elements_scale(u->type, lanes, columns, move->scale);
	virgo_elements_narrow(u->type, to, lanes, columns);
}

/* The same elements again, each time one row up and further right: neighbours of a kernel's pixel. */
static void to_pixels(struct virgo_job *job, const struct move_in *move, uint32_t row,
		      const unsigned char *from, uint32_t columns)
{
	struct unit *u = job->unit;
	uint32_t half = u->rows / 2, floor = local_row(move->local) >= half ? half : 0;

	for (uint32_t pixel = 0; pixel < move->pixels && row >= floor + pixel; pixel++) {
		uint32_t column = pixel * lesser(move->columns, u->dim);

		if (column >= u->dim)
			break;
		to_spad(job, move, row - pixel, column, from, lesser(columns, u->dim - column));
	}
}

/*
 * Rows of one block, which follow each other in the scratchpad. A copy of a known size is a register or two.
 */
static void block_rows(unsigned char *restrict to, const unsigned char *restrict from, size_t stride,
		       size_t row_bytes, size_t rows)
{
	if (row_bytes == 32) {
		for (; rows; rows--, to += 32, from += stride)
			memcpy(to, from, 32);
	} else if (row_bytes == 16) {
		for (; rows; rows--, to += 16, from += stride)
			memcpy(to, from, 16);
	} else if (row_bytes == 64) {
		for (; rows; rows--, to += 64, from += stride)
			memcpy(to, from, 64);
	} else {
		for (; rows; rows--, to += row_bytes, from += stride)
			memcpy(to, from, row_bytes);
	}
}

static bool is_plain(const struct move_in *move)
{
	return !is_accumulator(move->local) && move->pixels <= 1 && move->scale == SCALE_ONE;
}

/*
 * Full blocks of some rows: nearly all moves are such. Block by block, so that what is written lies together;
 * where a block's rows are those of the next one too, the order counts, and a row is whole before the next
 * one.
 */
static void whole_blocks(struct virgo_job *job, const struct move_in *move, uint32_t row,
			 const unsigned char *from, size_t stride, uint32_t blocks, size_t rows)
{
	size_t at_once = move->block_stride >= rows || blocks <= 1 ? rows : 1;
	struct unit *u = job->unit;

	count(job, VIRGO_COUNTER_shared_bytes_written, (uint64_t)blocks * u->row_bytes * rows);
	for (; rows; rows -= at_once, row += (uint32_t)at_once, from += at_once * stride) {
		for (uint32_t block = 0; block < blocks; block++)
			block_rows(spad_row(u, row + block * move->block_stride), from + block * u->row_bytes,
				   stride, u->row_bytes, at_once);
	}
}

/* `columns` elements of one row, that begin with a block. */
static void place(struct virgo_job *job, const struct move_in *move, uint32_t row,
		  const unsigned char *from, uint32_t columns)
{
	struct unit *u = job->unit;
	unsigned int size = memory_size(u, move);

	for (; columns; row += move->block_stride) {
		uint32_t some = lesser(columns, u->dim);

		if (is_accumulator(move->local))
			to_accumulator(job, move, row, from, some);
		else if (move->pixels > 1)
			to_pixels(job, move, row, from, some);
		else
			to_spad(job, move, row, 0, from, some);
		from += (size_t)some * size;
		columns -= some;
	}
}

static enum work piece_in(struct virgo_job *job, const void *context, const struct piece *piece,
			  size_t *done)
{
	const struct move_in *move = context;
	const struct transfer *t = &piece->transfer;
	uint32_t row = local_row(move->local) + piece->block * move->block_stride + piece->row;
	uint32_t dim = job->unit->dim, blocks = is_plain(move) ? piece->columns / dim : 0;
	enum work work = WORK_DONE;

	*done = t->count;
	if (move->address)
		work = virgo_dma_read(job, t, job->staging, t->size, done);
	else
		memset(job->staging, 0, t->size * t->count);
	if (blocks && blocks * dim == piece->columns) {
		whole_blocks(job, move, row, job->staging, t->size, blocks, *done);
		return work;
	}
	for (size_t n = 0; n < *done; n++)
		place(job, move, row + (uint32_t)n, job->staging + n * t->size, piece->columns);
	return work;
}

enum work virgo_move_in(struct virgo_job *job, const struct move_in *asked)
{
	struct move_in move = *asked;
	struct move_shape shape = {
		.address = move.address, .stride = move.stride, .rows = move.rows,
		.columns = move.columns, .size = memory_size(job->unit, &move), .bytes_per_unit = 64,
	};
	enum work work;

	/* The RTL writes zeros behind the multipliers: a negative scale makes no -0 of them. */
	if (!move.address)
		move.scale = SCALE_ONE;
	work = virgo_move_pieces(job, &shape, piece_in, &move);
	if (work == WORK_DONE)
		virgo_watch_load(job, &move);
	return work;
}

enum work virgo_move_in_command(struct virgo_job *job, const struct command *command,
				const struct load_configuration *load)
{
	struct move_in move = {
		.address = command->rs1,
		.stride = load->stride,
		.local = (uint32_t)command->rs2,
		.columns = command->rs2 >> 32 & 0xffff,
		.rows = (uint32_t)(command->rs2 >> 48),
		.block_stride = load->block_stride,
		.scale = load->scale,
		.pixels = load->pixels,
		.shrunk = load->shrunk,
	};
	enum work work = virgo_move_in_check(job, &move);

	return work == WORK_DONE ? virgo_move_in(job, &move) : work;
}
