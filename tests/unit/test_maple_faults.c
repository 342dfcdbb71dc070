/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Page faults that a driver resolves or does not, and shootdowns. */
#include "tests/lib/model_fixture.h"

static unsigned int count_valid_entries(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < 16; i++)
		count += fake_mmu_load(host, SNOOP) & 1;
	return count;
}

/* --- page faults --------------------------------------------------------------- */

static void a_page_that_is_not_there_reads_0(void **state)
{
	(void)state;
	for EACH_PROFILE(profile) {
		start(*profile, FAKE_WALKS);
		fake_open(host, WORDS_8, 1);
		host->absent[2] = true;
		assert_true(pointer32(0, 2048));
		assert_int_equal(consume(0), 0);
		assert_int_equal(fake_mmu_load(host, GET_FAULT), fake_address(2048) | PIPES);
		assert_int_equal(host->interrupts, 1);
		stop();
	}
}

static void an_address_that_cannot_be_read_leaves_no_translation(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	assert_true(fake_store(host, PRODUCER, POINTER32, 0, 8, 0x70000000));
	assert_int_equal(consume(0), 0);
	assert_int_equal(count_valid_entries(), 0);
	stop();
}

static void a_fault_that_brings_the_page_is_not_seen_by_the_program(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_RETRY;
	host->fault_maps_page = true;
	assert_true(pointer32(0, 2049));
	assert_int_equal(consume(0), 0xf0000000 + 2049);
	assert_int_equal(host->faults, 1);
	assert_int_equal(host->fault_address, fake_address(2049));
	assert_int_equal(host->fault_source, PIPES);
	stop();
}

static void a_retry_that_does_not_help_ends_in_0(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_RETRY;
	assert_true(pointer32(0, 2049));
	assert_int_equal(consume(0), 0);
	stop();
}

static void start_stalled(void)
{
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 2);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_false(pointer32(0, 2050));
	assert_int_equal(host->interrupts, 1);
}

static void a_stalled_fault_goes_on_when_it_is_resolved(void **state)
{
	(void)state;
	start_stalled();
	host->absent[2] = false;
	assert_int_equal(fake_mmu_load(host, GET_FAULT), (fake_address(2050) & ~4095ull) | PIPES);
	assert_false(host->completed[PRODUCER]);
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 0xf0000000 + 2050);
	assert_int_equal(fake_mmu_load(host, GET_FAULT), 0);
	stop();
}

/* Reading the fault arms it. */
static void a_fault_that_was_not_read_cannot_be_resolved(void **state)
{
	(void)state;
	start_stalled();
	host->absent[2] = false;
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_false(host->completed[PRODUCER]);
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, LIMA);
	assert_false(host->completed[PRODUCER]);
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_true(host->completed[PRODUCER]);
	stop();
}

static void a_fault_that_is_resolved_without_a_page_reads_0(void **state)
{
	(void)state;
	start_stalled();
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 0);
	stop();
}

/* Bit 2 of the payload: the driver has made the page present. */
static void a_page_that_has_gone_again_is_a_new_fault(void **state)
{
	(void)state;
	start_stalled();
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, 4 | PIPES);
	assert_false(host->completed[PRODUCER]);
	assert_int_equal(host->faults, 2);
	assert_int_equal(host->interrupts, 2);
	host->absent[2] = false;
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, 4 | PIPES);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 0xf0000000 + 2050);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_page_faults), 2);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_resolves), 2);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_faults), 0);
	stop();
}

static void the_artifact_does_not_know_that_a_page_is_there(void **state)
{
	(void)state;
	start("artifact", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_false(pointer32(0, 2050));
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, 4 | PIPES);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 0);
	stop();
}

/* A program sees the same faults with a driver and without. */
static void a_fault_that_was_resolved_leaves_no_trace_for_programs(void **state)
{
	(void)state;
	start_stalled();
	host->absent[2] = false;
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_int_equal(fake_load(host, 3, FAULT_COUNT, 0, 8), 0);
	assert_int_equal(fake_load(host, 3, FAULT_ADDRESS, 0, 8), 0);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_faults), 0);
	stop();
}

