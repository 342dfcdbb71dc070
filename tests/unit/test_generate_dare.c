/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Stand-ins for the DARE paper's data, and parts of graphs: the statistics that they are made for, counted here anew. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "examples/common/generate.h"
#include "examples/common/subgraph.h"

static const union csr_value *element(const struct csr *csr, uint64_t row, uint32_t column)
{
	for (uint64_t j = csr->row_start[row]; j < csr->row_start[row + 1]; j++) {
		if (csr->column[j] == column)
			return &csr->value[j];
	}
	return NULL;
}

static uint64_t degree(const struct csr *csr, uint64_t row)
{
	return csr->row_start[row + 1] - csr->row_start[row];
}

static void check_undirected(const struct csr *csr)
{
	for (uint32_t row = 0; row < csr->rows; row++) {
		for (uint64_t j = csr->row_start[row]; j < csr->row_start[row + 1]; j++) {
			assert_int_not_equal(csr->column[j], row);
			assert_non_null(element(csr, csr->column[j], row));
			assert_true(csr->value[j].real > 0 && csr->value[j].real <= 1);
			if (j > csr->row_start[row])
				assert_true(csr->column[j - 1] < csr->column[j]);
		}
	}
}

/* Hundredths. A tile gathers the next 16 elements of a column. */
static unsigned int rows_of_tile(const struct csr *csr)
{
	uint64_t *count = calloc(csr->columns, sizeof(*count)), tiles = 0;

	assert_non_null(count);
	for (uint64_t j = 0; j < csr->nonzeros; j++)
		count[csr->column[j]]++;
	for (uint64_t column = 0; column < csr->columns; column++)
		tiles += count[column] / 16 + (count[column] % 16 > 0);
	free(count);
	return (unsigned int)(100 * csr->nonzeros / tiles);
}

/* Of pairs of neighbours of a vertex those that are neighbours, in hundredths; the mean over all that have two. */
static unsigned int clustering(const struct csr *csr)
{
	double sum = 0;
	unsigned int vertices = 0;

	for (uint64_t v = 0; v < csr->rows; v++) {
		uint64_t closed = 0, pairs = degree(csr, v) * (degree(csr, v) - 1) / 2;

		if (degree(csr, v) < 2)
			continue;
		for (uint64_t i = csr->row_start[v]; i < csr->row_start[v + 1]; i++) {
			for (uint64_t j = csr->row_start[v]; j < i; j++)
				closed += element(csr, csr->column[i], csr->column[j]) != NULL;
		}
		sum += (double)closed / (double)pairs;
		vertices++;
	}
	return (unsigned int)(100 * sum / vertices);
}

static void collaboration(struct csr *csr, uint64_t vertices, uint64_t mean, uint64_t seed)
{
	struct message message;

	if (generate_collaboration(csr, vertices, mean, seed, &message))
		fail_msg("%s", message.text);
}

/*
 * The real graph has 10 elements a row and a clustering of 0.73; edges at random would have 10 / 2048. Papers are cliques;
 * of an author with two that share nobody else about half of the pairs are closed.
 */
static void co_authors_are_cliques_with_the_mean_degree_that_was_asked_for(void **unused)
{
	struct csr csr;

	(void)unused;
	collaboration(&csr, 2048, 10, 1);
	assert_int_equal(csr.rows, 2048);
	assert_int_equal(csr.columns, 2048);
	assert_int_equal(csr.nonzeros, 20480);
	check_undirected(&csr);
	assert_in_range(clustering(&csr), 45, 73);
	assert_in_range(rows_of_tile(&csr), 850, 1000);
	csr_free(&csr);
}

/* Of two vertices the only paper that there is has two authors; of 3 at degree 2 all pairs are there. */
static void few_co_authors_are_enough(void **unused)
{
	struct csr csr;

	(void)unused;
	collaboration(&csr, 2, 1, 1);
	assert_int_equal(csr.nonzeros, 2);
	csr_free(&csr);
	collaboration(&csr, 3, 2, 5);
	assert_int_equal(csr.nonzeros, 6);
	check_undirected(&csr);
	csr_free(&csr);
}

static void communities(struct csr *csr, uint64_t vertices, uint64_t mean, uint64_t seed)
{
	struct message message;

	if (generate_communities(csr, vertices, mean, seed, &message))
		fail_msg("%s", message.text);
}

/*
 * 80 % of the draws, and of the others those that happen to be inside: 256 of 768. Inside a tenth is drawn twice and
 * does not count; so a little less than 0.8 + 0.2 / 3.
 */
static void communities_have_most_edges_inside(void **unused)
{
	uint64_t inside = 0;
	struct csr csr;

	(void)unused;
	communities(&csr, 768, 60, 1);
	assert_int_equal(csr.rows, 768);
	assert_int_equal(csr.nonzeros, 768 * 60);
	check_undirected(&csr);
	for (uint64_t row = 0; row < csr.rows; row++) {
		for (uint64_t j = csr.row_start[row]; j < csr.row_start[row + 1]; j++)
			inside += csr.column[j] / 256 == row / 256;
	}
	assert_in_range(1000 * inside / csr.nonzeros, 830, 867);
	assert_in_range(rows_of_tile(&csr), 1300, 1450);
	csr_free(&csr);
}

