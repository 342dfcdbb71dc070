/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libvirgo's operations on tiles, on a model of a cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/lib/fake_virgo.h"

#define LEADING 70

static struct fake_virgo fake;
static struct virgo *virgo;
static float *a, *b, *c, *d;	/* of the arena */

/* Unit 0: fp32, 8 x 8. Unit 1: int8, 16 x 16, 64 KB accumulator. */
static int open_cluster(void **state)
{
	struct virgo_config config;

	(void)state;
	virgo_config_default(&config);
	config.units = 2;
	config.unit[1] = (struct virgo_unit_config){ VIRGO_INT8, 16, 64, 0, 0, 0 };
	virgo = fake_virgo_open(&fake, &config);
	a = (float *)fake.fixture->arena;
	b = a + 64 * LEADING;
	c = b + 64 * LEADING;
	d = c + 64 * LEADING;
	for (size_t i = 0; i < 2 * 64 * LEADING; i++)
		a[i] = (float)(i * 13 % 23) - 11;
	for (size_t i = 0; i < 64 * LEADING; i++) {
		c[i] = -1;
		d[i] = (float)(i % 101);
	}
	return virgo ? 0 : -1;
}

static int close_cluster(void **state)
{
	(void)state;
	fake_virgo_close(&fake, virgo);
	return 0;
}

static float element_a(unsigned int flags, size_t i, size_t k)
{
	return flags & VIRGO_TRANSPOSE_A ? a[k * LEADING + i] : a[i * LEADING + k];
}

static float element_b(unsigned int flags, size_t k, size_t j)
{
	return flags & VIRGO_TRANSPOSE_B ? b[j * LEADING + k] : b[k * LEADING + j];
}

static float sum_of(unsigned int flags, const struct virgo_tile *tile, size_t i, size_t j)
{
	float sum = 0;

	for (size_t k = 0; k < tile->k; k++)
		sum += element_a(flags, i, k) * element_b(flags, k, j);
	return sum;
}

static void tiles_lie_in_blocks(void **state)
{
	const struct virgo_tile tile = { .m = 19, .n = 11, .k = 30, .a_row = 40, .b_end = 2000 };
	uint32_t b_row = 2000 - 8 * 4 * 2;

	(void)state;
	assert_int_equal(virgo_tile_rows(virgo, 0, 19, 30), 8 * 3 * 4);
	assert_int_equal(virgo_tile_rows(virgo, 0, 0, 30), 0);
	assert_int_equal(virgo_tile_rows(virgo, 1, 19, 30), 16 * 2 * 2);
	assert_int_equal(virgo_tile_rows(virgo, 2, 19, 30), 0);
	assert_int_equal(virgo_dma_load(virgo, 0, 0, &tile, a, LEADING, b, LEADING), 0);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	for (size_t k = 0; k < 30; k++) {
		for (size_t i = 0; i < 19; i++)
			assert_true(*(float *)virgo_tile_element(virgo, 0, 40, 30, i, k) == a[i * LEADING + k]);
		for (size_t j = 0; j < 11; j++)
			assert_true(*(float *)virgo_tile_element(virgo, 0, b_row, 11, k, j) ==
				    b[k * LEADING + j]);
	}
	/* Row 9, column 17: second row of blocks, third block, second row of it, second element. */
	assert_ptr_equal(virgo_tile_element(virgo, 0, 40, 30, 9, 17),
			 (float *)virgo_shared(virgo, NULL) + (40 + (4 + 2) * 8 + 1) * 8 + 1);
}

static void elements_outside_of_shared_memory_are_told(void **state)
{
	(void)state;
	assert_null(virgo_tile_element(virgo, 0, 2048, 8, 0, 0));
	assert_null(virgo_tile_element(virgo, 0, 2040, 8, 8, 0));
	assert_non_null(virgo_tile_element(virgo, 0, 2040, 8, 7, 7));
	assert_null(virgo_tile_element(virgo, 0, 0, 8, 0, 8));
	assert_null(virgo_tile_element(virgo, 0, 0, SIZE_MAX, 0, 0));
	assert_null(virgo_tile_element(virgo, 0, 0, 8, SIZE_MAX, 0));
	assert_null(virgo_tile_element(virgo, 2, 0, 8, 0, 0));
	assert_true(virgo_error_text()[0] != '\0');
}

