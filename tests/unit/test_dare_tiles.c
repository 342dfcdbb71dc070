/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The DARE model: loads and stores of tiles, gathered and scattered rows. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/dare_setup.h"

#define A HOST_BASE
#define B (HOST_BASE + 4 * HOST_PAGE)

/* --- mld and mst --------------------------------------------------------------------------- */

static void mld_loads_rows_of_k_bytes_and_clears_the_rest(void **state)
{
	(void)state;
	/* Twice: rows may lie where other registers were. */
	host_run(host, W_MLD(2), A, 64);
	host_run(host, W_MLD(2), A, 64);
	host_set_shape(host, 5, 12, 16);
	host_run(host, W_MLD(2), B + 8, 100);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 5; row++) {
		assert_memory_equal(host_matrix_row(host, 2, row), host_bytes(host, 1, B + 8 + 100 * row), 12);
		assert_zero(host_matrix_row(host, 2, row) + 12, 52);
	}
	assert_zero(host_matrix_row(host, 2, 5), 11 * 64);
	assert_zero(host_matrix_row(host, 1, 0), 1024);
	assert_zero(host_matrix_row(host, 3, 0), 1024);
}

static void mst_stores_rows_of_k_bytes_and_touches_nothing_else(void **state)
{
	uint8_t before[8 * HOST_PAGE], tile[5][12];

	(void)state;
	host_run(host, W_MLD(7), A, 64);
	for (unsigned int row = 0; row < 5; row++)
		memcpy(tile[row], host_bytes(host, 1, A + 64 * row), 12);
	memcpy(before, host_bytes(host, 1, HOST_BASE), sizeof(before));
	host_set_shape(host, 5, 12, 16);
	host_run(host, W_MST(7), B + 8, 100);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 5; row++)
		memcpy(before + B + 8 - HOST_BASE + 100 * row, tile[row], 12);
	assert_memory_equal(before, host_bytes(host, 1, HOST_BASE), sizeof(before));
}

static void a_stride_may_be_negative_or_0(void **state)
{
	(void)state;
	host_set_shape(host, 4, 8, 16);
	host_run(host, W_MLD(0), A + 300, (uint64_t)-100);
	for (unsigned int row = 0; row < 4; row++)
		assert_memory_equal(host_matrix_row(host, 0, row), host_bytes(host, 1, A + 300 - 100 * row), 8);
	host_run(host, W_MLD(0), A + 300, 0);
	for (unsigned int row = 0; row < 4; row++)
		assert_memory_equal(host_matrix_row(host, 0, row), host_bytes(host, 1, A + 300), 8);
	host_assert_no_error(host);
}

static void rows_of_a_store_are_written_in_order(void **state)
{
	uint8_t last[8];

	(void)state;
	host_run(host, W_MLD(0), A, 64);
	memcpy(last, host_bytes(host, 1, A + 15 * 64), 8);
	host_set_shape(host, 16, 8, 16);
	host_run(host, W_MST(0), B, 0);
	host_assert_no_error(host);
	assert_memory_equal(host_bytes(host, 1, B), last, 8);
}

static void rows_may_cross_pages(void **state)
{
	uint64_t address = A + HOST_PAGE - 20;

	(void)state;
	host_run(host, W_MLD(4), address, 64);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 16; row++)
		assert_memory_equal(host_matrix_row(host, 4, row), host_bytes(host, 1, address + 64 * row), 64);
	host_set_shape(host, 16, 24, 16);
	host_run(host, W_MLD(5), address, 64);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 16; row++) {
		assert_memory_equal(host_matrix_row(host, 5, row), host_bytes(host, 1, address + 64 * row), 24);
		assert_zero(host_matrix_row(host, 5, row) + 24, 40);
	}
	host_set_shape(host, 9, 64, 16);
	host_run(host, W_MST(4), B + HOST_PAGE - 4, HOST_PAGE);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 9; row++)
		assert_memory_equal(host_bytes(host, 1, B + HOST_PAGE * (row + 1) - 4),
				    host_bytes(host, 1, address + 64 * row), 64);
}

static void each_suffix_has_its_alignment(void **state)
{
	static const struct {
		uint32_t word;
		unsigned int element;
	} forms[] = {
		{ W_MLD(1), 4 }, { W_MLD_H(1), 2 }, { W_MLD_B(1), 1 },
		{ W_MST(1), 4 }, { W_MST_H(1), 2 }, { W_MST_B(1), 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (unsigned int off = 0; off < 4; off++) {
			host_run(host, forms[i].word, B + off, 128);
			if (off % forms[i].element)
				host_assert_error(host, DARE_ERROR_MISALIGNED, forms[i].word, B + off, 0);
			else
				host_assert_no_error(host);
			host_store(host, 0, 0x58, 0);
			host_run(host, forms[i].word, B, 128 + off);
			if (off % forms[i].element)
				host_assert_error(host, DARE_ERROR_MISALIGNED, forms[i].word, 128 + off, 0);
			else
				host_assert_no_error(host);
			host_store(host, 0, 0x58, 0);
		}
	}
}

static void the_stride_of_a_single_row_must_be_aligned_too(void **state)
{
	(void)state;
	host_set_shape(host, 1, 64, 16);
	host_run(host, W_MLD(1), A, 2);
	host_assert_error(host, DARE_ERROR_MISALIGNED, W_MLD(1), 2, 0);
}

static void a_misaligned_store_has_written_nothing(void **state)
{
	uint8_t before[HOST_PAGE];

	(void)state;
	memcpy(before, host_bytes(host, 1, B), sizeof(before));
	host_run(host, W_MST(1), B, 66);
	host_assert_error(host, DARE_ERROR_MISALIGNED, W_MST(1), 66, 0);
	assert_memory_equal(before, host_bytes(host, 1, B), sizeof(before));
}

/* --- mgather and mscatter ------------------------------------------------------------------------ */

static void spread(uint64_t addresses[16], uint64_t base)
{
	for (unsigned int row = 0; row < 16; row++)
		addresses[row] = base + (row * 7 % 16) * 204;
}

static void mgather_loads_each_row_from_its_own_address(void **state)
{
	uint64_t addresses[16];

	(void)state;
	spread(addresses, A);
	host_set_addresses(host, 3, addresses);
	host_set_shape(host, 11, 40, 16);
	host_run(host, W_MGATHER(6, 3), 0, 0);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 11; row++) {
		assert_memory_equal(host_matrix_row(host, 6, row), host_bytes(host, 1, addresses[row]), 40);
		assert_zero(host_matrix_row(host, 6, row) + 40, 24);
	}
	assert_zero(host_matrix_row(host, 6, 11), 5 * 64);
}

