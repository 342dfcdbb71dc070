/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/array.h"
#include "examples/common/random.h"
#include "examples/common/verify.h"
#include "examples/maple/loops/task.h"

struct spmv_task {
	const struct csr *matrix;
	struct csr integers;	/* the same with the values that the loops have, for the check */
	struct spmv_loop loop;
	uint64_t *x;
};

static void spmv_destroy(void *state)
{
	struct spmv_task *task = state;

	pattern_free(&task->loop.a);
	array_free(task->x, task->matrix->columns, sizeof(*task->x));
	array_free(task->loop.y, task->matrix->rows, sizeof(*task->loop.y));
	csr_free(&task->integers);
	array_free(task, 1, sizeof(*task));
}

static int fill(struct spmv_task *task)
{
	const struct csr *matrix = task->matrix;
	int error = csr_alloc(&task->integers, matrix->rows, matrix->columns, matrix->nonzeros, CSR_INTEGER);

	if (error)
		return error;
	memcpy(task->integers.row_start, matrix->row_start, (matrix->rows + 1) * sizeof(*matrix->row_start));
	memcpy(task->integers.column, matrix->column, matrix->nonzeros * sizeof(*matrix->column));
	for (uint64_t j = 0; j < matrix->nonzeros; j++)
		task->integers.value[j].integer = (int64_t)pattern_value(matrix, j);
	for (uint64_t i = 0; i < matrix->columns; i++)
		task->x[i] = 1 + random_mix(i) % 1000;
	/* The union is as large as its integer, and nothing else is in it. */
	task->loop.value = (const uint64_t *)(const void *)task->integers.value;
	task->loop.x = task->x;
	return 0;
}

static void *spmv_create(const struct csr *matrix, const struct loop_options *options, struct message *message)
{
	struct spmv_task *task = array_alloc(1, sizeof(*task));

	(void)options;
	if (!task) {
		message_set(message, -ENOMEM, "out of memory");
		return NULL;
	}
	task->matrix = matrix;
	if (pattern_make(&task->loop.a, matrix, message)) {
		spmv_destroy(task);
		return NULL;
	}
	task->x = array_alloc(matrix->columns, sizeof(*task->x));
	task->loop.y = array_alloc(matrix->rows, sizeof(*task->loop.y));
	if (!task->x || !task->loop.y || fill(task)) {
		message_set(message, -ENOMEM, "out of memory for the vectors");
		spmv_destroy(task);
		return NULL;
	}
	return task;
}

static void spmv_reset(void *state)
{
	struct spmv_task *task = state;

	memset(task->loop.y, 0xff, task->matrix->rows * sizeof(*task->loop.y));
}

static bool spmv_is_decoupled(enum loop_form form)
{
	return form == LOOP_SOFTWARE || form == LOOP_DECOUPLED || form == LOOP_DESC;
}

static void spmv_run(void *state, const struct loop_part *part)
{
	struct spmv_task *task = state;
	const struct spmv_loop *loop = &task->loop;
	uint32_t begin = pattern_share(&loop->a, part->share, part->shares);
	uint32_t end = pattern_share(&loop->a, part->share + 1, part->shares);

	switch (part->form) {
	case LOOP_DOALL:
		return spmv_doall(loop, begin, end);
	case LOOP_PREFETCH:
		return spmv_prefetch(loop, begin, end);
	case LOOP_SOFTWARE:
		return (part->is_access ? spmv_push : spmv_pop)(loop, begin, end, part->shared);
	case LOOP_DECOUPLED:
	case LOOP_DESC:
		return (part->is_access ? spmv_access : spmv_execute)(loop, begin, end, part->maple, part->queue);
	default:
		return spmv_lima(loop, begin, end, part->maple, part->queue);
	}
}

static bool spmv_verify(void *state, struct message *message)
{
	struct spmv_task *task = state;

	return verify_spmv(&task->integers, (const union csr_value *)(const void *)task->x,
			   (const union csr_value *)(const void *)task->loop.y, message);
}

static uint64_t spmv_elements(const void *state)
{
	return ((const struct spmv_task *)state)->matrix->nonzeros;
}

static void spmv_indirect(const void *state, struct loop_indirect *indirect)
{
	const struct spmv_task *task = state;

	*indirect = (struct loop_indirect){ task->loop.a.column, task->matrix->nonzeros, task->x, sizeof(*task->x) };
}

const struct loop_kernel spmv_kernel = {
	.name = "spmv",
	.unit = "non-zeros",
	.create = spmv_create,
	.destroy = spmv_destroy,
	.reset = spmv_reset,
	.is_decoupled = spmv_is_decoupled,
	.run = spmv_run,
	.verify = spmv_verify,
	.elements = spmv_elements,
	.indirect = spmv_indirect,
};
