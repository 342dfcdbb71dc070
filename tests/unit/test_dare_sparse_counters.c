/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The instructions of the sparse kernels, against a plain count of runs and groups in
 * the matrix. The device is the plain interpreter, which counts by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/fake_dare.h"
#include "tests/lib/sparse_case.h"

static const unsigned int blocks_of[] = { 1, 2, 4, 8, 16 };

enum product { SPMM, SDDMM };

static struct dare_oracle_counters run(const struct sparse_case *s, enum product product, enum dare_form form,
				       unsigned int block, size_t columns)
{
	struct dare_sparse matrix = sparse_case_matrix(s, DARE_CSC);
	float *a = calloc(s->rows * columns + 1, sizeof(*a));
	float *b = calloc(s->columns * columns + 1, sizeof(*b));
	float *p = calloc(s->nonzeros + 1, sizeof(*p));
	struct dare_blocks *blocks;
	struct fake_dare fake;
	struct dare *dare = fake_dare_open(&fake);

	assert_true(a && b && p && dare);
	fake_dare_allow(&fake, a, s->rows * columns * sizeof(*a));
	fake_dare_allow(&fake, b, s->columns * columns * sizeof(*b));
	assert_int_equal(dare_blockify(&blocks, &matrix, block), 0);
	if (product == SPMM)
		assert_int_equal(dare_spmm(dare, form, blocks, NULL, columns, b, columns, a, columns), 0);
	else
		assert_int_equal(dare_sddmm(dare, form, blocks, NULL, columns, a, columns, b, columns, p), 0);
	dare_blocks_free(blocks);
	dare_close(dare);
	free(a);
	free(b);
	free(p);
	return fake.oracle.counters;
}

static void check_counters(const struct dare_oracle_counters *got, const struct sparse_count *right)
{
	assert_int_equal(got->mma, right->mma);
	assert_int_equal(got->mld, right->mld);
	assert_int_equal(got->mst, right->mst);
	assert_int_equal(got->mgather, right->mgather);
	assert_int_equal(got->mscatter, right->mscatter);
	assert_int_equal(got->macs_used, right->macs_used);
	assert_int_equal(got->macs_offered, right->macs_offered);
	assert_int_equal(got->rows_loaded, right->rows_loaded);
	assert_int_equal(got->rows_stored, right->rows_stored);
	assert_int_equal(got->bytes_loaded, right->bytes_loaded);
	assert_int_equal(got->bytes_stored, right->bytes_stored);
	assert_int_equal(got->errors, 0);
	assert_int_equal(got->instructions,
			 got->mma + got->mld + got->mst + got->mgather + got->mscatter + got->mcfg);
}

static void counters_are_those_of_a_plain_count_of_runs_and_groups(void **unused)
{
	static const size_t columns_of[] = { 1, 16, 20, 33, 64, 70 };
	struct random random = { .state = 11 };

	(void)unused;
	for (unsigned int i = 0; i < SPARSE_CASES(60); i++) {
		struct sparse_case s;

		sparse_case_random(&s, &random);
		for (unsigned int b = 0; b < 5; b++) {
			for (unsigned int gsa = 0; gsa < 2; gsa++) {
				enum dare_form form = gsa ? DARE_GSA : DARE_BASELINE;
				size_t columns = columns_of[(i + b) % 6];
				struct dare_oracle_counters got = run(&s, SPMM, form, blocks_of[b], columns);
				struct sparse_count right;

				sparse_case_count_spmm(&s, blocks_of[b], gsa, columns, &right);
				check_counters(&got, &right);
				got = run(&s, SDDMM, form, blocks_of[b], columns);
				sparse_case_count_sddmm(&s, blocks_of[b], gsa, columns, &right);
				check_counters(&got, &right);
			}
		}
		sparse_case_free(&s);
	}
}

static double utilisation(const struct dare_oracle_counters *counters)
{
	return (double)counters->macs_used / (double)counters->macs_offered;
}

/* Columns of some 50 elements at random: pairs for the baseline, 16 at a time for GSA. */
static void dense_columns(struct sparse_case *s)
{
	struct random random = { .state = 12 };

	sparse_case_uniform(s, &random, 500, 40, 0.1);
}

