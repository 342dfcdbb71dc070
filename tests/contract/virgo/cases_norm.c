/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Activations of whole rows: I-GELU, layernorm, softmax, as virgo_norm.h has them.
 * And pooling.
 */
#include <math.h>
#include <string.h>

#include "tests/contract/virgo/norm.h"
#include "tests/contract/virgo/contract.h"

#define BLOCKS 3	/* of a row */

static unsigned int columns_of_row(void)
{
	return BLOCKS * unit.dim - 1;
}

static void put_row(const int32_t *values)
{
	for (unsigned int i = 0; i < columns_of_row(); i++)
		put_value(input_at(0), i, values[i]);
	config_ld(0, 4096, 1, false);
	mvin(input_at(0), ACC, 1, columns_of_row());
}

/* The visits of a row: all blocks but the last, the last. */
static void visit(enum norm first, enum norm last)
{
	unsigned int last_block = (BLOCKS - 1) * unit.dim;

	mvout(output_at(0), ACC | NORM(first), 1, last_block);
	mvout(output_at(0), ACC | NORM(last) | last_block, 1, columns_of_row() - last_block);
}

/* --- I-GELU ------------------------------------------------------------------------------ */

CASE(igelu_of_int8_is_gemminis, EITHER)
{
	struct igelu constants = igelu_of(0.05f);
	int32_t values[BLOCKS * MAX_DIM] = { 0 };

	use_type(INT8);
	for (unsigned int i = 0; i < columns_of_row(); i++)
		values[i] = (int32_t)draw_below(201) - 100;
	put_row(values);
	config_norm(0, 0, (uint32_t)constants.qb, (uint32_t)constants.qc, false, 0);
	config_st(64, IGELU, 1e-4f);
	mvout(output_at(0), ACC, 1, columns_of_row());
	COMPLETE();
	for (unsigned int i = 0; i < columns_of_row(); i++)
		EXPECT_TRUE(element_of(output_at(0), i) == scaled(igelu(values[i], &constants), 1e-4f));
}

/* It is a GELU: of numbers x = q * scale, within the error that I-BERT promises. */
CASE(igelu_of_floats_is_near_gelu, EITHER)
{
	FOR_EACH_UNIT {
		if (unit.type == INT8)
			continue;
		fill_values(input_at(0), columns_of_row());
		config_ld(0, 4096, 1, false);
		mvin(input_at(0), ACC, 1, columns_of_row());
		/* scale 1: qb = -1.769 * sqrt(2), qc = 1 / (-0.2888 / 2) */
		config_norm(0, 0, float_bits(-1.769f * 1.41421356f), float_bits(1 / (-0.2888f / 2)), false, 0);
		config_st(4096, IGELU, -0.2888f / 2 / 2);
		mvout(output_at(0), ACC, 1, columns_of_row());
		COMPLETE();
		for (unsigned int i = 0; i < columns_of_row(); i++) {
			double x = value_of(input_at(0), i);

			EXPECT_TRUE(fabs(element_of(output_at(0), i) - gelu(x)) < 0.05);
		}
	}
}

CASE(igelu_of_any_values, EITHER)
{
	FOR_EACH_UNIT {
		bool whole = unit.type == INT8;

		fill_unit();
		config_st(unit.dim * unit.size, IGELU, whole ? 1e-6f : 0.01f);
		config_norm(0, 0, whole ? (uint32_t)-2770 : float_bits(-2.5f),
			    whole ? (uint32_t)-385 : float_bits(-6.9f), false, 0);
		mvout(output_at(0), ACC, unit.accumulator_rows, unit.dim);
		rocc(MVOUT_SPAD, 1ull << 32 | 3, pack(20, unit.dim, ACC));
		CHECK();
	}
}

/* --- layernorm ------------------------------------------------------------------------------ */

CASE(layernorm_of_int8_is_gemminis, EITHER)
{
	int32_t values[BLOCKS * MAX_DIM] = { 0 };
	double expected[BLOCKS * MAX_DIM];
	unsigned int n;

	use_type(INT8);
	n = columns_of_row();
	for (unsigned int i = 0; i < n; i++)
		values[i] = (int32_t)draw_below(2001) - 1300;
	layernorm_row(values, n, 30, expected);
	put_row(values);
	config_st(64, LAYERNORM, 30);
	visit(NORM_SUM, NORM_MEAN);
	visit(NORM_VARIANCE, NORM_DEVIATION);
	mvout(output_at(0), ACC, 1, n);
	COMPLETE();
	for (unsigned int i = 0; i < n; i++)
		EXPECT_TRUE(element_of(output_at(0), i) == expected[i]);
	CHECK();
}

