/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* LOOP_WS with every flag, beside its commands one by one (the plain reference). */
#include <string.h>

#include "tests/contract/virgo/contract.h"

#define A_AT 0u
#define B_AT 80000u
#define D_AT 160000u

struct shape {
	unsigned int i, j, k, pad_i, pad_j, pad_k;
};

/* Configurations as a program has them whose matrices have no gaps. */
static void configure(const struct shape *s, uint64_t rs1, uint64_t rs2)
{
	unsigned int m = s->i * unit.dim, n = s->j * unit.dim, d = s->k * unit.dim;
	bool a_t = rs2 & LOOP_A_T, b_t = rs2 & LOOP_B_T, residual = rs2 & LOOP_RESIDUAL;
	unsigned int d_size = rs1 & LOOP_LOW_D ? unit.size : 4, c_size = rs1 & LOOP_FULL_C ? 4 : unit.size;

	config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, a_t, b_t);
	if (residual) {
		config_ld(0, n * unit.size, 0.5f, true);
		config_ld(1, n * unit.size, 0.25f, true);
	} else {
		config_ld(0, (a_t ? m : d) * unit.size, 1, false);
		config_ld(1, (b_t ? d : n) * unit.size, 1, false);
		config_ld(2, n * d_size, 1, rs1 & LOOP_LOW_D);
	}
	rocc(CONFIG, 2, 0xffffffffull << 32 | n * c_size);
	rocc(LOOP_WS_BOUNDS, (uint64_t)s->pad_k << 32 | s->pad_j << 16 | s->pad_i,
	     (uint64_t)s->k << 32 | s->j << 16 | s->i);
	rocc(LOOP_WS_ADDRS_AB, address_of(input_at(A_AT)), address_of(input_at(B_AT)));
	rocc(LOOP_WS_ADDRS_DC, address_of(input_at(D_AT)), address_of(output_at(100)));
	rocc(LOOP_WS_STRIDES_AB, residual ? n : a_t ? m : d, residual ? n : b_t ? d : n);
	rocc(LOOP_WS_STRIDES_DC, n, n);
}

static void loop(const struct shape *s, uint64_t rs1, uint64_t rs2)
{
	configure(s, rs1, rs2);
	rocc(LOOP_WS, rs1, rs2);
}

/* A shape that fits one half of the scratchpad and one of the accumulator. */
static struct shape random_shape(void)
{
	struct shape s;

	do {
		s = (struct shape){
			1 + draw_below(5), 1 + draw_below(5), 1 + draw_below(7), draw_below(unit.dim),
			draw_below(unit.dim), draw_below(unit.dim),
		};
	} while ((s.i * s.k + s.k * s.j) * unit.dim > unit.rows / 2 ||
		 s.i * s.j * unit.dim > unit.accumulator_rows / 2);
	return s;
}

static const struct shape padded = { 2, 3, 2, 1, 2, 3 };

static void fill_inputs(void)
{
	fill_elements(input_at(0), D_AT / unit.size);
	fill_values(input_at(D_AT), (INPUT_BYTES - D_AT) / 4);
}

static void begin(void)
{
	fill_inputs();
	config_st(0, NO_ACTIVATION, 0.002f);
}

/* Into C with relu: CONFIG's activation holds for a loop that names neither layernorm nor softmax. */
CASE(loops_multiply_in_all_transposes_with_and_without_bias, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		for (unsigned int n = 0; n < 12; n++) {
			struct shape s = random_shape();

			if (is_left_out(n / 4))
				continue;
			config_st(0, n & 1 ? RELU : NO_ACTIVATION, 0.002f);
			loop(&s, n % 3 ? LOOP_ACCUMULATE : 0, n & 3);
			CHECK();
		}
	}
}

CASE(full_c_writes_the_accumulator_as_it_is, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		loop(&padded, LOOP_ACCUMULATE | LOOP_FULL_C, 0);
		CHECK();
		loop(&padded, LOOP_ACCUMULATE | LOOP_FULL_C | LOOP_ACTIVATION(LAYERNORM), 0);
		CHECK();
	}
}

CASE(low_d_is_of_elements, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		fill_elements(input_at(D_AT), (INPUT_BYTES - D_AT) / unit.size);
		loop(&padded, LOOP_ACCUMULATE | LOOP_LOW_D, 0);
		CHECK();
		loop(&padded, LOOP_ACCUMULATE | LOOP_LOW_D | LOOP_FULL_C, LOOP_A_T | LOOP_B_T);
		CHECK();
	}
}

