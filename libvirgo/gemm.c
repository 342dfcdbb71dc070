/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Matrix products, tile by tile. Steps are sent as fast as they are taken: the stores
 * wait for the unit by themselves, and it never runs dry. The host does its work
 * on a tile after the first steps of the next one were sent.
 */
#include "gemm.h"

#define STEPS_AHEAD 3		/* that the unit has while the host finishes a tile */
#define STEPS_AT_ONCE 8		/* of a product that are sent one by one, so that the unit begins soon */
#define TILES_UNCHECKED 256	/* until an error is noticed */

struct gemm {
	struct virgo_unit *unit;
	const struct virgo_product *product;
	enum staging staging;
	struct virgo_share share;
	struct plan plan;
	unsigned int half;		/* that the next step loads */
	unsigned int unchecked;		/* tiles */
	unsigned int sent;		/* steps, up to STEPS_AT_ONCE */
	struct copies copies;
	/* A tile that the host has to finish, and when the unit has stored it. */
	bool has_staged;
	struct tile staged;
	uint64_t ticket;
};

static size_t smaller(size_t x, size_t y)
{
	return x < y ? x : y;
}

static size_t c_size(const struct gemm *gemm)
{
	return virgo_result_size(gemm->product);
}

/* --- the host's part ------------------------------------------------------------------- */

static void finish_shared(const struct gemm *gemm)
{
	const struct virgo_product *p = gemm->product;
	const struct virgo_unit *unit = gemm->unit;
	const struct tile *tile = &gemm->staged;
	const size_t dim = unit->info.dim, blocks = virgo_blocks(unit, tile->columns);

	for (size_t row = 0; row < tile->rows; row++) {
		const size_t first = gemm->plan.first + row / dim * blocks * dim + row % dim;
		float *c = (float *)p->c + (tile->row + row) * p->ldc + tile->column;

		for (size_t at = 0; at < tile->columns; at += dim)
			virgo_finish_row(p, c + at,
					 unit->virgo->shared + (first + at) * unit->info.row_bytes,
					 smaller(dim, tile->columns - at));
	}
}

static void finish_memory(const struct gemm *gemm)
{
	const struct virgo_product *p = gemm->product;
	const struct tile *tile = &gemm->staged;
	const size_t size = c_size(gemm);

	for (size_t row = 0; row < tile->rows; row++)
		virgo_finish_row(p, (char *)p->c + ((tile->row + row) * p->ldc + tile->column) * size,
				 (const char *)gemm->unit->workspace + 4 * row * tile->columns,
				 tile->columns);
}

static int finish_staged(struct gemm *gemm)
{
	fenv_t mode;
	int error;

	if (!gemm->has_staged)
		return 0;
	gemm->has_staged = false;
	error = virgo_wait_ticket(gemm->unit, gemm->ticket);
	if (error)
		return error;
	virgo_finish_begin(&mode);
	if (gemm->staging == STAGING_SHARED)
		finish_shared(gemm);
	else
		finish_memory(gemm);
	virgo_finish_end(&mode);
	return 0;
}

/* Sends the commands that move the tile to the host's staging buffer; the tile before has left it. */
static int stage(struct gemm *gemm, const struct tile *tile)
{
	struct virgo_loop loop = {
		.m = tile->rows, .n = tile->columns, .k = 1, .scale = 1,
	};
	int error;

	if (gemm->staging == STAGING_SHARED) {
		loop.flags = VIRGO_NARROW;
		loop.is_stored_shared = true;
		loop.c_row = gemm->plan.first;
	} else {
		loop.c = gemm->unit->workspace;
		loop.ldc = tile->columns;
	}
	error = virgo_put_loop(gemm->unit, &loop);
	if (!error)
		error = virgo_post_buffer(gemm->unit);
	gemm->staged = *tile;
	gemm->ticket = gemm->unit->given;
	gemm->has_staged = true;
	return error;
}

/* --- the share ------------------------------------------------------------------------- */

