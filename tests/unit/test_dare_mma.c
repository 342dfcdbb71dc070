/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mma in the DARE model, with the kernels of every kind of processor that this
 * one can stand in for: against plain loops whose operations are volatile, so
 * that none is fused or moved. Only the payload of a NaN may differ.
 */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "devices/dare/dare_internal.h"
#include "examples/common/random.h"
#include "tests/lib/dare_setup.h"

#define ROUNDS 400
#define A HOST_BASE

typedef uint8_t matrix[16][64];

static struct random random_numbers;

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random_below(&random_numbers, limit);
}

static void use_kernels(size_t i)
{
	((struct dare *)host->model)->kernels = &dare_mpu_kernels_list[i];
}

/* --- the plain loop -------------------------------------------------------------------- */

static float as_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t bits_at(const uint8_t *bytes)
{
	uint32_t bits;

	memcpy(&bits, bytes, sizeof(bits));
	return bits;
}

static float element(const uint8_t *row, unsigned int k, unsigned int size)
{
	if (size == 4)
		return as_float(bits_at(row + 4 * k));
	return as_float((uint32_t)row[2 * k] << 16 | (uint32_t)row[2 * k + 1] << 24);
}

static uint32_t float_sum(uint32_t start_bits, const uint8_t *a, const uint8_t *b, unsigned int count_k,
			  unsigned int size)
{
	volatile float sum = as_float(start_bits), product;
	uint32_t bits;
	float result;

	for (unsigned int k = 0; k < count_k; k++) {
		product = element(a, k, size) * element(b, k, size);
		sum = sum + product;
	}
	result = sum;
	memcpy(&bits, &result, sizeof(bits));
	return bits;
}

static uint32_t int_sum(uint32_t sum, const uint8_t *a, const uint8_t *b, unsigned int count_k)
{
	for (unsigned int k = 0; k < count_k; k++)
		sum += (uint32_t)((int)(int8_t)a[k] * (int)(int8_t)b[k]);
	return sum;
}

struct operands {
	unsigned int size;	/* of an element */
	unsigned int md, ms1, ms2;
	unsigned int m, k, n;	/* k in bytes */
};

static void expect(matrix result, const struct operands *o, const matrix *registers)
{
	memset(result, 0, sizeof(matrix));
	for (unsigned int m = 0; m < o->m; m++) {
		for (unsigned int n = 0; n < o->n; n++) {
			const uint8_t *a = registers[o->ms1][m], *b = registers[o->ms2][n];
			uint32_t from = bits_at(&registers[o->md][m][4 * n]), sum;

			if (o->size == 1)
				sum = int_sum(from, a, b, o->k);
			else
				sum = float_sum(from, a, b, o->k / o->size, o->size);
			memcpy(&result[m][4 * n], &sum, sizeof(sum));
		}
	}
}

static uint32_t word_of(const struct operands *o)
{
	if (o->size == 4)
		return W_MMA(o->md, o->ms1, o->ms2);
	if (o->size == 2)
		return W_MMA_BF16(o->md, o->ms1, o->ms2);
	return W_MMA_I8(o->md, o->ms1, o->ms2);
}

static void assert_same_floats(const matrix expected, const uint8_t *got)
{
	for (unsigned int i = 0; i < 256; i++) {
		uint32_t a = bits_at(expected[0] + 4 * i), b = bits_at(got + 4 * i);

		if (a != b && !(isnan(as_float(a)) && isnan(as_float(b))))
			fail_msg("element %u: %08x, not %08x", i, b, a);
	}
}

static void copy_registers(matrix *to)
{
	for (unsigned int i = 0; i < DARE_REGISTERS; i++)
		memcpy(to[i], host_matrix_row(host, i, 0), sizeof(matrix));
}