/* All the same: the deviation counts as 1. */
CASE(layernorm_of_equal_values_is_0, EITHER)
{
	FOR_EACH_UNIT {
		int32_t values[BLOCKS * MAX_DIM] = { 0 };

		for (unsigned int i = 0; i < columns_of_row(); i++)
			values[i] = 77;
		put_row(values);
		config_st(64, LAYERNORM, 30);
		visit(NORM_SUM, NORM_MEAN);
		visit(NORM_VARIANCE, NORM_DEVIATION);
		mvout(output_at(0), ACC, 1, columns_of_row());
		COMPLETE();
		for (unsigned int i = 0; i < columns_of_row(); i++)
			EXPECT_TRUE(element_of(output_at(0), i) == 0);
	}
}

/* 47 times 77, once 78: the mean is 77, the variance 47 parts of 1, and so 0. */
CASE(a_deviation_of_0_counts_as_1, EITHER)
{
	int32_t values[BLOCKS * MAX_DIM];

	use_type(INT8);
	for (unsigned int i = 0; i < columns_of_row(); i++)
		values[i] = 77;
	values[5] = 78;
	put_row(values);
	config_st(64, LAYERNORM, 30);
	visit(NORM_SUM, NORM_MEAN);
	visit(NORM_VARIANCE, NORM_DEVIATION);
	mvout(output_at(0), ACC, 1, columns_of_row());
	COMPLETE();
	for (unsigned int i = 0; i < columns_of_row(); i++)
		EXPECT_TRUE(element_of(output_at(0), i) == (i == 5 ? 30 : 0));
}

CASE(layernorm_of_floats_has_mean_0_and_deviation_1, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = columns_of_row();
		double sum = 0, squares = 0;

		if (unit.type == INT8)
			continue;
		fill_values(input_at(0), n);
		config_ld(0, 4096, 1, false);
		mvin(input_at(0), ACC, 1, n);
		config_st(4096, LAYERNORM, 1);
		visit(NORM_SUM, NORM_MEAN);
		visit(NORM_VARIANCE, NORM_DEVIATION);
		mvout(output_at(0), ACC, 1, n);
		COMPLETE();
		for (unsigned int i = 0; i < n; i++) {
			double value = element_of(output_at(0), i);

			sum += value;
			squares += value * value;
		}
		EXPECT_TRUE(fabs(sum / n) < 0.001);
		EXPECT_TRUE(fabs(squares / n - 1) < 0.002);
		CHECK();
	}
}

/* --- softmax ----------------------------------------------------------------------------------- */

static void expect_softmax(const int32_t *values)
{
	struct softmax s = softmax_of(0.05f);
	double expected[BLOCKS * MAX_DIM];
	unsigned int n = columns_of_row();

	softmax_row(values, n, &s, expected);
	put_row(values);
	config_st(64, SOFTMAX, 1);
	config_norm((uint32_t)s.ln2, (uint32_t)s.inverse, (uint32_t)s.qb, (uint32_t)s.qc, true, 0);
	visit(NORM_MAX, NORM_MAX);
	visit(NORM_SUM_EXP, NORM_END_EXP);
	mvout(output_at(0), ACC, 1, n);
	COMPLETE();
	for (unsigned int i = 0; i < n; i++)
		EXPECT_TRUE(element_of(output_at(0), i) == expected[i]);
	CHECK();
}

CASE(softmax_of_int8_is_gemminis, EITHER)
{
	int32_t values[BLOCKS * MAX_DIM];

	use_type(INT8);
	for (unsigned int i = 0; i < BLOCKS * MAX_DIM; i++)
		values[i] = (int32_t)draw_below(100) - 20;
	expect_softmax(values);
	/* three that share it all: 127 / 3 each */
	for (unsigned int i = 0; i < BLOCKS * MAX_DIM; i++)
		values[i] = i % 20 == 3 ? 100 : -100;
	expect_softmax(values);
	EXPECT_TRUE(element_of(output_at(0), 3) == 42);
}

