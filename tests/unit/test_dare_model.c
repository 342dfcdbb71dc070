/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The DARE model: registers, mcfg, STREAM, reset, counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/dare_setup.h"

#define A HOST_BASE
#define B (HOST_BASE + 4 * HOST_PAGE)

/* --- registers ------------------------------------------------------------------------- */

static void identify_tells_what_the_device_is(void **state)
{
	(void)state;
	assert_int_equal(host_control_load(host, 0), 0x4441524501202008);
	assert_int_equal(host_load(host, 0, 0x88), 0x4441524501000000);
	assert_int_equal(host_load(host, 5, 0x88), 0x4441524501000005);
}

static void a_new_context_has_full_shape_and_zeros(void **state)
{
	(void)state;
	assert_int_equal(host_load(host, 0, 0x30), 16);
	assert_int_equal(host_load(host, 0, 0x38), 64);
	assert_int_equal(host_load(host, 0, 0x40), 16);
	for (unsigned int i = 0; i < 8; i++)
		assert_zero(host_matrix_row(host, i, 0), 1024);
	assert_int_equal(host_load(host, 0, 0x20), 32 << 16);
	assert_int_equal(host_load(host, 0, 0x28), 32 << 16);
	for (unsigned int offset = 0x48; offset <= 0x78; offset += 8)
		assert_int_equal(host_load(host, 0, offset), 0);
}

static void source_registers_keep_what_was_stored(void **state)
{
	(void)state;
	host_store(host, 0, 0x00, 0x123456789abcdef0);
	host_store(host, 0, 0x08, 0xfedcba9876543210);
	assert_int_equal(host_load(host, 0, 0x00), 0x123456789abcdef0);
	assert_int_equal(host_load(host, 0, 0x08), 0xfedcba9876543210);
	assert_int_equal(host_load(host, 1, 0x00), 0);
}

static void a_load_of_4_bytes_gives_the_low_half(void **state)
{
	struct mimic_access access = { .owner = 1, .page = 1, .offset = 0, .size = 4 };

	(void)state;
	host_store(host, 0, 0x00, 0x123456789abcdef0);
	host_access(host, &access);
	assert_int_equal(access.data, 0x9abcdef0);
}

static void other_accesses_are_illegal_and_counted(void **state)
{
	static const struct mimic_access illegal[] = {
		{ .owner = 1, .page = 1, .offset = 0x04, .size = 4 },
		{ .owner = 1, .page = 1, .offset = 0x00, .size = 2 },
		{ .owner = 1, .page = 1, .offset = 0x00, .size = 1 },
		{ .owner = 1, .page = 1, .offset = 0x03, .size = 8 },
		{ .owner = 1, .page = 1, .offset = 0x00, .size = 4, .is_write = 1, .data = 7 },
		{ .owner = 1, .page = 1, .offset = 0x20, .size = 8, .is_write = 1, .data = 7 },
		{ .owner = 1, .page = 1, .offset = 0x30, .size = 8, .is_write = 1, .data = 7 },
		{ .owner = 1, .page = 1, .offset = 0x10, .size = 8 },
		{ .owner = 1, .page = 1, .offset = 0x18, .size = 8 },
		{ .owner = 1, .page = 1, .offset = 0x80, .size = 8 },
		{ .owner = 1, .page = 1, .offset = 0x90, .size = 8 },
		{ .owner = 1, .page = 1, .offset = 0x100, .size = 8, .is_write = 1, .data = 7 },
		{ .owner = 1, .page = 1, .offset = 0x100 + 8 * DARE_COUNTER_COUNT, .size = 8 },
		{ .owner = 1, .page = 1, .offset = 0xff8, .size = 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(illegal) / sizeof(illegal[0]); i++) {
		struct mimic_access access = illegal[i];

		access.data = access.is_write ? 7 : 0x55;
		assert_int_equal(host_access(host, &access), MIMIC_DONE);
		assert_int_equal(access.data, 0);
		assert_int_equal(host_counter(host, 0, DARE_COUNTER_illegal), i + 1);
	}
	assert_int_equal(host_load(host, 0, 0x00), 0);
	assert_int_equal(host_load(host, 0, 0x30), 16);
}

static void pages_that_are_no_context_are_illegal_and_counted_by_the_device(void **state)
{
	struct mimic_access access = { .owner = 1, .page = 9, .offset = 0, .size = 8, .data = 3 };
	uint64_t counters[DARE_COUNTER_COUNT];

	(void)state;
	host_access(host, &access);
	assert_int_equal(access.data, 0);
	access = (struct mimic_access){ .owner = 1, .page = 0, .offset = 0x10, .size = 8, .is_write = 1 };
	host_access(host, &access);
	host_attach(host, 8, 1);
	assert_int_equal(host->model->ops->counters(host->model, counters, DARE_COUNTER_COUNT),
			 DARE_COUNTER_COUNT);
	assert_int_equal(counters[DARE_COUNTER_illegal], 3);
}

/* --- mcfg ------------------------------------------------------------------------------- */

static void mcfg_writes_the_csr_that_rs1_names(void **state)
{
	(void)state;
	host_set_shape(host, 3, 20, 7);
	assert_int_equal(host_load(host, 0, 0x30), 3);
	assert_int_equal(host_load(host, 0, 0x38), 20);
	assert_int_equal(host_load(host, 0, 0x40), 7);
	assert_int_equal(host_load(host, 1, 0x30), 16);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_mcfg), 3);
}

