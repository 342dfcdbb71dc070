/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the contract's cases cannot reach: memory that answers late, stalled faults, the model's own operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/fake_host.h"

#define EACH_PROFILE(i) (const char *const *i = both_profiles; *i; i++)

static const char *const both_profiles[] = { "paper", "artifact", NULL };

enum { FLUSH = 0, GET_FAULT = 1, SNOOP = 2 };
enum { OFF = 0, ROOT = 1, RESOLVE = 2, INSTALL = 6 };
enum { PIPES = 1, LIMA = 2 };
enum { PRODUCER = 1, CONSUMER = 2 };

static struct fake_host *host;

static void start(const char *profile, unsigned int options)
{
	host = fake_host_profile(profile, options);
	assert_non_null(host);
}

static void stop(void)
{
	assert_int_equal(host->unexpected, 0);
	fake_host_destroy(host);
}

static bool pointer32(unsigned int queue, unsigned int word)
{
	return fake_store(host, PRODUCER, POINTER32, queue, 8, fake_address(word));
}

static bool produce(unsigned int queue, uint32_t value)
{
	return fake_store(host, PRODUCER, PRODUCE, queue, 4, value);
}

static uint64_t consume(unsigned int queue)
{
	return fake_load(host, CONSUMER, CONSUME, queue, 4);
}

static unsigned int count_valid_entries(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < 16; i++)
		count += fake_mmu_load(host, SNOOP) & 1;
	return count;
}

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
	/* what the old queue asked for must not end up in the new one */
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

/* --- cancel, owners that are gone, power on ------------------------------------------ */

static void a_cancelled_load_takes_nothing(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->cancel(host->model, CONSUMER, host->now);
	produce(0, 5);
	assert_false(host->completed[CONSUMER]);
	assert_int_equal(consume(0), 5);
	stop();
}

static void a_cancelled_store_leaves_nothing(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 8; i++)
		produce(0, i);
	assert_false(produce(0, 99));
	host->model->ops->cancel(host->model, PRODUCER, host->now);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(consume(0), i);
	assert_false(host->completed[PRODUCER]);
	assert_int_equal(consume(0), FAKE_PARKED);
	stop();
}

static void cancel_of_an_owner_that_does_not_wait_changes_nothing(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->cancel(host->model, PRODUCER, host->now);
	host->model->ops->cancel(host->model, 7, host->now);
	produce(0, 5);
	assert_int_equal(host->answer[CONSUMER], 5);
	stop();
}

static void a_consumer_whose_producer_is_gone_is_answered_0(void **state)
{
	(void)state;
	for EACH_PROFILE(profile) {
		start(*profile, FAKE_IDENTITY);
		fake_open(host, WORDS_8, 1);
		assert_int_equal(consume(0), FAKE_PARKED);
		host->model->ops->owner_gone(host->model, PRODUCER, host->now);
		assert_true(host->completed[CONSUMER]);
		assert_int_equal(host->answer[CONSUMER], 0);
		assert_int_equal(fake_load(host, 4, OPEN_PRODUCER, 0, 4), 2);
		stop();
	}
}

static void a_producer_whose_consumer_is_gone_is_acknowledged(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 8; i++)
		produce(0, i);
	assert_false(produce(0, 8));
	host->model->ops->owner_gone(host->model, CONSUMER, host->now);
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(fake_load(host, 4, OPEN_CONSUMER, 0, 4), 1);
	stop();
}

static void an_owner_that_is_gone_while_it_waits_is_not_completed(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->parked[CONSUMER] = false;
	host->model->ops->owner_gone(host->model, CONSUMER, host->now);
	produce(0, 5);
	assert_int_equal(fake_load(host, 4, OPEN_CONSUMER, 0, 4), 1);
	assert_int_equal(fake_load(host, 4, CONSUME, 0, 4), 5);
	stop();
}

static void a_consumer_still_gets_what_loops_of_a_gone_producer_bring(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	host->defer = true;
	pointer32(0, 3);
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->owner_gone(host->model, PRODUCER, host->now);
	fake_fill(host, 0);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0xf0000003);
	stop();
}

static void power_on_completes_who_waits_and_forgets_everything(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	for (unsigned int i = 0; i < 8; i++)
		produce(1, i);
	fake_load(host, 3, STATISTICS, 0, 8);
	assert_false(produce(1, 8));
	assert_int_equal(consume(0), FAKE_PARKED);
	host->model->ops->power_on(host->model, host->now);
	assert_true(host->completed[PRODUCER]);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0);
	for (unsigned int i = 0; i < MAPLE_COUNTER_COUNT; i++)
		assert_int_equal(fake_counter(host, (enum maple_counter)i), 0);
	assert_int_equal(fake_load(host, PRODUCER, RESET, 0, 4), 0);
	assert_int_equal(fake_load(host, 3, STATISTICS, 0, 8), 0);
	assert_int_equal(fake_load(host, PRODUCER, INIT, WORDS_8, 4), 2);
	stop();
}

