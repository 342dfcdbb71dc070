/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sparse matrix times sparse matrix, C = A B, row by row (Gustavson): row i of
 * C is the sum of the rows k of B, each times A's element (i, k).
 *
 * Two accesses are irregular. The sums of a row are read, changed and written,
 * which cannot be left to another engine. The rows of B can: MAPLE fetches
 * their columns and values, and the program adds them up. B is A, or A
 * transposed where A is not square.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/adder.h"
#include "examples/common/forms.h"
#include "examples/common/kernel.h"
#include "examples/common/progress.h"
#include "examples/common/stream.h"
#include "examples/common/verify.h"

#define BLOCK 16384	/* products that a thread takes at a time */

/* Where a row of C lies. */
struct row_place {
	unsigned int adder;
	uint64_t start;
	uint64_t count;
};

struct spmm {
	const struct csr *a;
	const struct csr *b;
	struct csr transposed;
	uint64_t *products;		/* before each row; rows + 1 */
	struct csr_blocks blocks;
	struct adder *adders;		/* one for each execute thread */
	unsigned int adder_count;
	struct row_place *rows;
	uint32_t *packed;		/* lima: places in B, two loops of them */
	struct run *run;
};

/* A place among the products of some rows of A. */
struct cursor {
	uint64_t row;
	uint64_t end_row;
	uint64_t a;		/* element of A */
	uint64_t b;		/* element of B */
	uint64_t b_end;
};

static void cursor_load(const struct spmm *spmm, struct cursor *cursor)
{
	uint32_t k;

	if (cursor->a >= spmm->a->row_start[cursor->end_row])
		return;
	k = spmm->a->column[cursor->a];
	cursor->b = spmm->b->row_start[k];
	cursor->b_end = spmm->b->row_start[k + 1];
}

static struct cursor cursor_start(const struct spmm *spmm, uint64_t row, uint64_t end_row)
{
	struct cursor cursor = { .row = row, .end_row = end_row, .a = spmm->a->row_start[row] };

	cursor_load(spmm, &cursor);
	return cursor;
}

/* Elements of one row of B, at most `limit`, from cursor->b. 0: no more at all. */
static uint64_t cursor_piece(const struct spmm *spmm, struct cursor *cursor, uint64_t limit)
{
	uint64_t a_end = spmm->a->row_start[cursor->end_row], left;

	while (cursor->a < a_end && cursor->b == cursor->b_end) {
		cursor->a++;
		cursor_load(spmm, cursor);
	}
	if (cursor->a >= a_end)
		return 0;
	left = cursor->b_end - cursor->b;
	return left < limit ? left : limit;
}

/* Lists the places in B of the next products, up to `room`; returns how many. */
static uint64_t pack(const struct spmm *spmm, struct cursor *cursor, uint32_t *places, uint64_t room)
{
	uint64_t count = 0, piece;

	while (count < room && (piece = cursor_piece(spmm, cursor, room - count)) > 0) {
		for (uint64_t i = 0; i < piece; i++)
			places[count + i] = (uint32_t)(cursor->b + i);
		cursor->b += piece;
		count += piece;
	}
	return count;
}

/* Moves the sums of a complete row to C. */
static int finish_row(struct spmm *spmm, struct adder *adder, uint64_t row)
{
	struct row_place *place = &spmm->rows[row];

	place->adder = (unsigned int)(adder - spmm->adders);
	place->start = adder->count;
	place->count = adder->touched_count;
	return adder_finish_row(adder);
}

/* Finishes the rows before `row`. */
static int finish_rows(struct spmm *spmm, struct adder *adder, struct cursor *cursor, uint64_t row)
{
	while (cursor->row < row) {
		int error = finish_row(spmm, adder, cursor->row);

		if (error)
			return error;
		cursor->row++;
	}
	return 0;
}

/* The row of A that element cursor->a is in. */
static uint64_t cursor_row(const struct spmm *spmm, const struct cursor *cursor)
{
	uint64_t row = cursor->row;

	while (spmm->a->row_start[row + 1] <= cursor->a)
		row++;
	return row;
}

/* The next `count` products, of which B's columns and values are given. */
static int add_products(struct spmm *spmm, struct adder *adder, struct cursor *cursor, const uint32_t *columns,
			const union csr_value *values, uint64_t count)
{
	while (count > 0) {
		uint64_t piece = cursor_piece(spmm, cursor, count);
		union csr_value a = spmm->a->value[cursor->a];
		int error = finish_rows(spmm, adder, cursor, cursor_row(spmm, cursor));

		if (error)
			return error;
		for (uint64_t i = 0; i < piece; i++)
			adder_add(adder, spmm->a->kind, cursor->row, columns[i], a, values[i]);
		cursor->b += piece;
		columns += piece;
		values += piece;
		count -= piece;
	}
	return 0;
}