/* Executes one mma on the registers as they are, and looks at all of them. */
static void check_mma(const struct operands *o)
{
	matrix before[8], result;

	host_set_shape(host, o->m, o->k, o->n);
	copy_registers(before);
	expect(result, o, before);
	host_run(host, word_of(o), 0, 0);
	host_assert_no_error(host);
	if (o->size == 1)
		assert_memory_equal(result, host_matrix_row(host, o->md, 0), 1024);
	else
		assert_same_floats(result, host_matrix_row(host, o->md, 0));
	for (unsigned int i = 0; i < 8; i++) {
		if (i != o->md)
			assert_memory_equal(before[i], host_matrix_row(host, i, 0), 1024);
	}
}

/* --- inputs -------------------------------------------------------------------------------- */

/* Values of about one, so that sums round in every bit. */
static void fill_plain(matrix bytes, unsigned int size)
{
	for (unsigned int i = 0; i < 1024; i++)
		bytes[i / 64][i % 64] = (uint8_t)(random_next(&random_numbers) >> 30);
	for (unsigned int i = 0; size > 1 && i < 1024 / size; i++) {
		uint8_t *last = &bytes[0][0] + size * i + size - 2;

		last[1] = (uint8_t)(0x3e + below(3)) | (uint8_t)(below(2) << 7);
	}
}

/* Zeros, subnormals, the largest, infinities, NaNs among others. */
static void fill_strange(matrix bytes, unsigned int size)
{
	static const uint16_t strange[] = {
		0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x3f80,
		0x1f80, 0x2000, 0x5f80,
	};

	fill_plain(bytes, size);
	for (unsigned int i = 0; i < 60 && size > 1; i++) {
		uint16_t upper = strange[below(i % 4 ? 6 : sizeof(strange) / sizeof(strange[0]))];

		memcpy(&bytes[0][0] + size * below(1024 / size) + size - 2, &upper, 2);
	}
}

static struct operands random_operands(unsigned int size)
{
	static const unsigned int full[] = { 16, 64, 16 };
	unsigned int shape[3];

	for (unsigned int i = 0; i < 3; i++)
		shape[i] = below(3) ? 1 + below(full[i]) : full[i];
	return (struct operands){
		.size = size, .md = below(8), .ms1 = below(8), .ms2 = below(8),
		.m = shape[0], .k = (shape[1] + size - 1) / size * size, .n = shape[2],
	};
}

static void check_random(unsigned int size, void (*fill)(matrix bytes, unsigned int size))
{
	for (size_t kernels = 0; kernels < dare_mpu_kernels_count; kernels++) {
		if (!dare_mpu_kernels_list[kernels].is_supported())
			continue;
		use_kernels(kernels);
		for (unsigned int round = 0; round < ROUNDS; round++) {
			struct operands o = random_operands(size);
			matrix bytes;

			fill(bytes, size);
			host_set_matrix(host, below(8), bytes);
			fill(bytes, round % 2 ? 4 : size);
			host_set_matrix(host, below(8), bytes);
			check_mma(&o);
		}
	}
}

/* --- tests ----------------------------------------------------------------------------------- */

/* _(name, bytes of an element, function that fills the operands) */
#define RANDOM_TESTS(_) \
	_(fp32_sums_are_those_of_the_plain_loop_bit_for_bit, 4, fill_plain) \
	_(fp32_subnormals_infinities_and_nans_are_those_of_the_plain_loop, 4, fill_strange) \
	_(bf16_sums_are_those_of_the_plain_loop_bit_for_bit, 2, fill_plain) \
	_(bf16_subnormals_infinities_and_nans_are_those_of_the_plain_loop, 2, fill_strange) \
	_(int8_sums_are_those_of_the_plain_loop_and_wrap, 1, fill_plain)

#define _(name, size, fill) \
static void name(void **state) \
{ \
	(void)state; \
	check_random(size, fill); \
}
RANDOM_TESTS(_)
#undef _

static void the_largest_int8_sum_is_exact(void **state)
{
	const struct operands o = { 1, 0, 1, 2, 16, 64, 16 };
	matrix all;

	(void)state;
	for (size_t kernels = 0; kernels < dare_mpu_kernels_count; kernels++) {
		if (!dare_mpu_kernels_list[kernels].is_supported())
			continue;
		use_kernels(kernels);
		memset(all, 0x80, sizeof(all));
		host_set_matrix(host, 1, all);
		host_set_matrix(host, 2, all);
		memset(all, 0x7f, sizeof(all));
		host_set_matrix(host, 0, all);
		check_mma(&o);
		/* 0x7f7f7f7f + 64 * 2^14 */
		assert_int_equal(bits_at(host_matrix_row(host, 0, 0)), 0x7f8f7f7f);
	}
}

