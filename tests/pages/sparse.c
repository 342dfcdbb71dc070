/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Around the sparse product of docs/libdare.md. */
#include <dare.h>
#include <stdio.h>

void check(int result, const char *doing);
void sparse(struct dare *dare, size_t rows, size_t columns, const uint64_t *row_start, const uint32_t *column, const float *value,
	    const float *d, float *c);

void sparse(struct dare *dare, size_t rows, size_t columns, const uint64_t *row_start, const uint32_t *column, const float *value,
	    const float *d, float *c)
{
#include "block.inc"
}