static void tiles_are_multiplied_transposed_or_not(void **state)
{
	const struct virgo_tile tile = { .m = 45, .n = 60, .k = 33, .a_row = 0, .b_end = 2048 };

	(void)state;
	for (unsigned int flags = 0; flags < 4; flags++) {
		virgo_dma_load(virgo, 0, flags, &tile, a, LEADING, b, LEADING);
		virgo_matmul_tile(virgo, 0, flags, &tile);
		virgo_dma_store(virgo, 0, 0, &tile, c, LEADING, VIRGO_NO_ACTIVATION, 1);
		assert_int_equal(virgo_fence(virgo, 0), 0);
		for (size_t i = 0; i < 46; i++) {
			for (size_t j = 0; j < LEADING; j++)
				assert_true(c[i * LEADING + j] ==
					    (i < 45 && j < 60 ? sum_of(flags, &tile, i, j) : -1));
		}
	}
}

/* The paper's kernel: the next operands come while these are multiplied. */
static void sums_go_on_over_steps_and_begin_with_what_is_loaded(void **state)
{
	struct virgo_tile places[2] = {
		{ .m = 40, .n = 40, .k = 20, .a_row = 0, .b_end = 1024 },
		{ .m = 40, .n = 40, .k = 20, .a_row = 1024, .b_end = 2048 },
	};
	const struct virgo_tile all = { .m = 40, .n = 40, .k = 60 };

	(void)state;
	virgo_dma_load_sums(virgo, 0, &places[0], d, LEADING);
	virgo_dma_load(virgo, 0, 0, &places[0], a, LEADING, b, LEADING);
	for (unsigned int step = 0; step < 3; step++) {
		const size_t next = 20 * (step + 1);

		if (step < 2)
			virgo_dma_load(virgo, 0, 0, &places[~step & 1], a + next, LEADING,
				       b + next * LEADING, LEADING);
		virgo_matmul_tile(virgo, 0, VIRGO_ADD, &places[step & 1]);
	}
	virgo_dma_store(virgo, 0, 0, &places[0], c, LEADING, VIRGO_NO_ACTIVATION, 1);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	for (size_t i = 0; i < 40; i++) {
		for (size_t j = 0; j < 40; j++)
			assert_true(c[i * LEADING + j] == d[i * LEADING + j] + sum_of(0, &all, i, j));
	}
}

static void one_row_can_be_loaded_for_all(void **state)
{
	const struct virgo_tile tile = { .m = 20, .n = 30 };

	(void)state;
	virgo_dma_load_sums(virgo, 0, &tile, d, 0);
	virgo_dma_store(virgo, 0, 0, &tile, c, LEADING, VIRGO_NO_ACTIVATION, 1);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	for (size_t i = 0; i < 20; i++)
		assert_memory_equal(c + i * LEADING, d, 30 * sizeof(float));
}

/* The largest that k can be has more blocks than a field of LOOP_WS_BOUNDS. */
static void moves_of_sums_do_not_look_at_k(void **state)
{
	static const size_t ks[] = { 0, 8, 8 * 65536, 8 * 65536 + 1, SIZE_MAX };
	struct virgo_tile tile = { .m = 20, .n = 30 };

	(void)state;
	for (size_t i = 0; i < sizeof(ks) / sizeof(ks[0]); i++) {
		tile.k = ks[i];
		for (size_t at = 0; at < 20 * LEADING; at++)
			c[at] = -1;
		assert_int_equal(virgo_dma_load_sums(virgo, 0, &tile, d, LEADING), 0);
		assert_int_equal(virgo_dma_store(virgo, 0, 0, &tile, c, LEADING, VIRGO_NO_ACTIVATION, 1), 0);
		assert_int_equal(virgo_store_shared(virgo, 0, &tile, 40, VIRGO_NO_ACTIVATION, 1), 0);
		assert_int_equal(virgo_fence(virgo, 0), 0);
		for (size_t row = 0; row < 20; row++) {
			assert_memory_equal(c + row * LEADING, d + row * LEADING, 30 * sizeof(float));
			assert_true(c[row * LEADING + 30] == -1);
			assert_true(*(float *)virgo_tile_element(virgo, 0, 40, 30, row, 29) ==
				    d[row * LEADING + 29]);
		}
	}
}

static void sums_are_stored_to_shared_memory(void **state)
{
	const struct virgo_tile tile = { .m = 20, .n = 30 };

	(void)state;
	for (uint32_t row = 0; row < 1200; row += 1100) {
		virgo_dma_load_sums(virgo, 0, &tile, a, LEADING);
		assert_int_equal(virgo_store_shared(virgo, 0, &tile, row, VIRGO_RELU, 2), 0);
		assert_int_equal(virgo_fence(virgo, 0), 0);
		for (size_t i = 0; i < 20; i++) {
			for (size_t j = 0; j < 30; j++) {
				float value = a[i * LEADING + j];
				const float *got = virgo_tile_element(virgo, 0, row, 30, i, j);

				assert_true(*got == (value < 0 ? 0 : 2 * value));
			}
		}
	}
}