static void a_last_community_may_be_small(void **unused)
{
	struct csr csr;

	(void)unused;
	communities(&csr, 259, 9, 2);
	assert_int_equal(csr.nonzeros, (259 * 9 + 1) / 2 * 2);
	check_undirected(&csr);
	csr_free(&csr);
}

static void attention(struct csr *csr, uint64_t tokens, uint64_t seed)
{
	struct message message;

	if (generate_attention(csr, tokens, seed, &message))
		fail_msg("%s", message.text);
}

static void attention_is_causal_and_keeps_a_tenth_of_each_row(void **unused)
{
	struct csr csr;

	(void)unused;
	attention(&csr, 1024, 1);
	assert_int_equal(csr.rows, 1024);
	for (uint64_t row = 0; row < 1024; row++) {
		uint64_t tenths = (row + 1) / 10 + ((row + 1) % 10 > 0);

		assert_int_equal(degree(&csr, row), tenths);
		/* The first token is always kept. */
		assert_int_equal(csr.column[csr.row_start[row]], 0);
		for (uint64_t j = csr.row_start[row]; j < csr.row_start[row + 1]; j++) {
			assert_in_range(csr.column[j], 0, row);
			if (j > csr.row_start[row])
				assert_true(csr.column[j - 1] < csr.column[j]);
		}
	}
	assert_in_range(rows_of_tile(&csr), 1300, 1500);
	csr_free(&csr);
	attention(&csr, 256, 1);
	assert_in_range(rows_of_tile(&csr), 900, 1150);
	csr_free(&csr);
}

static int descending(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left < right) - (left > right);
}

/* If a tenth of each row were drawn evenly, the 16 last tokens had 16 tenths of a row's elements, and 5 % of the columns 5 %. */
static void attention_is_on_recent_tokens_and_favoured_columns(void **unused)
{
	uint64_t recent = 0, rows = 0, favoured = 0, count[1024] = { 0 };
	struct csr csr;

	(void)unused;
	attention(&csr, 1024, 3);
	for (uint64_t row = 160; row < 1024; row++, rows++) {
		for (uint64_t j = csr.row_start[row]; j < csr.row_start[row + 1]; j++)
			recent += row - csr.column[j] < 16;
	}
	assert_true(recent > 4 * rows * 16 / 10);
	for (uint64_t j = 0; j < csr.nonzeros; j++)
		count[csr.column[j]]++;
	qsort(count, 1024, sizeof(*count), descending);
	for (unsigned int i = 0; i < 1024 / 20; i++)
		favoured += count[i];
	assert_in_range(100 * favoured / csr.nonzeros, 15, 40);
	csr_free(&csr);
}

static void check_seeds(void (*make)(struct csr *csr, uint64_t seed))
{
	struct csr a, b, c;

	make(&a, 3);
	make(&b, 3);
	make(&c, 4);
	assert_int_equal(a.nonzeros, b.nonzeros);
	assert_memory_equal(a.row_start, b.row_start, (a.rows + 1) * sizeof(*a.row_start));
	assert_memory_equal(a.column, b.column, a.nonzeros * sizeof(*a.column));
	assert_memory_equal(a.value, b.value, a.nonzeros * sizeof(*a.value));
	assert_true(a.nonzeros != c.nonzeros || memcmp(a.column, c.column, a.nonzeros * sizeof(*a.column)));
	csr_free(&a);
	csr_free(&b);
	csr_free(&c);
}

static void make_collaboration(struct csr *csr, uint64_t seed)
{
	collaboration(csr, 100, 6, seed);
}

static void make_communities(struct csr *csr, uint64_t seed)
{
	communities(csr, 300, 6, seed);
}

static void make_attention(struct csr *csr, uint64_t seed)
{
	attention(csr, 100, seed);
}

static void the_same_seed_gives_the_same_matrix_and_another_another(void **unused)
{
	(void)unused;
	check_seeds(make_collaboration);
	check_seeds(make_communities);
	check_seeds(make_attention);
}

static void impossible_arguments_are_refused(void **unused)
{
	struct message message;
	struct csr csr;

	(void)unused;
	assert_int_equal(generate_collaboration(&csr, 1, 1, 1, &message), -EINVAL);
	assert_int_equal(generate_collaboration(&csr, 10, 10, 1, &message), -EINVAL);
	assert_int_equal(generate_collaboration(&csr, UINT32_MAX, 1000, 1, &message), -EINVAL);
	assert_int_equal(generate_communities(&csr, 10, 10, 1, &message), -EINVAL);
	assert_int_equal(generate_communities(&csr, 1ull << 33, 10, 1, &message), -EINVAL);
	assert_int_equal(generate_attention(&csr, 0, 1, &message), -EINVAL);
	assert_int_equal(generate_attention(&csr, ATTENTION_TOKENS_MAX + 1, 1, &message), -EINVAL);
}

