/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The checks of the Virgo examples: plain products, binary16, and that a wrong element is found. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "examples/common/dense.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Values and bits by the standard's definition: 1 sign, 5 exponent, 10 fraction bits, bias 15. */
static const struct {
	float value;
	uint16_t half;
} halves[] = {
	{ 0, 0 }, { -0.0f, 0x8000 }, { 1, 0x3c00 }, { -2, 0xc000 }, { 0.333251953125f, 0x3555 },
	{ 65504, 0x7bff }, { 0x1p-14f, 0x0400 }, { 0x1p-24f, 0x0001 }, { 0x1.ff8p-15f, 0x03ff },
};

static void binary16_stands_for_what_the_standard_says(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < COUNT(halves); i++) {
		float got = dense_from_half(halves[i].half);

		assert_memory_equal(&got, &halves[i].value, sizeof(got));
		assert_int_equal(dense_half(halves[i].value), halves[i].half);
	}
	assert_true(isinf(dense_from_half(0x7c00)) && isnan(dense_from_half(0x7c01)));
}

static void a_number_that_is_no_binary16_becomes_the_nearest_and_of_two_the_even_one(void **unused)
{
	(void)unused;
	assert_int_equal(dense_half(2049), 0x6800);		/* between 2048 and 2050 */
	assert_int_equal(dense_half(2051), 0x6802);		/* between 2050 and 2052 */
	assert_int_equal(dense_half(4097), 0x6c00);
	assert_int_equal(dense_half(0x1.fffp-15f), 0x0400);	/* carries into the smallest normal number */
	assert_int_equal(dense_half(0x1p-25f), 0);
	assert_int_equal(dense_half(0x1.000002p-25f), 1);
	assert_int_equal(dense_half(0x1.8p-24f), 2);
	assert_int_equal(dense_half(65519.996f), 0x7bff);
	assert_int_equal(dense_half(65520), 0x7c00);
	assert_int_equal(dense_half(-1e30f), 0xfc00);
	assert_int_equal(dense_half(NAN), 0x7e00);
}

/* In blocks of 2: (1e8 + 1) + (-1e8 + 1). The 1s are lost at different places. */
static void reals_are_added_in_blocks_of_the_array(void **unused)
{
	static const float a[] = { 1e8f, 1, -1e8f, 1 }, b[] = { 1, 1, 1, 1 };
	const struct dense_product product = { VIRGO_FP32, 1, 1, 4, a, b };
	float sum;

	(void)unused;
	assert_int_equal(dense_plain(&product, 2, &sum), 0);
	assert_true(sum == 0);
	assert_int_equal(dense_plain(&product, 4, &sum), 0);
	assert_true(sum == 1);
}

static void integers_wrap(void **unused)
{
	static int8_t a[2 * 140000], b[140000];
	const struct dense_product product = { VIRGO_INT8, 2, 1, COUNT(b), a, b };
	int32_t sums[2];

	(void)unused;
	memset(a, -128, COUNT(b));
	memset(a + COUNT(b), 127, COUNT(b));
	memset(b, -128, sizeof(b));
	assert_int_equal(dense_plain(&product, 16, sums), 0);
	assert_int_equal(sums[0], 140000ll * 16384 - (1ll << 32));
	assert_int_equal(sums[1], -140000ll * 16256 + (1ll << 32));
}

static void one_wrong_element_is_found_and_named(void **unused)
{
	static const float sums[] = { 1, 2, 3, 4, 5, 6 };
	float c[] = { 1, 2, 3, 4, 5, 6 };
	const struct dense_product product = { .type = VIRGO_FP32, .m = 2, .n = 3, .k = 1 };
	struct message message;

	(void)unused;
	assert_true(dense_verify(&product, c, sums, &message));
	c[4] = nextafterf(c[4], 0);
	assert_false(dense_verify(&product, c, sums, &message));
	assert_non_null(strstr(message.text, "C[1][1] is 4.99999952, but must be 5"));
	c[4] = NAN;
	assert_false(dense_verify(&product, c, sums, &message));
}

static void swish_is_checked_to_a_few_units_in_the_last_place(void **unused)
{
	/* x / (1 + e^-x) to nine digits, by a calculator */
	static const float sums[] = { 0, 1, -1, 10, -20 };
	static const float right[] = { 0, 0.731058579f, -0.268941421f, 9.99954602f, -4.12230724e-8f };
	const struct dense_product product = { .type = VIRGO_FP32, .m = 1, .n = COUNT(sums), .k = 1 };
	float c[COUNT(sums)];
	struct message message;

	(void)unused;
	memcpy(c, right, sizeof(c));
	assert_true(dense_verify_swish(&product, c, sums, &message));
	dense_finish(&product, sums, true, c);
	assert_true(dense_verify_swish(&product, c, sums, &message));
	for (size_t i = 1; i < COUNT(sums); i++) {
		memcpy(c, right, sizeof(c));
		c[i] *= 1 + 0x1p-19f;
		assert_false(dense_verify_swish(&product, c, sums, &message));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binary16_stands_for_what_the_standard_says),
		cmocka_unit_test(a_number_that_is_no_binary16_becomes_the_nearest_and_of_two_the_even_one),
		cmocka_unit_test(reals_are_added_in_blocks_of_the_array),
		cmocka_unit_test(integers_wrap),
		cmocka_unit_test(one_wrong_element_is_found_and_named),
		cmocka_unit_test(swish_is_checked_to_a_few_units_in_the_last_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