static int plain_rows(struct spmm *spmm, struct adder *adder, uint64_t row, uint64_t end_row)
{
	const struct csr *a = spmm->a, *b = spmm->b;

	for (; row < end_row; row++) {
		int error;

		for (uint64_t i = a->row_start[row]; i < a->row_start[row + 1]; i++) {
			uint32_t k = a->column[i];

			for (uint64_t j = b->row_start[k]; j < b->row_start[k + 1]; j++)
				adder_add(adder, a->kind, row, b->column[j], a->value[i], b->value[j]);
		}
		error = finish_row(spmm, adder, row);
		if (error)
			return error;
	}
	return 0;
}

static int run_plain(void *state)
{
	struct spmm *spmm = state;

	for (uint64_t i = 0; i < spmm->blocks.count; i++) {
		int error = plain_rows(spmm, &spmm->adders[0], spmm->blocks.first_row[i],
				       spmm->blocks.first_row[i + 1]);

		if (error)
			return error;
		progress_show(spmm->run->label, i, spmm->blocks.count);
	}
	return 0;
}

/* Columns, then values, of the same places, in one queue: 32-bit words and 64-bit values mix freely. */
static int send_places(struct worker *worker, unsigned int queue, const uint32_t *places, uint64_t count)
{
	const struct spmm *spmm = worker->context;
	ssize_t sent = maple_produce_ptr32_batch(worker->maple, queue, spmm->b->column, places, count, MAPLE_DRAM);

	if (sent < 0)
		return (int)sent;
	sent = maple_produce_ptr64_batch(worker->maple, queue, spmm->b->value, places, count, MAPLE_DRAM);
	return sent < 0 ? (int)sent : 0;
}

static int access_thread(struct worker *worker)
{
	const struct spmm *spmm = worker->context;
	uint32_t places[STREAM_BATCH];

	for (uint64_t i = worker_block(worker, 0); i < spmm->blocks.count; i = worker_block(worker, i + 1)) {
		struct cursor cursor = cursor_start(spmm, spmm->blocks.first_row[i], spmm->blocks.first_row[i + 1]);
		uint64_t count;

		while ((count = pack(spmm, &cursor, places, STREAM_BATCH)) > 0) {
			int error = send_places(worker, worker_queue(worker, i), places, count);

			if (error)
				return error;
		}
	}
	return 0;
}

/* Takes `count` products in batches. A batch's columns are in one queue before its values, or in another. */
static int consume_products(struct spmm *spmm, struct adder *adder, struct cursor *cursor,
			    unsigned int column_queue, unsigned int value_queue, uint64_t count)
{
	union csr_value values[STREAM_BATCH];
	uint32_t columns[STREAM_BATCH];

	while (count > 0) {
		uint64_t piece = stream_piece(count);
		int error = stream_words(spmm->run->maple, column_queue, columns, piece);

		if (!error)
			error = stream_values(spmm->run->maple, value_queue, values, piece);
		if (!error)
			error = add_products(spmm, adder, cursor, columns, values, piece);
		if (error)
			return error;
		count -= piece;
	}
	return 0;
}

static int execute_thread(struct worker *worker)
{
	struct spmm *spmm = worker->context;
	struct adder *adder = &spmm->adders[worker->index];

	for (uint64_t i = worker_block(worker, 0); i < spmm->blocks.count; i = worker_block(worker, i + 1)) {
		uint64_t row = spmm->blocks.first_row[i], end_row = spmm->blocks.first_row[i + 1];
		struct cursor cursor = cursor_start(spmm, row, end_row);
		unsigned int queue = worker_queue(worker, i);
		int error = consume_products(spmm, adder, &cursor, queue, queue,
					     spmm->products[end_row] - spmm->products[row]);

		if (!error)
			error = finish_rows(spmm, adder, &cursor, end_row);
		if (error)
			return error;
		progress_show(spmm->run->label, i, spmm->blocks.count);
	}
	return 0;
}

