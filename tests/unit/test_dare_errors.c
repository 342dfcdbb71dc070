/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The DARE model: instructions that fail, their errors, and the state that they leave. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/dare_setup.h"

#define A HOST_BASE
#define B (HOST_BASE + 4 * HOST_PAGE)

/* --- errors ------------------------------------------------------------------------------------------ */

static void an_illegal_word_is_an_error_with_the_word(void **state)
{
	static const uint32_t illegal[] = {
		0, W_ILLEGAL, W_MCFG | 1u << 7, W_MLD(0) | 3u << 10, W_MLD(0) | 1u << 12, W_MGATHER(0, 0) | 1u << 15,
		W_MMA(0, 0, 0) | 1u << 24, W_MSCATTER(0, 0) | 1u << 7, 0x13,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(illegal) / sizeof(illegal[0]); i++) {
		host_run(host, illegal[i], A, 64);
		host_assert_error(host, DARE_ERROR_ILLEGAL, illegal[i], illegal[i], 0);
		assert_int_equal(host_load(host, 0, 0x68), i);
		host_store(host, 0, 0x58, 0);
	}
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_errors), 9);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_instructions), 0);
}

static void the_high_half_of_a_stored_word_does_not_matter(void **state)
{
	(void)state;
	host_store(host, 0, 0x00, 0);
	host_store(host, 0, 0x08, 9);
	host_store(host, 0, 0x10, 0xabcd123400000000 | W_MCFG);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x30), 9);
}

static void after_an_error_everything_is_dropped_until_it_is_cleared(void **state)
{
	(void)state;
	host_run(host, W_MCFG, 0, 4);
	host_run(host, W_ILLEGAL, 0, 0);
	host_run(host, W_MCFG, 0, 5);
	host_run(host, W_MCFG, 0, 99);
	host_assert_error(host, DARE_ERROR_ILLEGAL, W_ILLEGAL, W_ILLEGAL, 0);
	assert_int_equal(host_load(host, 0, 0x68), 1);
	assert_int_equal(host_load(host, 0, 0x20), 32 << 16 | 2);
	assert_int_equal(host_load(host, 0, 0x28), 32 << 16 | 2);
	assert_int_equal(host_load(host, 0, 0x30), 4);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_dropped), 2);
	host_store(host, 0, 0x58, 0);
	for (unsigned int offset = 0x58; offset <= 0x78; offset += 8)
		assert_int_equal(host_load(host, 0, offset), 0);
	host_run(host, W_MCFG, 0, 6);
	assert_int_equal(host_load(host, 0, 0x30), 6);
	assert_int_equal(host_load(host, 0, 0x48), 3);
	assert_int_equal(host_load(host, 0, 0x50), 2);
}

static void a_load_that_fails_changes_no_register(void **state)
{
	uint8_t before[1024];

	(void)state;
	host_run(host, W_MLD(3), A, 64);
	memcpy(before, host_matrix_row(host, 3, 0), 1024);
	host_run(host, W_MLD(3), HOST_BASE + HOST_PAGES * HOST_PAGE - 5 * 64, 64);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD(3), HOST_BASE + HOST_PAGES * HOST_PAGE, 5);
	assert_memory_equal(before, host_matrix_row(host, 3, 0), 1024);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_faults), 1);
	assert_int_equal(host_control_load(host, 0x28), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_rows_loaded), 16);
}

static void a_store_that_fails_has_written_the_rows_before(void **state)
{
	uint64_t end = HOST_BASE + HOST_PAGES * HOST_PAGE;

	(void)state;
	host_run(host, W_MST(3), end - 5 * 64, 64);
	host_assert_error(host, DARE_ERROR_STORE, W_MST(3), end, 5);
	assert_zero(host_bytes(host, 1, end - 5 * 64), 5 * 64);
}

static void a_row_that_crosses_into_a_bad_page_fails_at_its_first_bad_byte(void **state)
{
	uint64_t end = HOST_BASE + HOST_PAGES * HOST_PAGE;

	(void)state;
	host_run(host, W_MLD_B(3), end - 131, 64);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD_B(3), end, 2);
	host_store(host, 0, 0x58, 0);
	host_run(host, W_MLD_B(3), HOST_BASE - 1, 64);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD_B(3), HOST_BASE - 1, 0);
}

