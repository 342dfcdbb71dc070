/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/generate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/random.h"

/* Graph500's initiator, as thresholds of a number in [0, 1). */
#define KRONECKER_A 0.57
#define KRONECKER_AB (KRONECKER_A + 0.19)
#define KRONECKER_ABC (KRONECKER_AB + 0.19)

static void kronecker_edge(struct random *random, unsigned int scale, uint32_t *from, uint32_t *to)
{
	*from = 0;
	*to = 0;
	for (unsigned int bit = 0; bit < scale; bit++) {
		double where = random_unit(random);

		*from |= (uint32_t)(where >= KRONECKER_AB) << bit;
		*to |= (uint32_t)((where >= KRONECKER_A && where < KRONECKER_AB) || where >= KRONECKER_ABC) << bit;
	}
}

void generate_numbers(struct random *random, uint32_t *number, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		number[i] = (uint32_t)i;
	for (uint64_t i = count; i > 1; i--) {
		uint64_t other = random_below(random, i);
		uint32_t swapped = number[i - 1];

		number[i - 1] = number[other];
		number[other] = swapped;
	}
}

/* Depends on the two vertices only, not on their order, so that the matrix is symmetric. */
static double edge_weight(uint64_t seed, uint32_t a, uint32_t b)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return (double)((random_mix(seed ^ random_mix(high << 32 | low)) >> 11) + 1) * 0x1p-53;
}

void generate_weights(struct csr *csr, uint64_t seed)
{
	csr->kind = CSR_REAL;
	for (uint64_t row = 0; row < csr->rows; row++) {
		for (uint64_t j = csr->row_start[row]; j < csr->row_start[row + 1]; j++)
			csr->value[j].real = edge_weight(seed, (uint32_t)row, csr->column[j]);
	}
}

static int kronecker_directed(struct csr *csr, unsigned int scale, unsigned int edge_factor, struct random *random)
{
	uint64_t vertices = 1ull << scale, edges = vertices * edge_factor;
	uint32_t *number = calloc(vertices, sizeof(*number));
	struct csr_entry *entries = calloc(edges, sizeof(*entries));
	int error = -ENOMEM;

	if (number && entries) {
		generate_numbers(random, number, vertices);
		for (uint64_t i = 0; i < edges; i++) {
			uint32_t from, to;

			kronecker_edge(random, scale, &from, &to);
			entries[i].row = number[from];
			entries[i].column = number[to];
		}
		error = csr_from_entries(csr, vertices, vertices, CSR_INTEGER, entries, edges);
	}
	free(entries);
	free(number);
	return error;
}

int generate_kronecker(struct csr *csr, unsigned int scale, uint64_t seed, struct message *message)
{
	return generate_kronecker_edges(csr, scale, KRONECKER_EDGE_FACTOR, seed, message);
}

int generate_kronecker_edges(struct csr *csr, unsigned int scale, unsigned int edge_factor, uint64_t seed,
			     struct message *message)
{
	struct random random = { .state = seed };
	struct csr directed;
	int error;

	memset(csr, 0, sizeof(*csr));
	if (scale < 1 || scale > KRONECKER_SCALE_MAX)
		return message_set(message, -EINVAL, "a Kronecker graph of scale %u: it must be 1 to %u", scale,
				   KRONECKER_SCALE_MAX);
	if (edge_factor < 1 || edge_factor > KRONECKER_EDGE_FACTOR_MAX)
		return message_set(message, -EINVAL, "%u edges for each vertex: it must be 1 to %u", edge_factor,
				   KRONECKER_EDGE_FACTOR_MAX);
	error = kronecker_directed(&directed, scale, edge_factor, &random);
	if (!error) {
		error = csr_graph(csr, &directed);
		csr_free(&directed);
	}
	if (error)
		return message_set(message, error, "out of memory for a Kronecker graph of scale %u", scale);
	generate_weights(csr, seed);
	return 0;
}

#define COUNTED_COLUMNS 16	/* as many columns for each element of a row take about as long as to sort it */

static int compare_columns(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/*
 * Where a row has many elements of few columns its columns are counted: `counts` has one place for each, all 0. NULL:
 * there are none.
 */
static void sort_columns(uint32_t *column, uint64_t count, uint32_t *counts, uint64_t columns)
{
	if (!counts) {
		qsort(column, count, sizeof(*column), compare_columns);
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		counts[column[i]]++;
	for (uint64_t i = 0; i < columns; i++)
		for (; counts[i]; counts[i]--)
			*column++ = (uint32_t)i;
}

int generate_uniform(struct csr *csr, uint64_t rows, uint64_t per_row, uint64_t seed,
		     struct message *message)
{
	return generate_uniform_columns(csr, rows, rows, per_row, seed, message);
}

int generate_uniform_columns(struct csr *csr, uint64_t rows, uint64_t columns, uint64_t per_row, uint64_t seed,
			     struct message *message)
{
	struct random random = { .state = seed };
	uint64_t nonzeros;
	uint32_t *counts;
	int error;

	memset(csr, 0, sizeof(*csr));
	if (rows < 1 || rows > UINT32_MAX)
		return message_set(message, -EINVAL, "a matrix of %" PRIu64 " rows: it must be 1 to %u", rows,
				   UINT32_MAX);
	if (columns < 1 || columns > UINT32_MAX)
		return message_set(message, -EINVAL, "a matrix of %" PRIu64 " columns: it must be 1 to %u", columns,
				   UINT32_MAX);
	if (__builtin_mul_overflow(rows, per_row, &nonzeros))
		return message_set(message, -EINVAL, "%" PRIu64 " elements in each row are too many", per_row);
	error = csr_alloc(csr, rows, columns, nonzeros, CSR_REAL);
	if (error)
		return message_set(message, error, "out of memory for %" PRIu64 " rows of %" PRIu64 " elements",
				   rows, per_row);
	/* Without it rows are sorted another way. */
	counts = per_row >= columns / COUNTED_COLUMNS ? calloc(columns, sizeof(*counts)) : NULL;
	for (uint64_t row = 0; row < rows; row++) {
		uint64_t start = row * per_row;

		for (uint64_t j = start; j < start + per_row; j++) {
			csr->column[j] = (uint32_t)random_below(&random, columns);
			csr->value[j].real = 2 * random_unit(&random) - 1;
		}
		sort_columns(csr->column + start, per_row, counts, columns);
		csr->row_start[row + 1] = start + per_row;
	}
	free(counts);
	return 0;
}