static void one_operand_alone_can_be_loaded(void **state)
{
	const struct virgo_tile tile = { .m = 8, .n = 16, .k = 24, .a_row = 100, .b_end = 0 };
	const struct virgo_tile only_b = { .m = 8, .n = 16, .k = 24, .a_row = 2047, .b_end = 300 };

	(void)state;
	assert_int_equal(virgo_dma_load(virgo, 0, 0, &tile, a, LEADING, NULL, 0), 0);
	assert_int_equal(virgo_dma_load(virgo, 0, 0, &only_b, NULL, 0, b, LEADING), 0);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	assert_true(*(float *)virgo_tile_element(virgo, 0, 100, 24, 7, 23) == a[7 * LEADING + 23]);
	assert_true(*(float *)virgo_tile_element(virgo, 0, 300 - 48, 16, 23, 15) == b[23 * LEADING + 15]);
}

/* There is no next one that it could overlap. */
static void one_row_may_be_longer_than_the_leading_dimension(void **state)
{
	const struct virgo_tile tile = { .m = 1, .n = 30 };

	(void)state;
	assert_int_equal(virgo_dma_load_sums(virgo, 0, &tile, d, LEADING), 0);
	assert_int_equal(virgo_dma_store(virgo, 0, 0, &tile, c, 0, VIRGO_NO_ACTIVATION, 1), 0);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	assert_memory_equal(c, d, 30 * sizeof(float));
}

static void int8_is_stored_narrow_or_as_sums(void **state)
{
	const struct virgo_tile tile = { .m = 100, .n = 37, .k = 18, .a_row = 0, .b_end = 4096 };
	int8_t *x = (int8_t *)a, *y = (int8_t *)b, *narrow = (int8_t *)c;
	int32_t *sums = (int32_t *)d;

	(void)state;
	for (int i = 0; i < 100 * LEADING; i++) {
		x[i] = (int8_t)(i * 31);
		y[i] = (int8_t)(i * 17);
	}
	virgo_dma_load(virgo, 1, 0, &tile, x, LEADING, y, LEADING);
	virgo_matmul_tile(virgo, 1, 0, &tile);
	assert_int_equal(virgo_dma_store(virgo, 1, 0, &tile, sums, 40, VIRGO_NO_ACTIVATION, 1), 0);
	assert_int_equal(virgo_dma_store(virgo, 1, VIRGO_NARROW, &tile, narrow, 40, VIRGO_RELU, 0.25f), 0);
	assert_int_equal(virgo_fence(virgo, 1), 0);
	for (int i = 0; i < 100; i++) {
		for (int j = 0; j < 37; j++) {
			int sum = 0, rounded;

			for (int k = 0; k < 18; k++)
				sum += x[i * LEADING + k] * y[k * LEADING + j];
			assert_int_equal(sums[40 * i + j], sum);
			/* Quarters: to the nearest, of two to the even one. */
			rounded = (sum >> 2) + ((sum & 3) == 3 || ((sum & 3) == 2 && sum >> 2 & 1));
			assert_int_equal(narrow[40 * i + j], rounded < 0 ? 0 : rounded > 127 ? 127 : rounded);
		}
	}
}

static void tiles_that_do_not_fit_are_told(void **state)
{
	const struct virgo_tile good = { .m = 64, .n = 64, .k = 64, .a_row = 0, .b_end = 1024 };
	struct virgo_tile tile;

	(void)state;
	assert_int_equal(virgo_matmul_tile(virgo, 0, 0, NULL), -EINVAL);
#define BAD(field, value) \
	do { \
		tile = good; \
		tile.field = value; \
		assert_int_equal(virgo_matmul_tile(virgo, 0, 0, &tile), -EINVAL); \
		assert_int_equal(virgo_dma_load(virgo, 0, 0, &tile, a, 64, b, 64), -EINVAL); \
	} while (0)
	BAD(m, 0);
	BAD(n, 0);
	BAD(k, 0);
	BAD(m, 65);
	BAD(n, 1 << 20);
	BAD(m, SIZE_MAX);
	BAD(k, SIZE_MAX);
	BAD(k, 300);
	BAD(a_row, 2048 - 511);
	BAD(a_row, UINT32_MAX);
	BAD(b_end, 511);
	BAD(b_end, 2049);
#undef BAD
	virgo_flush(virgo, 0);
	assert_int_equal(fake.count, 0);
	assert_int_equal(virgo_matmul_tile(virgo, 0, 0, &good), 0);
}

