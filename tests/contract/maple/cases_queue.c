/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contract A3 (op 8), A4 and H: produce, consume, their widths, and waiting. */
#include "tests/contract/maple/contract.h"

CASE(consume32_pops_what_produce32_pushed, BOTH)
{
	init_and_open(WORDS_32, 0);
	produce32(0, 0xdeadbeef);
	EXPECT(consume32(0), 0xdeadbeef);
}

CASE(words_come_out_in_the_order_they_went_in, BOTH)
{
	init_and_open(WORDS_16, 1);
	for (unsigned int round = 0; round < 5; round++) {
		for (unsigned int i = 0; i < 13; i++)
			produce32(1, 1000 * round + i);
		for (unsigned int i = 0; i < 13; i++)
			EXPECT(consume32(1), 1000 * round + i);
	}
}

CASE(produce64_pushes_the_low_word_first, BOTH)
{
	init_and_open(WORDS_32, 0);
	produce64(0, 0x1111222233334444);
	EXPECT(consume32(0), 0x33334444);
	EXPECT(consume32(0), 0x11112222);
}

CASE(consume64_has_the_first_word_in_its_low_half, BOTH)
{
	init_and_open(WORDS_32, 0);
	produce32(0, 0xa);
	produce32(0, 0xb);
	EXPECT(consume64(0), 0x0000000b0000000a);
}

CASE(produce64_then_consume64_gives_the_same_value, BOTH)
{
	init_and_open(WORDS_32, 0);
	produce64(0, 0xfedcba9876543210);
	EXPECT(consume64(0), 0xfedcba9876543210);
}

CASE(widths_mix_freely, BOTH)
{
	init_and_open(WORDS_32, 0);
	produce32(0, 1);
	produce64(0, 0x0000000300000002);
	produce32(0, 4);
	EXPECT(consume64(0), 0x0000000200000001);
	EXPECT(consume64(0), 0x0000000400000003);
	produce64(0, 0x0000000600000005);
	EXPECT(consume32(0), 5);
	EXPECT(consume32(0), 6);
}

CASE(a_64_bit_value_survives_the_wrap_of_the_ring, BOTH)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 7; i++)
		produce32(0, i);
	for (unsigned int i = 0; i < 7; i++)
		EXPECT(consume32(0), i);
	produce64(0, 0x8877665544332211);
	EXPECT(consume64(0), 0x8877665544332211);
}

/* The hardware distinguishes 8 bytes from not 8 bytes, nothing else. */
CASE(a_1_or_2_byte_store_pushes_one_word, BOTH)
{
	init_and_open(WORDS_32, 0);
	store(A, PAGE_MAPLE, AT(PRODUCE, 0), 1, 0x5a);
	store(A, PAGE_MAPLE, AT(PRODUCE, 0), 2, 0xbeef);
	EXPECT(consume32(0), 0x5a);
	EXPECT(consume32(0), 0xbeef);
}

CASE(a_1_or_2_byte_load_pops_one_word_and_gives_its_low_bytes, BOTH)
{
	init_and_open(WORDS_32, 0);
	produce32(0, 0x11223344);
	produce32(0, 0x55667788);
	produce32(0, 0x99);
	EXPECT(load(B, PAGE_MAPLE, AT(CONSUME, 0), 1), 0x44);
	EXPECT(load(B, PAGE_MAPLE, AT(CONSUME, 0), 2), 0x7788);
	EXPECT(consume32(0), 0x99);
}

CASE(consume_waits_while_the_queue_is_empty, BOTH)
{
	init_and_open(WORDS_32, 0);
	consume_begin(0);
	EXPECT_TRUE(still_waits(B));
	produce32(0, 321);
	EXPECT(finish(B), 321);
}

CASE(consume64_waits_for_two_words, BOTH)
{
	init_and_open(WORDS_32, 0);
	load_begin(B, PAGE_MAPLE, AT(CONSUME, 0), 8);
	EXPECT_TRUE(still_waits(B));
	produce32(0, 1);
	EXPECT_TRUE(still_waits(B));
	produce32(0, 2);
	EXPECT(finish(B), 0x0000000200000001);
}

CASE(produce_waits_while_the_queue_is_full, BOTH)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(PRODUCE, 0), 4, 8);
	EXPECT_TRUE(store_still_waits(A));
	EXPECT(consume32(0), 0);
	finish_store(A);
	for (unsigned int i = 1; i < 9; i++)
		EXPECT(consume32(0), i);
}

