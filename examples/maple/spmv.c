/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sparse matrix times dense vector: y = A x. The irregular access is
 * x[column[j]]; MAPLE fetches it, and the program reads the rest in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/array.h"
#include "examples/common/forms.h"
#include "examples/common/kernel.h"
#include "examples/common/progress.h"
#include "examples/common/random.h"
#include "examples/common/stream.h"
#include "examples/common/verify.h"

#define BLOCK 16384	/* elements that a thread takes at a time */

struct spmv {
	const struct csr *a;
	struct csr_blocks blocks;
	union csr_value *x;
	union csr_value *y;
	struct run *run;
};

/* Unfinished sums: the row, the position, and the value so far. */
struct sums {
	const struct csr *a;
	union csr_value *y;
	uint64_t row;
	uint64_t next;		/* element */
	union csr_value sum;
};

static void sums_start(struct sums *sums, const struct spmv *spmv, uint64_t first_row)
{
	memset(sums, 0, sizeof(*sums));
	sums->a = spmv->a;
	sums->y = spmv->y;
	sums->row = first_row;
	sums->next = spmv->a->row_start[first_row];
}

/* Stores the rows that are complete, empty ones too, up to `end_row`. */
static void sums_store(struct sums *sums, uint64_t end_row)
{
	while (sums->row < end_row && sums->a->row_start[sums->row + 1] == sums->next) {
		sums->y[sums->row++] = sums->sum;
		memset(&sums->sum, 0, sizeof(sums->sum));
	}
}

static void sums_add_integers(struct sums *sums, const union csr_value *x, uint64_t count)
{
	const union csr_value *value = sums->a->value + sums->next;
	uint64_t sum = (uint64_t)sums->sum.integer;

	/* Unsigned, because a sum may overflow. */
	for (uint64_t i = 0; i < count; i++)
		sum += (uint64_t)value[i].integer * (uint64_t)x[i].integer;
	sums->sum.integer = (int64_t)sum;
}

static void sums_add_reals(struct sums *sums, const union csr_value *x, uint64_t count)
{
	const union csr_value *value = sums->a->value + sums->next;
	double sum = sums->sum.real;

	for (uint64_t i = 0; i < count; i++)
		sum += value[i].real * x[i].real;
	sums->sum.real = sum;
}

/* The next `count` elements, of which x[] was fetched. */
static void sums_add(struct sums *sums, const union csr_value *x, uint64_t count)
{
	while (count > 0) {
		uint64_t row_left, piece;

		sums_store(sums, sums->a->rows);
		row_left = sums->a->row_start[sums->row + 1] - sums->next;
		piece = row_left < count ? row_left : count;
		if (sums->a->kind == CSR_INTEGER)
			sums_add_integers(sums, x, piece);
		else
			sums_add_reals(sums, x, piece);
		sums->next += piece;
		x += piece;
		count -= piece;
	}
}

static int consume_until(struct sums *sums, struct maple *maple, unsigned int queue, uint64_t end)
{
	union csr_value x[STREAM_BATCH];

	while (sums->next < end) {
		uint64_t piece = stream_piece(end - sums->next);
		int error = stream_values(maple, queue, x, piece);

		if (error)
			return error;
		sums_add(sums, x, piece);
	}
	return 0;
}

static void plain_rows(const struct spmv *spmv, uint64_t first_row, uint64_t end_row)
{
	const struct csr *a = spmv->a;

	for (uint64_t row = first_row; row < end_row; row++) {
		union csr_value sum = { 0 };

		if (a->kind == CSR_INTEGER) {
			uint64_t integer = 0;

			for (uint64_t j = a->row_start[row]; j < a->row_start[row + 1]; j++)
				integer += (uint64_t)a->value[j].integer * (uint64_t)spmv->x[a->column[j]].integer;
			sum.integer = (int64_t)integer;
		} else {
			for (uint64_t j = a->row_start[row]; j < a->row_start[row + 1]; j++)
				sum.real += a->value[j].real * spmv->x[a->column[j]].real;
		}
		spmv->y[row] = sum;
	}
}

static int run_plain(void *state)
{
	struct spmv *spmv = state;

	for (uint64_t i = 0; i < spmv->blocks.count; i++) {
		plain_rows(spmv, spmv->blocks.first_row[i], spmv->blocks.first_row[i + 1]);
		progress_show(spmv->run->label, i, spmv->blocks.count);
	}
	return 0;
}

/* The access thread sends the columns of its blocks; the device fetches x of them. */
static int access_thread(struct worker *worker)
{
	const struct spmv *spmv = worker->context;
	const struct csr *a = spmv->a;

	for (uint64_t i = worker_block(worker, 0); i < spmv->blocks.count; i = worker_block(worker, i + 1)) {
		uint64_t begin = a->row_start[spmv->blocks.first_row[i]];
		uint64_t end = a->row_start[spmv->blocks.first_row[i + 1]];
		ssize_t sent = maple_produce_ptr64_batch(worker->maple, worker_queue(worker, i), spmv->x,
							 a->column + begin, end - begin, MAPLE_DRAM);

		if (sent < 0)
			return (int)sent;
	}
	return 0;
}

static int execute_thread(struct worker *worker)
{
	const struct spmv *spmv = worker->context;

	for (uint64_t i = worker_block(worker, 0); i < spmv->blocks.count; i = worker_block(worker, i + 1)) {
		uint64_t end_row = spmv->blocks.first_row[i + 1];
		struct sums sums;
		int error;

		sums_start(&sums, spmv, spmv->blocks.first_row[i]);
		error = consume_until(&sums, worker->maple, worker_queue(worker, i), spmv->a->row_start[end_row]);
		if (error)
			return error;
		sums_store(&sums, end_row);
		progress_show(spmv->run->label, i, spmv->blocks.count);
	}
	return 0;
}

