/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Axes, numbers as people read them, and samples that become the steps of a plot. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/report/report.h"

#define SPACE "\xe2\x80\xaf"

static void expect_scale(double largest, unsigned int marks, double step, unsigned int steps)
{
	struct plot_scale scale = plot_scale(largest, marks);

	assert_true(fabs(scale.step - step) <= 1e-9 * step);
	assert_int_equal(scale.steps, steps);
	assert_true(fabs(scale.end - step * steps) <= 1e-9 * scale.end);
}

static void test_an_axis_has_round_marks_and_room_for_the_largest(void **state)
{
	(void)state;
	expect_scale(97, 4, 50, 2);
	expect_scale(100, 4, 50, 2);
	expect_scale(100, 5, 20, 5);
	expect_scale(101, 5, 50, 3);
	expect_scale(7.3e9, 4, 2e9, 4);
	expect_scale(0.003, 3, 0.001, 3);
	expect_scale(0.3, 3, 0.1, 3);
}

static void test_an_axis_of_any_size_has_no_more_marks_than_wanted(void **state)
{
	(void)state;
	for (double largest = 1e-9; largest < 1e18; largest *= 1.37) {
		struct plot_scale scale = plot_scale(largest, 4);

		assert_in_range(scale.steps, 1, 4);
		assert_true(scale.end >= largest * (1 - 1e-6));
		assert_true(scale.end <= largest * 2.5 * (1 + 1e-6));
	}
}

static void test_an_axis_of_nothing_is_still_one(void **state)
{
	(void)state;
	expect_scale(0, 4, 1, 1);
	expect_scale(-3, 4, 1, 1);
	expect_scale(NAN, 4, 1, 1);
	expect_scale(INFINITY, 4, 1, 1);
}

static void expect_text(void (*print)(char *text, double value), double value, const char *expected)
{
	char text[PLOT_NUMBER_SIZE];

	print(text, value);
	assert_string_equal(text, expected);
}

static void test_numbers_have_three_digits_and_a_prefix(void **state)
{
	(void)state;
	expect_text(plot_short, 0, "0");
	expect_text(plot_short, 7, "7");
	expect_text(plot_short, 2.5, "2.50");
	expect_text(plot_short, 999, "999");
	expect_text(plot_short, 999.7, "1.00" SPACE "k");
	expect_text(plot_short, 20230000, "20.2" SPACE "M");
	expect_text(plot_short, 9996, "10.0" SPACE "k");
	expect_text(plot_short, 1e18, "1.00" SPACE "E");
	expect_text(plot_mark, 0, "0");
	expect_text(plot_mark, 1.5e6, "1.5" SPACE "M");
	expect_text(plot_mark, 0.25, "0.25");
}

static void test_times_have_the_unit_that_fits(void **state)
{
	(void)state;
	expect_text(plot_duration, 0, "0" SPACE "s");
	expect_text(plot_duration, 3.5e-8, "35.0" SPACE "ns");
	expect_text(plot_duration, 0.000535, "535" SPACE "\xc2\xb5s");
	expect_text(plot_duration, 0.0349, "34.9" SPACE "ms");
	expect_text(plot_duration, 1.7, "1.70" SPACE "s");
	expect_text(plot_duration, 4321, "4321" SPACE "s");
}

static void test_long_numbers_have_groups_of_three(void **state)
{
	char text[PLOT_NUMBER_SIZE];

	(void)state;
	plot_digits(text, 7);
	assert_string_equal(text, "7");
	plot_digits(text, 123456);
	assert_string_equal(text, "123" SPACE "456");
	plot_digits(text, 1000000000000000000);
	assert_string_equal(text, "1" SPACE "000" SPACE "000" SPACE "000" SPACE "000" SPACE "000" SPACE "000");
}

