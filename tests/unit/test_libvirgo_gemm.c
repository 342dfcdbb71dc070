/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libvirgo's products: refused arguments, tiles, and the part of the shared memory that they leave alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/lib/fake_virgo.h"

static struct fake_virgo fake;
static struct virgo *virgo;

/* Eight fp32 units as the paper's, or of other types. */
static void open_units(unsigned int shared_kb, const struct virgo_unit_config *unit, unsigned int count)
{
	struct virgo_config config;

	virgo_config_default(&config);
	config.shared_kb = shared_kb;
	config.units = count;
	for (unsigned int i = 0; i < count; i++)
		config.unit[i] = *unit;
	virgo = fake_virgo_open(&fake, &config);
	assert_non_null(virgo);
}

static int open_cluster(void **state)
{
	(void)state;
	open_units(64, &(struct virgo_unit_config){ VIRGO_FP32, 8, 16, 0, 0, 0 }, 8);
	return 0;
}

static int close_cluster(void **state)
{
	(void)state;
	fake_virgo_close(&fake, virgo);
	return 0;
}

static struct virgo_product good_product(void)
{
	float *memory = (float *)fake.fixture->arena;

	return (struct virgo_product){
		.type = VIRGO_FP32, .m = 10, .n = 12, .k = 14, .a = memory, .lda = 14,
		.b = memory + 1000, .ldb = 12, .c = memory + 2000, .ldc = 12,
	};
}

/* --- refused arguments ---------------------------------------------------------------------- */

static void products_that_make_no_sense_are_told(void **state)
{
	struct virgo_product p;

	(void)state;
#define BAD(change) \
	do { \
		p = good_product(); \
		change; \
		assert_int_equal(virgo_gemm(virgo, 0, &p), -EINVAL); \
		assert_true(virgo_error_text()[0] != '\0'); \
		assert_int_equal(virgo_gemm_start(virgo, 0, &p), -EINVAL); \
	} while (0)
	BAD(p.type = VIRGO_INT8);
	BAD(p.type = VIRGO_TYPES);
	BAD(p.flags = VIRGO_SHRUNK);
	BAD(p.epilogue = (enum virgo_epilogue)3);
	BAD(p.a = NULL);
	BAD(p.b = NULL);
	BAD(p.c = NULL);
	BAD(p.lda = 13);
	BAD(p.ldb = 11);
	BAD(p.ldc = 11);
	BAD(p.flags = VIRGO_TRANSPOSE_A; p.lda = 9);
	BAD(p.flags = VIRGO_TRANSPOSE_B; p.ldb = 13);
	BAD(p.a = (char *)p.a + 2);
	BAD(p.c = (char *)p.c + 1);
	BAD(p.bias = (char *)p.a + 1);
	BAD(p.flags = VIRGO_ADD; p.bias = p.a);
	BAD(p.lda = SIZE_MAX / 2);
	BAD(p.scale = NAN);
#undef BAD
	assert_int_equal(virgo_gemm(virgo, 0, NULL), -EINVAL);
	assert_int_equal(virgo_gemm(virgo, 8, &p), -EINVAL);
	assert_int_equal(virgo_gemm(NULL, 0, &p), -EINVAL);
	assert_int_equal(fake.count, 0);
	p = good_product();
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
}

static void narrow_results_and_scales_of_integers_are_checked(void **state)
{
	struct virgo_product p;

	(void)state;
	open_units(64, &(struct virgo_unit_config){ VIRGO_INT8, 16, 16, 0, 0, 0 }, 1);
	p = good_product();
	p.type = VIRGO_INT8;
	p.scale = 0.5f;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EINVAL);
	p.flags = VIRGO_NARROW;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	p.flags = VIRGO_NARROW | VIRGO_ADD;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EINVAL);
	p.flags = VIRGO_ADD;
	p.scale = 1;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	fake_virgo_close(&fake, virgo);
}

