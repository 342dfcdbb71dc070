/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mvin, mvout and MVOUT_SPAD against the plain reference. */
#include "tests/lib/virgo_both.h"

static void mvin_moves_rows_by_their_stride(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		config_ld(0, 100 * both.size, 1, false, both.dim, 1);
		check(VIRGO_FUNCT_MVIN, in_memory(12), virgo_pack(both.dim, both.dim, 40));
		check(VIRGO_FUNCT_MVIN, in_memory(3), virgo_pack(both.dim - 1, both.dim - 2, 7));
		stop();
	}
}

static void mvin_of_wide_rows_fills_blocks_by_their_stride(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		config_ld(1, 3000, 1, false, 33, 1);
		check(VIRGO_FUNCT_MVIN2, in_memory(8), virgo_pack(both.dim, 4 * both.dim - 3, 100));
		config_ld(1, 3000, 1.5f, false, 33, 1);
		check(VIRGO_FUNCT_MVIN2, in_memory(8), virgo_pack(both.dim, 4 * both.dim - 3, 100));
		/* wider than the staging memory holds at once */
		config_ld(1, 5000, 1, false, both.dim, 1);
		check(VIRGO_FUNCT_MVIN2, in_memory(0), virgo_pack(both.dim, 900, 0));
		stop();
	}
}

/* The later one stays: a row after the one before it, and in it a block after the one before it. */
static void blocks_of_an_mvin_may_lie_over_each_other(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		for (unsigned int stride = 0; stride <= both.dim; stride++) {
			config_ld(1, 3000, 1, false, stride, 1);
			check(VIRGO_FUNCT_MVIN2, in_memory(8 + 64 * stride),
			      virgo_pack(both.dim, 4 * both.dim, 100));
		}
		stop();
	}
}

static void mvin_with_stride_0_repeats_a_row(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		config_ld(2, 0, 1, false, both.dim, 1);
		check(VIRGO_FUNCT_MVIN3, in_memory(64), virgo_pack(both.dim, both.dim, 9));
		check(VIRGO_FUNCT_MVIN3, in_memory(64), virgo_pack(both.dim, 2 * both.dim, ACC));
		stop();
	}
}

static void mvin_from_address_0_writes_zeros(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		check(VIRGO_FUNCT_MVIN, 0, virgo_pack(3, both.dim, 5));
		check(VIRGO_FUNCT_MVIN3, 0, virgo_pack(3, both.dim - 1, ACC | 2));
		stop();
	}
}

/* A negative scale would make -0 of them. */
static void zeros_of_address_0_are_not_scaled(void **state)
{
	static const uint8_t zeros[32 * 4];
	struct virgo_unit_view view;

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_ld(0, 0, -2, false, both.dim, 1);
		check(VIRGO_FUNCT_MVIN, 0, virgo_pack(1, both.dim, 3));
		check(VIRGO_FUNCT_MVIN, 0, virgo_pack(1, both.dim, ACC | 3));
		assert_memory_equal(both.f->shared + 3 * both.dim * both.size, zeros, both.dim * both.size);
		assert_int_equal(virgo_model_unit(both.f->model, 0, &view), 0);
		assert_memory_equal((const char *)view.accumulator + 3 * both.dim * 4, zeros, both.dim * 4);
		stop();
	}
}

static void mvin_scales_elements_and_saturates(void **state)
{
	static const float scales[] = { 0.5f, 1.5f, -2, 0.3333f, 100, 1e30f };

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		for (unsigned int i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
			config_ld(0, both.dim * both.size, scales[i], false, both.dim, 1);
			check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(64, both.dim, 0));
		}
		stop();
	}
}

static void mvin_to_the_accumulator_takes_wide_values_or_shrunk_ones(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_wide(both.f->arena, 4096);
		config_ld(0, both.dim * 4, 1, false, both.dim, 1);
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(both.dim, both.dim, ACC));
		check(VIRGO_FUNCT_MVIN, in_memory(64), virgo_pack(both.dim, both.dim, ACC | ADD));
		config_ld(0, both.dim * 4, 2.5f, false, both.dim, 1);
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(both.dim, both.dim, ACC | ADD));
		fill(both.f->arena, 4096);
		config_ld(0, both.dim * both.size, 1, true, both.dim, 1);
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(both.dim, 2 * both.dim, ACC | ADD | 3));
		config_ld(0, both.dim * both.size, 1.7f, true, both.dim, 1);
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(both.dim, both.dim, ACC | 1));
		stop();
	}
}

