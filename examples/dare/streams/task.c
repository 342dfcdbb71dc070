/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/dare/streams/task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/dare/streams/streams.h"

#define DENSE_MAX (1ull << 26)	/* elements of a dense C */

static const char *const form_names[TASK_FORMS] = { "plain", "2x2", "gsa", "libdare", "libdare-gsa",
							  "libdare-auto" };

const char *task_form_name(enum task_form form)
{
	return form_names[form];
}

bool task_has_form(enum task_kernel kernel, enum task_form form)
{
	if (kernel == TASK_GEMM)
		return form == TASK_PLAIN || form == TASK_2X2 || form == TASK_LIBDARE;
	return form != TASK_2X2;
}

/* --- operands --------------------------------------------------------------------------------- */

/* Zeroed memory that the device reaches directly. NULL with a message. */
static void *allocate(struct dare *dare, size_t items, size_t each, const char *what, struct message *message)
{
	void *memory = NULL;
	size_t elements, bytes;

	if (!__builtin_mul_overflow(items, each, &elements) &&
	    !__builtin_mul_overflow(elements ? elements : 1, sizeof(float), &bytes))
		memory = dare_alloc(dare, bytes);
	if (!memory)
		message_set(message, -ENOMEM, "no memory for %s (%zu rows of %zu)", what, items, each);
	return memory;
}

static int make_results(struct task *task, struct message *message)
{
	size_t rows = task->s.place.rows, columns = task->s.place.columns;

	if (task->kernel == TASK_SDDMM)
		task->results = task->s.nonzeros;
	else if (task->kernel == TASK_SPMM)
		task->results = rows * task->width;
	else if (columns && rows > DENSE_MAX / columns)
		return message_set(message, -EINVAL, "%zu by %zu: a dense matrix of that size is too large", rows,
				   columns);
	else
		task->results = rows * columns;
	task->result = allocate(task->dare, task->results, 1, "the result", message);
	if (!task->result)
		return -ENOMEM;
	task->right = calloc(task->results + 1, sizeof(*task->right));
	return task->right ? 0 : message_set(message, -ENOMEM, "no memory for the plain loop's result");
}

#define GEMM_COLUMNS 16

/* So many columns of C at once, each sum in the order of k. `b` has an element of each behind one another, for each k. */
static void plain_gemm_row(const float *a, const float *b, size_t width, float *sums)
{
	memset(sums, 0, GEMM_COLUMNS * sizeof(*sums));
	for (size_t k = 0; k < width; k++)
		for (unsigned int n = 0; n < GEMM_COLUMNS; n++)
			sums[n] += a[k] * b[GEMM_COLUMNS * k + n];
}

static int plain_gemm(const struct task *task)
{
	size_t rows = task->s.place.rows, columns = task->s.place.columns, width = task->width;
	float *b = calloc(width + 1, GEMM_COLUMNS * sizeof(*b)), sums[GEMM_COLUMNS];

	if (!b)
		return -ENOMEM;
	for (size_t first = 0; first < columns; first += GEMM_COLUMNS) {
		size_t count = columns - first < GEMM_COLUMNS ? columns - first : GEMM_COLUMNS;

		for (size_t n = 0; n < count; n++)
			for (size_t k = 0; k < width; k++)
				b[GEMM_COLUMNS * k + n] = task->b[(first + n) * width + k];
		for (size_t row = 0; row < rows; row++) {
			plain_gemm_row(task->a + row * width, b, width, sums);
			memcpy(task->right + row * columns + first, sums, count * sizeof(*sums));
		}
	}
	free(b);
	return 0;
}

static int compute_right(struct task *task)
{
	task->macs = task->s.nonzeros * task->width;
	if (task->kernel == TASK_SPMM) {
		plain_spmm(&task->s, task->width, task->b, task->right);
	} else if (task->kernel == TASK_SDDMM) {
		plain_sddmm(&task->s, task->width, task->a, task->b, task->right);
	} else {
		task->macs = (uint64_t)task->results * task->width;
		return plain_gemm(task);
	}
	return 0;
}

