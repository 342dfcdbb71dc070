/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libdare's functions on a plain interpreter of the instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fake_dare.h"

static struct fake_dare fake;
static struct dare *dare;
static _Alignas(64) uint8_t memory[8][1024];

static int open_context(void **state)
{
	(void)state;
	dare = fake_dare_open(&fake);
	fake_dare_allow(&fake, memory, sizeof(memory));
	for (size_t i = 0; i < sizeof(memory); i++)
		((uint8_t *)memory)[i] = (uint8_t)(i * 7 + i / 256);
	return dare ? 0 : -1;
}

static int close_context(void **state)
{
	(void)state;
	dare_close(dare);
	return 0;
}

static void check_register(unsigned int number, const void *expected)
{
	assert_int_equal(dare_flush(dare), 0);
	assert_memory_equal(fake.oracle.m[number], expected, 1024);
}

static void a_context_is_closed_with_its_handle(void **state)
{
	struct fake_dare other;
	struct dare *second = fake_dare_open(&other);

	(void)state;
	assert_non_null(second);
	assert_int_equal(other.device.handles, 1);
	dare_close(second);
	assert_int_equal(other.device.handles, 0);
	dare_close(NULL);
}

static void each_load_names_its_register_address_and_stride(void **state)
{
	int (*const loads[])(struct dare *, unsigned int, const void *, int64_t) = {
		dare_mld, dare_mld_h, dare_mld_b
	};
	uint8_t expected[16][64];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int md = 0; md < 8; md++) {
			uint8_t *base = memory[0] + 68 * md;

			assert_int_equal(loads[i](dare, md, base, 128), 0);
			for (int row = 0; row < 16; row++)
				memcpy(expected[row], base + 128 * row, 64);
			check_register(md, expected);
		}
	}
}

static void each_store_names_its_register_address_and_stride(void **state)
{
	int (*const stores[])(struct dare *, unsigned int, void *, int64_t) = {
		dare_mst, dare_mst_h, dare_mst_b
	};
	uint8_t tile[1024];

	(void)state;
	memcpy(tile, memory[0], sizeof(tile));
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int ms3 = 0; ms3 < 8; ms3++) {
			memset(memory[7], 0, 1024);
			dare_mld(dare, ms3, tile, 64);	/* memory that the device does not reach: fails */
			dare_clear_error(dare);
			dare_mld(dare, ms3, memory[0], 64);
			assert_int_equal(stores[i](dare, ms3, memory[7] + 15 * 64, -64), 0);
			assert_int_equal(dare_fence(dare), 0);
			for (int row = 0; row < 16; row++)
				assert_memory_equal(memory[7] + 64 * (15 - row), tile + 64 * row, 64);
		}
	}
}

static void alignment_is_that_of_the_element(void **state)
{
	(void)state;
	assert_int_equal(dare_mld_b(dare, 0, memory[0] + 1, 65), 0);
	assert_int_equal(dare_mst_b(dare, 0, memory[2] + 1, 65), 0);
	assert_int_equal(dare_mld_h(dare, 0, memory[0] + 2, 66), 0);
	assert_int_equal(dare_mst_h(dare, 0, memory[2] + 2, 66), 0);
	assert_int_equal(dare_fence(dare), 0);
	assert_int_equal(dare_mld_h(dare, 0, memory[0] + 1, 64), 0);
	assert_int_equal(dare_fence(dare), -EINVAL);
	dare_clear_error(dare);
	dare_mst(dare, 0, memory[0] + 2, 64);
	assert_int_equal(dare_fence(dare), -EINVAL);
}

/* fp32, small whole numbers: the sums are exact in any order. */
static void mma_multiplies_by_the_transposed_second_source(void **state)
{
	float a[16][16], b[16][16], expected[16][16];

	(void)state;
	for (int i = 0; i < 256; i++) {
		a[i / 16][i % 16] = (float)(i % 7 - 3);
		b[i / 16][i % 16] = (float)(i % 11 - 5);
	}
	for (int m = 0; m < 16; m++) {
		for (int n = 0; n < 16; n++) {
			expected[m][n] = 0;
			for (int k = 0; k < 16; k++)
				expected[m][n] += 2 * a[m][k] * b[n][k];
		}
	}
	memcpy(memory[0], a, 1024);
	memcpy(memory[1], b, 1024);
	dare_mld(dare, 6, memory[0], 64);
	dare_mld(dare, 3, memory[1], 64);
	assert_int_equal(dare_mma(dare, 5, 6, 3), 0);
	assert_int_equal(dare_mma(dare, 5, 6, 3), 0);
	check_register(5, expected);
}

