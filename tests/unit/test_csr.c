/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Compressed rows: making them of a list of entries, transposing, symmetrising, cutting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "examples/common/array.h"
#include "examples/common/csr.h"
#include "examples/common/random.h"

#define SIZE 23

static void fill(int64_t dense[SIZE][SIZE], struct csr_entry *entries, unsigned int count)
{
	struct random random = { .state = 5 };

	memset(dense, 0, sizeof(int64_t[SIZE][SIZE]));
	for (unsigned int i = 0; i < count; i++) {
		entries[i].row = (uint32_t)random_below(&random, SIZE);
		entries[i].column = (uint32_t)random_below(&random, SIZE);
		entries[i].value.integer = (int64_t)random_below(&random, 1000) - 500;
		dense[entries[i].row][entries[i].column] += entries[i].value.integer;
	}
}

static void to_dense(const struct csr *csr, int64_t dense[SIZE][SIZE])
{
	memset(dense, 0, sizeof(int64_t[SIZE][SIZE]));
	for (uint64_t row = 0; row < csr->rows; row++) {
		for (uint64_t j = csr->row_start[row]; j < csr->row_start[row + 1]; j++)
			dense[row][csr->column[j]] += csr->value[j].integer;
	}
}

static void rows_hold_what_the_entries_said(void **unused)
{
	int64_t wanted[SIZE][SIZE], got[SIZE][SIZE];
	struct csr_entry entries[200];
	struct csr csr;

	(void)unused;
	fill(wanted, entries, 200);
	assert_int_equal(csr_from_entries(&csr, SIZE, SIZE, CSR_INTEGER, entries, 200), 0);
	assert_int_equal(csr.nonzeros, 200);
	to_dense(&csr, got);
	assert_memory_equal(got, wanted, sizeof(got));
	for (uint64_t row = 0; row < SIZE; row++) {
		for (uint64_t j = csr.row_start[row] + 1; j < csr.row_start[row + 1]; j++)
			assert_true(csr.column[j - 1] <= csr.column[j]);
	}
	csr_free(&csr);
}

static void equal_places_keep_their_order(void **unused)
{
	const struct csr_entry entries[] = {
		{ 1, 1, { .integer = 3 } }, { 0, 1, { .integer = 9 } }, { 1, 1, { .integer = 1 } },
		{ 1, 0, { .integer = 4 } }, { 1, 1, { .integer = 2 } },
	};
	const int64_t wanted[] = { 9, 4, 3, 1, 2 };
	struct csr csr;

	(void)unused;
	assert_int_equal(csr_from_entries(&csr, 2, 2, CSR_INTEGER, entries, 5), 0);
	for (unsigned int j = 0; j < 5; j++)
		assert_int_equal(csr.value[j].integer, wanted[j]);
	csr_free(&csr);
}

static void transposing_swaps_rows_and_columns(void **unused)
{
	int64_t wanted[SIZE][SIZE], got[SIZE][SIZE];
	struct csr_entry entries[200];
	struct csr csr, transposed;

	(void)unused;
	fill(wanted, entries, 200);
	assert_int_equal(csr_from_entries(&csr, SIZE, SIZE, CSR_INTEGER, entries, 200), 0);
	assert_int_equal(csr_transpose(&transposed, &csr), 0);
	to_dense(&transposed, got);
	for (unsigned int i = 0; i < SIZE; i++) {
		for (unsigned int j = 0; j < SIZE; j++)
			assert_int_equal(got[j][i], wanted[i][j]);
	}
	csr_free(&csr);
	csr_free(&transposed);
}

static void a_wide_matrix_transposes_to_a_tall_one(void **unused)
{
	const struct csr_entry entries[] = { { 0, 4, { .integer = 8 } }, { 1, 0, { .integer = 6 } } };
	const uint64_t starts[] = { 0, 1, 1, 1, 1, 2 };
	struct csr csr, transposed;

	(void)unused;
	assert_int_equal(csr_from_entries(&csr, 2, 5, CSR_INTEGER, entries, 2), 0);
	assert_int_equal(csr_transpose(&transposed, &csr), 0);
	assert_int_equal(transposed.rows, 5);
	assert_int_equal(transposed.columns, 2);
	assert_memory_equal(transposed.row_start, starts, sizeof(starts));
	assert_int_equal(transposed.column[0], 1);
	assert_int_equal(transposed.value[1].integer, 8);
	csr_free(&csr);
	csr_free(&transposed);
}