static void sums_of_integers_need_a_beta_that_is_a_number(void **state)
{
	static const float betas[] = { NAN, INFINITY, -INFINITY };
	struct virgo_product p;

	(void)state;
	open_units(64, &(struct virgo_unit_config){ VIRGO_INT8, 16, 16, 0, 0, 0 }, 1);
	p = good_product();
	p.type = VIRGO_INT8;
	p.epilogue = VIRGO_EPILOGUE_SWISH;
	for (int i = 0; i < 3; i++) {
		p.beta = betas[i];
		assert_int_equal(virgo_gemm(virgo, 0, &p), -EINVAL);
	}
	p.flags = VIRGO_NARROW;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	fake_virgo_close(&fake, virgo);
}

static void a_unit_with_an_error_keeps_it(void **state)
{
	struct virgo_product p = good_product();

	(void)state;
	virgo_command(virgo, 0, 99, 0, 0);
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EILSEQ);
	assert_int_equal(virgo_fence(virgo, 0), -EILSEQ);
	virgo_clear_error(virgo, 0);
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
}

static void an_error_of_the_product_is_cleared(void **state)
{
	struct virgo_product p = good_product();

	(void)state;
	fake.fixture->absent[1] = true;	/* elements 1024 on: in B */
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EFAULT);
	assert_non_null(strstr(virgo_error_text(), "loop_ws: address 0x"));
	assert_int_equal(virgo_fence(virgo, 0), 0);
	fake.fixture->absent[1] = false;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
}

/* The program's own thread stores a C that the unit does not store. */
static void a_c_that_cannot_be_written_is_told(void **state)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct virgo_product p = good_product();
	char address[32];

	(void)state;
	snprintf(address, sizeof(address), "address 0x%lx", (unsigned long)(uintptr_t)pages + 4096);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_READ), 0);
	p.epilogue = VIRGO_EPILOGUE_SWISH;
	p.c = pages + 4096 - 100;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EFAULT);
	assert_non_null(strstr(virgo_error_text(), address));
	p.epilogue = VIRGO_EPILOGUE_NONE;
	p.k = 0;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EFAULT);
	assert_non_null(strstr(virgo_error_text(), address));
	/* The last row alone. */
	p.ldc = 4096;
	p.m = 2;
	p.c = pages - 3 * 4096 + 100;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EFAULT);
	p.c = (void *)4096;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EFAULT);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	munmap(pages, 8192);
}

static void a_bias_that_cannot_be_read_is_told_without_any_k(void **state)
{
	struct virgo_product p = good_product();

	(void)state;
	p.k = 0;
	p.bias = (void *)4096;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EFAULT);
	assert_non_null(strstr(virgo_error_text(), "bias"));
}

/* Of a half of the accumulator 64 x 64 sums would be too many. */
static void a_product_begins_with_the_first_half_of_the_accumulator(void **state)
{
	const uint64_t nothing = VIRGO_LOOP_SKIP_A | VIRGO_LOOP_SKIP_B | VIRGO_LOOP_SKIP_D |
				 VIRGO_LOOP_SKIP_EXECUTE | VIRGO_LOOP_SKIP_C;
	float *memory = (float *)fake.fixture->arena;
	struct virgo_product p = {
		.type = VIRGO_FP32, .m = 64, .n = 64, .k = 8, .a = memory, .lda = 8, .b = memory + 1024,
		.ldb = 64, .c = memory + 2048, .ldc = 64,
	};
	uint64_t ticket;

	(void)state;
	for (int i = 0; i < 2048; i++)
		memory[i] = 1;
	for (unsigned int halves = 1; halves < 4; halves++) {
		for (unsigned int i = 0; i < halves; i++)
			virgo_command(virgo, 0, VIRGO_FUNCT_LOOP_WS, 0, nothing | VIRGO_LOOP_NEXT_ACCUMULATOR);
		/* One that is dropped changes nothing. */
		virgo_command(virgo, 0, 99, 0, 0);
		virgo_command(virgo, 0, VIRGO_FUNCT_LOOP_WS, 0, nothing | VIRGO_LOOP_NEXT_ACCUMULATOR);
		virgo_clear_error(virgo, 0);
		ticket = virgo_ticket(virgo, 0);
		assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
		for (int i = 0; i < 64 * 64; i++)
			assert_true(memory[2048 + i] == 8);
		assert_int_equal(virgo_done(virgo, 0, ticket), 1);
		memset(memory + 2048, 0, sizeof(float) * 64 * 64);
	}
}