static void mcfg_of_a_csr_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	host_run(host, W_MCFG, 3, 1);
	host_assert_error(host, DARE_ERROR_CSR, W_MCFG, 3, 0);
	host_store(host, 0, 0x58, 0);
	host_run(host, W_MCFG, 1ull << 32, 1);
	host_assert_error(host, DARE_ERROR_CSR, W_MCFG, 1ull << 32, 0);
}

static void mcfg_takes_1_to_the_size_of_a_register(void **state)
{
	static const uint64_t largest[] = { 16, 64, 16 };

	(void)state;
	for (unsigned int csr = 0; csr < 3; csr++) {
		const uint64_t bad[] = { 0, largest[csr] + 1, 1ull << 32 | 1, UINT64_MAX };

		for (unsigned int i = 0; i < 4; i++) {
			host_run(host, W_MCFG, csr, bad[i]);
			host_assert_error(host, DARE_ERROR_SHAPE, W_MCFG, bad[i], 0);
			host_store(host, 0, 0x58, 0);
			assert_int_equal(host_load(host, 0, 0x30 + 8 * csr), largest[csr]);
		}
		host_run(host, W_MCFG, csr, 1);
		host_assert_no_error(host);
		assert_int_equal(host_load(host, 0, 0x30 + 8 * csr), 1);
	}
}

/* --- STREAM --------------------------------------------------------------------------------------------- */

static void stream_takes_words_and_their_values(void **state)
{
	(void)state;
	host_store(host, 0, 0x18, W_MCFG);
	assert_int_equal(host_load(host, 0, 0x20) >> 24, 2);
	host_store(host, 0, 0x18, 1);
	assert_int_equal(host_load(host, 0, 0x20) >> 24, 1);
	host_store(host, 0, 0x18, 24);
	assert_int_equal(host_load(host, 0, 0x20) >> 24, 0);
	assert_int_equal(host_load(host, 0, 0x38), 24);
	host_store(host, 0, 0x18, W_MMA(0, 1, 2));
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_mma), 1);
	host_store(host, 0, 0x18, W_ILLEGAL);
	host_assert_error(host, DARE_ERROR_ILLEGAL, W_ILLEGAL, W_ILLEGAL, 0);
}