CASE(produce64_waits_for_two_free_words, BOTH)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 7; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(PRODUCE, 0), 8, 0x0000000800000007);
	EXPECT_TRUE(store_still_waits(A));
	EXPECT(consume32(0), 0);
	finish_store(A);
	for (unsigned int i = 1; i < 9; i++)
		EXPECT(consume32(0), i);
}

CASE(produce64_into_two_free_words_does_not_wait, BOTH)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 6; i++)
		produce32(0, i);
	produce64(0, 0x0000000700000006);
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
}

CASE(other_queues_go_on_while_a_store_waits, BOTH)
{
	init_and_open(WORDS_8, 0);
	EXPECT(command(C, OPEN_PRODUCER, 1), 2);
	EXPECT(command(B, OPEN_CONSUMER, 1), 1);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(PRODUCE, 0), 4, 8);
	EXPECT_TRUE(still_waits(A));
	for (unsigned int i = 0; i < 20; i++) {
		store(C, PAGE_MAPLE, AT(PRODUCE, 1), 4, 70 + i);
		EXPECT(consume32(1), 70 + i);
	}
	EXPECT_TRUE(still_waits(A));
	EXPECT(consume32(0), 0);
	finish(A);
}

CASE(other_queues_go_on_while_a_load_waits, BOTH)
{
	init_and_open(WORDS_8, 0);
	EXPECT(command(A, OPEN_PRODUCER, 1), 2);
	EXPECT(command(C, OPEN_CONSUMER, 1), 1);
	consume_begin(0);
	EXPECT_TRUE(still_waits(B));
	for (unsigned int i = 0; i < 20; i++) {
		produce32(1, 70 + i);
		EXPECT(command(C, CONSUME, 1), 70 + i);
	}
	EXPECT_TRUE(still_waits(B));
	produce32(0, 3);
	EXPECT(finish(B), 3);
}

CASE(configuration_goes_on_while_threads_wait, BOTH)
{
	init_and_open(WORDS_8, 0);
	consume_begin(0);
	EXPECT_TRUE(still_waits(B));
	EXPECT(command(C, INIT, WORDS_8), 0);
	EXPECT(command(C, OPEN_PRODUCER, 3), 2);
	EXPECT(command(C, CLOSE_PRODUCER, 3), 2);
	EXPECT(command(C, OPEN_CONSUMER, 0), 0);
	produce32(0, 3);
	EXPECT(finish(B), 3);
}

CASE(two_queues_can_wait_at_once_in_both_directions, BOTH)
{
	init_and_open(WORDS_8, 0);
	open_queue(1);
	for (unsigned int i = 0; i < 8; i++)
		produce32(1, i);
	consume_begin(0);
	store_begin(A, PAGE_MAPLE, AT(PRODUCE, 1), 4, 8);
	EXPECT_TRUE(still_waits(A));
	EXPECT_TRUE(still_waits(B));
	EXPECT(command(C, RESET, 0), 0);
	finish(A);
	EXPECT(finish(B), 0);
}

CASE(produce_by_a_non_owner_is_dropped_and_does_not_wait, BOTH)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	store(C, PAGE_MAPLE, AT(PRODUCE, 0), 4, 666);
	store(C, PAGE_MAPLE, AT(PRODUCE, 0), 8, 666);
	store(B, PAGE_MAPLE, AT(PRODUCE, 0), 4, 666);
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
	expect_empty(0);
}

CASE(consume_by_a_non_owner_gives_0_and_pops_nothing, BOTH)
{
	init_and_open(WORDS_8, 0);
	EXPECT(command(C, CONSUME, 0), 0);
	produce32(0, 7);
	EXPECT(command(C, CONSUME, 0), 0);
	EXPECT(load(C, PAGE_MAPLE, AT(CONSUME, 0), 8), 0);
	EXPECT(command(A, CONSUME, 0), 0);
	EXPECT(consume32(0), 7);
}

CASE(a_queue_without_owners_drops_stores_and_answers_0, BOTH)
{
	init(WORDS_8);
	produce32(2, 5);
	EXPECT(consume32(2), 0);
	EXPECT(consume64(2), 0);
	open_queue(2);
	expect_empty(2);
}