static void a_withdrawn_access_does_not_decide_what_the_next_one_meets(void **state)
{
	(void)state;
	start_stalled();
	host->model->ops->cancel(host->model, PRODUCER, host->now);
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, PIPES);
	/* The driver found no page for the one before; this one is asked for anew. */
	assert_false(pointer32(0, 2050));
	assert_int_equal(host->faults, 2);
	stop();
}

/* --- a store that ends with its queue's consumer, while a page is waited for --------- */

static void let_consumer_end(void)
{
	host->model->ops->owner_gone(host->model, CONSUMER, host->now);
	assert_true(host->completed[PRODUCER]);
	host->completed[PRODUCER] = false;
	assert_int_equal(fake_load(host, CONSUMER, OPEN_CONSUMER, 0, 4) & 3, 1);
}

static void an_abandoned_store_does_not_decide_what_the_next_one_meets(void **state)
{
	(void)state;
	start_stalled();
	let_consumer_end();
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, PIPES);
	/* The driver found no page for the one before; this one is asked for anew. */
	assert_false(pointer32(0, 2050));
	assert_int_equal(host->faults, 2);
	stop();
}

/* Its first half lies in a page that was bad then, and is there now. */
static void an_abandoned_store_leaves_no_bad_half(void **state)
{
	const uint64_t between = fake_address(3071);

	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	host->absent[2] = host->absent[3] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_false(fake_store(host, PRODUCER, FULL_POINTER64, 0, 8, between));
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_int_equal(host->faults, 2);
	let_consumer_end();
	fake_mmu_load(host, GET_FAULT);
	host->absent[2] = host->absent[3] = false;
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_true(fake_store(host, PRODUCER, FULL_POINTER64, 0, 8, between));
	assert_int_equal(consume(0), 0xf0000000 + 3071);
	assert_int_equal(consume(0), 0xf0000000 + 3072);
	stop();
}

/* --- other ends of a stall ------------------------------------------------------- */

static void install_resolves_and_maps(void **state)
{
	(void)state;
	start_stalled();
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, INSTALL, (fake_address(2048) >> 12) << 32 | (fake_address(1024) >> 12) << 4);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 0xf0000000 + 1024 + 2);
	stop();
}

static void data_goes_on_while_the_pipes_are_stalled(void **state)
{
	struct mimic_access access = {
		.owner = 4, .offset = AT(PRODUCE, 1), .size = 4, .is_write = 1, .data = 5,
	};

	(void)state;
	start_stalled();
	fake_load(host, PRODUCER, STATISTICS, 0, 8);
	fake_load(host, CONSUMER, CLOSE_CONSUMER, 1, 4);
	fake_load(host, 4, OPEN_CONSUMER, 1, 4);
	/* owner 1 still waits for queue 0; queue 1 is its own too, so give it away by hand */
	host->model->ops->cancel(host->model, PRODUCER, host->now);
	fake_load(host, PRODUCER, CLOSE_PRODUCER, 1, 4);
	fake_load(host, 4, OPEN_PRODUCER, 1, 4);
	assert_int_equal(fake_access(host, &access), MIMIC_DONE);
	assert_int_equal(fake_load(host, 4, CONSUME, 1, 4), 5);
	stop();
}

static void reset_ends_a_stall(void **state)
{
	(void)state;
	start_stalled();
	fake_load(host, CONSUMER, RESET, 0, 4);
	assert_true(host->completed[PRODUCER]);
	fake_open(host, WORDS_8, 1);
	assert_true(pointer32(0, 1));
	assert_int_equal(consume(0), 0xf0000001);
	stop();
}

static void a_waived_interrupt_is_not_raised(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	fake_mmu_store(host, ROOT, 1ull << 63);
	host->absent[2] = true;
	assert_true(pointer32(0, 2048));
	assert_int_equal(host->interrupts, 0);
	assert_int_equal(host->faults, 1);
	stop();
}

static void a_stalled_loop_goes_on_when_it_is_resolved(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_32, 1);
	host->absent[4] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(4096));
	fake_store(host, PRODUCER, LIMA_PRODUCE, 1, 8, 0);
	assert_true(fake_store(host, PRODUCER, LOOP, 0, 8, 4));
	assert_int_equal(consume(0), FAKE_PARKED);
	assert_int_equal(fake_mmu_load(host, GET_FAULT), fake_address(4096) | LIMA);
	host->absent[4] = false;
	fake_mmu_store(host, RESOLVE, LIMA);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0xf0000000 + 4096);
	for (unsigned int i = 1; i < 4; i++)
		assert_int_equal(consume(0), 0xf0000000 + 4096 + i);
	stop();
}

