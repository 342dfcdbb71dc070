/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/attention_plan.h"

#include <errno.h>

/* Rows of shared memory that a matrix takes. */
static size_t rows_of(const struct attention_plan *plan, size_t rows, size_t columns)
{
	return virgo_tile_rows(plan->virgo, plan->unit, rows, columns);
}

/* Q, O and P V; K and V, twice; scores, twice. */
static size_t rows_needed(const struct attention_plan *plan)
{
	size_t head = plan->attention->head;

	return 3 * rows_of(plan, plan->queries, head) + 4 * rows_of(plan, plan->keys, head) +
	       2 * rows_of(plan, plan->queries, plan->keys);
}

/* S and P V must each fit into the accumulator, and all of it into the shared memory. */
static bool choose_tile(struct attention_plan *plan, const struct virgo_unit_info *info)
{
	size_t head = plan->attention->head;

	plan->queries = plan->keys = ATTENTION_PLAN_TILE;
	while (rows_of(plan, plan->queries, head) > info->accumulator_rows && plan->queries > info->dim)
		plan->queries /= 2;
	while (rows_of(plan, plan->queries, plan->keys) > info->accumulator_rows && plan->keys > info->dim)
		plan->keys /= 2;
	/* Keys first: all keys pass once for each tile of queries. */
	while (rows_needed(plan) > info->rows) {
		size_t *side = plan->keys >= plan->queries && plan->keys > info->dim ? &plan->keys : &plan->queries;

		if (*side <= info->dim)
			return false;
		*side /= 2;
	}
	return rows_of(plan, plan->queries, head) <= info->accumulator_rows &&
	       rows_of(plan, plan->queries, plan->keys) <= info->accumulator_rows;
}

static uint32_t take(uint32_t *next, size_t rows)
{
	uint32_t first = *next;

	*next += (uint32_t)rows;
	return first;
}

int attention_plan_make(struct attention_plan *plan, struct virgo *virgo, unsigned int unit,
			const struct attention *attention, struct message *message)
{
	struct virgo_unit_info info;
	int error = virgo_unit_info(virgo, unit, &info);
	size_t head = attention->head;
	uint32_t next = 0;

	if (error)
		return message_set(message, error, "%s", virgo_error_text());
	*plan = (struct attention_plan){ .virgo = virgo, .unit = unit, .dim = info.dim, .attention = attention };
	if (!choose_tile(plan, &info))
		return message_set(message, -ENOSPC, "--head %zu: no tile fits into unit %u: %zu bytes of shared memory, "
				   "%zu of accumulator", head, unit, (size_t)info.rows * info.row_bytes,
				   (size_t)info.accumulator_rows * info.dim * 4);
	plan->query_tiles = (attention->sequence + plan->queries - 1) / plan->queries;
	plan->key_tiles = (attention->sequence + plan->keys - 1) / plan->keys;
	plan->q = take(&next, rows_of(plan, plan->queries, head));
	plan->o = take(&next, rows_of(plan, plan->queries, head));
	plan->pv = take(&next, rows_of(plan, plan->queries, head));
	for (unsigned int i = 0; i < 2; i++) {
		plan->k[i] = take(&next, rows_of(plan, plan->keys, head));
		plan->v[i] = take(&next, rows_of(plan, plan->keys, head));
		plan->s[i] = take(&next, rows_of(plan, plan->queries, plan->keys));
	}
	plan->shared_bytes = (size_t)next * info.row_bytes;
	return 0;
}

static size_t of_tile(size_t all, size_t side, size_t tile)
{
	return all - tile * side < side ? all - tile * side : side;
}

size_t attention_plan_queries(const struct attention_plan *plan, size_t tile)
{
	return of_tile(plan->attention->sequence, plan->queries, tile);
}

size_t attention_plan_keys(const struct attention_plan *plan, size_t tile)
{
	return of_tile(plan->attention->sequence, plan->keys, tile);
}

/* The unit finds its second operand by the row behind it. */
struct virgo_tile attention_plan_scores(const struct attention_plan *plan, size_t queries, size_t keys)
{
	size_t head = plan->attention->head, n = attention_plan_keys(plan, keys);

	return (struct virgo_tile){
		.m = attention_plan_queries(plan, queries), .n = n, .k = head, .a_row = plan->q,
		.b_end = plan->k[keys % 2] + (uint32_t)rows_of(plan, head, n),
	};
}

struct virgo_tile attention_plan_values(const struct attention_plan *plan, size_t queries, size_t keys)
{
	size_t head = plan->attention->head, k = attention_plan_keys(plan, keys);

	return (struct virgo_tile){
		.m = attention_plan_queries(plan, queries), .n = head, .k = k, .a_row = plan->s[keys % 2],
		.b_end = plan->v[keys % 2] + (uint32_t)rows_of(plan, k, head),
	};
}