/* Others may want a part of it, or have left some. */
static int adapt_share(struct gemm *gemm, bool may_cut_anew)
{
	struct virgo_unit *unit = gemm->unit;
	const unsigned int limit = virgo_share_limit(unit->virgo);
	struct virgo_share less = gemm->share;
	struct plan plan = gemm->plan;
	int error;

	if (gemm->share.count <= limit) {
		/* The unit does its commands in order: their tiles may move without a wait. */
		if (!gemm->has_staged && virgo_share_grow(unit, &gemm->share) &&
		    !virgo_plan_move(unit, gemm->product, &gemm->share, &gemm->plan))
			return virgo_fail(-EIO, "a tile does not fit into a larger share");
		return 0;
	}
	less.count = limit;
	if (!may_cut_anew && !virgo_plan_move(unit, gemm->product, &less, &plan))
		return 0;
	error = finish_staged(gemm);
	if (!error)
		error = virgo_wait_all(unit);
	if (error)
		return error;
	virgo_share_shrink(unit, &gemm->share, limit);
	if (!virgo_plan_move(unit, gemm->product, &gemm->share, &gemm->plan))
		virgo_plan(unit, gemm->product, &gemm->share, &gemm->plan);
	return 0;
}

/* --- the unit's part --------------------------------------------------------------------- */

static const void *element(const void *matrix, size_t size, size_t row, size_t column, size_t leading)
{
	return (const char *)matrix + (row * leading + column) * size;
}

static void set_operands(const struct gemm *gemm, struct virgo_loop *loop, const struct tile *tile,
			 size_t at)
{
	const struct virgo_product *p = gemm->product;
	const size_t size = gemm->unit->info.element_size;

	loop->lda = p->lda;
	loop->ldb = p->ldb;
	loop->a = p->flags & VIRGO_TRANSPOSE_A ? element(p->a, size, at, tile->row, p->lda)
					       : element(p->a, size, tile->row, at, p->lda);
	loop->b = p->flags & VIRGO_TRANSPOSE_B ? element(p->b, size, tile->column, at, p->ldb)
					       : element(p->b, size, at, tile->column, p->ldb);
}

static void set_start(const struct gemm *gemm, struct virgo_loop *loop, const struct tile *tile)
{
	const struct virgo_product *p = gemm->product;

	if (p->bias) {
		loop->d = (const char *)p->bias + 4 * tile->column;
	} else if (p->flags & VIRGO_ADD) {
		loop->d = element(p->c, 4, tile->row, tile->column, p->ldc);
		loop->ldd = p->ldc;
	}
}

static void set_end(const struct gemm *gemm, struct virgo_loop *loop, const struct tile *tile)
{
	const struct virgo_product *p = gemm->product;

	loop->c = (char *)p->c + (tile->row * p->ldc + tile->column) * c_size(gemm);
	loop->ldc = p->ldc;
	virgo_copies_use_c(&gemm->copies, loop, tile);
	loop->activation = p->epilogue == VIRGO_EPILOGUE_RELU ? VIRGO_RELU : VIRGO_NO_ACTIVATION;
	if (p->scale != 0)
		loop->scale = p->scale;
}

/* One step in k. */
static int put_step(struct gemm *gemm, const struct tile *tile, size_t at, size_t depth)
{
	const struct virgo_product *p = gemm->product;
	const uint32_t first = gemm->plan.first + gemm->plan.c_rows + gemm->half * gemm->plan.half;
	struct virgo_loop loop = {
		.flags = p->flags & (VIRGO_TRANSPOSE_A | VIRGO_TRANSPOSE_B | VIRGO_NARROW),
		.m = tile->rows, .n = tile->columns, .k = depth,
		.a_row = first, .b_end = first + gemm->plan.half,
		.is_multiplied = true,
		.scale = 1,
	};

	set_operands(gemm, &loop, tile, at);
	virgo_copies_use(gemm->unit, &gemm->copies, &loop, at, tile->column);
	if (at)
		loop.flags |= VIRGO_ADD;
	else
		set_start(gemm, &loop, tile);
	if (at + depth == p->k && gemm->staging == STAGING_NONE)
		set_end(gemm, &loop, tile);
	gemm->half ^= 1;
	return virgo_put_loop(gemm->unit, &loop);
}

/*
 * A unit that has steps to do needs no more at once: they go when the buffer is full. Each
 * time they do, a daemon may have to wake up.
 */
static int send_step(struct gemm *gemm)
{
	if (gemm->sent == STEPS_AT_ONCE)
		return 0;
	gemm->sent++;
	return virgo_post_buffer(gemm->unit);
}

static int multiply_tile(struct gemm *gemm, const struct tile *tile)
{
	const struct virgo_product *p = gemm->product;
	size_t at = 0, depth;
	unsigned int steps = 0;
	int error = 0;

	for (; at < p->k && !error; at += depth) {
		if (at)
			error = adapt_share(gemm, false);
		depth = smaller(gemm->plan.k * gemm->unit->info.dim, p->k - at);
		if (!error)
			error = put_step(gemm, tile, at, depth);
		if (!error)
			error = send_step(gemm);
		if (!error && ++steps == STEPS_AHEAD)
			error = finish_staged(gemm);
	}
	if (!error)
		error = finish_staged(gemm);
	if (!error && gemm->staging != STAGING_NONE)
		error = stage(gemm, tile);
	return error;
}

