/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Whole matrices by LOOP_WS, tile by tile, as Gemmini's library sends it, against
 * three plain loops: no part of the reference is used here.
 */
#include <string.h>

#include "tests/contract/virgo/norm.h"
#include "tests/contract/virgo/contract.h"

#define A_AT 0u
#define B_AT 80000u
#define D_AT 160000u
#define MOST 100	/* rows, columns, depth */

/* The arguments of a call of tiled_matmul. */
struct matmul {
	unsigned int m, n, k;
	bool a_t, b_t, low_d, full_c, relu, no_bias, one_bias;
	float scale;
	unsigned int activation;	/* of whole rows; the scale is then its own */
};

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int d_size(const struct matmul *p)
{
	return p->low_d ? unit.size : 4;
}

static unsigned int c_size(const struct matmul *p)
{
	return p->full_c ? 4 : unit.size;
}

/* --- by the definition ------------------------------------------------------------------- */

static double operand(const struct matmul *p, unsigned int row, unsigned int column, bool is_b)
{
	if (is_b)
		return element_of(input_at(B_AT), p->b_t ? column * p->k + row : row * p->n + column);
	return element_of(input_at(A_AT), p->a_t ? column * p->m + row : row * p->k + column);
}

/* Before an activation of the whole row. */
static double expected(const struct matmul *p, unsigned int row, unsigned int column)
{
	size_t bias = (p->one_bias ? 0 : row * p->n) + column;
	double sum = 0;

	if (!p->no_bias)
		sum = p->low_d ? element_of(input_at(D_AT), bias) : value_of(input_at(D_AT), bias);
	for (unsigned int k = 0; k < p->k; k++)
		sum += operand(p, row, k, false) * operand(p, k, column, true);
	if (p->full_c || p->activation)
		return sum;
	sum = as_element((double)((float)sum * p->scale));
	return p->relu && sum < 0 ? 0 : sum;
}

/* --- by the device ------------------------------------------------------------------------ */

static void configure(const struct matmul *p)
{
	config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0, p->a_t, p->b_t);
	if (p->activation)
		config_activation(p->activation, p->n * c_size(p));
	else
		config_st(p->n * c_size(p), p->relu ? RELU : NO_ACTIVATION, p->scale);
	config_ld(0, (p->a_t ? p->m : p->k) * unit.size, 1, false);
	config_ld(1, (p->b_t ? p->k : p->n) * unit.size, 1, false);
	config_ld(2, p->one_bias ? 0 : p->n * d_size(p), 1, p->low_d);
	rocc(LOOP_WS_STRIDES_AB, p->a_t ? p->m : p->k, p->b_t ? p->k : p->n);
	rocc(LOOP_WS_STRIDES_DC, p->one_bias ? 0 : p->n, p->n);
}

static unsigned int blocks(unsigned int elements)
{
	return (elements + unit.dim - 1) / unit.dim;
}

/* Of 2 x 2 x 2 blocks; those of a layernorm or softmax have whole rows. */
static unsigned int tile_columns(const struct matmul *p)
{
	return p->activation ? p->n : 2 * unit.dim;
}

/* The bias comes with the first tile, C leaves with the last. */
static void send_tile(const struct matmul *p, unsigned int i, unsigned int j, unsigned int k)
{
	unsigned int tile = 2 * unit.dim, m = least(tile, p->m - i), n = least(tile_columns(p), p->n - j);
	unsigned int d = least(tile, p->k - k);
	size_t a = p->a_t ? k * p->m + i : i * p->k + k, b = p->b_t ? j * p->k + k : k * p->n + j;
	bool first = !k, last = k + tile >= p->k;
	void *bias = input_at(D_AT + ((p->one_bias ? 0 : i * p->n) + j) * d_size(p));

	rocc(LOOP_WS_BOUNDS, (uint64_t)(blocks(d) * unit.dim - d) << 32 | (blocks(n) * unit.dim - n) << 16 |
	     (blocks(m) * unit.dim - m), (uint64_t)blocks(d) << 32 | blocks(n) << 16 | blocks(m));
	rocc(LOOP_WS_ADDRS_AB, address_of(input_at(A_AT + a * unit.size)),
	     address_of(input_at(B_AT + b * unit.size)));
	rocc(LOOP_WS_ADDRS_DC, first && !p->no_bias ? address_of(bias) : 0,
	     last ? address_of(output_at((i * p->n + j) * c_size(p))) : 0);
	rocc(LOOP_WS, (!first || !p->no_bias ? LOOP_ACCUMULATE : 0) | (p->full_c ? LOOP_FULL_C : 0) |
	     (p->low_d ? LOOP_LOW_D : 0) | LOOP_ACTIVATION(p->activation), (p->a_t ? LOOP_A_T : 0) | (p->b_t ? LOOP_B_T : 0));
}

