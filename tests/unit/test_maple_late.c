/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory that answers late and out of order, and the prefetches that memory is told of. */
#include <errno.h>

#include "tests/lib/model_fixture.h"

/* --- memory that answers late ---------------------------------------------- */

static void words_that_come_out_of_order_are_popped_in_program_order(void **state)
{
	static const unsigned int order[] = { 3, 1, 4, 2, 0 };

	(void)state;
	for EACH_PROFILE(profile) {
		start(*profile, FAKE_IDENTITY);
		fake_open(host, WORDS_8, 1);
		host->defer = true;
		for (unsigned int i = 0; i < 5; i++)
			assert_true(pointer32(0, 10 * i));
		assert_int_equal(consume(0), FAKE_PARKED);
		for (unsigned int i = 0; i < 5; i++) {
			assert_false(host->completed[CONSUMER]);
			fake_fill(host, order[i]);
		}
		assert_true(host->completed[CONSUMER]);
		assert_int_equal(host->answer[CONSUMER], 0xf0000000);
		for (unsigned int i = 1; i < 5; i++)
			assert_int_equal(consume(0), 0xf0000000 + 10 * i);
		stop();
	}
}

static void two_word_fetches_come_out_of_order_too(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	for (unsigned int i = 0; i < 4; i++)
		assert_true(fake_store(host, PRODUCER, POINTER64, 0, 8, fake_address(4 * i)));
	for (unsigned int i = 4; i-- > 0;)
		fake_fill(host, i);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(fake_load(host, CONSUMER, CONSUME, 0, 8),
				 (0xf0000001ull + 4 * i) << 32 | (0xf0000000 + 4 * i));
	stop();
}

static void a_two_word_fetch_that_wraps_stays_in_its_queue(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	for (unsigned int i = 0; i < 7; i++) {
		produce(0, i);
		consume(0);
	}
	produce(1, 0x1111);
	host->defer = true;
	assert_true(fake_store(host, PRODUCER, POINTER64, 0, 8, fake_address(6)));
	fake_fill(host, 0);
	assert_int_equal(fake_load(host, CONSUMER, CONSUME, 0, 8), 0xf0000007f0000006);
	assert_int_equal(consume(1), 0x1111);
	stop();
}

static void data_behind_a_late_word_waits_for_it(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 7);
	produce(0, 1);
	assert_int_equal(consume(0), FAKE_PARKED);
	fake_fill(host, 0);
	assert_int_equal(host->answer[CONSUMER], 0xf0000007);
	assert_int_equal(consume(0), 1);
	stop();
}

static void late_words_hold_their_slots(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	for (unsigned int i = 0; i < 8; i++)
		assert_true(pointer32(0, i));
	assert_false(pointer32(0, 8));
	fake_fill(host, 0);
	assert_false(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 0xf0000000);
	assert_true(host->completed[PRODUCER]);
	stop();
}

static void late_words_are_in_use_but_not_valid(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	produce(0, 1);
	pointer32(0, 0);
	pointer32(0, 1);
	assert_int_equal(fake_load(host, 3, DEBUG, 0, 8), 7);
	assert_int_equal(fake_load(host, 3, DEBUG, 1, 8), 1);
	fake_fill(host, 1);
	assert_int_equal(fake_load(host, 3, DEBUG, 1, 8), 5);
	fake_fill(host, 0);
	assert_int_equal(fake_load(host, 3, DEBUG, 1, 8), 7);
	stop();
}

static void a_late_word_that_cannot_be_read_is_0_and_a_fault(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	assert_true(fake_store(host, PRODUCER, POINTER32, 0, 8, 0x70000044));
	fake_fill(host, 0);
	assert_int_equal(consume(0), 0);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_faults), 1);
	assert_int_equal(fake_mmu_load(host, GET_FAULT), 0x70000000 | PIPES);
	assert_int_equal(fake_load(host, 3, FAULT_ADDRESS, 0, 8), 0x70000044);
	stop();
}

static void fills_that_nobody_asked_for_are_ignored(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 3);
	maple_model_fill(host->model, 0x123456789, 0, 1, host->now);
	fake_fill(host, 0);
	fake_fill(host, 0);
	assert_int_equal(consume(0), 0xf0000003);
	assert_int_equal(consume(0), FAKE_PARKED);
	stop();
}

