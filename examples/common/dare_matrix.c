/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/dare_matrix.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/random.h"

static int allocate(struct sparse_matrix *sparse, uint64_t lines, uint64_t nonzeros, struct message *message)
{
	memset(sparse, 0, sizeof(*sparse));
	sparse->nonzeros = nonzeros;
	sparse->start = calloc(lines + 1, sizeof(*sparse->start));
	sparse->index = calloc(nonzeros + 1, sizeof(*sparse->index));
	sparse->value = calloc(nonzeros + 1, sizeof(*sparse->value));
	if (sparse->start && sparse->index && sparse->value)
		return 0;
	sparse_matrix_free(sparse);
	return message_set(message, -ENOMEM, "out of memory for %" PRIu64 " elements", nonzeros);
}

void sparse_matrix_free(struct sparse_matrix *sparse)
{
	free(sparse->start);
	free(sparse->index);
	free(sparse->value);
	memset(sparse, 0, sizeof(*sparse));
}

/* Equal indices of a line are neighbours (csr.h), so they are merged as they come. */
static int fill(struct sparse_matrix *sparse, const struct csr *csr, struct message *message)
{
	uint64_t count = 0;

	for (uint64_t line = 0; line < csr->rows; line++) {
		for (uint64_t i = csr->row_start[line]; i < csr->row_start[line + 1]; i++) {
			float value = csr->kind == CSR_INTEGER ? (float)csr->value[i].integer :
								 (float)csr->value[i].real;

			if (count > sparse->start[line] && sparse->index[count - 1] == csr->column[i])
				value += sparse->value[--count];
			if (!isfinite(value))
				return message_set(message, -ERANGE, "an element in line %" PRIu64 " is too large for fp32",
						   line);
			sparse->index[count] = csr->column[i];
			sparse->value[count++] = value;
		}
		sparse->start[line + 1] = count;
	}
	sparse->nonzeros = count;
	return 0;
}

int sparse_matrix_make(struct sparse_matrix *sparse, const struct csr *csr, enum dare_layout layout,
		       struct message *message)
{
	struct csr transposed;
	const struct csr *lines = csr;
	int error;

	if (layout == DARE_CSC) {
		if (csr_transpose(&transposed, csr))
			return message_set(message, -ENOMEM, "out of memory for %" PRIu64 " elements", csr->nonzeros);
		lines = &transposed;
	}
	error = allocate(sparse, lines->rows, lines->nonzeros, message);
	if (!error)
		error = fill(sparse, lines, message);
	if (layout == DARE_CSC)
		csr_free(&transposed);
	if (error) {
		sparse_matrix_free(sparse);
		return error;
	}
	sparse->place = (struct dare_sparse){
		.layout = layout, .rows = csr->rows, .columns = csr->columns, .start = sparse->start,
		.index = sparse->index,
	};
	return 0;
}

void dense_fill(float *values, size_t count, uint64_t seed)
{
	struct random random = { .state = seed };

	for (size_t i = 0; i < count; i++)
		values[i] = (float)(2 * random_unit(&random) - 1);
}

static void add_row(float *c, float value, const float *d, size_t columns)
{
	for (size_t n = 0; n < columns; n++)
		c[n] += value * d[n];
}

void plain_spmm(const struct sparse_matrix *s, size_t columns, const float *d, float *c)
{
	bool by_rows = s->place.layout == DARE_CSR;
	size_t lines = by_rows ? s->place.rows : s->place.columns;

	memset(c, 0, s->place.rows * columns * sizeof(*c));
	for (size_t line = 0; line < lines; line++) {
		for (uint64_t i = s->start[line]; i < s->start[line + 1]; i++) {
			size_t row = by_rows ? line : s->index[i], column = by_rows ? s->index[i] : line;

			add_row(c + row * columns, s->value[i], d + column * columns, columns);
		}
	}
}

void plain_sddmm(const struct sparse_matrix *s, size_t inner, const float *a, const float *b, float *p)
{
	bool by_rows = s->place.layout == DARE_CSR;
	size_t lines = by_rows ? s->place.rows : s->place.columns;

	for (size_t line = 0; line < lines; line++) {
		for (uint64_t i = s->start[line]; i < s->start[line + 1]; i++) {
			const float *row = a + (by_rows ? line : s->index[i]) * inner;
			const float *column = b + (by_rows ? s->index[i] : line) * inner;
			float sum = 0;

			for (size_t k = 0; k < inner; k++)
				sum += row[k] * column[k];
			p[i] = s->value[i] * sum;
		}
	}
}

bool verify_equal(const char *what, const float *got, const float *right, size_t count, struct message *message)
{
	for (size_t i = 0; i < count; i++) {
		/* A sum that overflowed may have become a NaN in both. */
		if (got[i] == right[i] || (isnan(got[i]) && isnan(right[i])))
			continue;
		message_set(message, 0, "element %zu of %s is %.9g, but must be %.9g", i, what, (double)got[i],
			    (double)right[i]);
		return false;
	}
	return true;
}
