/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* LOOP_WS against the plain reference, which sends its commands one by one. */
#include "tests/lib/virgo_both.h"

struct shape {
	unsigned int i, j, k, pad_i, pad_j, pad_k;
};

static void send_loop(const struct shape *s, bool a_t, bool b_t, unsigned int d_size, uint64_t rs1,
		      uint64_t rs2)
{
	unsigned int dim = both.dim, m = s->i * dim, n = s->j * dim, d = s->k * dim;
	unsigned int c_size = rs1 & VIRGO_LOOP_FULL_C ? 4 : both.size;

	config_ex(VIRGO_WEIGHT_STATIONARY, 0, 0, 1, 1, a_t, b_t);
	config_ld(0, (a_t ? m : d) * both.size, 1, false, dim, 1);
	config_ld(1, (b_t ? d : n) * both.size, 1, false, dim, 1);
	config_ld(2, n * d_size, 1, rs1 & VIRGO_LOOP_LOW_D, dim, 1);
	if (rs2 & VIRGO_LOOP_RESIDUAL_ADD) {
		config_ld(0, n * both.size, 0.5f, true, dim, 1);
		config_ld(1, n * both.size, 0.25f, true, dim, 1);
	}
	quick(VIRGO_FUNCT_CONFIG, (both.r->store_activation & 3) << 2 | VIRGO_CONFIG_ST,
	      0xffffffffull << 32 | n * c_size);
	quick(VIRGO_FUNCT_LOOP_WS_BOUNDS, (uint64_t)s->pad_k << 32 | s->pad_j << 16 | s->pad_i,
	      (uint64_t)s->k << 32 | s->j << 16 | s->i);
	quick(VIRGO_FUNCT_LOOP_WS_ADDRS_AB, in_memory(0), in_memory(500000));
	quick(VIRGO_FUNCT_LOOP_WS_ADDRS_DC, in_memory(1000000), out_memory(100));
	quick(VIRGO_FUNCT_LOOP_WS_STRIDES_AB, rs2 & VIRGO_LOOP_RESIDUAL_ADD ? n : a_t ? m : d,
	      rs2 & VIRGO_LOOP_RESIDUAL_ADD ? n : b_t ? d : n);
	quick(VIRGO_FUNCT_LOOP_WS_STRIDES_DC, n, n);
	check(VIRGO_FUNCT_LOOP_WS, rs1, rs2 | (a_t ? VIRGO_LOOP_A_TRANSPOSED : 0) |
	      (b_t ? VIRGO_LOOP_B_TRANSPOSED : 0));
}

/* A shape that fits the half of the scratchpad and the accumulator. */
static struct shape random_shape(void)
{
	struct shape s;

	do {
		s = (struct shape){ 1 + below(5), 1 + below(5), 1 + below(9), below(both.dim),
				    below(both.dim), below(both.dim) };
	} while ((s.i * s.k + s.k * s.j) * both.dim > both.r->rows / 2 ||
		 s.i * s.j * both.dim > both.r->accumulator_rows);
	return s;
}

static void fill_d(void)
{
	fill_wide(both.f->arena + 1000000, 65536);
}

static void loop_ws_multiplies_with_bias_in_all_transposes(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_d();
		config_st(0, VIRGO_RELU, 0.002f);
		for (unsigned int n = 0; n < 12; n++) {
			struct shape s = random_shape();

			send_loop(&s, n & 1, n & 2, 4, n % 3 ? VIRGO_LOOP_ACCUMULATE : 0, 0);
		}
		stop();
	}
}

static void loop_ws_is_the_same_on_all_processors(void **state)
{
	const char *name;

	(void)state;
	for (unsigned int i = 0; (name = virgo_model_kernel_name(i)); i++) {
		for EACH_KIND(k) {
			start_as(kinds[k].type, kinds[k].dim, 0);
			if (virgo_model_choose_kernel(both.f->model, name)) {
				stop();
				continue;
			}
			fill_d();
			for (unsigned int n = 0; n < 6; n++) {
				struct shape s = random_shape();

				send_loop(&s, n & 1, n & 2, 4, VIRGO_LOOP_ACCUMULATE, 0);
			}
			stop();
		}
	}
}

