/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A sparse matrix in compressed rows, and functions that make one of another. */
#ifndef EXAMPLES_CSR_H
#define EXAMPLES_CSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum csr_values {
	CSR_INTEGER,	/* 64-bit integers; a pattern's elements are 1 */
	CSR_REAL,
};

union csr_value {
	int64_t integer;
	double real;
};

/* In a row the columns ascend; equal ones stay in the order they came in. */
struct csr {
	uint64_t rows;
	uint64_t columns;
	uint64_t nonzeros;
	enum csr_values kind;
	bool is_graph;		/* it is as csr_graph() makes it; false: not known */
	uint64_t *row_start;	/* rows + 1 */
	uint32_t *column;	/* nonzeros */
	union csr_value *value;	/* nonzeros */
};

struct csr_entry {
	uint32_t row;
	uint32_t column;
	union csr_value value;
};

/* Indices must be within rows and columns. 0 or -ENOMEM; *csr is empty then. */
int csr_from_entries(struct csr *csr, uint64_t rows, uint64_t columns, enum csr_values kind,
		     const struct csr_entry *entries, uint64_t count);
/* Room for a matrix, all zero. 0 or -ENOMEM. */
int csr_alloc(struct csr *csr, uint64_t rows, uint64_t columns, uint64_t nonzeros,
	      enum csr_values kind);
int csr_transpose(struct csr *transposed, const struct csr *csr);
/*
 * The undirected graph of a square matrix: an edge where either of two
 * vertices has an element for the other; no self loops, no edge twice.
 */
int csr_graph(struct csr *graph, const struct csr *csr);
/* Each element becomes a block of `side` x `side` elements of its value. 0, -ENOMEM, or -EINVAL: more than 2^32 rows or columns. */
int csr_expand(struct csr *expanded, const struct csr *csr, unsigned int side);
void csr_free(struct csr *csr);

/*
 * Cuts rows into blocks of about `target` elements, for sharing work out: block
 * i is the rows from first_row[i] up to first_row[i + 1]. A row is never cut.
 * start[] has rows + 1 entries.
 */
struct csr_blocks {
	uint64_t *first_row;	/* count + 1 */
	uint64_t count;
};
int csr_blocks_make(struct csr_blocks *blocks, const uint64_t *start, uint64_t rows, uint64_t target);
void csr_blocks_free(struct csr_blocks *blocks);

#endif