static void mvin_repeats_pixels_upwards_and_to_the_right(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		config_ld(0, 3 * both.size, 1, false, both.dim, 4);
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(both.dim, 3, 20));
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(both.dim, 3, 0));
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(both.dim, 3, both.r->rows / 2));
		config_ld(0, 3 * both.size, 0.5f, false, both.dim, 2);
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(2, 3, 40));
		stop();
	}
}

static void mvout_writes_what_mvin_read(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_st(2000, 0, 1);
		check(VIRGO_FUNCT_MVOUT, out_memory(8), virgo_pack(both.dim, both.dim, 3));
		check(VIRGO_FUNCT_MVOUT, out_memory(8), virgo_pack(5, 3 * both.dim - 1, 11));
		stop();
	}
}

static void mvout_of_the_accumulator_scales_rounds_and_saturates(void **state)
{
	static const float scales[] = { 1, 0.001f, 0.0004f, 0.5f, -1, 3e-5f, 1e10f };

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		for (unsigned int i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
			config_st(both.dim * both.size, i % 2, scales[i]);
			check(VIRGO_FUNCT_MVOUT, out_memory(0),
			      virgo_pack(both.r->accumulator_rows, both.dim, ACC));
		}
		stop();
	}
}

static void mvout_of_full_rows_is_the_accumulator_as_it_is(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_st(both.dim * 8, VIRGO_RELU, 0.5f);
		check(VIRGO_FUNCT_MVOUT, out_memory(0),
		      virgo_pack(both.dim, 2 * both.dim, ACC | VIRGO_LOCAL_FULL | 4));
		stop();
	}
}

static void mvout_applies_igelu(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_st(both.dim * both.size, VIRGO_IGELU, both.type == VIRGO_INT8 ? 1e-6f : 0.01f);
		quick(VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_NORM, (uint64_t)constant(-2770, -1.769f * 1.4142f) |
		      (uint64_t)constant(-385, -6.93f) << 32);
		check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(both.dim, both.dim, ACC));
		stop();
	}
}

static uint32_t norm(enum virgo_norm what)
{
	return (uint32_t)what << VIRGO_LOCAL_NORM_SHIFT;
}

static void mvout_normalises_rows_for_layernorm(void **state)
{
	static const enum virgo_norm first[] = { VIRGO_NORM_SUM, VIRGO_NORM_VARIANCE };
	static const enum virgo_norm last[] = { VIRGO_NORM_MEAN, VIRGO_NORM_INV_STDDEV };

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_st(both.dim * both.size * 2, VIRGO_LAYERNORM, 30);
		for (unsigned int i = 0; i < 2; i++) {
			check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(1, both.dim, ACC | norm(first[i])));
			check(VIRGO_FUNCT_MVOUT, out_memory(0),
			      virgo_pack(1, both.dim - 1, ACC | norm(last[i]) | both.dim));
		}
		check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(1, 2 * both.dim - 1, ACC));
		stop();
	}
}

static void mvout_normalises_rows_for_softmax(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		/* elements: differences of which exponentials are left */
		config_ld(0, 2 * both.dim * both.size, 1, true, both.dim, 1);
		check(VIRGO_FUNCT_MVIN, in_memory(0), virgo_pack(1, 2 * both.dim, ACC));
		config_st(both.dim * both.size * 2, 0, 1);
		config_norm(true);
		check(VIRGO_FUNCT_MVOUT, out_memory(0),
		      virgo_pack(1, 2 * both.dim, ACC | norm(VIRGO_NORM_MAX)));
		check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(1, both.dim, ACC | norm(VIRGO_NORM_SUM_EXP)));
		check(VIRGO_FUNCT_MVOUT, out_memory(0),
		      virgo_pack(1, both.dim, ACC | norm(VIRGO_NORM_INV_SUM_EXP) | both.dim));
		check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(1, 2 * both.dim, ACC));
		stop();
	}
}

/*
 * Half of the row is 1 and half is 3, so that the mean is 2 and the deviation 1. The
 * staging memory holds a quarter (fp32) or a half (fp16) of the row.
 */