static int rounded(int mode, struct virgo_product *p)
{
	int error;

	memset(p->c, 0x55, 1);
	fesetround(mode);
	error = virgo_gemm(virgo, 0, p);
	if (fegetround() != mode)
		error = 1;
	fesetround(FE_TONEAREST);
	assert_int_equal(error, 0);
	return *(const int8_t *)p->c;
}

/* swish(1) = 0.73 and 0.4: the next integers are 1 and 0. */
static void the_rounding_mode_of_the_thread_changes_no_result(void **state)
{
	static const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	struct virgo_product p;
	int32_t bias = 1;

	(void)state;
	open_units(64, &(struct virgo_unit_config){ VIRGO_INT8, 16, 16, 0, 0, 0 }, 1);
	memset(fake.fixture->arena, 1, 16);
	for (int i = 0; i < 4; i++) {
		p = good_product();
		p.type = VIRGO_INT8;
		p.m = p.n = p.k = 1;
		p.flags = VIRGO_NARROW;
		p.epilogue = VIRGO_EPILOGUE_SWISH;
		memset(fake.fixture->arena + 4000, 1, 1);	/* B */
		assert_int_equal(rounded(modes[i], &p), 1);
		p.epilogue = VIRGO_EPILOGUE_NONE;
		p.scale = 0.4f;
		p.bias = &bias;
		p.k = 0;
		assert_int_equal(rounded(modes[i], &p), 0);
	}
	fake_virgo_close(&fake, virgo);
}

static void no_memory_for_a_tile_is_told(void **state)
{
	struct virgo_product p;

	(void)state;
	open_units(64, &(struct virgo_unit_config){ VIRGO_FP16, 16, 16, 0, 0, 0 }, 1);
	p = good_product();
	p.type = VIRGO_FP16;
	p.epilogue = VIRGO_EPILOGUE_SWISH;
	fake.device.alloc_fails = true;
	assert_int_equal(virgo_gemm(virgo, 0, &p), -ENOMEM);
	fake.device.alloc_fails = false;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	fake_virgo_close(&fake, virgo);
}

/* --- tiles -------------------------------------------------------------------------------------- */

static void check_sizes(struct virgo_product p, size_t m, size_t n, size_t k, size_t shared_bytes)
{
	struct virgo_gemm_sizes sizes;

	assert_int_equal(virgo_gemm_sizes(virgo, 0, &p, &sizes), 0);
	assert_int_equal(sizes.m, m);
	assert_int_equal(sizes.n, n);
	assert_int_equal(sizes.k, k);
	assert_int_equal(sizes.shared_bytes, shared_bytes);
}