static void test_a_level_holds_until_the_next_sample(void **state)
{
	double seconds[] = { 0, 1, 4 };
	uint64_t levels[] = { 8, 2, 99 };
	struct report_samples samples = { .count = 3, .seconds = seconds };
	struct report_series series;

	(void)state;
	report_levels(&samples, levels, &series);
	assert_int_equal(series.count, 2);
	assert_true(series.points[0].mean == 8 && series.points[1].mean == 2 && series.points[1].to == 4);
	assert_true(series.most == 8 && series.mean == (8 * 1 + 2 * 3) / 4.0);
}

static void test_many_samples_become_few_steps(void **state)
{
	static double seconds[1001];
	static uint64_t levels[1001];
	struct report_samples samples = { .count = 1001, .seconds = seconds };
	struct report_series series;

	(void)state;
	for (size_t i = 0; i < 1001; i++) {
		seconds[i] = (double)i;
		levels[i] = i % 2 ? 10 : 0;
	}
	report_levels(&samples, levels, &series);
	assert_in_range(series.count, 32, REPORT_POINTS_MAX);
	assert_true(series.points[0].from == 0 && series.points[series.count - 1].to == 1000);
	assert_true(fabs(series.mean - 5) < 0.1 && series.points[0].most == 10 && series.points[0].mean == 5);
}

static void test_a_rate_is_growth_in_time(void **state)
{
	double seconds[] = { 0, 0.5, 0.5, 1.5 };
	uint64_t values[] = { 0, 100, 100, 400 };
	struct report_samples samples = { .count = 4, .seconds = seconds };
	struct report_series series;

	(void)state;
	report_rates(&samples, values, &series);
	assert_int_equal(series.count, 2);	/* in no time nothing can be told */
	assert_true(series.points[0].mean == 200 && series.points[1].mean == 300 && series.most == 300);
}

static void test_counters_that_were_cleared_have_no_negative_rate(void **state)
{
	double seconds[] = { 0, 1, 2 };
	uint64_t values[] = { 0, 100, 30 };
	struct report_samples samples = { .count = 3, .seconds = seconds };
	struct report_series series;

	(void)state;
	report_rates(&samples, values, &series);
	assert_true(series.points[1].mean == 30);
}

static void test_a_share_where_nothing_happens_is_a_gap(void **state)
{
	double seconds[] = { 0, 1, 2, 3 };
	uint64_t hits[] = { 0, 3, 3, 4 }, misses[] = { 0, 1, 1, 1 };
	struct report_samples samples = { .count = 4, .seconds = seconds };
	struct report_series series;

	(void)state;
	report_shares(&samples, hits, misses, &series);
	assert_int_equal(series.count, 2);
	assert_true(series.points[0].mean == 75 && series.points[1].mean == 100 && series.points[1].from == 2);
}

static void test_one_sample_or_none_is_no_series(void **state)
{
	double seconds[] = { 0 };
	uint64_t values[] = { 5 };
	struct report_samples samples = { .count = 1, .seconds = seconds };
	struct report_series series;

	(void)state;
	report_levels(&samples, values, &series);
	assert_int_equal(series.count, 0);
	samples.count = 0;
	report_rates(&samples, values, &series);
	assert_int_equal(series.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_axis_has_round_marks_and_room_for_the_largest),
		cmocka_unit_test(test_an_axis_of_any_size_has_no_more_marks_than_wanted),
		cmocka_unit_test(test_an_axis_of_nothing_is_still_one),
		cmocka_unit_test(test_numbers_have_three_digits_and_a_prefix),
		cmocka_unit_test(test_times_have_the_unit_that_fits),
		cmocka_unit_test(test_long_numbers_have_groups_of_three),
		cmocka_unit_test(test_a_level_holds_until_the_next_sample),
		cmocka_unit_test(test_many_samples_become_few_steps),
		cmocka_unit_test(test_a_rate_is_growth_in_time),
		cmocka_unit_test(test_counters_that_were_cleared_have_no_negative_rate),
		cmocka_unit_test(test_a_share_where_nothing_happens_is_a_gap),
		cmocka_unit_test(test_one_sample_or_none_is_no_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