/* The sum is 1, and each is near exp(x) / sum of exp. */
CASE(softmax_of_floats_is_near_softmax, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = columns_of_row();
		double sum = 0, total = 0;

		if (unit.type == INT8)
			continue;
		fill_values(input_at(0), n);
		config_ld(0, 4096, 1, false);
		mvin(input_at(0), ACC, 1, n);
		config_st(4096, SOFTMAX, 1);
		config_norm(float_bits(0.693147f), float_bits(1.442695f), float_bits(1.353f),
			    float_bits(0.344f / 0.3585f), true, 0);
		visit(NORM_MAX, NORM_MAX);
		visit(NORM_SUM_EXP, NORM_END_EXP);
		mvout(output_at(0), ACC, 1, n);
		COMPLETE();
		for (unsigned int i = 0; i < n; i++)
			total += exp(value_of(input_at(0), i));
		for (unsigned int i = 0; i < n; i++) {
			double value = element_of(output_at(0), i);

			sum += value;
			EXPECT_TRUE(fabs(value - exp(value_of(input_at(0), i)) / total) < 0.01);
		}
		EXPECT_TRUE(fabs(sum - 1) < 0.005);
		CHECK();
	}
}

/* The third bit of an activation is CONFIG 3's, and CONFIG 2 clears it: softmax is both, in this order. */
CASE(a_configuration_of_the_store_ends_softmax, EITHER)
{
	FOR_EACH_UNIT {
		put_value(input_at(0), 0, -5);
		config_ld(0, 64, 1, false);
		mvin(input_at(0), ACC, 1, 1);
		config_norm(0, 0, 0, 0, true, 0);
		config_st(64, NO_ACTIVATION, 1);
		mvout(output_at(0), ACC, 1, 1);
		COMPLETE();
		EXPECT_TRUE(element_of(output_at(0), 0) == -5);
	}
}

/* CONFIG names one of four sets; a change of only the set keeps the constants. */
CASE(statistics_are_kept_for_four_rows, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		config_st(unit.dim * unit.size, LAYERNORM, unit.type == INT8 ? 30 : 1);
		for (unsigned int row = 0; row < 4; row++) {
			rocc(CONFIG, 1u << 17 | row << 8 | 3, 0);
			mvout(output_at(0), ACC | NORM(NORM_MEAN) | row, 1, unit.dim);
		}
		for (unsigned int row = 0; row < 4; row++) {
			rocc(CONFIG, 1u << 17 | row << 8 | 3, 0);
			mvout(output_at(0), ACC | NORM(NORM_DEVIATION) | row, 1, unit.dim);
		}
		for (unsigned int row = 4; row-- > 0;) {
			rocc(CONFIG, 1u << 17 | row << 8 | 3, 0);
			mvout(output_at(1024 * row), ACC | row, 1, unit.dim);
		}
		CHECK();
	}
}

/* A visit writes nothing. */
CASE(a_visit_for_statistics_leaves_memory_alone, EITHER)
{
	FOR_EACH_UNIT {
		uint8_t before[64];

		fill_unit();
		memset(before, 0x5a, sizeof(before));
		memset(output_at(0), 0x5a, 4096);
		config_st(64, LAYERNORM, 1);
		for (unsigned int what = NORM_SUM; what <= NORM_END_EXP; what++)
			mvout(output_at(0), ACC | NORM(what), 1, unit.dim);
		/* not even there */
		rocc(MVOUT, 16, pack(1, unit.dim, ACC | NORM(NORM_SUM)));
		rocc(MVOUT_SPAD, 40, pack(1, unit.dim, ACC | NORM(NORM_SUM)));
		COMPLETE();
		EXPECT_SAME(output_at(0), before, sizeof(before));
	}
}

/* --- pooling -------------------------------------------------------------------------------------- */

/* The largest element of a window; elements outside of the image count as 0. */
static double window(const struct pooling *p, unsigned int row, unsigned int column, unsigned int channel,
		     float scale, bool relu)
{
	double best = -1e9;

	for (unsigned int i = 0; i < p->size * p->size; i++) {
		int r = (int)(row * p->stride + i / p->size) - (int)p->top;
		int c = (int)(column * p->stride + i % p->size) - (int)p->left;
		double value = 0;

		if (r >= 0 && c >= 0 && r < (int)p->in_rows && c < (int)p->in_columns) {
			size_t at = ((size_t)r * p->in_columns + (size_t)c) * unit.dim + channel;

			value = as_element(value_of(input_at(0), at) * (double)scale);
			value = relu && value < 0 ? 0 : value;
		}
		best = value > best ? value : best;
	}
	return best;
}

