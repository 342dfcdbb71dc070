/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The DARE model: translations, missing pages that a driver resolves, shootdowns. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/dare_setup.h"

#define A HOST_BASE
#define B (HOST_BASE + 4 * HOST_PAGE)
#define PAGE(n) (HOST_BASE + (n) * HOST_PAGE)
#define STATUS_LEVEL(status) ((status) >> 8 & 0xff)

static bool is_stalled(unsigned int context)
{
	struct dare_context_view view;

	dare_model_context(host->model, context, &view);
	return view.stalled;
}

/* --- the TLB --------------------------------------------------------------------------- */

static void each_request_is_a_hit_or_a_miss(void **state)
{
	(void)state;
	host_run(host, W_MLD(0), A, 64);			/* 16 rows in one page */
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_hits), 15);
	host_run(host, W_MLD(0), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_hits), 31);
	host_run(host, W_MLD(0), A + HOST_PAGE - 32, 64);	/* one row in two pages, 15 in the second */
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 2);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_hits), 31 + 16);
	assert_int_equal(host_counter(host, 1, DARE_COUNTER_tlb_misses), 0);
}

/*
 * Tree pseudo-LRU over 4 entries, played by hand: pages 0 1 2 3 go to entries 0 2 1 3. The use
 * of 0 makes the tree point to the other half, where 3 came last: 4 takes the place of 1.
 */
static void the_tlb_replaces_by_tree_pseudo_lru(void **state)
{
	const struct dare_config config = { .contexts = 2, .queue_entries = 32, .tlb_entries = 4 };
	static const unsigned int pages[] = { 0, 1, 2, 3, 0, 4, 0, 2, 3, 1 };
	static const unsigned int misses[] = { 1, 2, 3, 4, 4, 5, 5, 5, 5, 6 };

	(void)state;
	host_destroy(host);
	host = host_create_with(HOST_WALKS | HOST_FAULTS, &config);
	host_set_shape(host, 1, 64, 16);
	for (unsigned int i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		host_run(host, W_MLD(0), PAGE(pages[i]), 0);
		assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), misses[i]);
	}
}

static void flush_and_shootdowns_make_the_device_walk_again(void **state)
{
	(void)state;
	host_run(host, W_MLD(0), A, 64);
	host_control_store(host, 0x20, 0);
	host_run(host, W_MLD(0), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 2);
	host_control_store(host, 0x20, 0xff);
	host_run(host, W_MLD(0), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 3);
	dare_model_invalidate(host->model, 0, PAGE(1), PAGE(2));
	host_run(host, W_MLD(0), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 3);
	dare_model_invalidate(host->model, 0, PAGE(0) + 5, PAGE(0) + 6);
	host_run(host, W_MLD(0), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 4);
	host->model->ops->invalidate(host->model, 0, UINT64_MAX);
	host_run(host, W_MLD(0), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 5);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_shootdowns), 5);
	/* FLUSH of all and the shootdown of all */
	assert_int_equal(host_counter(host, 1, DARE_COUNTER_shootdowns), 2);
}

static void an_attached_context_has_no_translations_of_before(void **state)
{
	(void)state;
	host_run(host, W_MLD(0), A, 64);
	host_attach(host, 0, 3);
	host_run(host, W_MLD(0), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 1);
}

static void a_translation_by_which_a_read_failed_is_dropped(void **state)
{
	(void)state;
	host->space[0].unreadable[0] = true;
	host_run(host, W_MLD(0), A, 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 1);
	host->space[0].unreadable[0] = false;
	host_resolve(host, true);
	host_assert_no_error(host);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_tlb_misses), 2);
}

/* --- faults that nobody resolves ---------------------------------------------------------- */