static void loop_ws_full_c_and_low_d(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		for (unsigned int n = 0; n < 6; n++) {
			struct shape s = random_shape();

			send_loop(&s, false, false, both.size, VIRGO_LOOP_ACCUMULATE | VIRGO_LOOP_LOW_D |
				  (n & 1 ? VIRGO_LOOP_FULL_C : 0), 0);
		}
		stop();
	}
}

/* LOOP_WS says where blocks of D begin; the configuration, how long an element is. */
static void loop_ws_takes_blocks_of_d_where_it_says_whatever_is_configured(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		config_ld(2, 3 * both.dim, 1, false, both.dim, 1);
		quick(VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, 1ull << 32 | 3u << 16 | 2u);
		quick(VIRGO_FUNCT_LOOP_WS_ADDRS_AB, 0, 0);
		quick(VIRGO_FUNCT_LOOP_WS_ADDRS_DC, in_memory(1000), 0);
		quick(VIRGO_FUNCT_LOOP_WS_STRIDES_DC, 3 * both.dim, 0);
		check(VIRGO_FUNCT_LOOP_WS, VIRGO_LOOP_LOW_D, VIRGO_LOOP_SKIP_EXECUTE);
		stop();
	}
}

static void loop_ws_skips_what_it_is_told_to(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		fill_d();
		for (uint32_t skips = 0; skips < 32; skips++) {
			struct shape s = { 2, 2, 3, 1, 2, 3 };

			send_loop(&s, false, false, 4, VIRGO_LOOP_ACCUMULATE, skips << 3);
		}
		stop();
	}
}

static void loop_ws_leaves_out_what_has_no_address(void **state)
{
	struct shape s = { 2, 1, 2, 0, 1, 0 };

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		fill_d();
		send_loop(&s, false, false, 4, 0, 0);
		quick(VIRGO_FUNCT_LOOP_WS_ADDRS_AB, 0, 0);
		check(VIRGO_FUNCT_LOOP_WS, VIRGO_LOOP_ACCUMULATE, 0);
		quick(VIRGO_FUNCT_LOOP_WS_ADDRS_DC, 0, 0);
		check(VIRGO_FUNCT_LOOP_WS, 0, 0);
		stop();
	}
}

static void loop_ws_adds_residuals(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		config_st(0, VIRGO_RELU, 2);
		for (unsigned int n = 0; n < 6; n++) {
			struct shape s = random_shape();

			s.k = 0;
			send_loop(&s, false, false, 4, 0, VIRGO_LOOP_RESIDUAL_ADD);
		}
		stop();
	}
}

static void loop_ws_works_in_the_scratchpad_only(void **state)
{
	struct shape s = { 2, 3, 2, 0, 0, 0 };

	(void)state;
	for EACH_KIND(k) {
		unsigned int quarter;

		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_st(0, 0, 0.01f);
		quarter = both.r->rows / 4;
		quick(VIRGO_FUNCT_LOOP_WS_SPAD_AB, quarter, 3 * quarter);
		send_loop(&s, false, false, 4, 0, VIRGO_LOOP_COMPUTE);
		send_loop(&s, false, false, 4, 1, VIRGO_LOOP_COMPUTE_TO_SPAD | 7ull << 32);
		send_loop(&s, false, false, 4, 0, VIRGO_LOOP_STORE_SPAD | (uint64_t)quarter << 32);
		send_loop(&s, false, false, 4, 0, VIRGO_LOOP_LOAD);
		send_loop(&s, false, false, 4, 0, VIRGO_LOOP_STORE);
		quick(VIRGO_FUNCT_LOOP_WS_SPAD_C, 3, 0);
		send_loop(&s, false, false, 4, 0, VIRGO_LOOP_STORE_SPAD);
		stop();
	}
}

static void loop_ws_takes_the_half_of_the_scratchpad_that_it_is_given(void **state)
{
	struct shape s = { 2, 2, 2, 1, 1, 1 };

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_d();
		for (unsigned int ids = 0; ids < 9; ids++)
			send_loop(&s, false, false, 4, (ids % 3) << 16 | (ids / 3) << 18, 0);
		stop();
	}
}