static void stream_does_not_touch_the_source_registers(void **state)
{
	static const uint64_t values[] = { W_MCFG, 0, 3 };

	(void)state;
	host_store(host, 0, 0x00, 11);
	host_store(host, 0, 0x08, 12);
	for (unsigned int i = 0; i < 3; i++)
		host_store(host, 0, 0x18, values[i]);
	assert_int_equal(host_load(host, 0, 0x00), 11);
	assert_int_equal(host_load(host, 0, 0x08), 12);
}

static void stream_goes_on_while_an_error_is_pending(void **state)
{
	static const uint64_t values[] = { W_ILLEGAL, W_MCFG, 0, 3, W_MCFG, 0 };

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		host_store(host, 0, 0x18, values[i]);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_dropped), 1);
	host_store(host, 0, 0x58, 0);
	host_store(host, 0, 0x18, 5);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x30), 5);
}

static void a_batch_of_stream_stores_is_the_same_as_single_ones(void **state)
{
	const struct mimic_access pattern = { .owner = 1, .page = 1, .offset = 0x18, .size = 8 };
	static const uint64_t values[] = {
		W_MCFG, 0, 4, W_MLD(1), A, 128, W_MMA(0, 1, 1), W_MST(1), B, 64,
	};

	(void)state;
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 10, 0), 10);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 4; row++)
		assert_memory_equal(host_bytes(host, 1, B + 64 * row), host_bytes(host, 1, A + 128 * row), 64);
	assert_int_equal(host_load(host, 0, 0x48), 4);
	assert_int_equal(host_load(host, 0, 0x50), 4);
}

/* Those before it have been executed, those behind it are dropped: as if they had come one by one. */
static void an_instruction_of_a_batch_that_fails_has_its_position(void **state)
{
	const struct mimic_access pattern = { .owner = 1, .page = 1, .offset = 0x18, .size = 8 };
	static const uint64_t values[] = {
		W_MCFG, 0, 4, W_MLD(1), A, 128, W_MMA(0, 1, 1), W_MST(1), B + 2, 64, W_MCFG, 0, 5,
	};

	(void)state;
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 13, 0), 13);
	host_assert_error(host, DARE_ERROR_MISALIGNED, W_MST(1), B + 2, 0);
	assert_int_equal(host_load(host, 0, 0x30), 4);
	assert_int_equal(host_load(host, 0, 0x48), 4);
	assert_int_equal(host_load(host, 0, 0x50), 3);
	assert_int_equal(host_load(host, 0, 0x68), 3);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_instructions), 3);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_dropped), 1);
}

/* Values beyond a batch are those of another instruction: they must not be taken. */
static void an_instruction_may_come_in_two_batches(void **state)
{
	const struct mimic_access pattern = { .owner = 1, .page = 1, .offset = 0x18, .size = 8 };

	(void)state;
	for (unsigned int first = 1; first < 3; first++) {
		const uint64_t values[] = { W_MCFG, 0, 4 + first };
		uint64_t begin[3] = { W_MCFG, 7, 7 };

		memcpy(begin, values, first * sizeof(values[0]));
		host_run(host, W_MCFG, 0, 16);
		assert_int_equal(host->model->ops->store_many(host->model, &pattern, begin, first, 0), first);
		assert_int_equal(host_load(host, 0, 0x20) >> 24, 3 - first);
		assert_int_equal(host_load(host, 0, 0x30), 16);
		assert_int_equal(host->model->ops->store_many(host->model, &pattern, values + first, 3 - first, 0),
				 3 - first);
		assert_int_equal(host_load(host, 0, 0x30), 4 + first);
	}
	host_assert_no_error(host);
}

static void batches_of_other_registers_work_too(void **state)
{
	struct mimic_access pattern = { .owner = 1, .page = 1, .offset = 0x08, .size = 8 };
	static const uint64_t values[] = { 5, 6, 7 };
	static const uint64_t words[] = { W_MCFG, W_MMA(0, 0, 0) };
	uint64_t loaded[3];

	(void)state;
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 3, 0), 3);
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, loaded, 3, 0), 3);
	assert_int_equal(loaded[0], 7);
	assert_int_equal(loaded[2], 7);
	pattern.offset = 0x10;
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, words, 2, 0), 2);
	assert_int_equal(host_load(host, 0, 0x30), 7);
	pattern.page = 12;
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, words, 2, 0), 2);
	pattern.page = 1;
	pattern.offset = 0x28;
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, loaded, 3, 0), 3);
}