static void mgather_may_replace_its_own_addresses(void **state)
{
	uint64_t addresses[16];

	(void)state;
	spread(addresses, A);
	host_set_addresses(host, 3, addresses);
	host_run(host, W_MGATHER(3, 3), 0, 0);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 16; row++)
		assert_memory_equal(host_matrix_row(host, 3, row), host_bytes(host, 1, addresses[row]), 64);
}

static void mscatter_stores_each_row_to_its_own_address(void **state)
{
	uint8_t before[4 * HOST_PAGE], rows[16][64];
	uint64_t addresses[16];

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows); i++)
		rows[i / 64][i % 64] = (uint8_t)(i * 3 + 1);
	spread(addresses, B);
	host_set_addresses(host, 0, addresses);
	host_set_matrix(host, 5, rows);
	host_set_shape(host, 16, 36, 16);
	memcpy(before, host_bytes(host, 1, B), sizeof(before));
	host_run(host, W_MSCATTER(5, 0), 0, 0);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 16; row++)
		memcpy(before + (addresses[row] - B), rows[row], 36);
	assert_memory_equal(before, host_bytes(host, 1, B), sizeof(before));
}

static void a_register_may_be_scattered_to_the_addresses_in_itself(void **state)
{
	uint64_t addresses[16], stored;

	(void)state;
	spread(addresses, B);
	host_set_addresses(host, 2, addresses);
	host_set_shape(host, 16, 8, 16);
	host_run(host, W_MSCATTER(2, 2), 0, 0);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 16; row++) {
		memcpy(&stored, host_bytes(host, 1, addresses[row]), 8);
		assert_int_equal(stored, addresses[row]);
	}
}

static void a_misaligned_gathered_address_is_an_error_of_its_row(void **state)
{
	uint64_t addresses[16];
	uint8_t before[64];

	(void)state;
	spread(addresses, A);
	addresses[9] += 2;
	host_set_addresses(host, 1, addresses);
	memcpy(before, host_matrix_row(host, 4, 0), 64);
	host_run(host, W_MGATHER(4, 1), 0, 0);
	host_assert_error(host, DARE_ERROR_MISALIGNED, W_MGATHER(4, 1), addresses[9], 9);
	assert_memory_equal(before, host_matrix_row(host, 4, 0), 64);
	host_store(host, 0, 0x58, 0);
	host_set_shape(host, 9, 64, 16);
	host_run(host, W_MGATHER(4, 1), 0, 0);
	host_assert_no_error(host);
	host_set_shape(host, 16, 64, 16);
	host_run(host, W_MGATHER_SIZED(1, 4, 1), 0, 0);
	host_assert_no_error(host);
	host_run(host, W_MGATHER_B(4, 1), 0, 0);
	host_assert_no_error(host);
}

static void rows_before_a_misaligned_one_are_scattered(void **state)
{
	uint8_t old[64];
	uint64_t addresses[16];

	(void)state;
	spread(addresses, B);
	addresses[3] |= 1;
	host_set_addresses(host, 1, addresses);
	memcpy(old, host_bytes(host, 1, addresses[4]), 64);
	host_run(host, W_MSCATTER(2, 1), 0, 0);
	host_assert_error(host, DARE_ERROR_MISALIGNED, W_MSCATTER(2, 1), addresses[3], 3);
	for (unsigned int row = 0; row < 3; row++)
		assert_zero(host_bytes(host, 1, addresses[row]), 64);
	assert_memory_equal(old, host_bytes(host, 1, addresses[4]), 64);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start, host_stop)
/* With and without a page table. */
#define MEMORY_TEST(name) \
	TEST(name), { #name " (walks)", name, host_start_walking, host_stop, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		MEMORY_TEST(mld_loads_rows_of_k_bytes_and_clears_the_rest),
		MEMORY_TEST(mst_stores_rows_of_k_bytes_and_touches_nothing_else),
		MEMORY_TEST(a_stride_may_be_negative_or_0),
		MEMORY_TEST(rows_of_a_store_are_written_in_order),
		MEMORY_TEST(rows_may_cross_pages),
		TEST(each_suffix_has_its_alignment),
		TEST(the_stride_of_a_single_row_must_be_aligned_too),
		TEST(a_misaligned_store_has_written_nothing),
		MEMORY_TEST(mgather_loads_each_row_from_its_own_address),
		MEMORY_TEST(mgather_may_replace_its_own_addresses),
		MEMORY_TEST(mscatter_stores_each_row_to_its_own_address),
		TEST(a_register_may_be_scattered_to_the_addresses_in_itself),
		TEST(a_misaligned_gathered_address_is_an_error_of_its_row),
		MEMORY_TEST(rows_before_a_misaligned_one_are_scattered),
	};

	return cmocka_run_group_tests_name("tiles of the DARE model", tests, NULL, NULL);
}
