/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/virgo_plan.h"

#include <errno.h>

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Rows that two places for A and B, and one for C, take. */
static size_t rows_needed(const struct virgo_plan *plan, bool has_c)
{
	size_t a = virgo_tile_rows(plan->virgo, plan->unit, plan->m, plan->k);
	size_t b = virgo_tile_rows(plan->virgo, plan->unit, plan->k, plan->n);

	return 2 * (a + b) + (has_c ? virgo_tile_rows(plan->virgo, plan->unit, plan->m, plan->n) : 0);
}

/* C must fit into the accumulator, and the operands into the rows; sides are halved, k first. */
static bool choose_tile(struct virgo_plan *plan, const struct virgo_unit_info *info, size_t rows, bool has_c)
{
	plan->m = plan->n = plan->k = VIRGO_PLAN_TILE;
	while (virgo_tile_rows(plan->virgo, plan->unit, plan->m, plan->n) > info->accumulator_rows)
		*(plan->n < plan->m ? &plan->m : &plan->n) /= 2;
	while (rows_needed(plan, has_c) > rows) {
		size_t *side = plan->k > info->dim ? &plan->k : plan->n >= plan->m ? &plan->n : &plan->m;

		if (*side <= info->dim)
			return false;
		*side /= 2;
	}
	return true;
}

int virgo_plan_make(struct virgo_plan *plan, struct virgo *virgo, unsigned int unit,
		    const struct dense_product *product, const struct virgo_part *part, struct message *message)
{
	struct virgo_unit_info info;
	int error = virgo_unit_info(virgo, unit, &info);
	size_t rows;
	uint32_t next;

	if (error)
		return message_set(message, error, "%s", virgo_error_text());
	*plan = (struct virgo_plan){ .virgo = virgo, .unit = unit, .product = product };
	rows = info.rows / part->count;
	if (!choose_tile(plan, &info, rows, part->has_c))
		return message_set(message, -ENOSPC, "unit %u: no tile fits into %zu bytes of shared memory", unit,
				   rows * info.row_bytes);
	next = (uint32_t)(rows * part->number);
	for (unsigned int i = 0; i < 2; i++) {
		plan->a[i] = next;
		plan->b[i] = next + (uint32_t)virgo_tile_rows(virgo, unit, plan->m, plan->k);
		next = plan->b[i] + (uint32_t)virgo_tile_rows(virgo, unit, plan->k, plan->n);
	}
	plan->c = next;
	plan->columns = (product->n + plan->n - 1) / plan->n;
	plan->depths = (product->k + plan->k - 1) / plan->k;
	plan->steps = (product->m + plan->m - 1) / plan->m * plan->columns * plan->depths;
	return 0;
}

void virgo_plan_step(const struct virgo_plan *plan, size_t number, struct virgo_step *step)
{
	const struct dense_product *product = plan->product;
	size_t tile = number / plan->depths, place = number % 2;
	size_t row = tile / plan->columns * plan->m, column = tile % plan->columns * plan->n;
	size_t depth = number % plan->depths * plan->k;

	*step = (struct virgo_step){
		.tile = {
			.m = lesser(plan->m, product->m - row),
			.n = lesser(plan->n, product->n - column),
			.k = lesser(plan->k, product->k - depth),
			.a_row = plan->a[place],
		},
		.b_row = plan->b[place],
		.row = row, .column = column, .depth = depth,
		.is_first = depth == 0,
		.is_last = depth + plan->k >= product->k,
	};
	/* As the command wants it: it finds B by its end. */
	step->tile.b_end = step->b_row +
		(uint32_t)virgo_tile_rows(plan->virgo, plan->unit, step->tile.k, step->tile.n);
}

int virgo_plan_load(const struct virgo_plan *plan, const struct virgo_step *step)
{
	const struct dense_product *product = plan->product;
	size_t size = dense_element_size(product->type);

	return virgo_dma_load(plan->virgo, plan->unit, 0, &step->tile,
			      (const char *)product->a + (step->row * product->k + step->depth) * size, product->k,
			      (const char *)product->b + (step->depth * product->n + step->column) * size, product->n);
}

int virgo_plan_multiply(const struct virgo_plan *plan, const struct virgo_step *step)
{
	int error = virgo_matmul_tile(plan->virgo, plan->unit, step->is_first ? 0 : VIRGO_ADD, &step->tile);

	/* It is to begin now, while we prepare the next. */
	return error ? error : virgo_flush(plan->virgo, plan->unit);
}