static void every_shape_gives_the_sums_inside_and_zeros_outside(void **state)
{
	(void)state;
	for (size_t kernels = 0; kernels < dare_mpu_kernels_count; kernels++) {
		if (!dare_mpu_kernels_list[kernels].is_supported())
			continue;
		use_kernels(kernels);
		for (unsigned int shape = 0; shape < 16 * 16; shape++) {
			struct operands o = { 4, 0, 1, 2, 1 + shape / 16, 4 + 4 * (shape % 7), 1 + shape % 16 };
			matrix bytes;

			for (unsigned int i = 0; i < 3; i++) {
				fill_plain(bytes, 4);
				host_set_matrix(host, i, bytes);
			}
			check_mma(&o);
		}
	}
}

/* A product that is rounded, and one that is not, differ in their last bit here. */
static void products_are_rounded_before_they_are_added(void **state)
{
	static const uint32_t factor = 0x3f800001;	/* 1 + 2^-23 */
	static const uint32_t minus = 0xbf800002;	/* -(1 + 2^-22) */
	const struct operands o = { 4, 0, 1, 2, 1, 4, 1 };
	matrix bytes = { { 0 } };

	(void)state;
	for (size_t kernels = 0; kernels < dare_mpu_kernels_count; kernels++) {
		if (!dare_mpu_kernels_list[kernels].is_supported())
			continue;
		use_kernels(kernels);
		memcpy(bytes, &factor, 4);
		host_set_matrix(host, 1, bytes);
		host_set_matrix(host, 2, bytes);
		memcpy(bytes, &minus, 4);
		host_set_matrix(host, 0, bytes);
		check_mma(&o);
		/* fused it would be 2^-46 */
		assert_int_equal(bits_at(host_matrix_row(host, 0, 0)), 0);
	}
}

static void bf16_is_the_upper_half_of_a_float(void **state)
{
	const struct operands o = { 2, 0, 1, 2, 1, 2, 1 };
	matrix bytes = { { 0 } };

	(void)state;
	bytes[0][0] = 0x40;	/* 0x4040: 3 */
	bytes[0][1] = 0x40;
	host_set_matrix(host, 1, bytes);
	bytes[0][0] = 0x20;	/* 0xc020: -2.5 */
	bytes[0][1] = 0xc0;
	host_set_matrix(host, 2, bytes);
	memset(bytes, 0, sizeof(bytes));
	host_set_matrix(host, 0, bytes);
	check_mma(&o);
	assert_true(as_float(bits_at(host_matrix_row(host, 0, 0))) == -7.5f);
}

/* The model keeps a turned copy of second sources: it must not outlive them. */
static void a_second_source_that_changes_is_seen(void **state)
{
	const uint64_t other = A + 2 * HOST_PAGE;
	struct operands o = { 4, 0, 1, 2, 16, 64, 16 };
	uint64_t addresses[16] = { 0 };
	matrix bytes;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		fill_plain(bytes, 4);
		host_set_matrix(host, i, bytes);
	}
	fill_plain(bytes, 4);
	memcpy(host_bytes(host, 1, other), bytes, 1024);
	check_mma(&o);
	host_run(host, W_MLD(2), other, 64);			/* by a load */
	check_mma(&o);
	memset(bytes, 0, sizeof(bytes));
	for (unsigned int i = 0; i < 16; i++) {
		addresses[i] = other + 60 * i;
		memcpy(bytes[i], &addresses[i], 8);
	}
	host_set_matrix(host, 5, bytes);
	host_run(host, W_MGATHER(2, 5), 0, 0);		/* by a gather */
	check_mma(&o);
	o.md = 2;
	check_mma(&o);					/* by mma itself */
	check_mma(&o);
	o.size = 2;					/* as another kind */
	check_mma(&o);
	o.size = 1;
	o.md = 3;
	check_mma(&o);
	host_store(host, 0, 0x80, 0);			/* by a reset */
	check_mma(&o);
	o.size = 4;
	check_mma(&o);
}

