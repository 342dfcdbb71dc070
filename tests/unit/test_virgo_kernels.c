/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The kernels for each kind of processor that this one can stand in for, at the ends of their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "devices/virgo/kernels.h"
#include "examples/common/random.h"

#define BLOCKS 3	/* of k */
#define COLUMNS_MAX 64	/* of a panel; at least a vector, and a block */

static struct random numbers = { 1 };

/* In a row of A or B the values of one k, or of one row of C, follow each other as in the scratchpad. */
static int8_t a[BLOCKS][KERNEL_DIM_MAX * KERNEL_DIM_MAX];
static int8_t b[BLOCKS][COLUMNS_MAX / 4][KERNEL_DIM_MAX * KERNEL_DIM_MAX];
static union lane a_lanes[BLOCKS * KERNEL_DIM_MAX * KERNEL_DIM_MAX / 2];
static union lane b_lanes[BLOCKS * COLUMNS_MAX * KERNEL_DIM_MAX];
static union lane c[COLUMNS_MAX / 4][KERNEL_DIM_MAX * KERNEL_DIM_MAX];

static int8_t element(unsigned int choice)
{
	static const int8_t ends[] = { -128, 127, 0, -1 };

	return choice & 8 ? ends[choice & 3] : (int8_t)random_next(&numbers);
}

static void fill_bytes(int8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = element((unsigned int)random_below(&numbers, 16));
}

static void fill(void)
{
	union lane *lanes = c[0];

	fill_bytes(a[0], sizeof(a));
	fill_bytes(b[0][0], sizeof(b));
	for (size_t i = 0; i < sizeof(c) / sizeof(*lanes); i++)
		lanes[i].i = i % 3 ? INT32_MAX - (int32_t)(i % 1000) : INT32_MIN + (int32_t)(i % 1000);
}

static uint32_t expected(size_t dim, size_t row, size_t block, size_t column, uint32_t sum)
{
	for (size_t k = 0; k < BLOCKS * dim; k++)
		sum += (uint32_t)(a[k / dim][row * dim + k % dim] * b[k / dim][block][k % dim * dim + column]);
	return sum;
}

static void check_panel(const struct virgo_kernels *kernels, size_t dim, bool from_zero)
{
	size_t blocks = kernels->lanes > dim ? kernels->lanes / dim : 1, block_lanes = dim * dim / kernels->bytes;
	size_t rows = kernels->rows < dim ? kernels->rows : dim;
	size_t width = kernels->lanes < dim ? kernels->lanes : dim;
	struct kernel_panel panel = {
		.a = a_lanes, .a_block = block_lanes,
		.b = b_lanes, .b_block = blocks * block_lanes, .b_next = block_lanes,
		.c = c[0], .c_next = KERNEL_DIM_MAX * KERNEL_DIM_MAX,
		.blocks = BLOCKS, .from_zero = from_zero,
	};
	static union lane before[COLUMNS_MAX / 4][KERNEL_DIM_MAX * KERNEL_DIM_MAX];

	fill();
	memcpy(before, c, sizeof(c));
	for (size_t k = 0; k < BLOCKS; k++) {
		kernels->lanes_of_a(a_lanes + k * block_lanes, a[k], dim * dim);
		for (size_t j = 0; j < blocks; j++)
			kernels->lanes_of_b(b_lanes + (k * blocks + j) * block_lanes, b[k][j], dim, dim);
	}
	kernels->multiply_bytes(&panel, dim);
	for (size_t j = 0; j < blocks; j++) {
		for (size_t i = 0; i < rows * width; i++) {
			size_t at = i / width * dim + i % width;

			assert_int_equal(c[j][at].bits, expected(dim, i / width, j, i % width,
								 from_zero ? 0 : before[j][at].bits));
		}
	}
}

static void sums_of_bytes_wrap_on_all_processors(void **state)
{
	(void)state;
	for (size_t i = 0; i < virgo_kernels_count; i++) {
		for (size_t dim = 4; virgo_kernels_list[i].is_supported() && dim <= KERNEL_DIM_MAX; dim *= 2) {
			for (unsigned int n = 0; n < 20; n++)
				check_panel(&virgo_kernels_list[i], dim, n % 4 == 0);
		}
	}
}

/* 0 and no product but -0: +0, whatever C was. In the documented order a sum begins with +0. */
static void sums_of_negative_zeros_are_positive_on_all_processors(void **state)
{
	union lane zeros[KERNEL_DIM_MAX * KERNEL_DIM_MAX];
	union lane ones[COLUMNS_MAX / 4 * KERNEL_DIM_MAX * KERNEL_DIM_MAX];
	struct kernel_panel panel = {
		.a = zeros, .b = ones, .c = c[0], .c_next = KERNEL_DIM_MAX * KERNEL_DIM_MAX, .blocks = 1,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++)
		zeros[i].f = -0.0f;
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++)
		ones[i].f = 1;
	for (size_t i = 0; i < virgo_kernels_count; i++) {
		for (size_t dim = 4; virgo_kernels_list[i].is_supported() && dim <= KERNEL_DIM_MAX; dim *= 2) {
			panel.b_next = dim * dim;
			c[0][0].f = -0.0f;
			virgo_kernels_list[i].multiply_floats(&panel, dim);
			assert_int_equal(c[0][0].bits, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_bytes_wrap_on_all_processors),
		cmocka_unit_test(sums_of_negative_zeros_are_positive_on_all_processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