static void mma_of_bf16_and_int8_take_their_own_words(void **state)
{
	(void)state;
	dare_mld(dare, 1, memory[0], 64);
	dare_mld(dare, 2, memory[1], 64);
	assert_int_equal(dare_mma_bf16(dare, 0, 1, 2), 0);
	assert_int_equal(dare_mma_i8(dare, 3, 1, 2), 0);
	dare_flush(dare);
	for (int m = 0; m < 16; m++) {
		for (int n = 0; n < 16; n++) {
			int32_t sum = 0, got;

			for (int k = 0; k < 64; k++)
				sum += (int8_t)memory[0][64 * m + k] * (int8_t)memory[1][64 * n + k];
			memcpy(&got, &fake.oracle.m[3][m][4 * n], 4);
			assert_int_equal(got, sum);
		}
	}
	assert_int_equal(fake.oracle.counters.mma, 2);
	assert_int_equal(fake.oracle.counters.macs_used, 16 * 16 * (32 + 64));
}

static void mgather_takes_a_row_from_each_address(void **state)
{
	int (*const gathers[])(struct dare *, unsigned int, unsigned int) = {
		dare_mgather, dare_mgather_h, dare_mgather_b
	};
	uint8_t expected[16][64];

	(void)state;
	for (unsigned int step = 0; step < 3; step++) {
		memset(memory[7], 0, 1024);
		for (uint64_t row = 0; row < 16; row++) {
			uint64_t address = (uintptr_t)memory[0] + (row * 5 % 16) * 200 + (4u >> step);

			memcpy(memory[7] + 64 * row, &address, 8);
			memcpy(expected[row], (void *)address, 64);
		}
		dare_mld(dare, 2, memory[7], 64);
		assert_int_equal(gathers[step](dare, 4, 2), 0);
		check_register(4, expected);
	}
}

static void mscatter_stores_ms2_at_the_addresses_in_ms1(void **state)
{
	int (*const scatters[])(struct dare *, unsigned int, unsigned int) = {
		dare_mscatter, dare_mscatter_h, dare_mscatter_b
	};

	(void)state;
	for (unsigned int step = 0; step < 3; step++) {
		memset(memory[7], 0, 1024);
		for (uint64_t row = 0; row < 16; row++) {
			uint64_t address = (uintptr_t)memory[2] + (row * 5 % 16) * 200 + (4u >> step);

			memcpy(memory[7] + 64 * row, &address, 8);
		}
		dare_mld(dare, 2, memory[7], 64);
		dare_mld(dare, 6, memory[0] + 4 * step, 64);
		assert_int_equal(scatters[step](dare, 6, 2), 0);
		assert_int_equal(dare_fence(dare), 0);
		for (unsigned int row = 0; row < 16; row++)
			assert_memory_equal(memory[2] + (row * 5 % 16) * 200 + (4u >> step),
					    memory[0] + 4 * step + 64 * row, 64);
	}
}

static void mcfg_sets_the_csr_that_it_names(void **state)
{
	uint64_t value;

	(void)state;
	dare_mcfg(dare, DARE_CSR_MATRIX_M, 3);
	dare_mcfg(dare, DARE_CSR_MATRIX_K, 20);
	dare_mcfg(dare, DARE_CSR_MATRIX_N, 7);
	assert_int_equal(dare_read_csr(dare, DARE_CSR_MATRIX_M, &value), 0);
	assert_int_equal(value, 3);
	assert_int_equal(dare_read_csr(dare, DARE_CSR_MATRIX_K, &value), 0);
	assert_int_equal(value, 20);
	assert_int_equal(dare_read_csr(dare, DARE_CSR_MATRIX_N, &value), 0);
	assert_int_equal(value, 7);
	assert_int_equal(dare_read_csr(dare, (enum dare_csr)3, &value), -EINVAL);
	assert_int_equal(dare_read_csr(dare, DARE_CSR_MATRIX_M, NULL), -EINVAL);
}