static void a_bad_page_ends_the_instruction(void **state)
{
	(void)state;
	host->fault_answer = MIMIC_FAULT_BAD;
	host->space[0].absent[1] = true;
	host_run(host, W_MLD(0), A + HOST_PAGE - 128, 64);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD(0), PAGE(1), 2);
	assert_int_equal(host->faults, 1);
	assert_int_equal(host->fault_address, PAGE(1));
	assert_false(host->fault_writes);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_faults), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_page_faults), 0);
	assert_int_equal(host_control_load(host, 0x28), 1);
	assert_int_equal(host_control_load(host, 0x10), 0);
	assert_int_equal(host->interrupts, 0);
}

static void a_page_that_is_read_only_ends_a_store(void **state)
{
	(void)state;
	host->fault_answer = MIMIC_FAULT_BAD;
	host->space[0].read_only[1] = true;
	host_run(host, W_MST(0), A + HOST_PAGE - 128, 64);
	host_assert_error(host, DARE_ERROR_STORE, W_MST(0), PAGE(1), 2);
	assert_true(host->fault_writes);
	host_store(host, 0, 0x58, 0);
	host_run(host, W_MLD(0), A + HOST_PAGE - 128, 64);
	host_assert_no_error(host);
}

static void a_page_that_is_there_at_the_second_look_is_no_error(void **state)
{
	(void)state;
	host->fault_answer = MIMIC_FAULT_RETRY;
	host->fault_maps_page = true;
	host->space[0].absent[0] = true;
	host->space[0].absent[1] = true;
	host_run(host, W_MLD(0), A + HOST_PAGE - 128, 64);
	host_assert_no_error(host);
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 1, A + HOST_PAGE - 128), 1024);
	assert_int_equal(host->faults, 2);
}

/* A host that says so for ever must not hold the device. */
static void a_page_that_is_never_there_is_bad_in_the_end(void **state)
{
	(void)state;
	host->fault_answer = MIMIC_FAULT_RETRY;
	host->space[0].absent[0] = true;
	host_run(host, W_MLD(0), A, 64);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD(0), A, 0);
	host_store(host, 0, 0x58, 0);
	host->space[0].absent[0] = false;
	host->space[0].unreadable[0] = true;
	host_run(host, W_MST(0), A, 64);
	host_assert_error(host, DARE_ERROR_STORE, W_MST(0), A, 0);
}

/* --- stalls ---------------------------------------------------------------------------------- */

static void a_missing_page_stalls_until_it_is_resolved(void **state)
{
	uint64_t address = A + HOST_PAGE - 128;

	(void)state;
	host->space[0].absent[1] = true;
	assert_true(host_run(host, W_MLD(0), address, 64));
	assert_int_equal(host_load(host, 0, 0x20), 1 | 4 | 1 << 8 | 32 << 16);
	assert_int_equal(host_control_load(host, 0x10), PAGE(1) | 1 << 11);
	assert_int_equal(host->interrupts, 1);
	assert_int_equal(host_load(host, 0, 0x48), 1);
	assert_int_equal(host_load(host, 0, 0x50), 0);
	assert_int_equal(host_matrix_row(host, 0, 0)[0], 0);
	host_map_and_resolve(host, 0);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x20), 32 << 16);
	assert_int_equal(host_control_load(host, 0x10), 0);
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 1, address), 1024);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_page_faults), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_resolves), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_faults), 0);
	assert_int_equal(host_control_load(host, 0x28), 0);
}

static void a_store_that_stalls_goes_on_where_it_was(void **state)
{
	uint8_t expected[1024];

	(void)state;
	memcpy(expected, host_bytes(host, 1, A), 1024);
	host_run(host, W_MLD(0), A, 64);
	host->space[0].read_only[5] = true;
	host_run(host, W_MST(0), PAGE(5) - 256, 64);
	assert_int_equal(host_control_load(host, 0x10), PAGE(5) | 1 << 11 | 1 << 10);
	assert_memory_equal(host_bytes(host, 1, PAGE(5) - 256), expected, 256);
	/* Bytes that the program writes meanwhile over rows that are done stay. */
	memset(host_bytes(host, 1, PAGE(5) - 256), 0x77, 4);
	memset(expected, 0x77, 4);
	host->space[0].read_only[5] = false;
	host_resolve(host, true);
	host_assert_no_error(host);
	assert_memory_equal(host_bytes(host, 1, PAGE(5) - 256), expected, 1024);
}

