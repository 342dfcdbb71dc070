/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/array.h"
#include "examples/common/random.h"
#include "examples/maple/loops/task.h"

/* 16 GiB of addresses. Only the pages that hold an element of the sparse matrix take memory. */
#define DENSE_MAX (1ull << 32)

struct sdhp_task {
	const struct csr *matrix;
	struct sdhp_loop loop;
	uint32_t *value, *dense;
};

static uint64_t dense_count(const struct sdhp_task *task)
{
	return task->matrix->rows * task->matrix->columns;
}

static void sdhp_destroy(void *state)
{
	struct sdhp_task *task = state;

	pattern_free(&task->loop.a);
	array_free(task->value, task->matrix->nonzeros, sizeof(*task->value));
	array_free(task->dense, dense_count(task), sizeof(*task->dense));
	array_free(task->loop.result, task->matrix->nonzeros, sizeof(*task->loop.result));
	array_free(task, 1, sizeof(*task));
}

static uint32_t dense_value(uint64_t place)
{
	return 1 + (uint32_t)(random_mix(place) % 1000);
}

static void fill(struct sdhp_task *task)
{
	const struct csr *matrix = task->matrix;

	for (uint64_t row = 0; row < matrix->rows; row++) {
		for (uint64_t j = matrix->row_start[row]; j < matrix->row_start[row + 1]; j++) {
			uint64_t place = row * matrix->columns + matrix->column[j];

			task->dense[place] = dense_value(place);
			task->value[j] = (uint32_t)pattern_value(matrix, j);
		}
	}
}

static void *sdhp_create(const struct csr *matrix, const struct loop_options *options, struct message *message)
{
	struct sdhp_task *task;

	(void)options;
	if (matrix->rows > 0 && matrix->columns > DENSE_MAX / matrix->rows) {
		message_set(message, -EINVAL, "a dense matrix of %" PRIu64 " by %" PRIu64 " is too large", matrix->rows,
			    matrix->columns);
		return NULL;
	}
	task = array_alloc(1, sizeof(*task));
	if (!task) {
		message_set(message, -ENOMEM, "out of memory");
		return NULL;
	}
	task->matrix = matrix;
	if (pattern_make(&task->loop.a, matrix, message)) {
		sdhp_destroy(task);
		return NULL;
	}
	task->value = array_alloc(matrix->nonzeros, sizeof(*task->value));
	task->dense = array_alloc(dense_count(task), sizeof(*task->dense));
	task->loop.result = array_alloc(matrix->nonzeros, sizeof(*task->loop.result));
	if (!task->value || !task->dense || !task->loop.result) {
		message_set(message, -ENOMEM, "out of memory for the dense matrix");
		sdhp_destroy(task);
		return NULL;
	}
	fill(task);
	task->loop.value = task->value;
	task->loop.dense = task->dense;
	return task;
}

static void sdhp_reset(void *state)
{
	struct sdhp_task *task = state;

	memset(task->loop.result, 0, task->matrix->nonzeros * sizeof(*task->loop.result));
}

static bool sdhp_is_decoupled(enum loop_form form)
{
	return form == LOOP_SOFTWARE || form == LOOP_DECOUPLED || form == LOOP_DESC;
}

static void sdhp_run(void *state, const struct loop_part *part)
{
	struct sdhp_task *task = state;
	const struct sdhp_loop *loop = &task->loop;
	uint32_t begin = pattern_share(&loop->a, part->share, part->shares);
	uint32_t end = pattern_share(&loop->a, part->share + 1, part->shares);

	switch (part->form) {
	case LOOP_DOALL:
		return sdhp_doall(loop, begin, end);
	case LOOP_PREFETCH:
		return sdhp_prefetch(loop, begin, end);
	case LOOP_SOFTWARE:
		return (part->is_access ? sdhp_push : sdhp_pop)(loop, begin, end, part->shared);
	case LOOP_DECOUPLED:
	case LOOP_DESC:
		return (part->is_access ? sdhp_access : sdhp_execute)(loop, begin, end, part->maple, part->queue);
	default:
		return sdhp_lima(loop, begin, end, part->maple, part->queue);
	}
}

static bool sdhp_verify(void *state, struct message *message)
{
	struct sdhp_task *task = state;
	const struct csr *matrix = task->matrix;
	uint64_t row = 0;

	for (uint64_t j = 0; j < matrix->nonzeros; j++) {
		uint32_t must;

		while (matrix->row_start[row + 1] <= j)
			row++;
		must = (uint32_t)pattern_value(matrix, j) * dense_value(row * matrix->columns + matrix->column[j]);
		if (task->loop.result[j] == must)
			continue;
		message_set(message, 0, "element %" PRIu64 " (row %" PRIu64 ") is %u, but must be %u", j, row,
			    task->loop.result[j], must);
		return false;
	}
	return true;
}

static uint64_t sdhp_elements(const void *state)
{
	return ((const struct sdhp_task *)state)->matrix->nonzeros;
}

/* The base moves with the row, and DROPLET knows one: it may only bring the indices. */
static void sdhp_indirect(const void *state, struct loop_indirect *indirect)
{
	const struct sdhp_task *task = state;

	*indirect = (struct loop_indirect){ task->loop.a.column, task->matrix->nonzeros, NULL, 0 };
}

const struct loop_kernel sdhp_kernel = {
	.name = "sdhp",
	.unit = "non-zeros",
	.create = sdhp_create,
	.destroy = sdhp_destroy,
	.reset = sdhp_reset,
	.is_decoupled = sdhp_is_decoupled,
	.run = sdhp_run,
	.verify = sdhp_verify,
	.elements = sdhp_elements,
	.indirect = sdhp_indirect,
};