CASE(a_device_without_queues_drops_stores_and_answers_0, BOTH)
{
	produce32(0, 5);
	EXPECT(consume32(0), 0);
	request(A, POINTER32, 0, 0);
	request(A, LOOP, 0, 5);
	EXPECT(command(A, CLOSE_PRODUCER, 0), 0);
	init_and_open(WORDS_8, 0);
	expect_empty(0);
}

CASE(a_producer_may_work_without_a_consumer, BOTH)
{
	init(WORDS_8);
	EXPECT(command(A, OPEN_PRODUCER, 0), 2);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	EXPECT(command(B, OPEN_CONSUMER, 0), 1);
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
}

CASE(one_thread_may_hold_both_ends, BOTH)
{
	init(WORDS_8);
	EXPECT(command(A, OPEN_PRODUCER, 0), 2);
	EXPECT(command(A, OPEN_CONSUMER, 0), 3);
	produce64(0, 0x0000000200000001);
	EXPECT(command(A, CONSUME, 0), 1);
	EXPECT(command(A, CONSUME, 0), 2);
}

/* FIFO_ADD: index << 32, low word 0 */
CASE(fifo_add_adds_one_queue_at_a_time_and_answers_its_index, BOTH)
{
	for (unsigned int queue = 0; queue < 4; queue++) {
		EXPECT(command(C, OPEN_PRODUCER, queue), 0);
		EXPECT(load(A, PAGE_MAPLE, AT(FIFO_ADD, WORDS_8), 8), (uint64_t)queue << 32);
		open_queue(queue);
	}
	for (unsigned int queue = 0; queue < 4; queue++)
		produce32(queue, queue + 1);
	for (unsigned int queue = 0; queue < 4; queue++)
		EXPECT(consume32(queue), queue + 1);
}

CASE(fifo_add_gives_the_queue_its_words, BOTH)
{
	EXPECT(load(A, PAGE_MAPLE, AT(FIFO_ADD, WORDS_16), 8), 0);
	EXPECT(load(A, PAGE_MAPLE, AT(FIFO_ADD, WORDS_8), 8), 1ull << 32);
	open_queue(1);
	for (unsigned int i = 0; i < 8; i++)
		produce32(1, i);
	store_begin(A, PAGE_MAPLE, AT(PRODUCE, 1), 4, 8);
	EXPECT_TRUE(store_still_waits(A));
	EXPECT(consume32(1), 0);
	finish_store(A);
}

CASE(fifo_add_without_room_adds_no_queue, BOTH)
{
	/* 96 + 48 words are more than the artifact's 128; 2 * 96 + 96 more than the paper's 256. */
	EXPECT(command(A, FIFO_ADD, WORDS_96), 0);
	command(A, FIFO_ADD, WORDS_96);
	command(A, FIFO_ADD, WORDS_96);
	EXPECT(command(A, OPEN_PRODUCER, profile_is(PAPER) ? 2 : 1), 0);
}

CASE(fifo_clear_by_the_consumer_deletes_the_queue, BOTH)
{
	init_and_open(WORDS_32, 1);
	produce32(1, 3);
	EXPECT(command(B, FIFO_CLEAR, 1) & 1, 1);
	EXPECT(command(C, OPEN_CONSUMER, 1), 0);
	EXPECT(consume32(1), 0);
	open_queue(0);
	expect_empty(0);
}

CASE(fifo_clear_is_for_anybody_while_there_is_no_consumer, BOTH)
{
	init(WORDS_32);
	EXPECT(command(C, FIFO_CLEAR, 2) & 1, 1);
	EXPECT(command(A, OPEN_PRODUCER, 2), 0);
}

CASE(fifo_clear_by_another_than_the_consumer_changes_nothing, BOTH)
{
	init_and_open(WORDS_32, 1);
	produce32(1, 3);
	EXPECT(command(A, FIFO_CLEAR, 1) & 1, 0);
	EXPECT(command(C, FIFO_CLEAR, 1), 0);
	EXPECT(consume32(1), 3);
}

/* "A thread that waits for it is answered": the load gives 0, the store is acknowledged. */
CASE(roles_of_a_thread_that_ended_are_free, BOTH)
{
	init_and_open(WORDS_8, 0);
	produce32(0, 8);
	end_thread(A);
	EXPECT(command(C, OPEN_PRODUCER, 0), 2);
	store(C, PAGE_MAPLE, AT(PRODUCE, 0), 4, 9);
	EXPECT(consume32(0), 8);
	EXPECT(consume32(0), 9);
}
