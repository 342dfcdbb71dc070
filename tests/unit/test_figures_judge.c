/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Verdicts of make figures, on values made by hand. docs/timing-figures.md says which verdict each must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bench/figures/figures.h"

#define NONE 0.5	/* of a null model: far from all that is tested */

static struct row row_of(const char *kind, double low, double high)
{
	return (struct row){ .number = 1, .id = "M01", .kind = kind, .low = low, .high = high };
}

static void expect(struct row row, double ours, double null, enum verdict verdict)
{
	struct outcome a = { .value = ours }, b = { .value = null };

	assert_string_equal(verdict_name(row_verdict(&row, a, b)), verdict_name(verdict));
}

static void test_a_number_is_reproduced_within_10_percent_on_both_sides(void **state)
{
	struct row row = row_of("exact", 2.0, 2.0);

	(void)state;
	expect(row, 1.81, NONE, REPRODUCED);
	expect(row, 2.19, NONE, REPRODUCED);
	expect(row, 1.79, NONE, IN_KIND);
	expect(row, 2.21, NONE, IN_KIND);
	expect(row_of("approximate", 2.0, 2.0), 2.19, NONE, REPRODUCED);
}

static void test_a_number_that_the_null_model_gets_is_consistent(void **state)
{
	struct row row = row_of("exact", 2.0, 2.0);

	(void)state;
	expect(row, 2.1, 1.9, CONSISTENT);
	/* A null model hits near the paper's number, not near ours. */
	expect(row, 2.1, 2.25, REPRODUCED);
	expect(row, 2.1, 1.75, REPRODUCED);
}

/* The model's own value on the null model's inputs says whether the part makes any difference. */
static void test_a_null_model_that_is_near_the_model_on_its_inputs_hits(void **state)
{
	struct row row = row_of("exact", 2.0, 2.0);

	(void)state;
	row.value_of_small = 1.2;
	expect(row, 2.1, 1.09, CONSISTENT);
	expect(row, 2.1, 1.31, CONSISTENT);
	expect(row, 2.1, 1.07, REPRODUCED);
	expect(row, 2.1, 1.33, REPRODUCED);
	/* The paper's number still hits. */
	expect(row, 2.1, 1.9, CONSISTENT);
	/* It makes no row worse or better that differs from the paper. */
	expect(row, 3.0, 1.2, IN_KIND);
	expect(row, 0.9, 1.2, DEVIATES);
	row.value_of_small = 0;
	expect(row, 2.1, 1.2, REPRODUCED);
}

/* Where the paper's own effect is 5 to 10 %, or none, a part that moves 1 % makes a difference. */
static void test_rows_of_small_effects_tell_small_differences(void **state)
{
	struct row range = row_of("range", 0.90, 0.95), no_loss = row_of("exact", 1.0, 1.0);

	(void)state;
	range.value_of_small = 0.97;
	expect(range, 0.92, 0.965, CONSISTENT);
	expect(range, 0.92, 0.99, REPRODUCED);
	no_loss.number = 17;
	no_loss.value_of_small = 0.97;
	expect(no_loss, 1.0, 0.965, CONSISTENT);
	expect(no_loss, 1.0, 0.95, REPRODUCED);
}

static void test_a_row_that_no_null_model_fails_is_not_reproduced(void **state)
{
	(void)state;
	expect(row_of("exact", 2.0, 2.0), 2.0, 0, IN_KIND);
}

static void test_a_null_model_that_hits_makes_no_row_better(void **state)
{
	(void)state;
	expect(row_of("exact", 2.0, 2.0), 3.0, 2.0, IN_KIND);
	expect(row_of("exact", 2.0, 2.0), 0.9, 2.0, DEVIATES);
}

static void test_in_kind_is_on_the_same_side_and_within_a_factor_of_2(void **state)
{
	struct row row = row_of("exact", 1.8, 1.8);

	(void)state;
	expect(row, 3.5, NONE, IN_KIND);
	expect(row, 3.7, NONE, DEVIATES);
	expect(row, 1.06, NONE, IN_KIND);
	expect(row, 0.95, NONE, DEVIATES);
}

static void test_at_most_is_reproduced_down_to_10_percent_below(void **state)
{
	struct row row = row_of("at most", 1.0, 1.0);

	(void)state;
	expect(row, 0.95, NONE + 1, REPRODUCED);
	/* As the paper says, but not by how much. */
	expect(row, 0.8, NONE + 1, IN_KIND);
	/* Not as the paper says. */
	expect(row, 1.05, NONE + 1, IN_KIND);
	expect(row, 1.2, NONE + 1, DEVIATES);
}

