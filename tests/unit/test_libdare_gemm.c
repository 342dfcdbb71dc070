/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* dare_gemm() on a plain interpreter of the instructions, which reaches nothing but the library's own tiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/lib/fake_dare.h"
#include "tests/lib/gemm_check.h"

static struct fake_dare fake;
static struct dare *dare;
static uint64_t seed;

static int open_context(void **state)
{
	(void)state;
	seed = 0x2545f4914f6cdd1d;
	dare = fake_dare_open(&fake);
	return dare ? 0 : -1;
}

static int close_context(void **state)
{
	(void)state;
	dare_close(dare);
	return 0;
}

static void check(enum gemm_type type, unsigned int flags, size_t m, size_t n, size_t k)
{
	const struct gemm_case c = {
		.type = type, .flags = flags, .m = m, .n = n, .k = k,
		.lda = flags & DARE_TRANSPOSE_A ? m : k,
		.ldb = flags & DARE_TRANSPOSE_B ? k : n,
		.ldc = n,
	};

	gemm_check(dare, &c, false, &seed);
}

static void products_of_random_shapes_are_those_of_the_plain_loop(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		struct gemm_case c = gemm_random_case(i < 200 ? 40 : 90, &seed);

		gemm_check(dare, &c, false, &seed);
	}
}

static void zeros_subnormals_infinities_and_nan_are_those_of_the_plain_loop(void **state)
{
	(void)state;
	for (int i = 0; i < 150; i++) {
		struct gemm_case c = gemm_random_case(40, &seed);

		gemm_check(dare, &c, true, &seed);
	}
}

static void sides_at_and_beside_the_sizes_of_tiles(void **state)
{
	static const size_t sides[] = { 1, 15, 16, 17, 31, 32, 33 };

	(void)state;
	for (size_t i = 0; i < 7 * 7 * 7; i++)
		check((enum gemm_type)(i % 3), (unsigned int)(i % 8), sides[i % 7], sides[i / 7 % 7],
		      sides[i / 49]);
}

static void sides_beyond_the_sizes_of_blocks(void **state)
{
	(void)state;
	check(GEMM_FP32, 0, 257, 3, 20);
	check(GEMM_FP32, DARE_ADD, 3, 257, 20);
	check(GEMM_FP32, DARE_ADD, 5, 6, 6200);
	check(GEMM_FP32, 0, 270, 50, 2060);
	check(GEMM_BF16, DARE_ADD | DARE_TRANSPOSE_A, 20, 530, 4120);
	check(GEMM_INT8, DARE_TRANSPOSE_B, 258, 20, 8230);
}

static void no_multiplication_is_wasted_at_the_edges(void **state)
{
	(void)state;
	check(GEMM_FP32, 0, 37, 21, 29);
	assert_int_equal(fake.oracle.counters.macs_used, 37 * 21 * 29);
}

static void a_product_without_terms_is_zero(void **state)
{
	float c[4] = { 1, 2, 3, 4 };

	(void)state;
	assert_int_equal(dare_gemm(dare, DARE_ADD, 2, 1, 0, NULL, 0, NULL, 1, c, 2), 0);
	assert_true(c[0] == 1 && c[1] == 2 && c[2] == 3 && c[3] == 4);
	assert_int_equal(dare_gemm(dare, 0, 2, 1, 0, NULL, 0, NULL, 1, c, 2), 0);
	assert_true(c[0] == 0 && c[1] == 2 && c[2] == 0 && c[3] == 4);
	assert_int_equal(dare_gemm(dare, 0, 0, 5, 3, NULL, 3, NULL, 5, NULL, 5), 0);
}

