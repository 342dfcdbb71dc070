/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contract A7 and A10 (dma.c): LIMA with the tile's A and queue 0's B. */
#include "tests/contract/maple/contract.h"

#define B_OFFSET 16384u	/* where in the arena B begins; A is at 0 */
#define WITH_LLC 1u	/* [9] of a LIMA operation: fetch B through the LLC */

static uint32_t index_of(unsigned int i)
{
	return (i * 7 + 3) % 200;
}

static uint32_t a32(unsigned int i)
{
	return 0xa0000000 + i * 3;
}

static uint64_t a64(unsigned int i)
{
	return (uint64_t)a32(2 * i + 1) << 32 | a32(2 * i);
}

static void fill(void)
{
	uint32_t *a = arena();
	uint32_t *b = a + B_OFFSET / 4;

	for (unsigned int i = 0; i < 1024; i++) {
		a[i] = a32(i);
		b[i] = index_of(i);
	}
}

static uint64_t loop(unsigned int begin, unsigned int end)
{
	return (uint64_t)begin << 32 | end;
}

/* A and B as the API sets them: B in queue 0's base register. */
static void set_lima(unsigned int operation)
{
	fill();
	request(A, SET_BASE32, 0, arena_at(B_OFFSET));
	request(A, operation, WITH_LLC, arena_at(0));
}

static void check_lima32(unsigned int operation, unsigned int queue)
{
	init_and_open(WORDS_32, queue);
	set_lima(operation);
	request(A, LOOP, queue, loop(0, 20));
	for (unsigned int i = 0; i < 20; i++)
		EXPECT(consume32(queue), a32(index_of(i)));
	expect_empty(queue);
}

CASE(lima_48_fetches_32_bit_a_of_b, BOTH) { check_lima32(LIMA_POINTER32, 0); }
CASE(lima_52_fetches_32_bit_a_of_b_through_the_llc, BOTH) { check_lima32(LIMA_LLC_POINTER32, 0); }
CASE(lima_works_on_another_queue_with_b_of_queue_0, BOTH) { check_lima32(LIMA_POINTER32, 3); }

static void check_lima64(unsigned int operation)
{
	init_and_open(WORDS_32, 1);
	set_lima(operation);
	request(A, LOOP, 1, loop(0, 14));
	for (unsigned int i = 0; i < 14; i++)
		EXPECT(consume64(1), a64(index_of(i)));
	expect_empty(1);
}

CASE(lima_49_fetches_64_bit_a_of_b, BOTH) { check_lima64(LIMA_POINTER64); }
CASE(lima_53_fetches_64_bit_a_of_b_through_the_llc, BOTH) { check_lima64(LIMA_LLC_POINTER64); }

static void check_produce(unsigned int operation, uint64_t a)
{
	init_and_open(WORDS_32, 0);
	fill();
	request(A, SET_BASE32, 0, arena_at(B_OFFSET));
	request(A, operation, WITH_LLC, a);
	request(A, LOOP, 0, loop(5, 30));
	for (unsigned int i = 5; i < 30; i++)
		EXPECT(consume32(0), index_of(i));
	expect_empty(0);
}

CASE(lima_50_pushes_b_itself, BOTH) { check_produce(LIMA_PRODUCE, 0); }
CASE(lima_51_pushes_b_itself_too, BOTH) { check_produce(LIMA_PRODUCE_2, 0); }
CASE(lima_50_ignores_a, BOTH) { check_produce(LIMA_PRODUCE, 0x12345678); }

CASE(lima_54_prefetches_and_pushes_nothing, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_PREFETCH);
	request(A, LOOP, 0, loop(0, 100));
	expect_empty(0);
}

CASE(lima_without_bit_9_fetches_b_from_dram, BOTH)
{
	init_and_open(WORDS_32, 0);
	fill();
	request(A, SET_BASE32, 0, arena_at(B_OFFSET));
	request(A, LIMA_POINTER32, 0, arena_at(0));
	request(A, LOOP, 0, loop(2, 6));
	for (unsigned int i = 2; i < 6; i++)
		EXPECT(consume32(0), a32(index_of(i)));
}

CASE(lima_begins_and_ends_anywhere_in_a_chunk, BOTH)
{
	static const unsigned int ranges[][2] = {
		{ 0, 1 }, { 1, 2 }, { 15, 16 }, { 15, 17 }, { 3, 19 }, { 16, 32 }, { 7, 35 }, { 31, 33 },
	};

	init_and_open(WORDS_32, 0);
	set_lima(LIMA_PRODUCE);
	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		request(A, LOOP, 0, loop(ranges[i][0], ranges[i][1]));
		for (unsigned int k = ranges[i][0]; k < ranges[i][1]; k++)
			EXPECT(consume32(0), index_of(k));
	}
	expect_empty(0);
}

