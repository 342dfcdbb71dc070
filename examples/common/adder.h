/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Adds up the rows of a sparse product: one sum for each column, and a list of
 * the columns in use, so that a row costs its entries and not the width.
 */
#ifndef EXAMPLES_ADDER_H
#define EXAMPLES_ADDER_H

#include <string.h>

#include "examples/common/csr.h"

struct adder {
	union csr_value *sum;	/* of each column */
	uint64_t *row_of;	/* 1 + the row that sum[] is of; 0: none yet */
	uint32_t *touched;	/* columns of this row, as they came */
	uint64_t touched_count;
	uint64_t columns;
	/* the rows that are finished, one after the other */
	uint32_t *column;
	union csr_value *value;
	uint64_t count;
	uint64_t room;
};

/* 0 or -ENOMEM; free it in both cases. */
int adder_create(struct adder *adder, uint64_t columns);
void adder_free(struct adder *adder);
/* Forgets all rows. */
void adder_reset(struct adder *adder);
/* Appends the sums of the row to column[] and value[]. 0 or -ENOMEM. */
int adder_finish_row(struct adder *adder);

static inline void adder_add(struct adder *adder, enum csr_values kind, uint64_t row, uint32_t column,
			     union csr_value a, union csr_value b)
{
	union csr_value *sum = &adder->sum[column];

	if (adder->row_of[column] != row + 1) {
		adder->row_of[column] = row + 1;
		adder->touched[adder->touched_count++] = column;
		memset(sum, 0, sizeof(*sum));
	}
	if (kind == CSR_INTEGER)
		sum->integer = (int64_t)((uint64_t)sum->integer + (uint64_t)a.integer * (uint64_t)b.integer);
	else
		sum->real += a.real * b.real;
}

#endif
