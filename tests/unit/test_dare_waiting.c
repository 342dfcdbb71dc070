/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The DARE model: accesses that wait for room in the queue or for a fence, and how they end. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/dare_setup.h"

#define A HOST_BASE
#define B (HOST_BASE + 4 * HOST_PAGE)
#define IDLE (32u << 16)

/* Context 0 waits for page 0, with `level` instructions in its queue. */
static void stall(unsigned int level)
{
	host->space[0].absent[0] = true;
	assert_true(host_run(host, W_MLD(0), A, 64));
	for (unsigned int i = 1; i < level; i++)
		assert_true(host_run(host, W_MCFG, 0, 1 + i % 16));
	assert_int_equal(host_load_as(host, 9, 0, 0x20) >> 8 & 0xff, level);
}

static bool mcfg_as(uint64_t owner, uint64_t csr, uint64_t value)
{
	host_store_as(host, owner, 0, 0x00, csr);
	host_store_as(host, owner, 0, 0x08, value);
	return host_store_as(host, owner, 0, 0x10, W_MCFG);
}

/* --- a full queue ------------------------------------------------------------------------ */

static void a_dispatch_into_a_full_queue_waits_for_room(void **state)
{
	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	assert_int_equal(host_load_as(host, 2, 0, 0x48), 32);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_queue_waits), 1);
	assert_false(host->completed[1]);
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_true(host->completed[1]);
	assert_int_equal(host->answer[1], 0);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x38), 44);
	assert_int_equal(host_load(host, 0, 0x50), 33);
}

/* A dispatch keeps the RS1 and RS2 of its store, though others store to them while it waits. */
static void a_dispatch_that_waits_keeps_its_source_values(void **state)
{
	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	assert_false(mcfg_as(2, 2, 5));
	host_store_as(host, 3, 0, 0x00, 77);
	host_store_as(host, 3, 0, 0x08, 77);
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x38), 44);
	assert_int_equal(host_load(host, 0, 0x40), 5);
}

static void waiters_go_on_in_the_order_of_coming(void **state)
{
	(void)state;
	stall(32);
	for (unsigned int owner = 20; owner > 10; owner--)
		assert_false(mcfg_as(owner, 0, owner - 10));
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_int_equal(host->order_count, 10);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(host->order[i], 20 - i);
	assert_int_equal(host_load(host, 0, 0x30), 1);
}

static void a_stream_waits_with_the_store_that_completes_an_instruction(void **state)
{
	(void)state;
	stall(32);
	assert_true(host_store(host, 0, 0x18, W_MCFG));
	assert_true(host_store(host, 0, 0x18, 1));
	assert_false(host_store(host, 0, 0x18, 20));
	/* another thread's word must not come between */
	assert_false(host_store_as(host, 2, 0, 0x18, W_MMA(0, 1, 2)));
	assert_int_equal(host_load_as(host, 3, 0, 0x20) >> 24, 1);
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_true(host->completed[1] && host->completed[2]);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x38), 20);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_mma), 1);
}

/* A word whose values are missing needs no room, but would come before the dispatch stored earlier. */
static void a_stream_waits_behind_a_dispatch_that_waits(void **state)
{
	const struct mimic_access pattern = { .owner = 3, .page = 1, .offset = 0x18, .size = 8 };
	static const uint64_t values[] = { W_MCFG };

	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	assert_false(host_store_as(host, 2, 0, 0x18, W_MCFG));
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 1, 0), 0);
	assert_int_equal(host_load_as(host, 3, 0, 0x20) >> 24, 0);
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_true(host->completed[1] && host->completed[2]);
	assert_int_equal(host_load(host, 0, 0x20) >> 24, 2);
}

static void a_batch_stops_before_the_store_that_would_wait(void **state)
{
	const struct mimic_access stream = { .owner = 1, .page = 1, .offset = 0x18, .size = 8 };
	const struct mimic_access word = { .owner = 1, .page = 1, .offset = 0x10, .size = 8 };
	static const uint64_t values[] = { W_MCFG, 0, 7, W_MCFG, 0, 8, W_MMA(0, 0, 0) };
	static const uint64_t words[] = { W_MMA(0, 0, 0) };

	(void)state;
	stall(31);
	assert_int_equal(host->model->ops->store_many(host->model, &stream, values, 7, 0), 5);
	assert_int_equal(host->model->ops->store_many(host->model, &stream, values + 5, 2, 0), 0);
	assert_int_equal(host->model->ops->store_many(host->model, &word, words, 1, 0), 0);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_queue_waits), 0);
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_int_equal(host->model->ops->store_many(host->model, &stream, values + 5, 2, 0), 2);
	host_assert_no_error(host);
	assert_int_equal(host_load(host, 0, 0x30), 8);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_mma), 1);
}

static void no_call_works_for_long_on_what_others_left(void **state)
{
	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	host_map_and_resolve(host, 0);
	assert_true(host->model->ops->busy(host->model));
	assert_true(host_load_as(host, 3, 0, 0x50) < 32);
	/* the next one finds room or makes it, and keeps its place in the order */
	assert_true(mcfg_as(2, 1, 40));
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_int_equal(host_load(host, 0, 0x38), 40);
	assert_int_equal(host_load(host, 0, 0x50), 34);
}