/* Lists places in half `half` of the buffer; the device fetches columns into queue 0 and values into queue 1. */
static int start_loop(struct spmm *spmm, struct cursor *cursor, unsigned int half, uint64_t *count)
{
	uint32_t begin = half * LIMA_LOOP, end;
	int error;

	*count = pack(spmm, cursor, spmm->packed + begin, LIMA_LOOP);
	end = begin + (uint32_t)*count;
	if (*count == 0)
		return 0;
	error = maple_lima_produce32(spmm->run->maple, 0, spmm->b->column, spmm->packed, begin, end, MAPLE_DRAM);
	if (error)
		return error;
	return maple_lima_produce64(spmm->run->maple, 1, spmm->b->value, spmm->packed, begin, end, MAPLE_DRAM);
}

static int run_lima(void *state)
{
	struct spmm *spmm = state;
	struct cursor packing = cursor_start(spmm, 0, spmm->a->rows), adding = packing;
	uint64_t count, following, done = 0;
	unsigned int half = 0;
	int error = start_loop(spmm, &packing, 0, &count);

	while (!error && count > 0) {
		half = !half;
		/* That half's results were all consumed, so the device is done with it. */
		error = start_loop(spmm, &packing, half, &following);
		if (!error)
			error = consume_products(spmm, &spmm->adders[0], &adding, 0, 1, count);
		done += count;
		count = following;
		progress_show(spmm->run->label, done, spmm->products[spmm->a->rows]);
	}
	return error ? error : finish_rows(spmm, &spmm->adders[0], &adding, spmm->a->rows);
}

/* The row starts of B by a speculative LIMA two rows ahead, the heads of B's rows one row ahead. */
static int prefetch_row(const struct spmm *spmm, uint64_t row)
{
	const struct csr *a = spmm->a;
	uint64_t begin, end, origin;
	int error;

	if (row + 1 < a->rows) {
		begin = a->row_start[row + 1];
		end = a->row_start[row + 2];
		origin = lima_origin(begin);
		error = maple_lima(spmm->run->maple, 0, spmm->b->row_start, sizeof(*spmm->b->row_start),
				   a->column + origin, (uint32_t)(begin - origin), (uint32_t)(end - origin));
		if (error)
			return error;
	}
	if (row >= a->rows)
		return 0;
	for (uint64_t i = a->row_start[row]; i < a->row_start[row + 1]; i++) {
		uint64_t head = spmm->b->row_start[a->column[i]];

		if (head == spmm->b->nonzeros)
			continue;
		error = maple_prefetch(spmm->run->maple, 0, &spmm->b->column[head]);
		if (!error)
			error = maple_prefetch(spmm->run->maple, 0, &spmm->b->value[head]);
		if (error)
			return error;
	}
	return 0;
}

static int run_prefetch(void *state)
{
	struct spmm *spmm = state;
	int error = prefetch_row(spmm, 0);

	for (uint64_t row = 0; row < spmm->a->rows && !error; row++) {
		error = prefetch_row(spmm, row + 1);
		if (!error)
			error = plain_rows(spmm, &spmm->adders[0], row, row + 1);
		progress_show(spmm->run->label, row, spmm->a->rows);
	}
	return error;
}

static const struct forms forms = {
	.plain = run_plain,
	.access = access_thread,
	.execute = execute_thread,
	.lima = run_lima,
	.prefetch = run_prefetch,
	.lima_queues = 2,
};

/* Puts the rows of C together. */
static int collect(struct spmm *spmm, struct csr *c)
{
	uint64_t nonzeros = 0, at = 0;
	int error;

	for (uint64_t row = 0; row < spmm->a->rows; row++)
		nonzeros += spmm->rows[row].count;
	error = csr_alloc(c, spmm->a->rows, spmm->b->columns, nonzeros, spmm->a->kind);
	if (error)
		return error;
	for (uint64_t row = 0; row < spmm->a->rows; row++) {
		const struct row_place *place = &spmm->rows[row];
		const struct adder *adder = &spmm->adders[place->adder];

		if (place->count > 0) {
			memcpy(c->column + at, adder->column + place->start, place->count * sizeof(*c->column));
			memcpy(c->value + at, adder->value + place->start, place->count * sizeof(*c->value));
		}
		at += place->count;
		c->row_start[row + 1] = at;
	}
	return 0;
}

static void reset(struct spmm *spmm)
{
	for (unsigned int i = 0; i < spmm->adder_count; i++)
		adder_reset(&spmm->adders[i]);
	memset(spmm->rows, 0, spmm->a->rows * sizeof(*spmm->rows));
}

