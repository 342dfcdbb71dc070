/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Cutting a sparse matrix into blocks: the blocks that come out, and bad input. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libdare/blocks.h"
#include "tests/lib/sparse_case.h"

static const unsigned int blocks_of[] = { 1, 2, 4, 8, 16 };

static struct dare_blocks *blockify(const struct sparse_case *s, enum dare_layout layout, unsigned int block)
{
	struct dare_sparse matrix = sparse_case_matrix(s, layout);
	struct dare_blocks *blocks;

	assert_int_equal(dare_blockify(&blocks, &matrix, block), 0);
	return blocks;
}

static void statistics_are_those_of_a_plain_count(void **unused)
{
	struct random random = { .state = 21 };

	(void)unused;
	for (unsigned int i = 0; i < 1000; i++) {
		unsigned int block = blocks_of[i % 5], area = block * block;
		struct dare_block_statistics statistics;
		uint64_t histogram[DARE_FILL_CLASSES] = { 0 };
		struct sparse_tiles tiles;
		struct dare_blocks *blocks;
		struct sparse_case s;

		sparse_case_random(&s, &random);
		sparse_case_tiles(&s, block, &tiles);
		for (unsigned int n = 1; n <= area; n++) {
			unsigned int class = 0;

			while (n * 16 > (class + 1) * area)
				class++;
			histogram[class] += tiles.filled[n];
		}
		blocks = blockify(&s, i % 2 ? DARE_CSR : DARE_CSC, block);
		assert_int_equal(dare_blocks_statistics(blocks, &statistics), 0);
		assert_int_equal(statistics.block, block);
		assert_int_equal(statistics.nonzeros, s.nonzeros);
		assert_int_equal(statistics.blocks, tiles.blocks);
		assert_int_equal(statistics.block_rows, (s.rows + block - 1) / block);
		assert_int_equal(statistics.block_columns, (s.columns + block - 1) / block);
		assert_int_equal(statistics.runs, tiles.runs);
		assert_int_equal(statistics.groups, tiles.groups);
		assert_memory_equal(statistics.histogram, histogram, sizeof(histogram));
		assert_true(statistics.fill == (tiles.blocks ? (double)s.nonzeros / (double)(tiles.blocks * area) : 0));
		dare_blocks_free(blocks);
		sparse_case_free(&s);
	}
}

static void each_element_is_at_its_place_in_its_block(void **unused)
{
	struct random random = { .state = 22 };

	(void)unused;
	for (unsigned int i = 0; i < 200; i++) {
		unsigned int block = blocks_of[i % 5];
		struct dare_blocks *blocks;
		struct sparse_case s;

		sparse_case_random(&s, &random);
		blocks = blockify(&s, DARE_CSR, block);
		for (size_t row = 0; row < s.rows; row++) {
			for (uint64_t k = s.row_start[row]; k < s.row_start[row + 1]; k++) {
				uint64_t at = blocks->position[k] / (block * block);
				uint64_t within = blocks->position[k] % (block * block);

				assert_int_equal(blocks->row[at], row / block);
				assert_true(at >= blocks->start[s.column[k] / block]);
				assert_true(at < blocks->start[s.column[k] / block + 1]);
				assert_int_equal(within, row % block * block + s.column[k] % block);
			}
		}
		dare_blocks_free(blocks);
		sparse_case_free(&s);
	}
}

static void both_layouts_give_the_same_blocks(void **unused)
{
	struct random random = { .state = 23 };

	(void)unused;
	for (unsigned int i = 0; i < 200; i++) {
		struct dare_blocks *by_rows, *by_columns;
		struct sparse_case s;

		sparse_case_random(&s, &random);
		by_rows = blockify(&s, DARE_CSR, blocks_of[i % 5]);
		by_columns = blockify(&s, DARE_CSC, blocks_of[i % 5]);
		assert_memory_equal(&by_rows->statistics, &by_columns->statistics, sizeof(by_rows->statistics));
		assert_memory_equal(by_rows->start, by_columns->start,
				    (by_rows->block_columns + 1) * sizeof(*by_rows->start));
		assert_memory_equal(by_rows->row, by_columns->row,
				    by_rows->statistics.blocks * sizeof(*by_rows->row));
		for (uint64_t k = 0; k < s.nonzeros; k++)
			assert_int_equal(by_columns->position[k], by_rows->position[s.csr_of[k]]);
		dare_blocks_free(by_rows);
		dare_blocks_free(by_columns);
		sparse_case_free(&s);
	}
}