CASE(lima_takes_b_that_is_not_aligned_to_a_chunk, BOTH)
{
	init_and_open(WORDS_32, 0);
	fill();
	request(A, SET_BASE32, 0, arena_at(B_OFFSET + 20));
	request(A, LIMA_PRODUCE, WITH_LLC, 0);
	request(A, LOOP, 0, loop(0, 30));
	for (unsigned int i = 0; i < 30; i++)
		EXPECT(consume32(0), index_of(i + 5));
}

CASE(lima_elements_of_b_are_32_bit_whatever_the_width_of_a_and_base, BOTH)
{
	init_and_open(WORDS_32, 0);
	fill();
	request(A, SET_BASE64, 0, arena_at(B_OFFSET));
	request(A, LIMA_POINTER64, WITH_LLC, arena_at(0));
	request(A, LOOP, 0, loop(1, 9));
	for (unsigned int i = 1; i < 9; i++)
		EXPECT(consume64(0), a64(index_of(i)));
}

CASE(a_loop_may_be_longer_than_the_queue, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_POINTER32);
	request(A, LOOP, 0, loop(0, 300));
	for (unsigned int i = 0; i < 300; i++)
		EXPECT(consume32(0), a32(index_of(i)));
	expect_empty(0);
}

CASE(a_64_bit_loop_may_be_longer_than_the_queue, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_POINTER64);
	request(A, LOOP, 0, loop(0, 100));
	for (unsigned int i = 0; i < 100; i++)
		EXPECT(consume64(0), a64(index_of(i)));
}

CASE(a_loop_push_never_waits, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_PRODUCE);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	request(A, LOOP, 0, loop(0, 100));
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i);
	for (unsigned int i = 0; i < 100; i++)
		EXPECT(consume32(0), index_of(i));
}

CASE(lima_goes_on_while_a_consumer_waits, BOTH)
{
	init_and_open(WORDS_8, 1);
	set_lima(LIMA_POINTER32);
	consume_begin(1);
	EXPECT_TRUE(still_waits(B));
	request(A, LOOP, 1, loop(4, 40));
	EXPECT(finish(B), a32(index_of(4)));
	for (unsigned int i = 5; i < 40; i++)
		EXPECT(consume32(1), a32(index_of(i)));
}

CASE(loops_follow_each_other_in_order, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_PRODUCE);
	request(A, LOOP, 0, loop(0, 10));
	request(A, LOOP, 0, loop(50, 55));
	request(A, LOOP, 0, loop(3, 4));
	for (unsigned int i = 0; i < 10; i++)
		EXPECT(consume32(0), index_of(i));
	for (unsigned int i = 50; i < 55; i++)
		EXPECT(consume32(0), index_of(i));
	EXPECT(consume32(0), index_of(3));
	expect_empty(0);
}

CASE(four_queues_run_loops_at_once, BOTH)
{
	init(WORDS_32);
	for (unsigned int queue = 0; queue < 4; queue++)
		open_queue(queue);
	set_lima(LIMA_POINTER32);
	for (unsigned int queue = 0; queue < 4; queue++)
		request(A, LOOP, queue, loop(100 * queue, 100 * queue + 90));
	for (unsigned int i = 0; i < 90; i++)
		for (unsigned int queue = 0; queue < 4; queue++)
			EXPECT(consume32(queue), a32(index_of(100 * queue + i)));
	for (unsigned int queue = 1; queue < 4; queue++)
		expect_empty(queue);
}

CASE(one_stuck_loop_does_not_hold_up_the_other_queues, BOTH)
{
	init_and_open(WORDS_8, 0);
	open_queue(1);
	set_lima(LIMA_PRODUCE);
	request(A, LOOP, 0, loop(0, 200));
	request(A, LOOP, 1, loop(200, 300));
	for (unsigned int i = 200; i < 300; i++)
		EXPECT(consume32(1), index_of(i));
	for (unsigned int i = 0; i < 200; i++)
		EXPECT(consume32(0), index_of(i));
}

CASE(several_threads_share_a_and_b_of_the_tile, BOTH)
{
	init(WORDS_8);
	EXPECT(command(A, OPEN_PRODUCER, 0), 2);
	EXPECT(command(B, OPEN_PRODUCER, 1), 2);
	EXPECT(command(C, OPEN_CONSUMER, 0), 1);
	EXPECT(command(C, OPEN_CONSUMER, 1), 1);
	set_lima(LIMA_PRODUCE);
	request(B, LOOP, 1, loop(10, 14));
	request(A, LOOP, 0, loop(20, 24));
	for (unsigned int i = 0; i < 4; i++) {
		EXPECT(command(C, CONSUME, 0), index_of(20 + i));
		EXPECT(command(C, CONSUME, 1), index_of(10 + i));
	}
}