/* The queue has room all the while: it is only the order that makes them wait. */
static void stores_behind_a_stalled_loop_wait_for_it(void **state)
{
	static const uint64_t values[2] = { 78, 79 };
	struct mimic_access pattern = {
		.owner = PRODUCER, .offset = AT(PRODUCE, 0), .size = 4, .is_write = 1,
	};

	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_32, 1);
	host->absent[4] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	fake_store(host, PRODUCER, QUEUE_LIMA_B, 0, 8, fake_address(4096));
	assert_true(fake_store(host, PRODUCER, QUEUE_LOOP_POINTER32, 0, 8, 1));
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 2, host->now), 0);
	assert_false(produce(0, 77));
	host->absent[4] = false;
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, LIMA);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 2, host->now), 2);
	assert_int_equal(consume(0), 0xf0000000 + 4096);
	for (unsigned int i = 77; i < 80; i++)
		assert_int_equal(consume(0), i);
	stop();
}

static void a_double_pointer_that_stalls_between_its_halves_fetches_each_once(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, FAKE_BASE);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_false(fake_store(host, PRODUCER, POINTER32, 0, 8, 3ull << 32 | 2048));
	host->absent[2] = false;
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, PIPES);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 0xf0000003);
	assert_int_equal(consume(0), 0xf0000000 + 2048);
	assert_int_equal(consume(0), FAKE_PARKED);
	stop();
}

/* --- a double pointer that is taken back between its halves ---------------------- */

static bool double_pointer(uint32_t first, uint32_t second)
{
	return fake_store(host, PRODUCER, POINTER32, 0, 8, (uint64_t)first << 32 | second);
}

static void cancel(void)
{
	host->model->ops->cancel(host->model, PRODUCER, host->now);
	host->parked[PRODUCER] = false;
}

static void resolve_pipes(void)
{
	host->absent[2] = false;
	fake_mmu_load(host, GET_FAULT);
	fake_mmu_store(host, RESOLVE, PIPES);
}

static void expect_words(const uint32_t *words, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(consume(0), words[i]);
	assert_int_equal(consume(0), FAKE_PARKED);
}

#define EXPECT_WORDS(...) \
	expect_words((const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static void start_half_done(void)
{
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, FAKE_BASE);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_false(double_pointer(3, 2048));
}

static void start_taken_back(void)
{
	start_half_done();
	cancel();
}

static void the_same_store_goes_on_behind_the_word_of_the_one_that_was_taken_back(void **state)
{
	(void)state;
	start_taken_back();
	assert_false(double_pointer(3, 2048));
	resolve_pipes();
	assert_true(host->completed[PRODUCER]);
	EXPECT_WORDS(0xf0000003, 0xf0000000 + 2048);
	stop();
}

static void the_same_store_goes_on_after_each_time_that_it_is_taken_back(void **state)
{
	(void)state;
	start_taken_back();
	assert_false(double_pointer(3, 2048));
	cancel();
	resolve_pipes();
	assert_true(double_pointer(3, 2048));
	EXPECT_WORDS(0xf0000003, 0xf0000000 + 2048);
	stop();
}

/* Two stores of pointers at once; how many were done. */
static size_t pointer_run(const uint64_t values[2])
{
	const struct mimic_access pattern = {
		.owner = PRODUCER, .offset = AT(POINTER32, 0), .size = 8, .is_write = 1,
	};

	return host->model->ops->store_many(host->model, &pattern, values, 2, host->now);
}

static void the_same_store_goes_on_at_the_head_of_a_run(void **state)
{
	static const uint64_t values[2] = { 3ull << 32 | 2048, 5 };

	(void)state;
	start_taken_back();
	resolve_pipes();
	assert_int_equal(pointer_run(values), 2);
	EXPECT_WORDS(0xf0000003, 0xf0000000 + 2048, 0xf0000005);
	stop();
}

/* The host stores the rest of a run one by one. */
static void a_store_of_a_run_that_stalls_between_its_halves_goes_on_by_itself(void **state)
{
	static const uint64_t values[2] = { 5, 3ull << 32 | 2048 };

	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, FAKE_BASE);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_int_equal(pointer_run(values), 1);
	assert_false(double_pointer(3, 2048));
	resolve_pipes();
	assert_true(host->completed[PRODUCER]);
	EXPECT_WORDS(0xf0000005, 0xf0000003, 0xf0000000 + 2048);
	stop();
}