static void a_second_answer_to_a_request_changes_nothing(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 3);
	fake_fill(host, 0);
	assert_int_equal(consume(0), 0xf0000003);
	/* all around the ring, so that the word's slot is another's now */
	for (unsigned int i = 0; i < 8; i++)
		assert_true(produce(0, 100 + i));
	fake_fill(host, 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(consume(0), 100 + i);
	stop();
}

static void data_that_come_with_a_late_fault_are_not_taken_for_the_word(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	assert_true(pointer32(0, 3));
	maple_model_fill(host->model, host->deferred[0].tag, -EFAULT, 0x1234, host->now);
	assert_int_equal(consume(0), 0);
	stop();
}

static unsigned int count_valid_entries(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < 16; i++)
		count += fake_mmu_load(host, SNOOP) & 1;
	return count;
}

/* The entry of a page that cannot be read does not stay, so the next access walks again. */
static void expect_two_faults_of_one_page(void)
{
	assert_int_equal(consume(0), 0);
	assert_int_equal(consume(0), 0);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_faults), 2);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_misses), 2);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_hits), 0);
	assert_int_equal(count_valid_entries(), 0);
}

static void late_faults_leave_tlb_and_counters_as_faults_at_once_do(void **state)
{
	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		start("paper", FAKE_IDENTITY);
		fake_open(host, WORDS_8, 1);
		host->defer = late;
		assert_true(fake_store(host, PRODUCER, FULL_POINTER32, 0, 8, 0x70000044));
		assert_true(fake_store(host, PRODUCER, FULL_POINTER32, 0, 8, 0x70000088));
		for (unsigned int i = 0; i < host->deferred_count; i++)
			fake_fill(host, i);
		expect_two_faults_of_one_page();
		stop();
	}
}

static void late_faults_of_a_batch_leave_tlb_and_counters_as_faults_at_once_do(void **state)
{
	static const uint64_t bad[] = { 0x70000044, 0x70000088 };
	struct mimic_access pattern = {
		.owner = PRODUCER, .offset = AT(FULL_POINTER32, 0), .size = 8, .is_write = 1,
	};

	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		start("paper", FAKE_IDENTITY);
		fake_open(host, WORDS_8, 1);
		host->defer = late;
		assert_int_equal(host->model->ops->store_many(host->model, &pattern, bad, 2, host->now), 2);
		for (unsigned int i = 0; i < host->deferred_count; i++)
			fake_fill(host, i);
		expect_two_faults_of_one_page();
		stop();
	}
}

static void a_loop_fetches_late_words_in_order(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 20; i++)
		host->words[4096 + i] = 19 - i;
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(4096));
	fake_store(host, PRODUCER, LIMA_POINTER32, 1, 8, fake_address(0));
	host->defer = true;
	assert_true(fake_store(host, PRODUCER, LOOP, 0, 8, 20));
	for (unsigned int got = 0, filled = 0; got < 20; got++) {
		uint64_t answer = consume(0);
		unsigned int asked = host->deferred_count;

		if (answer == FAKE_PARKED) {
			/* the newest first */
			for (unsigned int i = asked; i-- > filled;)
				fake_fill(host, i);
			filled = asked;
			assert_true(host->completed[CONSUMER]);
			answer = host->answer[CONSUMER];
		}
		assert_int_equal(answer, 0xf0000000 + 19 - got);
	}
	stop();
}

static void a_late_fault_in_a_batch_mends_the_counters_of_its_own_page(void **state)
{
	const uint64_t addresses[] = { fake_address(0), fake_address(1), 0x70000044 };
	struct mimic_access pattern = {
		.owner = PRODUCER, .offset = AT(FULL_POINTER32, 0), .size = 8, .is_write = 1,
	};

	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		start("paper", FAKE_IDENTITY);
		fake_open(host, WORDS_8, 1);
		host->defer = late;
		assert_int_equal(host->model->ops->store_many(host->model, &pattern, addresses, 3, host->now), 3);
		for (unsigned int i = 0; i < host->deferred_count; i++)
			fake_fill(host, i);
		assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_misses), 2);
		assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_hits), 1);
		assert_int_equal(fake_counter(host, MAPLE_COUNTER_faults), 1);
		stop();
	}
}

