/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* preload and compute against the plain reference, and commands in any order. */
#include <fenv.h>

#include "tests/lib/sanitized.h"
#include "tests/lib/virgo_both.h"

static void both_dataflows_multiply_with_all_transposes(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		for (unsigned int flags = 0; flags < 8; flags++) {
			unsigned int n = both.dim;

			config_ex(flags & 1, 0, 0, 1, 1, flags & 2, flags & 4);
			quick(VIRGO_FUNCT_PRELOAD, virgo_pack(n, n, 50), virgo_pack(n, n, ACC | 16));
			check(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(n, n, 100), virgo_pack(n, n, 200));
			quick(VIRGO_FUNCT_PRELOAD, virgo_pack(n, n, VIRGO_GARBAGE), virgo_pack(n, n, ACC | ADD | 16));
			check(VIRGO_FUNCT_COMPUTE_ACCUMULATED, virgo_pack(n, n, 300),
			      virgo_pack(n, n, flags & 1 ? VIRGO_GARBAGE : 400));
			check(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(n, n, 300), virgo_pack(n, n, VIRGO_GARBAGE));
		}
		stop();
	}
}

static void partial_tiles_are_padded_with_zeros(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		for (unsigned int i = 0; i < 40; i++) {
			unsigned int m = below(both.dim + 1), n = below(both.dim + 1), d = below(both.dim + 1);

			config_ex(i & 1, i >> 1 & 1, 0, 1, 1, i & 4, i & 8);
			quick(VIRGO_FUNCT_PRELOAD, virgo_pack(i & 1 ? d : m, n, 50),
			      virgo_pack(m, n, i & 16 ? 600 : ACC | ADD | 16));
			check(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(m, d, 100),
			      virgo_pack(i & 1 ? m : d, n, 200));
		}
		stop();
	}
}

static void results_in_the_scratchpad_are_shifted_rounded_and_saturated(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		for (unsigned int shift = 0; shift < 40; shift += 3) {
			config_ex(VIRGO_OUTPUT_STATIONARY, shift & 1, shift, 1, 1, false, false);
			quick(VIRGO_FUNCT_PRELOAD, virgo_pack(both.dim, both.dim, 40),
			      virgo_pack(both.dim, both.dim, shift & 2 ? 600 : ACC | 32));
			check(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(both.dim, both.dim, 100),
			      virgo_pack(both.dim, both.dim, 200));
		}
		stop();
	}
}

/* The output stationary dataflow shifts `values`, fp32 of the array before A x B = 0, to `results`. */
static void shifted_floats_are(const uint32_t values[8], unsigned int shift, const uint32_t results[8])
{
	start_as(VIRGO_FP32, 8, 0);
	memcpy(both.f->shared, values, 32);
	config_ex(VIRGO_OUTPUT_STATIONARY, 0, shift, 1, 1, false, false);
	send_only(VIRGO_FUNCT_PRELOAD, virgo_pack(1, 8, 0), virgo_pack(1, 8, 40));
	send_only(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(8, 8, VIRGO_GARBAGE), virgo_pack(8, 8, VIRGO_GARBAGE));
	assert_memory_equal(both.f->shared + 40 * 32, results, 32);
	stop();
}

/* Divided by a large power of two: infinity stays, a number leaves a 0 of its sign, NaN is the one NaN. */
static void a_large_shift_leaves_infinities_and_signs(void **state)
{
	static const uint32_t values[8] = {
		0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0xffc12345, 0x3f800000, 0xbf800000, 0x80000001,
	};
	static const uint32_t results[8] = {
		0x7f800000, 0xff800000, 0, 0x80000000, 0x7fc00000, 0, 0x80000000, 0x80000000,
	};
	static const unsigned int shifts[] = { 279, 300, 301, 1023, 1024, 0x8de6affa, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
		shifted_floats_are(values, shifts[i], results);
}

/*
 * By hand: 0x80000b x 2^-24 is 0x100001.6 x 2^-149 after the shift. Rounded at 2^-126
 * first, and then again, it would be a tie and one more.
 */
static void a_shift_to_a_subnormal_rounds_once(void **state)
{
	static const uint32_t values[8] = {
		0x3f00000b, 0xbf00000b, 0x3f000004, 0x3f00000c, 0x3f000000, 0x3f800000, 0x7f000000, 0,
	};
	static const uint32_t results[8] = {
		0x00100001, 0x80100001, 0x00100000, 0x00100002, 0x00100000, 0x00200000, 0x3f000000, 0,
	};

	(void)state;
	shifted_floats_are(values, 128, results);
}

static void operands_may_lie_in_the_accumulator(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		for (unsigned int flags = 0; flags < 4; flags++) {
			unsigned int n = both.dim;

			config_ex(flags & 1, flags >> 1, 0, 1, 1, false, false);
			quick(VIRGO_FUNCT_PRELOAD, virgo_pack(n, n, ACC | 3), virgo_pack(n, n, ACC | 64));
			check(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(n, n, ACC | 20), virgo_pack(n, n, ACC | 40));
		}
		stop();
	}
}

