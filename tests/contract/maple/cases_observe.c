/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Contract A8 and A10: statistics, debug words, the custom accelerator page. */
#include "tests/contract/maple/contract.h"

static uint64_t statistics(unsigned int queue)
{
	return load(A, PAGE_MAPLE, AT(STATISTICS, queue), 8);
}

static uint32_t high(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

static uint32_t low(uint64_t value)
{
	return (uint32_t)value;
}

CASE(statistics_0_is_0, BOTH)
{
	init_and_open(WORDS_8, 0);
	let_time_pass(2);
	EXPECT(statistics(0), 0);
}

CASE(statistics_1_counts_open_cycles_of_producer_and_consumer, BOTH)
{
	uint64_t value;

	init_and_open(WORDS_8, 0);
	let_time_pass(5);
	statistics(0);
	value = statistics(0);
	/* a cycle is a nanosecond */
	EXPECT_TRUE(high(value) >= 4000000);
	EXPECT_TRUE(low(value) >= 4000000);
}

CASE(statistics_1_does_not_count_a_side_that_is_not_open, BOTH)
{
	uint64_t value;

	init(WORDS_8);
	EXPECT(command(A, OPEN_PRODUCER, 0), 2);
	let_time_pass(5);
	statistics(0);
	value = statistics(0);
	EXPECT_TRUE(high(value) >= 4000000);
	EXPECT(low(value), 0);
}

CASE(statistics_2_counts_cycles_of_waiting_loads, BOTH)
{
	uint64_t value;

	init_and_open(WORDS_8, 0);
	consume_begin(0);
	EXPECT_TRUE(still_waits(B));
	produce32(0, 1);
	finish(B);
	statistics(0);
	statistics(0);
	value = statistics(0);
	EXPECT(high(value), 0);
	EXPECT_TRUE(low(value) >= 10000000);
}

CASE(statistics_2_counts_cycles_of_waiting_stores, BOTH)
{
	uint64_t value;

	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < 8; i++)
		produce32(0, i);
	store_begin(A, PAGE_MAPLE, AT(PRODUCE, 0), 4, 8);
	EXPECT_TRUE(still_waits(A));
	consume32(0);
	finish(A);
	statistics(0);
	statistics(0);
	value = statistics(0);
	EXPECT_TRUE(high(value) >= 10000000);
	EXPECT(low(value), 0);
}

/* hi: pops on the tile, cleared by any statistics read; lo: words popped from this queue */
CASE(statistics_3_counts_pops, BOTH)
{
	init_and_open(WORDS_8, 0);
	open_queue(1);
	for (unsigned int i = 0; i < 5; i++) {
		produce32(0, i);
		produce32(1, i);
	}
	for (unsigned int i = 0; i < 3; i++)
		consume32(0);
	consume32(1);
	statistics(0);
	statistics(0);
	statistics(0);
	consume32(0);
	consume32(1);
	consume32(1);
	EXPECT(statistics(0), 3ull << 32 | 4);
}

CASE(statistics_3_of_an_unused_queue_counts_no_words, BOTH)
{
	init_and_open(WORDS_8, 0);
	produce32(0, 1);
	consume32(0);
	for (unsigned int i = 0; i < 3; i++)
		statistics(1);
	EXPECT(low(statistics(1)), 0);
}

CASE(the_statistics_index_is_one_for_all_queues_and_wraps_at_4, BOTH)
{
	init_and_open(WORDS_8, 0);
	open_queue(1);
	let_time_pass(2);
	EXPECT(statistics(0), 0);
	EXPECT_TRUE(statistics(1) != 0);
	EXPECT(statistics(0), 0);
	EXPECT(statistics(1), 0);
	EXPECT(statistics(0), 0);
	EXPECT_TRUE(statistics(1) != 0);
}

CASE(statistics_can_be_read_on_the_mmu_page_and_by_anybody, BOTH)
{
	init_and_open(WORDS_8, 0);
	let_time_pass(2);
	EXPECT(load(C, PAGE_MMU, AT(STATISTICS, 0), 8), 0);
	EXPECT_TRUE(load(C, PAGE_MMU, AT(STATISTICS, 0), 8) != 0);
}

/* Index 0 reads 0, index 1 the cycles since open. */
CASE(the_statistics_index_survives_reset_in_the_artifact, ARTIFACT)
{
	statistics(0);
	command(A, RESET, 0);
	init_and_open(WORDS_8, 0);
	let_time_pass(2);
	EXPECT_TRUE(statistics(0) != 0);
}

CASE(reset_clears_the_statistics_index_of_the_paper, PAPER)
{
	statistics(0);
	command(A, RESET, 0);
	init_and_open(WORDS_8, 0);
	let_time_pass(2);
	EXPECT(statistics(0), 0);
	EXPECT_TRUE(statistics(0) != 0);
}

CASE(reset_clears_the_statistics, BOTH)
{
	init_and_open(WORDS_8, 0);
	produce32(0, 1);
	consume32(0);
	for (unsigned int i = 0; i < 3; i++)
		statistics(0);
	command(A, RESET, 0);
	init_and_open(WORDS_8, 0);
	/* The artifact's index stands at 3, the paper's at 0. */
	for (unsigned int i = 0; i < (profile_is(PAPER) ? 3 : 0); i++)
		statistics(0);
	EXPECT(statistics(0), 0);
}

static uint64_t debug(unsigned int word)
{
	return load(C, PAGE_MAPLE, AT(DEBUG, word), 8);
}