static void late_faults_without_translation_do_not_touch_the_tlb_s_counters(void **state)
{
	static const uint64_t addresses[] = { 0x70000044, 0x70000088 };
	struct mimic_access pattern = {
		.owner = PRODUCER, .offset = AT(FULL_POINTER32, 0), .size = 8, .is_write = 1,
	};

	(void)state;
	for (unsigned int count = 1; count <= 2; count++) {
		start("paper", FAKE_IDENTITY);
		fake_open(host, WORDS_8, 1);
		fake_mmu_store(host, OFF, 0);
		host->defer = true;
		assert_int_equal(host->model->ops->store_many(host->model, &pattern, addresses, count, host->now),
				 count);
		for (unsigned int i = 0; i < count; i++)
			fake_fill(host, i);
		assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_misses), 0);
		assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_hits), 0);
		assert_int_equal(fake_counter(host, MAPLE_COUNTER_faults), count);
		stop();
	}
}

/* --- prefetches: which addresses the memory is told of ----------------------- */

static void prefetch_counts_as_pointers_do(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	fake_store(host, PRODUCER, PREFETCH, 0, 8, fake_address(3));
	fake_store(host, PRODUCER, SET_BASE32, 1, 8, fake_address(0));
	fake_store(host, PRODUCER, PREFETCH, 1, 8, 5);
	fake_store(host, PRODUCER, SET_BASE64, 1, 8, fake_address(0));
	fake_store(host, PRODUCER, PREFETCH, 1, 8, 5);
	fake_store(host, PRODUCER, FULL_PREFETCH, 1, 8, fake_address(9));
	assert_int_equal(host->prefetched_count, 4);
	assert_int_equal(host->prefetched[0], fake_address(3));
	assert_int_equal(host->prefetched[1], fake_address(5));
	assert_int_equal(host->prefetched[2], fake_address(10));
	assert_int_equal(host->prefetched[3], fake_address(9));
	stop();
}

/* B[i] is 7 i; A begins at word 100. */
static void expect_loop_prefetches(unsigned int operation, unsigned int element_words)
{
	unsigned int first = host->prefetched_count;

	fake_store(host, PRODUCER, operation, 0, 8, 2ull << 32 | 30);
	assert_int_equal(host->prefetched_count, first + 28);
	for (unsigned int i = 2; i < 30; i++)
		assert_int_equal(host->prefetched[first + i - 2],
				 fake_address(100 + element_words * 7 * i));
}

static void loops_prefetch_a_plus_8_b_but_operation_28_a_plus_4_b(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 64; i++)
		host->words[4096 + i] = 7 * i;
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(4096));
	fake_store(host, PRODUCER, LIMA_PREFETCH, 1, 8, fake_address(100));
	expect_loop_prefetches(LOOP, 2);
	fake_store(host, PRODUCER, QUEUE_LIMA_A, 0, 8, fake_address(100));
	fake_store(host, PRODUCER, QUEUE_LIMA_B, 0, 8, fake_address(4096));
	expect_loop_prefetches(QUEUE_LOOP_PREFETCH32, 1);
	expect_loop_prefetches(QUEUE_LOOP_PREFETCH64, 2);
	stop();
}

/* --- RESET and INIT with loads outstanding ---------------------------------- */

static void init_after_reset_with_loads_outstanding_is_lost_in_the_artifact(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 3);
	fake_load(host, PRODUCER, RESET, 0, 4);
	assert_int_equal(fake_load(host, PRODUCER, INIT, WORDS_8, 4), 2);
	assert_int_equal(fake_load(host, PRODUCER, OPEN_PRODUCER, 0, 4), 0);
	fake_fill(host, 0);
	assert_int_equal(fake_load(host, PRODUCER, OPEN_PRODUCER, 0, 4), 0);
	assert_int_equal(fake_load(host, PRODUCER, INIT, WORDS_8, 4), 2);
	assert_int_equal(fake_load(host, PRODUCER, OPEN_PRODUCER, 0, 4), 2);
	stop();
}