static void another_double_pointer_after_one_that_was_taken_back_fetches_both(void **state)
{
	(void)state;
	start_taken_back();
	resolve_pipes();
	assert_true(double_pointer(4, 2048));
	EXPECT_WORDS(0xf0000003, 0xf0000004, 0xf0000000 + 2048);
	stop();
}

static void another_operation_after_a_double_pointer_that_was_taken_back_fetches_both(void **state)
{
	(void)state;
	start_taken_back();
	resolve_pipes();
	assert_true(fake_store(host, PRODUCER, LLC_POINTER32, 0, 8, 3ull << 32 | 2048));
	EXPECT_WORDS(0xf0000003, 0xf0000003, 0xf0000000 + 2048);
	stop();
}

static void the_same_store_behind_another_store_fetches_both(void **state)
{
	(void)state;
	start_taken_back();
	resolve_pipes();
	assert_true(produce(0, 77));
	assert_true(double_pointer(3, 2048));
	EXPECT_WORDS(0xf0000003, 77, 0xf0000003, 0xf0000000 + 2048);
	stop();
}

static void the_same_store_behind_another_in_a_run_fetches_both(void **state)
{
	static const uint64_t values[2] = { 5, 3ull << 32 | 2048 };

	(void)state;
	start_taken_back();
	resolve_pipes();
	assert_int_equal(pointer_run(values), 2);
	EXPECT_WORDS(0xf0000003, 0xf0000005, 0xf0000003, 0xf0000000 + 2048);
	stop();
}

static void the_same_store_from_another_base_fetches_both(void **state)
{
	(void)state;
	start_taken_back();
	resolve_pipes();
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(16));
	assert_true(double_pointer(3, 2048));
	EXPECT_WORDS(0xf0000003, 0xf0000000 + 19, 0xf0000000 + 2064);
	stop();
}

static void the_same_store_of_a_thread_that_ended_between_fetches_both(void **state)
{
	(void)state;
	start_taken_back();
	host->model->ops->owner_gone(host->model, PRODUCER, host->now);
	resolve_pipes();
	assert_int_equal(fake_load(host, PRODUCER, OPEN_PRODUCER, 0, 4) & 2, 2);
	assert_true(double_pointer(3, 2048));
	EXPECT_WORDS(0xf0000003, 0xf0000003, 0xf0000000 + 2048);
	stop();
}

static void the_same_store_of_a_role_that_was_closed_between_fetches_both(void **state)
{
	(void)state;
	start_taken_back();
	fake_load(host, PRODUCER, CLOSE_PRODUCER, 0, 4);
	resolve_pipes();
	assert_int_equal(fake_load(host, PRODUCER, OPEN_PRODUCER, 0, 4) & 2, 2);
	assert_true(double_pointer(3, 2048));
	EXPECT_WORDS(0xf0000003, 0xf0000003, 0xf0000000 + 2048);
	stop();
}

/* The end of the consumer's thread ends the store; the second word never comes. */
static void a_double_pointer_behind_one_that_ended_with_the_consumer_fetches_both(void **state)
{
	(void)state;
	start_half_done();
	host->model->ops->owner_gone(host->model, CONSUMER, host->now);
	assert_true(host->completed[PRODUCER]);
	resolve_pipes();
	fake_load(host, CONSUMER, OPEN_CONSUMER, 0, 4);
	assert_true(double_pointer(3, 2048));
	EXPECT_WORDS(0xf0000003, 0xf0000003, 0xf0000000 + 2048);
	stop();
}

/* Loads give 0 there; the counters show it. */
static void a_double_pointer_behind_one_that_a_hung_queue_dropped_fetches_both(void **state)
{
	(void)state;
	start("artifact", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, FAKE_BASE);
	assert_true(fake_store(host, PRODUCER, LLC_POINTER64, 0, 8, 1));
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_hangs), 1);
	host->absent[2] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	assert_true(double_pointer(3, 2048));
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_fetched), 1);
	resolve_pipes();
	assert_true(double_pointer(3, 2048));
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_fetched), 3);
	stop();
}