static void wrong_arguments_are_named(void **state)
{
	float a[4] = { 0 }, b[4] = { 0 }, c[4] = { 0 };

	(void)state;
	assert_int_equal(dare_gemm(dare, 8, 2, 2, 2, a, 2, b, 2, c, 2), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "flags 0x8"));
	assert_int_equal(dare_gemm(dare, 0, 2, 2, 2, NULL, 2, b, 2, c, 2), -EINVAL);
	assert_string_equal(dare_error_text(), "A is NULL");
	assert_int_equal(dare_gemm(dare, 0, 2, 2, 2, a, 2, NULL, 2, c, 2), -EINVAL);
	assert_string_equal(dare_error_text(), "B is NULL");
	assert_int_equal(dare_gemm(dare, 0, 2, 2, 2, a, 2, b, 2, NULL, 2), -EINVAL);
	assert_string_equal(dare_error_text(), "C is NULL");
	assert_int_equal(dare_gemm(dare, 0, 2, 2, 2, a, 1, b, 2, c, 2), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "A: a row has 2 elements"));
	assert_int_equal(dare_gemm(dare, DARE_TRANSPOSE_A, 3, 1, 1, a, 2, b, 1, c, 1), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "A: a row has 3 elements"));
	assert_int_equal(dare_gemm(dare, DARE_TRANSPOSE_B, 1, 1, 4, a, 4, b, 3, c, 1), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "B: a row has 4 elements"));
	assert_int_equal(dare_gemm(dare, 0, 2, 2, 2, a, 2, b, 2, c, 1), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "C: a row has 2 elements"));
	assert_int_equal(dare_gemm(dare, 0, 2, 2, 2, a, SIZE_MAX, b, 2, c, 2), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "more than memory"));
	assert_int_equal(fake.device.values, 0);
}

static void a_failure_of_before_ends_the_product(void **state)
{
	float a[1] = { 2 }, b[1] = { 3 }, c[1] = { 4 };

	(void)state;
	dare_dispatch(dare, 0, 0, 0);
	assert_int_equal(dare_gemm(dare, 0, 1, 1, 1, a, 1, b, 1, c, 1), -EILSEQ);
	assert_true(c[0] == 4);
	dare_clear_error(dare);
	assert_int_equal(dare_gemm(dare, DARE_ADD, 1, 1, 1, a, 1, b, 1, c, 1), 0);
	assert_true(c[0] == 10);
}

static void a_device_that_goes_ends_the_product(void **state)
{
	static float a[40 * 40], b[40 * 40], c[40 * 40];

	(void)state;
	fake.device.post_error = -ENOTCONN;
	assert_int_equal(dare_gemm(dare, 0, 40, 40, 40, a, 40, b, 40, c, 40), -ENOTCONN);
}

static void no_memory_for_tiles_is_an_error(void **state)
{
	float a[1] = { 2 }, b[1] = { 3 }, c[1] = { 4 };

	(void)state;
	fake.device.alloc_fails = true;
	assert_int_equal(dare_gemm(dare, 0, 1, 1, 1, a, 1, b, 1, c, 1), -ENOMEM);
	assert_true(c[0] == 4);
	fake.device.alloc_fails = false;
	assert_int_equal(dare_gemm(dare, 0, 1, 1, 1, a, 1, b, 1, c, 1), 0);
	assert_true(c[0] == 6);
}

static void csrs_are_as_after_reset_afterwards(void **state)
{
	(void)state;
	dare_mcfg(dare, DARE_CSR_MATRIX_M, 3);
	dare_mcfg(dare, DARE_CSR_MATRIX_K, 7);
	check(GEMM_INT8, 0, 19, 21, 67);
	assert_int_equal(fake.oracle.matrix_m, 16);
	assert_int_equal(fake.oracle.matrix_k, 64);
	assert_int_equal(fake.oracle.matrix_n, 16);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(products_of_random_shapes_are_those_of_the_plain_loop),
		TEST(zeros_subnormals_infinities_and_nan_are_those_of_the_plain_loop),
		TEST(sides_at_and_beside_the_sizes_of_tiles),
		TEST(sides_beyond_the_sizes_of_blocks),
		TEST(no_multiplication_is_wasted_at_the_edges),
		TEST(a_product_without_terms_is_zero),
		TEST(wrong_arguments_are_named),
		TEST(a_failure_of_before_ends_the_product),
		TEST(a_device_that_goes_ends_the_product),
		TEST(no_memory_for_tiles_is_an_error),
		TEST(csrs_are_as_after_reset_afterwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
