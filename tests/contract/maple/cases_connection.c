/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contract A2: INIT, RESET, open and close. */
#include "tests/contract/maple/contract.h"

static const unsigned int words_of_code[8] = { 8, 16, 32, 48, 64, 80, 96, 128 };

/* How many queues there are, by opening one after the other. */
static unsigned int count_queues(unsigned int most)
{
	unsigned int count = 0;

	while (count < most && command(C, OPEN_CONSUMER, count) == 1)
		count++;
	for (unsigned int queue = count; queue < most; queue++)
		EXPECT(command(C, OPEN_CONSUMER, queue), 0);
	return count;
}

static void check_queues_of_codes(const unsigned int expected[8], unsigned int most)
{
	for (unsigned int code = 0; code < 8; code++) {
		init(code);
		EXPECT(count_queues(most), expected[code]);
		command(A, RESET, 0);
	}
}

/* 128 words (512 bytes), at most 4 queues */
CASE(init_allocates_the_artifacts_queues_for_each_size_code, ARTIFACT)
{
	static const unsigned int queues[8] = { 4, 4, 4, 2, 2, 1, 1, 1 };

	check_queues_of_codes(queues, 4);
}

/* 256 words (1 KB), at most 8 queues */
CASE(init_allocates_the_papers_queues_for_each_size_code, PAPER)
{
	static const unsigned int queues[8] = { 8, 8, 8, 5, 4, 3, 2, 2 };

	check_queues_of_codes(queues, 8);
}

static void check_depth(unsigned int code, unsigned int depth)
{
	init_and_open(code, 0);
	for (unsigned int i = 0; i < depth; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(PRODUCE, 0), 4, depth);
	EXPECT_TRUE(still_waits(A));
	for (unsigned int i = 0; i <= depth; i++)
		EXPECT(consume32(0), i);
	finish(A);
	command(A, RESET, 0);
}

CASE(a_queue_acknowledges_as_many_words_as_its_size_code_says, PAPER)
{
	for (unsigned int code = 0; code < 8; code++)
		check_depth(code, words_of_code[code]);
}

/* head and tail have 6 bits: codes 5 to 7 accept exactly 64 words */
CASE(a_queue_of_the_artifact_holds_64_words_at_most, ARTIFACT)
{
	for (unsigned int code = 0; code < 8; code++)
		check_depth(code, words_of_code[code] > 64 ? 64 : words_of_code[code]);
}

CASE(init_answers_2_when_no_queue_existed, BOTH)
{
	EXPECT(command(A, INIT, WORDS_32), 2);
}

CASE(second_init_answers_0_and_changes_nothing, BOTH)
{
	init_and_open(WORDS_32, 3);
	produce32(3, 77);
	EXPECT(command(A, INIT, WORDS_128), 0);
	EXPECT(command(C, INIT, WORDS_8), 0);
	EXPECT(consume32(3), 77);
}

CASE(reset_answers_0_after_power_on, BOTH)
{
	EXPECT(command(A, RESET, 0), 0);
}

CASE(reset_answers_the_callers_roles_in_queue_0, BOTH)
{
	init_and_open(WORDS_32, 0);
	EXPECT(command(A, RESET, 0), 2);
	init_and_open(WORDS_32, 0);
	EXPECT(command(B, RESET, 0), 1);
	init(WORDS_32);
	EXPECT(command(C, OPEN_PRODUCER, 0), 2);
	EXPECT(command(C, OPEN_CONSUMER, 0), 3);
	EXPECT(command(C, RESET, 0), 3);
}

CASE(reset_answers_0_to_an_owner_of_another_queue, BOTH)
{
	init_and_open(WORDS_32, 1);
	EXPECT(command(A, RESET, 0), 0);
}

CASE(reset_drops_queues_so_that_init_allocates_again, BOTH)
{
	init_and_open(WORDS_32, 0);
	command(C, RESET, 0);
	EXPECT(command(A, OPEN_PRODUCER, 0), 0);
	EXPECT(command(A, INIT, WORDS_8), 2);
}

CASE(reset_drops_ownership, BOTH)
{
	init_and_open(WORDS_32, 0);
	command(C, RESET, 0);
	init(WORDS_32);
	EXPECT(command(C, OPEN_PRODUCER, 0), 2);
	EXPECT(command(C, OPEN_CONSUMER, 0), 3);
}

