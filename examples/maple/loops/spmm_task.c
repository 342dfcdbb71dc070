/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* B is A, or A transposed where A is not square. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/array.h"
#include "examples/common/verify.h"
#include "examples/maple/loops/task.h"

struct spmm_task {
	struct csr a, b;		/* with the integers that the loops have */
	struct spmm_loop loop;
	uint32_t *room;
	uint64_t *extent;
	uint64_t products;
	unsigned int threads;
	uint64_t *sum[8];		/* of each thread */
};

static void spmm_destroy(void *state)
{
	struct spmm_task *task = state;
	uint64_t room = task->room ? task->room[task->a.rows] : 0;

	for (unsigned int i = 0; i < task->threads; i++)
		array_free(task->sum[i], task->b.columns, sizeof(**task->sum));
	array_free(task->loop.c_column, room, sizeof(*task->loop.c_column));
	array_free(task->loop.c_value, room, sizeof(*task->loop.c_value));
	array_free(task->loop.c_count, task->a.rows, sizeof(*task->loop.c_count));
	array_free(task->room, task->a.rows + 1, sizeof(*task->room));
	array_free(task->extent, task->b.rows, sizeof(*task->extent));
	pattern_free(&task->loop.a);
	pattern_free(&task->loop.b);
	csr_free(&task->a);
	csr_free(&task->b);
	array_free(task, 1, sizeof(*task));
}

static int copy_integers(struct csr *copy, const struct csr *matrix)
{
	int error = csr_alloc(copy, matrix->rows, matrix->columns, matrix->nonzeros, CSR_INTEGER);

	if (error)
		return error;
	memcpy(copy->row_start, matrix->row_start, (matrix->rows + 1) * sizeof(*matrix->row_start));
	memcpy(copy->column, matrix->column, matrix->nonzeros * sizeof(*matrix->column));
	for (uint64_t j = 0; j < matrix->nonzeros; j++)
		copy->value[j].integer = (int64_t)pattern_value(matrix, j);
	return 0;
}

/* A row of C has at most as many elements as products, or as columns. */
static int make_room(struct spmm_task *task, struct message *message)
{
	const struct csr *a = &task->a, *b = &task->b;
	uint64_t room = 0;

	for (uint64_t row = 0; row < a->rows; row++) {
		uint64_t products = 0;

		for (uint64_t j = a->row_start[row]; j < a->row_start[row + 1]; j++)
			products += b->row_start[a->column[j] + 1] - b->row_start[a->column[j]];
		task->products += products;
		room += products < b->columns ? products : b->columns;
		if (room > UINT32_MAX)
			return message_set(message, -EINVAL, "the product is too large for 32-bit positions");
		task->room[row + 1] = (uint32_t)room;
	}
	for (uint64_t row = 0; row < b->rows; row++)
		task->extent[row] = b->row_start[row] | b->row_start[row + 1] << 32;
	task->loop.c_column = array_alloc(room, sizeof(*task->loop.c_column));
	task->loop.c_value = array_alloc(room, sizeof(*task->loop.c_value));
	return 0;
}

static bool make_arrays(struct spmm_task *task, struct message *message)
{
	bool right;

	task->room = array_alloc(task->a.rows + 1, sizeof(*task->room));
	task->extent = array_alloc(task->b.rows, sizeof(*task->extent));
	task->loop.c_count = array_alloc(task->a.rows, sizeof(*task->loop.c_count));
	if (!task->room || !task->extent || !task->loop.c_count)
		return false;
	if (make_room(task, message))
		return false;
	right = task->loop.c_column && task->loop.c_value;
	for (unsigned int i = 0; i < task->threads; i++) {
		task->sum[i] = array_alloc(task->b.columns, sizeof(**task->sum));
		right &= task->sum[i] != NULL;
	}
	return right;
}