static void a_raw_word_is_dispatched_with_its_values(void **state)
{
	(void)state;
	/* mld m5, (x0), x0 and mma m1, m5, m5 by hand, from the facts about the encodings */
	assert_int_equal(dare_dispatch(dare, 0x0400082bu | 5u << 7, (uintptr_t)memory[0], 64), 0);
	assert_int_equal(dare_dispatch(dare, 0x1000002bu | 1u << 15 | 5u << 18 | 5u << 21, 1, 2), 0);
	assert_int_equal(dare_fence(dare), 0);
	assert_memory_equal(fake.oracle.m[5], memory[0], 1024);
	assert_int_equal(fake.oracle.counters.mma, 1);
	assert_int_equal(fake.device.values, 4);
}

static void a_register_that_is_not_there_is_refused(void **state)
{
	(void)state;
	assert_int_equal(dare_mld(dare, 8, memory, 64), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "mld: register m8"));
	assert_int_equal(dare_mst(dare, 8, memory, 64), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "mst: register m8"));
	assert_int_equal(dare_mma(dare, 8, 0, 0), -EINVAL);
	assert_int_equal(dare_mma(dare, 0, 9, 0), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "mma: register m9"));
	assert_int_equal(dare_mma(dare, 0, 0, 10), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "mma: register m10"));
	assert_int_equal(dare_mma_bf16(dare, 8, 0, 0), -EINVAL);
	assert_int_equal(dare_mma_i8(dare, 8, 0, 0), -EINVAL);
	assert_int_equal(dare_mgather(dare, 0, 8), -EINVAL);
	assert_int_equal(dare_mgather(dare, 8, 0), -EINVAL);
	assert_int_equal(dare_mscatter(dare, 8, 0), -EINVAL);
	assert_int_equal(dare_mscatter(dare, 0, 8), -EINVAL);
	assert_int_equal(dare_mld(dare, UINT32_MAX, memory, 64), -EINVAL);
	dare_flush(dare);
	assert_int_equal(fake.device.values, 0);
}