static void contexts_do_not_share_second_sources(void **state)
{
	const struct operands o = { 4, 0, 1, 2, 16, 64, 16 };
	matrix bytes;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		fill_plain(bytes, 4);
		host_set_matrix(host, i, bytes);
		host_run_in(host, 1, W_MLD(i), A, 64);
	}
	check_mma(&o);
	host_run_in(host, 1, W_MMA(0, 1, 2), 0, 0);
	check_mma(&o);
}

static void a_failed_load_leaves_the_second_source(void **state)
{
	const struct operands o = { 4, 0, 1, 2, 16, 64, 16 };
	matrix bytes;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		fill_plain(bytes, 4);
		host_set_matrix(host, i, bytes);
	}
	check_mma(&o);
	host_run(host, W_MLD(2), A + HOST_PAGES * HOST_PAGE - 64, 64);
	assert_int_equal(host_load(host, 0, 0x58), DARE_ERROR_LOAD);
	host_store(host, 0, 0x58, 0);
	check_mma(&o);
}

/* --- the program's own floating point -------------------------------------------------------- */

static void check_in_environment(void (*change)(void))
{
	fenv_t saved;
	matrix bytes, registers[8], result;
	const struct operands o = { 4, 0, 1, 2, 16, 64, 16 };

	for (unsigned int i = 0; i < 3; i++) {
		fill_strange(bytes, 4);
		host_set_matrix(host, i, bytes);
	}
	copy_registers(registers);
	expect(result, &o, registers);
	fegetenv(&saved);
	change();
	host_run(host, word_of(&o), 0, 0);
	fesetenv(&saved);
	host_assert_no_error(host);
	assert_same_floats(result, host_matrix_row(host, 0, 0));
}

static void round_up(void)
{
	fesetround(FE_UPWARD);
}

static void trap_everything(void)
{
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_ALL_EXCEPT);
}

static void sums_do_not_depend_on_the_threads_rounding_mode(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		check_in_environment(round_up);
}

static void a_thread_that_traps_on_exceptions_is_not_trapped_by_the_device(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		check_in_environment(trap_everything);
}

#ifdef __x86_64__
static void flush_to_zero(void)
{
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
}

static void subnormals_count_where_the_thread_flushes_them(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		check_in_environment(flush_to_zero);
}
#endif

static void mma_leaves_the_threads_floating_point_flags_alone(void **state)
{
	matrix bytes;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		fill_strange(bytes, 4);
		host_set_matrix(host, i, bytes);
	}
	feclearexcept(FE_ALL_EXCEPT);
	feraiseexcept(FE_DIVBYZERO);
	fesetround(FE_DOWNWARD);
	host_run(host, W_MMA(0, 1, 2), 0, 0);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
	assert_int_equal(fegetround(), FE_DOWNWARD);
	fesetround(FE_TONEAREST);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start, host_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define _(name, size, fill) TEST(name),
		RANDOM_TESTS(_)
#undef _
		TEST(the_largest_int8_sum_is_exact),
		TEST(every_shape_gives_the_sums_inside_and_zeros_outside),
		TEST(products_are_rounded_before_they_are_added),
		TEST(bf16_is_the_upper_half_of_a_float),
		TEST(a_second_source_that_changes_is_seen),
		TEST(contexts_do_not_share_second_sources),
		TEST(a_failed_load_leaves_the_second_source),
		TEST(sums_do_not_depend_on_the_threads_rounding_mode),
		TEST(a_thread_that_traps_on_exceptions_is_not_trapped_by_the_device),
#ifdef __x86_64__
		TEST(subnormals_count_where_the_thread_flushes_them),
#endif
		TEST(mma_leaves_the_threads_floating_point_flags_alone),
	};

	return cmocka_run_group_tests_name("mma of the DARE model", tests, NULL, NULL);
}