static void init_after_reset_with_loads_outstanding_works_in_the_paper(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 3);
	pointer32(0, 4);
	fake_load(host, PRODUCER, RESET, 0, 4);
	fake_open(host, WORDS_8, 1);
	produce(0, 70);
	pointer32(0, 5);
	/* the words that the old queue asked for must not end up in the new one */
	fake_fill(host, 0);
	fake_fill(host, 1);
	assert_int_equal(consume(0), 70);
	assert_int_equal(consume(0), FAKE_PARKED);
	fake_fill(host, 2);
	assert_int_equal(host->answer[CONSUMER], 0xf0000005);
	stop();
}

static void a_cleared_queue_does_not_get_the_words_it_had_asked_for(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	host->defer = true;
	pointer32(0, 3);
	fake_load(host, CONSUMER, FIFO_CLEAR, 0, 4);
	assert_int_equal(fake_load(host, PRODUCER, FIFO_ADD, WORDS_8, 8), 0);
	assert_int_equal(fake_load(host, PRODUCER, OPEN_PRODUCER, 0, 4), 2);
	assert_int_equal(fake_load(host, CONSUMER, OPEN_CONSUMER, 0, 4), 1);
	produce(0, 5);
	fake_fill(host, 0);
	assert_int_equal(consume(0), 5);
	stop();
}

static void a_late_fault_of_a_loop_is_latched_as_lima_s(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, MAPLE_STORE_QUEUE_LIMA_A, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, MAPLE_STORE_QUEUE_LIMA_B, 0, 8, fake_address(0));
	host->defer = true;
	fake_store(host, PRODUCER, MAPLE_STORE_QUEUE_LOOP_POINTER32, 0, 8, 1);
	maple_model_fill(host->model, host->deferred[0].tag, -EFAULT, 0, host->now);
	assert_int_equal(fake_mmu_load(host, GET_FAULT) & 3, LIMA);
	stop();
}

/* Four words of B go to memory as one block; the third of them cannot be read. */
static void a_late_fault_within_a_block_of_a_loop_is_latched_as_lima_s(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 4; i++)
		host->words[4096 + i] = i;
	host->words[4096 + 2] = 0x10000000;
	fake_store(host, PRODUCER, QUEUE_LIMA_A, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, QUEUE_LIMA_B, 0, 8, fake_address(4096));
	host->defer = true;
	fake_store(host, PRODUCER, QUEUE_LOOP_POINTER32, 0, 8, 4);
	assert_int_equal(host->deferred_count, 4);
	for (unsigned int i = 0; i < 4; i++)
		fake_fill(host, i);
	assert_int_equal(fake_load(host, 3, FAULT_ADDRESS, 0, 8), fake_address(0x10000000));
	assert_int_equal(fake_mmu_load(host, GET_FAULT) & 3, LIMA);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(consume(0), i == 2 ? 0 : 0xf0000000 + i);
	stop();
}

/* --- waits whose other side has ended ---------------------------------------- */

static void a_consumer_of_a_producer_that_ended_gets_the_word_on_its_way(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 3);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->owner_gone(host->model, PRODUCER, host->now);
	assert_false(host->completed[CONSUMER]);
	fake_fill(host, 0);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0xf0000003);
	stop();
}

static void a_consumer_of_a_producer_that_ended_gets_words_of_its_stalled_loop(void **state)
{
	(void)state;
	start("paper", FAKE_WALKS | FAKE_FAULTS);
	fake_open(host, WORDS_8, 1);
	host->absent[4] = true;
	host->fault_answer = MIMIC_FAULT_STALL;
	fake_store(host, PRODUCER, QUEUE_LIMA_B, 0, 8, fake_address(4096));
	assert_true(fake_store(host, PRODUCER, QUEUE_LOOP_POINTER32, 0, 8, 2));
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->owner_gone(host->model, PRODUCER, host->now);
	assert_false(host->completed[CONSUMER]);
	host->absent[4] = false;
	assert_int_equal(fake_mmu_load(host, GET_FAULT) & 3, LIMA);
	fake_mmu_store(host, RESOLVE, LIMA);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0xf0000000 + 4096);
	assert_int_equal(consume(0), 0xf0000000 + 4097);
	stop();
}