CASE(every_combination_of_skips, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		fill_inputs();
		for (uint32_t skips = 0; skips < 32; skips++) {
			if (is_left_out(skips) && skips != 31)
				continue;
			config_st(0, NO_ACTIVATION, 0.01f);
			loop(&padded, LOOP_ACCUMULATE, skips << 3);
			CHECK();
		}
	}
}

CASE(a_matrix_without_an_address_is_left_out, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		fill_inputs();
		configure(&padded, 0, 0);
		rocc(LOOP_WS_ADDRS_AB, 0, address_of(input_at(B_AT)));
		rocc(LOOP_WS, LOOP_ACCUMULATE, 0);
		CHECK();
		rocc(LOOP_WS_ADDRS_AB, address_of(input_at(A_AT)), 0);
		rocc(LOOP_WS, 0, 0);
		CHECK();
		rocc(LOOP_WS_ADDRS_DC, 0, 0);
		rocc(LOOP_WS, LOOP_ACCUMULATE, 0);
		CHECK();
	}
}

CASE(a_loop_of_no_blocks_does_nothing, EITHER)
{
	static const struct shape shapes[] = { { .j = 2, .k = 2 }, { .i = 2, .k = 2 }, { .i = 2, .j = 2 } };

	FOR_EACH_UNIT {
		fill_unit();
		for (unsigned int i = 0; i < 3; i++)
			loop(&shapes[i], LOOP_ACCUMULATE, 0);
		CHECK();
		EXPECT(unit_get(LOOPS), 0);
	}
}

CASE(loops_add_residuals, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		fill_inputs();
		for (unsigned int n = 0; n < 4; n++) {
			struct shape s = random_shape();

			s.k = n & 1;
			config_st(0, n & 2 ? RELU : NO_ACTIVATION, 2);
			loop(&s, n & 1 ? LOOP_FULL_C : 0, LOOP_RESIDUAL | (n == 3 ? SKIP_B : 0));
			CHECK();
		}
	}
}

CASE(a_loop_takes_the_half_of_the_scratchpad_that_it_is_given, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		for (unsigned int ids = 0; ids < 9; ids++) {
			if (is_left_out(ids) && ids != 8)
				continue;
			loop(&padded, LOOP_A_ID(ids / 3) | LOOP_B_ID(ids % 3), 0);
			CHECK();
		}
	}
}

CASE(a_loop_may_send_the_next_one_to_the_other_half_of_the_accumulator, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		for (unsigned int n = 0; n < 3; n++) {
			loop(&padded, LOOP_ACCUMULATE, NEXT_ACCUMULATOR);
			CHECK();
		}
	}
}

CASE(loops_normalise_rows, EITHER)
{
	FOR_EACH_UNIT {
		bool whole = unit.type == INT8;

		begin();
		config_norm(whole ? 13 : float_bits(0.693147f), whole ? 5041 : float_bits(1.442695f),
			    whole ? 27 : float_bits(1.353f), whole ? 384 : float_bits(0.96f), false, 0);
		for (unsigned int n = 0; n < 4; n++) {
			struct shape s = random_shape();

			config_st(0, NO_ACTIVATION, whole ? 30 : 1);
			loop(&s, LOOP_ACCUMULATE | LOOP_ACTIVATION(n & 1 ? SOFTMAX : LAYERNORM),
			     n & 2 ? SPAD_ONLY | LOOP_C_ROW(unit.rows / 2) : 0);
			CHECK();
		}
		/* row r has left its statistics in set r mod 4 */
		config_st(64, LAYERNORM, whole ? 30 : 1);
		for (unsigned int set = 0; set < 4; set++) {
			rocc(CONFIG, 1u << 17 | set << 8 | 3, 0);
			mvout(output_at(1024 * set), ACC, 1, unit.dim);
		}
		CHECK();
	}
}

CASE(loops_apply_igelu, EITHER)
{
	FOR_EACH_UNIT {
		bool whole = unit.type == INT8;

		begin();
		config_norm(0, 0, whole ? (uint32_t)-2770 : float_bits(-2.5f),
			    whole ? (uint32_t)-385 : float_bits(-6.9f), false, 0);
		configure(&padded, 0, 0);
		config_st(3 * unit.dim * unit.size, IGELU, whole ? 1e-6f : 0.01f);
		rocc(LOOP_WS, LOOP_ACCUMULATE | LOOP_ACTIVATION(IGELU), 0);
		CHECK();
	}
}

/* --- in the shared memory only --------------------------------------------------------------- */

