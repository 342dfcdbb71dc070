/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* DARE on the embedded and on the daemon transport: a program sees the same on both. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/lib/dare_transports.h"

#define CONTEXTS 8	/* of a device; the default */
#define PAGE 4096

/* --- contexts ---------------------------------------------------------------- */

static void each_open_has_registers_of_its_own(void **state)
{
	struct mimic_device *one = open_or_fail("dare0"), *two = open_or_fail("dare0");
	struct tile a, b, from_one = { 0 }, from_two = { 0 };

	(void)state;
	assert_string_equal(mimic_device_name(one), "dare0");
	assert_string_equal(mimic_device_name(two), "dare0");
	assert_ptr_not_equal(one, two);
	tile_fill(&a, 1);
	tile_fill(&b, 2);
	context_dispatch(one, WORD_MLD(3), address_of(&a), 64);
	context_dispatch(two, WORD_MLD(3), address_of(&b), 64);
	context_dispatch(one, WORD_MST(3), address_of(&from_one), 64);
	context_dispatch(two, WORD_MCFG, CSR_M, 5);
	context_dispatch(two, WORD_MST(3), address_of(&from_two), 64);
	assert_int_equal(context_fence(one) & 7, 0);
	assert_int_equal(context_fence(two) & 7, 0);
	assert_memory_equal(&from_one, &a, sizeof(a));
	assert_memory_equal(&from_two, &b, 5 * 64);
	assert_true(from_two.at[5][0] == 0);
	assert_int_equal(context_load(one, DARE_MATRIX_M), 16);
	assert_int_equal(context_load(two, DARE_MATRIX_M), 5);
	assert_int_not_equal(context_load(one, DARE_IDENTIFY), context_load(two, DARE_IDENTIFY));
	mimic_device_close(one);
	mimic_device_close(two);
}

static void contexts_run_out_and_come_back_as_after_power_on(void **state)
{
	struct mimic_device *devices[CONTEXTS];

	(void)state;
	for (unsigned int i = 0; i < CONTEXTS; i++)
		devices[i] = open_or_fail("dare0");
	assert_int_equal(try_open("dare0"), -EBUSY);
	assert_true(strlen(mimic_error_text()) > 0);
	context_dispatch(devices[3], WORD_MCFG, CSR_N, 7);
	assert_int_equal(context_load(devices[3], DARE_MATRIX_N), 7);
	mimic_device_close(devices[3]);
	devices[3] = open_or_fail("dare0");
	assert_int_equal(context_load(devices[3], DARE_MATRIX_N), 16);
	assert_int_equal(context_load(devices[3], DARE_DISPATCHED), 0);
	assert_int_equal(context_counter(devices[3], DARE_COUNTER_mcfg), 0);
	assert_int_equal(try_open("dare0"), -EBUSY);
	for (unsigned int i = 0; i < CONTEXTS; i++)
		mimic_device_close(devices[i]);
	assert_int_equal(try_open("dare0"), 0);
}

static void a_name_without_a_number_means_the_device_with_most_room(void **state)
{
	struct mimic_device *first = open_or_fail("dare"), *second = open_or_fail("dare");
	struct mimic_device *others[2 * CONTEXTS - 2];

	(void)state;
	assert_string_equal(mimic_device_name(first), "dare0");
	assert_string_equal(mimic_device_name(second), "dare1");
	for (unsigned int i = 0; i < 2 * CONTEXTS - 2; i++)
		others[i] = open_or_fail("dare");
	assert_int_equal(try_open("dare"), -EBUSY);
	mimic_device_close(second);
	second = open_or_fail("dare");
	assert_string_equal(mimic_device_name(second), "dare1");
	for (unsigned int i = 0; i < 2 * CONTEXTS - 2; i++)
		mimic_device_close(others[i]);
	mimic_device_close(first);
	mimic_device_close(second);
}

static void names_that_mean_nothing_are_refused(void **state)
{
	(void)state;
	assert_int_equal(try_open("dare2"), -ENODEV);
	assert_int_equal(try_open("dare64"), -ENODEV);
	assert_int_equal(try_open("dare@0"), -ENOENT);
	assert_int_equal(try_open("dare00"), -ENOENT);
	assert_int_equal(try_open("dare0/0"), -ENOENT);
	assert_int_equal(try_open("dare-1"), -ENOENT);
	assert_int_equal(try_open("darex"), -ENOENT);
	assert_int_equal(try_open("dar"), -ENOENT);
}