static void no_function_takes_a_null_handle(void **state)
{
	struct dare_error_info info;
	struct dare_statistics statistics;
	uint64_t value;
	float number[1];

	(void)state;
	assert_int_equal(dare_open(NULL, NULL), -EINVAL);
	assert_int_equal(dare_mcfg(NULL, DARE_CSR_MATRIX_M, 1), -EINVAL);
	assert_int_equal(dare_mld(NULL, 0, memory, 64), -EINVAL);
	assert_int_equal(dare_mst(NULL, 0, memory, 64), -EINVAL);
	assert_int_equal(dare_mma(NULL, 0, 0, 0), -EINVAL);
	assert_int_equal(dare_mgather(NULL, 0, 0), -EINVAL);
	assert_int_equal(dare_mscatter(NULL, 0, 0), -EINVAL);
	assert_int_equal(dare_dispatch(NULL, 0, 0, 0), -EINVAL);
	assert_int_equal(dare_flush(NULL), -EINVAL);
	assert_int_equal(dare_fence(NULL), -EINVAL);
	assert_int_equal(dare_error(NULL, &info), -EINVAL);
	assert_int_equal(dare_error(dare, NULL), -EINVAL);
	assert_int_equal(dare_clear_error(NULL), -EINVAL);
	assert_int_equal(dare_reset(NULL), -EINVAL);
	assert_int_equal(dare_read_csr(NULL, DARE_CSR_MATRIX_M, &value), -EINVAL);
	assert_int_equal(dare_counters(NULL, &statistics), -EINVAL);
	assert_int_equal(dare_counters(dare, NULL), -EINVAL);
	assert_null(dare_alloc(NULL, 1));
	assert_int_equal(errno, EINVAL);
	assert_null(dare_alloc(dare, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(dare_free(NULL, memory), -EINVAL);
	assert_int_equal(dare_free(dare, NULL), 0);
	assert_int_equal(dare_register(NULL, memory, 1), -EINVAL);
	assert_int_equal(dare_register(dare, NULL, 1), -EINVAL);
	assert_int_equal(dare_unregister(NULL, memory, 1), -EINVAL);
	assert_int_equal(dare_gemm(NULL, 0, 1, 1, 1, number, 1, number, 1, number, 1), -EINVAL);
}

static void instructions_are_posted_whole_and_in_batches(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(dare_mld(dare, 0, memory, 64), 0);
	assert_in_range(fake.device.posts, 1, 10);
	assert_int_equal(fake.device.values % 3, 0);
	assert_int_equal(dare_oracle_stream_missing(&fake.oracle), 0);
	assert_int_equal(dare_fence(dare), 0);
	assert_int_equal(fake.device.values, 3000);
	assert_int_equal(fake.oracle.completed, 1000);
}

static void a_device_that_is_gone_is_an_error_of_the_call(void **state)
{
	int error = 0;

	(void)state;
	fake.device.post_error = -ENOTCONN;
	for (int i = 0; i < 1000 && !error; i++)
		error = dare_mma(dare, 0, 1, 2);
	assert_int_equal(error, -ENOTCONN);
	dare_mma(dare, 0, 1, 2);
	assert_int_equal(dare_fence(dare), -ENOTCONN);
	dare_mma(dare, 0, 1, 2);
	assert_int_equal(dare_flush(dare), -ENOTCONN);
	assert_int_equal(fake.oracle.completed, 0);
}

struct failure {
	uint32_t word;
	uint64_t rs1, rs2;
	enum dare_error error;
	int answer;
	uint64_t address;
	unsigned int row;
	const char *text;
};

static void check_failure(const struct failure *failure)
{
	struct dare_error_info info;

	assert_int_equal(dare_mma(dare, 0, 0, 0), 0);
	assert_int_equal(dare_dispatch(dare, failure->word, failure->rs1, failure->rs2), 0);
	assert_int_equal(dare_mma(dare, 0, 0, 0), 0);
	assert_int_equal(dare_fence(dare), failure->answer);
	assert_non_null(strstr(dare_error_text(), failure->text));
	assert_int_equal(dare_fence(dare), failure->answer);	/* until it is cleared */
	assert_int_equal(dare_error(dare, &info), 0);
	assert_int_equal(info.error, failure->error);
	assert_int_equal(info.instruction, failure->word);
	assert_int_equal(info.position, 1);
	assert_true(info.address == failure->address);
	assert_int_equal(info.row, failure->row);
	assert_non_null(strstr(info.text, failure->text));
	assert_non_null(strstr(info.text, "instruction 1, "));
	assert_int_equal(fake.oracle.counters.dropped, 1);
	assert_int_equal(dare_clear_error(dare), 0);
	assert_int_equal(dare_fence(dare), 0);
	assert_int_equal(dare_error(dare, &info), 0);
	assert_int_equal(info.error, DARE_ERROR_NONE);
	assert_string_equal(info.text, "");
	assert_int_equal(dare_reset(dare), 0);
	fake.oracle.counters.dropped = 0;
}

static void an_instruction_that_failed_is_told_by_fence_and_error(void **state)
{
	const uint64_t base = (uintptr_t)memory, end = base + sizeof(memory);
	const struct failure failures[] = {
		{ 0, 1, 2, DARE_ERROR_ILLEGAL, -EILSEQ, 0, 0, "no instruction of DARE" },
		{ 0xfe00002bu, 3, 1, DARE_ERROR_CSR, -EINVAL, 3, 0, "value 3: mcfg of a CSR" },
		{ 0xfe00002bu, 0, 17, DARE_ERROR_SHAPE, -EINVAL, 17, 0, "value 17: mcfg of a value" },
		{ 0x0400082bu, base + 2, 64, DARE_ERROR_MISALIGNED, -EINVAL, base + 2, 0, "mld m0" },
		{ 0x0400082bu, end - 128, 64, DARE_ERROR_LOAD, -EFAULT, end, 2, "row 2, address 0x" },
		{ 0x0c00082bu, end - 64, 64, DARE_ERROR_STORE, -EFAULT, end, 1, "cannot be written" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		check_failure(&failures[i]);
}

static void a_context_without_memory_answers_enxio(void **state)
{
	(void)state;
	fake.oracle.memory = NULL;
	dare_mld(dare, 0, memory, 64);
	assert_int_equal(dare_fence(dare), -ENXIO);
}

static void an_instruction_dispatched_before_an_error_is_cleared_stays_dropped(void **state)
{
	(void)state;
	dare_dispatch(dare, 0, 0, 0);
	dare_mld(dare, 1, memory, 64);		/* still in the buffer */
	assert_int_equal(dare_clear_error(dare), 0);
	dare_mld(dare, 2, memory, 64);
	assert_int_equal(dare_fence(dare), 0);
	assert_int_equal(fake.oracle.counters.dropped, 1);
	assert_int_equal(fake.oracle.counters.mld, 1);
}

static void reset_makes_registers_and_csrs_new(void **state)
{
	static const uint8_t zeros[1024];
	uint64_t value;

	(void)state;
	dare_mcfg(dare, DARE_CSR_MATRIX_M, 3);
	dare_mld(dare, 2, memory, 64);
	assert_int_equal(dare_reset(dare), 0);
	check_register(2, zeros);
	dare_read_csr(dare, DARE_CSR_MATRIX_M, &value);
	assert_int_equal(value, 16);
	assert_int_equal(fake.oracle.counters.mld, 1);	/* it was executed before */
}

static void counters_come_in_the_order_of_their_list(void **state)
{
	struct dare_statistics statistics;
	uint64_t expected = 1000;

	(void)state;
	assert_int_equal(dare_counters(dare, &statistics), 0);
#define _(name, meaning) assert_int_equal(statistics.name, expected++);
	DARE_COUNTERS(_)
#undef _
	assert_int_equal(sizeof(statistics), 8 * DARE_COUNTER_COUNT);
}

static void bf16_is_the_nearest_and_the_even_one_of_two(void **state)
{
	static const struct {
		float value;
		uint16_t bits;
	} cases[] = {
		{ 0.0f, 0 }, { -0.0f, 0x8000 }, { 1.0f, 0x3f80 }, { -2.5f, 0xc020 },
		{ 0x1.01p0f, 0x3f80 }, { 0x1.03p0f, 0x3f82 }, { 0x1.010002p0f, 0x3f81 },
		{ INFINITY, 0x7f80 }, { 0x1.fffffep127f, 0x7f80 }, { 0x1p-133f, 1 }, { 0x1p-149f, 0 },
	};
	uint32_t low_nan = 0x7f800001;
	float nan_with_low_payload;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(dare_bf16(cases[i].value), cases[i].bits);
	memcpy(&nan_with_low_payload, &low_nan, 4);
	assert_true(isnan(dare_from_bf16(dare_bf16(nan_with_low_payload))));
	for (uint32_t bits = 0; bits <= 0xffff; bits++) {
		if (!isnan(dare_from_bf16((uint16_t)bits)))
			assert_int_equal(dare_bf16(dare_from_bf16((uint16_t)bits)), bits);
	}
	assert_true(dare_from_bf16(0x3f81) == 0x1.02p0f);
}

static void bad_options_are_refused(void **state)
{
	struct dare *other = dare;

	(void)state;
	assert_int_equal(dare_open(&other, &(struct dare_options){ .transport = "pigeon" }), -EINVAL);
	assert_null(other);
	assert_non_null(strstr(dare_error_text(), "pigeon"));
	assert_int_equal(dare_open(&other, &(struct dare_options){ .device = "maple0" }), -EINVAL);
	assert_non_null(strstr(dare_error_text(), "maple0"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_context_is_closed_with_its_handle),
		TEST(each_load_names_its_register_address_and_stride),
		TEST(each_store_names_its_register_address_and_stride),
		TEST(alignment_is_that_of_the_element),
		TEST(mma_multiplies_by_the_transposed_second_source),
		TEST(mma_of_bf16_and_int8_take_their_own_words),
		TEST(mgather_takes_a_row_from_each_address),
		TEST(mscatter_stores_ms2_at_the_addresses_in_ms1),
		TEST(mcfg_sets_the_csr_that_it_names),
		TEST(a_raw_word_is_dispatched_with_its_values),
		TEST(a_register_that_is_not_there_is_refused),
		TEST(no_function_takes_a_null_handle),
		TEST(instructions_are_posted_whole_and_in_batches),
		TEST(a_device_that_is_gone_is_an_error_of_the_call),
		TEST(an_instruction_that_failed_is_told_by_fence_and_error),
		TEST(a_context_without_memory_answers_enxio),
		TEST(an_instruction_dispatched_before_an_error_is_cleared_stays_dropped),
		TEST(reset_makes_registers_and_csrs_new),
		TEST(counters_come_in_the_order_of_their_list),
		TEST(bf16_is_the_nearest_and_the_even_one_of_two),
		TEST(bad_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
