/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Errors of the sparse kernels: refused arguments, and a device that fails in the
 * middle. They leave no thread, no memory, and an error text that names the reason.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/lib/fake_dare.h"
#include "tests/lib/sparse_case.h"

#define SIZE 200
#define COLUMNS 64

/* A matrix that takes several segments of address tiles, and operands for both kernels. */
struct fixture {
	struct sparse_case s;
	struct fake_dare fake;
	struct dare *dare;
	struct dare_blocks *blocks;
	float *a, *b, *p;
};

static int set_up(void **state)
{
	struct random random = { .state = 41 };
	struct fixture *f = calloc(1, sizeof(*f));
	struct dare_sparse matrix;

	assert_non_null(f);
	sparse_case_uniform(&f->s, &random, SIZE, SIZE, 0.5);
	matrix = sparse_case_matrix(&f->s, DARE_CSR);
	assert_int_equal(dare_blockify(&f->blocks, &matrix, 1), 0);
	f->a = calloc(SIZE * COLUMNS, sizeof(*f->a));
	f->b = calloc(SIZE * COLUMNS, sizeof(*f->b));
	f->p = calloc(f->s.nonzeros, sizeof(*f->p));
	assert_true(f->a && f->b && f->p);
	f->dare = fake_dare_open(&f->fake);
	*state = f;
	return 0;
}

static unsigned int allocated(const struct fake_dare *fake)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < FAKE_DARE_RANGES; i++)
		count += fake->ranges[i].is_allocated;
	return count;
}

static unsigned int threads(void)
{
	DIR *directory = opendir("/proc/self/task");
	unsigned int count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* A thread that was joined may be listed for a moment longer. */
static void no_more_threads_than(unsigned int before)
{
	for (unsigned int i = 0; i < 1000 && threads() > before; i++)
		usleep(1000);
	assert_int_equal(threads(), before);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	dare_close(f->dare);
	dare_blocks_free(f->blocks);
	sparse_case_free(&f->s);
	free(f->a);
	free(f->b);
	free(f->p);
	free(f);
	return 0;
}

static void allow_all(struct fixture *f)
{
	fake_dare_allow(&f->fake, f->a, SIZE * COLUMNS * sizeof(*f->a));
	fake_dare_allow(&f->fake, f->b, SIZE * COLUMNS * sizeof(*f->b));
}

static int spmm(struct fixture *f, enum dare_form form)
{
	return dare_spmm(f->dare, form, f->blocks, f->s.value, COLUMNS, f->b, COLUMNS, f->a, COLUMNS);
}

static int sddmm(struct fixture *f, enum dare_form form)
{
	return dare_sddmm(f->dare, form, f->blocks, f->s.value, COLUMNS, f->a, COLUMNS, f->b, COLUMNS, f->p);
}

static void text_has(const char *text)
{
	if (!strstr(dare_error_text(), text))
		fail_msg("the text is: %s", dare_error_text());
}

static void bad_arguments_of_spmm_are_refused_by_name(void **state)
{
	struct fixture *f = *state;
	const struct dare_blocks *blocks = f->blocks;
	float *a = f->a, *b = f->b;

	assert_int_equal(dare_spmm(NULL, DARE_GSA, blocks, NULL, 4, b, 4, a, 4), -EINVAL);
	text_has("the handle is NULL");
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, NULL, NULL, 4, b, 4, a, 4), -EINVAL);
	text_has("blocks is NULL");
	assert_int_equal(dare_spmm(f->dare, (enum dare_form)9, blocks, NULL, 4, b, 4, a, 4), -EINVAL);
	text_has("no form 9");
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, blocks, NULL, 4, NULL, 4, a, 4), -EINVAL);
	text_has("D is NULL");
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, blocks, NULL, 4, b, 4, NULL, 4), -EINVAL);
	text_has("C is NULL");
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, blocks, NULL, 4, b, 3, a, 4), -EINVAL);
	text_has("a row of D has 4 elements, but its leading dimension is 3");
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, blocks, NULL, 4, b, 4, a, 3), -EINVAL);
	text_has("a row of C has 4 elements");
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, blocks, NULL, 4, b, SIZE_MAX / 4, a, 4), -EINVAL);
	text_has("larger than memory");
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, blocks, NULL, 4, b, 4, (float *)(void *)((char *)a + 2), 4),
			 -EINVAL);
	text_has("no multiple of 4");
	assert_int_equal(f->fake.device.posts, 0);
}

