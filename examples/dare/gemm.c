/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dense matrix product, C = A B, on DARE, of fp32, bf16 and int8. The matrices are
 * random; or A is a matrix from a file, written out with its zeros.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/dare_matrix.h"
#include "examples/common/dare_program.h"

#define ELEMENTS_MAX (1ull << 26)	/* of a dense matrix from a file */

struct gemm {
	struct dare_program *program;
	size_t m, n, k;
	float *a;		/* fp32 of which the others are made */
	float *b;
	void *a_typed;		/* the device's operand */
	void *b_typed;
	void *c;
	float *right;		/* of the type at hand */
	float *row;		/* of B, for the plain loop */
	double plain_seconds;
};

static void gemm_destroy(void *state)
{
	struct gemm *gemm = state;

	free(gemm->a);
	free(gemm->b);
	free(gemm->right);
	free(gemm->row);
	dare_program_free(gemm->program, gemm->a_typed);
	dare_program_free(gemm->program, gemm->b_typed);
	dare_program_free(gemm->program, gemm->c);
	free(gemm);
}

/* The matrix of the file, with its zeros. Elements that are given twice are added. */
static int fill_from_file(struct gemm *gemm, struct message *message)
{
	struct sparse_matrix sparse;
	int error = sparse_matrix_make(&sparse, &gemm->program->matrix, DARE_CSR, message);

	if (error)
		return error;
	for (size_t row = 0; row < gemm->m; row++) {
		for (uint64_t i = sparse.start[row]; i < sparse.start[row + 1]; i++)
			gemm->a[row * gemm->k + sparse.index[i]] = sparse.value[i];
	}
	sparse_matrix_free(&sparse);
	return 0;
}

static int check_size(size_t rows, size_t columns, struct message *message)
{
	if (rows && columns && rows <= ELEMENTS_MAX / columns)
		return 0;
	return message_set(message, -EINVAL, "%zu by %zu: a dense matrix of that size is %s", rows, columns,
			   rows && columns ? "too large" : "empty");
}

static int choose_size(struct gemm *gemm, struct message *message)
{
	const struct dare_program_options *options = gemm->program->options;
	const struct csr *matrix = &gemm->program->matrix;

	bool has_matrix = gemm->program->has_matrix;
	int error;

	gemm->m = has_matrix ? matrix->rows : options->m;
	gemm->n = has_matrix ? options->columns : options->n;
	gemm->k = has_matrix ? matrix->columns : options->k;
	error = check_size(gemm->m, gemm->k, message);
	if (!error)
		error = check_size(gemm->k, gemm->n, message);
	return error ? error : check_size(gemm->m, gemm->n, message);
}

static int make_operands(struct gemm *gemm, struct message *message)
{
	struct dare_program *program = gemm->program;
	int error = choose_size(gemm, message);

	if (error)
		return error;
	gemm->a = calloc(gemm->m * gemm->k, sizeof(float));
	gemm->b = calloc(gemm->k * gemm->n, sizeof(float));
	gemm->right = calloc(gemm->m * gemm->n, sizeof(float));
	gemm->row = calloc(gemm->n, sizeof(float));
	if (!gemm->a || !gemm->b || !gemm->right || !gemm->row)
		return message_set(message, -ENOMEM, "out of memory for %zu by %zu by %zu", gemm->m, gemm->n, gemm->k);
	gemm->a_typed = dare_program_alloc(program, gemm->m * gemm->k, sizeof(float), "A", message);
	if (gemm->a_typed)
		gemm->b_typed = dare_program_alloc(program, gemm->k * gemm->n, sizeof(float), "B", message);
	if (gemm->b_typed)
		gemm->c = dare_program_alloc(program, gemm->m * gemm->n, sizeof(float), "C", message);
	if (!gemm->c)
		return -ENOMEM;
	dense_fill(gemm->b, gemm->k * gemm->n, ~program->options->common.input.seed);
	if (program->has_matrix)
		return fill_from_file(gemm, message);
	dense_fill(gemm->a, gemm->m * gemm->k, program->options->common.input.seed);
	return 0;
}

static void *gemm_create(struct dare_program *program, struct message *message)
{
	struct gemm *gemm = calloc(1, sizeof(*gemm));

	if (!gemm) {
		message_set(message, -ENOMEM, "out of memory");
		return NULL;
	}
	gemm->program = program;
	if (make_operands(gemm, message)) {
		gemm_destroy(gemm);
		return NULL;
	}
	return gemm;
}

static float largest(const float *values, size_t count)
{
	float most = 0;

	for (size_t i = 0; i < count; i++)
		most = fabsf(values[i]) > most ? fabsf(values[i]) : most;
	return most;
}