CASE(reset_drops_the_data_of_queues, BOTH)
{
	init_and_open(WORDS_32, 0);
	produce64(0, 0x1111111122222222);
	command(A, RESET, 0);
	init_and_open(WORDS_32, 0);
	produce32(0, 5);
	EXPECT(consume32(0), 5);
}

CASE(reset_drops_the_base_of_every_queue, BOTH)
{
	uint32_t *words = arena();

	words[3] = 0x1357;
	for (unsigned int queue = 0; queue < 4; queue++) {
		init_and_open(WORDS_32, queue);
		request(A, SET_BASE32, queue, 0x40000);
		command(A, RESET, 0);
		init_and_open(WORDS_32, queue);
		request(A, POINTER32, queue, arena_at(12));
		EXPECT(consume32(queue), 0x1357);
		command(A, RESET, 0);
	}
}

CASE(reset_drops_lima_a, BOTH)
{
	uint32_t *words = arena();

	words[0] = 99;
	init_and_open(WORDS_32, 0);
	request(A, LIMA_PRODUCE, 1, 0);
	command(A, RESET, 0);
	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, LOOP, 0, 1);
	expect_empty(0);
}

CASE(reset_answers_a_waiting_consumer_with_its_own_value, BOTH)
{
	init_and_open(WORDS_32, 0);
	consume_begin(0);
	EXPECT_TRUE(still_waits(B));
	EXPECT(command(A, RESET, 0), 2);
	EXPECT(finish(B), 2);

	init_and_open(WORDS_32, 2);
	consume_begin(2);
	EXPECT_TRUE(still_waits(B));
	EXPECT(command(C, RESET, 0), 0);
	EXPECT(finish(B), 0);
}

CASE(reset_acknowledges_a_waiting_store, BOTH)
{
	init_and_open(WORDS_8, 1);
	for (unsigned int i = 0; i < 8; i++)
		produce32(1, i);
	store_begin(A, PAGE_MAPLE, AT(PRODUCE, 1), 4, 8);
	EXPECT_TRUE(store_still_waits(A));
	command(C, RESET, 0);
	finish_store(A);
}

CASE(open_answers_2_to_a_producer_and_1_to_a_consumer, BOTH)
{
	init(WORDS_32);
	EXPECT(command(A, OPEN_PRODUCER, 0), 2);
	EXPECT(command(B, OPEN_CONSUMER, 0), 1);
}

CASE(open_answers_3_to_a_thread_that_then_holds_both_roles, BOTH)
{
	init(WORDS_32);
	EXPECT(command(A, OPEN_PRODUCER, 0), 2);
	EXPECT(command(A, OPEN_CONSUMER, 0), 3);
	EXPECT(command(B, OPEN_CONSUMER, 1), 1);
	EXPECT(command(B, OPEN_PRODUCER, 1), 3);
}

CASE(open_by_the_owner_again_answers_the_same, BOTH)
{
	init_and_open(WORDS_32, 2);
	EXPECT(command(A, OPEN_PRODUCER, 2), 2);
	EXPECT(command(B, OPEN_CONSUMER, 2), 1);
	produce32(2, 9);
	EXPECT(consume32(2), 9);
}

CASE(open_of_a_missing_queue_answers_0, BOTH)
{
	EXPECT(command(A, OPEN_PRODUCER, 0), 0);
	EXPECT(command(A, OPEN_CONSUMER, 0), 0);
	init(WORDS_128);
	EXPECT(command(A, OPEN_PRODUCER, 2), 0);
	EXPECT(command(A, OPEN_CONSUMER, 2), 0);
}

CASE(open_of_a_taken_queue_answers_0, BOTH)
{
	init_and_open(WORDS_32, 0);
	EXPECT(command(C, OPEN_PRODUCER, 0), 0);
	EXPECT(command(C, OPEN_CONSUMER, 0), 0);
}

/* The API's while (res == 0) takes this for success. */
CASE(open_of_a_taken_role_answers_the_other_role_of_the_caller, BOTH)
{
	init_and_open(WORDS_32, 0);
	EXPECT(command(B, OPEN_PRODUCER, 0), 1);
	EXPECT(command(A, OPEN_CONSUMER, 0), 2);
}

CASE(a_refused_open_gives_no_role, BOTH)
{
	init_and_open(WORDS_32, 0);
	command(B, OPEN_PRODUCER, 0);
	command(A, OPEN_CONSUMER, 0);
	store(B, PAGE_MAPLE, AT(PRODUCE, 0), 4, 666);
	EXPECT(command(A, CONSUME, 0), 0);
	produce32(0, 1);
	EXPECT(consume32(0), 1);
}