static void a_graph_has_each_edge_once_in_both_directions(void **unused)
{
	struct csr_entry entries[200];
	int64_t dense[SIZE][SIZE];
	struct csr csr, graph;

	(void)unused;
	fill(dense, entries, 200);
	memset(dense, 0, sizeof(dense));
	for (unsigned int i = 0; i < 200; i++) {
		if (entries[i].row == entries[i].column)
			continue;
		dense[entries[i].row][entries[i].column] = 1;
		dense[entries[i].column][entries[i].row] = 1;
	}
	assert_int_equal(csr_from_entries(&csr, SIZE, SIZE, CSR_INTEGER, entries, 200), 0);
	assert_int_equal(csr_graph(&graph, &csr), 0);
	for (unsigned int i = 0; i < SIZE; i++) {
		uint64_t at = graph.row_start[i];

		for (uint32_t j = 0; j < SIZE; j++) {
			if (!dense[i][j])
				continue;
			assert_true(at < graph.row_start[i + 1]);
			assert_int_equal(graph.column[at++], j);
		}
		assert_int_equal(at, graph.row_start[i + 1]);
	}
	csr_free(&csr);
	csr_free(&graph);
}

static void vertex_zero_may_have_an_edge(void **unused)
{
	const struct csr_entry entries[] = { { 0, 0, { .integer = 1 } }, { 1, 0, { .integer = 1 } } };
	struct csr csr, graph;

	(void)unused;
	assert_int_equal(csr_from_entries(&csr, 2, 2, CSR_INTEGER, entries, 2), 0);
	assert_int_equal(csr_graph(&graph, &csr), 0);
	assert_int_equal(graph.nonzeros, 2);
	assert_int_equal(graph.column[0], 1);
	assert_int_equal(graph.column[1], 0);
	csr_free(&csr);
	csr_free(&graph);
}

static void blocks_cover_all_rows_and_keep_to_their_target(void **unused)
{
	const uint64_t start[] = { 0, 3, 3, 6, 106, 107, 107, 109 };
	const uint64_t wanted[] = { 0, 3, 4, 7 };
	struct csr_blocks blocks;

	(void)unused;
	assert_int_equal(csr_blocks_make(&blocks, start, 7, 10), 0);
	assert_int_equal(blocks.count, 3);
	assert_memory_equal(blocks.first_row, wanted, sizeof(wanted));
	csr_blocks_free(&blocks);
	assert_int_equal(csr_blocks_make(&blocks, start, 0, 10), 0);
	assert_int_equal(blocks.count, 0);
	csr_blocks_free(&blocks);
}

static void arrays_are_whole_zeroed_pages(void **unused)
{
	unsigned char *array = array_alloc(5000, 1);

	(void)unused;
	assert_non_null(array);
	assert_int_equal((uintptr_t)array % 4096, 0);
	for (unsigned int i = 0; i < 8192; i++)
		assert_int_equal(array[i], 0);
	array_free(array, 5000, 1);
	assert_null(array_alloc(SIZE_MAX / 2, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_hold_what_the_entries_said),
		cmocka_unit_test(equal_places_keep_their_order),
		cmocka_unit_test(transposing_swaps_rows_and_columns),
		cmocka_unit_test(a_wide_matrix_transposes_to_a_tall_one),
		cmocka_unit_test(a_graph_has_each_edge_once_in_both_directions),
		cmocka_unit_test(vertex_zero_may_have_an_edge),
		cmocka_unit_test(blocks_cover_all_rows_and_keep_to_their_target),
		cmocka_unit_test(arrays_are_whole_zeroed_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