/* --- RESET, counters, views ------------------------------------------------------------------------------ */

static void reset_clears_all_but_counters_and_memory(void **state)
{
	(void)state;
	host_run(host, W_MLD(5), A, 64);
	host_set_shape(host, 2, 3, 4);
	host_store(host, 0, 0x18, W_MLD(0));
	host_run(host, W_ILLEGAL, 8, 9);
	host_store(host, 0, 0x80, 0);
	a_new_context_has_full_shape_and_zeros(state);
	assert_int_equal(host_load(host, 0, 0x00), 0);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_mld), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_errors), 1);
	host_run(host, W_MLD(5), A, 64);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x48), 1);
}

static void attach_resets_and_clears_counters_but_not_the_devices_sums(void **state)
{
	uint64_t counters[DARE_COUNTER_COUNT];

	(void)state;
	host_run(host, W_MLD(5), A, 64);
	host_set_shape(host, 2, 3, 4);
	host_attach(host, 0, 0);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_mcfg), 3);
	host_attach(host, 0, 3);
	a_new_context_has_full_shape_and_zeros(state);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_mcfg), 0);
	host_run_in(host, 1, W_MCFG, 0, 1);
	host->model->ops->counters(host->model, counters, DARE_COUNTER_COUNT);
	assert_int_equal(counters[DARE_COUNTER_mcfg], 4);
	assert_int_equal(counters[DARE_COUNTER_mld], 1);
}

static void cleared_counters_are_0_for_each_context_and_the_device(void **state)
{
	uint64_t counters[DARE_COUNTER_COUNT];

	(void)state;
	host_run(host, W_MLD(5), A, 64);
	host_attach(host, 0, 3);
	host_run(host, W_MLD(6), A, 64);
	host_run_in(host, 1, W_MCFG, 0, 1);
	host_load(host, 0, 0xff8);
	host->model->ops->clear_counters(host->model);
	host->model->ops->counters(host->model, counters, DARE_COUNTER_COUNT);
	for (unsigned int i = 0; i < DARE_COUNTER_COUNT; i++) {
		assert_int_equal(counters[i], 0);
		assert_int_equal(host_counter(host, 0, i), 0);
		assert_int_equal(host_counter(host, 1, i), 0);
	}
	assert_int_equal(host_load(host, 0, 0x48), 1);
	host_run(host, W_MLD(5), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_mld), 1);
}

