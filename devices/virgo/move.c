/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Code that moves in and out share: rows go through the staging memory, as many
 * at once as fit. A row that is too long for it goes in pieces, and is over before
 * the next one begins.
 */
#include "devices/virgo/virgo_internal.h"

static struct piece next_piece(const struct virgo_job *job, const struct move_shape *shape,
			       uint32_t blocks, uint32_t at_once)
{
	const struct progress *p = &job->x.progress;
	uint32_t dim = job->unit->dim;
	struct piece piece = { .row = p->row, .block = p->block };

	piece.columns = lesser(shape->columns - p->block * dim, at_once * dim);
	piece.transfer = (struct transfer){
		.address = shape->address + (uint64_t)p->block * dim * shape->size +
			   p->row * shape->stride,
		.stride = shape->stride,
		.size = (size_t)piece.columns * shape->size,
		.count = 1,
	};
	if (blocks <= at_once)
		piece.transfer.count = lesser((uint32_t)(STAGING_BYTES / piece.transfer.size),
					      shape->rows - p->row);
	return piece;
}

enum work virgo_move_pieces(struct virgo_job *job, const struct move_shape *shape, move_piece *function,
			    const void *move)
{
	struct progress *p = &job->x.progress;
	uint32_t blocks = blocks_of(job->unit, shape->columns);
	uint32_t at_once = STAGING_BYTES / (job->unit->dim * shape->size);

	/* An image may say anything. */
	if (p->block >= blocks)
		p->block = 0;
	while (shape->columns && p->row < shape->rows) {
		struct piece piece = next_piece(job, shape, blocks, at_once);
		size_t done = 0;
		enum work work = function(job, move, &piece, &done);
		bool has_time = spend(job, (int64_t)(done * (1 + piece.transfer.size / shape->bytes_per_unit)));

		if (blocks > at_once && done) {
			p->block += at_once;
			done = p->block >= blocks;
		}
		if (done)
			p->block = 0;
		p->row += (uint32_t)done;
		if (work != WORK_DONE)
			return work;
		if (!has_time && p->row < shape->rows)
			return WORK_MORE;
	}
	p->row = 0;
	p->block = 0;
	return WORK_DONE;
}