/* The matrix in the type: bf16 as near as it gets, int8 scaled so that the largest element is 127. */
static void convert(enum dare_program_type type, const float *from, size_t count, void *to)
{
	float most = largest(from, count), scale = most > 0 ? 127 / most : 0;

	if (type == PROGRAM_FP32)
		memcpy(to, from, count * sizeof(float));
	for (size_t i = 0; i < count && type == PROGRAM_BF16; i++)
		((uint16_t *)to)[i] = dare_bf16(from[i]);
	for (size_t i = 0; i < count && type == PROGRAM_INT8; i++)
		((int8_t *)to)[i] = (int8_t)lrintf(from[i] * scale);
}

static float element(enum dare_program_type type, const void *matrix, size_t i)
{
	if (type == PROGRAM_BF16)
		return dare_from_bf16(((const uint16_t *)matrix)[i]);
	return ((const float *)matrix)[i];
}

/* Products are added in ascending order of k, as the library's manual says. */
static void plain_real(struct gemm *gemm, enum dare_program_type type, const void *a, const void *b)
{
	memset(gemm->right, 0, gemm->m * gemm->n * sizeof(float));
	for (size_t k = 0; k < gemm->k; k++) {
		for (size_t n = 0; n < gemm->n; n++)
			gemm->row[n] = element(type, b, k * gemm->n + n);
		for (size_t m = 0; m < gemm->m; m++) {
			float factor = element(type, a, m * gemm->k + k), *c = gemm->right + m * gemm->n;

			for (size_t n = 0; n < gemm->n; n++)
				c[n] += factor * gemm->row[n];
		}
	}
}

static void plain_integer(struct gemm *gemm, const int8_t *a, const int8_t *b)
{
	uint32_t *right = (uint32_t *)(void *)gemm->right;

	memset(right, 0, gemm->m * gemm->n * sizeof(*right));
	for (size_t m = 0; m < gemm->m; m++) {
		for (size_t k = 0; k < gemm->k; k++) {
			int factor = a[m * gemm->k + k];

			for (size_t n = 0; n < gemm->n; n++)
				right[m * gemm->n + n] += (uint32_t)(factor * b[k * gemm->n + n]);
		}
	}
}

static void run_plain(struct gemm *gemm, enum dare_program_type type)
{
	double started = dare_program_seconds();

	if (type == PROGRAM_INT8)
		plain_integer(gemm, gemm->a_typed, gemm->b_typed);
	else
		plain_real(gemm, type, gemm->a_typed, gemm->b_typed);
	gemm->plain_seconds = dare_program_seconds() - started;
}

static int run_on_device(struct gemm *gemm, enum dare_program_type type)
{
	struct dare *dare = gemm->program->dare;
	size_t m = gemm->m, n = gemm->n, k = gemm->k;

	if (type == PROGRAM_BF16)
		return dare_gemm_bf16(dare, 0, m, n, k, gemm->a_typed, k, gemm->b_typed, n, gemm->c, n);
	if (type == PROGRAM_INT8)
		return dare_gemm_i8(dare, 0, m, n, k, gemm->a_typed, k, gemm->b_typed, n, gemm->c, n);
	return dare_gemm(dare, 0, m, n, k, gemm->a_typed, k, gemm->b_typed, n, gemm->c, n);
}

static bool verify(struct gemm *gemm, struct dare_run *run)
{
	const int32_t *got = gemm->c, *right = (const int32_t *)(const void *)gemm->right;
	size_t count = gemm->m * gemm->n;

	if (run->type != PROGRAM_INT8)
		return verify_equal("C", gemm->c, gemm->right, count, &run->message);
	for (size_t i = 0; i < count; i++) {
		if (got[i] == right[i])
			continue;
		message_set(&run->message, 0, "element %zu of C is %d, but must be %d", i, got[i], right[i]);
		return false;
	}
	return true;
}

static int gemm_run(void *state, struct dare_run *run)
{
	struct gemm *gemm = state;
	double started;
	int error;

	run->macs = (uint64_t)gemm->m * gemm->n * gemm->k;
	convert(run->type, gemm->a, gemm->m * gemm->k, gemm->a_typed);
	convert(run->type, gemm->b, gemm->k * gemm->n, gemm->b_typed);
	run_plain(gemm, run->type);
	run->seconds = gemm->plain_seconds;
	run->verified = true;
	if (run->form == PROGRAM_PLAIN)
		return 0;
	started = dare_program_seconds();
	error = run_on_device(gemm, run->type);
	run->seconds = dare_program_seconds() - started;
	if (error)
		return error;
	run->verified = verify(gemm, run);
	return 0;
}

static void gemm_describe(void *state, char *text, size_t size)
{
	const struct gemm *gemm = state;

	snprintf(text, size, "A is %zu by %zu, B is %zu by %zu", gemm->m, gemm->k, gemm->k, gemm->n);
}

int main(int argc, char **argv)
{
	static const struct dare_kernel kernel = {
		.name = "gemm",
		.summary = "Dense matrix product on DARE.",
		.create = gemm_create,
		.destroy = gemm_destroy,
		.run = gemm_run,
		.describe = gemm_describe,
	};

	return dare_program_main(&kernel, argc, argv);
}