static void addresses_wrap_at_the_end_of_the_address_space(void **state)
{
	(void)state;
	host_set_shape(host, 3, 8, 16);
	host_run(host, W_MLD(0), (uint64_t)-0x100, HOST_BASE + 0x100);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD(0), (uint64_t)-0x100, 0);
	host_store(host, 0, 0x58, 0);
	host_run(host, W_MLD(0), HOST_BASE + 0x40, (uint64_t)1 << 63);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD(0), ((uint64_t)1 << 63) + HOST_BASE + 0x40, 1);
	host_store(host, 0, 0x58, 0);
	host_set_shape(host, 1, 64, 16);
	host_run(host, W_MLD(0), (uint64_t)-4, 0);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD(0), (uint64_t)-4, 0);
}

static void mma_of_a_shape_that_is_no_multiple_of_the_element_is_an_error(void **state)
{
	(void)state;
	host_set_shape(host, 16, 6, 16);
	host_run(host, W_MMA_BF16(0, 1, 2), 0, 0);
	host_assert_no_error(host);
	host_run(host, W_MMA(0, 1, 2), 0, 0);
	host_assert_error(host, DARE_ERROR_SHAPE, W_MMA(0, 1, 2), 6, 0);
	host_store(host, 0, 0x58, 0);
	host_set_shape(host, 16, 7, 16);
	host_run(host, W_MMA_I8(0, 1, 2), 0, 0);
	host_assert_no_error(host);
	host_run(host, W_MMA_BF16(0, 1, 2), 0, 0);
	host_assert_error(host, DARE_ERROR_SHAPE, W_MMA_BF16(0, 1, 2), 7, 0);
	host_store(host, 0, 0x58, 0);
	/* loads and stores take any number of bytes */
	host_run(host, W_MLD(0), A, 64);
	host_run(host, W_MST(0), B, 64);
	host_assert_no_error(host);
}

static void a_detached_context_configures_and_multiplies_but_has_no_memory(void **state)
{
	(void)state;
	host_attach(host, 0, 0);
	host_set_shape(host, 2, 8, 2);
	host_run(host, W_MMA(0, 1, 2), 0, 0);
	host_assert_no_error(host);
	host_run(host, W_MLD(0), A, 64);
	host_assert_error(host, DARE_ERROR_DETACHED, W_MLD(0), 0, 0);
	host_attach(host, 0, 3);
	host_run(host, W_MLD(0), A, 64);
	host_assert_no_error(host);
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 3, A), 1024);
}

static void an_address_space_that_is_not_there_leaves_the_context_detached(void **state)
{
	struct dare_context_view view;

	(void)state;
	host_attach(host, 0, 77);
	dare_model_context(host->model, 0, &view);
	assert_false(view.attached);
	host_run(host, W_MST(0), A, 64);
	host_assert_error(host, DARE_ERROR_DETACHED, W_MST(0), 0, 0);
}

static void contexts_have_their_own_registers_and_memory(void **state)
{
	(void)state;
	host_run(host, W_MLD(0), A, 64);
	host_run_in(host, 1, W_MLD(0), A, 64);
	host_run_in(host, 1, W_MST(0), B, 64);
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 1, A), 1024);
	assert_memory_equal(host_bytes(host, 2, B), host_bytes(host, 2, A), 1024);
	assert_memory_not_equal(host_bytes(host, 1, B), host_bytes(host, 2, B), 1024);
	host_run_in(host, 1, W_ILLEGAL, 0, 0);
	host_assert_no_error(host);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start, host_stop)
/* With and without a page table. */
#define MEMORY_TEST(name) \
	TEST(name), { #name " (walks)", name, host_start_walking, host_stop, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_illegal_word_is_an_error_with_the_word),
		TEST(the_high_half_of_a_stored_word_does_not_matter),
		TEST(after_an_error_everything_is_dropped_until_it_is_cleared),
		MEMORY_TEST(a_load_that_fails_changes_no_register),
		MEMORY_TEST(a_store_that_fails_has_written_the_rows_before),
		MEMORY_TEST(a_row_that_crosses_into_a_bad_page_fails_at_its_first_bad_byte),
		MEMORY_TEST(addresses_wrap_at_the_end_of_the_address_space),
		TEST(mma_of_a_shape_that_is_no_multiple_of_the_element_is_an_error),
		TEST(a_detached_context_configures_and_multiplies_but_has_no_memory),
		TEST(an_address_space_that_is_not_there_leaves_the_context_detached),
		MEMORY_TEST(contexts_have_their_own_registers_and_memory),
	};

	return cmocka_run_group_tests_name("errors of the DARE model", tests, NULL, NULL);
}