static void bad_arguments_of_sddmm_are_refused_by_name(void **state)
{
	struct fixture *f = *state;
	const struct dare_blocks *blocks = f->blocks;
	float *a = f->a, *b = f->b, *p = f->p;

	assert_int_equal(dare_sddmm(NULL, DARE_GSA, blocks, NULL, 4, a, 4, b, 4, p), -EINVAL);
	assert_int_equal(dare_sddmm(f->dare, DARE_GSA, NULL, NULL, 4, a, 4, b, 4, p), -EINVAL);
	assert_int_equal(dare_sddmm(f->dare, (enum dare_form)-1, blocks, NULL, 4, a, 4, b, 4, p), -EINVAL);
	assert_int_equal(dare_sddmm(f->dare, DARE_GSA, blocks, NULL, 4, NULL, 4, b, 4, p), -EINVAL);
	text_has("A is NULL");
	assert_int_equal(dare_sddmm(f->dare, DARE_GSA, blocks, NULL, 4, a, 4, NULL, 4, p), -EINVAL);
	text_has("B is NULL");
	assert_int_equal(dare_sddmm(f->dare, DARE_GSA, blocks, NULL, 4, a, 4, b, 4, NULL), -EINVAL);
	text_has("p is NULL");
	assert_int_equal(dare_sddmm(f->dare, DARE_GSA, blocks, NULL, 4, a, 3, b, 4, p), -EINVAL);
	text_has("a row of A has 4 elements");
	assert_int_equal(dare_sddmm(f->dare, DARE_GSA, blocks, NULL, 4, a, 4, b, 3, p), -EINVAL);
	text_has("a row of B has 4 elements");
	assert_int_equal(f->fake.device.posts, 0);
}

static void no_columns_are_a_product_of_zeros(void **state)
{
	struct fixture *f = *state;

	f->p[0] = 7;
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, f->blocks, NULL, 0, NULL, 0, NULL, 0), 0);
	assert_int_equal(dare_sddmm(f->dare, DARE_GSA, f->blocks, NULL, 0, NULL, 0, NULL, 0, f->p), 0);
	assert_true(f->p[0] == 0);
}

static void memory_that_is_not_there_is_efault_and_the_context_goes_on_after_it(void **state)
{
	struct fixture *f = *state;
	unsigned int before = threads();
	struct dare_error_info info;

	for (enum dare_form form = DARE_BASELINE; form <= DARE_GSA; form++) {
		assert_int_equal(spmm(f, form), -EFAULT);
		text_has("dare0: instruction");
		assert_int_equal(dare_error(f->dare, &info), 0);
		assert_int_equal(info.error, DARE_ERROR_LOAD);
		assert_int_equal(info.address, (uintptr_t)f->b);
		/* The error stays until it is cleared. */
		assert_int_equal(spmm(f, form), -EFAULT);
		assert_int_equal(sddmm(f, form), -EFAULT);
		assert_int_equal(dare_clear_error(f->dare), 0);
		assert_int_equal(sddmm(f, form), -EFAULT);
		assert_int_equal(dare_clear_error(f->dare), 0);
		assert_int_equal(allocated(&f->fake), 0);
	}
	allow_all(f);
	assert_int_equal(spmm(f, DARE_GSA), 0);
	assert_int_equal(sddmm(f, DARE_GSA), 0);
	assert_int_equal(allocated(&f->fake), 0);
	no_more_threads_than(before);
}

static void a_device_that_is_gone_ends_the_call_and_its_thread(void **state)
{
	struct fixture *f = *state;
	unsigned int before = threads();

	allow_all(f);
	for (enum dare_form form = DARE_BASELINE; form <= DARE_GSA; form++) {
		f->fake.device.post_error = -ENOTCONN;
		assert_int_equal(spmm(f, form), -ENOTCONN);
		assert_int_equal(sddmm(f, form), -ENOTCONN);
		f->fake.device.post_error = 0;
	}
	assert_int_equal(allocated(&f->fake), 0);
	no_more_threads_than(before);
}

static void no_memory_is_enomem_by_what_it_was_for(void **state)
{
	struct fixture *f = *state;

	f->fake.device.alloc_fails = true;
	assert_int_equal(spmm(f, DARE_GSA), -ENOMEM);
	text_has("the blocks of S");
	assert_int_equal(sddmm(f, DARE_BASELINE), -ENOMEM);
	text_has("the blocks of P");
	assert_int_equal(allocated(&f->fake), 0);
}

/* Instructions that are posted before the call may still write C. */
static void instructions_dispatched_before_are_complete_before_c_is_zeroed(void **state)
{
	static const uint64_t start[2];
	const struct dare_sparse empty = { DARE_CSR, 1, 1, start, NULL };
	struct fixture *f = *state;
	struct dare_blocks *blocks;

	allow_all(f);
	f->b[0] = 3;
	assert_int_equal(dare_blockify(&blocks, &empty, 1), 0);
	assert_int_equal(dare_mcfg(f->dare, DARE_CSR_MATRIX_M, 1), 0);
	assert_int_equal(dare_mld(f->dare, 0, f->b, 64), 0);
	assert_int_equal(dare_mst(f->dare, 0, f->a, 64), 0);
	assert_int_equal(dare_spmm(f->dare, DARE_GSA, blocks, NULL, 1, f->b, 1, f->a, 1), 0);
	assert_int_equal(dare_fence(f->dare), 0);
	assert_true(f->a[0] == 0);
	dare_blocks_free(blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(bad_arguments_of_spmm_are_refused_by_name),
		TEST(bad_arguments_of_sddmm_are_refused_by_name),
		TEST(no_columns_are_a_product_of_zeros),
		TEST(memory_that_is_not_there_is_efault_and_the_context_goes_on_after_it),
		TEST(a_device_that_is_gone_ends_the_call_and_its_thread),
		TEST(no_memory_is_enomem_by_what_it_was_for),
		TEST(instructions_dispatched_before_are_complete_before_c_is_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