static void both_pages_of_a_row_may_be_missing(void **state)
{
	uint64_t address = PAGE(3) - 20;

	(void)state;
	host_set_shape(host, 1, 64, 16);
	host->space[0].absent[2] = true;
	host->space[0].absent[3] = true;
	host_run(host, W_MLD(0), address, 0);
	assert_int_equal(host_control_load(host, 0x10), PAGE(2) | 1 << 11);
	host_map_and_resolve(host, 0);
	assert_int_equal(host_control_load(host, 0x10), PAGE(3) | 1 << 11);
	/* the first half was read; its page may go again */
	host->space[0].absent[2] = true;
	dare_model_invalidate(host->model, 0, PAGE(2), PAGE(3));
	host_map_and_resolve(host, 0);
	host_assert_no_error(host);
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 1, address), 64);
}

/* Never are two pages present at the same time, and yet it ends. */
static void a_gather_from_16_missing_pages_needs_one_at_a_time(void **state)
{
	uint8_t rows[16][64] = { { 0 } };

	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		uint64_t address = PAGE(i) + 64 * i;

		memcpy(rows[i], &address, 8);
	}
	host_set_matrix(host, 1, rows);
	host_control_store(host, 0x20, 0);
	for (unsigned int i = 0; i < 16; i++)
		host->space[0].absent[i] = true;
	host_run(host, W_MGATHER(2, 1), 0, 0);
	for (unsigned int i = 0; i < 16; i++) {
		assert_int_equal(host_control_load(host, 0x10), PAGE(i) | 1 << 11);
		host_map_and_resolve(host, 0);
		host->space[0].absent[i] = true;
		dare_model_invalidate(host->model, 0, PAGE(i), PAGE(i) + 1);
	}
	host_assert_no_error(host);
	for (unsigned int i = 0; i < 16; i++)
		assert_memory_equal(host_matrix_row(host, 2, i), host_bytes(host, 1, PAGE(i) + 64 * i), 64);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_resolves), 16);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_rows_loaded), 32);
}

static void a_page_that_is_resolved_and_missing_again_is_a_new_fault(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	host_run(host, W_MLD(0), A, 64);
	for (unsigned int i = 1; i <= 20; i++) {
		assert_int_equal(host->faults, i);
		assert_true(is_stalled(0));
		host_resolve(host, true);
	}
	host_map_and_resolve(host, 0);
	host_assert_no_error(host);
	assert_false(is_stalled(0));
}

static void a_page_that_is_called_bad_ends_the_instruction(void **state)
{
	(void)state;
	host->space[0].absent[1] = true;
	host_run(host, W_MLD(0), A + HOST_PAGE - 128, 64);
	host_resolve(host, false);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD(0), PAGE(1), 2);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_page_faults), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_resolves), 0);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_faults), 1);
	assert_int_equal(host_control_load(host, 0x28), 1);
	assert_int_equal(host_matrix_row(host, 0, 0)[0], 0);
}

static void resolve_of_a_context_that_does_not_wait_does_nothing(void **state)
{
	(void)state;
	host_resolve(host, true);
	host_resolve(host, false);
	host_control_store(host, 0x18, 0x100 | 9);
	host_assert_no_error(host);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_resolves), 0);
}

