/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Verification: right results pass, and each kind of wrong one does not. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "examples/common/graph500.h"
#include "examples/common/verify.h"

/*
 *     | 1 2 . |        | 10 |        |  50 |
 * A = | . . . |    x = | 20 |  A x = |   0 |
 *     | . 3 4 |        | 30 |        | 180 |
 */
static uint64_t starts[] = { 0, 2, 2, 4 };
static uint32_t columns[] = { 0, 1, 1, 2 };

static struct csr integer_matrix(void)
{
	static union csr_value values[] = { { .integer = 1 }, { .integer = 2 }, { .integer = 3 }, { .integer = 4 } };

	return (struct csr){ 3, 3, 4, CSR_INTEGER, false, starts, columns, values };
}

static struct csr real_matrix(void)
{
	static union csr_value values[] = { { .real = 1 }, { .real = 2 }, { .real = 3 }, { .real = 4 } };

	return (struct csr){ 3, 3, 4, CSR_REAL, false, starts, columns, values };
}

static void a_product_of_integers_must_be_equal(void **unused)
{
	const union csr_value x[] = { { .integer = 10 }, { .integer = 20 }, { .integer = 30 } };
	union csr_value y[] = { { .integer = 50 }, { .integer = 0 }, { .integer = 180 } };
	struct csr a = integer_matrix();
	struct message message;

	(void)unused;
	assert_true(verify_spmv(&a, x, y, &message));
	y[2].integer = 181;
	assert_false(verify_spmv(&a, x, y, &message));
	assert_string_equal(message.text, "row 2 is 181, but must be 180");
	y[2].integer = 180;
	y[1].integer = -1;
	assert_false(verify_spmv(&a, x, y, &message));
	assert_string_equal(message.text, "row 1 is -1, but must be 0");
}

static void integer_sums_wrap_at_64_bits(void **unused)
{
	const union csr_value x[] = { { .integer = INT64_MAX }, { .integer = 1 }, { .integer = 0 } };
	/* 2^63 - 1 + 2 = -2^63 + 1 */
	const union csr_value y[] = { { .integer = INT64_MIN + 1 }, { .integer = 0 }, { .integer = 3 } };
	struct csr a = integer_matrix();
	struct message message;

	(void)unused;
	assert_true(verify_spmv(&a, x, y, &message));
}

static void a_product_of_reals_must_be_equal_bit_for_bit(void **unused)
{
	const union csr_value x[] = { { .real = 0.1 }, { .real = 0.2 }, { .real = 0.3 } };
	union csr_value y[] = { { .real = 0.5 }, { .real = 0 }, { .real = 3 * 0.2 + 4 * 0.3 } };
	struct csr a = real_matrix();
	struct message message;

	(void)unused;
	assert_true(verify_spmv(&a, x, y, &message));
	y[0].real += DBL_EPSILON / 2;
	assert_false(verify_spmv(&a, x, y, &message));
	y[0].real = 0.5;
	y[1].real = -0.0;
	assert_false(verify_spmv(&a, x, y, &message));
}

static void the_bound_is_n_eps_times_the_magnitudes(void **unused)
{
	(void)unused;
	/* 4 * 2^-52 * 8 = 2^-47 */
	assert_true(verify_within_bound(1.0 + 0x1p-47, 1.0L, 8.0L, 4));
	assert_false(verify_within_bound(1.0 + 0x1.1p-47, 1.0L, 8.0L, 4));
	assert_true(verify_within_bound(0.0, 0.0L, 0.0L, 0));
	assert_false(verify_within_bound(1e-300, 0.0L, 0.0L, 0));
}