/* --- batches ---------------------------------------------------------------------- */

static void store_many_stops_before_the_store_that_would_wait(void **state)
{
	struct mimic_access pattern = { .owner = PRODUCER, .offset = AT(PRODUCE, 0), .size = 4 };
	uint64_t values[12];

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 12; i++)
		values[i] = 100 + i;
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 12, host->now), 8);
	assert_int_equal(host->model->ops->store_many(host->model, &pattern, values, 12, host->now), 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(consume(0), 100 + i);
	assert_int_equal(consume(0), FAKE_PARKED);
	stop();
}

static void store_many_wakes_a_waiting_consumer(void **state)
{
	struct mimic_access pattern = { .owner = PRODUCER, .offset = AT(PRODUCE, 0), .size = 4 };
	uint64_t values[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	assert_int_equal(consume(0), FAKE_PARKED);
	assert_true(host->model->ops->store_many(host->model, &pattern, values, 10, host->now) >= 8);
	assert_true(host->completed[CONSUMER]);
	assert_int_equal(host->answer[CONSUMER], 0);
	stop();
}

static void load_many_stops_before_the_load_that_would_wait(void **state)
{
	struct mimic_access pattern = { .owner = CONSUMER, .offset = AT(CONSUME, 0), .size = 4 };
	uint32_t values[8];

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	for (unsigned int i = 0; i < 5; i++)
		produce(0, 10 + i);
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, values, 8, host->now), 5);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(values[i], 10 + i);
	produce(0, 77);
	assert_int_equal(consume(0), 77);
	stop();
}

static void load_many_lets_the_waiting_store_and_loops_follow(void **state)
{
	struct mimic_access pattern = { .owner = CONSUMER, .offset = AT(CONSUME, 0), .size = 8 };
	uint64_t values[32];

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, LIMA_PRODUCE, 1, 8, 0);
	fake_store(host, PRODUCER, LOOP, 0, 8, 40);
	assert_false(produce(0, 1));
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, values, 32, host->now), 20);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(values[i], (0xf0000001ull + 2 * i) << 32 | (0xf0000000 + 2 * i));
	assert_true(host->completed[PRODUCER]);
	assert_int_equal(consume(0), 1);
	stop();
}

static void load_many_answers_any_register(void **state)
{
	struct mimic_access pattern = { .owner = 5, .offset = AT(IDENTIFY, 0), .size = 8 };
	uint64_t values[3];

	(void)state;
	start("paper", FAKE_IDENTITY);
	assert_int_equal(host->model->ops->load_many(host->model, &pattern, values, 3, host->now), 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(values[i], 0x4d41504c01080100);
	stop();
}

/* --- what can be seen ---------------------------------------------------------------- */

static void counters_count(void **state)
{
	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 1);
	produce(0, 1);
	fake_store(host, PRODUCER, PRODUCE, 0, 8, 1);
	pointer32(0, 0);
	pointer32(0, 1);
	fake_store(host, PRODUCER, PREFETCH, 0, 8, fake_address(5000));
	fake_store(host, PRODUCER, ATOMIC_ADD, 0, 8, fake_address(2048) << 32 | 1);
	for (unsigned int i = 0; i < 6; i++)
		consume(0);
	assert_int_equal(consume(0), FAKE_PARKED);
	produce(0, 1);
	fake_store(host, 6, PRODUCE, 0, 4, 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_produced), 7);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_consumed), 7);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_fetched), 2);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_prefetched), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_atomics), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_load_waits), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_store_waits), 0);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_illegal), 1);
	/* pages 0 (twice), 4 and 2 */
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_misses), 3);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_tlb_hits), 1);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_faults), 0);
	stop();
}

static void lima_counters_count(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_48, 2);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, LIMA_PRODUCE, 1, 8, 0);
	for (unsigned int i = 0; i < 48; i++)
		produce(1, i);
	for (uint64_t i = 0; i < 24; i++)
		fake_store(host, PRODUCER, LOOP, 1, 8, (16 * i) << 32 | (16 * i + 1));
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_lima_loops), 13);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_lima_dropped), 11);
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_lima_chunks), 8);
	stop();
}