static void a_program_has_one_page_and_no_other(void **state)
{
	struct mimic_device *device = open_or_fail("dare0"), *neighbour = open_or_fail("dare0");
	struct mimic_access access = { .offset = DARE_MATRIX_M, .size = 8, .page = 1 };
	uint64_t values[3] = { 1, 2, 3 };

	(void)state;
	for (access.page = 1; access.page < 16; access.page++) {
		access.is_write = 0;
		access.data = 77;
		assert_int_equal(mimic_device_access(device, &access), 0);
		assert_int_equal(access.data, 0);
		assert_int_equal(mimic_device_load(device, &access, values, 3), 3);
		assert_int_equal(values[0] | values[1] | values[2], 0);
	}
	access = (struct mimic_access){ .offset = DARE_RS1, .size = 8, .page = 1, .is_write = 1, .data = 99 };
	assert_int_equal(mimic_device_access(device, &access), 0);
	values[0] = WORD_MCFG;
	access.offset = DARE_STREAM;
	for (access.page = 1; access.page < 16; access.page++)
		assert_int_equal(mimic_device_post(device, &access, values, 3), 3);
	/* Neither the control page (1 before ours, as pages go) nor another context has heard of it. */
	assert_int_equal(context_load(neighbour, DARE_RS1), 0);
	assert_int_equal(context_load(neighbour, DARE_DISPATCHED), 0);
	assert_int_equal(context_load(neighbour, DARE_STATUS) >> DARE_STATUS_MISSING_SHIFT, 0);
	assert_int_equal(context_load(device, DARE_DISPATCHED), 0);
	mimic_device_close(device);
	mimic_device_close(neighbour);
}

static void counters_are_those_of_the_context(void **state)
{
	struct mimic_device *one = open_or_fail("dare0"), *two = open_or_fail("dare0");
	struct tile a, b, c = { 0 };

	(void)state;
	tile_fill(&a, 3);
	tile_fill(&b, 4);
	context_multiply(one, &c, &a, &b);
	assert_int_equal(context_counter(one, DARE_COUNTER_mma), 1);
	assert_int_equal(context_counter(one, DARE_COUNTER_mld), 3);
	assert_int_equal(context_counter(one, DARE_COUNTER_bytes_stored), 1024);
	assert_int_equal(context_counter(two, DARE_COUNTER_mma), 0);
	assert_int_equal(context_counter(two, DARE_COUNTER_mld), 0);
	assert_int_equal(context_counter(two, DARE_COUNTER_bytes_stored), 0);
	mimic_device_close(one);
	mimic_device_close(two);
}

static void a_closed_handle_leaves_the_other_contexts_alone(void **state)
{
	struct mimic_device *one = open_or_fail("dare0"), *two = open_or_fail("dare0");
	struct tile a, out = { 0 };

	(void)state;
	tile_fill(&a, 5);
	context_dispatch(two, WORD_MLD(1), address_of(&a), 64);
	mimic_device_close(one);
	context_dispatch(two, WORD_MST(1), address_of(&out), 64);
	assert_int_equal(context_fence(two) & 7, 0);
	assert_memory_equal(&out, &a, sizeof(a));
	mimic_device_close(two);
}

/* --- work ---------------------------------------------------------------------- */

static void a_product_is_that_of_a_plain_loop(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	struct tile a, b, c, expected;

	(void)state;
	tile_fill(&a, 6);
	tile_fill(&b, 7);
	tile_fill(&c, 8);
	expected = c;
	tile_multiply(&expected, &a, &b);
	context_multiply(device, &c, &a, &b);
	assert_memory_equal(&c, &expected, sizeof(c));
	mimic_device_close(device);
}

static void posts_come_before_the_next_access(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	static uint64_t words[3000];
	struct tile a, out = { 0 };

	(void)state;
	tile_fill(&a, 9);
	/* More than a ring holds of 1 word commands, with the last one to be seen. */
	for (size_t i = 0; i < 999; i++)
		memcpy(&words[3 * i], (uint64_t[]){ WORD_MLD(i % 8), address_of(&a), 64 }, 24);
	memcpy(&words[3 * 999], (uint64_t[]){ WORD_MST(7), address_of(&out), 64 }, 24);
	for (unsigned int round = 1; round <= 4; round++) {
		memset(&out, 0, sizeof(out));
		context_post(device, words, 3000);
		assert_int_equal(context_load(device, DARE_DISPATCHED), 1000 * round);
		context_fence(device);
		assert_int_equal(context_load(device, DARE_COMPLETED), 1000 * round);
		assert_memory_equal(&out, &a, sizeof(a));
	}
	mimic_device_close(device);
}