static void test_at_least_is_reproduced_up_to_10_percent_above(void **state)
{
	struct row row = row_of("at least", 0.76, 0.76);

	(void)state;
	expect(row, 0.80, NONE, REPRODUCED);
	expect(row, 0.87, NONE, IN_KIND);
	expect(row, 0.70, NONE, IN_KIND);
	expect(row, 0.60, NONE, DEVIATES);
}

static void test_an_inequality_that_the_null_model_meets_is_consistent(void **state)
{
	(void)state;
	expect(row_of("at most", 1.0, 1.0), 0.8, 1.0, CONSISTENT);
	expect(row_of("at most", 1.0, 1.0), 0.95, 0.3, CONSISTENT);
	expect(row_of("at least", 0.76, 0.76), 0.87, 2.0, CONSISTENT);
	expect(row_of("at least", 0.76, 0.76), 0.80, 0.76, CONSISTENT);
}

static void test_a_range_is_reproduced_in_it(void **state)
{
	struct row row = row_of("range", 0.90, 0.95);

	(void)state;
	expect(row, 0.92, NONE, REPRODUCED);
	expect(row, 0.89, NONE, IN_KIND);
	expect(row, 0.97, NONE, IN_KIND);
	expect(row, 1.0, NONE, DEVIATES);
	expect(row, 0.92, 0.94, CONSISTENT);
	expect(row, 0.92, 1.0, REPRODUCED);
}

static void test_no_loss_is_less_than_1_percent(void **state)
{
	struct row row = row_of("exact", 1.0, 1.0);

	(void)state;
	row.number = 17;
	expect(row, 0.995, NONE, REPRODUCED);
	expect(row, 0.98, NONE, IN_KIND);
	expect(row, 0.94, NONE, DEVIATES);
	expect(row, 1.0, 1.0, CONSISTENT);
	expect(row, 1.0, 0.98, REPRODUCED);
}

static void test_a_shape_has_no_number_to_be_reproduced(void **state)
{
	struct row row = row_of("shape", 0, 0);
	struct outcome falls = { .value = 1.9, .is_falling = true }, does_not = { .value = 1.9 };

	(void)state;
	assert_int_equal(row_verdict(&row, falls, falls), CONSISTENT);
	assert_int_equal(row_verdict(&row, falls, does_not), IN_KIND);
	assert_int_equal(row_verdict(&row, does_not, falls), DEVIATES);
	/* The paper says that it falls, and not how much. */
	row.value_of_small = 1.9;
	assert_int_equal(row_verdict(&row, falls, does_not), IN_KIND);
}

static void test_a_row_without_a_value_has_no_data(void **state)
{
	(void)state;
	expect(row_of("exact", 2.0, 2.0), 0, 2.0, NO_DATA);
	expect(row_of("at most", 1.0, 1.0), 0, 1.0, NO_DATA);
}

static void test_a_null_model_without_a_value_does_not_hit(void **state)
{
	(void)state;
	expect(row_of("at most", 1.0, 1.0), 0.8, 0, IN_KIND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_number_is_reproduced_within_10_percent_on_both_sides),
		cmocka_unit_test(test_a_number_that_the_null_model_gets_is_consistent),
		cmocka_unit_test(test_a_null_model_that_is_near_the_model_on_its_inputs_hits),
		cmocka_unit_test(test_rows_of_small_effects_tell_small_differences),
		cmocka_unit_test(test_a_row_that_no_null_model_fails_is_not_reproduced),
		cmocka_unit_test(test_a_null_model_that_hits_makes_no_row_better),
		cmocka_unit_test(test_in_kind_is_on_the_same_side_and_within_a_factor_of_2),
		cmocka_unit_test(test_at_most_is_reproduced_down_to_10_percent_below),
		cmocka_unit_test(test_at_least_is_reproduced_up_to_10_percent_above),
		cmocka_unit_test(test_an_inequality_that_the_null_model_meets_is_consistent),
		cmocka_unit_test(test_a_range_is_reproduced_in_it),
		cmocka_unit_test(test_no_loss_is_less_than_1_percent),
		cmocka_unit_test(test_a_shape_has_no_number_to_be_reproduced),
		cmocka_unit_test(test_a_row_without_a_value_has_no_data),
		cmocka_unit_test(test_a_null_model_without_a_value_does_not_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