/* Whole numbers; sums of floats are small ones, or only the largest of a row would stay in a softmax. */
static double grain(const struct matmul *p)
{
	return p->activation && unit.type != INT8 ? 1.0 / 16 : 1;
}

static void multiply(const struct matmul *p)
{
	unsigned int tile = 2 * unit.dim;

	if (p->m * p->k > B_AT / unit.size || p->m > MOST)
		contract_fail(__FILE__, __LINE__, "too large");
	for (unsigned int i = 0; i < p->m * p->k; i++)
		put_element(input_at(A_AT), i, ((int)draw_below(7) - 3) * grain(p));
	fill_small(input_at(B_AT), p->k * p->n, 3);
	for (unsigned int i = 0; i < p->m * p->n; i++) {
		double bias = ((int)draw_below(101) - 50) * grain(p);

		if (p->low_d)
			put_element(input_at(D_AT), i, bias);
		else
			put_value(input_at(D_AT), i, bias);
	}
	memset(output_at(0), 0x5a, p->m * p->n * c_size(p) + 4);
	configure(p);
	for (unsigned int i = 0; i < p->m; i += tile)
		for (unsigned int j = 0; j < p->n; j += tile_columns(p))
			for (unsigned int k = 0; k < p->k; k += tile)
				send_tile(p, i, j, k);
	COMPLETE();
}

static void expect_product(const struct matmul *p)
{
	multiply(p);
	for (unsigned int i = 0; i < p->m * p->n; i++) {
		double c = p->full_c ? value_of(output_at(0), i) : element_of(output_at(0), i);

		EXPECT_TRUE(c == expected(p, i / p->n, i % p->n));
	}
	EXPECT(*(uint8_t *)output_at(p->m * p->n * c_size(p)), 0x5a);
}

static void expect_activated_product(const struct matmul *p)
{
	multiply(p);
	for (unsigned int row = 0; row < p->m; row++) {
		double sums[MOST], activated[MOST];

		for (unsigned int column = 0; column < p->n; column++)
			sums[column] = expected(p, row, column);
		activated_row(p->activation, sums, p->n, activated);
		for (unsigned int column = 0; column < p->n; column++)
			EXPECT_TRUE(is_activated(element_of(output_at(0), row * p->n + column), activated[column]));
	}
	EXPECT(*(uint8_t *)output_at(p->m * p->n * c_size(p)), 0x5a);
}

/* Edges in every direction. */
static void with_edges(struct matmul p)
{
	p.m = 5 * unit.dim - 1;
	p.n = 3 * unit.dim + 2;
	p.k = 4 * unit.dim - 3;
	if (p.activation)
		expect_activated_product(&p);
	else
		expect_product(&p);
}

static void in_all_units(struct matmul p)
{
	if (p.scale == 0)
		p.scale = 1;
	FOR_EACH_UNIT
		with_edges(p);
}

CASE(a_tiled_matmul_with_bias, EITHER)
{
	in_all_units((struct matmul){ .scale = 0.25f });
}

CASE(a_tiled_matmul_without_bias, EITHER)
{
	in_all_units((struct matmul){ .no_bias = true });
}

CASE(a_tiled_matmul_with_one_bias_for_all_rows, EITHER)
{
	in_all_units((struct matmul){ .one_bias = true, .relu = true });
}

CASE(a_tiled_matmul_with_a_bias_of_elements, EITHER)
{
	in_all_units((struct matmul){ .low_d = true, .scale = 0.5f });
}