static void posted_registers_and_instructions_keep_their_order(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	struct mimic_access rs1 = { .offset = DARE_RS1, .size = 8 };
	struct mimic_access rs2 = { .offset = DARE_RS2, .size = 8 };
	struct mimic_access instruction = { .offset = DARE_INSTRUCTION, .size = 8 };
	const uint64_t csr = CSR_M, word = WORD_MCFG;

	(void)state;
	for (uint64_t m = 1; m <= 16; m++) {
		assert_int_equal(mimic_device_post(device, &rs1, &csr, 1), 1);
		assert_int_equal(mimic_device_post(device, &rs2, &m, 1), 1);
		assert_int_equal(mimic_device_post(device, &instruction, &word, 1), 1);
		assert_int_equal(context_load(device, DARE_MATRIX_M), m);
	}
	mimic_device_close(device);
}

static void posts_before_a_close_reach_memory(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	struct tile a, out = { 0 };
	const uint64_t words[] = {
		WORD_MLD(4), address_of(&a), 64, WORD_MST(4), address_of(&out), 64,
	};

	(void)state;
	tile_fill(&a, 10);
	context_post(device, words, 6);
	mimic_device_close(device);
	assert_memory_equal(&out, &a, sizeof(a));
}

static void an_instruction_in_pieces_of_a_stream_is_one(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	const uint64_t words[] = { WORD_MCFG, CSR_K, 32 };

	(void)state;
	context_post(device, words, 1);
	assert_int_equal(context_load(device, DARE_STATUS) >> DARE_STATUS_MISSING_SHIFT, 2);
	context_post(device, words + 1, 1);
	assert_int_equal(context_load(device, DARE_STATUS) >> DARE_STATUS_MISSING_SHIFT, 1);
	context_post(device, words + 2, 1);
	assert_int_equal(context_load(device, DARE_MATRIX_K), 32);
	mimic_device_close(device);
}

static void rows_of_every_length_are_moved_and_nothing_else(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	unsigned char *from = malloc(16 * 100), *to = malloc(16 * 100);
	const uint32_t mld_b = 0x0400002bu, mst_b = 0x0c00002bu;

	(void)state;
	for (unsigned int i = 0; i < 16 * 100; i++)
		from[i] = (unsigned char)(i * 31 + 1);
	for (unsigned int k = 1; k <= 64; k++) {
		memset(to, 0xee, 16 * 100);
		context_dispatch(device, WORD_MCFG, CSR_K, k);
		context_dispatch(device, mld_b, address_of(from) + 1, 99);
		context_dispatch(device, mst_b, address_of(to) + 3, 97);
		assert_int_equal(context_fence(device) & 7, 0);
		for (unsigned int row = 0; row < 16; row++) {
			assert_memory_equal(to + 3 + row * 97, from + 1 + row * 99, k);
			assert_int_equal(to[3 + row * 97 + k], 0xee);
			assert_int_equal(to[2 + row * 97], 0xee);
		}
	}
	free(from);
	free(to);
	mimic_device_close(device);
}

/* --- bad addresses ----------------------------------------------------------------- */

static void expect_error(struct mimic_device *device, enum dare_error error, uint32_t word,
			 uint64_t position, uint64_t address, uint64_t row)
{
	assert_int_equal(context_fence(device) & DARE_STATUS_ERROR, DARE_STATUS_ERROR);
	assert_int_equal(context_load(device, DARE_ERROR), error);
	assert_int_equal(context_load(device, DARE_ERROR_INSTRUCTION), word);
	assert_int_equal(context_load(device, DARE_ERROR_POSITION), position);
	assert_int_equal(context_load(device, DARE_ERROR_ADDRESS), address);
	assert_int_equal(context_load(device, DARE_ERROR_ROW), row);
	context_store(device, DARE_ERROR, 0);
	assert_int_equal(context_fence(device) & 7, 0);
}

static char *pages_with_a_hole_at_the_end(void)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	assert_int_equal(munmap(pages + 2 * PAGE, PAGE), 0);
	return pages;
}

