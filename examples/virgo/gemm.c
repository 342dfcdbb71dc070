/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dense matrix product, C = A B, on a matrix unit of a Virgo cluster, as the paper
 * writes it (sections 4.2 and 4.3): host threads stand for warps, the unit works
 * asynchronously on tiles of 64 x 64 x 64, operands are double-buffered in the
 * shared memory, and all meet at the cluster's barrier.
 */
#include <string.h>

#include "examples/common/virgo_plan.h"
#include "examples/common/virgo_program.h"
#include "examples/common/virgo_team.h"

enum form { FORM_PLAIN, FORM_DMA, FORM_COPY, FORM_LIBRARY };

/* Shared by the warps. */
struct gemm {
	struct virgo_plan plan;
	char *c;
};

/* A finished tile of C goes from the accumulator to memory. No thread waits for it here. */
static int store(const struct gemm *gemm, const struct virgo_step *step)
{
	const struct dense_product *product = gemm->plan.product;
	size_t at = step->row * product->n + step->column;

	return virgo_dma_store(gemm->plan.virgo, gemm->plan.unit, product->type == VIRGO_FP16 ? VIRGO_NARROW : 0,
			       &step->tile, gemm->c + at * dense_result_size(product->type), product->n,
			       VIRGO_NO_ACTIVATION, 1);
}

/* --- operands by DMA ----------------------------------------------------------------------- */

/*
 * The paper's kernel with DMA. The load of a step is on its way while the step before
 * it is multiplied; the fence waits for both.
 */
static int drive_dma(const struct gemm *gemm)
{
	const struct virgo_plan *plan = &gemm->plan;
	int error = 0;

	for (size_t number = 0; number < plan->steps && !error; number++) {
		struct virgo_step step;

		virgo_plan_step(plan, number, &step);
		error = virgo_plan_load(plan, &step);
		if (!error)
			error = virgo_fence(plan->virgo, plan->unit);
		if (!error)
			error = virgo_plan_multiply(plan, &step);
		/* Commands of a unit are done in order, so it may be queued at once. */
		if (!error && step.is_last)
			error = store(gemm, &step);
	}
	return error ? error : virgo_fence(plan->virgo, plan->unit);
}

/* One warp drives the unit, the others have nothing to do but to wait for C. */
static int warp_dma(struct virgo_warp *warp, void *context)
{
	return virgo_warp_meet(warp, warp->number == 0 ? drive_dma(context) : 0);
}

/* --- operands by the warps -------------------------------------------------------------------- */

/* Some rows of a matrix to their blocks in shared memory: every warp takes its share. */
static void copy_rows(const struct virgo_warp *warp, const struct virgo_plan *plan, uint32_t local, size_t rows,
		      size_t columns, const char *from, size_t stride)
{
	size_t size = dense_element_size(plan->product->type);
	struct virgo_unit_info info;

	virgo_unit_info(plan->virgo, plan->unit, &info);
	for (size_t row = warp->number; row < rows; row += warp->team->warps) {
		for (size_t column = 0; column < columns; column += info.dim) {
			size_t count = columns - column < info.dim ? columns - column : info.dim;
			char *to = virgo_tile_element(plan->virgo, plan->unit, local, columns, row, column);

			memcpy(to, from + (row * stride + column) * size, count * size);
		}
	}
}

static void copy_step(const struct virgo_warp *warp, const struct virgo_plan *plan, size_t number)
{
	const struct dense_product *product = plan->product;
	size_t size = dense_element_size(product->type);
	struct virgo_step step;

	if (number >= plan->steps)
		return;
	virgo_plan_step(plan, number, &step);
	copy_rows(warp, plan, step.tile.a_row, step.tile.m, step.tile.k,
		  (const char *)product->a + (step.row * product->k + step.depth) * size, product->k);
	copy_rows(warp, plan, step.b_row, step.tile.k, step.tile.n,
		  (const char *)product->b + (step.depth * product->n + step.column) * size, product->n);
}

/*
 * The paper's kernel without DMA: while the unit multiplies a step, all warps copy the
 * operands of the next one. C leaves by DMA, as sums of int8 fit nowhere else.
 */
static int warp_copy(struct virgo_warp *warp, void *context)
{
	const struct gemm *gemm = context;
	const struct virgo_plan *plan = &gemm->plan;
	bool is_driver = warp->number == 0;
	int error;

	copy_step(warp, plan, 0);
	error = virgo_warp_meet(warp, 0);
	for (size_t number = 0; number < plan->steps && !error; number++) {
		struct virgo_step step;

		virgo_plan_step(plan, number, &step);
		if (is_driver)
			error = virgo_plan_multiply(plan, &step);
		copy_step(warp, plan, number + 1);
		if (is_driver && !error && step.is_last)
			error = store(gemm, &step);
		if (is_driver && !error)
			error = virgo_fence(plan->virgo, plan->unit);
		error = virgo_warp_meet(warp, error);
	}
	return error;
}

/* --- by the library --------------------------------------------------------------------------------- */

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
	};

	return virgo_gemm(run->virgo, run->task->unit, &call);
}

static int gemm_run(struct virgo_run *run)
{
	const struct virgo_part all = { .number = 0, .count = 1 };
	struct gemm gemm = { .c = run->task->c };
	int error;

	if (run->form == FORM_LIBRARY)
		return run_library(run);
	error = virgo_plan_make(&gemm.plan, run->virgo, run->task->unit, &run->task->product, &all, &run->message);
	if (error)
		return error;
	return virgo_team_run(run->virgo, run->threads, run->form == FORM_DMA ? warp_dma : warp_copy, &gemm,
			      &run->message);
}

int main(int argc, char **argv)
{
	static const struct virgo_kernel kernel = {
		.name = "gemm",
		.summary = "Dense matrix product on a Virgo cluster, by the paper's kernels and by virgo_gemm.",
		.offer = {
			.form = { "plain", "dma", "copy", "library" },
			.forms = 4,
			.type = { [VIRGO_INT8] = true, [VIRGO_FP16] = true, [VIRGO_FP32] = true },
			.products = 1,
			.size = { { 512, 512, 512 } },
		},
		.run = gemm_run,
	};

	return virgo_program_main(&kernel, argc, argv);
}