static void loop_ws_goes_to_the_other_half_of_the_accumulator(void **state)
{
	struct shape s = { 2, 2, 2, 1, 1, 1 };

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_d();
		for (unsigned int n = 0; n < 3; n++)
			send_loop(&s, false, false, 4, 1, VIRGO_LOOP_NEXT_ACCUMULATOR);
		stop();
	}
}

static void loop_ws_normalises_rows(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_d();
		config_norm(false);
		config_st(0, 0, both.type == VIRGO_INT8 ? 30 : 1);
		for (unsigned int n = 0; n < 6; n++) {
			struct shape s = random_shape();

			send_loop(&s, false, false, 4, VIRGO_LOOP_ACCUMULATE |
				  (n & 1 ? VIRGO_SOFTMAX : VIRGO_LAYERNORM) << 8, n & 2 ? VIRGO_LOOP_SPAD_ONLY |
				  (uint64_t)(both.r->rows / 2) << 32 : 0);
		}
		stop();
	}
}

static void a_loop_leaves_the_array_as_its_commands_would(void **state)
{
	struct shape s = { 0, 2, 2, 1, 1, 1 };

	(void)state;
	for EACH_KIND(k) {
		for (s.i = 1; s.i < 3; s.i++) {
			start_as(kinds[k].type, kinds[k].dim, 0);
			fill_d();
			send_loop(&s, false, true, 4, 0, 0);
			check(VIRGO_FUNCT_COMPUTE_ACCUMULATED, virgo_pack(both.dim, both.dim, 0),
			      virgo_pack(both.dim, both.dim, VIRGO_GARBAGE));
			check(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(both.dim, both.dim, 0),
			      virgo_pack(both.dim, both.dim, VIRGO_GARBAGE));
			stop();
		}
	}
}

/* The padding of the last blocks is 0, not the bytes there in the scratchpad. */
static void paddings_of_a_loop_do_not_read_the_scratchpad(void **state)
{
	struct shape s = { 2, 2, 2, 1, 2, 3 };

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		/* bytes of 0xff are not a number in both float types */
		memset(both.f->shared, 0xff, both.f->config.shared_kb << 10);
		memset(both.r->spad, 0xff, both.f->config.shared_kb << 10);
		fill_d();
		send_loop(&s, false, false, 4, 1, 0);
		send_loop(&s, true, true, 4, 1, 0);
		stop();
	}
}

static void long_sums_are_the_same_in_pieces(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		struct shape s = { 1, 1, 0, 1, 1, 1 };

		start_with(kinds[k].type, kinds[k].dim, 0, 256);
		fill_d();
		s.k = both.r->rows / 4 / both.dim;
		send_loop(&s, false, false, 4, 1, 0);
		send_loop(&s, false, true, 4, 0, 0);
		stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loop_ws_multiplies_with_bias_in_all_transposes),
		cmocka_unit_test(loop_ws_is_the_same_on_all_processors),
		cmocka_unit_test(loop_ws_full_c_and_low_d),
		cmocka_unit_test(loop_ws_takes_blocks_of_d_where_it_says_whatever_is_configured),
		cmocka_unit_test(loop_ws_skips_what_it_is_told_to),
		cmocka_unit_test(loop_ws_leaves_out_what_has_no_address),
		cmocka_unit_test(loop_ws_adds_residuals),
		cmocka_unit_test(loop_ws_works_in_the_scratchpad_only),
		cmocka_unit_test(loop_ws_takes_the_half_of_the_scratchpad_that_it_is_given),
		cmocka_unit_test(loop_ws_goes_to_the_other_half_of_the_accumulator),
		cmocka_unit_test(loop_ws_normalises_rows),
		cmocka_unit_test(a_loop_leaves_the_array_as_its_commands_would),
		cmocka_unit_test(paddings_of_a_loop_do_not_read_the_scratchpad),
		cmocka_unit_test(long_sums_are_the_same_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