static void a_consumer_that_waits_again_after_a_producer_ended_waits_for_the_next_one(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->owner_gone(host->model, PRODUCER, host->now);
	assert_true(host->completed[CONSUMER]);
	host->completed[CONSUMER] = false;
	assert_int_equal(fake_load(host, 4, OPEN_PRODUCER, 0, 4), 2);
	assert_int_equal(consume(0), FAKE_PARKED);
	fake_tick(host);
	assert_false(host->completed[CONSUMER]);
	assert_true(fake_store(host, 4, PRODUCE, 0, 4, 77));
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 77);
	stop();
}

static void the_end_of_a_thread_of_other_queues_ends_no_wait(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	fake_load(host, 4, OPEN_PRODUCER, 2, 4);
	fake_load(host, 4, OPEN_CONSUMER, 2, 4);
	for (unsigned int i = 0; i < 8; i++)
		assert_true(produce(0, i));
	assert_false(produce(0, 8));
	assert_int_equal(consume(1), FAKE_PARKED);
	host->model->ops->owner_gone(host->model, 4, host->now);
	assert_false(host->completed[PRODUCER]);
	assert_false(host->completed[CONSUMER]);
	stop();
}

static void a_consumer_of_a_producer_that_ended_gets_words_on_their_way_then_0(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 3);
	/* two words, and only one will come */
	assert_int_equal(fake_load(host, CONSUMER, CONSUME, 0, 8), FAKE_PARKED);
	host->model->ops->owner_gone(host->model, PRODUCER, host->now);
	assert_false(host->completed[CONSUMER]);
	fake_fill(host, 0);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_fault_of_a_loop_is_latched_as_lima_s),
		cmocka_unit_test(a_late_fault_within_a_block_of_a_loop_is_latched_as_lima_s),
		cmocka_unit_test(a_second_answer_to_a_request_changes_nothing),
		cmocka_unit_test(data_that_come_with_a_late_fault_are_not_taken_for_the_word),
		cmocka_unit_test(late_faults_leave_tlb_and_counters_as_faults_at_once_do),
		cmocka_unit_test(late_faults_of_a_batch_leave_tlb_and_counters_as_faults_at_once_do),
		cmocka_unit_test(a_consumer_of_a_producer_that_ended_gets_words_on_their_way_then_0),
		cmocka_unit_test(a_consumer_of_a_producer_that_ended_gets_the_word_on_its_way),
		cmocka_unit_test(a_consumer_of_a_producer_that_ended_gets_words_of_its_stalled_loop),
		cmocka_unit_test(a_consumer_that_waits_again_after_a_producer_ended_waits_for_the_next_one),
		cmocka_unit_test(the_end_of_a_thread_of_other_queues_ends_no_wait),
		cmocka_unit_test(words_that_come_out_of_order_are_popped_in_program_order),
		cmocka_unit_test(two_word_fetches_come_out_of_order_too),
		cmocka_unit_test(a_two_word_fetch_that_wraps_stays_in_its_queue),
		cmocka_unit_test(data_behind_a_late_word_waits_for_it),
		cmocka_unit_test(late_words_hold_their_slots),
		cmocka_unit_test(late_words_are_in_use_but_not_valid),
		cmocka_unit_test(a_late_word_that_cannot_be_read_is_0_and_a_fault),
		cmocka_unit_test(fills_that_nobody_asked_for_are_ignored),
		cmocka_unit_test(a_loop_fetches_late_words_in_order),
		cmocka_unit_test(prefetch_counts_as_pointers_do),
		cmocka_unit_test(loops_prefetch_a_plus_8_b_but_operation_28_a_plus_4_b),
		cmocka_unit_test(init_after_reset_with_loads_outstanding_is_lost_in_the_artifact),
		cmocka_unit_test(init_after_reset_with_loads_outstanding_works_in_the_paper),
		cmocka_unit_test(a_late_fault_in_a_batch_mends_the_counters_of_its_own_page),
		cmocka_unit_test(late_faults_without_translation_do_not_touch_the_tlb_s_counters),
		cmocka_unit_test(a_cleared_queue_does_not_get_the_words_it_had_asked_for),
	};

	return cmocka_run_group_tests_name("maple, late memory", tests, NULL, NULL);
}