CASE(loops_of_the_shared_memory_only, EITHER)
{
	static const struct shape s = { 2, 3, 2, 0, 0, 0 };

	FOR_EACH_UNIT {
		unsigned int quarter = unit.rows / 4;

		fill_unit();
		config_st(0, NO_ACTIVATION, 0.01f);
		rocc(SPAD_AB, quarter, 3 * quarter);
		loop(&s, 0, ONLY_COMPUTE);
		CHECK();
		loop(&s, LOOP_ACCUMULATE, COMPUTE_TO_SPAD | LOOP_C_ROW(7));
		CHECK();
		loop(&s, 0, ONLY_STORE_SPAD | LOOP_C_ROW(quarter));
		CHECK();
		loop(&s, 0, ONLY_LOAD);
		CHECK();
		loop(&s, 0, ONLY_STORE);
		CHECK();
	}
}

CASE(spad_c_is_used_where_a_loop_names_no_row, EITHER)
{
	FOR_EACH_UNIT {
		fill_unit();
		config_st(0, NO_ACTIVATION, 0.01f);
		rocc(SPAD_C, 33, 0);
		loop(&padded, 0, ONLY_STORE_SPAD);
		loop(&padded, 0, ONLY_STORE_SPAD | LOOP_C_ROW(400));
		CHECK();
	}
}

CASE(spad_ab_holds_until_it_is_taken_back, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		rocc(SPAD_AB, 10, unit.rows - 5);
		loop(&padded, 0, 0);
		loop(&padded, LOOP_A_ID(2), 0);
		CHECK();
		rocc(SPAD_AB, 0, 0);
		loop(&padded, 0, 0);
		CHECK();
	}
}

/* By plain loops: blocks of DIM x DIM, one after the other, as host threads write and read them. */
CASE(a_tile_of_the_shared_memory_is_multiplied_where_it_lies, EITHER)
{
	FOR_EACH_UNIT {
		static int a[64][64], b[64][64];
		unsigned int blocks = 2, n = blocks * unit.dim, d = unit.dim, quarter = unit.rows / 4;

		for (unsigned int i = 0; i < n * n; i++) {
			unsigned int row = i / n, column = i % n;
			size_t at = ((row / d * blocks + column / d) * d + row % d) * d + column % d;

			a[row][column] = (int)draw_below(7) - 3;
			b[row][column] = (int)draw_below(7) - 3;
			put_element(shared_row(0), at, a[row][column]);
			put_element(shared_row(2 * quarter), at, b[row][column]);
		}
		config_st(0, NO_ACTIVATION, 1);
		config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, false, false);
		rocc(SPAD_AB, 0, 2 * quarter + blocks * n);
		rocc(LOOP_WS_BOUNDS, 0, (uint64_t)blocks << 32 | blocks << 16 | blocks);
		rocc(LOOP_WS, 0, COMPUTE_TO_SPAD | LOOP_C_ROW(quarter));
		COMPLETE();
		for (unsigned int i = 0; i < n * n; i++) {
			unsigned int row = i / n, column = i % n;
			size_t at = ((row / d * blocks + column / d) * d + row % d) * d + column % d;
			int sum = 0;

			for (unsigned int k = 0; k < n; k++)
				sum += a[row][k] * b[k][column];
			EXPECT_TRUE(element_of(shared_row(quarter), at) == as_element(sum));
		}
	}
}

/* --- other effects of a loop ------------------------------------------------------------------------ */

CASE(a_loop_leaves_the_array_as_its_commands_would, EITHER)
{
	FOR_EACH_UNIT {
		struct shape s = { 0, 2, 2, 1, 1, 1 };

		begin();
		for (s.i = 1; s.i < 3; s.i++) {
			loop(&s, 0, LOOP_B_T);
			CHECK();
			rocc(COMPUTE_ACCUMULATED, pack(unit.dim, unit.dim, 0), pack(unit.dim, unit.dim, GARBAGE));
			CHECK();
			rocc(COMPUTE_PRELOADED, pack(unit.dim, unit.dim, 0), pack(unit.dim, unit.dim, GARBAGE));
			CHECK();
		}
	}
}

/* Bytes of 0xff are not a number in both float types. */
CASE(paddings_of_a_loop_do_not_read_the_scratchpad, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		memset(shared_memory(), 0xff, SHARED_BYTES);
		COMPLETE();
		use_unit(unit.number);
		begin();
		loop(&padded, LOOP_ACCUMULATE, 0);
		CHECK();
		loop(&padded, LOOP_ACCUMULATE, LOOP_A_T | LOOP_B_T);
		CHECK();
	}
}

