/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Generated matrices: the shape that was asked for, the same from the same seed, distributed as they should be. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "examples/common/generate.h"
#include "examples/common/random.h"

static void kronecker(struct csr *csr, unsigned int scale, uint64_t seed)
{
	struct message message;

	if (generate_kronecker(csr, scale, seed, &message))
		fail_msg("%s", message.text);
}

static const union csr_value *element(const struct csr *csr, uint32_t row, uint32_t column)
{
	for (uint64_t j = csr->row_start[row]; j < csr->row_start[row + 1]; j++) {
		if (csr->column[j] == column)
			return &csr->value[j];
	}
	return NULL;
}

static void the_generator_gives_the_published_numbers(void **unused)
{
	/* SplitMix64 from seed 1234567, as its test vectors have it */
	const uint64_t wanted[] = { 6457827717110365317ull, 3203168211198807973ull, 9817491932198370423ull };
	struct random random = { .state = 1234567 };

	(void)unused;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(random_next(&random), wanted[i]);
}

static void kronecker_graphs_are_undirected_without_loops_or_doubles(void **unused)
{
	struct csr csr;

	(void)unused;
	kronecker(&csr, 9, 1);
	assert_int_equal(csr.rows, 512);
	assert_int_equal(csr.columns, 512);
	/* 8192 edges both ways, less loops and doubles */
	assert_in_range(csr.nonzeros, 6000, 16384);
	for (uint32_t row = 0; row < 512; row++) {
		for (uint64_t j = csr.row_start[row]; j < csr.row_start[row + 1]; j++) {
			const union csr_value *mirrored = element(&csr, csr.column[j], row);

			assert_int_not_equal(csr.column[j], row);
			assert_non_null(mirrored);
			assert_true(mirrored->real == csr.value[j].real);
			assert_true(csr.value[j].real > 0 && csr.value[j].real <= 1);
			if (j > csr.row_start[row])
				assert_true(csr.column[j - 1] < csr.column[j]);
		}
	}
	csr_free(&csr);
}

static void the_same_seed_gives_the_same_graph_and_another_another(void **unused)
{
	struct csr a, b, c;

	(void)unused;
	kronecker(&a, 8, 3);
	kronecker(&b, 8, 3);
	kronecker(&c, 8, 4);
	assert_int_equal(a.nonzeros, b.nonzeros);
	assert_memory_equal(a.row_start, b.row_start, 257 * sizeof(*a.row_start));
	assert_memory_equal(a.column, b.column, a.nonzeros * sizeof(*a.column));
	assert_memory_equal(a.value, b.value, a.nonzeros * sizeof(*a.value));
	assert_int_not_equal(memcmp(a.row_start, c.row_start, 257 * sizeof(*a.row_start)), 0);
	csr_free(&a);
	csr_free(&b);
	csr_free(&c);
}

static int descending(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left < right) - (left > right);
}

/*
 * A vertex whose number has k ones in it (before renumbering) starts
 * 16 * 2^n * .76^(n - k) * .24^k of the edges, and ends as many. So for n = 12
 * half of all ends are at the vertices with at most 3 ones, 299 of 4096:
 * sum over k <= 3 of C(12, k) .76^(12 - k) .24^k = 0.68.
 * Dropping doubles takes more from these than from others. Uniform edges would give 0.08.
 */
static void kronecker_degrees_are_skewed(void **unused)
{
	uint64_t degree[4096], sum = 0;
	struct csr csr;

	(void)unused;
	kronecker(&csr, 12, 1);
	for (unsigned int v = 0; v < 4096; v++)
		degree[v] = csr.row_start[v + 1] - csr.row_start[v];
	qsort(degree, 4096, sizeof(*degree), descending);
	for (unsigned int v = 0; v < 299; v++)
		sum += degree[v];
	assert_in_range(sum * 100 / csr.nonzeros, 50, 72);
	csr_free(&csr);
}

static void kronecker_vertices_are_renumbered(void **unused)
{
	uint64_t low_half, most = 0, where = 0;
	struct csr csr;

	(void)unused;
	kronecker(&csr, 12, 1);
	/* Without renumbering 76 % of the edges would start in the lower half, the most from vertex 0. */
	low_half = csr.row_start[2048];
	assert_in_range(low_half * 100 / csr.nonzeros, 40, 60);
	for (uint64_t v = 0; v < 4096; v++) {
		if (csr.row_start[v + 1] - csr.row_start[v] > most) {
			most = csr.row_start[v + 1] - csr.row_start[v];
			where = v;
		}
	}
	assert_int_not_equal(where, 0);
	csr_free(&csr);
}