static void a_queue_of_one_entry_works(void **state)
{
	const struct dare_config config = { .contexts = 1, .queue_entries = 1, .tlb_entries = 2 };

	(void)state;
	host_destroy(host);
	host = host_create_with(HOST_WALKS | HOST_FAULTS, &config);
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_true(host_run(host, W_MCFG, 0, 9));
	stall(1);
	assert_false(mcfg_as(1, 0, 10));
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_true(host->completed[1]);
	assert_int_equal(host_load(host, 0, 0x30), 10);
}

/* --- fences -------------------------------------------------------------------------------- */

static void a_fence_waits_for_what_was_dispatched_before_it(void **state)
{
	(void)state;
	stall(4);
	assert_int_equal(host_load_as(host, 2, 0, 0x28), HOST_PARKED);
	assert_false(host->completed[2]);
	host_map_and_resolve(host, 0);
	assert_true(host->completed[2]);
	assert_int_equal(host->answer[2], IDLE);
	assert_int_equal(host_load(host, 0, 0x28), IDLE);
}

/* Else two threads that dispatch all the time would starve a third one. */
static void a_fence_does_not_wait_for_what_came_after_it(void **state)
{
	(void)state;
	stall(1);
	assert_int_equal(host_load_as(host, 2, 0, 0x28), HOST_PARKED);
	host->space[0].absent[1] = true;
	host_run(host, W_MLD(1), HOST_BASE + HOST_PAGE, 64);
	host_map_and_resolve(host, 0);
	assert_true(host->completed[2]);
	assert_int_equal(host->answer[2] & 7, 1 | 4);
}

static void an_error_ends_a_fence(void **state)
{
	(void)state;
	stall(4);
	assert_int_equal(host_load_as(host, 2, 0, 0x28), HOST_PARKED);
	host_resolve(host, false);
	assert_true(host->completed[2]);
	assert_int_equal(host->answer[2], IDLE | 2);
}

static void a_fence_of_4_bytes_gives_the_low_half(void **state)
{
	struct mimic_access access = { .owner = 2, .page = 1, .offset = 0x28, .size = 4 };

	(void)state;
	stall(1);
	assert_true(host_store(host, 0, 0x18, W_MCFG));
	assert_int_equal(host_access(host, &access), MIMIC_PARKED);
	host_map_and_resolve(host, 0);
	assert_int_equal(host->answer[2], IDLE | 2 << 24);
}

static void fences_in_a_batch_stop_before_they_wait(void **state)
{
	const struct mimic_access pattern = { .owner = 2, .page = 1, .offset = 0x28, .size = 8 };
	uint64_t values[2];

	(void)state;
	stall(1);
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, values, 2, 0), 0);
	host_map_and_resolve(host, 0);
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, values, 2, 0), 2);
	assert_int_equal(values[1], IDLE);
}

/* --- other ends of a wait --------------------------------------------------------------------- */

static void an_error_drops_what_waits_for_room(void **state)
{
	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	assert_false(mcfg_as(2, 1, 45));
	host_resolve(host, false);
	assert_true(host->completed[1] && host->completed[2]);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_dropped), 31 + 2);
	assert_int_equal(host_load(host, 0, 0x48), 1);
	assert_int_equal(host_load(host, 0, 0x38), 64);
}

static void a_cancelled_dispatch_was_never_made(void **state)
{
	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	assert_false(mcfg_as(2, 2, 5));
	host->model->ops->cancel(host->model, 1, 0);
	host->parked[1] = false;
	host->model->ops->cancel(host->model, 7, 0);
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_false(host->completed[1]);
	assert_true(host->completed[2]);
	assert_int_equal(host_load(host, 0, 0x38), 64);
	assert_int_equal(host_load(host, 0, 0x40), 5);
}

static void a_cancelled_fence_is_not_answered(void **state)
{
	(void)state;
	stall(1);
	assert_int_equal(host_load_as(host, 2, 0, 0x28), HOST_PARKED);
	host->model->ops->cancel(host->model, 2, 0);
	host->parked[2] = false;
	host_map_and_resolve(host, 0);
	assert_false(host->completed[2]);
	assert_int_equal(host_load_as(host, 2, 0, 0x28), IDLE);
}

static void an_owner_that_is_gone_is_not_answered_and_owes_no_values(void **state)
{
	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	host_store_as(host, 3, 1, 0x18, W_MLD(0));
	host_store_as(host, 4, 2, 0x18, W_MLD(0));
	host->model->ops->owner_gone(host->model, 1, 0);
	host->model->ops->owner_gone(host->model, 3, 0);
	host->parked[1] = false;
	assert_int_equal(host_load(host, 1, 0x20) >> 24, 0);
	assert_int_equal(host_load(host, 2, 0x20) >> 24, 2);
	host_map_and_resolve(host, 0);
	while (host->model->ops->busy(host->model))
		host->model->ops->tick(host->model, 0);
	assert_int_equal(host_load(host, 0, 0x38), 64);
	assert_int_equal(host_load(host, 0, 0x50), 32);
}

