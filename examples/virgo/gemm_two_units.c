/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Two dense matrix products of different sizes on a Virgo cluster, as in section 6.3 of
 * the paper: one after the other on one matrix unit, or at once on two units of
 * different sizes. Each unit has half of the shared memory and a warp that drives it.
 */
#include "examples/common/virgo_plan.h"
#include "examples/common/virgo_program.h"
#include "examples/common/virgo_team.h"

enum form { FORM_PLAIN, FORM_SERIAL, FORM_PARALLEL, FORM_LIBRARY };

/* Shared by the warps. */
struct two_units {
	struct virgo_plan plan[VIRGO_PROGRAM_PRODUCTS];
	char *c[VIRGO_PROGRAM_PRODUCTS];
	bool is_parallel;
};

/* One product: as with DMA in gemm.c. */
static int drive(const struct virgo_plan *plan, char *c)
{
	const struct dense_product *product = plan->product;
	size_t size = dense_result_size(product->type);
	int error = 0;

	for (size_t number = 0; number < plan->steps && !error; number++) {
		struct virgo_step step;

		virgo_plan_step(plan, number, &step);
		error = virgo_plan_load(plan, &step);
		if (!error)
			error = virgo_fence(plan->virgo, plan->unit);
		if (!error)
			error = virgo_plan_multiply(plan, &step);
		if (!error && step.is_last)
			error = virgo_dma_store(plan->virgo, plan->unit,
						product->type == VIRGO_FP16 ? VIRGO_NARROW : 0, &step.tile,
						c + (step.row * product->n + step.column) * size, product->n,
						VIRGO_NO_ACTIVATION, 1);
	}
	return error ? error : virgo_fence(plan->virgo, plan->unit);
}

/* The first warps drive, the others wait for them. */
static int warp_two_units(struct virgo_warp *warp, void *context)
{
	const struct two_units *t = context;
	int error = 0;

	for (unsigned int i = 0; i < VIRGO_PROGRAM_PRODUCTS && !error; i++) {
		if (warp->number == (t->is_parallel ? i : 0))
			error = drive(&t->plan[i], t->c[i]);
	}
	return virgo_warp_meet(warp, error);
}

/* The library's way needs no threads: it starts both, then waits for both. */
static int run_library(struct virgo_run *run)
{
	int error = 0, first_error = 0;
	unsigned int started = 0;

	for (; started < run->tasks && !error; started += !error) {
		const struct dense_product *product = &run->task[started].product;
		const struct virgo_product call = {
			.type = product->type,
			.flags = product->type == VIRGO_FP16 ? VIRGO_NARROW : 0,
			.m = product->m, .n = product->n, .k = product->k,
			.a = product->a, .lda = product->k,
			.b = product->b, .ldb = product->n,
			.c = run->task[started].c, .ldc = product->n,
		};

		error = virgo_gemm_start(run->virgo, run->task[started].unit, &call);
	}
	if (error)
		first_error = message_set(&run->message, error, "%s", virgo_error_text());
	for (unsigned int i = 0; i < started; i++) {
		error = virgo_gemm_wait(run->virgo, run->task[i].unit);
		if (error && !first_error)
			first_error = message_set(&run->message, error, "%s", virgo_error_text());
	}
	return first_error;
}

static int two_units_run(struct virgo_run *run)
{
	struct two_units t = { .is_parallel = run->form == FORM_PARALLEL };

	if (run->form == FORM_LIBRARY)
		return run_library(run);
	if (!t.is_parallel)
		run->task[1].unit = run->task[0].unit;
	for (unsigned int i = 0; i < run->tasks; i++) {
		const struct virgo_part part = { .number = t.is_parallel ? i : 0, .count = t.is_parallel ? 2 : 1 };
		int error = virgo_plan_make(&t.plan[i], run->virgo, run->task[i].unit, &run->task[i].product, &part,
					    &run->message);

		if (error)
			return error;
		t.c[i] = run->task[i].c;
	}
	return virgo_team_run(run->virgo, run->threads, warp_two_units, &t, &run->message);
}

int main(int argc, char **argv)
{
	static const struct virgo_kernel kernel = {
		.name = "gemm_two_units",
		.summary = "Two dense matrix products at once, on two matrix units of a Virgo cluster.",
		.offer = {
			.form = { "plain", "serial", "parallel", "library" },
			.forms = 4,
			.type = { [VIRGO_INT8] = true, [VIRGO_FP16] = true, [VIRGO_FP32] = true },
			.products = 2,
			.size = { { 256, 256, 256 }, { 128, 128, 256 } },
		},
		.run = two_units_run,
	};

	return virgo_program_main(&kernel, argc, argv);
}
