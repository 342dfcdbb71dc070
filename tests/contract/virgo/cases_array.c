/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* preload and compute: both dataflows, transposes, partial tiles, where operands and results lie. */
#include <math.h>
#include <string.h>

#include "tests/contract/virgo/contract.h"

/* A product of whole numbers, at most so large that it is exact in every type. */
static double dot(const void *a, size_t a_at, size_t a_step, const void *b, size_t b_at, size_t b_step,
		  unsigned int depth)
{
	double sum = 0;

	for (unsigned int k = 0; k < depth; k++)
		sum += element_of(a, a_at + k * a_step) * element_of(b, b_at + k * b_step);
	return sum;
}

/* A, B, D in the scratchpad's first three tiles. */
static void fill_tiles(void)
{
	fill_small(shared_memory(), 3 * unit.dim * unit.dim, 3);
}

static void *tile_at(unsigned int n)
{
	return shared_row(n * unit.dim);
}

static uint64_t whole(uint32_t local)
{
	return pack(unit.dim, unit.dim, local);
}

CASE(weight_stationary_adds_d_to_the_product, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_tiles();
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		config_st(n * 4, NO_ACTIVATION, 1);
		rocc(PRELOAD, whole(n), whole(ACC | 7));
		rocc(COMPUTE_PRELOADED, whole(0), whole(2 * n));
		mvout(output_at(0), ACC | FULL | 7, n, n);
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++)
			EXPECT_TRUE(value_of(output_at(0), i) == element_of(tile_at(2), i) +
				    dot(tile_at(0), i / n * n, 1, tile_at(1), i % n, n, n));
	}
}

CASE(output_stationary_sums_in_the_array, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_tiles();
		config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 0, false, false);
		config_st(n * 4, NO_ACTIVATION, 1);
		/* D first, then the same product twice */
		rocc(PRELOAD, whole(2 * n), whole(GARBAGE));
		rocc(COMPUTE_PRELOADED, whole(0), whole(n));
		rocc(PRELOAD, whole(GARBAGE), whole(ACC | 7));
		rocc(COMPUTE_ACCUMULATED, whole(0), whole(n));
		mvout(output_at(0), ACC | FULL | 7, n, n);
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++)
			EXPECT_TRUE(value_of(output_at(0), i) == element_of(tile_at(2), i) +
				    2 * dot(tile_at(0), i / n * n, 1, tile_at(1), i % n, n, n));
	}
}

CASE(transposes_of_the_weight_stationary_dataflow, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_tiles();
		config_st(n * 4, NO_ACTIVATION, 1);
		for (unsigned int flags = 0; flags < 4; flags++) {
			config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, flags & 1, flags & 2);
			rocc(PRELOAD, whole(n), whole(ACC | 7));
			rocc(COMPUTE_PRELOADED, whole(0), whole(GARBAGE));
			mvout(output_at(0), ACC | FULL | 7, n, n);
			COMPLETE();
			for (unsigned int i = 0; i < n; i++)
				for (unsigned int j = 0; j < n; j++)
					EXPECT_TRUE(value_of(output_at(0), i * n + j) ==
						    dot(tile_at(0), flags & 1 ? i : i * n, flags & 1 ? n : 1,
							tile_at(1), flags & 2 ? j * n : j, flags & 2 ? 1 : n, n));
		}
	}
}

CASE(transposes_of_the_output_stationary_dataflow, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_tiles();
		config_st(n * 4, NO_ACTIVATION, 1);
		for (unsigned int flags = 0; flags < 4; flags++) {
			config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 0, flags & 1, flags & 2);
			rocc(PRELOAD, whole(GARBAGE), whole(ACC | 7));
			rocc(COMPUTE_PRELOADED, whole(0), whole(n));
			mvout(output_at(0), ACC | FULL | 7, n, n);
			COMPLETE();
			for (unsigned int i = 0; i < n; i++)
				for (unsigned int j = 0; j < n; j++)
					EXPECT_TRUE(value_of(output_at(0), i * n + j) ==
						    dot(tile_at(0), flags & 1 ? i : i * n, flags & 1 ? n : 1,
							tile_at(1), flags & 2 ? j * n : j, flags & 2 ? 1 : n, n));
		}
	}
}

CASE(both_dataflows_with_all_transposes_and_any_numbers, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		for (unsigned int flags = 0; flags < 8; flags++) {
			config_ex(flags & 1, NO_ACTIVATION, 0, flags & 2, flags & 4);
			rocc(PRELOAD, whole(50), whole(ACC | 16));
			rocc(COMPUTE_PRELOADED, whole(100), whole(200));
			rocc(PRELOAD, whole(GARBAGE), whole(ACC | ADD | 16));
			rocc(COMPUTE_ACCUMULATED, whole(300), whole(flags & 1 ? GARBAGE : 400));
			rocc(COMPUTE_PRELOADED, whole(300), whole(GARBAGE));
		}
		CHECK();
	}
}