CASE(a_tiled_matmul_with_c_in_full_width, EITHER)
{
	in_all_units((struct matmul){ .full_c = true, .scale = 0.5f });
}

CASE(a_tiled_matmul_of_a_transposed, EITHER)
{
	in_all_units((struct matmul){ .a_t = true });
}

CASE(a_tiled_matmul_of_b_transposed, EITHER)
{
	in_all_units((struct matmul){ .b_t = true });
}

CASE(a_tiled_matmul_of_both_transposed, EITHER)
{
	in_all_units((struct matmul){ .a_t = true, .b_t = true, .low_d = true, .full_c = true });
}

CASE(a_tiled_matmul_with_igelu, EITHER)
{
	use_type(INT8);
	with_edges((struct matmul){ .activation = IGELU });
}

CASE(a_tiled_matmul_with_layernorm, EITHER)
{
	use_type(INT8);
	with_edges((struct matmul){ .activation = LAYERNORM });
}

CASE(a_tiled_matmul_with_softmax, EITHER)
{
	use_type(INT8);
	with_edges((struct matmul){ .activation = SOFTMAX });
}

static void in_all_units_of_floats(struct matmul p)
{
	FOR_EACH_UNIT
		if (unit.type != INT8)
			with_edges(p);
}

CASE(a_tiled_matmul_of_floats_is_near_igelu, EITHER)
{
	in_all_units_of_floats((struct matmul){ .activation = IGELU });
}

CASE(a_tiled_matmul_of_floats_is_near_layernorm, EITHER)
{
	in_all_units_of_floats((struct matmul){ .activation = LAYERNORM });
}

CASE(a_tiled_matmul_of_floats_is_near_softmax, EITHER)
{
	in_all_units_of_floats((struct matmul){ .activation = SOFTMAX });
}

/* Each of m, n and k is 1, dim - 1 or dim + 1. */
CASE(matrices_of_any_small_size, EITHER)
{
	FOR_EACH_UNIT {
		for (unsigned int n = 0; n < 27; n++) {
			static const int sizes[] = { 0, -1, 1 };
			struct matmul p = {
				.m = n % 3 ? unit.dim + (unsigned int)sizes[n % 3] : 1,
				.n = n / 3 % 3 ? unit.dim + (unsigned int)sizes[n / 3 % 3] : 1,
				.k = n / 9 ? unit.dim + (unsigned int)sizes[n / 9] : 1,
				.scale = 1,
			};

			if (!is_left_out(n + 3))
				expect_product(&p);
		}
	}
}

/* C = relu(scale * (a * A + b * B)): all of it elements, saturated on their way in and out. */
CASE(a_tiled_residual_add, EITHER)
{
	FOR_EACH_UNIT {
		unsigned int m = 3 * unit.dim - 1, n = 2 * unit.dim + 1;

		fill_small(input_at(A_AT), m * n, 100);
		fill_small(input_at(B_AT), m * n, 100);
		config_ld(0, n * unit.size, 2, true);
		config_ld(1, n * unit.size, -0.5f, true);
		config_st(n * unit.size, RELU, 0.5f);
		rocc(LOOP_WS_BOUNDS, (unit.dim - 1) << 16 | 1, 3u << 16 | 3);
		rocc(LOOP_WS_ADDRS_AB, address_of(input_at(A_AT)), address_of(input_at(B_AT)));
		rocc(LOOP_WS_ADDRS_DC, 0, address_of(output_at(0)));
		rocc(LOOP_WS_STRIDES_AB, n, n);
		rocc(LOOP_WS_STRIDES_DC, n, n);
		rocc(LOOP_WS, 0, LOOP_RESIDUAL);
		COMPLETE();
		for (unsigned int i = 0; i < m * n; i++) {
			double a = as_element(element_of(input_at(A_AT), i) * 2);
			double b = as_element(element_of(input_at(B_AT), i) * -0.5);
			double c = as_element((a + b) * 0.5);

			EXPECT_TRUE(element_of(output_at(0), i) == (c < 0 ? 0 : c));
		}
	}
}