static void tiles_fill_accumulator_and_shared_memory(void **state)
{
	static const struct {
		struct virgo_unit_config unit;
		unsigned int shared_kb;
		size_t m, n, k;
	} cases[] = {
		/* The paper's: 64 x 64 x 64. */
		{ { VIRGO_FP32, 8, 16, 0, 0, 0 }, 64, 64, 64, 64 },
		{ { VIRGO_FP32, 8, 16, 0, 0, 0 }, 256, 64, 64, 256 },
		{ { VIRGO_FP32, 4, 16, 0, 0, 0 }, 64, 64, 64, 64 },
		{ { VIRGO_FP32, 16, 64, 0, 0, 0 }, 128, 128, 128, 64 },
		{ { VIRGO_FP16, 16, 32, 0, 0, 0 }, 128, 64, 128, 160 },
		{ { VIRGO_INT8, 16, 64, 0, 0, 0 }, 256, 128, 128, 512 },
		{ { VIRGO_INT8, 4, 4, 0, 0, 0 }, 64, 32, 32, 512 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_units(cases[i].shared_kb, &cases[i].unit, 1);
		check_sizes((struct virgo_product){ .type = (enum virgo_type)cases[i].unit.type,
						    .m = 4096, .n = 4096, .k = 4096 },
			    cases[i].m, cases[i].n, cases[i].k, cases[i].shared_kb << 10);
		fake_virgo_close(&fake, virgo);
	}
}

static void narrow_matrices_get_long_tiles(void **state)
{
	(void)state;
	check_sizes((struct virgo_product){ .type = VIRGO_FP32, .m = 8, .n = 4096, .k = 100 }, 8, 512, 8, 65536);
	check_sizes((struct virgo_product){ .type = VIRGO_FP32, .m = 4096, .n = 1, .k = 5 }, 512, 1, 5, 65536);
	check_sizes((struct virgo_product){ .type = VIRGO_FP32, .m = 3, .n = 3, .k = 9000 }, 3, 3, 512, 65536);
	check_sizes((struct virgo_product){ .type = VIRGO_FP32, .m = 0, .n = 3, .k = 9 }, 0, 0, 0, 0);
	/* With room for C in shared memory. */
	check_sizes((struct virgo_product){ .type = VIRGO_FP32, .m = 512, .n = 512, .k = 512,
					    .epilogue = VIRGO_EPILOGUE_SWISH }, 64, 64, 48, 65536);
}

static void sizes_of_nothing_are_told(void **state)
{
	struct virgo_product p = good_product();
	struct virgo_gemm_sizes sizes;

	(void)state;
	assert_int_equal(virgo_gemm_sizes(virgo, 0, NULL, &sizes), -EINVAL);
	assert_int_equal(virgo_gemm_sizes(virgo, 0, &p, NULL), -EINVAL);
	assert_int_equal(virgo_gemm_sizes(virgo, 8, &p, &sizes), -EINVAL);
	p.type = VIRGO_INT8;
	assert_int_equal(virgo_gemm_sizes(virgo, 0, &p, &sizes), -EINVAL);
}

static size_t loops_of(const struct virgo_product *p)
{
	size_t loops = 0;

	fake.count = 0;
	assert_int_equal(virgo_gemm(virgo, 0, p), 0);
	for (size_t i = 0; i < fake.count; i++)
		loops += fake.commands[i].word >> 25 == VIRGO_FUNCT_LOOP_WS;
	return loops;
}

static void a_step_is_one_loop(void **state)
{
	struct virgo_product p = good_product();

	(void)state;
	assert_int_equal(loops_of(&p), 1);
	p = (struct virgo_product){
		.type = VIRGO_FP32, .m = 130, .n = 70, .k = 200, .lda = 200, .ldb = 70, .ldc = 70,
		.a = fake.fixture->arena, .b = fake.fixture->arena + 200000,
		.c = fake.fixture->arena + 300000,
	};
	assert_int_equal(loops_of(&p), 3 * 2 * 4);
	/* Bounds only where they change, strides once: about three commands for a step. */
	assert_true(fake.count < 4 * 3 * 2 * 4);
	/* One more to shared memory for each tile; its steps are shorter. */
	p.epilogue = VIRGO_EPILOGUE_SWISH;
	assert_int_equal(loops_of(&p), 3 * 2 * (5 + 1));
}

/* Operands of the next step must not go where those of this one still are. */
static void successive_steps_use_different_halves(void **state)
{
	struct virgo_product p = {
		.type = VIRGO_FP32, .m = 64, .n = 64, .k = 64 * 6, .lda = 64 * 6, .ldb = 64, .ldc = 64,
		.a = fake.fixture->arena, .b = fake.fixture->arena + 200000,
		.c = fake.fixture->arena + 400000,
	};
	uint64_t a_row = UINT64_MAX, steps = 0;

	(void)state;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	for (size_t i = 0; i < fake.count; i++) {
		if (fake.commands[i].word >> 25 != VIRGO_FUNCT_LOOP_WS_SPAD_AB)
			continue;
		assert_int_not_equal(fake.commands[i].rs1, a_row);
		a_row = fake.commands[i].rs1;
		assert_true(a_row == 0 || a_row == 1024);
		assert_int_equal(fake.commands[i].rs2, a_row + 1024);
		steps++;
	}
	assert_int_equal(steps, 6);
}

/* --- shares of the shared memory --------------------------------------------------------------------- */

static void a_product_leaves_alone_what_the_program_has(void **state)
{
	struct virgo_product p = good_product();
	unsigned char *part = virgo_shared_alloc(virgo, 20000), *shared = virgo_shared(virgo, NULL);

	(void)state;
	check_sizes(p, 10, 12, 14, 32768);
	memset(shared, 0x5a, 65536);
	p.m = p.n = 8;
	p.k = 1000;
	p.lda = 0;
	p.lda = 1000;
	p.b = (float *)fake.fixture->arena + 10000;
	p.c = (float *)fake.fixture->arena + 30000;
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	for (unsigned char *at = part; at < shared + 65536; at++)
		assert_int_equal(*at, 0x5a);
	assert_int_not_equal(shared[0], 0x5a);
	assert_int_equal(virgo_shared_free(virgo, part), 0);
	check_sizes(p, 8, 8, 512, 65536);
}

static void too_little_shared_memory_is_told(void **state)
{
	struct virgo_product p = good_product();
	struct virgo_gemm_sizes sizes;
	void *part = virgo_shared_alloc(virgo, 65536 - 1024), *last;

	(void)state;
	/* Four blocks of 8 x 8: just enough. */
	check_sizes(p, 8, 8, 8, 1024);
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
	last = virgo_shared_alloc(virgo, 1);
	assert_non_null(last);
	assert_int_equal(virgo_gemm_sizes(virgo, 0, &p, &sizes), -ENOSPC);
	assert_int_equal(virgo_gemm(virgo, 0, &p), -ENOSPC);
	assert_non_null(strstr(virgo_error_text(), "1024 bytes"));
	virgo_shared_free(virgo, last);
	virgo_shared_free(virgo, part);
	assert_int_equal(virgo_gemm(virgo, 0, &p), 0);
}

static void a_unit_with_a_product_is_busy(void **state)
{
	struct virgo_product p = good_product();
	struct virgo_statistics statistics;

	(void)state;
	assert_int_equal(virgo_gemm_wait(virgo, 0), -EINVAL);
	assert_int_equal(virgo_gemm_done(virgo, 0), -EINVAL);
	assert_int_equal(virgo_gemm_start(virgo, 0, &p), 0);
	assert_int_equal(virgo_gemm_start(virgo, 0, &p), -EBUSY);
	assert_int_equal(virgo_gemm(virgo, 0, &p), -EBUSY);
	assert_int_equal(virgo_command(virgo, 0, VIRGO_FUNCT_FLUSH, 0, 0), -EBUSY);
	assert_int_equal(virgo_fence(virgo, 0), -EBUSY);
	while (!virgo_gemm_done(virgo, 0))
		;
	assert_int_equal(virgo_gemm_wait(virgo, 0), 0);
	assert_int_equal(virgo_counters(virgo, 0, &statistics), 0);
	assert_int_equal(statistics.macs, 10 * 12 * 14);
	assert_int_equal(virgo_gemm_wait(virgo, 0), -EINVAL);
	/* Closing waits for the product that was started. */
	assert_int_equal(virgo_gemm_start(virgo, 0, &p), 0);
}

#define ON(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(products_that_make_no_sense_are_told),
		cmocka_unit_test(narrow_results_and_scales_of_integers_are_checked),
		cmocka_unit_test(sums_of_integers_need_a_beta_that_is_a_number),
		ON(a_unit_with_an_error_keeps_it),
		ON(an_error_of_the_product_is_cleared),
		ON(a_c_that_cannot_be_written_is_told),
		ON(a_bias_that_cannot_be_read_is_told_without_any_k),
		ON(a_product_begins_with_the_first_half_of_the_accumulator),
		cmocka_unit_test(the_rounding_mode_of_the_thread_changes_no_result),
		cmocka_unit_test(no_memory_for_a_tile_is_told),
		cmocka_unit_test(tiles_fill_accumulator_and_shared_memory),
		ON(narrow_matrices_get_long_tiles),
		ON(sizes_of_nothing_are_told),
		ON(a_step_is_one_loop),
		ON(successive_steps_use_different_halves),
		ON(a_product_leaves_alone_what_the_program_has),
		ON(too_little_shared_memory_is_told),
		ON(a_unit_with_a_product_is_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