/* --- shootdowns ------------------------------------------------------------------ */

static void an_invalidated_page_is_walked_again(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS);
	fake_open(host, WORDS_8, 1);
	pointer32(0, 1024);
	assert_int_equal(consume(0), 0xf0000000 + 1024);
	host->frame_of[1] = fake_address(3072);
	pointer32(0, 1024);
	assert_int_equal(consume(0), 0xf0000000 + 1024);	/* the TLB still has it */
	host->model->ops->invalidate(host->model, fake_address(1024), fake_address(1025));
	pointer32(0, 1024);
	assert_int_equal(consume(0), 0xf0000000 + 3072);
	stop();
}

static void invalidate_leaves_other_pages_alone(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS);
	fake_open(host, WORDS_8, 1);
	for (unsigned int page = 0; page < 4; page++)
		pointer32(0, 1024 * page);
	host->model->ops->invalidate(host->model, fake_address(1024), fake_address(3072));
	assert_int_equal(count_valid_entries(), 2);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_that_is_not_there_reads_0),
		cmocka_unit_test(an_address_that_cannot_be_read_leaves_no_translation),
		cmocka_unit_test(a_fault_that_brings_the_page_is_not_seen_by_the_program),
		cmocka_unit_test(a_retry_that_does_not_help_ends_in_0),
		cmocka_unit_test(a_stalled_fault_goes_on_when_it_is_resolved),
		cmocka_unit_test(a_fault_that_was_not_read_cannot_be_resolved),
		cmocka_unit_test(a_fault_that_is_resolved_without_a_page_reads_0),
		cmocka_unit_test(a_page_that_has_gone_again_is_a_new_fault),
		cmocka_unit_test(the_artifact_does_not_know_that_a_page_is_there),
		cmocka_unit_test(a_fault_that_was_resolved_leaves_no_trace_for_programs),
		cmocka_unit_test(a_withdrawn_access_does_not_decide_what_the_next_one_meets),
		cmocka_unit_test(an_abandoned_store_does_not_decide_what_the_next_one_meets),
		cmocka_unit_test(an_abandoned_store_leaves_no_bad_half),
		cmocka_unit_test(install_resolves_and_maps),
		cmocka_unit_test(data_goes_on_while_the_pipes_are_stalled),
		cmocka_unit_test(reset_ends_a_stall),
		cmocka_unit_test(a_waived_interrupt_is_not_raised),
		cmocka_unit_test(a_stalled_loop_goes_on_when_it_is_resolved),
		cmocka_unit_test(stores_behind_a_stalled_loop_wait_for_it),
		cmocka_unit_test(a_double_pointer_that_stalls_between_its_halves_fetches_each_once),
		cmocka_unit_test(the_same_store_goes_on_behind_the_word_of_the_one_that_was_taken_back),
		cmocka_unit_test(the_same_store_goes_on_after_each_time_that_it_is_taken_back),
		cmocka_unit_test(the_same_store_goes_on_at_the_head_of_a_run),
		cmocka_unit_test(a_store_of_a_run_that_stalls_between_its_halves_goes_on_by_itself),
		cmocka_unit_test(another_double_pointer_after_one_that_was_taken_back_fetches_both),
		cmocka_unit_test(another_operation_after_a_double_pointer_that_was_taken_back_fetches_both),
		cmocka_unit_test(the_same_store_behind_another_store_fetches_both),
		cmocka_unit_test(the_same_store_behind_another_in_a_run_fetches_both),
		cmocka_unit_test(the_same_store_from_another_base_fetches_both),
		cmocka_unit_test(the_same_store_of_a_thread_that_ended_between_fetches_both),
		cmocka_unit_test(the_same_store_of_a_role_that_was_closed_between_fetches_both),
		cmocka_unit_test(a_double_pointer_behind_one_that_ended_with_the_consumer_fetches_both),
		cmocka_unit_test(a_double_pointer_behind_one_that_a_hung_queue_dropped_fetches_both),
		cmocka_unit_test(an_invalidated_page_is_walked_again),
		cmocka_unit_test(invalidate_leaves_other_pages_alone),
	};

	return cmocka_run_group_tests_name("maple, page faults", tests, NULL, NULL);
}