static void reset_answers_waiters(void **state)
{
	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	assert_int_equal(host_load_as(host, 2, 0, 0x28), HOST_PARKED);
	assert_true(host_store_as(host, 3, 0, 0x80, 0));
	assert_true(host->completed[1] && host->completed[2]);
	assert_int_equal(host->answer[1], 0);
	assert_int_equal(host->answer[2], IDLE);
	assert_int_equal(host_load(host, 0, 0x38), 64);
	assert_int_equal(host_load(host, 0, 0x48), 0);
}

static void detaching_answers_waiters(void **state)
{
	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	assert_int_equal(host_load_as(host, 2, 0, 0x28), HOST_PARKED);
	host_attach(host, 0, 0);
	assert_true(host->completed[1] && host->completed[2]);
	assert_int_equal(host->answer[1], 0);
	assert_int_equal(host->answer[2], IDLE);
	host_attach(host, 0, 1);
	assert_int_equal(host_load(host, 0, 0x48), 0);
}

static void power_on_answers_waiters_with_0_and_forgets_everything(void **state)
{
	uint64_t counters[DARE_COUNTER_COUNT];
	struct dare_context_view view;

	(void)state;
	stall(32);
	assert_false(mcfg_as(1, 1, 44));
	assert_int_equal(host_load_as(host, 2, 0, 0x28), HOST_PARKED);
	host->model->ops->power_on(host->model, 1000);
	assert_true(host->completed[1] && host->completed[2]);
	assert_int_equal(host->answer[1] | host->answer[2], 0);
	assert_int_equal(host_control_load(host, 0x10), 0);
	assert_int_equal(host_control_load(host, 0x28), 0);
	for (unsigned int i = 0; i < 8; i++) {
		dare_model_context(host->model, i, &view);
		assert_false(view.attached || view.stalled || view.queue_level);
	}
	host->model->ops->counters(host->model, counters, DARE_COUNTER_COUNT);
	for (unsigned int i = 0; i < DARE_COUNTER_COUNT; i++)
		assert_int_equal(counters[i], 0);
	host_run(host, W_MLD(0), B, 64);
	host_assert_error(host, DARE_ERROR_DETACHED, W_MLD(0), 0, 0);
}

static void waiting_in_one_context_does_not_disturb_another(void **state)
{
	(void)state;
	host->space[1].absent[0] = true;
	stall(32);
	host_run_in(host, 1, W_MLD(0), A, 64);
	assert_int_equal(host_load_as(host, 5, 1, 0x28), HOST_PARKED);
	assert_false(mcfg_as(1, 1, 44));
	host_attach(host, 0, 0);
	assert_true(host->completed[1]);
	assert_false(host->completed[5]);
	host_map_and_resolve(host, 1);
	assert_true(host->completed[5]);
}

static void more_than_512_that_wait_are_illegal(void **state)
{
	(void)state;
	stall(1);
	for (unsigned int owner = 10; owner < 10 + 512; owner++)
		assert_int_equal(host_load_as(host, owner, 0, 0x28), HOST_PARKED);
	assert_int_equal(host_load_as(host, 550, 0, 0x28), 0);
	assert_int_equal(host_counter(host, 0, DARE_COUNTER_illegal), 1);
	host_map_and_resolve(host, 0);
	assert_int_equal(host->order_count, 512);
	assert_int_equal(host_load_as(host, 550, 0, 0x28), IDLE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_start_stalling, host_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_dispatch_into_a_full_queue_waits_for_room),
		TEST(a_dispatch_that_waits_keeps_its_source_values),
		TEST(waiters_go_on_in_the_order_of_coming),
		TEST(a_stream_waits_with_the_store_that_completes_an_instruction),
		TEST(a_stream_waits_behind_a_dispatch_that_waits),
		TEST(a_batch_stops_before_the_store_that_would_wait),
		TEST(no_call_works_for_long_on_what_others_left),
		TEST(a_queue_of_one_entry_works),
		TEST(a_fence_waits_for_what_was_dispatched_before_it),
		TEST(a_fence_does_not_wait_for_what_came_after_it),
		TEST(an_error_ends_a_fence),
		TEST(a_fence_of_4_bytes_gives_the_low_half),
		TEST(fences_in_a_batch_stop_before_they_wait),
		TEST(an_error_drops_what_waits_for_room),
		TEST(a_cancelled_dispatch_was_never_made),
		TEST(a_cancelled_fence_is_not_answered),
		TEST(an_owner_that_is_gone_is_not_answered_and_owes_no_values),
		TEST(reset_answers_waiters),
		TEST(detaching_answers_waiters),
		TEST(power_on_answers_waiters_with_0_and_forgets_everything),
		TEST(waiting_in_one_context_does_not_disturb_another),
		TEST(more_than_512_that_wait_are_illegal),
	};

	return cmocka_run_group_tests_name("waiting for the DARE model", tests, NULL, NULL);
}
