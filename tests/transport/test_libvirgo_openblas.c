/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libvirgo's products beside OpenBLAS: 1000 random shapes of fp32, others of fp16 and int8;
 * and beside the plain loop on clusters whose units have other sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cblas.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/daemon_fixture.h"
#include "tests/lib/half.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/virgo_product.h"
#include "virgo.h"

#define SIDE 140

static struct virgo *virgo;
static struct served served;
static uint64_t seed = 0x2545f4914f6cdd1d;
static struct sigaction fault_actions[2];

static double a[SIDE * SIDE], b[SIDE * SIDE], right[SIDE * SIDE], magnitude[SIDE * SIDE];

static void open_cluster(const char *transport, const char *config_path)
{
	struct virgo_options options = {
		.transport = transport, .config_path = config_path,
		.socket_path = strcmp(transport, "daemon") ? NULL : served.socket,
	};

	/* Other memory than the program's ends in these handlers, and cmocka has its own. */
	sigaction(SIGSEGV, &fault_actions[0], NULL);
	sigaction(SIGBUS, &fault_actions[1], NULL);
	if (virgo_open(&virgo, &options))
		fail_msg("%s", virgo_error_text());
}

/* --- OpenBLAS --------------------------------------------------------------------------- */

static void multiply(const struct virgo_product *p, double *sums)
{
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, 1, a,
		    (int)p->k, b, (int)p->n, 1, sums, (int)p->n);
}

static void all_magnitudes(double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = fabs(values[i]);
}

/* The initial value of an element's sum. */
static double start_of(const struct product_case *c, size_t row, size_t column)
{
	const struct virgo_product *p = &c->product;

	const void *from = c->has_bias ? p->bias : p->flags & VIRGO_ADD ? c->c_before : NULL;
	size_t at = c->has_bias ? column : row * p->ldc + column;

	if (!from)
		return 0;
	return p->type == VIRGO_INT8 ? ((const int32_t *)from)[at] : (double)((const float *)from)[at];
}

static void multiply_by_openblas(const struct product_case *c)
{
	const struct virgo_product *p = &c->product;

	for (size_t i = 0; i < p->m * p->k; i++)
		a[i] = product_a(c, i / p->k, i % p->k);
	for (size_t i = 0; i < p->k * p->n; i++)
		b[i] = product_b(c, i / p->n, i % p->n);
	for (size_t i = 0; i < p->m * p->n; i++) {
		right[i] = start_of(c, i / p->n, i % p->n);
		magnitude[i] = fabs(right[i]);
	}
	multiply(p, right);
	all_magnitudes(a, p->m * p->k);
	all_magnitudes(b, p->k * p->n);
	multiply(p, magnitude);
}

/*
 * The usual bound for sums of k products and a start in fp32, in any order: a
 * product is rounded once, and each of its sums adds a rounding. In blocks of DIM
 * there are at most DIM + k / DIM sums above a product, which is not more than k + 1.
 * (k + 2) u / (1 - (k + 2) u) times the sum of the magnitudes, u = 2^-24; OpenBLAS's own
 * error in fp64 is far below. One rounding more to binary16: half a step of it.
 */
static void check_bound(const struct product_case *c)
{
	const struct virgo_product *p = &c->product;
	const bool is_half = p->type == VIRGO_FP16 && p->flags & VIRGO_NARROW;
	const double n = ((double)p->k + 2) * 0x1p-24, factor = n / (1 - n) * (1 + 0x1p-20);

	for (size_t i = 0; i < p->m * p->n; i++) {
		size_t at = i / p->n * p->ldc + i % p->n;
		double got = is_half ? (double)half_value(((const uint16_t *)p->c)[at])
				     : (double)((const float *)p->c)[at];
		double bound = factor * magnitude[i];

		if (is_half)
			bound += ldexp(fmax(fabs(right[i]) + bound, 0x1p-14), -11);
		if (!(fabs(got - right[i]) <= bound))
			fail_msg("%zux%zux%zu, flags %u: element %zu is %.9g, but must be %.9g", p->m, p->n,
				 p->k, p->flags, i, got, right[i]);
	}
}

/* Integers of this size are exact in fp64; sums of 32 bits wrap, narrow ones saturate after that. */
static void check_integers(const struct product_case *c)
{
	const struct virgo_product *p = &c->product;

	for (size_t i = 0; i < p->m * p->n; i++) {
		size_t at = i / p->n * p->ldc + i % p->n;
		int32_t sum = (int32_t)(uint32_t)(int64_t)right[i];
		int32_t narrow = sum > 127 ? 127 : sum < -128 ? -128 : sum;

		if (p->flags & VIRGO_NARROW)
			assert_int_equal(((const int8_t *)p->c)[at], narrow);
		else
			assert_int_equal(((const int32_t *)p->c)[at], sum);
	}
}