int task_make(struct task *task, const struct csr *matrix, uint64_t seed, struct message *message)
{
	int error = sparse_matrix_make(&task->s, matrix, DARE_CSR, message);

	if (!error && task->kernel != TASK_SPMM) {
		task->a = allocate(task->dare, matrix->rows, task->width, "A", message);
		error = task->a ? 0 : -ENOMEM;
	}
	if (!error) {
		task->b = allocate(task->dare, matrix->columns, task->width, "B", message);
		error = task->b ? 0 : -ENOMEM;
	}
	if (!error)
		error = make_results(task, message);
	if (error)
		return error;
	if (task->a)
		dense_fill(task->a, matrix->rows * task->width, seed);
	dense_fill(task->b, matrix->columns * task->width, ~seed);
	if (compute_right(task))
		return message_set(message, -ENOMEM, "no memory for the plain loop");
	return 0;
}

void task_free(struct task *task)
{
	dare_free(task->dare, task->a);
	dare_free(task->dare, task->b);
	dare_free(task->dare, task->result);
	free(task->right);
	sparse_matrix_free(&task->s);
}

/* --- measured code ---------------------------------------------------------------------------- */

static void begin(struct task_run *run)
{
	char phase[32];

	snprintf(phase, sizeof(phase), run->block ? "%s-%u" : "%s", form_names[run->form], run->block);
	measure_begin(&run->measure, phase);
}

static void end(struct task_run *run)
{
	measure_end(&run->measure);
}

/* --- the streams ---------------------------------------------------------------------------------- */

/* Memory of one run besides the operands. */
struct scratch {
	struct tiling tiling;
	float *blocks;			/* B x B elements each: S, or P */
	float *d;			/* packed */
	uint64_t *vectors;		/* of addresses */
};

static int make_scratch(struct scratch *scratch, struct task *task, const struct dare_blocks *blocks,
			struct task_run *run)
{
	size_t chunks = chunk_count(task->width);
	int error = tiling_make(&scratch->tiling, blocks, run->form == TASK_GSA, task->code.merge);

	if (error)
		return message_set(&run->message, error, "out of memory for tiles");
	run->tiles = scratch->tiling.start[blocks->block_columns];
	scratch->blocks = allocate(task->dare, dare_blocks_elements(blocks), 1, "the blocks", &run->message);
	scratch->d = allocate(task->dare, packed_d_elements(blocks, task->width), 1, "packed D", &run->message);
	/* An address is as long as two elements. */
	scratch->vectors = allocate(task->dare, run->form == TASK_GSA ? run->tiles * chunks : 0, 2ul * DARE_ROWS,
				    "addresses", &run->message);
	return scratch->blocks && scratch->d && scratch->vectors ? 0 : -ENOMEM;
}

static void free_scratch(struct scratch *scratch, struct task *task)
{
	tiling_free(&scratch->tiling);
	dare_free(task->dare, scratch->blocks);
	dare_free(task->dare, scratch->d);
	dare_free(task->dare, scratch->vectors);
}

static int run_spmm(struct task *task, struct scratch *scratch, struct task_run *run)
{
	const struct dare_blocks *blocks = scratch->tiling.blocks;
	const struct spmm_operands spmm = {
		.tiling = &scratch->tiling, .s = scratch->blocks, .c = task->result, .width = task->width,
		.d = blocks->block == 1 ? task->b : scratch->d, .vectors = scratch->vectors, .code = task->code,
	};
	int error;

	for (uint64_t i = 0; i < task->s.nonzeros; i++)
		scratch->blocks[blocks->position[i]] = task->s.value[i];
	pack_d(scratch->d, blocks, task->b, task->width);
	if (run->form == TASK_GSA)
		vectors_spmm(scratch->vectors, &scratch->tiling, task->result, task->width);
	begin(run);
	error = stream_spmm(task->dare, &spmm);
	end(run);
	return error;
}