CASE(queues_of_one_device_can_belong_to_different_threads, BOTH)
{
	init(WORDS_32);
	EXPECT(command(A, OPEN_PRODUCER, 0), 2);
	EXPECT(command(B, OPEN_PRODUCER, 1), 2);
	EXPECT(command(C, OPEN_CONSUMER, 0), 1);
	EXPECT(command(C, OPEN_CONSUMER, 1), 1);
	store(A, PAGE_MAPLE, AT(PRODUCE, 0), 4, 10);
	store(B, PAGE_MAPLE, AT(PRODUCE, 1), 4, 11);
	EXPECT(command(C, CONSUME, 1), 11);
	EXPECT(command(C, CONSUME, 0), 10);
}

CASE(close_answers_the_roles_held_before, BOTH)
{
	init_and_open(WORDS_32, 0);
	EXPECT(command(A, CLOSE_PRODUCER, 0), 2);
	EXPECT(command(B, CLOSE_CONSUMER, 0), 1);
	EXPECT(command(C, OPEN_PRODUCER, 0), 2);
	EXPECT(command(C, OPEN_CONSUMER, 0), 3);
	EXPECT(command(C, CLOSE_PRODUCER, 0), 3);
	EXPECT(command(C, CLOSE_CONSUMER, 0), 1);
}

CASE(close_by_a_stranger_answers_0_and_closes_nothing, BOTH)
{
	init_and_open(WORDS_32, 0);
	EXPECT(command(C, CLOSE_PRODUCER, 0), 0);
	EXPECT(command(C, CLOSE_CONSUMER, 0), 0);
	produce32(0, 4);
	EXPECT(consume32(0), 4);
}

CASE(close_of_the_other_side_answers_the_role_held_and_closes_nothing, BOTH)
{
	init_and_open(WORDS_32, 0);
	EXPECT(command(B, CLOSE_PRODUCER, 0), 1);
	EXPECT(command(A, CLOSE_CONSUMER, 0), 2);
	produce32(0, 4);
	EXPECT(consume32(0), 4);
}

CASE(close_twice_answers_0_the_second_time, BOTH)
{
	init_and_open(WORDS_32, 0);
	EXPECT(command(A, CLOSE_PRODUCER, 0), 2);
	EXPECT(command(A, CLOSE_PRODUCER, 0), 0);
}

CASE(close_frees_the_role_for_another_thread, BOTH)
{
	init_and_open(WORDS_32, 0);
	command(A, CLOSE_PRODUCER, 0);
	store(A, PAGE_MAPLE, AT(PRODUCE, 0), 4, 1);
	EXPECT(command(C, OPEN_PRODUCER, 0), 2);
	store(C, PAGE_MAPLE, AT(PRODUCE, 0), 4, 2);
	EXPECT(consume32(0), 2);
}

CASE(close_keeps_the_data_for_the_next_consumer, BOTH)
{
	init_and_open(WORDS_32, 0);
	produce64(0, 0x0000000200000001);
	command(A, CLOSE_PRODUCER, 0);
	command(B, CLOSE_CONSUMER, 0);
	EXPECT(command(C, OPEN_CONSUMER, 0), 1);
	EXPECT(command(C, CONSUME, 0), 1);
	EXPECT(command(C, CONSUME, 0), 2);
}

CASE(close_keeps_the_base, BOTH)
{
	uint32_t *words = arena();

	words[6] = 606;
	init_and_open(WORDS_32, 1);
	request(A, SET_BASE32, 1, arena_at(0));
	command(A, CLOSE_PRODUCER, 1);
	EXPECT(command(C, OPEN_PRODUCER, 1), 2);
	request(C, POINTER32, 1, 6);
	EXPECT(consume32(1), 606);
}

/* {fc_add_idx in [33:32], producer, consumer}: queues allocated, mod 4 */
CASE(connection_answers_carry_the_number_of_queues_in_bits_33_and_32, ARTIFACT)
{
	init(WORDS_48);
	EXPECT(load(A, PAGE_MAPLE, AT(OPEN_PRODUCER, 0), 8), 0x200000002);
	EXPECT(load(A, PAGE_MAPLE, AT(OPEN_CONSUMER, 0), 8), 0x200000003);
	EXPECT(load(C, PAGE_MAPLE, AT(OPEN_CONSUMER, 1), 8), 0x200000001);
	EXPECT(load(C, PAGE_MAPLE, AT(OPEN_CONSUMER, 0), 8), 0x200000000);
}