CASE(a_loop_multiplies_weight_stationary_whatever_is_configured, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		configure(&padded, LOOP_ACCUMULATE, 0);
		config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 5, false, false);
		rocc(CONFIG, 7u << 16 | 1u << 7, 9ull << 48);
		rocc(LOOP_WS, LOOP_ACCUMULATE, 0);
		CHECK();
	}
}

CASE(long_sums_are_done_in_their_order, EITHER)
{
	FOR_EACH_UNIT {
		struct shape s = { 1, 1, unit.rows / 4 / unit.dim, 1, 1, 1 };

		if (s.k * unit.dim * unit.dim * unit.size > B_AT)
			s.k = B_AT / (unit.dim * unit.dim * unit.size);
		begin();
		loop(&s, LOOP_ACCUMULATE, 0);
		CHECK();
		loop(&s, 0, LOOP_B_T);
		CHECK();
	}
}

CASE(parameters_of_a_loop_stay_for_the_next_one, EITHER)
{
	FOR_EACH_UNIT {
		begin();
		loop(&padded, LOOP_ACCUMULATE, 0);
		rocc(LOOP_WS_ADDRS_DC, 0, address_of(output_at(40000)));
		rocc(LOOP_WS, LOOP_ACCUMULATE, 0);
		CHECK();
	}
}

/* --- strides --------------------------------------------------------------------------------------- */

/*
 * Rows of a block are as far apart as CONFIG says, rows of blocks as the loop's own
 * strides say: where an element of a matrix of 2 x 2 blocks lies.
 */
static size_t strided(unsigned int row, unsigned int column, unsigned int block_stride)
{
	unsigned int d = unit.dim, n = 2 * d;

	return (size_t)row / d * d * block_stride + row % d * n + column;
}

enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D };

/* Another one for each. */
static unsigned int block_stride(unsigned int matrix)
{
	return 4 * unit.dim + 1 + 2 * matrix;
}

static double factor(unsigned int matrix, bool transposed, unsigned int row, unsigned int column)
{
	size_t at = transposed ? strided(column, row, block_stride(matrix)) : strided(row, column, block_stride(matrix));

	return element_of(input_at(matrix == MATRIX_A ? A_AT : B_AT), at);
}

static void expect_strided(uint64_t transposes)
{
	unsigned int n = 2 * unit.dim;
	bool a_t = transposes & LOOP_A_T, b_t = transposes & LOOP_B_T;

	config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, a_t, b_t);
	rocc(LOOP_WS_STRIDES_AB, block_stride(MATRIX_A), block_stride(MATRIX_B));
	rocc(LOOP_WS_STRIDES_DC, block_stride(MATRIX_D), block_stride(MATRIX_C));
	rocc(LOOP_WS, LOOP_ACCUMULATE, transposes);
	COMPLETE();
	for (unsigned int i = 0; i < n * n; i++) {
		unsigned int row = i / n, column = i % n;
		double sum = value_of(input_at(D_AT), strided(row, column, block_stride(MATRIX_D)));

		for (unsigned int k = 0; k < n; k++)
			sum += factor(MATRIX_A, a_t, row, k) * factor(MATRIX_B, b_t, k, column);
		EXPECT_TRUE(element_of(output_at(0), strided(row, column, block_stride(MATRIX_C))) ==
			    as_element(sum));
	}
	CHECK();
}

CASE(rows_of_blocks_are_as_far_apart_as_the_loop_says, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int n = 2 * unit.dim;

		fill_small(input_at(A_AT), 4 * n * n, 3);
		fill_small(input_at(B_AT), 4 * n * n, 3);
		for (unsigned int i = 0; i < 4 * n * n; i++)
			put_value(input_at(D_AT), i, (int)draw_below(41) - 20);
		config_ld(0, n * unit.size, 1, false);
		config_ld(1, n * unit.size, 1, false);
		config_ld(2, n * 4, 1, false);
		config_st(n * unit.size, NO_ACTIVATION, 1);
		rocc(LOOP_WS_BOUNDS, 0, 2ull << 32 | 2u << 16 | 2);
		rocc(LOOP_WS_ADDRS_AB, address_of(input_at(A_AT)), address_of(input_at(B_AT)));
		rocc(LOOP_WS_ADDRS_DC, address_of(input_at(D_AT)), address_of(output_at(0)));
		for (uint64_t transposes = 0; transposes < 4; transposes++)
			expect_strided(transposes);
	}
}
