/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/sparse_case.h"

#include <stdlib.h>
#include <string.h>

static void *array(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (!memory)
		abort();
	return memory;
}

void sparse_case_fill(float *values, size_t count, struct random *random)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (float)((double)random_below(random, 1 << 21) * 0x1p-20 - 1.0);
}

static void allocate(struct sparse_case *s, size_t rows, size_t columns, uint64_t nonzeros)
{
	memset(s, 0, sizeof(*s));
	s->rows = rows;
	s->columns = columns;
	s->nonzeros = nonzeros;
	s->row_start = array(rows + 1, sizeof(*s->row_start));
	s->column = array(nonzeros, sizeof(*s->column));
	s->value = array(nonzeros, sizeof(*s->value));
	s->column_start = array(columns + 1, sizeof(*s->column_start));
	s->row = array(nonzeros, sizeof(*s->row));
	s->value_by_column = array(nonzeros, sizeof(*s->value_by_column));
	s->csr_of = array(nonzeros, sizeof(*s->csr_of));
}

void sparse_case_free(struct sparse_case *s)
{
	free(s->row_start);
	free(s->column);
	free(s->value);
	free(s->column_start);
	free(s->row);
	free(s->value_by_column);
	free(s->csr_of);
	memset(s, 0, sizeof(*s));
}

/* Lists the elements by columns. */
static void add_columns(struct sparse_case *s)
{
	uint64_t *next = array(s->columns, sizeof(*next));

	for (uint64_t i = 0; i < s->nonzeros; i++)
		s->column_start[s->column[i] + 1]++;
	for (size_t column = 0; column < s->columns; column++) {
		s->column_start[column + 1] += s->column_start[column];
		next[column] = s->column_start[column];
	}
	for (size_t row = 0; row < s->rows; row++) {
		for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
			uint64_t at = next[s->column[i]]++;

			s->row[at] = (uint32_t)row;
			s->value_by_column[at] = s->value[i];
			s->csr_of[at] = i;
		}
	}
	free(next);
}

static void from_bitmap(struct sparse_case *s, struct random *random, size_t rows, size_t columns, const bool *bitmap)
{
	uint64_t nonzeros = 0, at = 0;

	for (size_t i = 0; i < rows * columns; i++)
		nonzeros += bitmap[i];
	allocate(s, rows, columns, nonzeros);
	sparse_case_fill(s->value, nonzeros, random);
	for (size_t row = 0; row < rows; row++) {
		for (size_t column = 0; column < columns; column++) {
			if (bitmap[row * columns + column])
				s->column[at++] = (uint32_t)column;
		}
		s->row_start[row + 1] = at;
	}
	/* In any order within a row, which is allowed. */
	for (size_t row = 0; row < rows; row++) {
		for (uint64_t i = s->row_start[row + 1]; i > s->row_start[row] + 1; i--) {
			uint64_t other = s->row_start[row] + random_below(random, i - s->row_start[row]);
			uint32_t column = s->column[i - 1];

			s->column[i - 1] = s->column[other];
			s->column[other] = column;
		}
	}
	add_columns(s);
}

void sparse_case_uniform(struct sparse_case *s, struct random *random, size_t rows, size_t columns, double density)
{
	bool *bitmap = array(rows * columns, sizeof(*bitmap));

	for (size_t i = 0; i < rows * columns; i++)
		bitmap[i] = random_unit(random) < density;
	from_bitmap(s, random, rows, columns, bitmap);
	free(bitmap);
}

static bool has_element(unsigned int kind, size_t row, size_t column, struct random *random)
{
	static const double densities[] = { 0.02, 0.1, 0.3, 0.7, 1.0 };

	if (kind < 5)
		return random_unit(random) < densities[kind];
	if (kind == 5)		/* a band */
		return row + 2 >= column && column + 2 >= row;
	if (kind == 6)		/* rows in steps that differ by column */
		return row % (column % 7 + 1) == column % 3;
	if (kind == 7)		/* every other row empty */
		return row % 2 == 0 && random_unit(random) < 0.2;
	return false;
}

void sparse_case_random(struct sparse_case *s, struct random *random)
{
	size_t rows = 1 + random_below(random, 60), columns = 1 + random_below(random, 60);
	unsigned int kind = (unsigned int)random_below(random, 9);
	bool *bitmap = array(rows * columns, sizeof(*bitmap));

	for (size_t i = 0; i < rows * columns; i++)
		bitmap[i] = has_element(kind, i / columns, i % columns, random);
	from_bitmap(s, random, rows, columns, bitmap);
	free(bitmap);
}

void sparse_case_from_csr(struct sparse_case *s, const struct csr *csr)
{
	allocate(s, csr->rows, csr->columns, csr->nonzeros);
	memcpy(s->row_start, csr->row_start, (csr->rows + 1) * sizeof(*s->row_start));
	memcpy(s->column, csr->column, csr->nonzeros * sizeof(*s->column));
	for (uint64_t i = 0; i < csr->nonzeros; i++)
		s->value[i] = csr->kind == CSR_INTEGER ? (float)csr->value[i].integer : (float)csr->value[i].real;
	add_columns(s);
}

struct dare_sparse sparse_case_matrix(const struct sparse_case *s, enum dare_layout layout)
{
	return (struct dare_sparse){
		.layout = layout, .rows = s->rows, .columns = s->columns,
		.start = layout == DARE_CSR ? s->row_start : s->column_start,
		.index = layout == DARE_CSR ? s->column : s->row,
	};
}

const float *sparse_case_value(const struct sparse_case *s, enum dare_layout layout)
{
	return layout == DARE_CSR ? s->value : s->value_by_column;
}

void sparse_case_spmm(const struct sparse_case *s, size_t columns, const float *d, size_t ldd, float *c)
{
	memset(c, 0, s->rows * columns * sizeof(*c));
	for (size_t k = 0; k < s->columns; k++) {
		for (uint64_t i = s->column_start[k]; i < s->column_start[k + 1]; i++) {
			for (size_t n = 0; n < columns; n++) {
				/* volatile: a compiler may not fuse the two */
				volatile float product = s->value_by_column[i] * d[k * ldd + n];

				c[s->row[i] * columns + n] += product;
			}
		}
	}
}

void sparse_case_sddmm(const struct sparse_case *s, size_t inner, const float *a, size_t lda, const float *b,
		       size_t ldb, float *p)
{
	for (size_t row = 0; row < s->rows; row++) {
		for (uint64_t i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
			float sum = 0;

			for (size_t k = 0; k < inner; k++) {
				volatile float product = a[row * lda + k] * b[s->column[i] * ldb + k];

				sum += product;
			}
			p[i] = s->value[i] * sum;
		}
	}
}