static int run_sddmm(struct task *task, struct scratch *scratch, struct task_run *run)
{
	const struct dare_blocks *blocks = scratch->tiling.blocks;
	const struct sddmm_operands sddmm = {
		.tiling = &scratch->tiling, .a = task->a, .b = task->b, .p = scratch->blocks, .width = task->width,
		.vectors = scratch->vectors, .code = task->code,
	};
	int error;

	if (run->form == TASK_GSA)
		vectors_sddmm(scratch->vectors, &scratch->tiling, task->a, task->width);
	begin(run);
	error = stream_sddmm(task->dare, &sddmm);
	end(run);
	/* As libdare does it: the device has no product by elements. */
	for (uint64_t i = 0; i < task->s.nonzeros && !error; i++)
		task->result[i] = task->s.value[i] * scratch->blocks[blocks->position[i]];
	return error;
}

static int run_tiles(struct task *task, const struct dare_blocks *blocks, struct task_run *run)
{
	struct scratch scratch = { 0 };
	int error = make_scratch(&scratch, task, blocks, run);

	if (!error && task->kernel == TASK_SPMM)
		error = run_spmm(task, &scratch, run);
	else if (!error)
		error = run_sddmm(task, &scratch, run);
	free_scratch(&scratch, task);
	return error;
}

static int run_library(struct task *task, const struct dare_blocks *blocks, struct task_run *run)
{
	enum dare_form form = run->form == TASK_LIBDARE_GSA ? DARE_GSA :
			      run->form == TASK_LIBDARE_AUTO ? DARE_AUTO : DARE_BASELINE;
	size_t width = task->width;
	int error;

	begin(run);
	if (task->kernel == TASK_SPMM)
		error = dare_spmm(task->dare, form, blocks, task->s.value, width, task->b, width, task->result, width);
	else
		error = dare_sddmm(task->dare, form, blocks, task->s.value, width, task->a, width, task->b, width,
				   task->result);
	end(run);
	return error;
}

static int run_sparse(struct task *task, struct task_run *run)
{
	struct dare_blocks *blocks;
	int error = dare_blockify(&blocks, &task->s.place, run->block);

	if (error)
		return error;
	dare_blocks_statistics(blocks, &run->statistics);
	if (run->form == TASK_PLAIN || run->form == TASK_GSA)
		error = run_tiles(task, blocks, run);
	else
		error = run_library(task, blocks, run);
	dare_blocks_free(blocks);
	return error;
}

static int run_gemm(struct task *task, struct task_run *run)
{
	size_t rows = task->s.place.rows, columns = task->s.place.columns, width = task->width;
	const struct gemm_operands gemm = { task->a, task->b, task->result, rows, columns, width, task->code };
	int error;

	run->tiles = chunk_count(rows) * chunk_count(columns);
	begin(run);
	if (run->form == TASK_PLAIN)
		error = stream_gemm(task->dare, &gemm);
	else if (run->form == TASK_2X2)
		error = stream_gemm_2x2(task->dare, &gemm);
	else
		error = dare_gemm(task->dare, DARE_TRANSPOSE_B, rows, columns, width, task->a, width, task->b, width,
				  task->result, columns);
	end(run);
	return error;
}

/* --- a run -------------------------------------------------------------------------------------------- */

static void subtract(struct dare_statistics *after, const struct dare_statistics *before)
{
#pragma push_macro("_")
#undef _
#define _(name, meaning) after->name -= before->name;
	DARE_COUNTERS(_)
#pragma pop_macro("_")
}

int task_run(struct task *task, struct task_run *run)
{
	struct dare_statistics before;
	int error = dare_counters(task->dare, &before);

	/* The result of the run before would hide that this one computes nothing. */
	memset(task->result, 0, task->results * sizeof(*task->result));
	if (!error)
		error = task->kernel == TASK_GEMM ? run_gemm(task, run) : run_sparse(task, run);
	if (!error)
		error = dare_counters(task->dare, &run->counters);
	if (error) {
		if (run->message.text[0] == '\0')
			message_set(&run->message, error, "%s",
				    *dare_error_text() ? dare_error_text() : strerror(-error));
		return error;
	}
	subtract(&run->counters, &before);
	run->is_verified = verify_equal("the result", task->result, task->right, task->results, &run->message);
	return 0;
}