static void a_hang_of_the_artifact_is_counted_and_described(void **state)
{
	struct maple_queue_view view;
	char text[256];

	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	host->model->ops->describe(host->model, text, sizeof(text));
	assert_null(strstr(text, "hang"));
	assert_true(fake_store(host, PRODUCER, LLC_POINTER64, 1, 8, fake_address(5)));
	assert_int_equal(fake_counter(host, MAPLE_COUNTER_hangs), 1);
	assert_int_equal(maple_model_queue(host->model, 1, &view), 0);
	assert_true(view.hung);
	assert_int_equal(maple_model_queue(host->model, 0, &view), 0);
	assert_false(view.hung);
	host->model->ops->describe(host->model, text, sizeof(text));
	assert_non_null(strstr(text, "queue 1 hangs"));
	stop();
}

static void describe_never_writes_past_its_buffer(void **state)
{
	(void)state;
	start("artifact", FAKE_IDENTITY);
	fake_open(host, WORDS_8, 2);
	fake_store(host, PRODUCER, LLC_POINTER64, 0, 8, fake_address(5));
	fake_store(host, PRODUCER, LLC_POINTER64, 1, 8, fake_address(5));
	fake_store(host, PRODUCER, POINTER32, 1, 8, 0x70000000);
	for (size_t size = 0; size < 128; size++) {
		char *text = malloc(size + 1);

		text[size] = 0x5a;
		host->model->ops->describe(host->model, text, size);
		assert_int_equal(text[size], 0x5a);
		free(text);
	}
	stop();
}

static void a_queue_can_be_viewed(void **state)
{
	struct maple_queue_view view;

	(void)state;
	start("paper", FAKE_IDENTITY);
	fake_open(host, WORDS_16, 1);
	for (unsigned int i = 0; i < 16; i++)
		produce(0, i);
	produce(0, 16);
	assert_int_equal(maple_model_queue(host->model, 0, &view), 0);
	assert_true(view.allocated);
	assert_int_equal(view.size, 16);
	assert_int_equal(view.level, 16);
	assert_int_equal(view.producer, PRODUCER);
	assert_int_equal(view.consumer, CONSUMER);
	assert_int_equal(view.store_waiting, PRODUCER);
	assert_int_equal(view.load_waiting, 0);
	assert_int_equal(maple_model_queue(host->model, 8, &view), -EINVAL);
	stop();
}

/* --- configuration ---------------------------------------------------------------------- */

static void there_are_two_profiles(void **state)
{
	struct maple_config config;

	(void)state;
	assert_int_equal(maple_config_profile(&config, "paper"), 0);
	assert_int_equal(config.queues, 8);
	assert_int_equal(config.scratchpad_words, 256);
	assert_int_equal(config.tlb_entries, 16);
	assert_int_equal(config.quirks, 0);
	assert_int_equal(maple_config_profile(&config, "artifact"), 0);
	assert_int_equal(config.queues, 4);
	assert_int_equal(config.scratchpad_words, 128);
	assert_int_equal(config.tlb_entries, 16);
	assert_int_equal(config.address_bits, 40);
	assert_int_equal(config.lima_loops, 4);
	assert_int_equal(config.lima_chunks, 16);
	assert_true(config.quirks != 0);
	assert_int_equal(maple_config_profile(&config, "Paper"), -EINVAL);
	assert_int_equal(maple_config_profile(&config, ""), -EINVAL);
}

static void expect_refused(size_t field, unsigned int value)
{
	struct maple_config config;

	maple_config_profile(&config, "paper");
	memcpy((char *)&config + field, &value, sizeof(value));
	assert_non_null(maple_config_check(&config));
	assert_null(fake_host_create(&config, FAKE_IDENTITY));
	assert_int_equal(errno, EINVAL);
}

static void values_out_of_range_are_refused_with_a_text(void **state)
{
	(void)state;
	expect_refused(offsetof(struct maple_config, queues), 0);
	expect_refused(offsetof(struct maple_config, queues), 9);
	expect_refused(offsetof(struct maple_config, scratchpad_words), 0);
	expect_refused(offsetof(struct maple_config, scratchpad_words), 1025);
	expect_refused(offsetof(struct maple_config, tlb_entries), 1);
	expect_refused(offsetof(struct maple_config, tlb_entries), 24);
	expect_refused(offsetof(struct maple_config, tlb_entries), 128);
	expect_refused(offsetof(struct maple_config, address_bits), 31);
	expect_refused(offsetof(struct maple_config, address_bits), 65);
	expect_refused(offsetof(struct maple_config, lima_loops), 0);
	expect_refused(offsetof(struct maple_config, lima_loops), 1u << 20);
	expect_refused(offsetof(struct maple_config, lima_chunks), 0);
	expect_refused(offsetof(struct maple_config, lima_chunks), 65);
	expect_refused(offsetof(struct maple_config, custom_commands), 0);
	expect_refused(offsetof(struct maple_config, custom_responses), 1u << 20);
	expect_refused(offsetof(struct maple_config, quirks), 1u << 31);
}