static void bad_arguments_of_tiles_are_told(void **state)
{
	const struct virgo_tile tile = { .m = 8, .n = 8, .k = 8, .b_end = 1024 };
	const uint32_t kept = 0xffffffff;	/* in CONFIG 2: the scale stays as it is */
	float scale;

	(void)state;
	memcpy(&scale, &kept, sizeof(scale));
	assert_int_equal(virgo_dma_store(virgo, 0, 0, &tile, c, 8, VIRGO_NO_ACTIVATION, scale), -EINVAL);
	assert_int_equal(virgo_store_shared(virgo, 0, &tile, 0, VIRGO_NO_ACTIVATION, scale), -EINVAL);
	assert_int_equal(virgo_dma_load(virgo, 0, 0, &tile, a, (size_t)1 << 62, b, 8), -EINVAL);
	assert_int_equal(virgo_dma_load(virgo, 0, 0, &tile, a, 8, b, SIZE_MAX / 4 + 2), -EINVAL);
	assert_int_equal(virgo_dma_load(virgo, 0, 0, &tile, a, (size_t)1 << 59, b, 8), -EINVAL);
	assert_int_equal(virgo_dma_load_sums(virgo, 0, &tile, d, (size_t)1 << 62), -EINVAL);
	assert_int_equal(virgo_dma_store(virgo, 0, 0, &tile, c, 7, VIRGO_NO_ACTIVATION, 1), -EINVAL);
	assert_int_equal(virgo_dma_load(virgo, 0, VIRGO_ADD, &tile, a, 8, b, 8), -EINVAL);
	assert_int_equal(virgo_dma_load(virgo, 0, 0, &tile, NULL, 8, NULL, 8), -EINVAL);
	assert_int_equal(virgo_dma_load(virgo, 2, 0, &tile, a, 8, b, 8), -EINVAL);
	assert_int_equal(virgo_dma_load_sums(virgo, 0, &tile, NULL, 8), -EINVAL);
	assert_int_equal(virgo_dma_load_sums(virgo, 0, NULL, d, 8), -EINVAL);
	assert_int_equal(virgo_matmul_tile(virgo, 0, VIRGO_NARROW, &tile), -EINVAL);
	assert_int_equal(virgo_dma_store(virgo, 0, VIRGO_ADD, &tile, c, 8, VIRGO_RELU, 1), -EINVAL);
	assert_int_equal(virgo_dma_store(virgo, 0, 0, &tile, NULL, 8, VIRGO_RELU, 1), -EINVAL);
	assert_int_equal(virgo_dma_store(virgo, 0, 0, &tile, c, 8, VIRGO_SOFTMAX, 1), -EINVAL);
	assert_int_equal(virgo_dma_store(virgo, 0, 0, &tile, c, 1u << 30, VIRGO_RELU, 1), -EINVAL);
	assert_int_equal(virgo_dma_store(virgo, 1, 0, &tile, c, 8, VIRGO_RELU, 1), -EINVAL);
	assert_int_equal(virgo_dma_store(virgo, 1, 0, &tile, c, 8, VIRGO_NO_ACTIVATION, 2), -EINVAL);
	assert_int_equal(virgo_store_shared(virgo, 0, &tile, 2041, VIRGO_RELU, 1), -EINVAL);
	assert_int_equal(virgo_store_shared(virgo, 0, &tile, 0, VIRGO_LAYERNORM, 1), -EINVAL);
	assert_int_equal(virgo_store_shared(NULL, 0, &tile, 0, VIRGO_RELU, 1), -EINVAL);
	virgo_flush(virgo, 0);
	assert_int_equal(fake.count, 0);
}

#define ON(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(tiles_lie_in_blocks),
		ON(elements_outside_of_shared_memory_are_told),
		ON(tiles_are_multiplied_transposed_or_not),
		ON(sums_go_on_over_steps_and_begin_with_what_is_loaded),
		ON(one_row_can_be_loaded_for_all),
		ON(moves_of_sums_do_not_look_at_k),
		ON(sums_are_stored_to_shared_memory),
		ON(one_operand_alone_can_be_loaded),
		ON(one_row_may_be_longer_than_the_leading_dimension),
		ON(int8_is_stored_narrow_or_as_sums),
		ON(tiles_that_do_not_fit_are_told),
		ON(bad_arguments_of_tiles_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