CASE(weights_stay_in_the_array_for_further_computes, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_tiles();
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		config_st(n * 4, NO_ACTIVATION, 1);
		rocc(PRELOAD, whole(n), whole(GARBAGE));
		rocc(COMPUTE_PRELOADED, whole(0), whole(GARBAGE));
		/* A x B again, of the other tile, with nothing preloaded */
		rocc(PRELOAD, whole(GARBAGE), whole(ACC));
		rocc(COMPUTE_ACCUMULATED, whole(2 * n), whole(GARBAGE));
		mvout(output_at(0), ACC | FULL, n, n);
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++)
			EXPECT_TRUE(value_of(output_at(0), i) ==
				    dot(tile_at(2), i / n * n, 1, tile_at(1), i % n, n, n));
	}
}

/* Elements outside of an operand's rows and columns are 0, not the bytes of memory there. */
CASE(partial_tiles_are_padded_with_zeros, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int m = unit.dim - 1, n = unit.dim - 2, k = unit.dim - 3, d = unit.dim;

		fill_tiles();
		memset(output_at(0), 0x5a, 4096);
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		config_st(d * 4, NO_ACTIVATION, 1);
		rocc(PRELOAD, pack(k, n, d), pack(m, n, ACC));
		rocc(COMPUTE_PRELOADED, pack(m, k, 0), pack(m, n, 2 * d));
		mvout(output_at(0), ACC | FULL, d, d);
		COMPLETE();
		for (unsigned int i = 0; i < d; i++)
			for (unsigned int j = 0; j < d; j++) {
				double sum = dot(tile_at(0), i * d, 1, tile_at(1), j, d, k) +
					     element_of(tile_at(2), i * d + j);

				EXPECT_TRUE(value_of(output_at(0), i * d + j) == (i < m && j < n ? sum : 0));
			}
	}
}

CASE(partial_tiles_of_all_shapes, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		for (unsigned int i = 0; i < 64; i++) {
			unsigned int m = draw_below(unit.dim + 1), n = draw_below(unit.dim + 1);
			unsigned int k = draw_below(unit.dim + 1);

			config_ex(i & 1, i >> 1 & 1, 0, i & 4, i & 8);
			rocc(PRELOAD, pack(i & 1 ? k : m, n, 50), pack(m, n, i & 16 ? 600 : ACC | ADD | 16));
			rocc(COMPUTE_PRELOADED, pack(m, k, 100), pack(i & 1 ? m : k, n, 200));
		}
		CHECK();
	}
}

/* int8: (x + half) >> shift, ties to even; saturated in the scratchpad. By hand, of values D with A = 0. */
CASE(results_of_the_output_stationary_dataflow_are_shifted_and_rounded_to_even, EITHER)
{
	static const int8_t from[16] = { 1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, 127 };
	static const int8_t quarters[16] = { 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, -1, -1, -1, -2, -2, 32 };

	use_type(INT8);
	memcpy(shared_row(0), from, 16);
	config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 2, false, false);
	rocc(PRELOAD, pack(1, 16, 0), pack(1, 16, 40));
	rocc(COMPUTE_PRELOADED, pack(1, 16, GARBAGE), pack(16, 16, GARBAGE));
	COMPLETE();
	EXPECT_SAME(shared_row(40), quarters, 16);
}

CASE(results_are_shifted_by_any_number, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		for (unsigned int shift = 0; shift < 40; shift += 3) {
			config_ex(OUTPUT_STATIONARY, shift & 1, shift, false, false);
			rocc(PRELOAD, whole(40), whole(shift & 2 ? 600 : ACC | 32));
			rocc(COMPUTE_PRELOADED, whole(100), whole(200));
		}
		CHECK();
	}
}

CASE(results_in_the_scratchpad_saturate_and_take_relu, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_small(shared_memory(), 3 * n * n, unit.type == INT8 ? 20 : 3);
		config_ex(WEIGHT_STATIONARY, RELU, 0, false, false);
		rocc(PRELOAD, whole(n), whole(600));
		rocc(COMPUTE_PRELOADED, whole(0), whole(2 * n));
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++) {
			double sum = element_of(tile_at(2), i) +
				     dot(tile_at(0), i / n * n, 1, tile_at(1), i % n, n, n);

			EXPECT_TRUE(element_of(shared_row(600), i) == (sum < 0 ? 0 : as_element(sum)));
		}
	}
}

CASE(operands_may_lie_in_the_accumulator, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_small(input_at(0), 2 * n * n, 3);
		memcpy(shared_memory(), input_at(0), 2ull * n * n * unit.size);
		config_ld(0, n * unit.size, 1, true);
		config_ex_strides(WEIGHT_STATIONARY, 1, 1, 1);
		config_st(n * 4, NO_ACTIVATION, 1);
		mvin(input_at(0), ACC | 3, n, n);
		rocc(PRELOAD, whole(n), whole(ACC | 64));
		rocc(COMPUTE_PRELOADED, whole(ACC | 3), whole(GARBAGE));
		mvout(output_at(0), ACC | FULL | 64, n, n);
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++)
			EXPECT_TRUE(value_of(output_at(0), i) ==
				    dot(tile_at(0), i / n * n, 1, tile_at(1), i % n, n, n));
	}
}