static void the_fault_that_waits_longest_is_shown_first(void **state)
{
	(void)state;
	host_attach(host, 2, 3);
	for (unsigned int i = 0; i < 3; i++)
		host->space[i].absent[i] = true;
	host_run_in(host, 2, W_MLD(0), PAGE(2), 64);
	host_run_in(host, 0, W_MST(0), PAGE(0), 64);
	host_run_in(host, 1, W_MLD(0), PAGE(1), 64);
	assert_int_equal(host_control_load(host, 0x10), PAGE(2) | 1 << 11 | 2);
	host_control_store(host, 0x18, 2);
	assert_int_equal(host_control_load(host, 0x10), PAGE(0) | 1 << 11 | 1 << 10);
	/* the second one may be resolved first */
	host->space[1].absent[1] = false;
	host_control_store(host, 0x18, 0x101);
	assert_int_equal(host_control_load(host, 0x10), PAGE(0) | 1 << 11 | 1 << 10);
	host_control_store(host, 0x18, 0);
	assert_int_equal(host_control_load(host, 0x10), 0);
}

static void a_fault_that_is_put_off_is_shown_behind_those_of_others(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	host->space[1].absent[1] = true;
	host_run_in(host, 0, W_MLD(0), PAGE(0), 64);
	host_run_in(host, 1, W_MLD(0), PAGE(1), 64);
	host_control_store(host, 0x18, 0x200);
	assert_true(is_stalled(0));
	assert_int_equal(host_control_load(host, 0x10), PAGE(1) | 1 << 11 | 1);
	host_map_and_resolve(host, 1);
	assert_int_equal(host_control_load(host, 0x10), PAGE(0) | 1 << 11);
	host_map_and_resolve(host, 0);
	host_assert_no_error(host);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_page_faults), 1);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_resolves), 1);
}

static void other_contexts_go_on_while_one_waits(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	host_run(host, W_MLD(0), A, 64);
	assert_true(is_stalled(0));
	host_run_in(host, 1, W_MLD(0), A, 64);
	host_run_in(host, 1, W_MST(0), B, 64);
	assert_int_equal(host_load(host, 1, 0x28), 32 << 16);
	assert_memory_equal(host_bytes(host, 2, A), host_bytes(host, 2, B), 1024);
	assert_false(host->model->ops->busy(host->model));
}

/* --- instructions behind a fault ------------------------------------------------------------------- */

static void instructions_behind_a_stall_wait_and_then_execute_in_order(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	host_run(host, W_MLD(0), A, 64);
	host_set_shape(host, 4, 16, 16);
	host_run(host, W_MST(0), B, 64);
	host_run(host, W_MLD(1), B, 64);
	assert_int_equal(STATUS_LEVEL(host_load(host, 0, 0x20)), 6);
	assert_int_equal(host_load(host, 0, 0x30), 16);
	assert_int_equal(host_load(host, 0, 0x48), 6);
	host_map_and_resolve(host, 0);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x50), 6);
	assert_int_equal(host_load(host, 0, 0x30), 4);
	/* the first load had the old shape */
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 1, A), 1024);
	for (unsigned int row = 0; row < 4; row++)
		assert_memory_equal(host_matrix_row(host, 1, row), host_bytes(host, 1, A + 64 * row), 16);
}

static void dependencies_on_what_is_in_the_queue_are_counted(void **state)
{
	static const struct {
		uint32_t word;
		unsigned int raw, war, waw;
	} steps[] = {
		{ W_MLD(0), 0, 0, 0 },		/* stalls */
		{ W_MLD(1), 0, 0, 0 },
		{ W_MCFG, 0, 0, 0 },
		{ W_MMA(2, 0, 1), 1, 0, 0 },	/* reads the registers of both loads */
		{ W_MLD(0), 1, 1, 1 },		/* mma has still to read m0, the first load to write it */
		{ W_MST(3), 1, 1, 1 },
		{ W_MST(2), 2, 1, 1 },
		{ W_MGATHER(4, 3), 2, 1, 1 },
		{ W_MSCATTER(4, 5), 3, 1, 1 },
		{ W_MLD(5), 3, 2, 1 },		/* the addresses of mscatter */
		{ W_MMA(2, 6, 6), 4, 3, 2 },	/* adds to m2: reads and writes it; mst has still to read it */
	};

	(void)state;
	host->space[0].absent[0] = true;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		host_run(host, steps[i].word, steps[i].word == W_MCFG ? 1 : A, 64);
		assert_int_equal(host_counter(host, 0, DARE_COUNTER_raw_waits), steps[i].raw);
		assert_int_equal(host_counter(host, 0, DARE_COUNTER_war_waits), steps[i].war);
		assert_int_equal(host_counter(host, 0, DARE_COUNTER_waw_waits), steps[i].waw);
	}
}