static bool make(struct spmm_task *task, const struct csr *matrix, struct message *message)
{
	int error = copy_integers(&task->a, matrix);

	if (!error && matrix->rows == matrix->columns)
		error = copy_integers(&task->b, matrix);
	else if (!error)
		error = csr_transpose(&task->b, &task->a);
	if (error || pattern_make(&task->loop.a, &task->a, message) || pattern_make(&task->loop.b, &task->b, message) ||
	    !make_arrays(task, message))
		return false;
	/* The union is as large as its integer, and nothing else is in it. */
	task->loop.a_value = (const uint64_t *)(const void *)task->a.value;
	task->loop.b_value = (const uint64_t *)(const void *)task->b.value;
	task->loop.extent = task->extent;
	task->loop.room = task->room;
	return true;
}

static void *spmm_create(const struct csr *matrix, const struct loop_options *options, struct message *message)
{
	struct spmm_task *task = array_alloc(1, sizeof(*task));

	message->text[0] = '\0';
	if (task) {
		task->threads = options->threads;
		if (make(task, matrix, message))
			return task;
		spmm_destroy(task);
	}
	if (!message->text[0])
		message_set(message, -ENOMEM, "out of memory for the product");
	return NULL;
}

static void spmm_reset(void *state)
{
	struct spmm_task *task = state;

	for (unsigned int i = 0; i < task->threads; i++)
		memset(task->sum[i], 0, task->b.columns * sizeof(**task->sum));
	memset(task->loop.c_count, 0xff, task->a.rows * sizeof(*task->loop.c_count));
}

/* The sums are read, added to and written, which MAPLE's program leaves to the core (section 5.2). */
static bool spmm_is_decoupled(enum loop_form form)
{
	return form == LOOP_DESC;
}

static void spmm_run(void *state, const struct loop_part *part)
{
	struct spmm_task *task = state;
	const struct spmm_loop *loop = &task->loop;
	uint32_t begin = pattern_share(&loop->a, part->share, part->shares);
	uint32_t end = pattern_share(&loop->a, part->share + 1, part->shares);
	uint64_t *sum = task->sum[part->share];

	switch (part->form) {
	case LOOP_PREFETCH:
		return spmm_prefetch(loop, begin, end, sum);
	case LOOP_DESC:
		if (part->is_access)
			return spmm_supply(loop, begin, end, sum, part->maple, part->queue, part->back);
		return spmm_compute(loop, begin, end, part->maple, part->queue, part->back);
	case LOOP_LIMA:
		return spmm_lima(loop, begin, end, sum, part->maple, part->queue);
	default:
		return spmm_doall(loop, begin, end, sum);
	}
}

static bool spmm_verify(void *state, struct message *message)
{
	struct spmm_task *task = state;
	struct csr c;
	uint64_t at = 0;
	bool right;

	if (csr_alloc(&c, task->a.rows, task->b.columns, task->room[task->a.rows], CSR_INTEGER)) {
		message_set(message, -ENOMEM, "out of memory to verify");
		return false;
	}
	for (uint64_t row = 0; row < c.rows; row++) {
		uint32_t first = task->room[row], count = task->loop.c_count[row];

		if (count > task->room[row + 1] - first) {
			message_set(message, 0, "row %" PRIu64 " has %u elements, which cannot be", row, count);
			csr_free(&c);
			return false;
		}
		memcpy(c.column + at, task->loop.c_column + first, count * sizeof(*c.column));
		memcpy(c.value + at, task->loop.c_value + first, count * sizeof(*c.value));
		at += count;
		c.row_start[row + 1] = at;
	}
	right = verify_spmm(&task->a, &task->b, &c, message);
	csr_free(&c);
	return right;
}

static uint64_t spmm_elements(const void *state)
{
	return ((const struct spmm_task *)state)->products;
}

/* Irregular are the sums, which each thread has of its own: DROPLET may only bring the indices. */
static void spmm_indirect(const void *state, struct loop_indirect *indirect)
{
	const struct spmm_task *task = state;

	*indirect = (struct loop_indirect){ task->loop.b.column, task->b.nonzeros, NULL, 0 };
}

const struct loop_kernel spmm_kernel = {
	.name = "spmm",
	.unit = "products",
	.create = spmm_create,
	.destroy = spmm_destroy,
	.reset = spmm_reset,
	.is_decoupled = spmm_is_decoupled,
	.run = spmm_run,
	.verify = spmm_verify,
	.elements = spmm_elements,
	.indirect = spmm_indirect,
};