static void both_profiles_pass_their_own_check(void **state)
{
	struct maple_config config;

	(void)state;
	for EACH_PROFILE(profile) {
		assert_int_equal(maple_config_profile(&config, *profile), 0);
		assert_null(maple_config_check(&config));
	}
}

static void a_small_device_works(void **state)
{
	struct maple_config config;

	(void)state;
	maple_config_profile(&config, "paper");
	config.queues = 1;
	config.scratchpad_words = 8;
	config.tlb_entries = 2;
	config.lima_loops = 1;
	config.lima_chunks = 1;
	host = fake_host_create(&config, FAKE_IDENTITY);
	assert_non_null(host);
	fake_open(host, WORDS_8, 1);
	fake_store(host, PRODUCER, SET_BASE32, 0, 8, fake_address(0));
	fake_store(host, PRODUCER, LIMA_POINTER32, 1, 8, fake_address(64));
	for (unsigned int i = 0; i < 64; i++)
		host->words[i] = 63 - i;
	assert_true(fake_store(host, PRODUCER, LOOP, 0, 8, 64));
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(consume(0), 0xf0000000 + 64 + 63 - i);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_that_come_out_of_order_are_popped_in_program_order),
		cmocka_unit_test(two_word_fetches_come_out_of_order_too),
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
		cmocka_unit_test(a_cleared_queue_does_not_get_the_words_it_had_asked_for),
		cmocka_unit_test(a_page_that_is_not_there_reads_0),
		cmocka_unit_test(a_fault_that_brings_the_page_is_not_seen_by_the_program),
		cmocka_unit_test(a_retry_that_does_not_help_ends_in_0),
		cmocka_unit_test(a_stalled_fault_goes_on_when_it_is_resolved),
		cmocka_unit_test(a_fault_that_was_not_read_cannot_be_resolved),
		cmocka_unit_test(a_fault_that_is_resolved_without_a_page_reads_0),
		cmocka_unit_test(install_resolves_and_maps),
		cmocka_unit_test(data_goes_on_while_the_pipes_are_stalled),
		cmocka_unit_test(reset_ends_a_stall),
		cmocka_unit_test(a_waived_interrupt_is_not_raised),
		cmocka_unit_test(a_stalled_loop_goes_on_when_it_is_resolved),
		cmocka_unit_test(a_double_pointer_that_stalls_between_its_halves_fetches_each_once),
		cmocka_unit_test(an_invalidated_page_is_walked_again),
		cmocka_unit_test(invalidate_leaves_other_pages_alone),
		cmocka_unit_test(a_cancelled_load_takes_nothing),
		cmocka_unit_test(a_cancelled_store_leaves_nothing),
		cmocka_unit_test(cancel_of_an_owner_that_does_not_wait_changes_nothing),
		cmocka_unit_test(a_consumer_whose_producer_is_gone_is_answered_0),
		cmocka_unit_test(a_producer_whose_consumer_is_gone_is_acknowledged),
		cmocka_unit_test(an_owner_that_is_gone_while_it_waits_is_not_completed),
		cmocka_unit_test(a_consumer_still_gets_what_loops_of_a_gone_producer_bring),
		cmocka_unit_test(power_on_completes_who_waits_and_forgets_everything),
		cmocka_unit_test(store_many_stops_before_the_store_that_would_wait),
		cmocka_unit_test(store_many_wakes_a_waiting_consumer),
		cmocka_unit_test(load_many_stops_before_the_load_that_would_wait),
		cmocka_unit_test(load_many_lets_the_waiting_store_and_loops_follow),
		cmocka_unit_test(load_many_answers_any_register),
		cmocka_unit_test(counters_count),
		cmocka_unit_test(lima_counters_count),
		cmocka_unit_test(a_hang_of_the_artifact_is_counted_and_described),
		cmocka_unit_test(describe_never_writes_past_its_buffer),
		cmocka_unit_test(a_queue_can_be_viewed),
		cmocka_unit_test(there_are_two_profiles),
		cmocka_unit_test(values_out_of_range_are_refused_with_a_text),
		cmocka_unit_test(both_profiles_pass_their_own_check),
		cmocka_unit_test(a_small_device_works),
	};

	return cmocka_run_group_tests_name("maple model", tests, NULL, NULL);
}