static void instructions_behind_one_that_fails_are_dropped_without_a_position(void **state)
{
	(void)state;
	host_run(host, W_MCFG, 1, 64);
	host->space[0].absent[0] = true;
	host_run(host, W_MLD(0), A, 64);
	host_run(host, W_MCFG, 0, 3);
	host_run(host, W_ILLEGAL, 0, 0);
	host_resolve(host, false);
	host_assert_error(host, DARE_ERROR_LOAD, W_MLD(0), A, 0);
	assert_int_equal(host_load(host, 0, 0x68), 1);
	assert_int_equal(host_load(host, 0, 0x48), 2);
	assert_int_equal(host_load(host, 0, 0x50), 1);
	assert_int_equal(host_load(host, 0, 0x30), 16);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_dropped), 2);
	host_store(host, 0, 0x58, 0);
	host_run(host, W_ILLEGAL, 0, 0);
	assert_int_equal(host_load(host, 0, 0x68), 2);
}

static void a_later_instruction_that_fails_after_a_stall_is_the_one_reported(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	host_run(host, W_MLD(0), A, 64);
	host_run(host, W_MCFG, 7, 3);
	host_run(host, W_MCFG, 0, 3);
	host_map_and_resolve(host, 0);
	host_assert_error(host, DARE_ERROR_CSR, W_MCFG, 7, 0);
	assert_int_equal(host_load(host, 0, 0x68), 1);
	assert_int_equal(host_load(host, 0, 0x50), 1);
	assert_int_equal(host_load(host, 0, 0x30), 16);
}

/* --- shootdowns while a context waits --------------------------------------------------------------- */

static void translations_of_before_a_stall_are_not_used_after_a_shootdown(void **state)
{
	(void)state;
	/* rows 0 and 2 in page 0, row 1 in page 1: translated in that order */
	host_set_shape(host, 2, 64, 16);
	host_run(host, W_MLD(0), PAGE(2), HOST_PAGE);
	host->space[0].absent[1] = true;
	host_run(host, W_MLD(0), PAGE(1), HOST_PAGE);
	assert_true(is_stalled(0));
	/* page 2, which the TLB has, goes while the context waits for page 1 */
	host->space[0].absent[2] = true;
	dare_model_invalidate(host->model, 0, PAGE(2), PAGE(3));
	host_map_and_resolve(host, 0);
	assert_int_equal(host_control_load(host, 0x10), PAGE(2) | 1 << 11);
	host_map_and_resolve(host, 0);
	host_assert_no_error(host);
	for (unsigned int row = 0; row < 2; row++)
		assert_memory_equal(host_matrix_row(host, 0, row), host_bytes(host, 1, PAGE(1 + row)), 64);
}

static void reset_ends_a_stall(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	host_run(host, W_MLD(0), A, 64);
	host_run(host, W_MCFG, 0, 3);
	host_store(host, 0, 0x80, 0);
	assert_int_equal(host_load(host, 0, 0x20), 32 << 16);
	assert_int_equal(host_control_load(host, 0x10), 0);
	host_resolve(host, true);
	host_resolve(host, false);
	host_assert_no_error(host);
	host_run(host, W_MLD(1), B, 64);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x30), 16);
}