/*
 * After an error the unit drops all later commands, so sending them is of no use. But a
 * check waits until the unit has taken all that was sent, so that its queue nearly runs dry.
 */
static int look_for_errors(struct gemm *gemm)
{
	if (++gemm->unchecked < TILES_UNCHECKED)
		return 0;
	gemm->unchecked = 0;
	return virgo_check_error(gemm->unit);
}

static int multiply_row(struct gemm *gemm, struct tile *tile, size_t end)
{
	int error = 0;

	for (; tile->column < end && !error; tile->column += tile->columns) {
		/* Only so far as this row of tiles fits into it. */
		error = adapt_share(gemm, false);
		tile->columns = smaller(gemm->plan.j * gemm->unit->info.dim, end - tile->column);
		if (!error)
			error = multiply_tile(gemm, tile);
		if (!error)
			error = look_for_errors(gemm);
	}
	return error ? error : adapt_share(gemm, true);
}

/* From `column` to `end`, all rows. */
static int multiply_columns(struct gemm *gemm, size_t column, size_t end)
{
	const struct virgo_product *p = gemm->product;
	struct tile tile;
	int error = virgo_copies_next_columns(gemm->unit, &gemm->copies, column);

	for (tile.row = 0; tile.row < p->m && !error; tile.row += tile.rows) {
		tile.rows = smaller(gemm->plan.i * gemm->unit->info.dim, p->m - tile.row);
		tile.rows = smaller(tile.rows, gemm->copies.rows);
		tile.column = column;
		error = virgo_copies_next_row(gemm->unit, &gemm->copies, &tile, end);
		if (!error)
			error = multiply_row(gemm, &tile, end);
	}
	return error;
}

static int multiply_tiles(struct gemm *gemm)
{
	const size_t n = gemm->product->n, columns = gemm->copies.columns;
	int error = 0;

	for (size_t column = 0; column < n && !error; column += columns)
		error = multiply_columns(gemm, column, smaller(n, column + columns));
	if (!error)
		error = finish_staged(gemm);
	if (!error)
		error = virgo_wait_all(gemm->unit);
	if (!error)
		virgo_copies_end(&gemm->copies);
	return error;
}

static int make_workspace(struct gemm *gemm)
{
	struct virgo_unit *unit = gemm->unit;
	const size_t size = (size_t)unit->info.accumulator_rows * unit->info.dim * 4;

	if (gemm->staging != STAGING_MEMORY || unit->workspace)
		return 0;
	unit->workspace = mimic_library_alloc(unit->virgo->device, size);
	return unit->workspace ? 0 : virgo_fail(-ENOMEM, "virgo_gemm: no memory for a tile");
}

static int multiply(struct gemm *gemm)
{
	int error = multiply_tiles(gemm);

	/* The product's own error goes with it; its text stays. */
	if (error)
		virgo_forget_error(gemm->unit);
	return error;
}

/* Without any k. */
static int finish_empty(const struct virgo_product *product)
{
	fenv_t mode;
	int error = virgo_finish_check(product);

	if (error)
		return error;
	virgo_finish_begin(&mode);
	virgo_finish_empty(product);
	virgo_finish_end(&mode);
	return 0;
}

int virgo_gemm_run(struct virgo_unit *unit, const struct virgo_product *product)
{
	struct gemm gemm = {
		.unit = unit, .product = product, .staging = virgo_gemm_staging(unit, product),
	};
	int error = virgo_wait_all(unit);

	if (error || !product->m || !product->n)
		return error;
	if (!product->k)
		return finish_empty(product);
	if (gemm.staging != STAGING_NONE)
		error = virgo_finish_check(product);
	/* If commands were dropped it is not known which half is the first one now. */
	if (!error && unit->uses_halves)
		error = virgo_reset_unit(unit);
	if (!error)
		error = make_workspace(&gemm);
	if (!error)
		error = virgo_share_take(unit, virgo_plan_least(unit, gemm.staging), &gemm.share);
	if (error)
		return error;
	virgo_plan(unit, product, &gemm.share, &gemm.plan);
	virgo_copies_begin(unit, product, &gemm.plan, gemm.staging, &gemm.copies);
	error = multiply(&gemm);
	virgo_share_give_back(unit, &gemm.share);
	return error;
}