CASE(debug_0_is_the_bitmap_of_words_in_use, BOTH)
{
	init_and_open(WORDS_8, 0);
	open_queue(1);
	EXPECT(debug(0), 0);
	for (unsigned int i = 0; i < 3; i++)
		produce32(0, i);
	produce64(1, 0);
	EXPECT(debug(0), 0x307);
	consume32(0);
	EXPECT(debug(0), 0x306);
	consume64(1);
	EXPECT(debug(0), 0x006);
}

CASE(debug_1_is_the_bitmap_of_valid_words, BOTH)
{
	init_and_open(WORDS_8, 0);
	open_queue(1);
	EXPECT(debug(1), 0);
	for (unsigned int i = 0; i < 3; i++)
		produce32(0, i);
	produce64(1, 0);
	EXPECT(debug(1), 0x307);
	consume32(0);
	EXPECT(debug(1), 0x306);
}

CASE(debug_1_shows_a_fetched_word, BOTH)
{
	volatile uint32_t *words = arena();

	/* The page is there: a fetch that has to wait for it would come later. */
	words[0] = 1;
	init_and_open(WORDS_8, 0);
	request(A, POINTER64, 0, arena_at(0));
	EXPECT(debug(0), 3);
	let_time_pass(1);
	EXPECT(debug(1), 3);
}

CASE(every_debug_word_answers, BOTH)
{
	init_and_open(WORDS_8, 0);
	for (unsigned int word = 0; word < 8; word++)
		debug(word);
	expect_empty(0);
}

/* --- custom accelerator page: the shipped accelerator echoes --------------- */

static uint32_t echoed32(uint32_t value)
{
	return profile_is(PAPER) ? value : __builtin_bswap32(value);
}

CASE(the_custom_page_echoes_a_word, BOTH)
{
	store(A, PAGE_CUSTOM, AT(5, 0), 4, 42);
	EXPECT(load(A, PAGE_CUSTOM, AT(5, 0), 4), profile_is(PAPER) ? 42 : 0x2a000000);
	EXPECT(load(A, PAGE_CUSTOM, AT(5, 0), 4), 0);
}

CASE(the_custom_page_echoes_both_words_of_8_bytes, BOTH)
{
	store(A, PAGE_CUSTOM, AT(5, 0), 8, 0x1122334455667788);
	EXPECT(load(A, PAGE_CUSTOM, AT(5, 0), 8),
	       profile_is(PAPER) ? 0x1122334455667788 : 0x4433221188776655);
}

CASE(the_custom_page_answers_0_when_nothing_is_pending, BOTH)
{
	EXPECT(load(A, PAGE_CUSTOM, AT(0, 0), 8), 0);
	EXPECT(load(A, PAGE_CUSTOM, AT(63, 7), 4), 0);
}

CASE(the_custom_page_takes_any_operation_code, BOTH)
{
	for (unsigned int operation = 0; operation < 64; operation++) {
		store(A, PAGE_CUSTOM, AT(operation, 0), 4, 100 + operation);
		EXPECT(load(A, PAGE_CUSTOM, AT(operation, 0), 4), echoed32(100 + operation));
	}
}

/* 4-deep response FIFO, excess dropped */
CASE(the_custom_page_keeps_four_responses, BOTH)
{
	for (unsigned int i = 1; i <= 6; i++)
		store(A, PAGE_CUSTOM, AT(1, 0), 4, i);
	for (unsigned int i = 1; i <= 4; i++)
		EXPECT(load(A, PAGE_CUSTOM, AT(1, 0), 4), echoed32(i));
	EXPECT(load(A, PAGE_CUSTOM, AT(1, 0), 4), 0);
}

CASE(the_spd_page_decodes_as_the_custom_page, BOTH)
{
	store(A, PAGE_SPD, AT(3, 0), 4, 7);
	EXPECT(load(A, PAGE_CUSTOM, AT(3, 0), 4), echoed32(7));
	store(A, PAGE_CUSTOM, AT(3, 0), 4, 8);
	EXPECT(load(A, PAGE_SPD, AT(3, 0), 4), echoed32(8));
}

CASE(a_pending_custom_response_answers_configuration_loads_of_the_artifact, ARTIFACT)
{
	store(A, PAGE_CUSTOM, AT(5, 0), 4, 42);
	EXPECT(command(A, OPEN_PRODUCER, 0), 0x2a000000);
}

CASE(a_pending_custom_response_leaves_configuration_loads_of_the_paper_alone, PAPER)
{
	store(A, PAGE_CUSTOM, AT(5, 0), 4, 42);
	init_and_open(WORDS_8, 0);
	EXPECT(load(A, PAGE_CUSTOM, AT(5, 0), 4), 42);
}

CASE(the_custom_page_does_not_touch_queues, BOTH)
{
	init_and_open(WORDS_8, 0);
	store(A, PAGE_CUSTOM, AT(PRODUCE, 0), 4, 1);
	EXPECT(load(A, PAGE_CUSTOM, AT(CONSUME, 0), 4), echoed32(1));
	expect_empty(0);
}

CASE(the_nibbler_page_gives_0_and_drops_stores, BOTH)
{
	init_and_open(WORDS_8, 0);
	store(A, PAGE_NIBBLER, AT(PRODUCE, 0), 4, 1);
	EXPECT(load(A, PAGE_NIBBLER, AT(INIT, 0), 4), 0);
	EXPECT(load(B, PAGE_NIBBLER, AT(CONSUME, 0), 4), 0);
	EXPECT(load(A, PAGE_NIBBLER, AT(RESET, 0), 8), 0);
	expect_empty(0);
}