/* One operation: the device reads the columns and fetches x of them by itself. */
static int start_loop(const struct spmv *spmv, uint64_t begin)
{
	const struct csr *a = spmv->a;
	uint64_t end = begin + LIMA_LOOP < a->nonzeros ? begin + LIMA_LOOP : a->nonzeros;
	uint64_t origin = lima_origin(begin);

	if (begin >= end)
		return 0;
	return maple_lima_produce64(spmv->run->maple, 0, spmv->x, a->column + origin,
				    (uint32_t)(begin - origin), (uint32_t)(end - origin), MAPLE_DRAM);
}

static int run_lima(void *state)
{
	struct spmv *spmv = state;
	const struct csr *a = spmv->a;
	struct sums sums;
	int error;

	sums_start(&sums, spmv, 0);
	error = start_loop(spmv, 0);
	for (uint64_t begin = 0; !error && begin < a->nonzeros; begin += LIMA_LOOP) {
		uint64_t end = begin + LIMA_LOOP < a->nonzeros ? begin + LIMA_LOOP : a->nonzeros;

		/* The next loop is under way while this one's results are consumed. */
		error = start_loop(spmv, end);
		if (!error)
			error = consume_until(&sums, spmv->run->maple, 0, end);
		progress_show(spmv->run->label, begin, a->nonzeros);
	}
	sums_store(&sums, a->rows);
	return error;
}

/* A speculative LIMA brings x of a whole block into the LLC, one block ahead of the plain loop. */
static int prefetch_block(const struct spmv *spmv, uint64_t block)
{
	const struct csr *a = spmv->a;
	uint64_t begin, end, origin;

	if (block >= spmv->blocks.count)
		return 0;
	begin = a->row_start[spmv->blocks.first_row[block]];
	end = a->row_start[spmv->blocks.first_row[block + 1]];
	origin = lima_origin(begin);
	if (begin == end)
		return 0;
	return maple_lima(spmv->run->maple, 0, spmv->x, sizeof(*spmv->x), a->column + origin,
			  (uint32_t)(begin - origin), (uint32_t)(end - origin));
}

static int run_prefetch(void *state)
{
	struct spmv *spmv = state;
	int error = prefetch_block(spmv, 0);

	for (uint64_t i = 0; !error && i < spmv->blocks.count; i++) {
		error = prefetch_block(spmv, i + 1);
		plain_rows(spmv, spmv->blocks.first_row[i], spmv->blocks.first_row[i + 1]);
		progress_show(spmv->run->label, i, spmv->blocks.count);
	}
	return error;
}

static const struct forms forms = {
	.plain = run_plain,
	.access = access_thread,
	.execute = execute_thread,
	.lima = run_lima,
	.prefetch = run_prefetch,
	.lima_queues = 1,
};

static int spmv_run(void *state, struct run *run)
{
	struct spmv *spmv = state;
	int error;

	spmv->run = run;
	/* No result of the form before may pass for this one's. */
	memset(spmv->y, 0xff, spmv->a->rows * sizeof(*spmv->y));
	error = forms_run(&forms, run, spmv);
	if (error)
		return error;
	run->elements = spmv->a->nonzeros;
	run->verified = verify_spmv(spmv->a, spmv->x, spmv->y, &run->message);
	return 0;
}

static void spmv_destroy(void *state)
{
	struct spmv *spmv = state;

	array_free(spmv->x, spmv->a->columns, sizeof(*spmv->x));
	array_free(spmv->y, spmv->a->rows, sizeof(*spmv->y));
	csr_blocks_free(&spmv->blocks);
	free(spmv);
}

static void fill_vector(struct spmv *spmv, uint64_t seed)
{
	struct random random = { .state = seed };

	for (uint64_t i = 0; i < spmv->a->columns; i++) {
		if (spmv->a->kind == CSR_INTEGER)
			spmv->x[i].integer = (int64_t)random_below(&random, 2001) - 1000;
		else
			spmv->x[i].real = 2 * random_unit(&random) - 1;
	}
}

static void *spmv_create(const struct csr *matrix, const struct options *options, struct message *message)
{
	struct spmv *spmv = calloc(1, sizeof(*spmv));

	if (spmv) {
		spmv->a = matrix;
		spmv->x = array_alloc(matrix->columns, sizeof(*spmv->x));
		spmv->y = array_alloc(matrix->rows, sizeof(*spmv->y));
	}
	if (!spmv || !spmv->x || !spmv->y || csr_blocks_make(&spmv->blocks, matrix->row_start, matrix->rows, BLOCK)) {
		message_set(message, -ENOMEM, "out of memory for the vectors");
		if (spmv)
			spmv_destroy(spmv);
		return NULL;
	}
	fill_vector(spmv, options->common.input.seed);
	return spmv;
}

static unsigned int spmv_regions(void *state, struct region *regions)
{
	struct spmv *spmv = state;

	regions[0] = (struct region){ "the columns", spmv->a->column, spmv->a->nonzeros * sizeof(*spmv->a->column) };
	regions[1] = (struct region){ "x", spmv->x, spmv->a->columns * sizeof(*spmv->x) };
	return 2;
}

int main(int argc, char **argv)
{
	static const struct kernel kernel = {
		.name = "spmv",
		.summary = "Multiplies a sparse matrix by a dense vector, y = A x.",
		.unit = "non-zeros",
		.create = spmv_create,
		.destroy = spmv_destroy,
		.regions = spmv_regions,
		.run = spmv_run,
	};

	return kernel_main(&kernel, argc, argv);
}