static void uniform_rows_have_the_number_that_was_asked_for(void **unused)
{
	struct message message;
	struct csr csr;
	uint64_t in_half = 0;

	(void)unused;
	assert_int_equal(generate_uniform(&csr, 1000, 16, 7, &message), 0);
	assert_int_equal(csr.rows, 1000);
	assert_int_equal(csr.columns, 1000);
	assert_int_equal(csr.nonzeros, 16000);
	for (uint64_t row = 0; row <= 1000; row++)
		assert_int_equal(csr.row_start[row], 16 * row);
	for (uint64_t j = 0; j < 16000; j++) {
		assert_in_range(csr.column[j], 0, 999);
		assert_true(csr.value[j].real >= -1 && csr.value[j].real < 1);
		in_half += csr.column[j] < 500;
	}
	/* 8000 within 5 standard deviations of 63 */
	assert_in_range(in_half, 7684, 8316);
	csr_free(&csr);
}

static void uniform_columns_are_as_many_as_were_asked_for(void **unused)
{
	struct message message;
	struct csr csr;
	uint64_t behind_rows = 0;

	(void)unused;
	assert_int_equal(generate_uniform_columns(&csr, 100, 1000, 16, 7, &message), 0);
	assert_int_equal(csr.rows, 100);
	assert_int_equal(csr.columns, 1000);
	assert_int_equal(csr.nonzeros, 1600);
	for (uint64_t j = 0; j < 1600; j++) {
		assert_in_range(csr.column[j], 0, 999);
		behind_rows += csr.column[j] >= 100;
	}
	/* 1440 within 5 standard deviations of 12 */
	assert_in_range(behind_rows, 1380, 1500);
	csr_free(&csr);
}

/* The numbers that are drawn, a column and then its value, with the columns of each row in order. */
static void expect_drawn(uint64_t rows, uint64_t columns, uint64_t per_row)
{
	struct random random = { .state = 3 };
	struct message message;
	struct csr csr;

	assert_int_equal(generate_uniform_columns(&csr, rows, columns, per_row, 3, &message), 0);
	for (uint64_t row = 0; row < rows; row++) {
		const uint32_t *column = csr.column + row * per_row;
		uint64_t drawn = 0, there = 0;

		for (uint64_t i = 0; i < per_row; i++) {
			drawn += random_mix(random_below(&random, columns));
			assert_true(csr.value[row * per_row + i].real == 2 * random_unit(&random) - 1);
			there += random_mix(column[i]);
			assert_true(i == 0 || column[i - 1] <= column[i]);
		}
		assert_true(drawn == there);
	}
	csr_free(&csr);
}

static void uniform_columns_are_those_that_are_drawn_in_order(void **unused)
{
	(void)unused;
	/* Few columns with many elements of each, and many columns with few. */
	expect_drawn(20, 30, 30);
	expect_drawn(20, 30, 500);
	expect_drawn(20, 100000, 5);
}

static void kronecker_has_as_many_edges_as_were_asked_for(void **unused)
{
	struct message message;
	struct csr csr;

	(void)unused;
	assert_int_equal(generate_kronecker_edges(&csr, 12, 4, 1, &message), 0);
	assert_int_equal(csr.rows, 4096);
	/* 4 edges for each vertex, both ways, less loops and those drawn twice: few of so sparse a graph. */
	assert_in_range(csr.nonzeros, 2 * 4 * 4096 * 8 / 10, 2 * 4 * 4096);
	csr_free(&csr);
	assert_int_equal(generate_kronecker_edges(&csr, 12, 0, 1, &message), -EINVAL);
	assert_int_equal(generate_kronecker_edges(&csr, 12, KRONECKER_EDGE_FACTOR_MAX + 1, 1, &message), -EINVAL);
}

static int compare_degrees(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left < right) - (left > right);
}

static void power_law_graphs_have_the_edges_that_were_asked_for(void **unused)
{
	struct message message;
	struct csr csr;

	(void)unused;
	assert_int_equal(generate_power_law(&csr, 500, 2000, 100, 1, &message), 0);
	assert_int_equal(csr.rows, 500);
	assert_int_equal(csr.nonzeros, 4000);
	for (uint32_t row = 0; row < 500; row++) {
		for (uint64_t j = csr.row_start[row]; j < csr.row_start[row + 1]; j++) {
			assert_int_not_equal(csr.column[j], row);
			assert_true(j == csr.row_start[row] || csr.column[j] > csr.column[j - 1]);
			assert_non_null(element(&csr, csr.column[j], row));
		}
	}
	csr_free(&csr);
}