/* --- parts ---------------------------------------------------------------------------------- */

/*
 * 6 and 2 have three neighbours each, and 2 comes first: 1, 4, 6 are found from it, then 0 from 1, then 5 and 7 from 6.
 * Each edge is given in one direction, with 10 * row + column as its value; 3 has none.
 */
static void make_graph(struct csr *csr)
{
	const struct csr_entry entries[] = {
		{ 2, 1, { 21 } }, { 4, 2, { 42 } }, { 6, 2, { 62 } }, { 0, 1, { 1 } }, { 5, 6, { 56 } }, { 6, 7, { 67 } },
	};

	assert_int_equal(csr_from_entries(csr, 8, 8, CSR_INTEGER, entries, 6), 0);
}

static void check_part(uint64_t vertices, const char *kept)
{
	struct csr whole, part;
	struct message message;
	uint64_t count = 0;

	make_graph(&whole);
	if (subgraph_breadth_first(&part, &whole, vertices, &message))
		fail_msg("%s", message.text);
	assert_int_equal(part.rows, vertices);
	assert_int_equal(part.columns, vertices);
	for (uint32_t row = 0; row < vertices; row++) {
		for (uint32_t column = 0; column < vertices; column++) {
			const union csr_value *before = element(&whole, (uint64_t)(kept[row] - '0'), (uint32_t)(kept[column] - '0'));
			const union csr_value *now = element(&part, row, column);

			assert_int_equal(before != NULL, now != NULL);
			if (now)
				assert_int_equal(before->integer, now->integer);
			count += now != NULL;
		}
	}
	assert_int_equal(part.nonzeros, count);
	csr_free(&part);
	csr_free(&whole);
}

static void a_part_is_what_is_found_first_in_its_old_order(void **unused)
{
	(void)unused;
	check_part(1, "2");
	check_part(2, "12");
	check_part(3, "124");
	check_part(4, "1246");
	check_part(5, "01246");
	check_part(6, "012456");
	check_part(7, "0124567");
}

static void a_part_that_is_not_there_is_refused(void **unused)
{
	struct csr whole, part;
	struct message message;

	(void)unused;
	make_graph(&whole);
	assert_int_equal(subgraph_breadth_first(&part, &whole, 8, &message), -EINVAL);
	assert_non_null(strstr(message.text, "finds only 7"));
	assert_int_equal(subgraph_breadth_first(&part, &whole, 9, &message), -EINVAL);
	csr_free(&whole);
	assert_int_equal(generate_uniform_columns(&whole, 4, 5, 2, 1, &message), 0);
	assert_int_equal(subgraph_breadth_first(&part, &whole, 2, &message), -EINVAL);
	assert_non_null(strstr(message.text, "no graph"));
	csr_free(&whole);
}

static void an_element_becomes_a_block(void **unused)
{
	/* The element of row 0 is given twice. */
	const struct csr_entry entries[] = { { 0, 2, { 7 } }, { 0, 2, { 6 } }, { 1, 0, { 8 } }, { 1, 1, { 9 } } };
	const uint64_t starts[] = { 0, 4, 8, 12, 16 };
	const uint32_t columns[] = { 4, 4, 5, 5, 4, 4, 5, 5, 0, 1, 2, 3, 0, 1, 2, 3 };
	const int64_t values[] = { 7, 6, 7, 6, 7, 6, 7, 6, 8, 8, 9, 9, 8, 8, 9, 9 };
	struct csr csr, expanded;

	(void)unused;
	assert_int_equal(csr_from_entries(&csr, 2, 3, CSR_INTEGER, entries, 4), 0);
	assert_int_equal(csr_expand(&expanded, &csr, 2), 0);
	assert_int_equal(expanded.rows, 4);
	assert_int_equal(expanded.columns, 6);
	assert_int_equal(expanded.nonzeros, 16);
	assert_memory_equal(expanded.row_start, starts, sizeof(starts));
	assert_memory_equal(expanded.column, columns, sizeof(columns));
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(expanded.value[i].integer, values[i]);
	csr_free(&expanded);
	assert_int_equal(csr_expand(&expanded, &csr, UINT32_MAX), -EINVAL);
	csr_free(&csr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(co_authors_are_cliques_with_the_mean_degree_that_was_asked_for),
		cmocka_unit_test(few_co_authors_are_enough),
		cmocka_unit_test(communities_have_most_edges_inside),
		cmocka_unit_test(a_last_community_may_be_small),
		cmocka_unit_test(attention_is_causal_and_keeps_a_tenth_of_each_row),
		cmocka_unit_test(attention_is_on_recent_tokens_and_favoured_columns),
		cmocka_unit_test(the_same_seed_gives_the_same_matrix_and_another_another),
		cmocka_unit_test(impossible_arguments_are_refused),
		cmocka_unit_test(a_part_is_what_is_found_first_in_its_old_order),
		cmocka_unit_test(a_part_that_is_not_there_is_refused),
		cmocka_unit_test(an_element_becomes_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