static void expect_pooled(const struct pooling *p, float scale, unsigned int activation)
{
	unsigned int channels = unit.dim - 1, stride = 40 * unit.size;

	for (unsigned int i = 0; i < p->in_rows * p->in_columns * unit.dim; i++)
		put_value(input_at(0), i, (int)draw_below(200) - 150);
	config_ld(0, unit.dim * 4, 1, false);
	mvin(input_at(0), ACC | 5, p->in_rows * p->in_columns, unit.dim);
	config_st_pool(p, stride, activation, scale);
	mvout(output_at(0), ACC | 5, 0, channels);
	COMPLETE();
	for (unsigned int i = 0; i < p->rows * p->columns * channels; i++) {
		unsigned int channel = i % channels, column = i / channels % p->columns;
		unsigned int row = i / channels / p->columns;
		const void *pixel = output_at(((size_t)row * p->out_columns + column) * stride);
		double largest = window(p, row, column, channel, scale, activation == RELU);

		EXPECT_TRUE(element_of(pixel, channel) == largest);
	}
	CHECK();
}

CASE(pooling_takes_the_largest_of_each_window, EITHER)
{
	struct pooling p = {
		.stride = 2, .size = 2, .out_columns = 4, .rows = 3, .columns = 4, .in_rows = 6,
	};

	FOR_EACH_UNIT {
		p.in_columns = unit.dim == 16 ? 8 : 7;
		p.columns = p.in_columns / 2;
		expect_pooled(&p, 0.5f, NO_ACTIVATION);
		expect_pooled(&p, 1, RELU);
	}
}

CASE(pooling_pads_with_zeros, EITHER)
{
	struct pooling p = {
		.stride = 2, .size = 3, .top = 1, .left = 1, .out_columns = 6, .rows = 4, .columns = 3,
		.in_rows = 7, .in_columns = 5,
	};

	FOR_EACH_UNIT
		expect_pooled(&p, 1, NO_ACTIVATION);
}

CASE(windows_of_every_size_and_stride, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		for (unsigned int n = 0; n < 9; n++) {
			struct pooling p = {
				.size = 1 + n % 3, .stride = 1 + n / 3, .top = n % 2, .left = n % 4 % 3,
				.out_columns = 6, .rows = 4, .columns = 3, .in_rows = 9, .in_columns = 10,
			};

			config_st_pool(&p, 20 * unit.size, n & 1 ? RELU : NO_ACTIVATION, 0.01f);
			mvout(output_at(0), ACC | 5, 0, unit.dim);
			/* of the scratchpad, as it is */
			mvout(output_at(32768), 5, 0, unit.dim - 1);
			CHECK();
		}
	}
}

/* The mean of all pixels of a channel, by a product with a row of ones and the scale of the store. */
CASE(a_global_average_is_a_product_with_ones, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim, pixels = 4 * n;
		float scale = 1 / (float)pixels;

		fill_small(input_at(0), pixels * n, 100);
		for (unsigned int i = 0; i < n; i++)
			put_element(input_at(65536), i, 1);
		config_ld(0, n * unit.size, 1, false);
		config_st(n * unit.size, NO_ACTIVATION, scale);
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		mvin(input_at(0), 0, pixels, n);
		mvin(input_at(65536), 500, 1, n);
		for (unsigned int k = 0; k < 4; k++) {
			rocc(PRELOAD, pack(n, n, k * n), pack(1, n, ACC | (k ? ADD : 0)));
			rocc(COMPUTE_PRELOADED, pack(1, n, 500), pack(1, n, GARBAGE));
		}
		mvout(output_at(0), ACC, 1, n);
		COMPLETE();
		for (unsigned int j = 0; j < n; j++) {
			double sum = 0;

			for (unsigned int i = 0; i < pixels; i++)
				sum += element_of(input_at(0), i * n + j);
			EXPECT_TRUE(element_of(output_at(0), j) == as_element((double)((float)sum * scale)));
		}
	}
}