/* The paper's rows 0, 1 and 3 (figure 2): two runs, one group. */
static void the_papers_column_has_two_runs_and_one_group(void **unused)
{
	const uint64_t start[] = { 0, 3 };
	const uint32_t index[] = { 0, 1, 3 };
	const struct dare_sparse matrix = { DARE_CSC, 4, 1, start, index };
	struct dare_block_statistics statistics;
	struct dare_blocks *blocks;

	(void)unused;
	assert_int_equal(dare_blockify(&blocks, &matrix, 1), 0);
	assert_int_equal(dare_blocks_statistics(blocks, &statistics), 0);
	assert_int_equal(statistics.runs, 2);
	assert_int_equal(statistics.groups, 1);
	dare_blocks_free(blocks);
}

static void a_matrix_of_no_rows_or_columns_has_no_blocks(void **unused)
{
	const uint64_t start[4] = { 0 };
	const struct dare_sparse matrices[] = {
		{ DARE_CSR, 0, 0, start, NULL }, { DARE_CSC, 0, 0, start, NULL },
		{ DARE_CSR, 3, 0, start, NULL }, { DARE_CSC, 3, 0, start, NULL },
		{ DARE_CSR, 0, 3, start, NULL }, { DARE_CSC, 0, 3, start, NULL },
	};

	(void)unused;
	for (unsigned int i = 0; i < 6; i++) {
		struct dare_block_statistics statistics;
		struct dare_blocks *blocks;

		assert_int_equal(dare_blockify(&blocks, &matrices[i], 4), 0);
		assert_int_equal(dare_blocks_statistics(blocks, &statistics), 0);
		assert_int_equal(statistics.blocks, 0);
		assert_true(statistics.fill == 0);
		dare_blocks_free(blocks);
	}
}

static void refused(const struct dare_sparse *matrix, unsigned int block, const char *text)
{
	struct dare_blocks *blocks = (struct dare_blocks *)(uintptr_t)1;

	assert_int_equal(dare_blockify(&blocks, matrix, block), -EINVAL);
	assert_null(blocks);
	if (!strstr(dare_error_text(), text))
		fail_msg("the text is: %s", dare_error_text());
}

static void bad_input_is_refused_by_what_and_where(void **unused)
{
	const uint64_t start[] = { 0, 2, 3 }, falls[] = { 0, 3, 2 }, late[] = { 1, 2, 3 };
	const uint32_t index[] = { 0, 3, 1 }, beyond[] = { 0, 1, 4 }, twice[] = { 3, 3, 1 };
	const struct dare_sparse good = { DARE_CSR, 2, 4, start, index };
	struct dare_sparse bad = good;
	struct dare_blocks *blocks;

	(void)unused;
	refused(&good, 0, "a block of 0");
	refused(&good, 3, "a block of 3: it must be 1, 2, 4, 8 or 16");
	refused(&good, 32, "a block of 32");
	bad.start = falls;
	refused(&bad, 1, "start[2] is 2, less than the 3 before it");
	bad.start = late;
	refused(&bad, 1, "start[0] is 1, it must be 0");
	bad.start = NULL;
	refused(&bad, 1, "start is NULL");
	bad = good;
	bad.index = beyond;
	refused(&bad, 1, "index[2] is column 4 in row 1, but the matrix has 4 columns");
	bad.index = twice;
	refused(&bad, 1, "index[1]: row 0 has column 3 twice");
	bad.index = NULL;
	refused(&bad, 1, "index is NULL");
	bad = good;
	bad.layout = (enum dare_layout)7;
	refused(&bad, 1, "no layout 7");
	bad = good;
	bad.columns = (size_t)1 << 33;
	refused(&bad, 1, "at most 2^32");
	bad = (struct dare_sparse){ DARE_CSC, 3, 2, start, beyond };
	refused(&bad, 1, "index[2] is row 4 in column 1, but the matrix has 3 rows");
	refused(NULL, 1, "matrix is NULL");
	assert_int_equal(dare_blockify(NULL, &good, 1), -EINVAL);
	assert_int_equal(dare_blocks_statistics(NULL, NULL), -EINVAL);
	assert_int_equal(dare_blockify(&blocks, &good, 1), 0);
	assert_int_equal(dare_blocks_statistics(blocks, NULL), -EINVAL);
	dare_blocks_free(blocks);
	dare_blocks_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics_are_those_of_a_plain_count),
		cmocka_unit_test(each_element_is_at_its_place_in_its_block),
		cmocka_unit_test(both_layouts_give_the_same_blocks),
		cmocka_unit_test(the_papers_column_has_two_runs_and_one_group),
		cmocka_unit_test(a_matrix_of_no_rows_or_columns_has_no_blocks),
		cmocka_unit_test(bad_input_is_refused_by_what_and_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
