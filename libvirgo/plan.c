/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How large tiles are. A tile of C fills the accumulator, or as much of it as the
 * matrix needs; a step in k fills half of the rest of the share. Larger tiles
 * mean fewer moves: an element of A or B is moved once for each tile that it is in.
 */
#include "gemm.h"

#define HALVES 2
/* C takes at most this part of the share: A and B shall not be cut too small. */
#define C_PART 4

enum staging virgo_gemm_staging(const struct virgo_unit *unit, const struct virgo_product *product)
{
	const bool is_narrow = product->flags & VIRGO_NARROW || unit->info.element_size == 4;
	const size_t size = is_narrow ? unit->info.element_size : 4;
	const bool is_swish = product->epilogue == VIRGO_EPILOGUE_SWISH;

	/* A row that is longer than the store's stride can say. */
	if (product->ldc > UINT32_MAX / size)
		return STAGING_MEMORY;
	if (unit->info.type == VIRGO_FP32)
		return is_swish ? STAGING_SHARED : STAGING_NONE;
	/* Sums leave the accumulator without activation. */
	if (is_swish || (!is_narrow && product->epilogue != VIRGO_EPILOGUE_NONE))
		return STAGING_MEMORY;
	return STAGING_NONE;
}

/* Rows of the share. */
static uint32_t rows_of(const struct virgo_unit *unit, const struct virgo_share *share)
{
	return (uint32_t)(share->count * virgo_part_bytes(unit->virgo) / unit->info.row_bytes);
}

size_t virgo_plan_least(const struct virgo_unit *unit, enum staging staging)
{
	const size_t block = (size_t)unit->info.dim * unit->info.row_bytes;

	return block * (staging == STAGING_SHARED ? 2 * C_PART : 2 * HALVES);
}

static size_t smaller(size_t x, size_t y)
{
	return x < y ? x : y;
}

/* As square as it can be within `most` blocks; a short side lets the other one be longer. */
static void choose_tile(struct plan *plan, size_t rows, size_t columns, size_t most)
{
	size_t side = 1;

	while (4 * side * side <= most)
		side *= 2;
	plan->i = smaller(rows, side);
	plan->j = smaller(columns, most / plan->i);
	plan->i = smaller(rows, most / plan->j);
}

static bool place(const struct virgo_unit *unit, const struct virgo_product *product,
		  const struct virgo_share *share, struct plan *plan)
{
	const uint32_t rows = rows_of(unit, share);
	const size_t step = (plan->i + plan->j) * unit->info.dim;
	const size_t depth = virgo_blocks(unit, product->k);

	plan->first = (uint32_t)(share->first * virgo_part_bytes(unit->virgo) / unit->info.row_bytes);
	if (plan->c_rows >= rows)
		return false;
	plan->half = (rows - plan->c_rows) / HALVES;
	plan->k = smaller(plan->half / step, depth ? depth : 1);
	return plan->k != 0;
}

void virgo_plan(const struct virgo_unit *unit, const struct virgo_product *product,
		const struct virgo_share *share, struct plan *plan)
{
	const bool has_c = virgo_gemm_staging(unit, product) == STAGING_SHARED;
	const size_t dim = unit->info.dim, rows = rows_of(unit, share);
	size_t most = unit->info.accumulator_rows / dim;

	if (has_c)
		most = smaller(most, rows / C_PART / dim);
	for (;;) {
		choose_tile(plan, virgo_blocks(unit, product->m), virgo_blocks(unit, product->n), most);
		plan->c_rows = has_c ? (uint32_t)(plan->i * plan->j * dim) : 0;
		if (place(unit, product, share, plan) || most == 1)
			return;
		most /= 2;
	}
}

bool virgo_plan_move(const struct virgo_unit *unit, const struct virgo_product *product,
		     const struct virgo_share *share, struct plan *plan)
{
	struct plan moved = *plan;

	if (!place(unit, product, share, &moved))
		return false;
	*plan = moved;
	return true;
}

int virgo_gemm_sizes(struct virgo *virgo, unsigned int number, const struct virgo_product *product,
		     struct virgo_gemm_sizes *sizes)
{
	const struct virgo_unit *unit;
	struct virgo_share share;
	struct plan plan;
	int error = virgo_find_any(virgo, number, &unit);

	if (!error)
		error = virgo_check_owner(virgo);
	if (error)
		return error;
	if (!product || !sizes)
		return virgo_fail(-EINVAL, "virgo_gemm_sizes: an argument is NULL");
	*sizes = (struct virgo_gemm_sizes){ 0 };
	if (product->type != unit->info.type)
		return virgo_fail(-EINVAL, "virgo_gemm_sizes: unit %u has another type", number);
	if (!product->m || !product->n)
		return 0;
	error = virgo_share_guess(virgo, virgo_plan_least(unit, virgo_gemm_staging(unit, product)), &share);
	if (error)
		return error;
	virgo_plan(unit, product, &share, &plan);
	sizes->m = smaller(plan.i * unit->info.dim, product->m);
	sizes->n = smaller(plan.j * unit->info.dim, product->n);
	sizes->k = smaller(plan.k * unit->info.dim, product->k);
	sizes->shared_bytes = share.count * virgo_part_bytes(virgo);
	return 0;
}
