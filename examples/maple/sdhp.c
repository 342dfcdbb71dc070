/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sparse-dense Hadamard product: each element of a sparse matrix times the
 * element of a dense matrix at the same place. The irregular access is
 * dense[place[j]], and MAPLE fetches it.
 *
 * place[j] = (row * columns + column) % dense_count. A dense matrix of more
 * than DENSE_MAX elements is cut there and used again from its start.
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

#define DENSE_MAX (1u << 22)	/* 32 MiB of 8-byte values */
#define BLOCK 16384		/* elements that a thread takes at a time */

struct sdhp {
	const struct csr *a;
	uint32_t *place;
	union csr_value *dense;
	uint64_t dense_count;
	union csr_value *result;
	struct run *run;
};

static union csr_value multiply(enum csr_values kind, union csr_value a, union csr_value b)
{
	union csr_value product;

	if (kind == CSR_INTEGER)
		product.integer = (int64_t)((uint64_t)a.integer * (uint64_t)b.integer);
	else
		product.real = a.real * b.real;
	return product;
}

static uint64_t block_end(const struct sdhp *sdhp, uint64_t begin)
{
	return begin + BLOCK < sdhp->a->nonzeros ? begin + BLOCK : sdhp->a->nonzeros;
}

static void plain_block(const struct sdhp *sdhp, uint64_t begin, uint64_t end)
{
	for (uint64_t j = begin; j < end; j++)
		sdhp->result[j] = multiply(sdhp->a->kind, sdhp->a->value[j], sdhp->dense[sdhp->place[j]]);
}

static int run_plain(void *state)
{
	struct sdhp *sdhp = state;

	for (uint64_t begin = 0; begin < sdhp->a->nonzeros; begin += BLOCK) {
		plain_block(sdhp, begin, block_end(sdhp, begin));
		progress_show(sdhp->run->label, begin, sdhp->a->nonzeros);
	}
	return 0;
}

static int consume_range(const struct sdhp *sdhp, unsigned int queue, uint64_t begin, uint64_t end)
{
	union csr_value fetched[STREAM_BATCH];

	while (begin < end) {
		uint64_t piece = stream_piece(end - begin);
		int error = stream_values(sdhp->run->maple, queue, fetched, piece);

		if (error)
			return error;
		for (uint64_t i = 0; i < piece; i++)
			sdhp->result[begin + i] = multiply(sdhp->a->kind, sdhp->a->value[begin + i], fetched[i]);
		begin += piece;
	}
	return 0;
}

static int access_thread(struct worker *worker)
{
	const struct sdhp *sdhp = worker->context;
	uint64_t blocks = (sdhp->a->nonzeros + BLOCK - 1) / BLOCK;

	for (uint64_t i = worker_block(worker, 0); i < blocks; i = worker_block(worker, i + 1)) {
		uint64_t begin = i * BLOCK;
		ssize_t sent = maple_produce_ptr64_batch(worker->maple, worker_queue(worker, i), sdhp->dense,
							 sdhp->place + begin, block_end(sdhp, begin) - begin,
							 MAPLE_DRAM);

		if (sent < 0)
			return (int)sent;
	}
	return 0;
}

static int execute_thread(struct worker *worker)
{
	const struct sdhp *sdhp = worker->context;
	uint64_t blocks = (sdhp->a->nonzeros + BLOCK - 1) / BLOCK;

	for (uint64_t i = worker_block(worker, 0); i < blocks; i = worker_block(worker, i + 1)) {
		uint64_t begin = i * BLOCK;
		int error = consume_range(sdhp, worker_queue(worker, i), begin, block_end(sdhp, begin));

		if (error)
			return error;
		progress_show(sdhp->run->label, i, blocks);
	}
	return 0;
}

static int start_loop(const struct sdhp *sdhp, uint64_t begin)
{
	uint64_t left = begin < sdhp->a->nonzeros ? sdhp->a->nonzeros - begin : 0;
	uint64_t origin = lima_origin(begin);
	uint64_t end = begin + (left < LIMA_LOOP ? left : LIMA_LOOP);

	if (left == 0)
		return 0;
	return maple_lima_produce64(sdhp->run->maple, 0, sdhp->dense, sdhp->place + origin,
				    (uint32_t)(begin - origin), (uint32_t)(end - origin), MAPLE_DRAM);
}

static int run_lima(void *state)
{
	struct sdhp *sdhp = state;
	uint64_t nonzeros = sdhp->a->nonzeros;
	int error = start_loop(sdhp, 0);

	for (uint64_t begin = 0; !error && begin < nonzeros; begin += LIMA_LOOP) {
		uint64_t end = begin + LIMA_LOOP < nonzeros ? begin + LIMA_LOOP : nonzeros;

		/* The next loop is under way while this one's results are consumed. */
		error = start_loop(sdhp, end);
		if (!error)
			error = consume_range(sdhp, 0, begin, end);
		progress_show(sdhp->run->label, begin, nonzeros);
	}
	return error;
}