static void rows_of_operands_follow_their_strides(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_ex(VIRGO_WEIGHT_STATIONARY, 0, 0, 3, 2, false, false);
		quick(VIRGO_FUNCT_PRELOAD, virgo_pack(both.dim, both.dim, 50),
		      virgo_pack(both.dim, both.dim, ACC | 16));
		check(VIRGO_FUNCT_COMPUTE_PRELOADED, virgo_pack(both.dim, both.dim, 100),
		      virgo_pack(both.dim, both.dim, VIRGO_GARBAGE));
		/* only the strides change */
		quick(VIRGO_FUNCT_CONFIG, 2u << 16 | 1u << 7 | 1u << 8, 3ull << 48);
		check(VIRGO_FUNCT_COMPUTE_ACCUMULATED, virgo_pack(both.dim, both.dim, 100),
		      virgo_pack(both.dim, both.dim, VIRGO_GARBAGE));
		stop();
	}
}

/* A device is not its program: only the program's own arithmetic is rounded as it asks. */
static void the_rounding_mode_of_the_program_does_not_matter(void **state)
{
	static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		config_st(both.dim * both.size, 0, 0.0123f);
		check(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(64, both.dim, ACC));
		memcpy(both.r->spad, both.expected, 4096);
		for (unsigned int i = 0; i < 3; i++) {
			memset(both.f->arena + HALF, 0, 4096);
			fesetround(modes[i]);
			send_only(VIRGO_FUNCT_MVOUT, out_memory(0), virgo_pack(64, both.dim, ACC));
			assert_int_equal(fegetround(), modes[i]);
			fesetround(FE_TONEAREST);
			assert_memory_equal(both.f->arena + HALF, both.r->spad, 4096);
		}
		stop();
	}
}

/* --- anything ------------------------------------------------------------------------------------------- */

static float random_scale(void)
{
	static const float scales[] = { 1, 1, 0.5f, 0.01f, 3, -1 };

	return scales[below(6)];
}

static void random_config(void)
{
	unsigned int pixels = 1 + (below(4) == 0) * below(3);

	switch (below(4)) {
	case 0:
		config_ex(below(2), below(2), below(3) ? 0 : below(12), 1 + below(3), 1 + below(2), below(2), below(2));
		break;
	case 1:
		config_ld(below(3), below(5) * 128, random_scale(), below(2), below(40), pixels);
		break;
	case 2:
		config_st(below(5) * 128, below(4), random_scale());
		break;
	default:
		config_norm(below(2));
	}
}

static uint32_t random_local(unsigned int span)
{
	if (below(2))
		return ACC | (below(2) ? ADD : 0) | below(both.r->accumulator_rows - span);
	return below(both.r->rows - span);
}

static uint64_t random_operand(void)
{
	uint32_t local = below(6) ? random_local(3 * both.dim + 1) & ~ADD : VIRGO_GARBAGE;

	return virgo_pack(below(both.dim + 1), below(both.dim + 1), local);
}

static void random_command(void)
{
	static const unsigned int loads[] = { VIRGO_FUNCT_MVIN, VIRGO_FUNCT_MVIN2, VIRGO_FUNCT_MVIN3 };
	unsigned int rows = 1 + below(both.dim), columns = 1 + below(2 * both.dim), what = below(8);
	uint32_t local;

	if (both.r->accumulator_rows < 200)
		columns = 1 + below(both.dim);
	switch (what) {
	case 0:
	case 1:
		random_config();
		break;
	case 2:
	case 3:
		local = random_local(both.dim + 80);
		check(loads[below(3)], below(8) ? in_memory(4 * below(200000)) : 0, virgo_pack(rows, columns, local));
		break;
	case 4:
		local = random_local(2 * both.dim) & ~ADD;
		if (local & ACC)
			local |= below(4) ? 0 : VIRGO_LOCAL_FULL;
		check(VIRGO_FUNCT_MVOUT, out_memory(4 * below(200000)), virgo_pack(rows, columns, local));
		break;
	case 5:
		check(VIRGO_FUNCT_MVOUT_SPAD, (uint64_t)below(3) << 32 | below(100),
		      virgo_pack(rows, columns, ACC | below(both.r->accumulator_rows - 2 * both.dim)));
		break;
	default:
		quick(VIRGO_FUNCT_PRELOAD, random_operand(),
		      virgo_pack(below(both.dim + 1), below(both.dim + 1), random_local(2 * both.dim)));
		check(below(3) ? VIRGO_FUNCT_COMPUTE_PRELOADED : VIRGO_FUNCT_COMPUTE_ACCUMULATED,
		      random_operand(), random_operand());
	}
}

static void random_commands_do_what_the_reference_does(void **state)
{
	(void)state;
	for EACH_KIND(k) {
		start_as(kinds[k].type, kinds[k].dim, 0);
		fill_unit();
		for (unsigned int n = 0; n < UNLESS_SANITIZED(400); n++)
			random_command();
		stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_dataflows_multiply_with_all_transposes),
		cmocka_unit_test(partial_tiles_are_padded_with_zeros),
		cmocka_unit_test(results_in_the_scratchpad_are_shifted_rounded_and_saturated),
		cmocka_unit_test(a_large_shift_leaves_infinities_and_signs),
		cmocka_unit_test(a_shift_to_a_subnormal_rounds_once),
		cmocka_unit_test(operands_may_lie_in_the_accumulator),
		cmocka_unit_test(rows_of_operands_follow_their_strides),
		cmocka_unit_test(the_rounding_mode_of_the_program_does_not_matter),
		cmocka_unit_test(random_commands_do_what_the_reference_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