/* One A per tile: the last store of 48 to 54. */
CASE(the_last_a_and_mode_count_for_all_queues, BOTH)
{
	init_and_open(WORDS_8, 2);
	set_lima(LIMA_PRODUCE);
	request(A, LIMA_POINTER32, WITH_LLC, arena_at(40));
	request(A, LOOP, 2, loop(0, 3));
	for (unsigned int i = 0; i < 3; i++)
		EXPECT(consume32(2), a32(10 + index_of(i)));
}

CASE(a_loop_without_b_of_queue_0_is_dropped, BOTH)
{
	init_and_open(WORDS_8, 1);
	fill();
	request(A, SET_BASE32, 1, arena_at(B_OFFSET));
	request(A, LIMA_PRODUCE, WITH_LLC, 0);
	request(A, LOOP, 1, loop(0, 4));
	expect_empty(1);
}

CASE(a_loop_without_a_is_dropped, BOTH)
{
	init_and_open(WORDS_8, 0);
	fill();
	request(A, SET_BASE32, 0, arena_at(B_OFFSET));
	request(A, LOOP, 0, loop(0, 4));
	expect_empty(0);
}

CASE(a_loop_by_another_than_the_producer_is_dropped, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_PRODUCE);
	request(B, LOOP, 0, loop(0, 4));
	request(C, LOOP, 0, loop(0, 4));
	expect_empty(0);
}

CASE(a_before_init_is_ignored, BOTH)
{
	fill();
	request(A, LIMA_PRODUCE, WITH_LLC, 0);
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(B_OFFSET));
	request(A, LOOP, 0, loop(0, 4));
	expect_empty(0);
}

/* Only the API filters these; the contract gives them no effect, so none is expected. */
CASE(a_loop_that_ends_where_it_begins_pushes_nothing, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_PRODUCE);
	request(A, LOOP, 0, loop(4, 4));
	expect_empty(0);
	request(A, LOOP, 0, loop(0, 0));
	expect_empty(0);
}

CASE(a_loop_that_ends_before_it_begins_pushes_nothing, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_PRODUCE);
	request(A, LOOP, 0, loop(9, 4));
	expect_empty(0);
}

CASE(with_b_set_direct_pointers_of_queue_0_are_relative_to_it, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_POINTER32);
	request(A, POINTER32, 0, 12);
	EXPECT(consume32(0), index_of(12));
}

/* dma.c: A 0, mode LOOP_PRODUCE, loop(0, R), R times consume32 */
CASE(the_artifacts_dma_program_copies_an_array, BOTH)
{
	init(WORDS_64);
	EXPECT(command(A, OPEN_PRODUCER, 0), 2);
	EXPECT(command(A, OPEN_CONSUMER, 0), 3);
	fill();
	request(A, LIMA_PRODUCE, WITH_LLC, 0);
	request(A, SET_BASE32, 0, arena_at(B_OFFSET));
	request(A, LOOP, 0, loop(0, 512));
	for (unsigned int i = 0; i < 512; i++)
		EXPECT(command(A, CONSUME, 0), index_of(i));
}

static void push_one_chunk_loops(unsigned int count)
{
	init_and_open(WORDS_48, 1);
	set_lima(LIMA_PRODUCE);
	for (unsigned int i = 0; i < 48; i++)
		produce32(1, i);
	for (unsigned int i = 0; i < count; i++)
		request(A, LOOP, 1, loop(16 * i, 16 * i + 1));
	for (unsigned int i = 0; i < 48; i++)
		EXPECT(consume32(1), i);
}

/* 4 buffered, 1 active, 16 / 2 chunks in flight */
CASE(of_24_loops_on_a_full_queue_of_2_thirteen_survive, ARTIFACT)
{
	push_one_chunk_loops(24);
	for (unsigned int i = 0; i < 13; i++)
		EXPECT(consume32(1), index_of(16 * i));
	expect_empty(1);
}

CASE(the_paper_loses_no_loop, PAPER)
{
	push_one_chunk_loops(24);
	for (unsigned int i = 0; i < 24; i++)
		EXPECT(consume32(1), index_of(16 * i));
	expect_empty(1);
}

CASE(reset_ends_a_running_loop, BOTH)
{
	init_and_open(WORDS_8, 0);
	set_lima(LIMA_PRODUCE);
	request(A, LOOP, 0, loop(0, 200));
	EXPECT(consume32(0), index_of(0));
	command(A, RESET, 0);
	init_and_open(WORDS_8, 0);
	expect_empty(0);
}
