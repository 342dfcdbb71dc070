/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Trace events of a Virgo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/trace_sink.h"
#include "tests/lib/virgo_fixture.h"

static struct virgo_fixture *f;
static struct trace_sink *sink;

static int begin(void **state)
{
	(void)state;
	f = virgo_fixture_create(NULL, FIXTURE_FAULTS);
	sink = trace_sink_start(f->model);
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(f->unexpected, 0);
	virgo_fixture_destroy(f);
	return 0;
}

static const struct mimic_trace_event *find(enum mimic_trace_kind kind, size_t n)
{
	const struct mimic_trace_event *event = trace_sink_find(sink, kind, n);

	assert_non_null(event);
	return event;
}

/* Commands that are over, of all units. */
static uint64_t ended(void)
{
	uint64_t count = trace_sink_sum(sink, MIMIC_TRACE_command_dropped);

	for (size_t i = 0; i < sink->count; i++) {
		const struct mimic_trace_event *event = &sink->event[i];

		count += event->kind == MIMIC_TRACE_command &&
			 (event->size == MIMIC_TRACE_OUTCOME_DONE || event->size == MIMIC_TRACE_OUTCOME_ERROR);
	}
	return count;
}

static void move_in(unsigned int page)
{
	virgo_send(f, 0, VIRGO_FUNCT_MVIN, virgo_address(f->arena + 4096 * page), virgo_pack(4, 4, 0));
}

static void a_command_is_dispatched_and_done(void **state)
{
	(void)state;
	move_in(0);
	virgo_run(f);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_command_queued), 1);
	assert_int_equal(find(MIMIC_TRACE_command, 0)->size, MIMIC_TRACE_OUTCOME_DONE);
	assert_int_equal(find(MIMIC_TRACE_command, 0)->id, find(MIMIC_TRACE_command_queued, 0)->id);
	assert_int_equal(find(MIMIC_TRACE_dma_read, 0)->address, virgo_address(f->arena));
	assert_int_equal(find(MIMIC_TRACE_dma_read, 0)->id, 4);
	assert_int_equal(ended(), 1);
}

static void numbers_of_after_a_reset_are_new(void **state)
{
	(void)state;
	move_in(0);
	virgo_run(f);
	virgo_unit_store(f, 0, VIRGO_RESET, 0);
	move_in(0);
	virgo_run(f);
	assert_true(find(MIMIC_TRACE_command_queued, 0)->id != find(MIMIC_TRACE_command_queued, 1)->id);
	assert_int_equal(find(MIMIC_TRACE_command, 1)->id, find(MIMIC_TRACE_command_queued, 1)->id);
}

static void commands_that_a_reset_drops_are_traced(void **state)
{
	(void)state;
	move_in(0);
	move_in(0);
	virgo_unit_store(f, 0, VIRGO_RESET, 0);
	virgo_run(f);
	assert_int_equal(ended(), trace_sink_count(sink, MIMIC_TRACE_command_queued));
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_command_queued), 2);
}

static void commands_that_an_error_drops_are_traced(void **state)
{
	(void)state;
	virgo_send(f, 0, 99, 0, 0);
	move_in(0);
	virgo_run(f);
	move_in(0);
	virgo_run(f);
	assert_int_equal(find(MIMIC_TRACE_command, 0)->size, MIMIC_TRACE_OUTCOME_ERROR);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_command_queued), 3);
	assert_int_equal(ended(), 3);
}

static void a_bad_address_drops_its_command(void **state)
{
	(void)state;
	f->absent[1] = true;
	f->fault_answer = MIMIC_FAULT_BAD;
	move_in(1);
	move_in(0);
	virgo_run(f);
	assert_int_equal(find(MIMIC_TRACE_command, 0)->size, MIMIC_TRACE_OUTCOME_FAULT);
	assert_int_equal(find(MIMIC_TRACE_page_fault, 0)->address, virgo_address(f->arena + 4096));
	assert_int_equal(ended(), 2);
}

static void a_command_that_waits_for_a_page_goes_on(void **state)
{
	(void)state;
	f->absent[1] = true;
	f->fault_answer = MIMIC_FAULT_STALL;
	move_in(1);
	virgo_run(f);
	assert_int_equal(ended(), 0);
	f->absent[1] = false;
	virgo_store(f, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, 8, VIRGO_RESOLVE_PRESENT);
	virgo_run(f);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_resolve), 1);
	assert_int_equal(find(MIMIC_TRACE_command, 1)->size, MIMIC_TRACE_OUTCOME_DONE);
	assert_int_equal(ended(), 1);
}

static void a_barrier_opens_when_all_have_arrived(void **state)
{
	struct mimic_access access = { .owner = 7, .page = VIRGO_PAGE_CONTROL, .offset = 0x200 + 8 * 3, .size = 8 };

	(void)state;
	virgo_store(f, VIRGO_PAGE_CONTROL, 0x100 + 8 * 3, 8, 2);
	assert_int_equal(virgo_fixture_access(f, &access), MIMIC_PARKED);
	assert_int_equal(trace_sink_count(sink, MIMIC_TRACE_barrier_open), 0);
	access.owner = 8;
	assert_int_equal(virgo_fixture_access(f, &access), MIMIC_DONE);
	assert_int_equal(find(MIMIC_TRACE_barrier_arrive, 0)->owner, 7);
	assert_int_equal(find(MIMIC_TRACE_barrier_arrive, 1)->owner, 8);
	assert_int_equal(find(MIMIC_TRACE_barrier_open, 0)->unit, 3);
	assert_int_equal(find(MIMIC_TRACE_wake, 0)->owner, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_command_is_dispatched_and_done, begin, end),
		cmocka_unit_test_setup_teardown(numbers_of_after_a_reset_are_new, begin, end),
		cmocka_unit_test_setup_teardown(commands_that_a_reset_drops_are_traced, begin, end),
		cmocka_unit_test_setup_teardown(commands_that_an_error_drops_are_traced, begin, end),
		cmocka_unit_test_setup_teardown(a_bad_address_drops_its_command, begin, end),
		cmocka_unit_test_setup_teardown(a_command_that_waits_for_a_page_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(a_barrier_opens_when_all_have_arrived, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