static void a_load_from_nowhere_is_an_error_that_names_the_byte(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	char *pages = pages_with_a_hole_at_the_end();
	struct tile a, out = { 0 };

	(void)state;
	tile_fill(&a, 11);
	context_dispatch(device, WORD_MLD(2), address_of(&a), 64);
	/* Rows 0 to 2 are there, of row 3 half. */
	context_dispatch(device, WORD_MLD(2), address_of(pages) + 2 * PAGE - 3 * 64 - 32, 64);
	expect_error(device, DARE_ERROR_LOAD, WORD_MLD(2), 1, address_of(pages) + 2 * PAGE, 3);
	context_dispatch(device, WORD_MST(2), address_of(&out), 64);
	assert_int_equal(context_fence(device) & 7, 0);
	assert_memory_equal(&out, &a, sizeof(a));
	context_dispatch(device, WORD_MLD(2), 0, 64);
	expect_error(device, DARE_ERROR_LOAD, WORD_MLD(2), 3, 0, 0);
	context_dispatch(device, WORD_MLD(2), 0xffff800000000000ull, 64);
	expect_error(device, DARE_ERROR_LOAD, WORD_MLD(2), 4, 0xffff800000000000ull, 0);
	context_dispatch(device, WORD_MLD(2), 0x8000000000000000ull, 64);
	expect_error(device, DARE_ERROR_LOAD, WORD_MLD(2), 5, 0x8000000000000000ull, 0);
	munmap(pages, 2 * PAGE);
	mimic_device_close(device);
}

static void a_store_that_cannot_be_is_an_error_after_the_rows_before_it(void **state)
{
	struct mimic_device *device = open_or_fail("dare0");
	char *pages = pages_with_a_hole_at_the_end();
	struct tile a;

	(void)state;
	tile_fill(&a, 12);
	memset(pages, 0, 2 * PAGE);
	context_dispatch(device, WORD_MLD(2), address_of(&a), 64);
	context_dispatch(device, WORD_MST(2), address_of(pages) + 2 * PAGE - 2 * 64, 64);
	expect_error(device, DARE_ERROR_STORE, WORD_MST(2), 1, address_of(pages) + 2 * PAGE, 2);
	assert_memory_equal(pages + 2 * PAGE - 2 * 64, a.at[0], 2 * 64);
	/* Memory that can only be read. */
	assert_int_equal(mprotect(pages, PAGE, PROT_READ), 0);
	context_dispatch(device, WORD_MST(2), address_of(pages), 64);
	expect_error(device, DARE_ERROR_STORE, WORD_MST(2), 2, address_of(pages), 0);
	context_dispatch(device, WORD_MLD(2), address_of(pages), 64);
	assert_int_equal(context_fence(device) & 7, 0);
	/* Memory that cannot be touched. */
	assert_int_equal(mprotect(pages, PAGE, PROT_NONE), 0);
	context_dispatch(device, WORD_MLD(2), address_of(pages) + 64, 64);
	expect_error(device, DARE_ERROR_LOAD, WORD_MLD(2), 4, address_of(pages) + 64, 0);
	munmap(pages, 2 * PAGE);
	mimic_device_close(device);
}

static void an_error_of_one_context_is_not_seen_by_another(void **state)
{
	struct mimic_device *one = open_or_fail("dare0"), *two = open_or_fail("dare0");
	struct tile a, b, c = { 0 }, expected = { 0 };

	(void)state;
	tile_fill(&a, 13);
	tile_fill(&b, 14);
	tile_multiply(&expected, &a, &b);
	context_dispatch(one, WORD_MLD(0), 0, 64);
	context_multiply(two, &c, &a, &b);
	assert_memory_equal(&c, &expected, sizeof(c));
	expect_error(one, DARE_ERROR_LOAD, WORD_MLD(0), 0, 0, 0);
	mimic_device_close(one);
	mimic_device_close(two);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(name)
	const struct CMUnitTest tests[] = {
		TEST(each_open_has_registers_of_its_own),
		TEST(contexts_run_out_and_come_back_as_after_power_on),
		TEST(a_name_without_a_number_means_the_device_with_most_room),
		TEST(names_that_mean_nothing_are_refused),
		TEST(a_program_has_one_page_and_no_other),
		TEST(counters_are_those_of_the_context),
		TEST(a_closed_handle_leaves_the_other_contexts_alone),
		TEST(a_product_is_that_of_a_plain_loop),
		TEST(posts_come_before_the_next_access),
		TEST(posted_registers_and_instructions_keep_their_order),
		TEST(posts_before_a_close_reach_memory),
		TEST(an_instruction_in_pieces_of_a_stream_is_one),
		TEST(rows_of_every_length_are_moved_and_nothing_else),
		TEST(a_load_from_nowhere_is_an_error_that_names_the_byte),
		TEST(a_store_that_cannot_be_is_an_error_after_the_rows_before_it),
		TEST(an_error_of_one_context_is_not_seen_by_another),
	};

	return run_on_both_transports(tests, sizeof(tests) / sizeof(tests[0]));
}