static void counters_count_what_complete_instructions_did(void **state)
{
	static const struct {
		enum dare_counter counter;
		uint64_t value;
	} expected[] = {
		{ DARE_COUNTER_instructions, 13 }, { DARE_COUNTER_mcfg, 6 }, { DARE_COUNTER_mld, 2 },
		{ DARE_COUNTER_mst, 1 }, { DARE_COUNTER_mma, 3 }, { DARE_COUNTER_mscatter, 1 },
		{ DARE_COUNTER_mgather, 0 },
		{ DARE_COUNTER_rows_loaded, 32 }, { DARE_COUNTER_bytes_loaded, 2 * 1024 },
		{ DARE_COUNTER_rows_stored, 3 + 3 }, { DARE_COUNTER_bytes_stored, 60 + 60 },
		{ DARE_COUNTER_macs_used, 3 * 7 * 5 + 3 * 7 * 10 + 3 * 7 * 20 },
		{ DARE_COUNTER_macs_offered, 4096 + 8192 + 16384 },
		{ DARE_COUNTER_errors, 0 }, { DARE_COUNTER_dropped, 0 }, { DARE_COUNTER_faults, 0 },
	};
	uint64_t addresses[16], values[DARE_COUNTER_COUNT];

	(void)state;
	for (unsigned int row = 0; row < 16; row++)
		addresses[row] = B + 100 * row;
	host_set_addresses(host, 1, addresses);
	host_run(host, W_MLD(2), A, 64);
	host_set_shape(host, 3, 20, 7);
	host_run(host, W_MST(0), A, 64);
	host_run(host, W_MSCATTER(0, 1), 0, 0);
	host_run(host, W_MMA(0, 2, 2), 0, 0);
	host_run(host, W_MMA_BF16(0, 2, 2), 0, 0);
	host_run(host, W_MMA_I8(0, 2, 2), 0, 0);
	host_assert_no_error(host);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(host_counter(host, 0, expected[i].counter), expected[i].value);
	assert_int_equal(dare_model_counters(host->model, 0, values, DARE_COUNTER_COUNT), DARE_COUNTER_COUNT);
	for (unsigned int i = 0; i < DARE_COUNTER_COUNT; i++)
		assert_int_equal(values[i], host_counter(host, 0, i));
	assert_int_equal(dare_model_counters(host->model, 8, values, DARE_COUNTER_COUNT), 0);
}

static void describe_tells_of_contexts_and_errors(void **state)
{
	char text[200];
	size_t length;

	(void)state;
	length = host->model->ops->describe(host->model, text, sizeof(text));
	assert_int_equal(length, strlen(text));
	assert_string_equal(text, "8 contexts, 2 attached");
	host_run_in(host, 1, W_MLD(0), 0x1000, 64);
	host->model->ops->describe(host->model, text, sizeof(text));
	assert_string_equal(text, "8 contexts, 2 attached, context 1 error LOAD at 0x1000");
	host->model->ops->describe(host->model, text, 10);
	assert_string_equal(text, "8 context");
}

static void the_configuration_is_checked(void **state)
{
	static const struct dare_config bad[] = {
		{ 0, 32, 32 }, { 16, 32, 32 }, { 8, 0, 32 }, { 8, 65, 32 }, { 8, 32, 1 }, { 8, 32, 24 }, { 8, 32, 128 },
	};
	struct mimic_host none = { 0 };
	struct dare_context_view view;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_non_null(dare_config_check(&bad[i]));
		errno = 0;
		assert_null(dare_model_create(&bad[i], &none));
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(dare_model_context(host->model, 8, &view), -EINVAL);
	dare_model_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start, host_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(identify_tells_what_the_device_is),
		TEST(a_new_context_has_full_shape_and_zeros),
		TEST(source_registers_keep_what_was_stored),
		TEST(a_load_of_4_bytes_gives_the_low_half),
		TEST(other_accesses_are_illegal_and_counted),
		TEST(pages_that_are_no_context_are_illegal_and_counted_by_the_device),
		TEST(mcfg_writes_the_csr_that_rs1_names),
		TEST(mcfg_of_a_csr_that_is_not_there_is_an_error),
		TEST(mcfg_takes_1_to_the_size_of_a_register),
		TEST(stream_takes_words_and_their_values),
		TEST(stream_does_not_touch_the_source_registers),
		TEST(stream_goes_on_while_an_error_is_pending),
		TEST(a_batch_of_stream_stores_is_the_same_as_single_ones),
		TEST(an_instruction_of_a_batch_that_fails_has_its_position),
		TEST(an_instruction_may_come_in_two_batches),
		TEST(batches_of_other_registers_work_too),
		TEST(reset_clears_all_but_counters_and_memory),
		TEST(attach_resets_and_clears_counters_but_not_the_devices_sums),
		TEST(cleared_counters_are_0_for_each_context_and_the_device),
		TEST(counters_count_what_complete_instructions_did),
		TEST(describe_tells_of_contexts_and_errors),
		TEST(the_configuration_is_checked),
	};

	return cmocka_run_group_tests_name("the DARE model", tests, NULL, NULL);
}
