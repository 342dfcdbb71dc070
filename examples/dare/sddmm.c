/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sampled product of two dense matrices, P = S .* (A B^T), on DARE: only where the
 * sparse matrix S has elements, in blocks of each size, in the baseline form (mld)
 * and in the densified form (mgather). A and B have random elements.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/common/dare_matrix.h"
#include "examples/common/dare_program.h"

struct sddmm {
	struct dare_program *program;
	struct sparse_matrix s;
	size_t inner;		/* columns of A and B */
	float *a;
	float *b;
	float *p;
	float *right;		/* the right P */
	double plain_seconds;
};

static void sddmm_destroy(void *state)
{
	struct sddmm *sddmm = state;

	dare_program_free(sddmm->program, sddmm->a);
	dare_program_free(sddmm->program, sddmm->b);
	free(sddmm->p);
	free(sddmm->right);
	sparse_matrix_free(&sddmm->s);
	free(sddmm);
}

static int make_operands(struct sddmm *sddmm, struct message *message)
{
	const struct csr *matrix = &sddmm->program->matrix;
	uint64_t seed = sddmm->program->options->common.input.seed;

	sddmm->a = dare_program_alloc(sddmm->program, matrix->rows, sddmm->inner * sizeof(float), "A", message);
	if (!sddmm->a)
		return -ENOMEM;
	sddmm->b = dare_program_alloc(sddmm->program, matrix->columns, sddmm->inner * sizeof(float), "B", message);
	if (!sddmm->b)
		return -ENOMEM;
	sddmm->p = calloc(sddmm->s.nonzeros + 1, sizeof(float));
	sddmm->right = calloc(sddmm->s.nonzeros + 1, sizeof(float));
	if (!sddmm->p || !sddmm->right)
		return message_set(message, -ENOMEM, "no memory for the results");
	dense_fill(sddmm->a, matrix->rows * sddmm->inner, seed);
	dense_fill(sddmm->b, matrix->columns * sddmm->inner, ~seed);
	return 0;
}

static void *sddmm_create(struct dare_program *program, struct message *message)
{
	struct sddmm *sddmm = calloc(1, sizeof(*sddmm));
	double started;

	if (!sddmm) {
		message_set(message, -ENOMEM, "out of memory");
		return NULL;
	}
	sddmm->program = program;
	sddmm->inner = program->options->columns;
	if (sparse_matrix_make(&sddmm->s, &program->matrix, program->options->layout, message) ||
	    make_operands(sddmm, message)) {
		sddmm_destroy(sddmm);
		return NULL;
	}
	started = dare_program_seconds();
	plain_sddmm(&sddmm->s, sddmm->inner, sddmm->a, sddmm->b, sddmm->right);
	sddmm->plain_seconds = dare_program_seconds() - started;
	return sddmm;
}

static int run_on_device(struct sddmm *sddmm, struct dare_run *run)
{
	struct dare *dare = sddmm->program->dare;
	double started = dare_program_seconds();
	struct dare_blocks *blocks;
	int error = dare_blockify(&blocks, &sddmm->s.place, run->block);

	run->blockify_seconds = dare_program_seconds() - started;
	if (error)
		return error;
	dare_blocks_statistics(blocks, &run->statistics);
	started = dare_program_seconds();
	error = dare_sddmm(dare, dare_program_form(run->form), blocks, sddmm->s.value, sddmm->inner, sddmm->a,
			   sddmm->inner, sddmm->b, sddmm->inner, sddmm->p);
	run->seconds = dare_program_seconds() - started;
	dare_blocks_free(blocks);
	return error;
}

static int sddmm_run(void *state, struct dare_run *run)
{
	struct sddmm *sddmm = state;
	int error;

	run->macs = sddmm->s.nonzeros * sddmm->inner;
	if (run->form == PROGRAM_PLAIN) {
		run->seconds = sddmm->plain_seconds;
		run->verified = true;
		return 0;
	}
	error = run_on_device(sddmm, run);
	if (error)
		return error;
	run->verified = verify_equal("P", sddmm->p, sddmm->right, sddmm->s.nonzeros, &run->message);
	return 0;
}

static void sddmm_describe(void *state, char *text, size_t size)
{
	const struct sddmm *sddmm = state;

	snprintf(text, size, "%zu by %zu, %" PRIu64 " non-zeros; A and B have %zu columns", sddmm->s.place.rows,
		 sddmm->s.place.columns, sddmm->s.nonzeros, sddmm->inner);
}

int main(int argc, char **argv)
{
	static const struct dare_kernel kernel = {
		.name = "sddmm",
		.summary = "Product of two dense matrices where a sparse one has elements, on DARE, in blocks, baseline and densified.",
		.is_sparse = true,
		.create = sddmm_create,
		.destroy = sddmm_destroy,
		.run = sddmm_run,
		.describe = sddmm_describe,
	};

	return dare_program_main(&kernel, argc, argv);
}
