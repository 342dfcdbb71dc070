/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * For virtual time: the moves and products of commands, and their places. The model has done them when the
 * watch is told; the watch keeps their time.
 */
#include "devices/virgo/virgo_internal.h"

void virgo_model_watch(struct mimic_model *model, const struct virgo_watch *watch)
{
	virgo_of(model)->watch = watch;
}

static void tell(struct virgo_job *job, struct virgo_watched *part)
{
	const struct virgo_watch *watch = job->virgo->watch;

	part->unit = job->unit->number;
	part->element_bytes = job->unit->type.size;
	watch->done(watch->context, part);
}

/* `count` rows from a local address on: bytes of shared memory, or rows of the accumulator. */
static void add_place(const struct unit *u, uint32_t local, uint64_t count, struct virgo_watched_range *bytes,
		      struct virgo_watched_range *rows)
{
	uint64_t first = local_row(local), last = first + count, most = rows_of(u, local);

	if (last > most)
		last = most;
	if (is_accumulator(local))
		*rows = (struct virgo_watched_range){ (uint32_t)first, (uint32_t)last };
	else
		*bytes = (struct virgo_watched_range){ (uint32_t)first * u->row_bytes, (uint32_t)last * u->row_bytes };
}

static uint64_t span_of(const struct unit *u, uint32_t rows, uint32_t columns, uint32_t block_stride)
{
	uint32_t blocks = blocks_of(u, columns);

	return blocks ? rows + (uint64_t)(blocks - 1) * block_stride : 0;
}

/* Where it is zeros that are moved, memory is not read. */
void virgo_watch_load(struct virgo_job *job, const struct move_in *move)
{
	const struct unit *u = job->unit;
	struct virgo_watched part = { .kind = VIRGO_WATCHED_LOAD, .rows = move->rows };

	if (!job->virgo->watch || !move->rows || !move->columns)
		return;
	if (move->address)
		part.row_bytes = move->columns * virgo_move_in_size(u, move->local, move->shrunk);
	add_place(u, move->local, span_of(u, move->rows, move->columns, move->block_stride), &part.writes, &part.writes_rows);
	tell(job, &part);
}

/* A pooled row is moved as one of those that are left; the windows are read on the way. */
void virgo_watch_store(struct virgo_job *job, const struct move_out *move, bool is_pooled)
{
	const struct unit *u = job->unit;
	const struct store_configuration *store = move->store;
	const bool is_wide = is_accumulator(move->local) && move->local & VIRGO_LOCAL_FULL;
	struct virgo_watched part = { .kind = VIRGO_WATCHED_STORE, .rows = move->rows };
	uint32_t rows = move->rows;

	if (is_pooled) {
		part.rows = store->pool_rows * store->pool_columns;
		rows = store->rows * store->columns;
	}
	if (!job->virgo->watch || !part.rows || !move->columns)
		return;
	part.row_bytes = move->columns * (is_wide ? (uint32_t)sizeof(union lane) : u->type.size);
	add_place(u, move->local, span_of(u, rows, move->columns, u->dim), &part.reads, &part.reads_rows);
	tell(job, &part);
}

void virgo_watch_move(struct virgo_job *job, uint32_t local, uint32_t rows, uint32_t columns, uint64_t to,
		      uint64_t to_stride)
{
	const struct unit *u = job->unit;
	struct virgo_watched part = { .kind = VIRGO_WATCHED_MOVE, .rows = rows * blocks_of(u, columns) };
	uint64_t span = span_of(u, rows, columns, u->dim);

	if (!job->virgo->watch || !part.rows)
		return;
	add_place(u, local, span, &part.reads, &part.reads_rows);
	add_place(u, (uint32_t)to, (span - 1) * to_stride + 1, &part.writes, &part.writes_rows);
	tell(job, &part);
}

static void join(struct virgo_watched_range *all, const struct virgo_watched_range *one)
{
	if (one->first == one->last)
		return;
	if (all->first == all->last) {
		*all = *one;
		return;
	}
	all->first = lesser(all->first, one->first);
	if (one->last > all->last)
		all->last = one->last;
}

void virgo_watch_loop(struct virgo_job *job, const struct loop_blocks *l)
{
	const struct unit *u = job->unit;
	struct virgo_watched part = {
		.kind = VIRGO_WATCHED_MULTIPLY, .passes = l->i * l->j * l->k, .reuse = l->i,
	};
	struct virgo_watched_range none;

	if (!job->virgo->watch)
		return;
	add_place(u, l->a, (uint64_t)l->i * l->k * u->dim, &part.a, &none);
	add_place(u, l->b, (uint64_t)l->j * l->k * u->dim, &part.b, &none);
	add_place(u, l->c | VIRGO_LOCAL_ACCUMULATOR, (uint64_t)l->i * l->j * u->dim, &none, &part.writes_rows);
	part.reads = part.a;
	join(&part.reads, &part.b);
	tell(job, &part);
}

static void add_operand(const struct unit *u, const struct operand *operand, struct virgo_watched_range *bytes,
			struct virgo_watched_range *rows)
{
	if (operand->local != VIRGO_GARBAGE)
		add_place(u, operand->local, operand->rows, bytes, rows);
}

void virgo_watch_pass(struct virgo_job *job, const struct pass *pass)
{
	const struct unit *u = job->unit;
	struct virgo_watched part = { .kind = VIRGO_WATCHED_MULTIPLY, .passes = 1, .reuse = 1 };
	struct virgo_watched_range d = { 0, 0 };

	if (!job->virgo->watch)
		return;
	add_operand(u, &pass->a, &part.a, &part.reads_rows);
	add_operand(u, &pass->preload, &part.b, &part.reads_rows);
	add_operand(u, &pass->bd, &d, &part.reads_rows);
	add_operand(u, &pass->output, &part.writes, &part.writes_rows);
	part.reads = part.a;
	join(&part.reads, &part.b);
	join(&part.reads, &d);
	tell(job, &part);
}

void virgo_watch_executed(struct virgo_job *job, const struct command *command)
{
	const struct virgo_watch *watch = job->virgo->watch;

	if (watch)
		watch->executed(watch->context, job->unit->number, virgo_command_is_loop(command->funct));
}

void virgo_watch_failed(const struct unit *u)
{
	const struct virgo_watch *watch = u->job.virgo->watch;

	if (watch)
		watch->failed(watch->context, u->number);
}

void virgo_watch_reset(const struct unit *u)
{
	const struct virgo_watch *watch = u->job.virgo->watch;

	if (watch)
		watch->reset(watch->context, u->number);
}
