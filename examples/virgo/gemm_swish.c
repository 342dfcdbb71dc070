/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A dense matrix product fused with an activation, C = swish(A B), as in section 6.2 of
 * the paper: the matrix unit sums up a tile of C while the warps apply the activation
 * to the one before it. Finished tiles go to the warps through the shared memory.
 */
#include <math.h>

#include "examples/common/virgo_plan.h"
#include "examples/common/virgo_program.h"
#include "examples/common/virgo_team.h"

enum form { FORM_PLAIN, FORM_FUSED, FORM_LIBRARY };

/* Shared by the warps. */
struct gemm_swish {
	struct virgo_plan plan;
	void *c;
};

/* --- the unit: one warp drives it ------------------------------------------------------------- */

/* All steps of a tile of C, as in gemm.c: operands are loaded while the step before is multiplied. */
static int sum_up(const struct virgo_plan *plan, size_t tile)
{
	int error = 0;

	for (size_t depth = 0; depth < plan->depths && !error; depth++) {
		struct virgo_step step;

		virgo_plan_step(plan, tile * plan->depths + depth, &step);
		error = virgo_plan_load(plan, &step);
		if (!error)
			error = virgo_fence(plan->virgo, plan->unit);
		if (!error)
			error = virgo_plan_multiply(plan, &step);
	}
	return error;
}

/* A finished tile goes from the accumulator to the shared memory. */
static int hand_over(const struct virgo_plan *plan, size_t tile)
{
	struct virgo_step step;
	int error;

	virgo_plan_step(plan, tile * plan->depths, &step);
	error = virgo_store_shared(plan->virgo, plan->unit, &step.tile, plan->c, VIRGO_NO_ACTIVATION, 1);
	return error ? error : virgo_fence(plan->virgo, plan->unit);
}

/* --- the activation ----------------------------------------------------------------------------- */

static float swish(float x)
{
	return x / (1 + expf(-x));
}

/* Applies the activation to elements that lie side by side in a row of a block, from the shared memory to C. */
static void activate(enum virgo_type type, void *to, const void *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (type == VIRGO_FP16)
			((uint16_t *)to)[i] = virgo_half(swish(virgo_from_half(((const uint16_t *)from)[i])));
		else
			((float *)to)[i] = swish(((const float *)from)[i]);
	}
}

/* The share of worker `number` of `count`. */
static void activate_tile(const struct gemm_swish *g, size_t tile, unsigned int number, unsigned int count)
{
	const struct virgo_plan *plan = &g->plan;
	const struct dense_product *product = plan->product;
	struct virgo_unit_info info;
	struct virgo_step step;

	virgo_unit_info(plan->virgo, plan->unit, &info);
	virgo_plan_step(plan, tile * plan->depths, &step);
	for (size_t row = number; row < step.tile.m; row += count) {
		for (size_t column = 0; column < step.tile.n; column += info.dim) {
			size_t left = step.tile.n - column, at = (step.row + row) * product->n + step.column + column;

			activate(product->type, (char *)g->c + at * info.element_size,
				 virgo_tile_element(plan->virgo, plan->unit, plan->c, step.tile.n, row, column),
				 left < info.dim ? left : info.dim);
		}
	}
}

/* --- together --------------------------------------------------------------------------------------- */

static int warp_fused(struct virgo_warp *warp, void *context)
{
	const struct gemm_swish *g = context;
	const struct virgo_plan *plan = &g->plan;
	size_t tiles = plan->steps / plan->depths;
	/* A team of one does everything; else one drives the unit, and the others activate. */
	unsigned int workers = warp->team->warps > 1 ? warp->team->warps - 1 : 1;
	bool is_driver = warp->number == 0, is_worker = !is_driver || warp->team->warps == 1;
	int error = 0;

	for (size_t tile = 0; tile <= tiles && !error; tile++) {
		if (is_driver && tile < tiles)
			error = sum_up(plan, tile);
		if (is_worker && tile > 0)
			activate_tile(g, tile - 1, warp->number ? warp->number - 1 : 0, workers);
		/* The place of the tile before is free now. */
		error = virgo_warp_meet(warp, error);
		if (is_driver && !error && tile < tiles)
			error = hand_over(plan, tile);
		error = virgo_warp_meet(warp, error);
	}
	return error;
}

static int run_library(struct virgo_run *run)
{
	const struct dense_product *product = &run->task->product;
	const struct virgo_product call = {
		.type = product->type,
		.flags = product->type == VIRGO_FP16 ? VIRGO_NARROW : 0,
		.m = product->m, .n = product->n, .k = product->k,
		.a = product->a, .lda = product->k,
		.b = product->b, .ldb = product->n,
		.c = run->task->c, .ldc = product->n,
		.epilogue = VIRGO_EPILOGUE_SWISH,
	};

	return virgo_gemm(run->virgo, run->task->unit, &call);
}

static int gemm_swish_run(struct virgo_run *run)
{
	const struct virgo_part part = { .number = 0, .count = 1, .has_c = true };
	struct gemm_swish g = { .c = run->task->c };
	int error;

	if (run->form == FORM_LIBRARY)
		return run_library(run);
	error = virgo_plan_make(&g.plan, run->virgo, run->task->unit, &run->task->product, &part, &run->message);
	return error ? error : virgo_team_run(run->virgo, run->threads, warp_fused, &g, &run->message);
}

int main(int argc, char **argv)
{
	static const struct virgo_kernel kernel = {
		.name = "gemm_swish",
		.summary = "Dense matrix product fused with the Swish activation on a Virgo cluster.",
		.offer = {
			.form = { "plain", "fused", "library" },
			.forms = 3,
			.type = { [VIRGO_FP16] = true, [VIRGO_FP32] = true },
			.products = 1,
			.size = { { 512, 512, 512 } },
		},
		.is_swish = true,
		.run = gemm_swish_run,
	};

	return virgo_program_main(&kernel, argc, argv);
}