static void a_context_that_is_detached_while_it_waits_starts_anew(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	host_run(host, W_MLD(0), A, 64);
	host_attach(host, 0, 0);
	assert_int_equal(host_control_load(host, 0x10), 0);
	host_attach(host, 0, 3);
	host_resolve(host, false);
	host_assert_no_error(host);
	host_run(host, W_MLD(0), A, 64);
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 3, A), 1024);
}

static void a_missing_page_without_a_page_table_stalls_too(void **state)
{
	uint64_t address = A + HOST_PAGE - 128;

	(void)state;
	host->space[0].absent[1] = true;
	host_run(host, W_MLD(0), address, 64);
	assert_int_equal(host_control_load(host, 0x10), PAGE(1) | 1 << 11);
	host_map_and_resolve(host, 0);
	host_assert_no_error(host);
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 1, address), 1024);
}

static void describe_names_waiters(void **state)
{
	char text[200];

	(void)state;
	host->space[0].absent[1] = true;
	host_run(host, W_MLD(0), PAGE(1), 64);
	host->model->ops->describe(host->model, text, sizeof(text));
	assert_string_equal(text, "8 contexts, 2 attached, context 0 waits for page 0x41000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start_stalling, host_stop)
#define IDENTITY_TEST(name) { #name " (identity)", name, host_start_stalling_identity, host_stop, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_request_is_a_hit_or_a_miss),
		IDENTITY_TEST(each_request_is_a_hit_or_a_miss),
		TEST(the_tlb_replaces_by_tree_pseudo_lru),
		TEST(flush_and_shootdowns_make_the_device_walk_again),
		TEST(an_attached_context_has_no_translations_of_before),
		TEST(a_translation_by_which_a_read_failed_is_dropped),
		IDENTITY_TEST(a_translation_by_which_a_read_failed_is_dropped),
		TEST(a_bad_page_ends_the_instruction),
		IDENTITY_TEST(a_bad_page_ends_the_instruction),
		TEST(a_page_that_is_read_only_ends_a_store),
		TEST(a_page_that_is_there_at_the_second_look_is_no_error),
		IDENTITY_TEST(a_page_that_is_there_at_the_second_look_is_no_error),
		TEST(a_page_that_is_never_there_is_bad_in_the_end),
		TEST(a_missing_page_stalls_until_it_is_resolved),
		TEST(a_store_that_stalls_goes_on_where_it_was),
		TEST(both_pages_of_a_row_may_be_missing),
		IDENTITY_TEST(both_pages_of_a_row_may_be_missing),
		TEST(a_gather_from_16_missing_pages_needs_one_at_a_time),
		IDENTITY_TEST(a_gather_from_16_missing_pages_needs_one_at_a_time),
		TEST(a_page_that_is_resolved_and_missing_again_is_a_new_fault),
		TEST(a_page_that_is_called_bad_ends_the_instruction),
		IDENTITY_TEST(a_page_that_is_called_bad_ends_the_instruction),
		TEST(resolve_of_a_context_that_does_not_wait_does_nothing),
		TEST(the_fault_that_waits_longest_is_shown_first),
		TEST(a_fault_that_is_put_off_is_shown_behind_those_of_others),
		TEST(other_contexts_go_on_while_one_waits),
		TEST(instructions_behind_a_stall_wait_and_then_execute_in_order),
		TEST(dependencies_on_what_is_in_the_queue_are_counted),
		TEST(instructions_behind_one_that_fails_are_dropped_without_a_position),
		TEST(a_later_instruction_that_fails_after_a_stall_is_the_one_reported),
		TEST(translations_of_before_a_stall_are_not_used_after_a_shootdown),
		TEST(reset_ends_a_stall),
		TEST(a_context_that_is_detached_while_it_waits_starts_anew),
		IDENTITY_TEST(a_missing_page_without_a_page_table_stalls_too),
		TEST(describe_names_waiters),
	};

	return cmocka_run_group_tests_name("faults of the DARE model", tests, NULL, NULL);
}