static void mvout_normalises_rows_that_are_longer_than_the_staging_memory(void **state)
{
	static const unsigned int types[] = { VIRGO_FP32, VIRGO_FP16 };
	const unsigned int columns = 16384;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct virgo_config config = virgo_fixture_config(types[i], 4);
		_Float16 half;
		float real;

		config.unit[0].accumulator_kb = 256;
		start_configured(&config, 0);
		for (unsigned int column = 0; column < columns; column++)
			put_float(both.f->arena + column * 4, column < columns / 2 ? 1 : 3);
		config_ld(2, 0, 1, false, both.dim, 1);
		check(VIRGO_FUNCT_MVIN3, in_memory(0), virgo_pack(1, columns, ACC));
		config_st(0, VIRGO_LAYERNORM, 1);
		check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(1, columns, ACC | norm(VIRGO_NORM_MEAN)));
		check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(1, columns, ACC | norm(VIRGO_NORM_INV_STDDEV)));
		check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(1, columns, ACC));
		for (unsigned int column = 0; column < columns; column++) {
			memcpy(&half, both.f->arena + HALF + column * 2, 2);
			memcpy(&real, both.f->arena + HALF + column * 4, 4);
			assert_true((both.type == VIRGO_FP16 ? (float)half : real) ==
				    (column < columns / 2 ? -1 : 1));
		}
		stop();
	}
}

/* Else a layernorm after a softmax would be none. */
static void config_of_the_store_ends_softmax(void **state)
{
	int8_t out[16];

	(void)state;
	start_as(VIRGO_INT8, 16, 0);
	fill_wide(both.f->arena, 16);
	both.f->arena[0] = 5;
	memset(both.f->arena + 1, 0, 3);
	config_ld(2, 64, 1, false, 16, 1);
	quick(VIRGO_FUNCT_MVIN3, in_memory(0), virgo_pack(1, 16, ACC));
	config_st(16, 0, 1);
	config_norm(true);
	config_st(16, 0, 1);
	check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(1, 16, ACC));
	memcpy(out, both.f->arena + HALF, sizeof(out));
	assert_int_equal(out[0], 5);
	stop();
}

static void mvout_pools_windows_with_paddings(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		for (unsigned int size = 1; size <= 3; size++) {
			/* a 7 x 5 output in windows of 2 rows and columns, one row and column of padding */
			quick(VIRGO_FUNCT_CONFIG, 5ull << 56 | 7ull << 48 | 3ull << 40 | 4ull << 32 | 6u << 24 |
			      1u << 10 | 1u << 8 | size << 6 | 2u << 4 | VIRGO_RELU << 2 | VIRGO_CONFIG_ST,
			      scale_bits(0.01f) << 32 | 40 * both.size);
			check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(0, both.dim, ACC | 5));
			check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(0, both.dim - 1, 5));
		}
		stop();
	}
}

static void mvout_spad_puts_elements_into_the_scratchpad(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_st(0, VIRGO_RELU, 0.01f);
		check(VIRGO_FUNCT_MVOUT_SPAD, 1ull << 32 | 77, virgo_pack(both.dim, both.dim, ACC | 8));
		check(VIRGO_FUNCT_MVOUT_SPAD, 3ull << 32 | 7, virgo_pack(both.dim - 1, 2 * both.dim - 3, ACC));
		stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mvin_moves_rows_by_their_stride),
		cmocka_unit_test(mvin_of_wide_rows_fills_blocks_by_their_stride),
		cmocka_unit_test(blocks_of_an_mvin_may_lie_over_each_other),
		cmocka_unit_test(mvin_with_stride_0_repeats_a_row),
		cmocka_unit_test(mvin_from_address_0_writes_zeros),
		cmocka_unit_test(zeros_of_address_0_are_not_scaled),
		cmocka_unit_test(mvin_scales_elements_and_saturates),
		cmocka_unit_test(mvin_to_the_accumulator_takes_wide_values_or_shrunk_ones),
		cmocka_unit_test(mvin_repeats_pixels_upwards_and_to_the_right),
		cmocka_unit_test(mvout_writes_what_mvin_read),
		cmocka_unit_test(mvout_of_the_accumulator_scales_rounds_and_saturates),
		cmocka_unit_test(mvout_of_full_rows_is_the_accumulator_as_it_is),
		cmocka_unit_test(mvout_applies_igelu),
		cmocka_unit_test(mvout_normalises_rows_for_layernorm),
		cmocka_unit_test(mvout_normalises_rows_for_softmax),
		cmocka_unit_test(mvout_normalises_rows_that_are_longer_than_the_staging_memory),
		cmocka_unit_test(config_of_the_store_ends_softmax),
		cmocka_unit_test(mvout_pools_windows_with_paddings),
		cmocka_unit_test(mvout_spad_puts_elements_into_the_scratchpad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