/* Aligned accesses: a bus carries an unaligned one as several. */
CASE(the_low_three_bits_of_an_offset_are_ignored, BOTH)
{
	EXPECT(load(A, PAGE_MAPLE, AT(INIT, WORDS_32) + 4, 4), 2);
	EXPECT(load(A, PAGE_MAPLE, AT(OPEN_PRODUCER, 1) + 3, 1), 2);
	EXPECT(load(B, PAGE_MAPLE, AT(OPEN_CONSUMER, 1) + 6, 2), 1);
	store(A, PAGE_MAPLE, AT(PRODUCE, 1) + 4, 4, 31);
	store(A, PAGE_MAPLE, AT(PRODUCE, 1) + 2, 2, 32);
	store(A, PAGE_MAPLE, AT(PRODUCE, 1) + 7, 1, 33);
	EXPECT(load(B, PAGE_MAPLE, AT(CONSUME, 1) + 4, 4), 31);
	EXPECT(load(B, PAGE_MAPLE, AT(CONSUME, 1) + 6, 2), 32);
	EXPECT(load(B, PAGE_MAPLE, AT(CONSUME, 1) + 5, 1), 33);
}

CASE(bit_11_of_an_offset_does_not_index_a_queue_of_the_artifact, ARTIFACT)
{
	init_and_open(WORDS_32, 1);
	EXPECT(command(A, OPEN_PRODUCER, 5), 2);
	produce32(5, 50);
	EXPECT(consume32(1), 50);
}

CASE(the_paper_has_8_queues_that_do_not_mix, PAPER)
{
	init(WORDS_32);
	for (unsigned int queue = 0; queue < 8; queue++)
		open_queue(queue);
	for (unsigned int queue = 0; queue < 8; queue++)
		produce32(queue, 100 + queue);
	for (unsigned int queue = 8; queue-- > 0;)
		EXPECT(consume32(queue), 100 + queue);
}

CASE(the_mmu_page_takes_every_configuration_operation, BOTH)
{
	EXPECT(load(A, PAGE_MMU, AT(RESET, 0), 4), 0);
	EXPECT(load(A, PAGE_MMU, AT(INIT, WORDS_32), 4), 2);
	EXPECT(load(A, PAGE_MMU, AT(OPEN_PRODUCER, 0), 4), 2);
	EXPECT(load(B, PAGE_MMU, AT(OPEN_CONSUMER, 0), 4), 1);
	produce32(0, 12);
	EXPECT(consume32(0), 12);
	EXPECT(load(A, PAGE_MMU, AT(CLOSE_PRODUCER, 0), 4), 2);
	EXPECT(load(B, PAGE_MMU, AT(CLOSE_CONSUMER, 0), 4), 1);
}

CASE(set_base_and_lima_work_on_the_mmu_page, BOTH)
{
	uint32_t *words = arena();

	words[5] = 555;
	words[6] = 666;
	init_and_open(WORDS_32, 0);
	store(A, PAGE_MMU, AT(SET_BASE32, 0), 8, arena_at(0));
	request(A, POINTER32, 0, 5);
	EXPECT(consume32(0), 555);
	store(A, PAGE_MMU, AT(LIMA_PRODUCE, 1), 8, 0);
	store(A, PAGE_MMU, AT(LOOP, 0), 8, 5ull << 32 | 7);
	EXPECT(consume32(0), 555);
	EXPECT(consume32(0), 666);
}

CASE(produce_and_consume_do_not_work_on_the_mmu_page, BOTH)
{
	init_and_open(WORDS_32, 0);
	store(A, PAGE_MMU, AT(PRODUCE, 0), 4, 1);
	produce32(0, 2);
	EXPECT(load(B, PAGE_MMU, AT(CONSUME, 0), 4), 0);
	EXPECT(consume32(0), 2);
}

CASE(fetches_atomics_and_prefetches_do_not_work_on_the_mmu_page, BOTH)
{
	static const unsigned int operations[] = {
		POINTER32, POINTER64, LLC_POINTER32, LLC_POINTER64, PREFETCH,
		ATOMIC_ADD, ATOMIC_SWAP, CAS1, CAS2,
	};
	uint32_t *words = arena();

	init_and_open(WORDS_32, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	for (unsigned int i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		store(A, PAGE_MMU, AT(operations[i], 0), 8, 0x0000000000000001);
	expect_empty(0);
	EXPECT(words[0], 0);
}