/* So many products that have elements to compare. */
static void compare(unsigned int unit, enum virgo_type type, unsigned int dim, int count)
{
	while (count) {
		struct product_case c = product_random(type, dim, SIDE, &seed);

		c.product.epilogue = VIRGO_EPILOGUE_NONE;
		c.product.scale = 0;
		if (!c.product.m || !c.product.n || !c.product.k)
			continue;
		product_make(&c, &seed);
		if (virgo_gemm(virgo, unit, &c.product))
			fail_msg("%s", virgo_error_text());
		multiply_by_openblas(&c);
		if (type == VIRGO_INT8)
			check_integers(&c);
		else
			check_bound(&c);
		product_free(&c);
		count--;
	}
}

static void a_thousand_products_are_those_of_openblas_within_the_bound(void **state)
{
	open_cluster(*state, NULL);
	compare(0, VIRGO_FP32, 8, UNLESS_SANITIZED(500));
	compare(1, VIRGO_FP32, 4, UNLESS_SANITIZED(500));
	compare(2, VIRGO_INT8, 16, UNLESS_SANITIZED(300));
	compare(3, VIRGO_FP16, 16, UNLESS_SANITIZED(300));
	virgo_close(virgo);
}

/* --- clusters of other sizes -------------------------------------------------------------- */

static const char *const clusters[] = {
	"profile = paper\n",
	"profile = gemmini\n",
	"profile = later\n",
	"profile = heterogeneous\n",
	"profile = mixed\nshared_kb = 256\nunits = 3\nqueue_entries = 4\n"
	"unit0_type = 2\nunit0_dim = 16\nunit0_accumulator_kb = 64\n"
	"unit1_type = 1\nunit1_dim = 8\nunit1_accumulator_kb = 4\n"
	"unit2_type = 0\nunit2_dim = 8\nunit2_accumulator_kb = 256\n",
	"profile = mixed\nshared_kb = 64\nunits = 3\noverflow_is_error = 1\n"
	"unit0_type = 0\nunit0_dim = 4\nunit0_accumulator_kb = 4\n"
	"unit1_type = 1\nunit1_dim = 4\nunit1_accumulator_kb = 32\n"
	"unit2_type = 2\nunit2_dim = 16\nunit2_accumulator_kb = 16\n",
};

static void write_config(char *path, const char *keys)
{
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	assert_non_null(file);
	fprintf(file, "[virgo]\n%s", keys);
	assert_int_equal(fclose(file), 0);
}

static void check_units(void)
{
	for (unsigned int unit = 0; unit < virgo_unit_count(virgo); unit++) {
		struct virgo_unit_info info;

		assert_int_equal(virgo_unit_info(virgo, unit, &info), 0);
		for (int i = 0; i < 40; i++) {
			struct product_case c = product_random(info.type, info.dim, i % 8 ? 60 : 200, &seed);

			product_check(virgo, unit, &c, &seed);
		}
	}
}

static void units_of_all_sizes_multiply_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(clusters) / sizeof(clusters[0]); i++) {
		char path[] = "/tmp/mimic-libvirgo-XXXXXX";

		write_config(path, clusters[i]);
		open_cluster("embedded", path);
		check_units();
		virgo_close(virgo);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "a_thousand_products_are_those_of_openblas_within_the_bound (embedded)",
		  a_thousand_products_are_those_of_openblas_within_the_bound, NULL, NULL, "embedded" },
		{ "a_thousand_products_are_those_of_openblas_within_the_bound (daemon)",
		  a_thousand_products_are_those_of_openblas_within_the_bound, NULL, NULL, "daemon" },
		cmocka_unit_test(units_of_all_sizes_multiply_right),
	};
	int failed;

	openblas_set_num_threads(1);
	served.virgos = 1;
	if (!served_start(&served, 1, false) ||
	    virgo_open(&virgo, &(struct virgo_options){ .transport = "embedded" }))
		return 1;
	sigaction(SIGSEGV, NULL, &fault_actions[0]);
	sigaction(SIGBUS, NULL, &fault_actions[1]);
	virgo_close(virgo);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	served_end(&served, SIGTERM);
	served_clean(&served);
	return failed;
}
