/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Virgo in time: the time in which kernels run, and the multiplications that fit in it. */
#include "tests/lib/virgo_cycles.h"

static void start(struct cluster *c, enum virgo_time_design design, unsigned int unit, uint64_t k, uint64_t now)
{
	const struct virgo_time_kernel kernel = {
		.design = design,
		.unit = unit,
		.m = c->timing->parameters.matrix_tile_m,
		.n = c->timing->parameters.matrix_tile_n,
		.k = k,
	};

	virgo_time_advance(c->timing, now);
	assert_int_equal(virgo_time_start(c->timing, &kernel, now), 0);
}

/* An array of 8 x 8, or four cores of 16 multipliers, hopper's of 32. */
static void a_cycle_offers_the_multipliers_of_the_design(void **state)
{
	static const unsigned int multipliers[VIRGO_DESIGNS] = { 64, 64, 64, 64, 128 };

	(void)state;
	for (unsigned int design = 0; design < VIRGO_DESIGNS; design++) {
		struct cluster c = cluster_begin(NULL);
		struct virgo_time_statistics s;

		start(&c, design, 0, 64, 0);
		cluster_finish(&c);
		s = cluster_statistics(&c);
		assert_int_equal(s.kernel_time, s.kernel_cycles);
		assert_int_equal(s.kernel_macs_offered, s.kernel_cycles * multipliers[design]);
		assert_int_equal(s.kernel_macs, 64 * 64 * 64);
		cluster_end(&c);
	}
}

static struct cluster two_units(void)
{
	return cluster_begin("cluster.cores=2", "matrix.units=2", "matrix.tile_m=32", "matrix.tile_n=32",
			     "matrix.tile_k=32", NULL);
}

/* 8 x 8 and 4 x 4 are 80 multipliers, whether both have a kernel or one. */
static void two_kernels_at_once_take_the_time_of_the_longer_one(void **state)
{
	struct cluster c = two_units();
	struct virgo_time_statistics s;
	uint64_t first, second;

	(void)state;
	start(&c, VIRGO_DESIGN_VIRGO_DMA, 0, 256, 0);
	start(&c, VIRGO_DESIGN_VIRGO_DMA, 1, 64, 100);
	cluster_finish(&c);
	first = virgo_time_ended(c.timing, 0);
	second = virgo_time_ended(c.timing, 1);
	s = cluster_statistics(&c);
	assert_true(second > 100);
	assert_int_equal(s.kernel_cycles, first + second - 100);
	assert_int_equal(s.kernel_time, later(first, second));
	assert_int_equal(s.kernel_macs_offered, 80 * later(first, second));
	cluster_end(&c);
}

static void time_between_kernels_is_not_theirs(void **state)
{
	struct cluster c = two_units();
	struct virgo_time_statistics s;
	uint64_t first, second;

	(void)state;
	start(&c, VIRGO_DESIGN_VIRGO_DMA, 0, 32, 500);
	cluster_finish(&c);
	first = virgo_time_ended(c.timing, 0);
	start(&c, VIRGO_DESIGN_VIRGO_DMA, 1, 32, first + 7000);
	cluster_finish(&c);
	second = virgo_time_ended(c.timing, 1);
	virgo_time_statistics(c.timing, second + 9000, &s);
	assert_int_equal(s.kernel_time, first - 500 + second - (first + 7000));
	assert_int_equal(s.kernel_time, s.kernel_cycles);
	assert_int_equal(s.kernel_macs_offered, 80 * s.kernel_time);
	cluster_end(&c);
}

/* A phase of the program may end while a kernel runs. */
static void a_kernel_that_runs_is_counted_up_to_now(void **state)
{
	struct cluster c = cluster_begin(NULL);
	struct virgo_time_statistics s;

	(void)state;
	start(&c, VIRGO_DESIGN_VIRGO_DMA, 0, 64, 300);
	virgo_time_statistics(c.timing, 1000, &s);
	assert_int_equal(s.kernels, 0);
	assert_int_equal(s.kernel_time, 700);
	virgo_time_statistics(c.timing, 1001, &s);
	assert_int_equal(s.kernel_time, 701);
	assert_int_equal(s.kernel_macs_offered, 701 * 64);
	cluster_finish(&c);
	s = cluster_statistics(&c);
	assert_int_equal(s.kernel_time, virgo_time_ended(c.timing, 0) - 300);
	cluster_end(&c);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(a_cycle_offers_the_multipliers_of_the_design),
		ON(two_kernels_at_once_take_the_time_of_the_longer_one),
		ON(time_between_kernels_is_not_theirs),
		ON(a_kernel_that_runs_is_counted_up_to_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