static int verify(struct spmm *spmm, struct run *run)
{
	struct csr c;
	int error = collect(spmm, &c);

	if (error)
		return message_set(&run->message, error, "out of memory for the product");
	run->verified = verify_spmm(spmm->a, spmm->b, &c, &run->message);
	csr_free(&c);
	return 0;
}

static int spmm_run(void *state, struct run *run)
{
	struct spmm *spmm = state;
	int error;

	spmm->run = run;
	reset(spmm);
	if (run->form == MAPLE_LIMA) {
		spmm->packed = maple_alloc(run->maple, 2 * LIMA_LOOP * sizeof(*spmm->packed));
		if (!spmm->packed)
			return message_set(&run->message, -errno, "no memory for the places in B: %s",
					   maple_error_text());
	}
	error = forms_run(&forms, run, spmm);
	if (run->form == MAPLE_LIMA)
		maple_free(run->maple, spmm->packed);
	if (error)
		return error;
	run->elements = spmm->products[spmm->a->rows];
	return verify(spmm, run);
}

static void spmm_destroy(void *state)
{
	struct spmm *spmm = state;

	for (unsigned int i = 0; spmm->adders && i < spmm->adder_count; i++)
		adder_free(&spmm->adders[i]);
	free(spmm->adders);
	free(spmm->products);
	free(spmm->rows);
	csr_blocks_free(&spmm->blocks);
	csr_free(&spmm->transposed);
	free(spmm);
}

static int create_adders(struct spmm *spmm, unsigned int count)
{
	int error = 0;

	spmm->adder_count = count;
	spmm->adders = calloc(count, sizeof(*spmm->adders));
	if (!spmm->adders)
		return -ENOMEM;
	for (unsigned int i = 0; i < count && !error; i++)
		error = adder_create(&spmm->adders[i], spmm->b->columns);
	return error;
}

static int count_products(struct spmm *spmm)
{
	const struct csr *a = spmm->a, *b = spmm->b;

	spmm->products = calloc(a->rows + 1, sizeof(*spmm->products));
	spmm->rows = calloc(a->rows + 1, sizeof(*spmm->rows));
	if (!spmm->products || !spmm->rows)
		return -ENOMEM;
	for (uint64_t row = 0; row < a->rows; row++) {
		uint64_t count = 0;

		for (uint64_t i = a->row_start[row]; i < a->row_start[row + 1]; i++)
			count += b->row_start[a->column[i] + 1] - b->row_start[a->column[i]];
		spmm->products[row + 1] = spmm->products[row] + count;
	}
	return csr_blocks_make(&spmm->blocks, spmm->products, a->rows, BLOCK);
}

static int create_parts(struct spmm *spmm, const struct options *options)
{
	int error = 0;

	if (spmm->a->rows != spmm->a->columns) {
		error = csr_transpose(&spmm->transposed, spmm->a);
		spmm->b = &spmm->transposed;
	}
	if (!error)
		error = count_products(spmm);
	return error ? error : create_adders(spmm, options->execute_threads);
}

static void *spmm_create(const struct csr *matrix, const struct options *options, struct message *message)
{
	struct spmm *spmm;

	if (matrix->nonzeros > UINT32_MAX) {
		message_set(message, -EINVAL, "%" PRIu64 " non-zeros are too many: places in B have 32 bits",
			    matrix->nonzeros);
		return NULL;
	}
	spmm = calloc(1, sizeof(*spmm));
	if (spmm) {
		spmm->a = matrix;
		spmm->b = matrix;
	}
	if (!spmm || create_parts(spmm, options)) {
		message_set(message, -ENOMEM, "out of memory for the product");
		if (spmm)
			spmm_destroy(spmm);
		return NULL;
	}
	return spmm;
}

static unsigned int spmm_regions(void *state, struct region *regions)
{
	struct spmm *spmm = state;
	const struct csr *b = spmm->b;

	regions[0] = (struct region){ "B's columns", b->column, b->nonzeros * sizeof(*b->column) };
	regions[1] = (struct region){ "B's values", b->value, b->nonzeros * sizeof(*b->value) };
	return 2;
}

int main(int argc, char **argv)
{
	static const struct kernel kernel = {
		.name = "spmm",
		.summary = "Multiplies a sparse matrix by itself, or by its transpose if it is not square.",
		.unit = "products",
		.create = spmm_create,
		.destroy = spmm_destroy,
		.regions = spmm_regions,
		.run = spmm_run,
	};

	return kernel_main(&kernel, argc, argv);
}
