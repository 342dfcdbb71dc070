/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Trace events of a DARE. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/dare_setup.h"
#include "tests/lib/trace_sink.h"

#define A HOST_BASE

static struct trace_sink *sink;

static const struct mimic_trace_event *find(enum mimic_trace_kind kind, size_t n)
{
	const struct mimic_trace_event *event = trace_sink_find(sink, kind, n);

	assert_non_null(event);
	return event;
}

static uint64_t ended(void)
{
	uint64_t count = trace_sink_sum(sink, MIMIC_TRACE_instruction_dropped);

	for (size_t i = 0; i < sink->count; i++) {
		const struct mimic_trace_event *event = &sink->event[i];

		count += event->kind == MIMIC_TRACE_instruction &&
			 (event->size == MIMIC_TRACE_OUTCOME_DONE || event->size == MIMIC_TRACE_OUTCOME_ERROR);
	}
	return count;
}

static void an_instruction_is_dispatched_and_executes(void **state)
{
	(void)state;
	sink = trace_sink_start(host->model);
	host_run(host, W_MLD(1), A, 64);
	assert_int_equal(find(MIMIC_TRACE_instruction_queued, 0)->value, W_MLD(1));
	assert_int_equal(find(MIMIC_TRACE_instruction, 0)->value, W_MLD(1));
	assert_int_equal(find(MIMIC_TRACE_instruction, 0)->address, A);
	assert_int_equal(find(MIMIC_TRACE_instruction, 0)->size, MIMIC_TRACE_OUTCOME_DONE);
	assert_int_equal(find(MIMIC_TRACE_fetch, 0)->address, A);
	assert_int_equal(find(MIMIC_TRACE_fetch, 0)->id, 16);
	assert_true(find(MIMIC_TRACE_fetch, 0)->time >= find(MIMIC_TRACE_instruction, 0)->time);
}

static void a_store_is_no_fetch(void **state)
{
	(void)state;
	sink = trace_sink_start(host->model);
	host_run(host, W_MST(1), A, 64);
	assert_int_equal(find(MIMIC_TRACE_store, 0)->address, A);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_fetch), 0);
}

static void commands_that_an_error_drops_are_traced(void **state)
{
	(void)state;
	sink = trace_sink_start(host->model);
	host_run(host, W_ILLEGAL, 0, 0);
	host_run(host, W_MLD(1), A, 64);
	host_run(host, W_MLD(1), A, 64);
	assert_int_equal(find(MIMIC_TRACE_instruction, 0)->size, MIMIC_TRACE_OUTCOME_ERROR);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_instruction_queued), 3);
	assert_int_equal(ended(), 3);
}

static void commands_that_a_reset_drops_are_traced(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	sink = trace_sink_start(host->model);
	for (int i = 0; i < 3; i++)
		host_run(host, W_MLD(1), A, 64);
	assert_int_equal(find(MIMIC_TRACE_instruction, 0)->size, MIMIC_TRACE_OUTCOME_FAULT);
	assert_int_equal(ended(), 0);
	host_store(host, 0, 0x80, 0);
	assert_int_equal(ended(), 3);
}

static void an_instruction_that_waits_for_a_page_goes_on(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	sink = trace_sink_start(host->model);
	host_run(host, W_MLD(1), A, 64);
	assert_int_equal(find(MIMIC_TRACE_page_fault, 0)->address, A);
	assert_int_equal(find(MIMIC_TRACE_page_fault, 0)->value, MIMIC_FAULT_STALL);
	host_map_and_resolve(host, 0);
	assert_int_equal(find(MIMIC_TRACE_resolve, 0)->address, A);
	assert_int_equal(find(MIMIC_TRACE_instruction, 1)->size, MIMIC_TRACE_OUTCOME_DONE);
	assert_int_equal(ended(), 1);
}

static void a_bad_page_drops_what_waits(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	sink = trace_sink_start(host->model);
	host_run(host, W_MLD(1), A, 64);
	host_run(host, W_MLD(1), A, 64);
	host_resolve(host, false);
	assert_int_equal(ended(), 2);
}

static void a_fence_that_waits_is_begun_and_ended(void **state)
{
	(void)state;
	host->space[0].absent[0] = true;
	sink = trace_sink_start(host->model);
	host_run(host, W_MLD(1), A, 64);
	assert_int_equal(host_load_as(host, 5, 0, 0x28), HOST_PARKED);
	assert_int_equal(find(MIMIC_TRACE_access_begin, 0)->owner, 5);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_wake), 0);
	host_map_and_resolve(host, 0);
	assert_int_equal(find(MIMIC_TRACE_wake, 0)->owner, 5);
	assert_int_equal(find(MIMIC_TRACE_access_end, 0)->owner, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_instruction_is_dispatched_and_executes, host_start, host_stop),
		cmocka_unit_test_setup_teardown(a_store_is_no_fetch, host_start, host_stop),
		cmocka_unit_test_setup_teardown(commands_that_an_error_drops_are_traced, host_start, host_stop),
		cmocka_unit_test_setup_teardown(commands_that_a_reset_drops_are_traced, host_start_stalling, host_stop),
		cmocka_unit_test_setup_teardown(an_instruction_that_waits_for_a_page_goes_on, host_start_stalling,
						host_stop),
		cmocka_unit_test_setup_teardown(a_bad_page_drops_what_waits, host_start_stalling, host_stop),
		cmocka_unit_test_setup_teardown(a_fence_that_waits_is_begun_and_ended, host_start_stalling,
						host_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
