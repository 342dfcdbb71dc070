/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "examples/common/array.h"
#include "examples/common/random.h"
#include "examples/maple/loops/task.h"

static size_t padded(uint64_t nonzeros)
{
	return (size_t)nonzeros + PREFETCH_DISTANCE;
}

static size_t starts(uint64_t rows)
{
	return (size_t)rows + 1 + PREFETCH_ROWS;
}

int pattern_make(struct pattern *pattern, const struct csr *csr, struct message *message)
{
	uint32_t *start, *column;

	memset(pattern, 0, sizeof(*pattern));
	if (csr->rows >= UINT32_MAX || csr->columns >= UINT32_MAX || csr->nonzeros >= UINT32_MAX - PREFETCH_DISTANCE)
		return message_set(message, -EINVAL, "%" PRIu64 " by %" PRIu64 " with %" PRIu64
				   " non-zeros: these loops have 32-bit positions", csr->rows, csr->columns,
				   csr->nonzeros);
	start = array_alloc(starts(csr->rows), sizeof(*start));
	column = array_alloc(padded(csr->nonzeros), sizeof(*column));
	pattern->rows = (uint32_t)csr->rows;
	pattern->columns = (uint32_t)csr->columns;
	pattern->start = start;
	pattern->column = column;
	if (!start || !column)
		return message_set(message, -ENOMEM, "out of memory for the matrix");
	for (uint64_t row = 0; row < starts(csr->rows); row++)
		start[row] = (uint32_t)csr->row_start[row < csr->rows ? row : csr->rows];
	memcpy(column, csr->column, csr->nonzeros * sizeof(*column));
	return 0;
}

void pattern_free(struct pattern *pattern)
{
	if (pattern->column && pattern->start)
		array_free((void *)pattern->column, padded(pattern->start[pattern->rows]), sizeof(*pattern->column));
	array_free((void *)pattern->start, starts(pattern->rows), sizeof(*pattern->start));
}

uint32_t pattern_share(const struct pattern *pattern, unsigned int share, unsigned int shares)
{
	uint64_t before = (uint64_t)pattern->start[pattern->rows] * share / shares;
	uint32_t row = 0;

	if (share == shares)
		return pattern->rows;
	while (row < pattern->rows && pattern->start[row] < before)
		row++;
	return row;
}

uint64_t pattern_value(const struct csr *csr, uint64_t j)
{
	uint64_t bits;

	memcpy(&bits, &csr->value[j], sizeof(bits));
	return 1 + random_mix(bits) % 1000;
}