static void a_hadamard_product_is_checked_element_by_element(void **unused)
{
	/* places 0, 1, 7, 8 of a 3 by 3 matrix; cut at 5 elements: 0, 1, 2, 3 */
	const union csr_value whole[] = { { 5 }, { 6 }, { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, { 7 }, { 8 } };
	const union csr_value cut[] = { { 5 }, { 6 }, { 7 }, { 8 }, { 0 } };
	union csr_value result[] = { { 5 }, { 12 }, { 21 }, { 32 } };
	struct csr a = integer_matrix();
	struct message message;

	(void)unused;
	assert_true(verify_sdhp(&a, whole, 9, result, &message));
	assert_true(verify_sdhp(&a, cut, 5, result, &message));
	result[3].integer = 33;
	assert_false(verify_sdhp(&a, whole, 9, result, &message));
	assert_string_equal(message.text, "element 3 (row 2, column 2) is wrong");
}

/* A A = | 1 2 . ; . . . ; . 12 16 | with rows 0 and 2 (the middle row of A is empty) */
static void a_sparse_product_is_checked_row_by_row(void **unused)
{
	uint64_t c_starts[] = { 0, 2, 2, 4 };
	uint32_t c_columns[] = { 1, 0, 1, 2 };
	union csr_value c_values[] = { { 2 }, { 1 }, { 12 }, { 16 } };
	struct csr a = integer_matrix();
	struct csr c = { 3, 3, 4, CSR_INTEGER, false, c_starts, c_columns, c_values };
	struct message message;

	(void)unused;
	assert_true(verify_spmm(&a, &a, &c, &message));
	c_values[0].integer = 3;
	assert_false(verify_spmm(&a, &a, &c, &message));
	c_values[0].integer = 2;
	c_columns[0] = 2;
	assert_false(verify_spmm(&a, &a, &c, &message));
	assert_string_equal(message.text, "row 0 has an element too many, in column 2");
	c_columns[0] = 0;
	c_values[0].integer = 1;
	assert_false(verify_spmm(&a, &a, &c, &message));
	assert_string_equal(message.text, "row 0 has an element too many, in column 0");
	c_columns[0] = 7;
	assert_false(verify_spmm(&a, &a, &c, &message));
	c_starts[1] = 1;
	c_starts[2] = 1;
	assert_false(verify_spmm(&a, &a, &c, &message));
	assert_string_equal(message.text, "row 0 has 1 elements, but must have 2");
}

/* 0 - 1 - 2, 0 - 2, 2 - 3;  4 - 5;  6 alone */
static uint64_t graph_starts[] = { 0, 2, 4, 7, 8, 9, 10, 10 };
static uint32_t graph_columns[] = { 1, 2, 0, 2, 0, 1, 3, 2, 5, 4 };
static const struct csr graph = { 7, 7, 10, CSR_INTEGER, true, graph_starts, graph_columns, NULL };

struct search {
	int32_t level[7];
	int64_t parent[7];
};

static const struct search from_0 = { { 0, 1, 1, 2, -1, -1, -1 }, { 0, 0, 0, 2, -1, -1, -1 } };

static bool validate(const struct search *search, struct message *message)
{
	struct graph500 graph500;
	bool valid;

	assert_int_equal(graph500_init(&graph500, &graph), 0);
	valid = graph500_validate(&graph500, 0, search->level, search->parent, message);
	graph500_free(&graph500);
	return valid;
}

static void expect_invalid(const struct search *search, const char *wanted)
{
	struct message message;

	assert_false(validate(search, &message));
	assert_string_equal(message.text, wanted);
}

static void a_right_search_is_valid(void **unused)
{
	struct message message;

	(void)unused;
	assert_true(validate(&from_0, &message));
}

static void a_wrong_search_is_not(void **unused)
{
	struct search search = from_0;

	(void)unused;
	search.parent[3] = 1;
	expect_invalid(&search, "search from 0: vertex 3 has a parent that is not its neighbour");
	search = from_0;
	search.level[3] = 3;
	expect_invalid(&search, "search from 0: vertex 3 is not one level below its parent");
	search = from_0;
	search.level[3] = search.parent[3] = -1;
	expect_invalid(&search, "search from 0: vertex 3 is not reached");
	search = from_0;
	search.level[4] = 1;
	search.parent[4] = 0;
	expect_invalid(&search, "search from 0: vertex 4 is reached, but lies in another component");
	search = from_0;
	search.parent[0] = 1;
	expect_invalid(&search, "search from 0: vertex 0 is the root, but not its own parent at level 0");
	search = from_0;
	search.parent[3] = 7;
	expect_invalid(&search, "search from 0: vertex 3 has a parent that is no vertex");
	/* A tree all right, but not the shallowest: 0 - 1 - 2 - 3. */
	search = (struct search){ { 0, 1, 2, 3, -1, -1, -1 }, { 0, 0, 1, 2, -1, -1, -1 } };
	expect_invalid(&search, "search from 0: vertex 0 has a neighbour more than one level away");
}

static void edges_are_those_of_the_component(void **unused)
{
	struct graph500 graph500;

	(void)unused;
	assert_int_equal(graph500_init(&graph500, &graph), 0);
	assert_int_equal(graph500_edges(&graph500, 3), 4);
	assert_int_equal(graph500_edges(&graph500, 5), 1);
	assert_int_equal(graph500_edges(&graph500, 6), 0);
	graph500_free(&graph500);
}

static void roots_are_different_vertices_that_have_an_edge(void **unused)
{
	uint32_t roots[64];
	bool seen[7] = { false };
	unsigned int count = graph500_roots(&graph, 64, 1, roots);

	(void)unused;
	assert_int_equal(count, 6);
	for (unsigned int i = 0; i < count; i++) {
		assert_in_range(roots[i], 0, 5);
		assert_false(seen[roots[i]]);
		seen[roots[i]] = true;
	}
	assert_int_equal(graph500_roots(&graph, 3, 1, roots), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_product_of_integers_must_be_equal),
		cmocka_unit_test(integer_sums_wrap_at_64_bits),
		cmocka_unit_test(a_product_of_reals_must_be_equal_bit_for_bit),
		cmocka_unit_test(the_bound_is_n_eps_times_the_magnitudes),
		cmocka_unit_test(a_hadamard_product_is_checked_element_by_element),
		cmocka_unit_test(a_sparse_product_is_checked_row_by_row),
		cmocka_unit_test(a_right_search_is_valid),
		cmocka_unit_test(a_wrong_search_is_not),
		cmocka_unit_test(edges_are_those_of_the_component),
		cmocka_unit_test(roots_are_different_vertices_that_have_an_edge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