static void gsa_at_b_1_cuts_the_instructions_to_less_than_half(void **unused)
{
	struct sparse_case s;

	(void)unused;
	dense_columns(&s);
	for (enum product product = SPMM; product <= SDDMM; product++) {
		struct dare_oracle_counters baseline = run(&s, product, DARE_BASELINE, 1, 64);
		struct dare_oracle_counters gsa = run(&s, product, DARE_GSA, 1, 64);

		assert_true(2 * gsa.instructions < baseline.instructions);
		assert_true(5 * gsa.mma < baseline.mma);
	}
	sparse_case_free(&s);
}

static void gsa_at_b_1_raises_utilisation_by_the_ratio_of_runs_to_groups(void **unused)
{
	struct sparse_tiles tiles;
	struct sparse_case s;

	(void)unused;
	dense_columns(&s);
	sparse_case_tiles(&s, 1, &tiles);
	for (enum product product = SPMM; product <= SDDMM; product++) {
		struct dare_oracle_counters baseline = run(&s, product, DARE_BASELINE, 1, 64);
		struct dare_oracle_counters gsa = run(&s, product, DARE_GSA, 1, 64);
		double ratio = utilisation(&gsa) / utilisation(&baseline);
		double right = (double)tiles.runs / (double)tiles.groups;

		assert_true(ratio > 5 && ratio < 16);
		assert_true(ratio > right * 0.999999 && ratio < right * 1.000001);
	}
	sparse_case_free(&s);
}

static void gsa_of_full_blocks_of_16_buys_nothing_and_costs_the_address_vectors(void **unused)
{
	struct random random = { .state = 13 };
	struct sparse_case s;

	(void)unused;
	sparse_case_uniform(&s, &random, 64, 64, 1.0);
	for (enum product product = SPMM; product <= SDDMM; product++) {
		struct dare_oracle_counters baseline = run(&s, product, DARE_BASELINE, 16, 64);
		struct dare_oracle_counters gsa = run(&s, product, DARE_GSA, 16, 64);

		assert_int_equal(gsa.mma, baseline.mma);
		assert_int_equal(gsa.macs_used, baseline.macs_used);
		assert_true(gsa.instructions > baseline.instructions);
		/* an address vector for each gathered tile */
		assert_int_equal(gsa.bytes_loaded - baseline.bytes_loaded, gsa.mgather * 16 * 8);
	}
	sparse_case_free(&s);
}

static void auto_takes_gsa_below_8_for_spmm_and_below_4_for_sddmm(void **unused)
{
	static const bool is_gsa[2][5] = { [SPMM] = { true, true, true, false, false },
					   [SDDMM] = { true, true, false, false, false } };
	struct random random = { .state = 14 };
	struct sparse_case s;

	(void)unused;
	sparse_case_uniform(&s, &random, 40, 40, 0.2);
	for (enum product product = SPMM; product <= SDDMM; product++) {
		for (unsigned int b = 0; b < 5; b++) {
			struct dare_oracle_counters counters = run(&s, product, DARE_AUTO, blocks_of[b], 16);

			assert_int_equal(counters.mgather > 0, is_gsa[product][b]);
		}
	}
	sparse_case_free(&s);
}

static void a_matrix_without_elements_takes_no_instruction(void **unused)
{
	struct random random = { .state = 15 };
	struct sparse_case s;

	(void)unused;
	sparse_case_uniform(&s, &random, 30, 20, 0);
	for (enum product product = SPMM; product <= SDDMM; product++)
		assert_int_equal(run(&s, product, DARE_GSA, 1, 64).instructions, 0);
	sparse_case_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_those_of_a_plain_count_of_runs_and_groups),
		cmocka_unit_test(gsa_at_b_1_cuts_the_instructions_to_less_than_half),
		cmocka_unit_test(gsa_at_b_1_raises_utilisation_by_the_ratio_of_runs_to_groups),
		cmocka_unit_test(gsa_of_full_blocks_of_16_buys_nothing_and_costs_the_address_vectors),
		cmocka_unit_test(auto_takes_gsa_below_8_for_spmm_and_below_4_for_sddmm),
		cmocka_unit_test(a_matrix_without_elements_takes_no_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
