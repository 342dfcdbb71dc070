/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sparse matrix times dense matrix, C = S D, on DARE: S in blocks of each size, in
 * the baseline form (mld, mst) and in the densified form (mgather, mscatter).
 * D has random elements.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/common/dare_matrix.h"
#include "examples/common/dare_program.h"

struct spmm {
	struct dare_program *program;
	struct sparse_matrix s;
	size_t columns;
	float *d;
	float *c;
	float *right;		/* the right C */
	double plain_seconds;
};

static void spmm_destroy(void *state)
{
	struct spmm *spmm = state;

	dare_program_free(spmm->program, spmm->d);
	dare_program_free(spmm->program, spmm->c);
	free(spmm->right);
	sparse_matrix_free(&spmm->s);
	free(spmm);
}

static int make_operands(struct spmm *spmm, struct message *message)
{
	const struct csr *matrix = &spmm->program->matrix;

	spmm->d = dare_program_alloc(spmm->program, matrix->columns, spmm->columns * sizeof(float), "D", message);
	if (!spmm->d)
		return -ENOMEM;
	spmm->c = dare_program_alloc(spmm->program, matrix->rows, spmm->columns * sizeof(float), "C", message);
	if (!spmm->c)
		return -ENOMEM;
	spmm->right = calloc(matrix->rows + 1, spmm->columns * sizeof(float));
	if (!spmm->right)
		return message_set(message, -ENOMEM, "no memory for the plain loop's result");
	dense_fill(spmm->d, matrix->columns * spmm->columns, spmm->program->options->common.input.seed);
	return 0;
}

static void *spmm_create(struct dare_program *program, struct message *message)
{
	struct spmm *spmm = calloc(1, sizeof(*spmm));
	double started;

	if (!spmm) {
		message_set(message, -ENOMEM, "out of memory");
		return NULL;
	}
	spmm->program = program;
	spmm->columns = program->options->columns;
	if (sparse_matrix_make(&spmm->s, &program->matrix, program->options->layout, message) ||
	    make_operands(spmm, message)) {
		spmm_destroy(spmm);
		return NULL;
	}
	started = dare_program_seconds();
	plain_spmm(&spmm->s, spmm->columns, spmm->d, spmm->right);
	spmm->plain_seconds = dare_program_seconds() - started;
	return spmm;
}

static int run_on_device(struct spmm *spmm, struct dare_run *run)
{
	struct dare *dare = spmm->program->dare;
	double started = dare_program_seconds();
	struct dare_blocks *blocks;
	int error = dare_blockify(&blocks, &spmm->s.place, run->block);

	run->blockify_seconds = dare_program_seconds() - started;
	if (error)
		return error;
	dare_blocks_statistics(blocks, &run->statistics);
	started = dare_program_seconds();
	error = dare_spmm(dare, dare_program_form(run->form), blocks, spmm->s.value, spmm->columns, spmm->d,
			  spmm->columns, spmm->c, spmm->columns);
	run->seconds = dare_program_seconds() - started;
	dare_blocks_free(blocks);
	return error;
}

static int spmm_run(void *state, struct dare_run *run)
{
	struct spmm *spmm = state;
	int error;

	run->macs = spmm->s.nonzeros * spmm->columns;
	if (run->form == PROGRAM_PLAIN) {
		run->seconds = spmm->plain_seconds;
		run->verified = true;
		return 0;
	}
	error = run_on_device(spmm, run);
	if (error)
		return error;
	run->verified = verify_equal("C", spmm->c, spmm->right, spmm->s.place.rows * spmm->columns, &run->message);
	return 0;
}

static void spmm_describe(void *state, char *text, size_t size)
{
	const struct spmm *spmm = state;

	snprintf(text, size, "%zu by %zu, %" PRIu64 " non-zeros; D has %zu columns", spmm->s.place.rows,
		 spmm->s.place.columns, spmm->s.nonzeros, spmm->columns);
}

int main(int argc, char **argv)
{
	static const struct dare_kernel kernel = {
		.name = "spmm",
		.summary = "Sparse matrix times dense matrix on DARE, in blocks, baseline and densified.",
		.is_sparse = true,
		.create = spmm_create,
		.destroy = spmm_destroy,
		.run = spmm_run,
		.describe = spmm_describe,
	};

	return dare_program_main(&kernel, argc, argv);
}
