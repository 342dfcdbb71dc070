/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where a pruned causal attention matrix has elements. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/generate.h"

#define KEPT 10u		/* one of so many */
#define FAVOURED 20u		/* one column of so many */

struct attention {
	struct random random;
	uint64_t tokens;
	double *near;		/* [i]: the sum of 1/1 to 1/(i + 1) */
	uint32_t *favoured;	/* ascending; then `tokens` */
	bool *is_kept;		/* of the row at hand */
};

static uint64_t kept_of_row(uint64_t row)
{
	return (row + KEPT) / KEPT;
}

static int ascending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static void prepare(struct attention *attention)
{
	uint64_t favoured = (attention->tokens + FAVOURED - 1) / FAVOURED;
	double sum = 0;

	for (uint64_t i = 0; i < attention->tokens; i++) {
		sum += 1 / (double)(i + 1);
		attention->near[i] = sum;
	}
	generate_numbers(&attention->random, attention->favoured, attention->tokens);
	qsort(attention->favoured, favoured, sizeof(*attention->favoured), ascending);
	attention->favoured[favoured] = (uint32_t)attention->tokens;
}

/* A column at most `row`: at distance d with a probability that is proportional to 1 / (d + 1). */
static uint64_t draw_near(struct attention *attention, uint64_t row)
{
	double where = random_unit(&attention->random) * attention->near[row];
	uint64_t low = 0, high = row;

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (attention->near[middle] > where)
			high = middle;
		else
			low = middle + 1;
	}
	return row - low;
}

static uint64_t draw_favoured(struct attention *attention, uint64_t row)
{
	uint64_t count = 0;

	while (attention->favoured[count] <= row)
		count++;
	if (count == 0)
		return random_below(&attention->random, row + 1);
	return attention->favoured[random_below(&attention->random, count)];
}

static uint64_t draw_column(struct attention *attention, uint64_t row)
{
	switch (random_below(&attention->random, 4)) {
	case 0:
		return draw_favoured(attention, row);
	case 1:
		return random_below(&attention->random, row + 1);
	default:
		return draw_near(attention, row);
	}
}

/* Ends, as a quarter of the draws are of any column, and at most every second one is kept. */
static void fill_row(struct csr *csr, struct attention *attention, uint64_t row)
{
	uint64_t count = csr->row_start[row];

	memset(attention->is_kept, 0, (row + 1) * sizeof(*attention->is_kept));
	attention->is_kept[0] = true;
	for (uint64_t kept = 1; kept < kept_of_row(row);) {
		uint64_t column = draw_column(attention, row);

		kept += !attention->is_kept[column];
		attention->is_kept[column] = true;
	}
	for (uint64_t column = 0; column <= row; column++) {
		if (attention->is_kept[column])
			csr->column[count++] = (uint32_t)column;
	}
	csr->row_start[row + 1] = count;
}

static int make_matrix(struct csr *csr, struct attention *attention)
{
	uint64_t nonzeros = 0, tokens = attention->tokens;
	int error = -ENOMEM;

	for (uint64_t row = 0; row < tokens; row++)
		nonzeros += kept_of_row(row);
	attention->near = calloc(tokens, sizeof(*attention->near));
	attention->favoured = calloc(tokens + 1, sizeof(*attention->favoured));
	attention->is_kept = calloc(tokens, sizeof(*attention->is_kept));
	if (attention->near && attention->favoured && attention->is_kept)
		error = csr_alloc(csr, tokens, tokens, nonzeros, CSR_REAL);
	if (!error) {
		prepare(attention);
		for (uint64_t row = 0; row < tokens; row++)
			fill_row(csr, attention, row);
	}
	free(attention->near);
	free(attention->favoured);
	free(attention->is_kept);
	return error;
}

int generate_attention(struct csr *csr, uint64_t tokens, uint64_t seed, struct message *message)
{
	struct attention attention = { .random.state = seed, .tokens = tokens };

	memset(csr, 0, sizeof(*csr));
	if (tokens < 1 || tokens > ATTENTION_TOKENS_MAX)
		return message_set(message, -EINVAL, "attention of %" PRIu64 " tokens: it must be 1 to %d", tokens,
				   ATTENTION_TOKENS_MAX);
	if (make_matrix(csr, &attention))
		return message_set(message, -ENOMEM, "out of memory for attention of %" PRIu64 " tokens", tokens);
	generate_weights(csr, seed);
	return 0;
}