CASE(operands_in_the_accumulator_are_scaled_to_elements, EITHER)
{
	static const float scales[] = { 1, 0.75f, 0.001f, -2 };

	FOR_EACH_UNIT {
		fill_unit();
		for (unsigned int flags = 0; flags < 8; flags++) {
			config_ex_strides(flags & 1, 1, 1, scales[flags / 2]);
			rocc(PRELOAD, whole(ACC | 3), whole(ACC | 64));
			rocc(COMPUTE_PRELOADED, whole(ACC | 20), whole(ACC | 40));
			/* relu on the way in, and on the way out to the scratchpad */
			config_ex(flags & 1, RELU, 0, false, false);
			rocc(PRELOAD, whole(ACC | 3), whole(flags & 2 ? 500 : ACC | 90));
			rocc(COMPUTE_PRELOADED, whole(ACC | 20), whole(ACC | 40));
		}
		CHECK();
	}
}

CASE(rows_of_a_and_c_follow_their_strides, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_small(shared_memory(), 8 * n * n, 3);
		config_ex_strides(WEIGHT_STATIONARY, 3, 2, 1);
		config_st(n * 4, NO_ACTIVATION, 1);
		rocc(PRELOAD, whole(4 * n), whole(ACC | 16));
		rocc(COMPUTE_PRELOADED, whole(0), whole(GARBAGE));
		mvout(output_at(0), ACC | FULL | 16, 2 * n, n);
		COMPLETE();
		for (unsigned int i = 0; i < n; i++)
			for (unsigned int j = 0; j < n; j++)
				EXPECT_TRUE(value_of(output_at(0), 2 * i * n + j) ==
					    dot(shared_row(3 * i), 0, 1, shared_row(4 * n), j, n, n));
		/* a stride of 0 takes one row again and again */
		config_ex_strides(OUTPUT_STATIONARY, 0, 1, 1);
		rocc(PRELOAD, whole(GARBAGE), whole(700));
		rocc(COMPUTE_PRELOADED, whole(5), whole(100));
		CHECK();
	}
}

CASE(a_configuration_may_change_the_strides_only, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		config_ex(OUTPUT_STATIONARY, RELU, 3, false, true);
		rocc(CONFIG, 2u << 16 | 1u << 7 | 1u << 8 | 1u << 2, 3ull << 48 | 9);
		rocc(PRELOAD, whole(50), whole(600));
		rocc(COMPUTE_PRELOADED, whole(100), whole(200));
		CHECK();
	}
}

CASE(a_preload_of_nothing_is_a_tile_of_zeros, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_tiles();
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		config_st(n * 4, NO_ACTIVATION, 1);
		rocc(PRELOAD, whole(GARBAGE), whole(ACC));
		rocc(COMPUTE_PRELOADED, whole(0), whole(2 * n));
		mvout(output_at(0), ACC | FULL, n, n);
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++)
			EXPECT_TRUE(value_of(output_at(0), i) == element_of(tile_at(2), i));
	}
}

/* D, then one product after the other, each rounded before it is added; then the accumulator. */
CASE(sums_of_floats_are_rounded_in_the_order_of_k, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		if (unit.type == INT8)
			continue;
		fill_elements(shared_memory(), 3 * n * n);
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		config_st(n * 4, NO_ACTIVATION, 1);
		config_ld(0, n * 4, 1, false);
		fill_values(input_at(0), n * n);
		mvin(input_at(0), ACC, n, n);
		rocc(PRELOAD, whole(n), whole(ACC | ADD));
		rocc(COMPUTE_PRELOADED, whole(0), whole(2 * n));
		mvout(output_at(0), ACC | FULL, n, n);
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++) {
			float sum = (float)element_of(tile_at(2), i);

			for (unsigned int k = 0; k < n; k++) {
				volatile float product = (float)element_of(tile_at(0), i / n * n + k) *
							 (float)element_of(tile_at(1), k * n + i % n);

				sum += product;
			}
			sum = (float)value_of(input_at(0), i) + sum;
			EXPECT(float_bits((float)value_of(output_at(0), i)), float_bits(sum));
		}
	}
}

CASE(a_compute_reads_what_the_move_before_it_wrote, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_elements(input_at(0), 8192);
		config_ld(0, n * unit.size, 1, false);
		config_st(n * 4, NO_ACTIVATION, 1);
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		for (unsigned int i = 0; i < 10; i++) {
			mvin(input_at(64 * i), 0, n, n);
			mvin(input_at(64 * i + 512), n, n, n);
			rocc(PRELOAD, whole(n), whole(ACC | (i ? ADD : 0)));
			rocc(COMPUTE_PRELOADED, whole(0), whole(GARBAGE));
			mvout(output_at(1024 * i), ACC | FULL, n, n);
		}
		CHECK();
	}
}

/* C goes to the scratchpad and is the next A. */
CASE(a_compute_reads_what_the_compute_before_it_wrote, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = unit.dim;

		fill_unit();
		config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 4, false, false);
		for (unsigned int i = 0; i < 10; i++) {
			rocc(PRELOAD, whole(GARBAGE), whole((i + 1) * n));
			rocc(COMPUTE_PRELOADED, whole(i * n), whole(500));
		}
		CHECK();
	}
}