/* s solved by hand with pow(): the degree of i is 2E i^-s / sum of all k^-s. 20000, 60000, 600: 2E / 600 = 200 = sum. */
static void power_law_degrees_fall_as_the_law_says(void **unused)
{
	const uint64_t vertices = 20000;
	uint64_t *degree = calloc(vertices, sizeof(*degree)), middle = 0, low = 0;
	double s = 0, sum = 0;
	struct message message;
	struct csr csr;

	(void)unused;
	for (s = 0.999; sum < 200; s -= 0.001) {
		sum = 0;
		for (uint64_t i = 1; i <= vertices; i++)
			sum += pow((double)i, -s);
	}
	assert_non_null(degree);
	assert_int_equal(generate_power_law(&csr, vertices, 60000, 600, 1, &message), 0);
	for (uint64_t i = 0; i < vertices; i++)
		degree[i] = csr.row_start[i + 1] - csr.row_start[i];
	qsort(degree, vertices, sizeof(*degree), compare_degrees);
	assert_in_range(degree[0], 480, 660);
	for (unsigned int i = 0; i < 10; i++) {
		middle += degree[10 + i];
		low += degree[1000 + i];
	}
	/* From rank 15 to rank 1005. */
	assert_true(fabs(log((double)middle / (double)low) / log(1005.0 / 15) - s) < 0.06);
	free(degree);
	csr_free(&csr);
}

static void power_law_graphs_are_the_same_from_the_same_seed(void **unused)
{
	struct message message;
	struct csr a, b, c;

	(void)unused;
	assert_int_equal(generate_power_law(&a, 300, 900, 50, 3, &message), 0);
	assert_int_equal(generate_power_law(&b, 300, 900, 50, 3, &message), 0);
	assert_int_equal(generate_power_law(&c, 300, 900, 50, 4, &message), 0);
	assert_memory_equal(a.column, b.column, 1800 * sizeof(*a.column));
	assert_memory_equal(a.value, b.value, 1800 * sizeof(*a.value));
	assert_memory_not_equal(a.column, c.column, 1800 * sizeof(*a.column));
	csr_free(&a);
	csr_free(&b);
	csr_free(&c);
}

static void power_law_graphs_that_cannot_be_are_refused(void **unused)
{
	struct message message;
	struct csr csr;

	(void)unused;
	assert_int_equal(generate_power_law(&csr, 1, 1, 1, 1, &message), -EINVAL);
	assert_int_equal(generate_power_law(&csr, 1ull << 32, 10, 5, 1, &message), -EINVAL);
	assert_int_equal(generate_power_law(&csr, 10, 0, 5, 1, &message), -EINVAL);
	assert_int_equal(generate_power_law(&csr, 10, 46, 9, 1, &message), -EINVAL);
	assert_int_equal(generate_power_law(&csr, 100, 200, 4, 1, &message), -EINVAL);
	assert_int_equal(generate_power_law(&csr, 100, 200, 100, 1, &message), -EINVAL);
	assert_null(csr.row_start);
}

static void impossible_arguments_are_refused(void **unused)
{
	struct message message;
	struct csr csr;

	(void)unused;
	assert_int_equal(generate_kronecker(&csr, 0, 1, &message), -EINVAL);
	assert_string_equal(message.text, "a Kronecker graph of scale 0: it must be 1 to 30");
	assert_int_equal(generate_kronecker(&csr, 31, 1, &message), -EINVAL);
	assert_int_equal(generate_uniform(&csr, 0, 1, 1, &message), -EINVAL);
	assert_int_equal(generate_uniform(&csr, 1ull << 32, 1, 1, &message), -EINVAL);
	assert_int_equal(generate_uniform_columns(&csr, 1, 0, 1, 1, &message), -EINVAL);
	assert_int_equal(generate_uniform_columns(&csr, 1, 1ull << 32, 1, 1, &message), -EINVAL);
	assert_int_equal(generate_uniform(&csr, 1u << 31, UINT64_MAX / 2, 1, &message), -EINVAL);
	assert_int_equal(generate_uniform(&csr, 1u << 31, 1ull << 32, 1, &message), -ENOMEM);
	assert_null(csr.row_start);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_generator_gives_the_published_numbers),
		cmocka_unit_test(kronecker_graphs_are_undirected_without_loops_or_doubles),
		cmocka_unit_test(the_same_seed_gives_the_same_graph_and_another_another),
		cmocka_unit_test(kronecker_degrees_are_skewed),
		cmocka_unit_test(kronecker_vertices_are_renumbered),
		cmocka_unit_test(uniform_rows_have_the_number_that_was_asked_for),
		cmocka_unit_test(uniform_columns_are_as_many_as_were_asked_for),
		cmocka_unit_test(uniform_columns_are_those_that_are_drawn_in_order),
		cmocka_unit_test(kronecker_has_as_many_edges_as_were_asked_for),
		cmocka_unit_test(power_law_graphs_have_the_edges_that_were_asked_for),
		cmocka_unit_test(power_law_degrees_fall_as_the_law_says),
		cmocka_unit_test(power_law_graphs_are_the_same_from_the_same_seed),
		cmocka_unit_test(power_law_graphs_that_cannot_be_are_refused),
		cmocka_unit_test(impossible_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