/* A speculative LIMA brings a block's elements into the LLC. */
static int prefetch_block(const struct sdhp *sdhp, uint64_t begin)
{
	uint64_t origin = lima_origin(begin);

	if (begin >= sdhp->a->nonzeros)
		return 0;
	return maple_lima(sdhp->run->maple, 0, sdhp->dense, sizeof(*sdhp->dense), sdhp->place + origin,
			  (uint32_t)(begin - origin), (uint32_t)(block_end(sdhp, begin) - origin));
}

static int run_prefetch(void *state)
{
	struct sdhp *sdhp = state;
	int error = prefetch_block(sdhp, 0);

	for (uint64_t begin = 0; !error && begin < sdhp->a->nonzeros; begin += BLOCK) {
		error = prefetch_block(sdhp, begin + BLOCK);
		plain_block(sdhp, begin, block_end(sdhp, begin));
		progress_show(sdhp->run->label, begin, sdhp->a->nonzeros);
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

static int sdhp_run(void *state, struct run *run)
{
	struct sdhp *sdhp = state;
	int error;

	sdhp->run = run;
	/* No result of the form before may pass for this one's. */
	memset(sdhp->result, 0xff, sdhp->a->nonzeros * sizeof(*sdhp->result));
	error = forms_run(&forms, run, sdhp);
	if (error)
		return error;
	run->elements = sdhp->a->nonzeros;
	run->verified = verify_sdhp(sdhp->a, sdhp->dense, sdhp->dense_count, sdhp->result, &run->message);
	return 0;
}

static void sdhp_destroy(void *state)
{
	struct sdhp *sdhp = state;

	array_free(sdhp->place, sdhp->a->nonzeros, sizeof(*sdhp->place));
	array_free(sdhp->dense, sdhp->dense_count, sizeof(*sdhp->dense));
	array_free(sdhp->result, sdhp->a->nonzeros, sizeof(*sdhp->result));
	free(sdhp);
}

static void fill_places(struct sdhp *sdhp)
{
	const struct csr *a = sdhp->a;

	for (uint64_t row = 0; row < a->rows; row++) {
		/* Reduced before columns are added: row * columns alone may fill 64 bits. */
		uint64_t row_place = row * a->columns % sdhp->dense_count;

		for (uint64_t j = a->row_start[row]; j < a->row_start[row + 1]; j++)
			sdhp->place[j] = (uint32_t)((row_place + a->column[j]) % sdhp->dense_count);
	}
}

static void fill_dense(struct sdhp *sdhp, uint64_t seed)
{
	struct random random = { .state = seed };

	for (uint64_t i = 0; i < sdhp->dense_count; i++) {
		if (sdhp->a->kind == CSR_INTEGER)
			sdhp->dense[i].integer = (int64_t)random_below(&random, 2001) - 1000;
		else
			sdhp->dense[i].real = 2 * random_unit(&random) - 1;
	}
}

static uint64_t dense_size(const struct csr *matrix)
{
	uint64_t count;

	if (__builtin_mul_overflow(matrix->rows, matrix->columns, &count) || count > DENSE_MAX)
		return DENSE_MAX;
	return count ? count : 1;
}

static void *sdhp_create(const struct csr *matrix, const struct options *options, struct message *message)
{
	struct sdhp *sdhp = calloc(1, sizeof(*sdhp));

	if (sdhp) {
		sdhp->a = matrix;
		sdhp->dense_count = dense_size(matrix);
		sdhp->place = array_alloc(matrix->nonzeros, sizeof(*sdhp->place));
		sdhp->dense = array_alloc(sdhp->dense_count, sizeof(*sdhp->dense));
		sdhp->result = array_alloc(matrix->nonzeros, sizeof(*sdhp->result));
	}
	if (!sdhp || !sdhp->place || !sdhp->dense || !sdhp->result) {
		message_set(message, -ENOMEM, "out of memory for the dense matrix and the result");
		if (sdhp)
			sdhp_destroy(sdhp);
		return NULL;
	}
	fill_places(sdhp);
	fill_dense(sdhp, options->common.input.seed);
	return sdhp;
}

static unsigned int sdhp_regions(void *state, struct region *regions)
{
	struct sdhp *sdhp = state;

	regions[0] = (struct region){ "the places", sdhp->place, sdhp->a->nonzeros * sizeof(*sdhp->place) };
	regions[1] = (struct region){ "the dense matrix", sdhp->dense, sdhp->dense_count * sizeof(*sdhp->dense) };
	return 2;
}

int main(int argc, char **argv)
{
	static const struct kernel kernel = {
		.name = "sdhp",
		.summary = "Multiplies each element of a sparse matrix by the dense matrix's at its place.",
		.unit = "non-zeros",
		.create = sdhp_create,
		.destroy = sdhp_destroy,
		.regions = sdhp_regions,
		.run = sdhp_run,
	};

	return kernel_main(&kernel, argc, argv);
}
